//! Leaving works at once, from wherever one is.

use super::world::{WATCHED, World};

const INTERRUPT: &str = "\u{3}";

#[test]
fn one_can_leave_from_every_state() {
    let world = World::new(WATCHED);
    for (keys, shown) in [
        ("", "Watch"),
        ("1l\r", "It never returns"),
        ("2", "Nothing waits"),
        ("3", "goes"),
        ("4", "about"),
        ("?", "Keys of this screen"),
        (":", "Commands"),
        ("/x", "/x"),
        ("1lgv", "⏎ go on"),
        ("1lga", "your own editor"),
        ("1lgx", "y agree"),
        // Whether there is still something to stop depends on how fast the first look was.
        ("S", "y agree|the loop has ended already"),
    ] {
        let mut played = world.play();
        played.press(keys);
        played.until(shown, |screen| shown.split('|').any(|text| screen.contents().contains(text)));
        played.press(INTERRUPT);
        assert!(played.ended().success(), "{keys}");
    }
    assert_eq!(world.posts(), [""; 0]);
}
