//! S1: the terminal shows the text from GitHub as visible characters and nothing else.
//!
//! One test replaces every text of a pull request by a hostile one, draws every screen, and checks each cell.
//! Another runs the real program in a pseudo-terminal and checks that each byte is text or one of our own
//! sequences.

use super::world::{self, drawn, press, record};
use crate::support::simulated;
use cloture::config;
use cloture::domain::handoff::HandoffTask;
use cloture::domain::snapshot::PullRequestSnapshot;
use cloture::failure::{Failure, FailureKind};
use cloture::output::sanitize::is_hostile;
use cloture::supervisor::view::{HandoffState, HandoffView};
use cloture::supervisor::{Board, DriverRole, DueState, DueWrite, SupervisorProblem, SupervisorProblemKind};
use cloture::tui::{ListScreen, Message, Model, Screen, update};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use ratatui::buffer::{Buffer, CellWidth};
use serde_json::Value;
use std::sync::Arc;

/// Attacks, and harmless text that looks like one.
const PIECES: [&str; 44] = [
    "\u{1b}[2J",
    "\u{1b}[31m",
    "\u{1b}]0;title\u{7}",
    "\u{1b}]52;c;aGk=\u{1b}\\",
    "\u{1b}P+q544e\u{1b}\\",
    "\u{9b}6n",
    "\u{90}q",
    "\u{0}\u{8}\u{7f}",
    "\r\n",
    "\t",
    "\u{b}\u{c}\u{85}",
    "\u{202e}evil\u{202c}",
    "\u{2066}a\u{2069}",
    "\u{200b}\u{200d}\u{feff}",
    "\u{e0041}\u{e007f}\u{e0100}",
    "\u{fe00}\u{fe0f}\u{fe0e}",
    "\u{2028}\u{2029}",
    "&#27;[2J",
    "&#x202e;x",
    "&#x9b;1m",
    "&#0;",
    "&zwj;&shy;",
    "日本語",
    "한국어",
    "👩‍💻👨‍👩‍👧",
    "🇩🇪🇯🇵",
    "⚠️❤️1️⃣",
    "👍🏽",
    "e\u{301}",
    "z\u{335}\u{336}\u{337}\u{338}\u{339}\u{33a}\u{33b}\u{33c}\u{33d}",
    "السلام לא",
    "ｶﾞ",
    "<!-- x",
    "<details>",
    "</details>",
    "```",
    "| a | b |\n|---|---|\n",
    "> ",
    "**",
    "<img alt=\"\u{1b}[1m\">",
    "[x](\u{1b}y)",
    "- [ ] ",
    "@@ -1,2 +3,4 @@\n",
    "\u{fffe}\u{fdd0}",
];

fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => proptest::sample::select(PIECES.as_slice()).prop_map(str::to_owned),
        1 => "[ -~]{0,16}",
        1 => any::<String>(),
        1 => (proptest::sample::select(PIECES.as_slice()), 1usize..60).prop_map(|(piece, times)| piece.repeat(times)),
    ];
    proptest::collection::vec(piece, 1..8).prop_map(|pieces| pieces.concat())
}

/// The fields of a snapshot that hold free text.
const FIELDS: [&str; 13] = [
    "title",
    "body",
    "login",
    "name",
    "path",
    "diff_hunk",
    "url",
    "summary",
    "reason",
    "sha",
    "labels",
    "app",
    "original_commit",
];

/// Replaces free text by hostile text. Some of the original stays, so that posts are still read as findings.
fn poisoned(value: &mut Value, is_free: bool, texts: &mut dyn Iterator<Item = (usize, &String)>) {
    match value {
        Value::String(text) if is_free => {
            let Some((number, hostile)) = texts.next() else { return };
            *text = match number % 4 {
                0 => hostile.clone(),
                1 => format!("{text}{hostile}"),
                2 => format!("{hostile}{text}"),
                _ => text.clone(),
            };
        }
        Value::Array(values) => values.iter_mut().for_each(|value| poisoned(value, is_free, texts)),
        Value::Object(fields) => {
            for (name, value) in fields {
                poisoned(value, FIELDS.contains(&name.as_str()), texts);
            }
        }
        _ => {}
    }
}

fn poisoned_snapshot(snapshot: &PullRequestSnapshot, texts: &[String]) -> PullRequestSnapshot {
    let mut value = serde_json::to_value(snapshot).unwrap();
    let mut numbered = texts.iter().cycle().enumerate();
    poisoned(&mut value, false, &mut numbered);
    serde_json::from_value(value).unwrap()
}

