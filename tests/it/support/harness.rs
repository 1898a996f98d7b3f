//! A supervisor in virtual time. Time passes only in [`Run::tick`]: it waits until the supervisor sleeps,
//! moves the simulator's clock to the next poll, and waits until the supervisor sleeps again.

use super::folder;
use super::simulated;
use cloture::config::Config;
use cloture::domain::review_loop::Phase;
use cloture::github::PullRequestAddress;
use cloture::github::writer::WritePace;
use cloture::journal::{
    Checkpoint, Journal, JournalAddress, JournalError, JournalOptions, Record, RecordFilter,
};
use cloture::reviewers::profiles::Profiles;
use cloture::simulator::{PullSnapshot, Scenario, Simulator};
use cloture::supervisor::clock::Clock;
use cloture::supervisor::{Board, LoopCommand, PullRequestView, Supervisor, SupervisorOptions};
use jiff::{SignedDuration, Timestamp};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::{Notify, Semaphore, watch};

pub(crate) const SEVEN: &str = "acme/shop#7";
pub(crate) const EIGHT: &str = "acme/shop#8";

/// When the scenario begins.
pub(crate) const START: &str = "2026-03-02T09:00:00Z";

/// Everything that outlives a supervisor: the simulator, a folder for scripts, and the journal's address.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) simulator: Arc<Simulator>,
    pub(crate) folder: TempDir,
    pub(crate) journal: JournalAddress,
}

impl Place {
    pub(crate) async fn new() -> Place {
        Place::with_head("0123456789abcdef0123456789abcdef01234567").await
    }

    /// The shop, with this commit as the head of #7.
    pub(crate) async fn with_head(sha: &str) -> Place {
        Place::with_head_at(sha, START).await
    }

    /// The same, with another start time.
    pub(crate) async fn with_head_at(sha: &str, start: &str) -> Place {
        let text = include_str!("scenarios/shop.toml").replace("SHA", sha).replace(START, start);
        Place::of(&Scenario::parse(&text, "shop.toml").unwrap()).await
    }

    /// The shop, with a contributor as the author of #7 who may not override (R4).
    pub(crate) async fn of_contributor() -> Place {
        let text = include_str!("scenarios/shop.toml")
            .replace("SHA", "0123456789abcdef0123456789abcdef01234567")
            .replacen("author = \"erin\"", "author = \"mallory\"", 1);
        Place::of(&Scenario::parse(&text, "shop.toml").unwrap()).await
    }

