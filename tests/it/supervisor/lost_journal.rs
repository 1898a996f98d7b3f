//! A journal that is lost, or another one: a CI runner with an empty state folder, a damaged file that was set
//! aside. GitHub still has everything that was posted with the journal before it.

use super::driven::{answer, config, reported};
use crate::support::harness::{Place, SEVEN, push};
use cloture::journal::{INTENT, NewRecord, OUTCOME};
use cloture::simulator::{Fault, FaultKind, ReviewSnapshot};
use cloture::supervisor::view::HandoffState;
use serde_json::json;

/// The state folder is gone. The next start makes a new one.
fn lose_journal(place: &Place) {
    std::fs::remove_dir_all(place.path("state")).unwrap();
}

fn calls(place: &Place) -> usize {
    place.read("calls").lines().count()
}

/// The reviews with a text: GitHub makes one without a text from every reply.
fn reviews(place: &Place) -> Vec<ReviewSnapshot> {
    place.pull(SEVEN).reviews.into_iter().filter(|review| !review.body.is_empty()).collect()
}

/// Runs an instance to its end and returns the exit.
async fn runs_to_its_end(place: &Place, config: &str) -> String {
    let run = place.run(config).await;
    let exit = run.end().await;
    run.ticks(2).await;
    assert!(run.view().due.is_empty(), "{:?}", run.view().due);
    assert_eq!(run.exit().as_deref(), Some(exit.as_str()), "it stays so");
    run.stop().await;
    exit
}

#[tokio::test]
async fn l9_after_a_lost_journal_and_a_push_the_review_of_the_new_head_is_posted() {
    let place = Place::new().await;
    let config = config(&place);
    answer(&place, 1, &[], &[]);
    assert_eq!(runs_to_its_end(&place, &config).await, "success");
    lose_journal(&place);
    place.play(&push(1));
    answer(&place, 1, &[], &[reported(3, "Subtraction underflows", "critical")]);
    assert_eq!(runs_to_its_end(&place, &config).await, "issues_found");
    let reviews = reviews(&place);
    assert_eq!((calls(&place), reviews.len()), (2, 2), "{:?}", place.posts());
    assert_eq!(reviews[1].commit, place.pull(SEVEN).head);
    assert_eq!(place.pull(SEVEN).threads.len(), 1, "the finding has its thread");
}

/// Every head has its own review, however often the state folder is empty, and under every name of the
/// repository.
#[tokio::test]
async fn c5_with_a_new_journal_at_each_run_every_head_is_reviewed_once() {
    let place = Place::new().await;
    let config = config(&place);
    answer(&place, 1, &[], &[]);
    for head in 1..=3 {
        for _ in 0..2 {
            assert_eq!(runs_to_its_end(&place, &config).await, "success");
            lose_journal(&place);
        }
        assert_eq!((calls(&place), reviews(&place).len()), (head, head), "{:?}", place.posts());
        if head == 2 {
            place.play("{ rename = { by = 'dana', to = 'acme/store' } }");
        }
        place.play(&push(u32::try_from(head).unwrap()));
    }
    let commits: Vec<String> = reviews(&place).into_iter().map(|review| review.commit).collect();
    assert_eq!(commits.len(), 3);
    assert!(commits[0] != commits[1] && commits[1] != commits[2], "{commits:?}");
}

/// GitHub shows that the first reviewer is done with this head, so only the other one is asked.
#[tokio::test]
async fn c5_a_reviewer_whose_review_github_shows_is_not_asked_again_while_another_is_missing() {
    let place = Place::new().await;
    let config = config(&place);
    answer(&place, 1, &[], &[]);
    assert_eq!(runs_to_its_end(&place, &config).await, "success");
    lose_journal(&place);
    let second = place.script("second", "cat > /dev/null; echo call >> \"$here/second-calls\"; echo '{\"actions\": [], \"findings\": [], \"summary\": \"Fine.\"}'");
    let both = config.replace("['orange']", "['orange', 'lemon']");
    let both = format!("{both}[[reviewers]]\nname = 'lemon'\nkind = 'program'\ncommand = ['{second}']\n");
    assert_eq!(runs_to_its_end(&place, &both).await, "success");
    assert_eq!((calls(&place), place.read("second-calls").lines().count()), (1, 1));
    assert_eq!(reviews(&place).len(), 2);
}