fn poisoned_model(snapshot: &PullRequestSnapshot, texts: &[String]) -> Model {
    let (_, now) = world::snapshots();
    let text = |number: usize| texts[number % texts.len()].clone();
    let mut view = world::view(poisoned_snapshot(snapshot, texts), *now, &world::row_builder());
    view.trouble = Some(text(0));
    let due = |sentence| DueWrite { sentence, state: DueState::Waits };
    view.due = vec![due(text(1)), due(text(2))];
    view.role = DriverRole::Standby { holder: text(3) };
    view.thinking = vec![text(4).into()];
    let task = HandoffTask {
        target: text(5).into(),
        path: text(6).into(),
        findings: vec![text(7).into()],
        coalesced: true,
    };
    view.handoffs = [HandoffState::Stuck(text(8)), HandoffState::Sent { url: Some(text(9)) }]
        .map(|state| HandoffView { key: text(10), task: task.clone(), reason: text(11), state })
        .into();
    let mut board: Board = (*world::board([view], *now)).clone();
    if texts.len().is_multiple_of(2) {
        let why = text(12);
        board.trouble = Some(SupervisorProblem {
            kind: SupervisorProblemKind::OutOfReach,
            why,
            since: *now,
            until: None,
        });
    }
    let mut model = world::model(Arc::new(board), *now, config::ThemeName::Dark);
    let mut written = record(1, *now, &text(13), &text(14));
    (written.by, written.key) = (text(15), Some(text(16)));
    written.body = serde_json::json!({text(17): [text(18)]});
    update(&mut model, Message::Records(vec![written]));
    model
}

/// Checks that each cell holds only visible characters and is as wide as the layout expects.
fn check(buffer: &Buffer, what: &str) {
    let area = buffer.area;
    for y in 0..area.height {
        let mut x = 0;
        while x < area.width {
            let symbol = buffer[(x, y)].symbol();
            assert!(!symbol.is_empty(), "{what}: an empty cell at {x},{y}");
            assert!(!symbol.chars().any(is_hostile), "{what}: {symbol:?} at {x},{y}");
            assert!(symbol.chars().count() <= 12, "{what}: {symbol:?} piles up at {x},{y}");
            let wide = symbol.cell_width().max(1);
            assert!(wide <= 4 && x + wide <= area.width, "{what}: {symbol:?} at {x},{y} is {wide} wide");
            for hidden in x + 1..x + wide {
                assert_eq!(buffer[(hidden, y)].symbol(), " ", "{what}: behind {symbol:?} at {x},{y}");
            }
            x += wide;
        }
    }
}

const SIZES: [(u16, u16); 5] = [(80, 24), (120, 40), (40, 10), (200, 60), (23, 7)];

/// Draws one kind of screen per case, so that a case is quick and each kind is drawn hundreds of times.
fn check_screens(model: &mut Model, kind: usize, (width, height): (u16, u16), texts: &[String]) {
    let after = |model: &mut Model, keys: &str| {
        press(model, keys);
        check(&drawn(model, width, height), keys);
    };
    match kind {
        0 => {
            for keys in ["1", "n", "2"] {
                after(model, keys);
            }
        }
        1 => {
            for keys in ["3", "4", "4\n"] {
                after(model, keys);
            }
        }
        2 | 3 => {
            let threads =
                model.data.pulls.values().flat_map(|pull| pull.threads.iter().map(move |row| (pull, row)));
            let ids: Vec<_> = threads.map(|(pull, row)| (pull.address.clone(), row.id.clone())).collect();
            let Some((address, id)) = ids.get(texts.len() % ids.len().max(1)).cloned() else { return };
            model.screen = Screen::Thread { address, id, from: ListScreen::Watch };
            let keys = if kind == 2 { ["g", "G"] } else { ["z", "G["] };
            for keys in keys {
                after(model, keys);
            }
        }
        _ => {
            update(model, Message::Notice(texts[0].clone()));
            check(&drawn(model, width, height), "a notice");
            model.data.pulls.clear();
            update(model, Message::Found(Err(Failure::new(FailureKind::NotAllowed, &texts[0]))));
            check(&drawn(model, width, height), "the first run");
        }
    }
}

const KINDS: usize = 5;

/// Two thousand pull requests with hostile text in every field.
#[test]
fn s1_no_cell_of_any_screen_holds_hostile_text() {
    let (seen, _) = world::snapshots();
    let config =
        Config { cases: 2_000, rng_seed: RngSeed::Fixed(9), failure_persistence: None, ..Config::default() };
    let texts = proptest::collection::vec(hostile(), 1..20);
    let case = (texts, 0..seen.len(), 0..KINDS, 0..SIZES.len());
    TestRunner::new(config)
        .run(&case, |(texts, number, kind, size)| {
            check_screens(&mut poisoned_model(&seen[number], &texts), kind, SIZES[size], &texts);
            Ok(())
        })
        .unwrap();
}

#[test]
fn the_check_finds_hostile_text() {
    for bad in ["\u{1b}", "\u{202e}", "a\u{200b}", "\u{e0041}"] {
        let mut buffer = Buffer::empty(ratatui::layout::Rect::new(0, 0, 2, 1));
        buffer[(0, 0)].set_symbol(bad);
        assert!(std::panic::catch_unwind(|| check(&buffer, "")).is_err(), "{bad:?}");
    }
}

