//! A simulated GitHub with ten pull requests at a fixed moment, read over HTTP, and a terminal model over it.

use crate::support::simulated;
use cloture::config::{self, Config};
use cloture::domain::review_loop::{LoopEvent, ReviewLoop};
use cloture::domain::snapshot::PullRequestSnapshot;
use cloture::github::{PullRequestAddress, Reader};
use cloture::journal::{PullRequestKey, Record};
use cloture::reviewers::profiles::Profiles;
use cloture::simulator::Scenario;
use cloture::supervisor::computed_state::{ComputedState, RepositoryRules};
use cloture::supervisor::history::History;
use cloture::supervisor::{Board, DriverRole, PullRequestView};
use cloture::tui::rows::{BoardRows, RowBuilder};
use cloture::tui::{Effect, Message, Model, Theme, draw, update};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jiff::{SignedDuration, Timestamp};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Built once: reading every bot's patterns takes longer than drawing a hundred screens.
pub(crate) fn row_builder() -> RowBuilder {
    static ROW_BUILDER: OnceLock<RowBuilder> = OnceLock::new();
    ROW_BUILDER.get_or_init(read_row_builder).clone()
}

fn read_row_builder() -> RowBuilder {
    let text = include_str!("config.toml");
    let config = Config::parse(Path::new("config.toml"), text.as_bytes()).unwrap();
    let reads = Arc::new(Profiles::with_overrides(&[]).unwrap());
    RowBuilder { config: Arc::new(config), reads, read_only: false }
}

/// Every pull request after forty minutes, and that time.
pub(crate) fn snapshots() -> &'static (Vec<PullRequestSnapshot>, Timestamp) {
    static SNAPSHOTS: OnceLock<(Vec<PullRequestSnapshot>, Timestamp)> = OnceLock::new();
    SNAPSHOTS.get_or_init(|| tokio::runtime::Runtime::new().unwrap().block_on(read()))
}

async fn read() -> (Vec<PullRequestSnapshot>, Timestamp) {
    let scenario = Scenario::parse(include_str!("scenario.toml"), "scenario.toml").unwrap();
    let simulator = simulated::start(&scenario).await;
    simulator.advance(Duration::from_mins(40));
    assert_eq!(simulator.problems(), [""; 0]);
    let now = simulator.now();
    let reader = Reader::new(simulated::client(&simulator.url(), "any", simulated::PATIENT));
    let mut seen = Vec::new();
    for entry in &scenario.pull_requests {
        let entry = entry.get_ref();
        let address = simulated::address(&entry.repository, u64::try_from(entry.number).unwrap());
        seen.push(reader.read(&address).await.unwrap().snapshot);
    }
    (seen, now)
}

/// The supervisor's view of a pull request whose loop waits.
pub(crate) fn view(snapshot: PullRequestSnapshot, now: Timestamp, rows: &RowBuilder) -> PullRequestView {
    let address = PullRequestAddress { repository: snapshot.repository.clone(), number: snapshot.number };
    let rules = RepositoryRules::of(&rows.config, &*rows.reads, &address.repository, false);
    let computed = ComputedState::of(Arc::new(snapshot), &History::default(), &rules);
    let mut review_loop = ReviewLoop::new();
    let _ = review_loop.wake(LoopEvent::Polled(&computed.seen), &rows.config.policy);
    PullRequestView {
        address,
        computed: Some(Arc::new(computed)),
        last: None,
        seen_at: Some(now - SignedDuration::from_secs(40)),
        review_loop,
        role: DriverRole::Driver,
        drive: rules.drive,
        thinking: Vec::new(),
        author_at_work: false,
        due: Vec::new(),
        handoffs: Vec::new(),
        end_is_known: true,
        refusal: None,
        attempts_failed: 0,
        max_attempts: 10,
        trouble: None,
        journal_failure: None,
    }
}

pub(crate) fn board(views: impl IntoIterator<Item = PullRequestView>, now: Timestamp) -> Arc<Board> {
    let views = views.into_iter().map(|view| (view.address.clone(), Arc::new(view)));
    Arc::new(Board {
        next_poll: Some(now + SignedDuration::from_secs(20)),
        pull_requests: views.collect(),
        ..Board::default()
    })
}

pub(crate) fn record(seq: u64, at: Timestamp, kind: &str, why: &str) -> Record {
    let about = simulated::address("acme/shop", 12);
    Record {
        seq,
        at,
        pull_request: Some(PullRequestKey {
            host: "github.com".to_owned(),
            repository: about.repository,
            number: about.number,
        }),
        kind: kind.to_owned(),
        by: "engine".to_owned(),
        why: why.to_owned(),
        key: Some(format!("{kind}/{seq}")),
        body: serde_json::json!({"head": "0123456", "note": why}),
    }
}

/// A terminal over a board, used by Dana.
pub(crate) fn model(board: Arc<Board>, now: Timestamp, theme: config::ThemeName) -> Model {
    let mut model = Model::new(row_builder(), Theme::new(theme, false), "dana".to_owned(), now);
    update(&mut model, Message::Board(BoardRows::default().updated(board, &row_builder())));
    model
}

/// Presses keys: `\n` is return, `\u{1b}` escape, `\t` tab.
pub(crate) fn press(model: &mut Model, keys: &str) -> Vec<Effect> {
    let mut effects = Vec::new();
    for c in keys.chars() {
        let modifiers = if c.is_uppercase() { KeyModifiers::SHIFT } else { KeyModifiers::NONE };
        let code = match c {
            '\n' => KeyCode::Enter,
            '\u{1b}' => KeyCode::Esc,
            '\t' => KeyCode::Tab,
            c => KeyCode::Char(c),
        };
        effects.extend(update(model, Message::Key(KeyEvent::new(code, modifiers))));
    }
    effects
}

pub(crate) fn drawn(model: &mut Model, width: u16, height: u16) -> Buffer {
    update(model, Message::Resized { width, height });
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, model)).unwrap();
    terminal.backend().buffer().clone()
}

/// The lines of a screen without trailing blanks.
pub(crate) fn text(buffer: &Buffer) -> Vec<String> {
    let area = buffer.area;
    let line = |y| (0..area.width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
    (0..area.height).map(line).collect()
}
