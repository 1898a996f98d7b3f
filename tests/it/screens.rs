//! The screens of the terminal: each is drawn at four sizes over real posts of bots, and keys are pressed on
//! it.

mod acting;
mod cursor;
mod hostile;
mod pictures;
mod threads;
mod world;

use crate::support::simulated;
use cloture::config;
use cloture::failure::{Failure, FailureKind};
use cloture::github::PullRequestAddress;
use cloture::supervisor::{Board, LoopCommand, SupervisorProblem, SupervisorProblemKind};
use cloture::tui::rows::BoardRows;
use cloture::tui::startup::{ConfigProposal, DiscoveredPullRequests, Startup, StartupNews, WatchScope};
use cloture::tui::{Effect, Message, Model, Overlay, Pane, Screen, Theme, draw, update};
use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use jiff::{SignedDuration, Timestamp};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::sync::{Arc, OnceLock};
use world::{press, row_builder};

const SIZES: [(u16, u16); 4] = [(80, 24), (120, 40), (200, 60), (40, 10)];

/// The board after forty minutes.
fn board() -> &'static (Arc<Board>, Timestamp) {
    static BOARD: OnceLock<(Arc<Board>, Timestamp)> = OnceLock::new();
    BOARD.get_or_init(|| {
        let (seen, now) = world::snapshots();
        let views = seen.iter().map(|snapshot| world::view(snapshot.clone(), *now, &row_builder()));
        (world::board(views, *now), *now)
    })
}

fn model() -> Model {
    let (board, now) = board();
    let mut model = world::model(Arc::clone(board), *now, config::ThemeName::Dark);
    let mut records = vec![
        world::record(1, *now, "intent", "codex has held its stance as often as it may"),
        world::record(2, *now, "ended", "no review came in time"),
    ];
    for record in &mut records {
        record.body["note"] = "a\u{1b}[31mb".into();
    }
    update(&mut model, Message::Records(records));
    model
}

fn drawn(model: &mut Model, (width, height): (u16, u16)) -> String {
    update(model, Message::Resized { width, height });
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, model)).unwrap();
    terminal.backend().to_string()
}

fn snapshots(name: &str, keys: &str) {
    let mut model = model();
    press(&mut model, keys);
    for size in SIZES {
        let screen = drawn(&mut model, size);
        insta::assert_snapshot!(format!("{name}_{}x{}", size.0, size.1), screen);
    }
}

#[test]
fn watch_shows_the_pull_requests_and_the_selected_one() {
    snapshots("watch", "");
}

#[test]
fn watch_shows_the_thread_that_is_stuck() {
    snapshots("watch_stuck", "n");
}

#[test]
fn a_thread_shows_the_conversation_and_the_code() {
    snapshots("thread", "n\n");
}

#[test]
fn u1_the_inbox_shows_the_most_severe_item_first() {
    snapshots("inbox", "2");
}

#[test]
fn h8_handoff_shows_tasks_and_why_findings_stay() {
    snapshots("handoff", "3");
}

#[test]
fn the_journal_shows_decisions_and_the_page_of_one() {
    snapshots("journal", "4");
    snapshots("record", "4\n");
}

#[test]
fn help_and_palette_are_drawn_on_top() {
    snapshots("help", "?");
    snapshots("palette", ":po");
}

/// A start of which nothing is known yet.
fn starting() -> Model {
    let now = board().1;
    let mut model =
        Model::new(row_builder(), Theme::new(config::ThemeName::Dark, false), "dana".to_owned(), now);
    model.startup = Startup::new();
    model
}

fn send(model: &mut Model, news: StartupNews) {
    update(model, Message::Start(news));
}

fn in_a_checkout() -> Model {
    let mut model = starting();
    let scope = WatchScope::Checkout { repository: "acme/shop".to_owned(), branch: "discount".to_owned() };
    send(&mut model, StartupNews::Scope { scope, first: None });
    send(&mut model, StartupNews::Journal(Ok(())));
    model
}

fn proposal() -> ConfigProposal {
    ConfigProposal {
        path: "/home/dana/.config/cloture/config.toml".to_owned(),
        text: "[[watch]]\nrepositories = [\"acme/shop\"]\n".to_owned(),
    }
}

fn snapshots_of(name: &str, model: &mut Model) {
    for size in SIZES {
        insta::assert_snapshot!(format!("{name}_{}x{}", size.0, size.1), drawn(model, size));
    }
}