    pub(crate) async fn of(scenario: &Scenario) -> Place {
        let simulator = Arc::new(simulated::start(scenario).await);
        let folder = folder::temporary();
        let journal = JournalAddress::file(folder.path().join("state").join(JournalAddress::FILE_NAME));
        Place { simulator, folder, journal }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes an executable script. `$here` is the folder for its files.
    pub(crate) fn script(&self, name: &str, body: &str) -> String {
        let path = self.path(name);
        let text = format!("#!/bin/sh\nhere='{}'\n{body}\n", self.folder.path().display());
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Makes accounts of the scenario act on #7.
    pub(crate) fn play(&self, actions: &str) {
        self.play_on(SEVEN, actions);
    }

    pub(crate) fn play_on(&self, pull_request: &str, actions: &str) {
        self.simulator.perform_toml(pull_request, &format!("do = [{actions}]")).unwrap();
    }

    pub(crate) fn pull(&self, name: &str) -> PullSnapshot {
        self.simulator.pull_request(name).unwrap()
    }

    /// Cloture's writes, as `what: first line of the text`.
    pub(crate) fn posts(&self) -> Vec<String> {
        let posts = self.simulator.posts();
        posts.iter().map(|post| format!("{}: {}", post.what, first_line(&post.text))).collect()
    }

    pub(crate) fn count(&self, what: &str) -> usize {
        self.simulator.posts().iter().filter(|post| post.what == what).count()
    }

    pub(crate) async fn journal(&self) -> Journal {
        Journal::open(&self.journal, JournalOptions::new(self.simulator.now())).await.unwrap().journal
    }

    /// The kinds of all records except intents and outcomes, in order.
    pub(crate) async fn facts(&self) -> Vec<String> {
        let records = self.records().await;
        let facts = records.iter().filter(|r| r.kind != "intent" && r.kind != "outcome");
        facts.map(|record| record.kind.clone()).collect()
    }

    pub(crate) async fn records(&self) -> Vec<Record> {
        self.journal().await.records(RecordFilter::default()).await.unwrap()
    }

    pub(crate) async fn run(&self, config: &str) -> Run {
        self.run_as("one", config, &[SEVEN], Settings::default()).await
    }

    /// A supervisor that has polled once.
    pub(crate) async fn run_as(&self, instance: &str, config: &str, on: &[&str], settings: Settings) -> Run {
        let run = self.start(instance, config, on, settings).await;
        run.tick().await;
        run
    }

    pub(crate) async fn start(&self, instance: &str, config: &str, on: &[&str], settings: Settings) -> Run {
        let config = parsed(config);
        let profiles = profiles(&config);
        let mut options = JournalOptions::new(self.simulator.now());
        options.follow_every = settings.follow_every;
        options.patience = settings.patience_with_journal.unwrap_or(options.patience);
        options.page_limit = settings.page_limit;
        options.checkpoint = settings.checkpoint;
        let journal = open_when_free(&self.journal, &options).await;
        let mut ticker = Ticker::new(&self.simulator);
        ticker.passes_during_work = settings.polls_during_work;
        let ticker = Arc::new(ticker);
        let url = settings.api_url.unwrap_or_else(|| self.simulator.url());
        let options = SupervisorOptions {
            config: Arc::new(config),
            reads: profiles.clone(),
            asks: profiles,
            journal: journal.clone(),
            client: simulated::client(&url, "secret", settings.patience),
            clock: ticker.clone(),
            instance: instance.to_owned(),
            read_only: settings.read_only,
            pace: WritePace { between: Duration::ZERO, looks: vec![Duration::ZERO; 2], attempts: 3 },
            lease: settings.lease,
            fresh: false,
            environment: settings.environment,
        };
        let on: Vec<PullRequestAddress> = on.iter().map(|name| address(name)).collect();
        let tracked = on.iter().map(|address| address.clone().into()).collect();
        let supervisor = Supervisor::start(options, tracked).await.unwrap();
        let board = supervisor.board();
        Run { supervisor, ticker, board, on, journal }
    }
}

/// Opens a journal, and sets a damaged one aside. Between fork and exec, a program that another test starts
/// shares this process's locks, so a damaged journal may seem to be in use for a moment.
async fn open_when_free(address: &JournalAddress, options: &JournalOptions) -> Journal {
    for _ in 0..200 {
        match Journal::open(address, options.clone()).await {
            Err(JournalError::Damaged { .. }) => tokio::time::sleep(Duration::from_millis(10)).await,
            opened => return opened.unwrap().journal,
        }
    }
    panic!("the damaged journal is never set aside");
}

/// The settings that differ between runs.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) read_only: bool,
    pub(crate) lease: Duration,
    pub(crate) patience: Duration,
    pub(crate) checkpoint: Option<Arc<dyn Checkpoint>>,
    pub(crate) follow_every: Duration,
    /// Instead of the simulator's address.
    pub(crate) api_url: Option<String>,
    pub(crate) patience_with_journal: Option<Duration>,
    /// The most pages that the journal may have.
    pub(crate) page_limit: Option<u32>,
    /// Whether polls go on while programs run. Then a tick does not wait for the loops; use [`Run::see`].
    pub(crate) polls_during_work: bool,
    pub(crate) environment: fn(&str) -> Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            read_only: false,
            lease: Duration::from_mins(10),
            patience: simulated::PATIENT,
            checkpoint: None,
            follow_every: Duration::from_millis(20),
            api_url: None,
            patience_with_journal: None,
            page_limit: None,
            polls_during_work: false,
            environment: |_| None,
        }
    }
}

/// The built-in profiles are compiled once: compiling every bot's patterns takes longer than most tests.
pub(crate) fn parsed(config: &str) -> Config {
    let config = format!("[operator]\nmention = '@acme/leads'\n{config}");
    Config::parse(Path::new("config.toml"), config.as_bytes()).unwrap_or_else(|error| panic!("{error:?}"))
}

pub(crate) fn profiles(config: &Config) -> Arc<Profiles> {
    static KNOWN: OnceLock<Arc<Profiles>> = OnceLock::new();
    let own = || Arc::new(Profiles::with_overrides(&config.profiles).unwrap());
    if config.profiles.is_empty() { KNOWN.get_or_init(own).clone() } else { own() }
}