/// An older version posted the review under a key that counts, and was killed before it recorded the outcome.
#[tokio::test]
async fn a_review_that_an_older_version_posted_is_not_posted_again_after_an_upgrade() {
    let place = Place::new().await;
    let config = config(&place);
    answer(&place, 1, &[], &[reported(3, "Subtraction underflows", "critical")]);
    place.simulator.inject(Fault::always("addPullRequestReview", FaultKind::DropBefore));
    let run = place.run(&config).await;
    run.tick().await;
    run.stop().await;
    place.simulator.clear_faults();
    assert_eq!((calls(&place), reviews(&place).len()), (1, 0));
    // What that version leaves behind: its marker on GitHub, and an intent that names no key.
    let records = place.records().await;
    lose_journal(&place);
    let journal = place.journal().await;
    let mut intents = 0;
    for record in records {
        let is_intent = record.kind == INTENT;
        intents += usize::from(is_intent);
        let body = if is_intent { json!({"does": record.body["does"]}) } else { record.body };
        let copy = NewRecord::new(record.kind, record.by).with_reason(record.why).with(body);
        let copy = NewRecord { key: record.key, pull_request: record.pull_request, ..copy };
        journal.append_one(copy).await.unwrap();
    }
    journal.close().await.unwrap();
    assert_eq!(intents, 1);
    let thread = "{ path = 'src/cart.rs', line = 3, body = 'It breaks.' }";
    let marker = "<!-- cloture:review/orange/1 -->";
    place.play(&format!(
        "{{ review = {{ by = 'dana', body = '''\n**orange**\n\n{marker}''', threads = [{thread}] }} }}"
    ));

    let run = place.run(&config).await;
    run.ticks(3).await;
    assert!(run.view().due.is_empty(), "{:?}", run.view().due);
    run.stop().await;
    assert_eq!((calls(&place), reviews(&place).len()), (1, 1), "{:?}", place.posts());
    let records = place.records().await;
    let outcomes = records.iter().filter(|record| record.kind == OUTCOME);
    assert_eq!(outcomes.count(), 1, "the write has its outcome");
}

/// C5, L9: nothing is asked and nothing is posted, and the open finding is not forgotten.
#[tokio::test]
async fn l9_after_a_lost_journal_without_a_push_nothing_is_posted_and_the_findings_still_count() {
    let place = Place::new().await;
    let config = config(&place);
    answer(&place, 1, &[], &[reported(3, "Subtraction underflows", "critical")]);
    assert_eq!(runs_to_its_end(&place, &config).await, "issues_found");
    let posts = place.posts();
    for _ in 0..2 {
        lose_journal(&place);
        assert_eq!(runs_to_its_end(&place, &config).await, "issues_found");
        assert_eq!((calls(&place), place.posts()), (1, posts.clone()));
    }
    assert_eq!(place.facts().await, ["adopted", "pushed", "ended"]);
}

