//! The demo without its screen: its scenario and its configuration, played to the end in virtual time by the real
//! supervisor, with the real programs. Each act is asserted by the state that it ends in.

#![cfg(unix)]

use cloture::domain::machine::Decision;

use cloture::app::connection::ConnectionSettings;
use cloture::app::session::Session;
use cloture::commands::demo::{DemoCast, DemoStage};
use cloture::config::Config;
use cloture::domain::duplicates;
use cloture::github::PullRequestAddress;
use cloture::github::writer::WritePace;
use cloture::journal::{Journal, Record, RecordFilter};
use cloture::reviewers::profiles::Profiles;
use cloture::simulator::{ClockMode, PullSnapshot, SimulatedReviewState, Simulator};
use cloture::supervisor::clock::Clock;
use cloture::supervisor::fact::Fact;
use cloture::supervisor::view::HandoffState;
use cloture::supervisor::{LoopCommand, PullRequestView, Supervisor};
use cloture::tui::rows::{BoardRows, RowBuilder};
use cloture::tui::{Guide, Message, Model, Theme, update};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jiff::Timestamp;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, watch};

/// The demo as it is played, but for the clock.
struct Played {
    stage: DemoStage,
    supervisor: Supervisor,
    journal: Journal,
    ticker: Arc<Ticker>,
    awaited: Vec<PullRequestAddress>,
}

impl Played {
    async fn begin() -> Played {
        Self::of(Self::stage().await).await
    }

    async fn stage() -> DemoStage {
        let program = Path::new(env!("CARGO_BIN_EXE_cloture"));
        let casting = DemoCast { program, clock: ClockMode::Manual, think: Duration::ZERO };
        let stage = DemoStage::set(&Config::default(), &casting).await.unwrap();
        assert_eq!(stage.simulator.problems(), [""; 0]);
        stage
    }

    async fn of(stage: DemoStage) -> Played {
        let ticker = Arc::new(Ticker::new(&stage.simulator));
        let url = stage.simulator.url();
        let settings = ConnectionSettings {
            config: &stage.config,
            api_url: Some(&url),
            environment: &|name| (name == "GH_TOKEN").then(|| "demo".to_owned()),
            directory: stage.folder(),
            environment_of_programs: |_| None,
        };
        let profiles = Profiles::in_force(&stage.config.profiles).unwrap();
        let folder = Some(stage.folder().to_owned());
        let host = settings.host().unwrap();
        let mut session = Session::open(&settings, host, profiles, folder, ticker.now()).await.unwrap();
        session.clock = ticker.clone();
        session.pace = WritePace { between: Duration::ZERO, ..WritePace::default() };
        let tracked = stage.opened().into_iter().map(Into::into).collect();
        let supervisor = session.supervise(&settings, "demo".to_owned(), false, tracked).await.unwrap();
        let journal = session.journal.clone();
        let awaited = stage.awaited();
        Played { stage, supervisor, journal, ticker, awaited }
    }

    /// Lets virtual time pass, a poll a minute.
    async fn minutes(&mut self, count: u32) {
        for _ in 0..count {
            let simulator = &self.stage.simulator;
            let come = |address: &PullRequestAddress| simulator.author_of(&address.to_string()).is_some();
            let (come, awaited) = std::mem::take(&mut self.awaited).into_iter().partition(come);
            self.awaited = awaited;
            let come: Vec<PullRequestAddress> = come;
            if !come.is_empty() {
                self.supervisor.track(come.into_iter().map(Into::into).collect()).await;
            }
            self.ticker.tick().await;
        }
    }

    fn view(&self, name: &str) -> Arc<PullRequestView> {
        self.supervisor.board().borrow().pull_requests[&address(name)].clone()
    }