pub(crate) fn address(name: &str) -> PullRequestAddress {
    PullRequestAddress::parse(name).unwrap().1
}

pub(crate) fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// A running supervisor.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) supervisor: Supervisor,
    pub(crate) ticker: Arc<Ticker>,
    board: watch::Receiver<Arc<Board>>,
    on: Vec<PullRequestAddress>,
    pub(crate) journal: Journal,
}

impl Run {
    /// One poll and everything that follows from it.
    pub(crate) async fn tick(&self) {
        self.ticker.tick().await;
    }

    pub(crate) async fn ticks(&self, count: usize) {
        for _ in 0..count {
            self.tick().await;
        }
    }

    pub(crate) fn board(&self) -> Arc<Board> {
        self.board.borrow().clone()
    }

    /// The view of the first pull request.
    pub(crate) fn view(&self) -> Arc<PullRequestView> {
        self.board().get(&self.on[0]).unwrap().clone()
    }

    pub(crate) fn exit(&self) -> Option<String> {
        self.view().exit().map(|exit| exit.name().to_owned())
    }

    pub(crate) fn phase(&self) -> String {
        match self.view().review_loop.phase() {
            Phase::Waiting => "waiting".to_owned(),
            Phase::WithAuthor => "with the author".to_owned(),
            Phase::Paused(_) => "paused".to_owned(),
            Phase::Ended(exit) => exit.name().to_owned(),
        }
    }

    /// Ticks until the loop ends, and returns its exit.
    pub(crate) async fn end(&self) -> String {
        for _ in 0..40 {
            if let Some(exit) = self.exit() {
                return exit;
            }
            self.tick().await;
        }
        panic!("the loop does not end: {:?}", self.view().review_loop)
    }

    /// Sends the loop a command, and waits until the view shows its effect.
    pub(crate) async fn tell(&self, command: LoopCommand, done: impl FnMut(&PullRequestView) -> bool) {
        self.supervisor.tell(self.on[0].clone(), command).await;
        self.see(done).await;
    }

    /// Waits for a view that needs no poll.
    pub(crate) async fn see(&self, mut done: impl FnMut(&PullRequestView) -> bool) {
        let mut board = self.board.clone();
        let seen = board.wait_for(|board| board.get(&self.on[0]).is_some_and(|v| done(v)));
        let seen = tokio::time::timeout(Duration::from_secs(30), seen).await;
        assert!(seen.is_ok(), "the view never showed it");
    }

    /// The status of every thread, with its cause.
    pub(crate) fn threads(&self) -> Vec<String> {
        let computed = self.view().computed.clone().unwrap();
        let threads = computed.threads();
        threads.iter().map(|shown| said(shown.thread.status())).collect()
    }

    pub(crate) async fn stop(self) {
        self.supervisor.stop().await;
        self.journal.close().await.unwrap();
    }
}

pub(crate) fn said(status: cloture::domain::machine::ThreadStatus) -> String {
    match status.cause() {
        Some(cause) => format!("{} by {cause}", status.name()),
        None => status.name().to_owned(),
    }
}

/// A supervisor's clock on the simulator's time. A sleep ends when the test allows it, and moves the time on.
#[derive(Debug)]
pub(crate) struct Ticker {
    simulator: Arc<Simulator>,
    sleep: watch::Sender<Sleep>,
    permits: Semaphore,
    /// Seconds that this clock is ahead of the simulator's.
    ahead: AtomicI64,
    passes_during_work: bool,
}

#[derive(Debug, Default, Clone, Copy)]
struct Sleep {
    asleep: bool,
    begun: u64,
    woken: u64,
}

impl Ticker {
    pub(crate) fn new(simulator: &Arc<Simulator>) -> Ticker {
        let simulator = Arc::clone(simulator);
        let (sleep, permits, ahead) =
            (watch::Sender::new(Sleep::default()), Semaphore::new(0), AtomicI64::new(0));
        Ticker { simulator, sleep, permits, ahead, passes_during_work: false }
    }

    /// Sets the clock forward or back. A sleep that has begun is not affected, as on a real machine.
    pub(crate) fn jump(&self, by: SignedDuration) {
        self.ahead.fetch_add(by.as_secs(), Ordering::SeqCst);
    }

