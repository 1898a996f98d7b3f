//! S2: a secret that somebody got hold of does not leave through Cloture: not in a post, not in a task, not in a
//! record.

use super::driven::{answer, config, reported};
use crate::support::harness::{
    DRIVEN, MAJOR, Place, Run, SEVEN, Settings, finding, parsed, profiles, review,
};
use crate::support::program::{TOKEN, finish, program};
use crate::support::simulated;
use crate::support::verbs::{changes, start};
use cloture::agents::secret::SecretScanner;
use cloture::github::write::{MergeMethod, NewReviewThread, PullRequestTarget, ThreadTarget, WriteKey};
use cloture::github::writer::WritePace;
use cloture::github::{Error, Write, Writer};
use cloture::simulator::{Fault, FaultKind};
use cloture::supervisor::handoffs::handoffs;
use cloture::supervisor::people::inbox::{self, InboxQuery};
use cloture::supervisor::people::stored;
use cloture::supervisor::view::HandoffState;
use std::time::Duration;

const SECRET: &str = "open-sesame-17";

/// Cloture's environment in these tests.
fn environment(name: &str) -> Option<String> {
    (name == "GH_TOKEN").then(|| SECRET.to_owned())
}

async fn knowing(place: &Place, config: &str) -> Run {
    let settings = Settings { environment, ..Settings::default() };
    place.run_as("one", config, &[SEVEN], settings).await
}

/// Everything that left: on GitHub, and in the journal's files.
async fn assert_kept(place: &Place) {
    for post in place.simulator.posts() {
        assert!(!post.text.contains(SECRET), "{post:?}");
    }
    let records = format!("{:?}", place.records().await);
    assert!(!records.contains(SECRET), "{records}");
    for file in std::fs::read_dir(place.path("state")).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains(SECRET), "it is in a file of the journal");
    }
}

/// The inbox as `cloture inbox` makes it, from the journal alone.
async fn listed(place: &Place, config: &str) -> Vec<String> {
    let config = parsed(config);
    let (stored, _) = stored::all(&place.journal().await, &config, &*profiles(&config)).await.unwrap();
    let address = cloture::supervisor::planned_writes::address(&stored[0].computed);
    let tasks = handoffs(&stored[0].history, &stored[0].computed.snapshot, &config.targets);
    let entries = inbox::entries(&InboxQuery {
        address: &address,
        computed: Some(&stored[0].computed),
        exit: stored[0].exit.as_ref(),
        refusal: None,
        handoffs: &tasks,
        policy: &config.policy,
        include_ended: false,
    });
    entries.into_iter().map(|entry| entry.why).collect()
}

fn calls(place: &Place) -> usize {
    place.read("calls").lines().count()
}

#[tokio::test]
async fn s2_c4_an_answer_with_a_secret_is_a_failed_answer_and_nothing_of_it_is_kept() {
    for spelled in [SECRET, "open-ses\\name-17", "open\\u002dsesame-17"] {
        let place = Place::new().await;
        let config = config(&place);
        answer(&place, 1, &[], &[reported(3, &format!("The token is {spelled}"), "critical")]);
        let run = knowing(&place, &config).await;
        run.end().await;
        assert_eq!(calls(&place), 3, "retried as often as any failed answer");
        assert_eq!(place.count("review"), 0, "{:?}", place.posts());
        run.stop().await;
        assert_kept(&place).await;
        let records = place.records().await;
        let message = "the answer contains the value of the variable GH_TOKEN, so Cloture dropped it";
        let kept = records.iter().filter(|record| record.kind == "answered");
        assert_eq!(kept.filter(|record| record.body.to_string().contains(message)).count(), 3);
        let inbox = listed(&place, &config).await;
        assert!(inbox.iter().any(|why| why.contains(message)), "{inbox:?}");
    }
}