    fn exit(&self, name: &str) -> &'static str {
        self.view(name).exit().map_or("none", cloture::domain::review_loop::Exit::name)
    }

    /// `title: status by cause`, for every thread that does not repeat another.
    fn threads(&self, name: &str) -> Vec<String> {
        let view = self.view(name);
        let standing = view.standing.as_ref().unwrap();
        let shown = standing.threads().into_iter().filter(|shown| shown.repeats.is_none());
        let mut threads: Vec<String> = shown
            .map(|shown| {
                let status = shown.thread.status();
                let cause = status.cause().map_or_else(String::new, |cause| format!(" by {cause}"));
                let title = shown.thread.finding.title.trim_end_matches('.');
                format!("{title}: {}{cause}", status.name())
            })
            .collect();
        threads.sort();
        threads
    }

    fn pull(&self, name: &str) -> PullSnapshot {
        self.stage.simulator.pull_request(name).unwrap()
    }

    /// What the driven reviewer decided about the pull request, look by look.
    fn verdicts(&self, name: &str) -> Vec<SimulatedReviewState> {
        let reviews = self.pull(name).reviews;
        reviews
            .iter()
            .filter(|review| review.body.contains("**orange**"))
            .map(|review| review.state)
            .collect()
    }

    async fn records(&self, name: &str, kind: &str) -> Vec<Record> {
        let records = self.journal.records(RecordFilter::default()).await.unwrap();
        let about = |record: &Record| {
            record
                .pull_request
                .as_ref()
                .is_some_and(|key| format!("{}#{}", key.repository, key.number) == name)
        };
        records.into_iter().filter(|record| record.kind == kind && about(record)).collect()
    }

    /// A person's decision, recorded as the keyboard records it.
    async fn decide(&self, name: &str, title: &str, verb: Decision) {
        let view = self.view(name);
        let standing = view.standing.as_ref().unwrap();
        let threads = standing.threads();
        let shown = threads.iter().find(|shown| shown.thread.finding.title.starts_with(title)).unwrap();
        let fact = Fact::Decided { thread: shown.thread.id.clone(), verb };
        let about = self.records(name, "pushed").await[0].pull_request.clone().unwrap();
        let record = fact.record(self.stage.simulator.now(), &about, "dana", "because");
        self.journal.append_one(record).await.unwrap();
    }

    async fn end(self) {
        self.supervisor.stop().await;
        self.journal.close().await.unwrap();
    }
}

fn address(name: &str) -> PullRequestAddress {
    PullRequestAddress::parse(name).unwrap().1
}

#[tokio::test]
async fn everything_that_the_demo_promises_comes_to_pass() {
    let mut played = Played::begin().await;
    assert!(played.stage.has_author, "this needs git");

    // Within the first minute of real time: something in the inbox, a merge, the round cap.
    played.minutes(10).await;
    let queued = played.view("acme/shop#16");
    let standing = queued.standing.as_ref().unwrap();
    assert_eq!(standing.threads().len(), 1);
    played.decide("acme/shop#16", "Prices", Decision::Queue).await;
    played.minutes(35).await;
    assert_eq!(
        played.threads("acme/fleet#12"),
        ["Give every attempt the same request id: escalated by round_limit"],
        "a reviewer that never yields is cut off by the bound"
    );
    assert_eq!(played.exit("acme/mail#51"), "pr_merged");
    assert_eq!(played.exit("acme/billing#41"), "round_cap");
    let still = played.view("acme/shop#16");
    assert!(still.standing.as_ref().unwrap().threads()[0].thread.queued);

    played.minutes(50).await;
    assert_eq!(played.stage.simulator.problems(), [""; 0]);

    // Convergence.
    assert_eq!(played.exit("acme/shop#7"), "success");
    assert_eq!(
        played.threads("acme/shop#7"),
        [
            "A percentage above one hundred makes the subtraction underflow: resolved by reviewer",
            "Indexing panics on an empty cart: resolved by reviewer"
        ]
    );

    // One that alternates: its one change of mind is spent.
    assert_eq!(played.threads("acme/shop#14"), ["A renewed session never ends: escalated by round_limit"]);
    let view = played.view("acme/shop#14");
    let machine = view.standing.as_ref().unwrap().threads()[0].thread.machine;
    assert_eq!((machine.counters.flips, machine.counters.round_count), (1, 2));

    duplicates_are_folded(&played);
    the_merge_fired_and_the_close_did_not(&played).await;
    the_perfectionist_approved(&played).await;
    the_author_was_sent_to_the_cap(&played).await;

    // Reviews that fail, and reviews that never come.
    assert_eq!(played.exit("acme/shop#25"), "workflow_failure");
    assert_eq!(played.exit("acme/shop#18"), "timeout");
    assert!(played.view("acme/shop#18").exit().unwrap().to_string().contains("coderabbit"));

    // Won't fix: by somebody who may, and by somebody who may not; and an argument that the reviewer concedes.
    assert_eq!(played.threads("oss/parser#31"), ["Return undefined for an empty list: resolved by wont_fix"]);
    assert_eq!(played.exit("oss/parser#31"), "success");
    assert_eq!(
        played.threads("oss/parser#33"),
        [
            "A quotation mark inside ends the quotation: resolved by reviewer",
            "Replace every angle bracket, not only the first: open"
        ]
    );
    assert!(played.stage.simulator.posts().iter().all(|post| !post.on.contains("parser")), "only watched");

    // Break glass.
    assert_eq!(played.exit("acme/fleet#27"), "break_glass");

    played.end().await;
}