    /// Waits until something other than the time has woken the supervisor and it sleeps again.
    pub(crate) async fn disturbed(&self, by: impl Future<Output = ()>) {
        let mut seen = self.sleep.subscribe();
        let before = seen.wait_for(|sleep| sleep.asleep).await.unwrap().begun;
        by.await;
        seen.wait_for(|sleep| sleep.begun > before && sleep.asleep).await.unwrap();
    }

    pub(crate) async fn tick(&self) {
        let mut seen = self.sleep.subscribe();
        let before = seen.wait_for(|sleep| sleep.asleep).await.unwrap().woken;
        self.permits.add_permits(1);
        seen.wait_for(|sleep| sleep.woken > before && sleep.asleep).await.unwrap();
    }
}

/// Marks the end of a sleep, also of a cancelled one.
struct Asleep<'a>(&'a Ticker);

impl Drop for Asleep<'_> {
    fn drop(&mut self) {
        self.0.sleep.send_modify(|sleep| sleep.asleep = false);
    }
}

impl Clock for Ticker {
    fn now(&self) -> Timestamp {
        let ahead = SignedDuration::from_secs(self.ahead.load(Ordering::SeqCst));
        self.simulator.now().saturating_add(ahead).unwrap()
    }

    fn sleep_until(&self, at: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move {
            let ahead = SignedDuration::from_secs(self.ahead.load(Ordering::SeqCst));
            self.sleep.send_modify(|sleep| {
                sleep.asleep = true;
                sleep.begun += 1;
            });
            let asleep = Asleep(self);
            self.permits.acquire().await.unwrap().forget();
            let left = at.duration_since(self.simulator.now().saturating_add(ahead).unwrap());
            self.simulator.advance(Duration::try_from(left).unwrap_or(Duration::ZERO));
            // In one step, so that no test takes the end of this sleep for the next sleep.
            self.sleep.send_modify(|sleep| {
                *sleep = Sleep { asleep: false, woken: sleep.woken + 1, ..*sleep };
            });
            drop(asleep);
        })
    }

    fn waits_for_work(&self) -> bool {
        !self.passes_during_work
    }
}

/// Counts commits, and stops everything after the fatal one.
#[derive(Debug)]
pub(crate) struct Fatal {
    at: AtomicUsize,
    pub(crate) seen: AtomicUsize,
    pub(crate) reached: Notify,
}

impl Fatal {
    pub(crate) fn at(at: usize) -> Arc<Fatal> {
        Arc::new(Fatal { at: at.into(), seen: AtomicUsize::new(0), reached: Notify::new() })
    }

    /// Makes the next commit the last.
    pub(crate) fn now(&self) {
        self.after(1);
    }

    /// Makes the commit after this many the last.
    pub(crate) fn after(&self, commits: usize) {
        self.at.store(self.seen.load(Ordering::SeqCst) + commits, Ordering::SeqCst);
    }
}

impl Checkpoint for Fatal {
    fn goes_on(&self) -> bool {
        let count = self.seen.fetch_add(1, Ordering::SeqCst) + 1;
        let at = self.at.load(Ordering::SeqCst);
        if count == at {
            self.reached.notify_one();
        }
        count < at
    }
}

/// The configuration of a driven repository with `coderabbit` as its observed reviewer.
pub(crate) const DRIVEN: &str =
    "[[repositories]]\nname = 'acme/shop'\ndrive = true\nreviewers = ['coderabbit']\n";

/// A finding in the words of `coderabbit`.
pub(crate) fn finding(name: &str, path: &str, line: u32, title: &str, severity: &str) -> String {
    format!(
        "{{ name = '{name}', path = '{path}', line = {line}, body = '''\n_⚠️ Potential issue_ | _{severity}_\n\n\
         **{title}**\n\nIt goes wrong here, so change it.\n''' }}"
    )
}

pub(crate) const MAJOR: &str = "🟠 Major";
pub(crate) const MINOR: &str = "🟡 Minor";

/// A review of `coderabbit` with these findings.
pub(crate) fn review(findings: &[String]) -> String {
    format!(
        "{{ review = {{ by = 'coderabbitai', body = '''\n**Actionable comments posted: {}**\n\n\
         <!-- This is an auto-generated comment by CodeRabbit for review status -->\n''', threads = [{}] }} }}",
        findings.len(),
        findings.join(", ")
    )
}

/// A push that changes a line far from every finding.
pub(crate) fn push(n: u32) -> String {
    format!("{{ push = {{ by = 'erin', message = 'Change {n}', files = {{ 'notes.txt' = 'note {n}' }} }} }}")
}
