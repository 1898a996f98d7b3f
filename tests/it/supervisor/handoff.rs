//! Handoff (H): nothing before the merge, each task once at the merge, and nothing without it.

use crate::support::harness::{DRIVEN, EIGHT, MAJOR, MINOR, Place, Run, SEVEN, Settings, finding, review};
use cloture::domain::machine::Decision;
use cloture::simulator::{Fault, FaultKind};
use cloture::supervisor::LoopCommand;
use cloture::supervisor::fact::Fact;
use cloture::supervisor::view::HandoffState;
use jiff::SignedDuration;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

const MERGE: &str = "{ merge = { by = 'dana' } }";

fn auto(targets: &str) -> String {
    format!("{DRIVEN}[handoff]\nmode = 'threshold_auto'\n{targets}")
}

fn issue(name: &str) -> String {
    format!("[[handoff.targets]]\nname = '{name}'\nkind = 'issue'\nlabels = ['ai-fix']\n")
}

/// A target that runs a program with this text.
fn command(place: &Place, body: &str) -> String {
    let command = place.script("agent", body);
    format!("[[handoff.targets]]\nname = 'default'\nkind = 'command'\ncommand = ['{command}']\n")
}

/// A person queues a thread, from another program.
pub(super) async fn queue(run: &Run, place: &Place, number: usize) {
    let view = run.view();
    let snapshot = &view.computed.as_ref().unwrap().snapshot;
    let thread = snapshot.threads[number].id.clone();
    let about = run.journal.leases().await.unwrap()[0].pull_request.clone();
    let fact = Fact::decided(thread.clone(), Decision::Queue);
    run.journal.append_one(fact.record(place.simulator.now(), &about, "dana", "please")).await.unwrap();
    run.see(|view| {
        let computed = view.computed.as_ref().unwrap();
        computed.thread(&thread).is_some_and(|shown| shown.thread.queued)
    })
    .await;
}

/// H1, H2: the merge sends the findings at or above the threshold.
#[tokio::test]
async fn two_findings_in_one_file_become_one_task_at_the_merge_and_never_before() {
    let place = Place::new().await;
    let run = place.run(&auto(&issue("default"))).await;
    place.play(&review(&[
        finding("a", "src/cart.rs", 3, "The subtraction underflows", MAJOR),
        finding("b", "src/cart.rs", 7, "Indexing panics when nothing is there", MAJOR),
        finding("c", "src/stock.rs", 3, "Stock wraps around below zero", MAJOR),
        finding("d", "src/stock.rs", 2, "A name could be clearer", MINOR),
    ]));
    run.ticks(3).await;
    assert_eq!(place.simulator.issues().len(), 0, "H1");
    place.play(MERGE);
    run.tick().await;
    assert_eq!(run.exit().as_deref(), Some("pr_merged"));
    let issues = place.simulator.issues();
    assert_eq!(issues.len(), 2, "H7: one task a file");
    assert!(issues.iter().all(|issue| issue.labels == ["ai-fix"]));
    let body = &issues[0].body;
    assert!(body.contains("The subtraction underflows") && body.contains("Indexing panics"), "{body}");
    assert!(!issues[1].body.contains("A name could be clearer"), "H2: under the threshold");
    run.ticks(3).await;
    run.stop().await;
    let run = place.run(&auto(&issue("default"))).await;
    run.ticks(2).await;
    assert_eq!(place.simulator.issues().len(), 2, "H4: also after a restart");
    run.stop().await;
    assert_eq!(place.facts().await, ["ended", "ended", "merged"]);
}

#[tokio::test]
async fn h1_a_close_empties_the_queue_and_a_reopening_brings_it_back() {
    let place = Place::new().await;
    let config = format!("{DRIVEN}{}", issue("default"));
    let run = place.run(&config).await;
    place.play(&review(&[finding("a", "src/cart.rs", 3, "The subtraction underflows", MAJOR)]));
    run.tick().await;
    queue(&run, &place, 0).await;
    place.play("{ close = { by = 'dana' } }");
    run.tick().await;
    assert_eq!(run.exit().as_deref(), Some("pr_closed"));
    let is_queued = || run.view().computed.as_ref().unwrap().threads()[0].thread.queued;
    assert!(!is_queued());
    place.play("{ reopen = { by = 'dana' } }");
    run.tick().await;
    assert_eq!(run.exit().as_deref(), Some("issues_found"), "it was reviewed at this head already");
    assert!(is_queued());
    place.play(MERGE);
    run.ticks(2).await;
    assert_eq!(place.simulator.issues().len(), 1);
    run.stop().await;
}

