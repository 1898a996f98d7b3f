//! L9 and H4, exhaustively: the supervisor is killed at every commit of its journal and at every request to
//! the forge, before the request took effect and after. Started again, it must leave the forge exactly as if
//! nothing had happened.

use super::authors::{FIX, Shop};
use super::driven::{answer, reported};
use crate::support::harness::{DRIVEN, Fatal, MAJOR, Place, Run, SEVEN, Settings, finding, push, review};
use crate::support::simulated::show;
use cloture::journal::Checkpoint;
use cloture::simulator::{Fault, FaultKind, PullState};
use cloture::supervisor::view::{HandoffState, HandoffView};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// Where the supervisor is killed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kill {
    Never,
    /// After this commit, before the supervisor learns of it.
    Commit(usize),
    /// During this request, which never takes effect.
    Before(u32),
    /// After this request took effect, with its answer lost.
    After(u32),
}

/// The results of one history.
#[derive(Debug)]
struct Left {
    forge: Value,
    facts: Vec<String>,
    commits: usize,
    /// For each request, whether it was a write.
    requests: Vec<bool>,
    killed: bool,
}

pub(crate) fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

/// Two findings; an author round; one thread argued on, the other escalated; the cap; the merge; the handoff.
pub(crate) async fn stage() -> (Shop, String) {
    let shop = Shop::new(FIX).await;
    let underflow = reported(3, "Subtraction underflows", "critical");
    answer(&shop.place, 1, &[], &[underflow, reported(7, "Empty slice panics", "high")]);
    let reply = ("@1", "reply", "seeks_change", "Still there.");
    answer(&shop.place, 2, &[reply, ("@2", "escalate", "seeks_change", "Worse.")], &[]);
    let config = shop.config.replace("max_rounds = 2", "max_rounds = 1\nmax_attempts = 3");
    let handoff = "[handoff]\nmode = 'full_auto'\n[[handoff.targets]]\nname = 'default'\nkind = 'issue'\n";
    let config = format!("{config}{handoff}labels = ['fix']\n");
    (shop, config)
}

fn history(kill: Kill) -> Left {
    let world = runtime();
    let (shop, config) = world.block_on(stage());
    match kill {
        Kill::Before(n) => {
            shop.place.simulator.inject(Fault::nth("*", n, FaultKind::Stall { millis: 600_000 }));
        }
        Kill::After(n) => {
            shop.place.simulator.inject(Fault::nth("*", n, FaultKind::Slow { millis: 600_000 }));
        }
        Kill::Never | Kill::Commit(_) => {}
    }
    let at = if let Kill::Commit(n) = kill { n } else { usize::MAX };
    let fatal = Fatal::at(at);
    let first = life(&world, &shop, &config, Some(&fatal));
    if kill == Kill::Never {
        assert!(first, "this history has no kill");
    } else if !first {
        shop.place.simulator.clear_faults();
        assert!(life(&world, &shop, &config, None), "{kill:?}: it does not come to an end");
    }
    let requests = shop.place.simulator.requests().iter().map(|request| request.writes).collect();
    let facts = world.block_on(shop.place.facts());
    Left { forge: forge(&shop), facts, commits: fatal.seen.load(Ordering::SeqCst), requests, killed: !first }
}

/// True if it reached the end of the history, false if it was killed.
fn life(world: &Runtime, shop: &Shop, config: &str, fatal: Option<&Arc<Fatal>>) -> bool {
    one_life(world, &shop.place, config, fatal, |run| answered(shop, run)).is_some()
}

