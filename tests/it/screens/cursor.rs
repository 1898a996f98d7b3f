//! A poll may move, add or remove rows. The cursor stays on its item, also before anyone has moved it; when
//! its item is gone, it goes to the item that followed.

use super::world::{self, row_builder};
use super::{board, model, press};
use cloture::config::{Config, ThemeName};
use cloture::domain::snapshot::PullRequestSnapshot;
use cloture::tui::rows::{BoardRows, RowBuilder};
use cloture::tui::{Message, Model, Screen, update};
use std::path::Path;
use std::sync::Arc;

/// Every pull request but these, as `acme/shop#12` and so on.
fn snapshots_without(names: &[&str]) -> Vec<PullRequestSnapshot> {
    let name = |snapshot: &PullRequestSnapshot| format!("{}#{}", snapshot.repository, snapshot.number);
    world::snapshots().0.iter().filter(|snapshot| !names.contains(&&*name(snapshot))).cloned().collect()
}

fn poll_under(model: &mut Model, snapshots: Vec<PullRequestSnapshot>, rows: &RowBuilder) {
    let now = board().1;
    let views = snapshots.into_iter().map(|snapshot| world::view(snapshot, now, rows));
    let polled = BoardRows::default().updated(world::board(views, now), rows);
    update(model, Message::Board(polled));
}

fn poll(model: &mut Model, snapshots: Vec<PullRequestSnapshot>) {
    poll_under(model, snapshots, &row_builder());
}

/// A terminal that has not seen these pull requests yet, on the screen that `keys` opens.
fn without(names: &[&str], keys: &str) -> Model {
    let now = board().1;
    let views =
        snapshots_without(names).into_iter().map(|snapshot| world::view(snapshot, now, &row_builder()));
    let mut model = world::model(world::board(views, now), now, ThemeName::Dark);
    press(&mut model, keys);
    model
}

fn pull(model: &Model) -> String {
    model.selected_pull().unwrap().name.clone()
}

fn thread(model: &Model) -> String {
    model.selected_thread().unwrap().title.clone()
}

fn inbox(model: &Model) -> String {
    model.selected_inbox().unwrap().title.clone()
}

fn handoff(model: &Model) -> (String, String) {
    let row = model.selected_handoff().unwrap();
    (row.pull.clone(), row.path.clone())
}

#[test]
fn a_new_pull_request_above_leaves_the_cursor_on_its_pull_request() {
    for keys in ["", "jk"] {
        let mut model = without(&["acme/fleet#23"], keys);
        assert_eq!(pull(&model), "acme/fleet#25");
        poll(&mut model, snapshots_without(&[]));
        assert_eq!(model.visible_pulls()[0].name, "acme/fleet#23", "the new one is the most urgent");
        assert_eq!(pull(&model), "acme/fleet#25", "{keys:?}");
    }
}

#[test]
fn when_the_selected_pull_request_is_gone_the_next_one_is_selected() {
    let mut model = without(&["acme/fleet#23"], "j");
    assert_eq!(pull(&model), "acme/shop#12");
    // One row comes above and the selected one goes, so the row number alone would name another pull request.
    poll(&mut model, snapshots_without(&["acme/shop#12"]));
    assert_eq!(pull(&model), "acme/shop#14");
    // The last of all has nothing after it.
    press(&mut model, "G");
    assert_eq!(pull(&model), "oss/parser#31");
    poll(&mut model, snapshots_without(&["oss/parser#31", "acme/shop#7"]));
    assert_eq!(pull(&model), "acme/shop#18");
}

#[test]
fn a_pull_request_that_takes_the_place_of_another_shows_its_first_thread() {
    let mut model = without(&[], "ljj");
    assert_eq!(pull(&model), "acme/fleet#23");
    assert_eq!(thread(&model), "Use an f-string.");
    poll(&mut model, snapshots_without(&["acme/fleet#23", "acme/fleet#25"]));
    assert_eq!(pull(&model), "acme/shop#12");
    assert_eq!(model.selected_thread().unwrap().id, model.selected_pull().unwrap().threads[0].id);
}

/// All snapshots, where one pull request lacks the threads whose first comment holds one of these texts.
fn snapshots_without_threads(texts: &[&str]) -> Vec<PullRequestSnapshot> {
    let mut snapshots = snapshots_without(&[]);
    for snapshot in &mut snapshots {
        snapshot.threads.retain(|thread| {
            let body = thread.comments.first().map_or("", |comment| &*comment.body);
            !texts.iter().any(|text| body.contains(text))
        });
    }
    snapshots
}

