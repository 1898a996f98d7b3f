//! People's replies and resolutions in the threads of driven reviewers, and their effect on the state.

use super::driven::{answer, config, reported};
use crate::support::harness::{Place, Run, SEVEN, Settings, parsed, profiles, push, said};
use cloture::domain::snapshot::PullRequestSnapshot;
use cloture::domain::vocabulary::Association;
use cloture::supervisor::computed_state::{ComputedState, RepositoryRules};
use cloture::supervisor::fact::{DatedFact, Fact};
use cloture::supervisor::history::History;
use jiff::SignedDuration;
use std::sync::Arc;

async fn recorded(place: &Place, kind: &str) -> usize {
    place.facts().await.iter().filter(|known| *known == kind).count()
}

/// A driven reviewer has opened a thread, on a machine whose clock is this far ahead.
async fn one_thread(hours: i64) -> (Place, Run) {
    let place = Place::new().await;
    let config = config(&place);
    answer(&place, 1, &[], &[reported(3, "Subtraction underflows", "critical")]);
    let run = place.start("one", &config, &[SEVEN], Settings::default()).await;
    run.ticker.jump(SignedDuration::from_hours(hours));
    run.ticks(2).await;
    (place, run)
}

/// The forge has its own clock: a reply after the call counts even if this machine's clock is ahead.
#[tokio::test]
async fn a_persons_reply_counts_whatever_the_clock_says() {
    for hours in [-3, 0, 3] {
        let (place, run) = one_thread(hours).await;
        assert_eq!(run.threads(), ["open"]);
        place.play(r#"{ reply = { by = 'dana', name = 'word', thread = 'all', body = "Won't fix." } }"#);
        run.ticks(2).await;
        assert_eq!(run.threads(), ["resolved by wont_fix"], "{hours} hours: R3");
        assert_eq!(recorded(&place, "replied").await, 1);
        place.play("{ edit = { by = 'dana', comment = 'word', body = 'Hm, what would it cost?' } }");
        run.ticks(2).await;
        assert_eq!(run.threads(), ["open"], "{hours} hours: taken back");
        place.play("{ edit = { by = 'dana', comment = 'word', body = 'Acknowledged.' } }");
        run.ticks(2).await;
        assert_eq!(run.threads(), ["resolved by acknowledged"], "{hours} hours: said again");
        assert_eq!(recorded(&place, "replied").await, 3);
        run.stop().await;
    }
}

#[tokio::test]
async fn a_thread_resolved_and_reopened_on_the_forge_is_open_whatever_the_clock_says() {
    for hours in [-3, 0, 3] {
        let (place, run) = one_thread(hours).await;
        for turn in 1..=2 {
            place.play("{ resolve = { by = 'erin', thread = 'all' } }");
            run.ticks(2).await;
            assert_eq!(run.threads(), ["resolved by person"], "{hours} hours, turn {turn}");
            assert_eq!(recorded(&place, "resolved_there").await, turn);
            let thread = &place.pull(SEVEN).threads[0].id;
            place.play(&format!("{{ unresolve = {{ by = 'erin', thread = '{thread}' }} }}"));
            run.ticks(2).await;
            assert_eq!(run.threads(), ["open"], "{hours} hours, turn {turn}");
        }
        run.stop().await;
    }
}

/// An accepted answer stays accepted. A reply from before the call that was read only after the answer does
/// not undo it, nor does a change of the configuration.
#[tokio::test]
async fn an_answer_that_was_valid_on_arrival_stays_valid() {
    let place = Place::new().await;
    let text = config(&place).replace("kind = 'program'", "kind = 'program'\nprotocol = 'actions'");
    answer(&place, 1, &[], &[reported(3, "Subtraction underflows", "critical")]);
    answer(
        &place,
        2,
        &[("@1", "reply", "seeks_change", "Still there.")],
        &[reported(7, "Empty slice panics", "critical")],
    );
    let run = place.run(&text).await;
    run.tick().await;
    place.play(&push(1));
    run.ticks(3).await;
    assert_eq!(run.threads(), ["open", "open"]);
    let computed = run.view().computed.clone().unwrap();
    run.stop().await;
    let mut records = place.records().await;
    let facts: Vec<DatedFact> = records.iter().filter_map(Fact::read).collect();
    let asked: Vec<&DatedFact> = facts.iter().filter(|dated| dated.fact.kind() == "asked").collect();

    // Read one poll late: a person had closed the thread just before the second call.
    let mut seen = PullRequestSnapshot::clone(&computed.snapshot);
    let thread = &mut seen.threads[0];
    let mut word = thread.comments[0].clone();
    (word.id, word.body, word.written_by_us) = ("PRRC_late".to_owned(), "Won't fix.".to_owned(), false);
    (word.association, word.created_at) = (Association::Owner, asked[1].at - SignedDuration::from_secs(1));
    thread.comments.push(word);
    let todays = parsed(&text);
    let mut changed = parsed(&text.replace("'actions'", "'findings'"));
    changed.policy.max_review_iterations = 1;
    changed.policy.max_findings_per_answer = 0;
    for config in [todays, changed] {
        let folded = History::of(&records).replay(&seen, &config);
        let mut threads: Vec<String> = folded.engine.threads().map(|thread| said(thread.status())).collect();
        threads.sort();
        assert_eq!(
            threads,
            ["open", "resolved by wont_fix"],
            "both findings are there, and the reply counts"
        );
        assert_eq!(folded.cycles.len(), 2, "both cycles count");
        assert!(folded.violations.is_empty() && folded.failed.is_empty());
    }

    // An older version did not record the rules of a call, and named threads without their text.
    let ids: Vec<String> =
        computed.folded.engine.threads().map(|thread| thread.id.as_str().to_owned()).collect();
    for record in &mut records {
        record.body.as_object_mut().unwrap().remove("terms");
        let body = ids
            .iter()
            .fold(record.body.to_string(), |body, id| body.replace(id, id.rsplit_once('-').unwrap().0));
        record.body = serde_json::from_str(&body).unwrap();
    }
    let older = History::of(&records);
    assert_eq!(older.facts().count(), facts.len());
    assert_eq!(older.replay(&computed.snapshot, &parsed(&text)).cycles.len(), 2);
}

/// Another machine has no journal of a driven reviewer's thread, but it does not hide the thread.
#[tokio::test]
async fn a_thread_from_another_journal_is_on_the_board() {
    let (place, run) = one_thread(0).await;
    let snapshot = Arc::clone(&run.view().computed.as_ref().unwrap().snapshot);
    assert_eq!(run.view().computed.as_ref().unwrap().unowned, []);
    run.stop().await;
    let config = parsed(&config(&place));
    let reads = profiles(&config);
    let rules = RepositoryRules::of(&config, &*reads, &snapshot.repository, false);
    let computed = ComputedState::of(snapshot, &History::default(), &rules);
    let ids: Vec<&str> = computed.unowned.iter().map(|thread| thread.id.as_str()).collect();
    assert_eq!(ids, [place.pull(SEVEN).threads[0].id.as_str()]);
}
