//! What a person tells a loop (L10).

use crate::world::{WATCHED, World};

#[test]
fn pausing_resuming_and_stopping_are_told_to_the_loop_and_recorded() {
    let world = World::new(WATCHED);
    world.perform("{ push = { by = 'erin', message = 'More', files = { 'notes.txt' = 'x' } } }");
    let mut played = world.play();
    played.press("u");
    played.until_shown("waiting");
    played.press("p");
    played.until_shown("paused; r lets it go on");
    played.press("r");
    played.until_gone("paused; r lets it go on");
    played.press("S");
    played.agree("ends for good");
    played.until_shown("stopped:");
    let told = world.records("told");
    let told: Vec<&str> = told.iter().map(|record| record["body"]["told"].as_str().unwrap()).collect();
    assert_eq!(told, ["pause", "resume", "stop"]);
    assert_eq!(world.posts(), [""; 0]);
}

#[test]
fn looking_now_looks_now() {
    let world = World::new(WATCHED);
    let mut played = world.play();
    played.until_shown("next look in");
    let before = world.simulator.requests().len();
    world.perform("{ comment = { by = 'erin', body = 'Please look again.' } }");
    played.press("u");
    played.until_so("a request", || world.simulator.requests().len() > before);
}

#[test]
fn a_thread_with_something_new_is_jumped_to() {
    let world = World::new(WATCHED);
    let mut played = world.play();
    played.until_shown("next look in");
    world.perform("{ reply = { thread = 'third', by = 'erin', body = 'Which test do you mean?' } }");
    played.press("u");
    played.until_shown("•low");
    played.press("N\r");
    played.until_shown("Which test do you mean?");
    played.press("\u{1b}");
    played.until_shown("low");
    assert!(!played.contents().contains("•low"), "it was read: {}", played.contents());
    played.press("N");
    played.until_shown("nothing is new");
}
