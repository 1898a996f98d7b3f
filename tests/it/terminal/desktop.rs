//! The browser, the clipboard and notifications.

use super::world::{WATCHED, World};
use crate::support::pty::Played;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// The last text that the terminal put on the clipboard.
fn copied(raw: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(raw);
    let (_, rest) = text.rsplit_once("\u{1b}]52;c;")?;
    let (encoded, _) = rest.split_once(['\u{7}', '\u{1b}'])?;
    String::from_utf8(STANDARD.decode(encoded).ok()?).ok()
}

#[test]
fn the_link_and_a_prompt_are_copied_through_the_terminal() {
    let world = World::new(WATCHED);
    let mut played = world.play();
    played.select("src/a.rs:1");
    played.press("y");
    played.until_shown("Copied http");
    let link = copied(&played.raw).unwrap();
    assert!(link.contains("/acme/shop/pull/1"), "{link}");
    played.press("c");
    played.until_shown("Copied a prompt with 1 finding");
    let prompt = copied(&played.raw).unwrap();
    for part in [
        "acme/shop#1",
        "Branch: discount",
        "src/a.rs:1",
        "The call recurses without end",
        "\n\nIt never returns.\n```",
    ] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
}

#[test]
fn a_thread_is_opened_in_the_browser() {
    let world = World::new(WATCHED);
    world.script("xdg-open", "env > \"$HOME/environment\"; echo \"$1\" > \"$HOME/opened\"");
    let mut played = world.play_with(&[], &[("GITHUB_ENTERPRISE_TOKEN", "other")]);
    played.select("src/a.rs:1");
    played.press("o");
    played.until_so("the browser", || world.read("opened").contains("/acme/shop/pull/1"));
    let environment = world.read("environment");
    assert!(environment.contains("HOME=") && !environment.contains("TOKEN="), "S2: {environment}");
}

/// Escalates the thread at a place.
fn escalate(played: &mut Played, place: &str) {
    played.select(place);
    played.press("e");
    played.because("needs a lead");
    played.agree(&format!("Escalate the thread at {place}"));
    played.until_shown("is escalated");
}

#[test]
fn each_thread_that_starts_to_wait_is_notified_once() {
    let world = World::new(&format!("{WATCHED}[notifications]\nwhen = 'on'\nhow = 'osc9'\n"));
    let mut played = world.play();
    escalate(&mut played, "src/a.rs:1");
    played.until_sent(
        "\u{1b}]9;Cloture: acme/shop#1: The call recurses without end: dana escalated it: needs a lead\u{7}",
    );
    escalate(&mut played, "src/a.rs:3");
    played.until_sent("dana escalated it: needs a lead\u{7}");
    played.press("q");
    assert!(played.ended().success());
    let sent = String::from_utf8_lossy(&played.raw).matches("\u{1b}]9;").count();
    assert_eq!(sent, 2);
    // A thread that waited before the start is no news.
    let mut played = world.play();
    escalate(&mut played, "src/b.rs:1");
    played.until_sent("\u{1b}]9;");
    let sent = String::from_utf8_lossy(&played.raw).into_owned();
    assert_eq!(sent.matches("\u{1b}]9;").count(), 1);
    assert!(!sent.contains("The call recurses without end: dana escalated it"));
}

#[test]
fn a_notification_command_runs_and_its_failure_is_shown() {
    let world = World::new("");
    let command = world.script("tell-me", "cat >> \"$(dirname \"$0\")/told\"; exit 3");
    let notifications = format!("[notifications]\nwhen = 'on'\nhow = 'command'\ncommand = ['{command}']\n");
    std::fs::write(world.home.path().join("cloture.toml"), format!("{WATCHED}{notifications}")).unwrap();
    let mut played = world.play();
    // A second process escalates, so the terminal shows no other notice.
    world.act("src/a.rs:1", &["escalate", "--reason", "needs a lead"]);
    played.until_shown("no notification was shown: `");
    let told: Value = serde_json::from_str(&world.read("told")).unwrap();
    assert_eq!((&told["notification"], &told["pull_request"]), (&1.into(), &"acme/shop#1".into()));
    assert_eq!(told["reason"], "dana escalated it: needs a lead");
}
