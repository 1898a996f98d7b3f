//! Choosing by keys which findings a merge hands off, and to which target (H6, H9).

use super::world::{WATCHED, World};

const TARGETS: &str = "[[repositories]]\nname = 'acme/shop'\ndrive = true\nreviewers = ['coderabbit']\n\
    [handoff]\nmode = 'threshold_auto'\nauto_threshold = 'high'\n\
    [[handoff.targets]]\nname = 'default'\nkind = 'issue'\nlabels = ['fix']\n\
    [[handoff.targets]]\nname = 'careful'\nkind = 'issue'\nlabels = ['careful']\n";

#[test]
fn h6_h9_a_finding_is_removed_and_another_gets_another_target_before_the_merge() {
    let world = World::new(&format!("{WATCHED}{TARGETS}"));
    let mut played = world.play();
    played.press("3");
    played.until_shown("at merge");
    // Queue the minor finding, and choose another target for it.
    played.select("src/b.rs:1");
    played.press("f");
    played.until_shown("is queued");
    played.press("\r");
    played.until_shown("Add one.");
    played.press("m");
    played.until_shown("to careful");
    played.press("2");
    played.until_shown("goes to another target now");
    // Remove one of the two findings that are handed off automatically.
    played.select("src/a.rs:3");
    played.press("f");
    played.until_shown("is off the list");
    // The notice may come before the poll that moves the finding, and the cursor stays on its item.
    played.press("3");
    played.until("the finding stays", |screen| {
        screen
            .contents()
            .lines()
            .any(|row| row.trim_start().starts_with("stays") && row.contains("src/a.rs:3"))
    });
    played.press("G");
    played.until_shown("taken off the list by a person");
    world.perform("{ merge = { by = 'dana' } }");
    played.press("u");
    played.until_so("two issues", || world.simulator.issues().len() == 2);
    let issues = world.simulator.issues();
    let titles: Vec<(&str, &[String])> =
        issues.iter().map(|issue| (issue.title.as_str(), issue.labels.as_slice())).collect();
    let of = |path: &str| titles.iter().find(|(title, _)| title.contains(path)).unwrap().1.to_vec();
    assert_eq!(of("src/b.rs"), ["careful"]);
    assert_eq!(of("src/a.rs"), ["fix"]);
    let about_a = issues.iter().find(|issue| issue.title.contains("src/a.rs")).unwrap();
    assert!(about_a.body.contains("recurses") && !about_a.body.contains("Nobody uses"), "{}", about_a.body);
    played.until_shown("sent");
}