#[test]
fn the_first_run_says_what_to_do_and_offers_the_demo() {
    let mut model = in_a_checkout();
    send(&mut model, StartupNews::FirstRun(proposal()));
    let why =
        Failure::new(FailureKind::NotAllowed, "no token was found; set GH_TOKEN or run `gh auth login`");
    send(&mut model, StartupNews::Token(Err(why)));
    assert_eq!(model.screen, Screen::FirstRun);
    snapshots_of("first_run", &mut model);
    assert_eq!(press(&mut model, "2/"), []);
    assert_eq!(model.screen, Screen::FirstRun);
    assert_eq!(press(&mut model, "u"), [Effect::LookAgain]);
    assert_eq!(press(&mut model, "D"), [Effect::PlayDemo]);
}

#[test]
fn the_first_run_writes_the_proposed_configuration_only_after_a_yes() {
    let mut model = in_a_checkout();
    send(&mut model, StartupNews::FirstRun(proposal()));
    send(&mut model, StartupNews::Token(Ok("in GH_TOKEN".to_owned())));
    snapshots_of("first_run_proposal", &mut model);
    assert_eq!(press(&mut model, "W"), []);
    assert!(matches!(model.dialog.overlay, Overlay::Ask(_)));
    assert_eq!(press(&mut model, "n"), []);
    assert_eq!(press(&mut model, "Wy"), [Effect::WriteConfiguration]);
    send(&mut model, StartupNews::Written(Ok(proposal().path)));
    assert_eq!(model.screen, Screen::Watch);
}

#[test]
fn every_state_of_the_start_has_a_text() {
    snapshots_of("opening", &mut starting());
    snapshots_of("searching", &mut in_a_checkout());
    let mut empty = in_a_checkout();
    update(
        &mut empty,
        Message::Found(Ok(DiscoveredPullRequests { is_all: true, ..DiscoveredPullRequests::default() })),
    );
    snapshots_of("empty", &mut empty);
    let mut nothing = starting();
    let scope = WatchScope::Nothing { why: "this folder is no git checkout".to_owned() };
    send(&mut nothing, StartupNews::Scope { scope, first: None });
    send(&mut nothing, StartupNews::Journal(Ok(())));
    update(&mut nothing, Message::Found(Err(Failure::usage("nothing says which pull requests to watch"))));
    snapshots_of("nothing_to_watch", &mut nothing);
    let mut broken = starting();
    let why =
        Failure::new(FailureKind::Journal, "/home/dana/.local/state/cloture/journal.db cannot be written");
    send(&mut broken, StartupNews::Journal(Err(why)));
    snapshots_of("no_journal", &mut broken);
}

/// U4
#[test]
fn u4_a_problem_stays_above_the_last_state_with_its_age_and_a_remedy() {
    let (board, now) = board();
    for (name, kind, why) in [
        (
            "offline",
            SupervisorProblemKind::OutOfReach,
            "polling failed: connection refused; it is tried again later",
        ),
        ("limited", SupervisorProblemKind::Limited, "polling has to wait: GitHub's primary limit is reached"),
        ("refused", SupervisorProblemKind::Refused, "polling was refused because the token is not valid"),
    ] {
        let mut model = model();
        let since = *now - SignedDuration::from_mins(7);
        let until = Some(*now + SignedDuration::from_secs(40));
        let mut board = (**board).clone();
        board.trouble = Some(SupervisorProblem { kind, why: why.to_owned(), since, until });
        let rows = BoardRows::default().updated(Arc::new(board), &model.row_builder);
        update(&mut model, Message::Board(rows));
        update(&mut model, Message::Tick(*now + SignedDuration::from_mins(3)));
        snapshots_of(name, &mut model);
        press(&mut model, "2");
        assert!(drawn(&mut model, (120, 40)).contains(why.split(':').next().unwrap()), "on every screen");
    }
}

/// U1
#[test]
fn u1_each_screen_has_a_key_and_tab_goes_round() {
    let mut model = model();
    for (key, screen) in [
        ("2", Screen::Inbox),
        ("3", Screen::Handoff),
        ("4", Screen::Journal),
        ("1", Screen::Watch),
        ("\t", Screen::Inbox),
    ] {
        press(&mut model, key);
        assert_eq!(model.screen, screen);
    }
    assert_eq!(press(&mut model, "q"), [Effect::Quit]);
}