/// D3: a finding that its bot raises again is no second one. D6: one that two bots report is one item.
fn duplicates_are_folded(played: &Played) {
    let name = "acme/fleet#21";
    let view = played.view(name);
    let standing = view.standing.as_ref().unwrap();
    let threads = standing.threads();
    assert_eq!(threads.len(), 4);
    let repeating: Vec<_> = threads.iter().filter(|shown| shown.repeats.is_some()).collect();
    assert_eq!(repeating.len(), 1);
    assert!(repeating[0].on_forge.unwrap().resolved, "it points at the first one and is closed");
    let own = threads.iter().filter(|shown| shown.repeats.is_none()).map(|shown| shown.thread);
    let items = duplicates::items(own, &played.stage.config.policy);
    let by_two: Vec<_> = items.iter().filter(|item| item.reviewers.len() == 2).collect();
    assert_eq!((items.len(), by_two.len()), (2, 1));
}

/// H1, H7: a task a file at the merge, and none at a close, whoever queued what.
async fn the_merge_fired_and_the_close_did_not(played: &Played) {
    let view = played.view("acme/mail#51");
    let tasks: Vec<(String, usize)> = view
        .handoffs
        .iter()
        .map(|handoff| (handoff.task.path.to_string(), handoff.task.findings.len()))
        .collect();
    assert_eq!(tasks, [("src/queue.py".to_owned(), 1), ("src/sender.py".to_owned(), 3)]);
    assert!(view.handoffs.iter().all(|handoff| matches!(handoff.state, HandoffState::Sent { .. })));
    let issues = played.stage.simulator.issues();
    assert_eq!(issues.len(), 2, "{issues:?}");
    assert!(issues.iter().all(|issue| issue.repository == "acme/mail" && issue.labels == ["from-review"]));
    let about_sender = issues.iter().find(|issue| issue.body.contains("src/sender.py")).unwrap();
    for finding in ["password of the mail server", "Every failure is swallowed", "A server that hangs"] {
        assert!(about_sender.body.contains(finding), "{}", about_sender.body);
    }

    assert_eq!(
        played.verdicts("acme/mail#60"),
        [SimulatedReviewState::Approved],
        "the fix is approved, not blocked"
    );
    assert_eq!(played.exit("acme/mail#60"), "success");

    assert_eq!(played.exit("acme/shop#16"), "pr_closed");
    let closed = played.view("acme/shop#16");
    assert!(closed.handoffs.is_empty());
    assert!(!closed.standing.as_ref().unwrap().threads()[0].thread.queued, "the close discarded it");
    assert_eq!(played.records("acme/shop#16", "closed").await.len(), 1);
}

/// V2: a bot's pull request is approved although the reviewer goes on finding something. C4: its illegal answer was refused
/// and asked for again.
async fn the_perfectionist_approved(played: &Played) {
    let name = "acme/mail#53";
    let approved = SimulatedReviewState::Approved;
    assert_eq!(played.verdicts(name), [SimulatedReviewState::ChangesRequested, approved, approved]);
    assert_eq!(
        played.threads(name),
        [
            "A batch that fails half-way is sent again from its start: resolved by reviewer",
            "Fifty has no name: vetoed by reviewer",
            "The docstring does not say what is returned: open",
            "send_rest has no docstring: resolved by reviewer"
        ]
    );
    assert_eq!(played.exit(name), "success");
    let asked = played.records(name, "asked").await;
    let why: Vec<&str> = asked.iter().map(|record| record.why.as_str()).collect();
    assert_eq!(why.len(), 4, "{why:?}");
    assert!(why[3].contains("cycle 3, attempt 2; illegal_action"), "{why:?}");
}

