//! People's choice of where a finding goes at the merge (H6, H9), and the list of sent tasks afterwards.

use super::driven;
use crate::support::harness::{DRIVEN, MAJOR, Place, Run, SEVEN, Settings, address, finding, review};
use cloture::agents::targets;
use cloture::config::TargetKinds;
use cloture::domain::finding::Destination;
use cloture::domain::handoff::Eligibility;
use cloture::domain::vocabulary::ThreadId;
use cloture::journal::Journal;
use cloture::supervisor::DriverRole;
use cloture::supervisor::fact::Fact;
use cloture::supervisor::handoffs::{DecidedTask, all_decided_tasks};
use cloture::supervisor::view::HandoffState;

const MERGE: &str = "{ merge = { by = 'dana' } }";

const TARGETS: &str = "[handoff]\nmode = 'full_auto'\n\
    [[handoff.targets]]\nname = 'default'\nkind = 'issue'\nlabels = ['ai-fix']\n\
    [[handoff.targets]]\nname = 'expert'\nkind = 'issue'\nlabels = ['expert']\n";

fn to_expert() -> Destination {
    Destination::Target("expert".into())
}

/// A person routes a thread, from another program; the supervisor sees it without a poll.
async fn route(run: &Run, place: &Place, thread: &ThreadId, to: Destination) {
    let about = run.journal.leases().await.unwrap()[0].pull_request.clone();
    let fact = Fact::Routed { thread: thread.clone(), to: to.clone() };
    run.journal.append_one(fact.record(place.simulator.now(), &about, "dana", "please")).await.unwrap();
    sees(run, thread, &to).await;
}

async fn sees(run: &Run, thread: &ThreadId, to: &Destination) {
    run.see(|view| {
        let computed = view.computed.as_ref().unwrap();
        computed.thread(thread).is_some_and(|shown| shown.thread.routed == *to)
    })
    .await;
}

fn forge_id(run: &Run, number: usize) -> ThreadId {
    run.view().computed.as_ref().unwrap().snapshot.threads[number].id.clone()
}

/// Label and body of every issue.
fn issues(place: &Place) -> Vec<(String, String)> {
    let issues = place.simulator.issues();
    issues.iter().map(|issue| (issue.labels.join(","), issue.body.clone())).collect()
}

async fn sent(journal: &Journal) -> Vec<DecidedTask> {
    all_decided_tasks(journal, &TargetKinds::new(), None, None).await.unwrap()
}

#[tokio::test]
async fn h9_a_routed_finding_goes_to_its_target_and_a_withheld_one_stays() {
    let place = Place::new().await;
    let config = format!("{DRIVEN}{TARGETS}");
    let run = place.run(&config).await;
    place.play(&review(&[
        finding("a", "src/cart.rs", 3, "The subtraction underflows", MAJOR),
        finding("b", "src/cart.rs", 7, "Indexing panics when nothing is there", MAJOR),
        finding("c", "src/stock.rs", 3, "Stock wraps around below zero", MAJOR),
    ]));
    run.tick().await;
    let (first, third) = (forge_id(&run, 0), forge_id(&run, 2));
    route(&run, &place, &first, to_expert()).await;
    route(&run, &place, &third, Destination::Nowhere).await;
    run.stop().await;

    let run = place.run(&config).await;
    sees(&run, &first, &to_expert()).await;
    sees(&run, &third, &Destination::Nowhere).await;
    place.play(MERGE);
    run.ticks(2).await;
    let found = issues(&place);
    let labels: Vec<&str> = found.iter().map(|(labels, _)| labels.as_str()).collect();
    assert_eq!(
        labels,
        ["ai-fix", "expert"],
        "one task per target and file, and none for the withheld finding"
    );
    assert!(found[0].1.contains("Indexing panics") && !found[0].1.contains("underflows"), "{}", found[0].1);
    assert!(found[1].1.contains("underflows") && !found[1].1.contains("Indexing"), "{}", found[1].1);
    assert_eq!(place.facts().await.iter().filter(|kind| *kind == "routed").count(), 2);

    // The journal alone lists both tasks as sent.
    let sent = sent(&run.journal).await;
    run.stop().await;
    let shape: Vec<(&str, &str, &[String])> = sent
        .iter()
        .map(|task| (task.task.target.as_str(), task.task.path.as_str(), task.titles.as_slice()))
        .collect();
    assert_eq!(
        shape,
        [
            ("default", "src/cart.rs", &["Indexing panics when nothing is there".to_owned()][..]),
            ("expert", "src/cart.rs", &["The subtraction underflows".to_owned()][..]),
        ]
    );
    for task in &sent {
        assert!(matches!(&task.state, HandoffState::Sent { url: Some(url) } if url.starts_with("https://")));
        let last = task.last_try.as_ref().unwrap();
        assert_eq!((last.number, last.by.as_str(), task.is_unknown), (1, "one", false));
        assert_eq!(task.reason, targets::reason([Eligibility::EverythingGoes]));
    }
}