#[test]
fn a_filter_narrows_while_it_is_typed_and_escape_clears_it() {
    let mut model = model();
    let all = model.visible_pulls().len();
    press(&mut model, "/parser");
    let names: Vec<_> = model.visible_pulls().iter().map(|row| row.name.clone()).collect();
    assert!(names.len() < all, "{names:?}");
    assert!(
        names[..2].iter().all(|name| name.starts_with("oss/parser")),
        "the best matches come first: {names:?}"
    );
    // In a filter, letters are no commands.
    assert_eq!(model.dialog.overlay, Overlay::Filter);
    press(&mut model, "\n");
    assert_eq!(model.visible_pulls().len(), names.len());
    press(&mut model, "\u{1b}");
    assert_eq!(model.visible_pulls().len(), all);
}

#[test]
fn next_stuck_only_stops_where_a_person_has_to_decide() {
    let mut model = model();
    press(&mut model, "n");
    let first = model.selected_thread().unwrap().id.clone();
    assert!(model.selected_thread().unwrap().is_stuck());
    assert_eq!(model.lists.pane, Pane::Threads);
    press(&mut model, "n");
    assert!(model.selected_thread().unwrap().is_stuck());
    assert_ne!(model.selected_thread().unwrap().id, first);
}

#[test]
fn the_cursor_stays_on_its_row_when_the_order_changes() {
    let mut model = model();
    press(&mut model, "jj");
    let name = model.selected_pull().unwrap().name.clone();
    press(&mut model, "s");
    assert_eq!(model.selected_pull().unwrap().name, name);
}

/// U3
#[test]
fn u3_stopping_asks_first_and_no_stops_nothing() {
    let mut model = model();
    press(&mut model, "/shop18\n");
    assert_eq!(press(&mut model, "S"), []);
    let Overlay::Ask(question) = &model.dialog.overlay else { panic!("{:?}", model.dialog.overlay) };
    assert!(question.sentences[0].contains("acme/shop#18"), "{question:?}");
    // No other key means yes.
    assert_eq!(press(&mut model, "\nxq"), []);
    assert_eq!(press(&mut model, "n"), []);
    assert_eq!(model.dialog.overlay, Overlay::None);
    press(&mut model, "S");
    let address = simulated::address("acme/shop", 18);
    assert_eq!(press(&mut model, "y"), [Effect::Tell(address, LoopCommand::Stop)]);
}

#[test]
fn pausing_and_polling_tell_the_selected_loop() {
    let mut model = model();
    press(&mut model, "/shop18\n");
    let address: PullRequestAddress = simulated::address("acme/shop", 18);
    assert_eq!(press(&mut model, "p"), [Effect::Tell(address.clone(), LoopCommand::Pause)]);
    assert_eq!(press(&mut model, "u"), [Effect::Tell(address, LoopCommand::PollNow)]);
    assert_eq!(press(&mut model, "r"), [], "it is not paused");
    assert_eq!(press(&mut model, "R"), [], "no round is spent");
    assert!(model.notice.is_some(), "the notice says why not");
}

/// U2
#[test]
fn u2_the_palette_finds_a_command_by_a_part_of_its_name() {
    let mut model = model();
    press(&mut model, ":inbo\n");
    assert_eq!(model.screen, Screen::Inbox);
    assert_eq!(press(&mut model, ":quit\n"), [Effect::Quit]);
}

fn mouse(model: &mut Model, kind: MouseEventKind, (column, row): (u16, u16)) {
    update(model, Message::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }));
}

fn click(model: &mut Model, column: u16, row: u16) {
    mouse(model, MouseEventKind::Down(MouseButton::Left), (column, row));
}

/// The place of a text on the screen, for the mouse.
fn place_of(model: &mut Model, text: &str) -> (u16, u16) {
    let screen = drawn(model, (200, 60));
    let mut lines = screen.lines().enumerate();
    let found = lines.find_map(|(row, line)| line.find(text).map(|at| (line[..at].chars().count(), row)));
    assert!(found.is_some(), "{text} is not shown:\n{screen}");
    let (column, row) = found.unwrap();
    // A drawn line starts with a quotation mark.
    (u16::try_from(column - 1).unwrap(), u16::try_from(row).unwrap())
}

/// The part of a title that fits into its column.
fn beginning(title: &str) -> &str {
    &title[..title.floor_char_boundary(24)]
}