/// One runtime in the place of a process. Returns the state of its tasks, or none if it was killed.
pub(crate) fn one_life(
    world: &Runtime,
    place: &Place,
    config: &str,
    fatal: Option<&Arc<Fatal>>,
    is_done: impl Fn(&Run) -> bool,
) -> Option<Vec<HandoffState>> {
    let process = runtime();
    let checkpoint = fatal.map(|fatal| Arc::clone(fatal) as Arc<dyn Checkpoint>);
    let settings = Settings { checkpoint, ..Settings::default() };
    let run = process.block_on(place.start("one", config, &[SEVEN], settings));
    let simulator = Arc::clone(&place.simulator);
    let killed = async {
        let commit = async {
            match fatal {
                Some(fatal) => fatal.reached.notified().await,
                None => std::future::pending().await,
            }
        };
        let request = simulator.wait_until(|simulator| {
            fatal.is_some()
                && simulator.any_request(|request| {
                    request.outcome.contains("fault: stall") || request.outcome.contains("fault: slow")
                })
        });
        tokio::select! {
            () = commit => {}
            () = request => {}
        }
    };
    let ended = world.block_on(async {
        tokio::select! {
            () = drive(&run, is_done) => Some(run.view().handoffs.iter().map(|h| h.state.clone()).collect()),
            () = killed => None,
        }
    });
    // Every task ends where it is, without any cleanup.
    process.shutdown_timeout(Duration::from_secs(10));
    ended
}

/// Lets the author, the reviewers and people react until the history is done.
async fn drive(run: &Run, is_done: impl Fn(&Run) -> bool) {
    for _ in 0..60 {
        run.tick().await;
        if is_done(run) {
            return;
        }
    }
    panic!("no end: {:?} {:?}", run.phase(), run.view().trouble);
}

/// The reactions of the author, the reviewers and people. True at the end of the history.
pub(crate) fn answered(shop: &Shop, run: &Run) -> bool {
    shop.deliver();
    let view = run.view();
    match run.exit().as_deref() {
        // L6: the round of an agent that died with Cloture is spent, and no other is left; a person steps in.
        Some("round_cap") if shop.is_at_first_head() => {
            shop.fix_by_hand();
            shop.deliver();
            false
        }
        Some("round_cap") => {
            if view.due.is_empty() && shop.place.pull(SEVEN).state == PullState::Open {
                shop.place.play("{ merge = { by = 'dana' } }");
            }
            false
        }
        Some("pr_merged") => {
            let is_sent = |handoff: &HandoffView| matches!(handoff.state, HandoffState::Sent { .. });
            !view.handoffs.is_empty() && view.handoffs.iter().all(is_sent)
        }
        _ => false,
    }
}

/// Everything on the forge except times, and ids of objects without a marker.
pub(crate) fn forge(shop: &Shop) -> Value {
    let pull = shop.place.pull(SEVEN);
    let comments = |comments: &[cloture::simulator::CommentSnapshot]| -> Vec<Value> {
        comments.iter().map(|comment| json!([comment.by, comment.body, comment.pending])).collect()
    };
    let threads: Vec<Value> = pull
        .threads
        .iter()
        .map(|thread| json!([thread.path, thread.line, thread.resolved, comments(&thread.comments)]))
        .collect();
    let reviews: Vec<Value> = pull
        .reviews
        .iter()
        .map(|review| json!([review.by, review.state, review.body, review.commit]))
        .collect();
    let issues: Vec<Value> = shop
        .place
        .simulator
        .issues()
        .iter()
        .map(|issue| json!([issue.title, issue.body, issue.labels]))
        .collect();
    // The order of the writes depends on timing; that each happens once does not.
    let posts = shop.place.simulator.posts();
    let mut posts: Vec<String> =
        posts.iter().map(|post| format!("{} {} {}", post.what, post.on, post.text)).collect();
    posts.sort();
    json!({
        "labels": pull.labels, "threads": threads, "reviews": reviews, "comments": comments(&pull.comments),
        "issues": issues, "posts": posts, "dispatches": shop.place.simulator.dispatches().len(),
    })
}