#[test]
fn threads_that_come_and_go_leave_the_cursor_on_its_thread() {
    for keys in ["", "l", "ljk"] {
        let mut model = without(&[], "");
        poll(&mut model, snapshots_without_threads(&["Name the timeout."]));
        press(&mut model, keys);
        assert_eq!(thread(&model), "Add a docstring to probe.");
        poll(&mut model, snapshots_without(&[]));
        let first = &model.selected_pull().unwrap().threads[0];
        assert_eq!(first.title, "Name the timeout.", "it comes first");
        assert_eq!(thread(&model), "Add a docstring to probe.", "{keys:?}");
        poll(&mut model, snapshots_without_threads(&["Add a docstring to probe."]));
        assert_eq!(thread(&model), "Use an f-string.", "{keys:?}");
    }
}

#[test]
fn the_inbox_keeps_the_cursor_on_its_item() {
    for keys in ["2", "2jk"] {
        let mut model = without(&["acme/shop#14"], keys);
        assert_eq!(inbox(&model), "Send an idempotency key with every attempt");
        poll(&mut model, snapshots_without(&[]));
        assert_eq!(model.visible_inbox()[0].title, "A renewed session never ends.");
        assert_eq!(inbox(&model), "Send an idempotency key with every attempt", "{keys:?}");
        poll(&mut model, snapshots_without(&["acme/shop#12"]));
        assert_eq!(inbox(&model), "Name the timeout.", "{keys:?}");
    }
}

#[test]
fn an_item_of_the_inbox_stays_the_same_when_its_line_moves() {
    let mut model = without(&[], "2j");
    assert_eq!(inbox(&model), "Send an idempotency key with every attempt");
    let mut snapshots = snapshots_without(&["acme/shop#14"]);
    for thread in snapshots.iter_mut().flat_map(|snapshot| &mut snapshot.threads) {
        thread.line = thread.line.map(|line| line + 40);
    }
    poll(&mut model, snapshots);
    assert_eq!(inbox(&model), "Send an idempotency key with every attempt");
}

#[test]
fn the_handoff_list_keeps_the_cursor_on_its_task() {
    let task = |pull: &str, path: &str| (pull.to_owned(), path.to_owned());
    for keys in ["3", "3jk"] {
        let mut model = without(&["acme/fleet#21"], keys);
        assert_eq!(handoff(&model), task("acme/fleet#27", "deploy/roll.py"));
        poll(&mut model, snapshots_without(&[]));
        assert_eq!(model.visible_handoff()[0].pull, "acme/fleet#21");
        assert_eq!(handoff(&model), task("acme/fleet#27", "deploy/roll.py"), "{keys:?}");
        poll(&mut model, snapshots_without(&["acme/fleet#27"]));
        assert_eq!(handoff(&model), task("acme/shop#12", "src/retry.rs"), "{keys:?}");
    }
}

#[test]
fn a_finding_that_joins_a_task_takes_the_cursor_with_it() {
    let mut model = without(&[], "3jjjj");
    assert_eq!(handoff(&model), ("acme/fleet#21".to_owned(), "deploy/roll.py:12".to_owned()));
    let text = include_str!("config.toml").replace("auto_threshold = \"high\"", "auto_threshold = \"nit\"");
    let config = Config::parse(Path::new("config.toml"), text.as_bytes()).unwrap();
    let rows = RowBuilder { config: Arc::new(config), ..row_builder() };
    poll_under(&mut model, snapshots_without(&[]), &rows);
    assert_eq!(handoff(&model), ("acme/fleet#21".to_owned(), "deploy/roll.py".to_owned()));
}

#[test]
fn the_journal_keeps_the_cursor_on_its_record() {
    for keys in ["4", "4jk"] {
        let mut model = model();
        press(&mut model, keys);
        assert_eq!(model.selected_record().unwrap().seq, 2);
        let record = world::record(3, board().1, "ended", "the loop ended");
        update(&mut model, Message::Records(vec![record]));
        assert_eq!(model.visible_records()[0].seq, 3);
        assert_eq!(model.selected_record().unwrap().seq, 2, "{keys:?}");
    }
}

#[test]
fn a_list_that_nobody_has_looked_at_opens_at_its_first_row() {
    let mut model = model();
    press(&mut model, "41");
    update(&mut model, Message::Records(vec![world::record(3, board().1, "ended", "the loop ended")]));
    press(&mut model, "4");
    assert_eq!(model.selected_record().unwrap().seq, 3);
    press(&mut model, "\n\u{1b}");
    assert_eq!(model.screen, Screen::Journal);
    update(&mut model, Message::Records(vec![world::record(4, board().1, "ended", "the loop ended")]));
    press(&mut model, "14");
    assert_eq!(model.selected_record().unwrap().seq, 3, "it was opened, so the cursor stays with it");
}
