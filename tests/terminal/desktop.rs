//! What leaves the terminal for the desktop: the browser and the clipboard.

use crate::world::{WATCHED, World};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The last text that was put on the clipboard through the terminal.
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
    played.until_shown("copied http");
    let link = copied(&played.raw).unwrap();
    assert!(link.contains("/acme/shop/pull/1"), "{link}");
    played.press("c");
    played.until_shown("copied a prompt with 1 finding");
    let prompt = copied(&played.raw).unwrap();
    for part in [
        "acme/shop#1",
        "branch discount",
        "src/a.rs:1",
        "The call recurses without end",
        "> It never returns.",
    ] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
}

#[test]
fn a_thread_is_opened_in_the_browser() {
    let world = World::new(WATCHED);
    world.script("xdg-open", "echo \"$1\" > \"$HOME/opened\"");
    let mut played = world.play();
    played.select("src/a.rs:1");
    played.press("o");
    played.until_so("the browser", || world.read("opened").contains("/acme/shop/pull/1"));
}