#[tokio::test]
async fn s2_the_retry_without_the_secret_counts_and_the_inbox_still_tells() {
    let place = Place::new().await;
    let good = format!(r#"{{"findings": [{}]}}"#, reported(3, "A token is in the code", "critical"));
    let bad = good.replace("A token", SECRET);
    std::fs::write(place.path("good"), good).unwrap();
    std::fs::write(place.path("bad"), bad).unwrap();
    let body = "cat > \"$here/request\"; if [ -e \"$here/again\" ]; then cat \"$here/good\"; else touch \"$here/again\"; \
                cat \"$here/bad\"; echo 'my token is open-sesame-17' >&2; fi";
    let command = place.script("reviewer", body);
    let config = format!(
        "[[repositories]]\nname = 'acme/shop'\ndrive = true\nreviewers = ['orange']\n\
         [[reviewers]]\nname = 'orange'\nkind = 'program'\ncommand = ['{command}']\n"
    );
    let run = knowing(&place, &config).await;
    assert_eq!(run.end().await, "issues_found");
    let request = place.read("request");
    assert!(request.contains("describe the problem without quoting secrets"), "{request}");
    assert!(place.pull(SEVEN).threads[0].comments[0].body.contains("A token is in the code"));
    run.stop().await;
    assert_kept(&place).await;
    assert!(listed(&place, &config).await.iter().any(|why| why.starts_with("orange gave an answer")));
}

/// An older version recorded such an answer, and could not post it before it ended.
#[tokio::test]
async fn s2_a_review_with_a_secret_is_not_posted_and_is_in_the_inbox() {
    let place = Place::new().await;
    let config = config(&place);
    answer(&place, 1, &[], &[reported(3, &format!("The token is {SECRET}"), "critical")]);
    place.simulator.inject(Fault::always("addPullRequestReview", FaultKind::DropBefore));
    let run = place.run(&config).await;
    run.stop().await;
    place.simulator.clear_faults();
    let run = knowing(&place, &config).await;
    let trouble = run.view().trouble.clone();
    assert!(trouble.as_ref().is_some_and(|why| why.contains("was not sent")), "{trouble:?}");
    run.ticks(3).await;
    let view = run.view();
    let refused: Vec<String> = view.impossible_writes().map(|(_, why)| why.to_string()).collect();
    assert!(
        refused.iter().any(|why| why.contains("contains the value of the variable GH_TOKEN")),
        "{refused:?}"
    );
    run.stop().await;
    for post in place.simulator.posts() {
        assert!(!post.text.contains(SECRET), "{post:?}");
    }
    let inbox = listed(&place, &config).await;
    assert!(inbox.iter().any(|why| why.contains("was not sent")), "{inbox:?}");
}

#[tokio::test]
async fn s2_h9_a_task_with_a_secret_reaches_no_target_and_is_in_the_inbox() {
    let place = Place::new().await;
    let script = place.script("agent", "cat > \"$here/task\"");
    for target in [
        format!("kind = 'command'\ncommand = ['{script}']"),
        "kind = 'issue'".to_owned(),
        "kind = 'repository_dispatch'\nevent_type = 'fix'".to_owned(),
        "kind = 'webhook'\nurl = 'http://127.0.0.1:1/'".to_owned(),
    ] {
        let place = Place::new().await;
        let config = format!(
            "{DRIVEN}[handoff]\nmode = 'threshold_auto'\n[[handoff.targets]]\nname = 'default'\n{target}\n"
        );
        let run = knowing(&place, &config).await;
        let title = format!("The subtraction underflows with {SECRET}");
        place.play(&review(&[finding("a", "src/cart.rs", 3, &title, MAJOR)]));
        run.ticks(2).await;
        place.play("{ merge = { by = 'dana' } }");
        run.ticks(2).await;
        let handoffs = run.view().handoffs.clone();
        let HandoffState::Stuck(why) = &handoffs[0].state else { panic!("{target}: {handoffs:?}") };
        assert!(why.contains("the task contains the value of the variable GH_TOKEN"), "{why}");
        run.stop().await;
        assert_eq!(place.simulator.issues().len(), 0);
        assert_eq!(place.count("dispatch"), 0);
        let records = format!("{:?}", place.records().await);
        assert!(!records.contains(SECRET), "{records}");
        let inbox = listed(&place, &config).await;
        assert!(inbox.iter().any(|why| why.contains("is stuck: Cloture did not send the task")), "{inbox:?}");
    }
    assert!(!place.path("task").exists());
}

/// Every text of every write.
#[tokio::test]
async fn s2_no_text_of_any_write_leaves_with_a_secret_in_it() {
    let simulator = start().await;
    let client = simulated::client(&simulator.url(), "another-token", simulated::PATIENT);
    let pace = WritePace { between: Duration::ZERO, looks: vec![Duration::ZERO], attempts: 1 };
    let secrets = SecretScanner::default().knowing("the token", SECRET);
    let writer = Writer::new(client, pace).withholding(secrets);
    let on = || PullRequestTarget { address: simulated::address("acme/shop", 1), node_id: "PR_1".to_owned() };
    let key = || WriteKey::new("k").unwrap();
    let thread = || ThreadTarget {
        pull_request: simulated::address("acme/shop", 1),
        id: "PRRT_1".into(),
        path: "src/a.rs".into(),
        line: None,
    };
    let text = |text: &str| format!("It is {text}.");
    let review = |body: &str, inner: &str| Write::Review {
        on: on(),
        verdict: cloture::domain::verdict::Verdict::Comment,
        head: "0".repeat(40).as_str().into(),
        body: body.to_owned(),
        threads: vec![NewReviewThread {
            path: "src/a.rs".into(),
            line: 1,
            start_line: None,
            body: inner.to_owned(),
            key: key(),
        }],
        key: key(),
    };
    let issue = |title: &str, body: &str, label: &str| Write::OpenIssue {
        repository: on().address.repository,
        title: title.to_owned(),
        body: body.to_owned(),
        labels: vec![label.to_owned()],
        assignees: Vec::new(),
        key: key(),
    };
    let payload = serde_json::json!({"deep": [{"text": text(SECRET)}]});
    let aws = format!("AKIA{}", "ABCDEFGH12345678");
    for write in [
        Write::Reply { thread: thread(), body: text(SECRET), key: key() },
        Write::Comment { on: on(), body: text(SECRET), key: key() },
        Write::Comment { on: on(), body: text(&aws), key: key() },
        review(&text(SECRET), "fine"),
        review("fine", &text(SECRET)),
        issue(&text(SECRET), "fine", "fine"),
        issue("fine", &text(SECRET), "fine"),
        issue("fine", "fine", SECRET),
        Write::AddLabel { on: on(), label: SECRET.to_owned() },
        Write::Dispatch {
            repository: on().address.repository,
            event_type: "fix".to_owned(),
            payload: payload.as_object().unwrap().clone(),
            key: key(),
        },
    ] {
        let outcome = writer.write(&write).await;
        assert!(matches!(outcome, Err(Error::Withheld { .. })), "{write:?}: {outcome:?}");
        assert!(writer.rehearse(&write).await.is_err());
        let shown = outcome.unwrap_err().to_string();
        assert!(!shown.contains(SECRET) && !shown.contains(&aws), "{shown}");
    }
    assert_eq!(changes(&simulator), [""; 0]);
    let merge = Write::Merge { on: on(), head: "0".repeat(40).as_str().into(), method: MergeMethod::Merge };
    assert!(writer.withheld(&merge).is_none());
}

/// A person's own text as well, and nothing is recorded.
#[tokio::test]
async fn s2_a_text_with_the_token_is_refused_also_from_a_person() {
    let simulator = start().await;
    let home = crate::support::folder::temporary();
    let said = format!("Use {TOKEN} for it.");
    let state = home.path().join("state");
    for command in [
        vec!["act", "acme/shop#1", "src/a.rs:1", "reply", "--body", &said],
        vec!["act", "acme/shop#1", "src/a.rs:1", "veto", "--reason", &said],
        vec!["pr", "acme/shop#1", "comment", "--body", &said],
        vec!["pr", "acme/shop#1", "issue", "--title", &said, "--body", "Text."],
    ] {
        let url = simulator.url();
        let global = ["--api-url", url.as_str(), "--state-dir", state.to_str().unwrap()];
        let run = finish(program(home.path(), &[&global, &command[..], &["--yes"]].concat())).await;
        assert_eq!(run.code, 2, "{command:?}: {run:?}");
        assert!(run.err.contains("contains") && run.err.contains("GH_TOKEN"), "{run:?}");
        assert_eq!(changes(&simulator), [""; 0]);
    }
    for file in std::fs::read_dir(&state).into_iter().flatten() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains(TOKEN));
    }
}