/// The sequences of our own drawing, and the questions to the terminal at the start.
#[cfg(unix)]
fn is_ours(sequence: &str) -> bool {
    let Some(control) = sequence.strip_prefix("\u{1b}[") else {
        // A question about colours, or a copied text.
        let asks = ["\u{1b}]10;?", "\u{1b}]11;?"].iter().any(|ask| sequence.starts_with(ask));
        return asks
            || sequence.starts_with("\u{1b}]52;c;")
            || sequence == "\u{1b}7"
            || sequence == "\u{1b}8";
    };
    let Some(last) = control.chars().next_back() else { return false };
    let parameters = &control[..control.len() - 1];
    let is_numbers = |text: &str| text.chars().all(|c| c.is_ascii_digit() || matches!(c, ';' | ':'));
    match last {
        // Cursor position, text style, clearing.
        'H' | 'm' | 'J' | 'K' => is_numbers(parameters),
        // Alternate screen, cursor, mouse, bracketed paste, synchronized updates.
        'h' | 'l' => parameters.strip_prefix('?').is_some_and(|mode| {
            ["1049", "25", "1000", "1002", "1003", "1006", "1015", "2004", "2026", "1004"].contains(&mode)
        }),
        // Terminal identity and keyboard protocol.
        'c' | 'n' | 'u' | 'q' => parameters
            .trim_start_matches(['?', '>', '<', '='])
            .chars()
            .all(|c| c.is_ascii_digit() || c == ';' || c == ' '),
        _ => false,
    }
}

/// The parts of the output that are neither text nor our own sequences.
#[cfg(unix)]
fn foreign(written: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = written;
    while let Some(c) = rest.chars().next() {
        if c != '\u{1b}' {
            // Outside of raw mode, lines have normal ends.
            if is_hostile(c) && !matches!(c, '\r' | '\n') {
                found.push(format!("{c:?} before {:?}", rest.chars().take(40).collect::<String>()));
            }
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let end = match rest.as_bytes().get(1) {
            Some(b'[') => rest[2..].find(|c: char| ('@'..='~').contains(&c)).map(|at| at + 3),
            Some(b']') => {
                rest.find('\u{7}').map(|at| at + 1).or_else(|| rest.find("\u{1b}\\").map(|at| at + 2))
            }
            _ => Some(rest.len().min(2)),
        };
        let (sequence, after) = rest.split_at(end.unwrap_or(rest.len()));
        if !is_ours(sequence) {
            found.push(format!("{sequence:?}"));
        }
        rest = after;
    }
    found
}

#[cfg(unix)]
#[test]
fn s1_every_written_byte_is_text_or_one_of_our_sequences() {
    use crate::support::pty::Played;
    use cloture::simulator::Scenario;
    let evil = r"\u001b[2J\u001b]0;owned\u0007\u009b31m\u202eevil\u200b\u0000\u0008&#27;[6n 日本 👩‍💻 ";
    let text = include_str!("scenario.toml");
    let text = text
        .replace("\"Add a discount to the cart\"", &format!("\"{evil} Add a discount\""))
        .replace("**Indexing panics on an empty cart.**", &format!("**{evil} Indexing panics.**"))
        .replace("`first` is public", &format!("{evil} `first` is public"))
        .replace("**A percentage above", &format!("{evil}\n\n**A percentage above"));
    let scenario = Scenario::parse(&text, "scenario.toml").unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let simulator = runtime.block_on(simulated::start(&scenario));
    simulator.advance(std::time::Duration::from_mins(9));
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join("cloture.toml");
    std::fs::write(&config, "[[watch]]\nrepositories = ['acme/shop']\n").unwrap();
    let state = home.path().join("state");
    let url = simulator.url();
    let arguments =
        ["--api-url", &url, "--config", config.to_str().unwrap(), "--state-dir", state.to_str().unwrap()];
    let mut played = Played::start(home.path(), (120, 40), &arguments, &[("GH_TOKEN", "secret")]);
    played.until_shown("Add a discount");
    played.press("/discount\r");
    played.until_shown("A percentage above");
    played.press("l\r");
    played.until_shown("1 comment");
    played.until_shown("comes from the caller unchecked");
    played.press("z");
    played.until_shown("<!-- cr-comment");
    for keys in ["2", "3", "4", "1", "?", "x"] {
        played.press(keys);
    }
    played.press("q");
    assert!(played.ended().success());
    let written = String::from_utf8(played.raw.clone()).unwrap();
    assert!(written.contains("31mevil"), "the text is shown, without its effect");
    assert_eq!(foreign(&written), [""; 0]);
    assert_eq!(
        foreign("a\u{1b}[2Jb\u{202e}\u{1b}[6Z\u{1b}]0;t\u{7}").len(),
        3,
        "the check finds foreign sequences"
    );
}
