//! The soak's checks find violations: a small world in order, and then each violation, made by hand.

use super::forge_side::{ForgeSide, Quiet};
use super::lives::Rules;
use super::rest::{addressed, deliveries, handed_over, queued_goes, why_restless};
use super::{our_side, world};
use crate::support::harness::{DRIVEN, MAJOR, Place, Run, SEVEN, finding, push, review};
use cloture::domain::machine::Decision;
use cloture::domain::machine::{EscalatedBy, ThreadStatus};
use cloture::journal::{NewRecord, Record, RecordFilter};
use cloture::simulator::{PullSnapshot, Snapshot};
use cloture::supervisor::computed_state::ComputedState;
use cloture::supervisor::fact::Fact;
use cloture::supervisor::{DueState, DueWrite, PullRequestView};
use std::sync::Arc;

/// One pull request with a request for a review, an argument and a notice to the operator.
struct Small {
    place: Place,
    run: Run,
    rules: Rules,
}

impl Small {
    async fn new() -> Small {
        let place = Place::new().await;
        let handoff =
            "[handoff]\nmode = 'full_auto'\n[[handoff.targets]]\nname = 'default'\nkind = 'issue'\n";
        let rules = Rules::of(format!("{DRIVEN}{handoff}"));
        let run = place.run(&rules.text).await;
        let again =
            |name: &str| finding(name, "src/cart.rs", 3, "A percentage above one hundred underflows", MAJOR);
        place.play(&review(&[again("a")]));
        run.tick().await;
        place.play(&push(1));
        place.play(&review(&[again("b")]));
        run.ticks(2).await;
        Small { place, run, rules }
    }

    fn forge(&self) -> Snapshot {
        self.place.simulator.snapshot()
    }

    fn pull(&self) -> PullSnapshot {
        self.place.pull(SEVEN)
    }

    async fn records(&self) -> Vec<Record> {
        self.place.journal().await.records(RecordFilter::default()).await.unwrap()
    }

    /// The view, with a change that no record explains.
    fn forged(&self, change: impl FnOnce(&mut ComputedState)) -> PullRequestView {
        let mut view = (*self.run.view()).clone();
        change(Arc::make_mut(view.computed.as_mut().unwrap()));
        view
    }
}

fn complains(wrong: &[String], about: &str) {
    assert!(wrong.iter().any(|it| it.contains(about)), "nobody complains about \"{about}\": {wrong:?}");
}

#[tokio::test]
async fn every_forbidden_state_of_the_forge_is_noticed() {
    let small = Small::new().await;
    let forge = small.forge();
    let (quiet, mut side) = (Quiet::new(), ForgeSide::default());
    assert_eq!(side.check(&forge, 0, &quiet), [""; 0], "all is well");
    assert_eq!(ForgeSide::standing_marks(&forge), [""; 0]);
    assert!(forge.posts.iter().any(|post| post.what == "resolve"), "{:?}", forge.posts);

    for what in ["comment", "reply", "resolve"] {
        let mut twice = forge.clone();
        let post = forge.posts.iter().find(|post| post.what == what).unwrap();
        Arc::make_mut(&mut twice.posts).push(post.clone());
        complains(&ForgeSide::default().check(&twice, 0, &quiet), "twice");
    }
    let mut unmarked = forge.clone();
    let posts = Arc::make_mut(&mut unmarked.posts);
    posts.iter_mut().find(|post| post.what == "reply").unwrap().text = "No mark.".to_owned();
    complains(&ForgeSide::default().check(&unmarked, 0, &quiet), "carries no mark");
    let closed = Quiet::from([(SEVEN.to_owned(), "closed")]);
    complains(&ForgeSide::default().check(&forge, 0, &closed), "although it is closed");

    // Under our own account, without the checks that would have prevented it.
    let asked =
        small.pull().comments.iter().find(|comment| comment.by == world::VIEWER).unwrap().body.clone();
    small.place.play(&format!("{{ comment = {{ by = 'dana', body = '''\n{asked}''' }} }}"));
    complains(&ForgeSide::standing_marks(&small.forge()), "is there twice");
    small.run.stop().await;
}