#[test]
fn the_wheel_moves_the_list_under_the_mouse() {
    let (down, up) = (MouseEventKind::ScrollDown, MouseEventKind::ScrollUp);
    let mut model = model();
    let pulls: Vec<_> = model.visible_pulls().iter().map(|row| row.name.clone()).collect();
    let with_threads = 1 + model.visible_pulls()[1..].iter().position(|row| row.threads.len() > 1).unwrap();
    let over_pulls = place_of(&mut model, &pulls[1]);
    for _ in 0..=with_threads {
        mouse(&mut model, down, over_pulls);
    }
    mouse(&mut model, up, over_pulls);
    assert_eq!(model.selected_pull().unwrap().name, pulls[with_threads]);
    let threads = model.selected_pull().unwrap().threads.clone();
    let over_threads = place_of(&mut model, beginning(&threads[0].title));
    mouse(&mut model, down, over_threads);
    assert_eq!((model.lists.pane, &model.selected_thread().unwrap().id), (Pane::Threads, &threads[1].id));
    assert_eq!(model.selected_pull().unwrap().name, pulls[with_threads], "the other list stays as it was");
    mouse(&mut model, up, over_pulls);
    let selected = &model.selected_pull().unwrap().name;
    assert_eq!((model.lists.pane, selected), (Pane::PullRequests, &pulls[with_threads - 1]));

    press(&mut model, "?");
    let before = drawn(&mut model, (80, 24));
    mouse(&mut model, down, (40, 12));
    assert_ne!(drawn(&mut model, (80, 24)), before, "the help is longer than the screen");
    mouse(&mut model, up, (40, 12));
    assert_eq!(drawn(&mut model, (80, 24)), before);
}

#[test]
fn a_click_selects_threads_and_rows_and_a_second_one_opens_them() {
    let mut model = model();
    let pull = model.visible_pulls().iter().position(|row| row.threads.len() > 1).unwrap();
    let name = model.visible_pulls()[pull].name.clone();
    let (column, row) = place_of(&mut model, &name);
    click(&mut model, column, row);
    let threads = model.selected_pull().unwrap().threads.clone();
    let (column, row) = place_of(&mut model, beginning(&threads[1].title));
    click(&mut model, column, row);
    assert_eq!(model.selected_thread().unwrap().id, threads[1].id);
    assert_eq!(model.screen, Screen::Watch, "the first click only selects");
    click(&mut model, column, row);
    assert_eq!(model.open_thread().unwrap().1.id, threads[1].id);

    press(&mut model, "2");
    assert!(model.visible_inbox().len() > 1);
    let waiting = model.visible_inbox()[1].key();
    let (column, row) = place_of(&mut model, "›");
    click(&mut model, column + 4, row + 1);
    assert_eq!((model.selected_inbox().unwrap().key(), &model.screen), (waiting, &Screen::Inbox));
    click(&mut model, column + 4, row + 1);
    assert!(model.open_thread().is_some(), "the second one opens it");
}

#[test]
fn a_click_selects_and_a_second_one_opens() {
    let mut model = model();
    drawn(&mut model, (80, 24));
    click(&mut model, 5, 4);
    let rows: Vec<_> = model.visible_pulls().iter().map(|row| row.name.clone()).collect();
    assert_eq!(model.selected_pull().unwrap().name, rows[2]);
    click(&mut model, 5, 4);
    assert_eq!(model.lists.pane, Pane::Threads);
    click(&mut model, 20, 0);
    assert_eq!(model.screen, Screen::Inbox);
}

#[test]
fn s1_hostile_titles_are_cleaned_and_stay_visible() {
    let (seen, now) = world::snapshots();
    let views = seen.iter().cloned().map(|mut snapshot| {
        snapshot.title = "\u{1b}[31mred\u{202e} \u{7}\u{200b}日本語のタイトル e\u{301} 👩‍💻 x".to_owned();
        world::view(snapshot, *now, &row_builder())
    });
    let mut model = world::model(world::board(views, *now), *now, config::ThemeName::Plain);
    for size in SIZES {
        for keys in ["1", "2", "3", "n\n"] {
            press(&mut model, keys);
            let screen = drawn(&mut model, size);
            let hostile = |c: &char| cloture::output::sanitize::is_hostile(*c) && *c != '\n';
            assert_eq!(screen.chars().find(hostile), None, "{screen}");
        }
    }
    press(&mut model, "1");
    let screen = drawn(&mut model, (200, 60));
    assert!(screen.contains("[31mred"), "the text itself stays visible: {screen}");
}

#[test]
fn no_size_breaks_any_screen() {
    let mut model = model();
    for keys in ["", "n", "n\n", "2", "3", "4", "4\n", "?", "x:", "\u{1b}1/shop18\nS"] {
        press(&mut model, keys);
        for width in [1, 2, 7, 20, 40, 79, 111, 300] {
            for height in [1, 2, 3, 5, 10, 17, 80] {
                drawn(&mut model, (width, height));
            }
        }
    }
}