#[tokio::test]
async fn a_thread_settled_at_the_merge_is_not_queued_when_somebody_opens_it_again() {
    let place = Place::new().await;
    let run = place.run(&format!("{DRIVEN}{}", issue("default"))).await;
    place.play(&review(&[finding("a", "src/cart.rs", 3, "The subtraction underflows", MAJOR)]));
    run.tick().await;
    queue(&run, &place, 0).await;
    place.play("{ resolve = { by = 'dana', thread = 'a' } }");
    place.play(MERGE);
    run.tick().await;
    place.play("{ unresolve = { by = 'dana', thread = 'a' } }");
    run.ticks(2).await;
    assert_eq!((run.threads(), place.simulator.issues().len()), (vec!["open".to_owned()], 0));
    let view = run.view();
    let threads = view.computed.as_ref().unwrap().threads();
    assert!(!threads[0].thread.queued, "it must not look as if it still goes");
    run.stop().await;
}

#[tokio::test]
async fn h1_a_close_and_reopening_between_two_polls_keeps_the_queue_as_well() {
    let place = Place::new().await;
    let config = format!("{DRIVEN}{}", issue("default"));
    let run = place.run(&config).await;
    place.play(&review(&[finding("a", "src/cart.rs", 3, "The subtraction underflows", MAJOR)]));
    run.tick().await;
    queue(&run, &place, 0).await;
    run.tick().await;
    place.play("{ close = { by = 'dana' } }, { reopen = { by = 'dana' } }");
    run.tick().await;
    place.play(MERGE);
    run.ticks(2).await;
    assert_eq!(place.simulator.issues().len(), 1);
    run.stop().await;
}

/// H3: no automatic chain on a bot's pull request.
#[tokio::test]
async fn a_bots_pull_request_hands_off_only_what_a_person_queued() {
    let place = Place::new().await;
    let config = auto(&issue("default"));
    let run = place.run_as("one", &config, &[EIGHT], Settings::default()).await;
    place.play_on(
        EIGHT,
        &review(&[
            finding("a", "src/stock.rs", 2, "Two orders can take the same item", MAJOR),
            finding("b", "src/stock.rs", 3, "The caller is never told that nothing was left", MAJOR),
        ]),
    );
    run.tick().await;
    queue(&run, &place, 1).await;
    place.play_on(EIGHT, MERGE);
    run.ticks(2).await;
    let issues = place.simulator.issues();
    assert_eq!(issues.len(), 1, "H3, H6");
    assert!(
        issues[0].body.contains("never told") && !issues[0].body.contains("Two orders"),
        "{}",
        issues[0].body
    );
    run.stop().await;
}

#[tokio::test]
async fn without_drive_a_merge_sends_only_queued_findings() {
    let place = Place::new().await;
    let config = auto(&issue("default")).replace("drive = true", "drive = false");
    let run = place.run(&config).await;
    place.play(&review(&[
        finding("a", "src/cart.rs", 3, "The subtraction underflows", MAJOR),
        finding("b", "src/stock.rs", 3, "Stock wraps around below zero", MAJOR),
    ]));
    run.tick().await;
    queue(&run, &place, 0).await;
    place.play(MERGE);
    run.ticks(2).await;
    assert_eq!(place.simulator.issues().len(), 1);
    run.stop().await;
}

/// A server that accepts and stores every request.
fn receiver() -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let kept = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&kept);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let (mut text, mut buffer) = (Vec::new(), [0; 4096]);
            loop {
                let read = stream.read(&mut buffer).unwrap();
                text.extend_from_slice(&buffer[..read]);
                let seen = String::from_utf8_lossy(&text).to_lowercase();
                let length = seen.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next());
                let length: Option<usize> = length.and_then(|length| length.trim().parse().ok());
                let body = seen.split_once("\r\n\r\n").map_or(0, |(_, body)| body.len());
                if read == 0 || length.is_some_and(|length| body >= length) {
                    break;
                }
            }
            keep.lock().unwrap().push(String::from_utf8_lossy(&text).into_owned());
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
        }
    });
    (port, kept)
}