/// L6: real rounds of a real author, as many as may be, and one comment that says so.
async fn the_author_was_sent_to_the_cap(played: &Played) {
    let name = "acme/billing#41";
    assert_eq!(played.exit(name), "round_cap");
    assert_eq!(played.records(name, "dispatched").await.len(), 3);
    let ended = played.records(name, "author_ended").await;
    assert_eq!(ended.len(), 3);
    assert!(ended.iter().all(|record| record.why.contains("the branch is now at")), "{ended:?}");
    assert_eq!(
        played.threads(name),
        [
            "A huge order makes the service allocate gigabytes: open",
            "An invoice without parts divides by zero: resolved by reviewer",
            "One customer carries the whole rounding difference: resolved by reviewer",
            "The cents that do not divide evenly vanish: resolved by reviewer"
        ]
    );
    let comments = played.pull(name).comments;
    let cap = comments.iter().filter(|comment| comment.body.contains("3 author rounds did not settle"));
    assert_eq!(cap.count(), 1);
    assert!(played.verdicts(name).iter().all(|verdict| *verdict == SimulatedReviewState::Commented), "V1");
}

#[tokio::test]
async fn a_person_can_grant_a_round_at_the_cap_and_it_settles_the_pull_request() {
    let mut played = Played::begin().await;
    let name = "acme/billing#41";
    played.minutes(30).await;
    assert_eq!(played.exit(name), "round_cap");
    let grant = LoopCommand::GrantRound { by: "dana".to_owned(), why: "nearly there".to_owned() };
    played.supervisor.tell(address(name), grant).await;
    played.minutes(8).await;
    assert_eq!(played.records(name, "dispatched").await.len(), 4);
    assert_eq!(played.exit(name), "success");
    assert!(played.threads(name).iter().all(|thread| thread.ends_with("resolved by reviewer")));
    played.end().await;
}

/// The screen over the played demo, without a terminal.
struct Seat {
    model: Model,
    read: u64,
}

impl Seat {
    fn take(played: &Played, keys: &str) -> Seat {
        let mut config = played.stage.config.clone();
        let own = Config::parse(Path::new("own.toml"), keys.as_bytes()).unwrap();
        config.keys = own.keys;
        let reads = Arc::new(Profiles::in_force(&[]).unwrap());
        let making = RowBuilder { config: Arc::new(config), reads, read_only: false };
        let theme = Theme::new(cloture::config::ThemeName::Dark, false);
        let mut model = Model::new(making, theme, "dana".to_owned(), played.stage.simulator.now());
        model.guide = Some(Guide::new(None));
        Seat { model, read: 0 }
    }

    /// Shows what there is to see, and says what the guide makes of it.
    async fn look(&mut self, played: &Played) -> String {
        let board = played.supervisor.board().borrow().clone();
        let seen = BoardRows::default().updated(board, &self.model.row_builder);
        update(&mut self.model, Message::Board(seen));
        let mut records = played.journal.records(RecordFilter::default()).await.unwrap();
        records.retain(|record| record.seq > self.read);
        self.read = records.last().map_or(self.read, |record| record.seq);
        update(&mut self.model, Message::Records(records));
        self.line()
    }

    fn press(&mut self, code: KeyCode) -> String {
        update(&mut self.model, Message::Key(KeyEvent::new(code, KeyModifiers::NONE)));
        self.line()
    }

    fn line(&self) -> String {
        let line = self.model.guide_line().unwrap();
        assert!(line.chars().count() <= 77, "it has to fit into eighty columns: {line}");
        line
    }
}

fn key(name: char) -> KeyCode {
    KeyCode::Char(name)
}