#[test]
fn killed_at_any_commit_and_any_request_it_loses_nothing_and_does_nothing_twice() {
    let undisturbed = history(Kill::Never);
    let expected = &undisturbed.forge;
    assert_eq!(expected["comments"].as_array().unwrap().len(), 1, "the cap: {expected:#}");
    assert_eq!(expected["labels"], json!(["cloture:needs-a-person"]));
    assert_eq!(expected["issues"].as_array().unwrap().len(), 1);
    assert_eq!(expected["threads"].as_array().unwrap().len(), 2);
    let mut points: Vec<Kill> = (1..=undisturbed.commits).map(Kill::Commit).collect();
    for (index, writes) in undisturbed.requests.iter().enumerate() {
        let number = u32::try_from(index + 1).unwrap();
        points.push(Kill::Before(number));
        if *writes {
            points.push(Kill::After(number));
        }
    }
    let writes = undisturbed.requests.iter().filter(|writes| **writes).count();
    show(&format!(
        "crash: {} points: after {} commits, at {} requests, {writes} of them writes",
        points.len(),
        undisturbed.commits,
        undisturbed.requests.len()
    ));
    let left = Mutex::new(points);
    let wrong = Mutex::new(Vec::new());
    let survived = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(kill) = left.lock().unwrap().pop() else { return };
                    let found = history(kill);
                    survived.fetch_add(usize::from(!found.killed), Ordering::SeqCst);
                    let once = |kind: &str| found.facts.iter().filter(|fact| *fact == kind).count() == 1;
                    if found.forge != *expected || !once("merged") || !once("dispatched") {
                        let told = format!("{kill:?}: {:?}\n{:#}", found.facts, found.forge);
                        wrong.lock().unwrap().push(told);
                    }
                }
            });
        }
    });
    assert_eq!(survived.into_inner(), 0, "every kill took place");
    let wrong = wrong.into_inner().unwrap();
    assert!(
        wrong.is_empty(),
        "{} points went wrong; expected {expected:#}\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
}

/// H4: a task that nobody can look for is never sent twice; if its arrival is uncertain, a person decides.
#[test]
fn h4_killed_at_any_moment_of_a_handoff_it_sends_a_task_that_cannot_be_found_at_most_once() {
    let (_, commits, requests) = unlookable(Kill::Never);
    let mut points: Vec<Kill> = (1..=commits).map(Kill::Commit).collect();
    for number in 1..=u32::try_from(requests).unwrap() {
        points.extend([Kill::Before(number), Kill::After(number)]);
    }
    show(&format!("crash in a handoff: {} points", points.len()));
    let mut in_doubt = 0;
    for kill in points {
        let (states, ..) = unlookable(kill);
        in_doubt += states.iter().filter(|state| matches!(state, HandoffState::Stuck(_))).count();
    }
    assert!(in_doubt > 0, "no kill hit a task under way");
}

/// The driver records changes that only one snapshot shows before it stores that snapshot.
#[test]
fn killed_at_any_commit_of_a_poll_it_still_knows_what_people_did_to_a_thread() {
    let mut killed = 0;
    for (people, expected) in [("unresolve", "open"), ("resolve", "resolved by person")] {
        for commit in 1..=6 {
            let (world, fatal) = (runtime(), Fatal::at(commit));
            let place = world.block_on(Place::new());
            let config = super::driven::config(&place);
            answer(&place, 1, &[], &[reported(3, "Subtraction underflows", "critical")]);
            let run = world.block_on(place.run(&config));
            world.block_on(run.ticks(2));
            let thread = place.pull(SEVEN).threads[0].id.clone();
            let act = |verb: &str| {
                place.play(&format!("{{ {verb} = {{ by = 'erin', thread = '{thread}' }} }}"));
            };
            // The journal knows that the thread was resolved once and is open again.
            for verb in ["resolve", "unresolve"].into_iter().take(if people == "resolve" { 2 } else { 1 }) {
                act(verb);
                world.block_on(run.ticks(2));
            }
            world.block_on(run.stop());
            act(people);
            let is_known = |run: &Run| run.threads() == [expected];
            killed += usize::from(one_life(&world, &place, &config, Some(&fatal), is_known).is_none());
            let survived = one_life(&world, &place, &config, None, is_known);
            assert!(survived.is_some(), "{people}, commit {commit}");
        }
    }
    assert!(killed >= 4, "{killed}: too few commits were hit");
}