/// R1: the reviewer goes on with its threads, and ends them where it began them.
#[tokio::test]
async fn r1_after_a_lost_journal_and_a_push_the_reviewer_continues_its_threads() {
    let place = Place::new().await;
    let config = config(&place);
    let (underflow, empty) =
        (reported(3, "Subtraction underflows", "critical"), reported(7, "Empty slice panics", "medium"));
    answer(&place, 1, &[], &[underflow, empty]);
    assert_eq!(runs_to_its_end(&place, &config).await, "issues_found");

    // With a new journal at each head, every cycle is the first one.
    for (head, said) in [(1, "Still there."), (2, "Still there, I say.")] {
        lose_journal(&place);
        place.play(&push(head));
        answer(
            &place,
            1,
            &[("@1", "reply", "seeks_change", said), ("@2", "reply", "seeks_change", "Not yet.")],
            &[],
        );
        assert_eq!(runs_to_its_end(&place, &config).await, "issues_found");
        let pull = place.pull(SEVEN);
        assert_eq!(pull.threads.len(), 2, "no finding has two threads");
        let last = pull.threads[0].comments.last().unwrap().body.clone();
        assert!(last.starts_with(said), "each head has its reply: {last}");
    }
    let request = place.read("request-1");
    assert!(request.contains("Subtraction underflows") && request.contains("Still there."), "{request}");

    lose_journal(&place);
    place.play(&push(3));
    answer(
        &place,
        1,
        &[("@1", "resolve", "accepts", "Fixed."), ("@2", "escalate", "seeks_change", "Worse.")],
        &[],
    );
    assert_eq!(runs_to_its_end(&place, &config).await, "needs_person");
    let pull = place.pull(SEVEN);
    assert_eq!((pull.threads[0].resolved, pull.threads[1].resolved), (true, false));
    assert_eq!(reviews(&place).len(), 4, "{:?}", place.posts());

    // The escalation is known from GitHub, and nobody is told of it twice.
    let posts = place.posts();
    lose_journal(&place);
    let run = place.run(&config).await;
    assert_eq!(run.end().await, "needs_person");
    assert_eq!(run.threads(), ["resolved by reviewer", "escalated by reviewer"]);
    run.ticks(2).await;
    run.stop().await;
    assert_eq!(place.posts(), posts);
}

/// R3: a reply from before the loss counts as well.
#[tokio::test]
async fn r3_after_a_lost_journal_a_persons_word_in_a_thread_still_ends_it() {
    let place = Place::new().await;
    let config = config(&place);
    answer(&place, 1, &[], &[reported(3, "Subtraction underflows", "critical")]);
    assert_eq!(runs_to_its_end(&place, &config).await, "issues_found");
    lose_journal(&place);
    let thread = place.pull(SEVEN).threads[0].id.clone();
    place.play(&format!("{{ reply = {{ by = 'erin', thread = '{thread}', body = \"Won't fix.\" }} }}"));
    let run = place.run(&config).await;
    run.ticks(2).await;
    assert_eq!(run.threads(), ["resolved by wont_fix"]);
    run.stop().await;
    assert_eq!((calls(&place), reviews(&place).len()), (1, 1));
}

/// H1, H4: the findings go although the journal that knew them is lost. A target that can be searched gets
/// them once; about another one, a person decides.
#[tokio::test]
async fn h4_after_a_lost_journal_and_a_merge_the_findings_are_handed_off_at_most_once() {
    for (kind, is_sent) in [("issue", true), ("command", false)] {
        let place = Place::new().await;
        let agent = place.script("agent", "cat > /dev/null; echo run >> \"$here/runs\"");
        let command = if is_sent { String::new() } else { format!("command = ['{agent}']\n") };
        let config = format!(
            "{}[handoff]\nmode = 'full_auto'\n[[handoff.targets]]\nname = 'default'\nkind = '{kind}'\n{command}",
            config(&place)
        );
        answer(&place, 1, &[], &[reported(3, "Subtraction underflows", "critical")]);
        assert_eq!(runs_to_its_end(&place, &config).await, "issues_found");
        place.play("{ merge = { by = 'dana' } }");
        for _ in 0..2 {
            lose_journal(&place);
            let run = place.run(&config).await;
            run.ticks(2).await;
            let states: Vec<HandoffState> = run.view().handoffs.iter().map(|it| it.state.clone()).collect();
            assert_eq!(states.len(), 1, "{kind}");
            assert_eq!(matches!(states[0], HandoffState::Sent { .. }), is_sent, "{kind}: {states:?}");
            assert_eq!(matches!(states[0], HandoffState::Stuck(_)), !is_sent, "{kind}: {states:?}");
            run.stop().await;
        }
        let sent = place.simulator.issues().len() + place.read("runs").lines().count();
        assert_eq!(sent, usize::from(is_sent), "{kind}");
    }
}