#[tokio::test]
async fn a_lost_record_or_a_passed_bound_is_noticed() {
    let small = Small::new().await;
    let (view, pull, records) = (small.run.view(), small.pull(), small.records().await);
    assert_eq!(our_side::is_as_recorded(&view, &records, &small.rules), Ok(()), "all is well");
    assert_eq!(our_side::bounds(&view, &records, &small.rules), [""; 0]);
    assert_eq!(our_side::knows(&view, &pull), [""; 0]);
    assert_eq!(addressed(&view, &pull), [""; 0]);

    let lost = small.forged(|computed| {
        computed.observed.threads.pop();
    });
    complains(&our_side::knows(&lost, &pull), "on nobody's board");
    let unread = small.forged(|computed| {
        Arc::make_mut(&mut computed.snapshot).threads.pop();
    });
    complains(&our_side::knows(&unread, &pull), "is not known");
    let mut moved = pull.clone();
    moved.head = "another".to_owned();
    complains(&our_side::knows(&view, &moved), "and is taken for");
    let stolen = small.forged(|computed| {
        let id = computed.snapshot.threads[0].id.clone();
        computed.folded.posted.insert("orange-1-1".into(), id);
    });
    complains(&our_side::knows(&stolen, &pull), "counts as ours");

    let thread = view.computed.as_ref().unwrap().snapshot.threads[0].id.clone();
    let about = records.iter().find_map(|record| record.pull_request.clone()).unwrap();
    let fact = Fact::decided(thread, Decision::Veto);
    let journal = small.place.journal().await;
    let appended = journal.append_one(fact.record(small.place.simulator.now(), &about, "dana", "no")).await;
    let more: Vec<Record> = records.iter().cloned().chain([appended.unwrap().record().clone()]).collect();
    assert!(our_side::is_as_recorded(&view, &more, &small.rules).is_err(), "what is recorded is not shown");

    let endless = small.forged(|computed| computed.observed.threads[0].thread.machine.counters.cycles = 5);
    complains(&our_side::bounds(&endless, &records, &small.rules), "T5");
    let stubborn =
        small.forged(|computed| computed.observed.threads[0].thread.machine.counters.round_count = 9);
    complains(&our_side::bounds(&stubborn, &records, &small.rules), "T3");
    let untold = small.forged(|computed| {
        computed.observed.threads[0].thread.machine.status = ThreadStatus::Escalated(EscalatedBy::RoundLimit);
    });
    complains(&addressed(&untold, &pull), "nobody was told");
    let mut closed = pull.clone();
    closed.threads.iter_mut().for_each(|thread| thread.resolved = true);
    complains(&addressed(&view, &closed), "and resolved there");
    let resolved = pull.threads.iter().find(|thread| thread.resolved).unwrap();
    assert_eq!(our_side::should_be_open(&view, &resolved.id), None);
    let open = pull.threads.iter().find(|thread| !thread.resolved).unwrap();
    assert!(our_side::should_be_open(&view, &open.id).is_some());
    let mut restless = (*view).clone();
    restless.due.push(DueWrite { sentence: "Something.".to_owned(), state: DueState::Waits });
    assert!(why_restless(&view).is_none() && why_restless(&restless).is_some());
    small.run.stop().await;
}

#[tokio::test]
async fn a_task_that_is_delivered_twice_or_never_is_noticed() {
    let small = Small::new().await;
    small.place.play("{ merge = { by = 'erin' } }");
    small.run.ticks(2).await;
    let (view, pull, forge) = (small.run.view(), small.pull(), small.forge());
    assert_eq!(forge.issues.len(), 1);
    let delivered = deliveries(&small.place, &forge);
    let records = small.records().await;
    assert_eq!(handed_over(&view, &pull, &delivered), [""; 0], "all is well");
    let mut twice = forge.clone();
    twice.issues.push(forge.issues[0].clone());
    complains(&ForgeSide::standing_marks(&twice), "is there twice");
    complains(&handed_over(&view, &pull, &deliveries(&small.place, &twice)), "arrived 2 times");
    let mut never = forge;
    never.issues.clear();
    complains(&handed_over(&view, &pull, &deliveries(&small.place, &never)), "arrived 0 times");
    let mut closed = pull.clone();
    closed.state = cloture::simulator::PullState::Closed;
    complains(&handed_over(&view, &closed, &delivered), "H1");
    let thread = view.computed.as_ref().unwrap().observed.threads[0].thread.id.clone();
    let mut queued = records.clone();
    let fact = Fact::decided(thread, Decision::Queue);
    let about = records.iter().find_map(|record| record.pull_request.clone()).unwrap();
    let NewRecord { kind, body, .. } = fact.record(small.place.simulator.now(), &about, "dana", "yes");
    queued.insert(0, Record { kind, body, ..records[0].clone() });
    let forgotten = small.forged(|computed| {
        let thread = &mut computed.observed.threads[0].thread;
        thread.handed_off = false;
    });
    assert_eq!(queued_goes(&view, &queued), [""; 0], "it went");
    complains(&queued_goes(&forgotten, &queued), "H6");
    small.run.stop().await;
}
