//! The demo without its screen: the real supervisor and programs play its scenario and configuration to the
//! end, in virtual time. Each act of the demo must end in the state that it promises.

#![cfg(unix)]

use crate::support::harness::Ticker;
use cloture::app::connection::ConnectionSettings;
use cloture::app::session::Session;
use cloture::commands::demo::{DemoCast, DemoStage};
use cloture::config::Config;
use cloture::domain::duplicates;
use cloture::domain::machine::Decision;
use cloture::github::PullRequestAddress;
use cloture::github::writer::WritePace;
use cloture::journal::{Journal, Record, RecordFilter};
use cloture::reviewers::profiles::Profiles;
use cloture::simulator::{ClockMode, PullSnapshot, SimulatedReviewState};
use cloture::supervisor::clock::Clock;
use cloture::supervisor::fact::Fact;
use cloture::supervisor::view::HandoffState;
use cloture::supervisor::{LoopCommand, PullRequestView, Supervisor};
use cloture::tui::rows::{BoardRows, RowBuilder};
use cloture::tui::{Guide, Message, Model, Theme, update};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The running demo, with a clock that the test drives.
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
        let cast = DemoCast { program, clock: ClockMode::Manual, think: Duration::ZERO };
        let stage = DemoStage::build(&Config::default(), &cast).await.unwrap();
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
        let profiles = Profiles::with_overrides(&stage.config.profiles).unwrap();
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

    /// Advances virtual time, with one poll per minute.
    async fn minutes(&mut self, count: u32) {
        for _ in 0..count {
            let simulator = &self.stage.simulator;
            let is_open = |address: &PullRequestAddress| simulator.author_of(&address.to_string()).is_some();
            let (opened, awaited): (Vec<_>, Vec<_>) =
                std::mem::take(&mut self.awaited).into_iter().partition(is_open);
            self.awaited = awaited;
            if !opened.is_empty() {
                self.supervisor.track(opened.into_iter().map(Into::into).collect()).await;
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

    /// `title: status by cause`, for every thread that repeats no other.
    fn threads(&self, name: &str) -> Vec<String> {
        let view = self.view(name);
        let computed = view.computed.as_ref().unwrap();
        let shown = computed.threads().into_iter().filter(|shown| shown.repeats.is_none());
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

    /// The driven reviewer's verdicts, in order.
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

    /// Records a person's decision, as the terminal does.
    async fn decide(&self, name: &str, title: &str, verb: Decision) {
        let view = self.view(name);
        let computed = view.computed.as_ref().unwrap();
        let threads = computed.threads();
        let shown = threads.iter().find(|shown| shown.thread.finding.title.starts_with(title)).unwrap();
        let fact = Fact::decided(shown.thread.id.clone(), verb);
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
async fn every_act_of_the_demo_ends_as_promised() {
    let mut played = Played::begin().await;
    assert!(played.stage.has_author, "this needs git");

    // Within the first real minute: an item in the inbox, a merge, the round cap.
    played.minutes(10).await;
    let queued = played.view("acme/shop#16");
    let computed = queued.computed.as_ref().unwrap();
    assert_eq!(computed.threads().len(), 1);
    played.decide("acme/shop#16", "Prices", Decision::Queue).await;
    played.minutes(35).await;
    assert_eq!(
        played.threads("acme/fleet#12"),
        ["Give every attempt the same request id: escalated by round_limit"],
        "the round limit cuts off a reviewer that never yields"
    );
    assert_eq!(played.exit("acme/mail#51"), "pr_merged");
    assert_eq!(played.exit("acme/billing#41"), "round_cap");
    let queued = played.view("acme/shop#16");
    assert!(queued.computed.as_ref().unwrap().threads()[0].thread.queued);

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

    // A reviewer that alternates: it has used its one change of mind.
    assert_eq!(played.threads("acme/shop#14"), ["A renewed session never ends: escalated by round_limit"]);
    let view = played.view("acme/shop#14");
    let machine = view.computed.as_ref().unwrap().threads()[0].thread.machine;
    assert_eq!((machine.counters.flips, machine.counters.round_count), (1, 2));

    duplicates_are_folded(&played);
    the_merge_fired_and_the_close_did_not(&played).await;
    the_perfectionist_approved(&played).await;
    the_author_was_sent_to_the_cap(&played).await;

    // Reviews that fail, and reviews that never come.
    assert_eq!(played.exit("acme/shop#25"), "workflow_failure");
    assert_eq!(played.exit("acme/shop#18"), "timeout");
    assert!(played.view("acme/shop#18").exit().unwrap().to_string().contains("coderabbit"));

    // "Won't fix" from a member, from an outsider, and an argument that the reviewer accepts.
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

/// D3: a finding that its bot raises again does not count twice. D6: a finding of two bots is one item.
fn duplicates_are_folded(played: &Played) {
    let name = "acme/fleet#21";
    let view = played.view(name);
    let computed = view.computed.as_ref().unwrap();
    let threads = computed.threads();
    assert_eq!(threads.len(), 4);
    let repeating: Vec<_> = threads.iter().filter(|shown| shown.repeats.is_some()).collect();
    assert_eq!(repeating.len(), 1);
    assert!(repeating[0].on_forge.unwrap().resolved, "it points at the first thread and is resolved");
    let own = threads.iter().filter(|shown| shown.repeats.is_none()).map(|shown| shown.thread);
    let items = duplicates::group_duplicates(own, &played.stage.config.policy);
    let by_two: Vec<_> = items.iter().filter(|item| item.reviewers.len() == 2).collect();
    assert_eq!((items.len(), by_two.len()), (2, 1));
}

/// H1, H7: a merge sends one task per file, and a close sends none, even with queued threads.
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
    assert!(!closed.computed.as_ref().unwrap().threads()[0].thread.queued, "the close discarded it");
    assert_eq!(played.records("acme/shop#16", "closed").await.len(), 1);
}

/// V2: a bot's pull request is approved although the reviewer still has findings. C4: the reviewer's illegal
/// answer was refused, and it was asked again.
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
    // L4: the vetoed thread waits for a person.
    assert_eq!(played.exit(name), "needs_person");
    let asked = played.records(name, "asked").await;
    let why: Vec<&str> = asked.iter().map(|record| record.why.as_str()).collect();
    assert_eq!(why.len(), 4, "{why:?}");
    assert!(why[3].contains("cycle 3, attempt 2; illegal_action"), "{why:?}");
}

/// L6: the author works as many rounds as it may, and one comment reports the cap.
/// V1: on a person's pull request the driven reviewer only comments.
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
async fn a_granted_round_after_the_cap_settles_the_pull_request() {
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

/// The demo's screen model, without a terminal.
struct Screen {
    model: Model,
    read: u64,
}

impl Screen {
    fn new(played: &Played, keys: &str) -> Screen {
        let mut config = played.stage.config.clone();
        let own = Config::parse(Path::new("own.toml"), keys.as_bytes()).unwrap();
        config.keys = own.keys;
        let reads = Arc::new(Profiles::with_overrides(&[]).unwrap());
        let making = RowBuilder { config: Arc::new(config), reads, read_only: false };
        let theme = Theme::new(cloture::config::ThemeName::Dark, false);
        let mut model = Model::new(making, theme, "dana".to_owned(), played.stage.simulator.now());
        model.guide = Some(Guide::new(None));
        Screen { model, read: 0 }
    }

    /// Updates the screen, and returns the guide's line.
    async fn refresh(&mut self, played: &Played) -> String {
        let board = played.supervisor.board().borrow().clone();
        let rows = BoardRows::default().updated(board, &self.model.row_builder);
        update(&mut self.model, Message::Board(rows));
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
async fn the_guide_points_at_events_and_follows_the_users_actions() {
    let mut played = Played::begin().await;
    let mut screen = Screen::new(&played, "");
    let mut other_keys = Screen::new(&played, "[keys]\ninbox = ['i']\nhandoff = ['ctrl-h']\nways_out = []\n");
    assert!(screen.refresh(&played).await.contains("j k select, ⏎: its threads"));
    played.minutes(3).await;
    assert!(screen.refresh(&played).await.contains("1 minute per second"), "nothing has happened yet");
    assert!(
        screen.press(KeyCode::Enter).contains("4: the journal"),
        "the user has done that, so the guide moves on"
    );

    // A thread is escalated.
    played.minutes(18).await;
    assert_eq!(screen.refresh(&played).await, "Threads need your decision. 2: your inbox");
    assert_eq!(other_keys.refresh(&played).await, "Threads need your decision. i: your inbox");
    assert!(screen.press(key('2')).starts_with("⏎ opens the argument"));
    assert_eq!(screen.press(KeyCode::Enter), "You decide: U uphold, d dismiss, b return it to the loop");
    played.decide("acme/fleet#12", "Give every", Decision::Uphold).await;
    played.minutes(1).await;
    assert!(!screen.refresh(&played).await.contains("You decide"), "the decision is made");

    // A merge sends the queue.
    played.minutes(8).await;
    assert_eq!(screen.refresh(&played).await, "A merge sent its queued tasks. 3: see them on Handoff");
    other_keys.refresh(&played).await;
    assert!(other_keys.press(key('i')).contains("opens the argument"));
    assert_eq!(other_keys.press(key('1')), "A merge sent its queued tasks. ^h: see them on Handoff");
    assert!(screen.press(key('3')).contains("f queues it"));

    // The cap came earlier; the guide mentions it when nothing else is new.
    let cap = "acme/billing#41: the author is out of rounds. Select it, w: ways out";
    assert_eq!(screen.press(key('1')), cap);
    other_keys.press(KeyCode::Char('1'));
    update(&mut other_keys.model, Message::Key(KeyEvent::new(key('h'), KeyModifiers::CONTROL)));
    assert!(
        other_keys.press(key('1')).ends_with("Select it, :ways_out: ways out"),
        "a command without a key"
    );
    let grant = LoopCommand::GrantRound { by: "dana".to_owned(), why: "nearly there".to_owned() };
    played.supervisor.tell(address("acme/billing#41"), grant).await;
    played.minutes(6).await;
    assert!(!screen.refresh(&played).await.contains("ways out"));

    // Then the remaining hints.
    assert!(screen.press(key('4')).contains("/ filters"));
    screen.press(key('/'));
    screen.press(KeyCode::Esc);
    assert_eq!(screen.press(key('1')), ": finds any command by name");
    screen.press(key(':'));
    assert_eq!(screen.press(KeyCode::Esc), "? shows all keys of this screen");
    screen.press(key('?'));
    assert!(screen.press(KeyCode::Esc).starts_with("That was the tour. q quits"));
    played.end().await;
}

#[tokio::test]
async fn without_git_there_is_no_author_and_the_guide_says_so() {
    let mut stage = Played::stage().await;
    // `DemoStage::build` leaves the agent out when `git` does not run.
    stage.config.author.agent = None;
    let mut played = Played::of(stage).await;
    let mut screen = Screen::new(&played, "");
    screen.model.guide = Some(Guide::new(Some(address("acme/billing#41").repository)));
    played.minutes(4).await;
    assert_eq!(played.exit("acme/billing#41"), "issues_found");
    let line = screen.refresh(&played).await;
    assert_eq!(line, "git is missing here, so no author fixes acme/billing#41");
    played.end().await;
}
