//! What a person tells a loop (L10).

use super::world::{WATCHED, World};

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
    let before = world.simulator.request_count();
    world.perform("{ comment = { by = 'erin', body = 'Please look again.' } }");
    played.press("u");
    played.until_so("a request", || world.simulator.request_count() > before);
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
    played.until_shown("severity where");
    assert!(!played.contents().contains("•low"), "it was read: {}", played.contents());
    played.press("N");
    played.until_shown("nothing is new");
}

#[test]
fn the_glass_is_broken_and_mended() {
    let world = World::new(WATCHED);
    let mut played = world.play();
    played.press("B");
    played.agree("The loop on it ends at once");
    played.until_so("the label", || world.pull().labels == ["cloture:break-glass"]);
    played.until_shown("glass broken");
    played.press("B");
    played.agree("Take the label");
    played.until_so("no label", || world.pull().labels.is_empty());
}

#[test]
fn the_ways_out_are_a_menu_and_each_is_carried_out_on_github() {
    let world = World::new(WATCHED);
    let mut played = world.play();
    played.press("w");
    played.until_shown("Ways out of acme/shop#1");
    played.press("\u{1b}");
    played.until_shown("nothing was done");
    played.press("w");
    played.until_shown("Approve in spite");
    played.press("4");
    played.agree("Approve acme/shop#1");
    played.until_so("the approval", || {
        world
            .pull()
            .reviews
            .iter()
            .any(|review| review.state == cloture::simulator::SimulatedReviewState::Approved)
    });
    played.press("w");
    played.until_shown("Close and reopen");
    played.press("5");
    played.agree("Reopen acme/shop#1");
    played.until_so("both", || world.posts().ends_with(&["close".to_owned(), "reopen".to_owned()]));
    played.press("w");
    played.until_shown("Push the last fix by hand");
    played.press("6");
    played.until_gone("Ways out of");
    played.until_shown("Push the last fix to the branch discount");
    played.press("w");
    played.until_shown("squashed");
    played.press("2");
    played.agree("with one squashed commit");
    played.until_so("the merge", || world.pull().state == cloture::simulator::PullState::Merged);
    played.until_shown("merged");
}

/// L6: what only a person can do.
#[test]
fn one_more_round_is_granted_at_the_cap_with_a_reason() {
    let config = "[policy]\nmax_rounds = 1\n[[repositories]]\nname = 'acme/shop'\nreviewers = ['coderabbit']\n\
        drive = true\n[author]\nkind = 'program'\ncommand = ['true']\ncheckout = '/'\n";
    let world = World::new(&format!("{WATCHED}{config}"));
    world.perform("{ review = { by = 'coderabbitai', state = 'changes_requested', body = 'Still wrong.' } }");
    let mut played = world.play();
    played.until_shown("round cap");
    played.press("w");
    played.until_shown("Grant one more round");
    played.press("7");
    played.because("it is nearly there");
    played.until_so("the grant", || !world.records("granted").is_empty());
    assert_eq!(world.records("granted")[0]["why"], "it is nearly there");
    played.until_gone("round cap");
}
