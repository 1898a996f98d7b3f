//! The threads of a reviewer that Cloture drives and posts for.

use super::notifications::stub;
use super::world::World;
use serde_json::json;

const ANSWER: &str = r#"{"findings": [{"path": "src/a.rs", "line": 2, "end_line": 2, "title": "Two is empty",
 "body": "It does nothing at all.", "severity": "high", "category": "bug", "suggestion": null}], "summary": "One."}"#;

#[tokio::test]
async fn a_driven_reviewers_thread_is_found_by_either_of_its_ids() {
    let world = World::new().await;
    let command = stub(&world, &format!("cat > /dev/null\ncat <<'END'\n{ANSWER}\nEND"));
    world.configure(&format!(
        "[policy]\npoll_interval = '1s'\n[[reviewers]]\nname = 'orange'\nkind = 'program'\nprotocol = 'findings'\n\
         command = ['{command}']\n[[repositories]]\nname = 'acme/shop'\ndrive = true\nauthor = false\n\
         reviewers = ['orange']\n"
    ));
    let watched = world.run(&["watch", "--json", "acme/shop#1"]).await;
    assert_eq!(watched.code, 10, "{watched:?}");
    let posted = world.pull().threads.into_iter().find(|thread| thread.comments[0].by == "dana").unwrap();
    let (_, mark) = posted.comments[0].body.split_once("cloture:finding/").unwrap();
    // The marker escapes characters that a key cannot hold.
    let engine_id = mark.split(' ').next().unwrap().replace(".2f.", "/");
    assert_ne!(engine_id, posted.id);

    let shown = async || {
        let run = world.run(&["status", "--json", "acme/shop#1"]).await;
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
        let threads = run.json()["pull_requests"][0]["threads"].as_array().unwrap().clone();
        let own: Vec<_> = threads.into_iter().filter(|thread| thread["id"] == posted.id.as_str()).collect();
        assert_eq!(own.len(), 1, "{own:?}");
        own[0].clone()
    };
    let thread = shown().await;
    assert_eq!((&thread["reviewer"], &thread["status"]), (&json!("orange"), &json!("open")));
    assert_eq!((&thread["severity"], &thread["title"]), (&json!("high"), &json!("Two is empty")));

    let told = world.done(&engine_id, &["veto", "--reason", "Enough."]).await;
    assert_eq!(told["decision"]["recorded"], "now");
    assert_eq!(shown().await["status"], "vetoed");
    let again = world.done(&posted.id, &["veto", "--reason", "Enough."]).await;
    assert_eq!(again["decision"]["recorded"], "before", "two ids, one thread");
    world.done(&posted.id, &["dismiss", "--reason", "It is meant so."]).await;
    assert_eq!(shown().await["status"], "dismissed");
    let now = world.pull().threads.into_iter().find(|thread| thread.id == posted.id).unwrap();
    assert!(now.resolved && now.comments[1].body.starts_with("It is meant so."));
}

#[tokio::test]
async fn the_doctor_checks_the_journal_the_programs_and_the_targets() {
    let world = World::new().await;
    let command = stub(&world, "exit 0");
    world.configure(&format!(
        "[[reviewers]]\nname = 'orange'\nkind = 'program'\ncommand = ['{command}']\n[[reviewers]]\nname = 'lost'\n\
         kind = 'program'\ncommand = ['no-such-program']\n[handoff]\n[[handoff.targets]]\nname = 'fixer'\n\
         kind = 'issue'\n[[handoff.targets]]\nname = 'nowhere'\n"
    ));
    let doctor = async || world.run(&["doctor", "acme/shop#1"]).await;
    let before = doctor().await;
    assert_eq!(before.code, 1, "{before:?}");
    assert!(
        before.out.contains("journal.db, which does not exist yet; Cloture makes it when it needs it"),
        "{}",
        before.out
    );
    assert!(!world.has_journal());
    world.done("src/a.rs:1", &["queue"]).await;
    let after = doctor().await;
    for line in [
        "journal.db, version 3, 1 record, readable and writable\n".to_owned(),
        format!("✓ reviewer orange: runs {command}\n"),
        "✗ reviewer lost: cannot find the program `no-such-program` — install it".to_owned(),
        "✓ target fixer: configured\n".to_owned(),
        "✗ target nowhere: no `kind` — ".to_owned(),
    ] {
        assert!(after.out.contains(&line), "{line}: {}", after.out);
    }
}
