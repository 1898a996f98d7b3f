//! Quitting works at once, from every state.

use super::world::{WATCHED, World};

const INTERRUPT: &str = "\u{3}";

#[test]
fn ctrl_c_quits_from_every_state() {
    let world = World::new(WATCHED);
    for (keys, shown) in [
        ("", "Watch"),
        ("1l\r", "It never returns"),
        ("2", "Nothing waits"),
        ("3", "findings"),
        ("4", "about"),
        ("?", "Keys of this screen"),
        (":", "Commands"),
        ("/x", "/x"),
        ("1lgv", "⏎ continue"),
        ("1lga", "your editor"),
        ("1lgx", "y yes"),
        // After a fast first poll the loop may have ended already.
        ("S", "y yes|The loop has already ended"),
    ] {
        let mut played = world.play();
        played.press(keys);
        played.until(shown, |screen| shown.split('|').any(|text| screen.contents().contains(text)));
        played.press(INTERRUPT);
        assert!(played.ended().success(), "{keys}");
    }
    assert_eq!(world.posts(), [""; 0]);
}