#[tokio::test]
async fn every_kind_of_target_gets_its_task_once_by_its_route() {
    let place = Place::new().await;
    let (port, kept) = receiver();
    let command =
        place.script("agent", "cat >> \"$here/task\"; echo \"$CLOTURE_TASK_KEY\" >> \"$here/keys\"");
    let targets = format!(
        "[[handoff.targets]]\nname = 'agent'\nkind = 'command'\ncommand = ['{command}']\n\
         [[handoff.targets]]\nname = 'hook'\nkind = 'webhook'\nurl = 'http://127.0.0.1:{port}/tasks'\n\
         [[handoff.targets]]\nname = 'workflow'\nkind = 'repository_dispatch'\nevent_type = 'cloture-fix'\n\
         [[handoff.targets]]\nname = 'mention'\nkind = 'comment'\nbody = '@agent fix these'\n{}\
         [[handoff.routes]]\ntarget = 'agent'\npaths = ['a.rs']\n\
         [[handoff.routes]]\ntarget = 'hook'\npaths = ['b.rs']\n\
         [[handoff.routes]]\ntarget = 'workflow'\npaths = ['c.rs']\n\
         [[handoff.routes]]\ntarget = 'mention'\npaths = ['d.rs']\n",
        issue("default")
    );
    let files: Vec<String> = ["a", "b", "c", "d", "e"].map(|name| format!("'{name}.rs' = 'x'")).into();
    place.play(&format!("{{ push = {{ by = 'erin', files = {{ {} }} }} }}", files.join(", ")));
    let run = place.run(&auto(&targets)).await;
    let findings = ["a", "b", "c", "d", "e"]
        .map(|name| finding(name, &format!("{name}.rs"), 1, &format!("Problem {name} in its file"), MAJOR));
    place.play(&review(&findings));
    run.tick().await;
    place.play(MERGE);
    run.ticks(4).await;
    assert!(
        run.view().handoffs.iter().all(|handoff| matches!(handoff.state, HandoffState::Sent { .. })),
        "{:?}",
        run.view().handoffs
    );
    assert_eq!(place.read("keys").lines().count(), 1);
    assert!(place.read("task").contains("Problem a"));
    assert_eq!(kept.lock().unwrap().len(), 1);
    assert!(kept.lock().unwrap()[0].contains("Problem b"));
    let dispatches = place.simulator.dispatches();
    assert_eq!(dispatches.len(), 1);
    assert!(dispatches[0].client_payload.to_string().contains("Problem c"));
    let mentions: Vec<String> = place
        .pull(SEVEN)
        .comments
        .iter()
        .filter(|c| c.body.starts_with("@agent"))
        .map(|c| c.body.clone())
        .collect();
    assert_eq!(mentions.len(), 1);
    assert!(mentions[0].contains("Problem d"));
    let issues = place.simulator.issues();
    assert_eq!(issues.len(), 1);
    assert!(issues[0].body.contains("Problem e"));
    run.stop().await;
}

#[tokio::test]
async fn a_target_that_refuses_is_retried_later_and_then_left_to_a_person() {
    let place = Place::new().await;
    let targets = command(&place, "echo try >> \"$here/tries\"; [ -e \"$here/ready\" ]");
    let run = place.run(&auto(&targets)).await;
    place.play(&review(&[finding("a", "src/cart.rs", 3, "The subtraction underflows", MAJOR)]));
    run.tick().await;
    place.play(MERGE);
    run.ticks(80).await;
    let tries = || place.read("tries").lines().count();
    let handoffs = run.view().handoffs.clone();
    assert!(matches!(handoffs[0].state, HandoffState::Stuck(_)), "{handoffs:?}");
    assert_eq!(tries(), 6);
    std::fs::write(place.path("ready"), "").unwrap();
    run.tell(LoopCommand::RetryTask { key: handoffs[0].key.clone() }, |view| {
        matches!(view.handoffs[0].state, HandoffState::Sent { .. })
    })
    .await;
    assert_eq!(tries(), 7);
    run.stop().await;
}

#[tokio::test]
async fn h4_tasks_that_a_damaged_journal_may_have_sent_are_left_to_a_person() {
    let place = Place::new().await;
    let targets = command(&place, "echo try >> \"$here/tries\"");
    let run = place.run(&auto(&targets)).await;
    place.play(&review(&[finding("a", "src/cart.rs", 3, "The subtraction underflows", MAJOR)]));
    run.tick().await;
    place.play(MERGE);
    run.ticks(2).await;
    run.stop().await;
    let tries = || place.read("tries").lines().count();
    assert_eq!(tries(), 1);

    std::fs::write(place.journal.path().unwrap(), "not a journal any more").unwrap();
    // An instance that ran only once after the damage forgets nothing either.
    for _ in 0..2 {
        let run = place.run(&auto(&targets)).await;
        run.ticks(2).await;
        assert_eq!(tries(), 1, "H4: nobody knows, so nobody sends it");
        let state = run.view().handoffs[0].state.clone();
        assert!(matches!(&state, HandoffState::Stuck(why) if why.contains("damaged")), "{state:?}");
        run.stop().await;
    }

    let run = place.run(&auto(&targets)).await;
    run.tick().await;
    let key = run.view().handoffs[0].key.clone();
    run.tell(LoopCommand::RetryTask { key }, |view| {
        matches!(view.handoffs[0].state, HandoffState::Sent { .. })
    })
    .await;
    assert_eq!(tries(), 2, "a person may try again");
    run.stop().await;
}