#[tokio::test]
async fn the_guide_says_what_to_look_at_and_follows_what_was_done() {
    let mut played = Played::begin().await;
    let mut seat = Seat::take(&played, "");
    let mut elsewhere = Seat::take(&played, "[keys]\ninbox = ['i']\nhandoff = ['ctrl-h']\nways_out = []\n");
    assert!(seat.look(&played).await.contains("j k select, ⏎: its threads"));
    played.minutes(3).await;
    assert!(seat.look(&played).await.contains("1 minute per second"), "nothing has happened yet");
    assert!(
        seat.press(KeyCode::Enter).contains("4: the journal"),
        "that is learned, and something else is next"
    );

    // A thread got stuck.
    played.minutes(18).await;
    assert_eq!(seat.look(&played).await, "Threads need your decision. 2: your inbox");
    assert_eq!(elsewhere.look(&played).await, "Threads need your decision. i: your inbox");
    assert!(seat.press(key('2')).starts_with("⏎ opens the argument"));
    assert_eq!(seat.press(KeyCode::Enter), "You decide: U uphold, d dismiss, b return it to the loop");
    played.decide("acme/fleet#12", "Give every", Decision::Uphold).await;
    played.minutes(1).await;
    assert!(!seat.look(&played).await.contains("You decide"), "it was decided");

    // A merge fired.
    played.minutes(8).await;
    assert_eq!(seat.look(&played).await, "A merge sent its queued tasks. 3: see them on Handoff");
    elsewhere.look(&played).await;
    assert!(elsewhere.press(key('i')).contains("opens the argument"));
    assert_eq!(elsewhere.press(key('1')), "A merge sent its queued tasks. ^h: see them on Handoff");
    assert!(seat.press(key('3')).contains("f queues it"));

    // The cap was reached before; it comes up when nothing else is at hand.
    let cap = "acme/billing#41: the author is out of rounds. Select it, w: ways out";
    assert_eq!(seat.press(key('1')), cap);
    elsewhere.press(KeyCode::Char('1'));
    update(&mut elsewhere.model, Message::Key(KeyEvent::new(key('h'), KeyModifiers::CONTROL)));
    assert!(elsewhere.press(key('1')).ends_with("Select it, :ways_out: ways out"), "a command without a key");
    let grant = LoopCommand::GrantRound { by: "dana".to_owned(), why: "nearly there".to_owned() };
    played.supervisor.tell(address("acme/billing#41"), grant).await;
    played.minutes(6).await;
    assert!(!seat.look(&played).await.contains("ways out"));

    // And at leisure.
    assert!(seat.press(key('4')).contains("/ filters"));
    seat.press(key('/'));
    seat.press(KeyCode::Esc);
    assert_eq!(seat.press(key('1')), ": finds any command by name");
    seat.press(key(':'));
    assert_eq!(seat.press(KeyCode::Esc), "? shows all keys of this screen");
    seat.press(key('?'));
    assert!(seat.press(KeyCode::Esc).starts_with("That was the tour. q quits"));
    played.end().await;
}

#[tokio::test]
async fn without_git_there_is_no_author_and_the_guide_says_so() {
    let mut stage = Played::stage().await;
    // As it is set where `git` does not run.
    stage.config.author.agent = None;
    let mut played = Played::of(stage).await;
    let mut seat = Seat::take(&played, "");
    seat.model.guide = Some(Guide::new(Some(address("acme/billing#41").repository)));
    played.minutes(4).await;
    assert_eq!(played.exit("acme/billing#41"), "issues_found");
    let line = seat.look(&played).await;
    assert_eq!(line, "git is missing here, so no author fixes acme/billing#41");
    played.end().await;
}

/// The simulator's time: it stands still until it is let go on, and passes while the supervisor sleeps.
#[derive(Debug)]
struct Ticker {
    simulator: Arc<Simulator>,
    sleep: watch::Sender<Sleep>,
    permits: Semaphore,
}

#[derive(Debug, Default, Clone, Copy)]
struct Sleep {
    asleep: bool,
    woken: u64,
}

impl Ticker {
    fn new(simulator: &Arc<Simulator>) -> Ticker {
        let simulator = Arc::clone(simulator);
        Ticker { simulator, sleep: watch::Sender::new(Sleep::default()), permits: Semaphore::new(0) }
    }

    async fn tick(&self) {
        let mut seen = self.sleep.subscribe();
        let before = seen.wait_for(|sleep| sleep.asleep).await.unwrap().woken;
        self.permits.add_permits(1);
        seen.wait_for(|sleep| sleep.woken > before && sleep.asleep).await.unwrap();
    }
}

/// Awake again, however the sleep ended.
struct Asleep<'a>(&'a Ticker);

impl Drop for Asleep<'_> {
    fn drop(&mut self) {
        self.0.sleep.send_modify(|sleep| sleep.asleep = false);
    }
}

impl Clock for Ticker {
    fn now(&self) -> Timestamp {
        self.simulator.now()
    }

    fn sleep_until(&self, at: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move {
            self.sleep.send_modify(|sleep| sleep.asleep = true);
            let asleep = Asleep(self);
            self.permits.acquire().await.unwrap().forget();
            let left = at.duration_since(self.now());
            self.simulator.advance(Duration::try_from(left).unwrap_or(Duration::ZERO));
            self.sleep.send_modify(|sleep| *sleep = Sleep { asleep: false, woken: sleep.woken + 1 });
            drop(asleep);
        })
    }

    fn waits_for_work(&self) -> bool {
        true
    }
}