#[tokio::test]
async fn a_driven_reviewers_finding_is_routed_by_either_of_its_ids() {
    let place = Place::new().await;
    let config = format!("{}{TARGETS}", driven::config(&place));
    let reported = [
        driven::reported(3, "The subtraction underflows", "high"),
        driven::reported_in("src/stock.rs", 3, "Stock wraps around below zero", "high"),
    ];
    driven::answer(&place, 1, &[], &reported);
    let run = place.run(&config).await;
    run.ticks(2).await;
    let view = run.view();
    let threads = view.computed.as_ref().unwrap().threads();
    let on = |path: &str| threads.iter().find(|shown| shown.thread.anchor.path.as_str() == path).unwrap();
    let (cart, stock) = (on("src/cart.rs"), on("src/stock.rs"));
    assert!(cart.driven && *cart.id() != cart.thread.id, "it is posted");
    route(&run, &place, cart.id(), to_expert()).await;
    route(&run, &place, &stock.thread.id, Destination::Nowhere).await;
    place.play(MERGE);
    run.ticks(2).await;
    let found = issues(&place);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].0 == "expert" && found[0].1.contains("underflows"), "{found:?}");
    run.stop().await;
}

/// The person uses the instance on standby; the driver sends.
#[tokio::test(flavor = "multi_thread")]
async fn the_driver_learns_of_a_route_from_the_standby_and_sends_it_there() {
    let place = Place::new().await;
    let config = format!("{DRIVEN}{TARGETS}");
    let one = place.run_as("one", &config, &[SEVEN], Settings::default()).await;
    let two = place.run_as("two", &config, &[SEVEN], Settings::default()).await;
    assert_eq!(two.view().role, DriverRole::Standby { holder: "one".to_owned() });
    place.play(&review(&[
        finding("a", "src/cart.rs", 3, "The subtraction underflows", MAJOR),
        finding("c", "src/stock.rs", 3, "Stock wraps around below zero", MAJOR),
    ]));
    one.tick().await;
    two.tick().await;
    let (first, second) = (forge_id(&one, 0), forge_id(&one, 1));
    route(&one, &place, &first, to_expert()).await;
    route(&two, &place, &second, Destination::Nowhere).await;
    sees(&one, &second, &Destination::Nowhere).await;
    sees(&two, &first, &to_expert()).await;
    one.stop().await;
    place.play(MERGE);
    two.ticks(3).await;
    assert_eq!(two.view().role, DriverRole::Driver);
    let found = issues(&place);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].0 == "expert" && found[0].1.contains("underflows"), "{found:?}");
    two.stop().await;
}

#[tokio::test]
async fn a_refused_task_waits_and_then_is_stuck_and_one_with_a_lost_answer_is_unknown() {
    let place = Place::new().await;
    let refuses = place.script("refuses", "exit 1");
    let config = format!(
        "{DRIVEN}[handoff]\nmode = 'full_auto'\n\
         [[handoff.targets]]\nname = 'default'\nkind = 'command'\ncommand = ['{refuses}']\n\
         [[handoff.targets]]\nname = 'lost'\nkind = 'repository_dispatch'\nevent_type = 'fix'\n\
         [[handoff.routes]]\ntarget = 'lost'\npaths = ['src/stock.rs']\n"
    );
    let run = place.run(&config).await;
    place.play(&review(&[
        finding("a", "src/cart.rs", 3, "The subtraction underflows", MAJOR),
        finding("c", "src/stock.rs", 3, "Stock wraps around below zero", MAJOR),
    ]));
    run.tick().await;
    let fault = cloture::simulator::Fault::once("writes", cloture::simulator::FaultKind::DropAfter);
    place.simulator.inject(fault);
    place.play(MERGE);
    run.tick().await;
    let states = async || {
        let tasks = sent(&run.journal).await;
        let state = |task: &DecidedTask| {
            let name = match &task.state {
                HandoffState::Sent { .. } => "sent",
                HandoffState::Waiting { .. } => "waiting",
                HandoffState::Stuck(_) => "stuck",
            };
            (name, task.is_unknown, task.last_try.as_ref().map_or(0, |last| last.number))
        };
        tasks.iter().map(state).collect::<Vec<_>>()
    };
    assert_eq!(states().await, [("waiting", false, 1), ("stuck", true, 1)]);
    run.ticks(80).await;
    assert_eq!(states().await, [("stuck", false, 6), ("stuck", true, 1)]);

    let of = address(SEVEN);
    let newest = all_decided_tasks(&run.journal, &TargetKinds::new(), Some(&of), Some(1)).await.unwrap();
    assert_eq!(newest.len(), 1);
    let other = all_decided_tasks(&run.journal, &TargetKinds::new(), Some(&address("acme/shop#8")), None)
        .await
        .unwrap();
    assert_eq!(other.len(), 0);
    run.stop().await;
}
