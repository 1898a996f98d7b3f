//! A person's decisions about threads (T6, T7, H6).

use super::world::{WATCHED, World};

const UNDO: &str = "\u{1a}";
const SUBMIT: &str = "\u{13}";
const EDITOR: &str = "\u{f}";

#[test]
fn queueing_asks_nothing_and_the_same_key_undoes_it() {
    let world = World::new(WATCHED);
    let mut played = world.play();
    played.select("src/b.rs:1");
    played.press("f");
    played.until_shown("is queued");
    assert_eq!(world.decisions(), ["queue"]);
    played.press("3");
    played.until_shown("queued by a person");
    played.select("src/b.rs:1");
    played.press("f");
    played.until_shown("is off the list");
    played.press(UNDO);
    played.until_shown("is as it was before");
    assert_eq!(world.decisions(), ["queue", "unqueue"]);
    assert_eq!(world.records("undone").len(), 1);
    assert_eq!(world.posts(), [""; 0], "nothing is written to GitHub");
}

#[test]
fn a_veto_stops_the_argument_and_writes_nothing() {
    let world = World::new(WATCHED);
    let mut played = world.play();
    played.select("src/a.rs:3");
    played.press("v");
    played.until_shown("Nothing is written to GitHub");
    played.because("this goes in circles");
    played.until_shown("the argument is stopped");
    assert_eq!(world.decisions(), ["veto"]);
    let record = &world.records("decided")[0];
    assert_eq!((&record["by"], &record["why"]), (&"dana".into(), &"this goes in circles".into()));
    assert_eq!(world.posts(), [""; 0]);
    played.press("2");
    played.until_shown("a person took it over");
}

#[test]
fn an_escalation_is_addressed_to_the_operator_on_github() {
    let world = World::new(WATCHED);
    let mut played = world.play();
    played.select("src/a.rs:1");
    played.press("e");
    played.because("needs a lead");
    played.agree("Escalate the thread at src/a.rs:1");
    played.until_shown("is escalated");
    let pull = world.pull();
    assert_eq!(pull.labels, ["cloture:needs-a-person"]);
    let first =
        pull.threads.iter().find(|thread| thread.line == Some(1) && thread.path == "src/a.rs").unwrap();
    let body = &first.comments.last().unwrap().body;
    assert!(body.contains("@acme/leads") && body.contains("dana says: needs a lead"), "{body}");
}

#[test]
fn resolving_asks_first_and_can_be_undone() {
    let world = World::new(WATCHED);
    let mut played = world.play();
    played.select("src/a.rs:1");
    played.press("x");
    played.until_shown("y yes");
    played.press("n");
    played.until_shown("Nothing was done");
    assert_eq!(world.posts(), [""; 0]);
    played.press("x");
    played.agree("Resolve the thread at src/a.rs:1");
    played.until_shown("is resolved");
    assert!(world.is_resolved("src/a.rs", 1));
    played.press(UNDO);
    played.agree("Open the thread at src/a.rs:1");
    played.until_shown("is as it was before");
    assert!(!world.is_resolved("src/a.rs", 1));
    assert_eq!(world.decisions(), ["resolve"]);
    assert_eq!(world.records("undone").len(), 1, "the journal has it, too");
}

#[test]
fn a_resolved_thread_has_a_key_to_reopen_it() {
    let world = World::new(WATCHED);
    let mut played = world.play();
    played.select("src/a.rs:3");
    played.press("x");
    played.agree("Resolve the thread");
    played.until_shown("is resolved");
    played.select("src/a.rs:3");
    played.press("X");
    played.agree("Open the thread");
    played.until_shown("is open again");
    assert!(!world.is_resolved("src/a.rs", 3));
}

#[test]
fn a_reply_of_several_lines_is_posted_verbatim() {
    let world = World::new(WATCHED);
    let mut played = world.play();
    played.select("src/b.rs:1");
    played.press("a");
    played.until_shown("under your login");
    played.press("It is tested");
    played.press("\r");
    played.press("in the other crate.");
    played.until_shown("in the other crate.");
    played.press(SUBMIT);
    played.agree("│ in the other crate.");
    played.until_shown("has your reply");
    let pull = world.pull();
    let third = pull.threads.iter().find(|thread| thread.path == "src/b.rs").unwrap();
    let reply = &third.comments.last().unwrap();
    assert!(reply.body.starts_with("It is tested\nin the other crate."), "{}", reply.body);
    assert_eq!(reply.by, "dana");
}