#[tokio::test]
async fn h4_a_dispatch_whose_answer_was_lost_is_never_sent_again_by_itself() {
    let place = Place::new().await;
    let targets = "[[handoff.targets]]\nname = 'default'\nkind = 'repository_dispatch'\nevent_type = 'fix'\n";
    let run = place.run(&auto(targets)).await;
    place.play(&review(&[finding("a", "src/cart.rs", 3, "The subtraction underflows", MAJOR)]));
    run.tick().await;
    place.simulator.inject(Fault::once("writes", FaultKind::DropAfter));
    place.play(MERGE);
    run.ticks(5).await;
    assert!(matches!(run.view().handoffs[0].state, HandoffState::Stuck(_)));
    run.stop().await;
    let run = place.run(&auto(targets)).await;
    run.ticks(3).await;
    assert_eq!(place.simulator.dispatches().len(), 1);
    run.stop().await;
}

/// Short runs from a timer: the wait goes on while no process runs.
#[tokio::test]
async fn the_wait_before_a_refused_task_is_tried_again_goes_on_between_two_processes() {
    let place = Place::new().await;
    let target = command(&place, "cat > /dev/null; echo run >> \"$here/runs\"; [ -e \"$here/up\" ]");
    let config = auto(&target);
    let runs = || place.read("runs").lines().count();
    let run = place.run(&config).await;
    place.play(&review(&[finding("a", "src/cart.rs", 3, "The subtraction underflows", MAJOR)]));
    run.tick().await;
    place.play(MERGE);
    run.tick().await;
    assert_eq!(runs(), 1);
    let HandoffState::Waiting { until, .. } = run.view().handoffs[0].state.clone() else {
        panic!("{:?}", run.view().handoffs)
    };
    run.stop().await;

    // A process that comes before that time does not try, and a clock that was set back makes no difference.
    let run = place.start("one", &config, &[SEVEN], Settings::default()).await;
    run.ticker.jump(SignedDuration::from_hours(-3));
    run.tick().await;
    assert_eq!(runs(), 1);
    run.stop().await;

    // Each of these processes polls once. The first one after that time tries again.
    std::fs::write(place.path("up"), "").unwrap();
    let left = until.duration_since(place.simulator.now());
    place.simulator.advance(std::time::Duration::try_from(left).unwrap());
    let run = place.run(&config).await;
    let state = run.view().handoffs[0].state.clone();
    assert!(matches!(state, HandoffState::Sent { .. }), "{state:?}");
    assert_eq!(runs(), 2);
    run.stop().await;
}

/// L8: a rate limit costs none of a task's tries, also for a target that cannot be searched.
#[tokio::test]
async fn l8_a_task_that_meets_rate_limits_is_sent_when_github_takes_it() {
    for kind in ["issue", "repository_dispatch'\nevent_type = 'fix"] {
        let place = Place::new().await;
        let targets = format!("[[handoff.targets]]\nname = 'default'\nkind = '{kind}'\n");
        let run = place.run(&auto(&targets)).await;
        place.play(&review(&[finding("a", "src/cart.rs", 3, "The subtraction underflows", MAJOR)]));
        run.tick().await;
        let limit = FaultKind::SecondaryLimit { retry_after: 90, as_success: false };
        place.simulator.inject(Fault { times: 8, ..Fault::once("writes", limit) });
        place.play(MERGE);
        run.tick().await;
        assert!(matches!(run.view().handoffs[0].state, HandoffState::Waiting { why: Some(_), .. }));
        run.ticks(25).await;
        assert!(
            matches!(run.view().handoffs[0].state, HandoffState::Sent { .. }),
            "{kind}: {:?}",
            run.view().handoffs
        );
        let sent = place.simulator.issues().len() + place.simulator.dispatches().len();
        assert_eq!(sent, 1, "{kind}");
        run.stop().await;
    }
}