/// A command and a dispatch, which nobody can look for. Checks that each ran as often as reported.
fn unlookable(kill: Kill) -> (Vec<HandoffState>, usize, usize) {
    let world = runtime();
    let place = world.block_on(Place::new());
    let agent = place.script("agent", "cat > /dev/null; echo run >> \"$here/runs\"");
    let config = format!(
        "{DRIVEN}[handoff]\nmode = 'full_auto'\n\
         [[handoff.targets]]\nname = 'default'\nkind = 'command'\ncommand = ['{agent}']\n\
         [[handoff.targets]]\nname = 'workflow'\nkind = 'repository_dispatch'\nevent_type = 'fix'\n\
         [[handoff.routes]]\ntarget = 'workflow'\npaths = ['src/stock.rs']\n"
    );
    let run = world.block_on(place.run(&config));
    place.play(&review(&[
        finding("a", "src/cart.rs", 3, "The subtraction underflows", MAJOR),
        finding("b", "src/stock.rs", 3, "Stock wraps around below zero", MAJOR),
    ]));
    world.block_on(run.tick());
    world.block_on(run.stop());
    place.play("{ merge = { by = 'dana' } }");
    let before = place.simulator.request_count();
    match kill {
        Kill::Before(n) => place.simulator.inject(Fault::nth("*", n, FaultKind::Stall { millis: 600_000 })),
        Kill::After(n) => place.simulator.inject(Fault::nth("*", n, FaultKind::Slow { millis: 600_000 })),
        Kill::Never | Kill::Commit(_) => {}
    }
    let fatal = Fatal::at(if let Kill::Commit(n) = kill { n } else { usize::MAX });
    let is_done = |run: &Run| !run.view().handoffs.is_empty();
    let ended = one_life(&world, &place, &config, Some(&fatal), is_done);
    assert_eq!(ended.is_some(), kill == Kill::Never, "{kill:?}");
    let requests = place.simulator.request_count() - before;
    place.simulator.clear_faults();
    let states = ended.or_else(|| one_life(&world, &place, &config, None, is_done)).unwrap();
    let runs = place.read("runs").lines().count();
    let dispatches = place.simulator.dispatches().len();
    for (state, times) in states.iter().zip([runs, dispatches]) {
        match state {
            HandoffState::Sent { .. } => assert_eq!(times, 1, "{kill:?}: {states:?}"),
            HandoffState::Stuck(why) => assert!(times <= 1 && why.contains("interrupted"), "{kill:?}: {why}"),
            HandoffState::Waiting { .. } => panic!("{kill:?}: {states:?}"),
        }
    }
    (states, fatal.seen.load(Ordering::SeqCst), requests)
}

/// The machine of a CI runner dies, and its state folder with it. The next run begins with an empty one, at
/// the next head.
#[test]
fn killed_at_any_commit_with_its_journal_lost_it_reviews_the_next_head_and_posts_nothing_twice() {
    let mut killed = 0;
    for commit in 1.. {
        let (world, fatal) = (runtime(), Fatal::at(commit));
        let place = world.block_on(Place::new());
        let config = super::driven::config(&place);
        let config = config.replace("kind = 'program'", "kind = 'program'\nprotocol = 'findings'");
        let finding = reported(3, "Subtraction underflows", "critical");
        let listed = format!(r#"{{"findings": [{finding}], "summary": "One."}}"#);
        std::fs::write(place.path("answer-1"), listed).unwrap();
        let is_settled =
            |run: &Run| run.exit().as_deref() == Some("issues_found") && run.view().due.is_empty();
        let survived = one_life(&world, &place, &config, Some(&fatal), is_settled).is_some();
        killed += usize::from(!survived);

        std::fs::remove_dir_all(place.path("state")).unwrap();
        let old_head = place.pull(SEVEN).head;
        place.play(&push(1));
        assert!(one_life(&world, &place, &config, None, is_settled).is_some(), "commit {commit}");
        let pull = place.pull(SEVEN);
        let at = |head: &str| {
            pull.reviews.iter().filter(|review| !review.body.is_empty() && review.commit == head).count()
        };
        assert_eq!(at(&pull.head), 1, "commit {commit}: {:?}", place.posts());
        assert!(at(&old_head) <= 1, "commit {commit}: {:?}", place.posts());
        assert_eq!(pull.threads.len(), 1, "commit {commit}: one finding, one thread");
        if survived {
            break;
        }
    }
    assert!(killed >= 6, "{killed}: too few commits were hit");
}