#[test]
fn a_reply_can_be_written_in_the_persons_editor() {
    let world = World::new(WATCHED);
    let editor = world.script(
        "my-editor",
        "printf ' and more\\nfrom the editor' >> \"$2\"; env > \"$HOME/environment\"; echo \"$1\" > \"$HOME/called\"",
    );
    let environment = [("EDITOR", format!("{editor} --wait")), ("GITHUB_TOKEN", "other".to_owned())];
    let environment = environment.each_ref().map(|(name, value)| (*name, value.as_str()));
    let mut played = world.play_with(&[], &environment);
    played.select("src/b.rs:1");
    played.press("a");
    played.until_shown("under your login");
    played.press("Begun here");
    played.until_shown("Begun here");
    played.press(EDITOR);
    played.until_shown("from the editor");
    assert_eq!(world.read("called").trim(), "--wait");
    let environment = world.read("environment");
    assert!(environment.contains("HOME=") && !environment.contains("TOKEN="), "S2: {environment}");
    assert!(played.screen.screen().alternate_screen(), "the terminal shows the screen again");
    played.press(SUBMIT);
    played.agree("Reply with");
    played.until_shown("has your reply");
    let pull = world.pull();
    let third = pull.threads.iter().find(|thread| thread.path == "src/b.rs").unwrap();
    let body = &third.comments.last().unwrap().body;
    assert!(body.starts_with("Begun here and more\nfrom the editor"), "{body}");
}

#[test]
fn threads_are_upheld_returned_and_dismissed_from_the_inbox() {
    let world = World::new(WATCHED);
    let mut played = world.play();
    for place in ["src/a.rs:1", "src/a.rs:3", "src/b.rs:1"] {
        played.select(place);
        played.press("v");
        played.because("mine");
        played.until_shown(&format!("{place} waits in your inbox"));
    }
    played.press("2");
    played.until_shown("Inbox·3");
    // The most severe first: critical, high, low.
    played.press("gU");
    played.until_shown("src/a.rs:1 is upheld");
    played.until_shown("Inbox·2");
    played.press("gd");
    played.because("not worth it");
    played.agree("Dismiss the finding at src/a.rs:3");
    played.until_shown("src/a.rs:3 is dismissed");
    played.until_shown("Inbox·1");
    played.press("gb");
    played.because("look again");
    played.agree("Return the thread at src/b.rs:1");
    played.until_shown("is back in the loop");
    assert_eq!(world.decisions()[3..], ["uphold", "dismiss", "return"]);
    assert!(world.is_resolved("src/a.rs", 3));
    let pull = world.pull();
    let second = pull.threads.iter().find(|thread| thread.line == Some(3)).unwrap();
    assert!(second.comments.last().unwrap().body.starts_with("not worth it"));
    assert!(!world.is_resolved("src/b.rs", 1));
    played.until_shown("Nothing waits for you");
}

#[test]
fn a_decision_works_on_all_marked_threads() {
    let world = World::new(WATCHED);
    let mut played = world.play();
    played.select("src/a.rs:1");
    played.press("  ");
    played.until_shown("2 marked");
    played.press("x");
    played.until_shown("Resolve 2 threads?");
    played.agree("Resolve the thread at src/a.rs:3");
    played.until_shown("2 threads are resolved");
    assert!(world.is_resolved("src/a.rs", 1) && world.is_resolved("src/a.rs", 3));
    assert!(!world.is_resolved("src/b.rs", 1));
    played.until_gone("marked");
}

#[test]
fn an_illegal_decision_is_refused_with_a_sentence() {
    let world = World::new(WATCHED);
    let mut played = world.play();
    played.select("src/a.rs:1");
    played.press("U");
    played.until_shown("not_waiting");
    assert_eq!(world.decisions(), [""; 0]);
    played.press("2");
    played.until_shown("Nothing waits for you");
}

#[test]
fn read_only_writes_nothing() {
    let world = World::new(WATCHED);
    let mut played = world.play_with(&["--read-only"], &[]);
    played.until_shown("read-only");
    played.select("src/a.rs:1");
    played.press("x");
    played.until_shown("nothing is done with --read-only");
    assert_eq!(world.posts(), [""; 0]);
}

#[test]
fn a_failed_write_stays_beside_its_thread_until_it_succeeds() {
    let world = World::new(WATCHED);
    let mut played = world.play();
    played.select("src/a.rs:1");
    let forbidden =
        cloture::simulator::FaultKind::Forbidden { message: "Resource not accessible".to_owned() };
    world.simulator.inject(cloture::simulator::Fault::always("resolveReviewThread", forbidden));
    played.press("x");
    played.agree("Resolve the thread");
    played.until_shown("! GitHub did not accept it");
    // It was decided all the same, so that it has moved down to what is settled.
    played.press("k");
    played.until_gone("! GitHub did not accept it");
    assert!(played.contents().lines().any(|row| row.contains(" !critical")), "{}", played.contents());
    world.simulator.clear_faults();
    played.press("jx");
    played.agree("Resolve the thread");
    played.until_shown("is resolved");
    played.until("the sign is gone", |screen| !screen.contents().contains("!critical"));
}
