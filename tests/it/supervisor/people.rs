//! People's commands to a loop (L10) and the break-glass label (R7), from the keyboard and from the forge.

use crate::support::harness::{DRIVEN, MAJOR, Place, finding, parsed, profiles, push, review};
use cloture::domain::machine::Decision;
use cloture::domain::review_loop::Exit;
use cloture::supervisor::LoopCommand;
use cloture::supervisor::fact::Fact;
use cloture::supervisor::history::History;
use cloture::supervisor::people::inbox::{self, InboxQuery, InboxSubject};
use cloture::supervisor::people::stored;
use cloture::tui::rows::{BoardRows, RowBuilder};
use std::sync::Arc;

#[tokio::test]
async fn l10_a_paused_loop_spends_no_attempts_and_continues_when_resumed() {
    let place = Place::new().await;
    let run = place.run(DRIVEN).await;
    run.ticks(2).await;
    run.tell(LoopCommand::Pause, |view| format!("{:?}", view.review_loop).contains("Paused")).await;
    run.ticks(20).await;
    assert_eq!((run.phase().as_str(), run.view().review_loop.attempt()), ("paused", 3));
    // A pause outlives the process.
    run.stop().await;
    let run = place.run(DRIVEN).await;
    run.tick().await;
    assert_eq!(run.phase(), "paused");
    run.tell(LoopCommand::Resume, |view| !format!("{:?}", view.review_loop).contains("Paused")).await;
    run.tick().await;
    assert_eq!(run.phase(), "waiting");
    place.play(&review(&[]));
    assert_eq!(run.end().await, "success");
    run.stop().await;
}

#[tokio::test]
async fn l10_a_stopped_loop_stays_stopped_after_a_push_and_a_restart() {
    let place = Place::new().await;
    let run = place.run(DRIVEN).await;
    run.tick().await;
    run.tell(LoopCommand::Stop, |view| view.exit().is_some()).await;
    assert_eq!(run.exit().as_deref(), Some("stopped"));
    place.play(&push(1));
    run.ticks(2).await;
    assert_eq!(run.exit().as_deref(), Some("stopped"));
    run.stop().await;
    let run = place.run(DRIVEN).await;
    place.play(&push(2));
    run.ticks(2).await;
    assert_eq!(run.exit().as_deref(), Some("stopped"));
    assert_eq!(place.posts(), ["comment: @coderabbitai review"], "no reviewer is asked after that");
    run.stop().await;
    assert_eq!(place.facts().await, ["told", "ended"]);
}

/// After a pause, a stop or a broken glass, Cloture writes nothing by itself, even if threads call for it.
#[tokio::test]
async fn nothing_is_written_by_itself_after_a_person_paused_or_ended_the_loop() {
    let again =
        |name: &str| finding(name, "src/cart.rs", 3, "A percentage above one hundred underflows", MAJOR);
    for silenced in [Some(LoopCommand::Pause), Some(LoopCommand::Stop), None] {
        let place = Place::new().await;
        let run = place.run(DRIVEN).await;
        place.play(&review(&[again("a")]));
        run.tick().await;
        // A duplicate: without the pause, Cloture would link it to the first thread and resolve it.
        place.play(&push(1));
        run.tick().await;
        match &silenced {
            Some(command) => {
                run.tell(command.clone(), |view| {
                    let shown = format!("{:?}", view.review_loop);
                    shown.contains("Paused") || shown.contains("Stopped")
                })
                .await;
            }
            None => place.play("{ label = { by = 'erin', name = 'cloture:break-glass' } }"),
        }
        run.tick().await;
        let before = place.posts();
        place.play(&review(&[again("b")]));
        run.ticks(2).await;
        assert_eq!(place.posts(), before, "{silenced:?}");
        assert_eq!(run.view().due.len(), 2, "{silenced:?}: {:?}", run.view().due);
        if silenced == Some(LoopCommand::Pause) {
            run.tell(LoopCommand::Resume, |view| !format!("{:?}", view.review_loop).contains("Paused")).await;
            run.ticks(2).await;
            assert_eq!((place.count("reply"), place.count("resolve")), (1, 1), "{:?}", place.posts());
        }
        run.stop().await;
    }
}

/// The loop records an end again if another one came in between: readers take the last record.
#[tokio::test]
async fn the_last_recorded_end_is_the_one_that_holds() {
    let place = Place::new().await;
    let run = place.run(DRIVEN).await;
    place.play("{ merge = { by = 'dana' } }");
    assert_eq!(run.end().await, "pr_merged");
    // A person presses stop before the screen shows the merge.
    run.tell(LoopCommand::Stop, |_| true).await;
    run.ticks(2).await;
    assert_eq!(run.exit().as_deref(), Some("pr_merged"));
    run.stop().await;
    assert_eq!(History::of(&place.records().await).last_exit().map(Exit::name), Some("pr_merged"));
}

#[tokio::test]
async fn poll_now_polls_without_time_passing() {
    let place = Place::new().await;
    let run = place.run(DRIVEN).await;
    run.tick().await;
    let now = place.simulator.now();
    place.play(&review(&[]));
    run.supervisor.tell(crate::support::harness::address("acme/shop#7"), LoopCommand::PollNow).await;
    // The next sleep ends at once, because the poll is due now.
    run.tick().await;
    if run.exit().is_none() {
        run.tick().await;
    }
    assert_eq!(run.exit().as_deref(), Some("success"));
    assert!(place.simulator.now().duration_since(now).as_secs() <= 60);
    run.stop().await;
}

#[tokio::test]
async fn the_label_breaks_the_glass_at_once() {
    let place = Place::new().await;
    let run = place.run(DRIVEN).await;
    run.tick().await;
    place.play("{ label = { by = 'erin', name = 'cloture:break-glass' } }");
    assert_eq!(run.end().await, "break_glass");
    place.play(&push(1));
    run.ticks(2).await;
    assert_eq!(run.exit().as_deref(), Some("break_glass"));
    run.stop().await;
    assert_eq!(place.facts().await, ["ended"]);
}

#[tokio::test]
async fn the_phrase_counts_only_from_somebody_who_may() {
    let place = Place::new().await;
    let run = place.run(DRIVEN).await;
    place.play("{ comment = { by = 'mallory', body = '/cloture break-glass' } }");
    run.ticks(2).await;
    assert_eq!(run.phase(), "waiting");
    place.play("{ comment = { by = 'erin', body = '/cloture break-glass' } }");
    assert_eq!(run.end().await, "break_glass");
    run.stop().await;
}

#[tokio::test]
async fn a_recorded_decision_is_seen_without_a_poll() {
    let place = Place::new().await;
    let run = place.run(DRIVEN).await;
    place.play(&review(&[finding("a", "src/cart.rs", 3, "It underflows", MAJOR)]));
    run.tick().await;
    assert_eq!(run.threads(), ["open"]);
    let view = run.view();
    let snapshot = &view.computed.as_ref().unwrap().snapshot;
    let about = cloture::journal::PullRequestKey {
        host: run.journal.leases().await.unwrap()[0].pull_request.host.clone(),
        repository: snapshot.repository.clone(),
        number: snapshot.number,
    };
    let fact = Fact::decided(snapshot.threads[0].id.clone(), Decision::Veto);
    let journal = place.journal().await;
    journal.append_one(fact.record(place.simulator.now(), &about, "dana", "enough")).await.unwrap();
    run.see(|view| {
        let computed = view.computed.as_ref().unwrap();
        computed.threads()[0].thread.status().name() == "vetoed"
    })
    .await;
    run.stop().await;
}

/// U1: the terminal and `cloture inbox` list the same threads and pull requests in the same order.
#[tokio::test]
async fn u1_the_terminal_and_the_journal_give_the_same_inbox() {
    let place = Place::new().await;
    let run = place.run(DRIVEN).await;
    place.play(&review(&[finding("a", "src/cart.rs", 3, "It underflows", MAJOR)]));
    run.tick().await;
    for n in 0..3 {
        place.play(&push(n));
        place.play("{ reply = { by = 'coderabbitai', thread = 'a', body = 'The problem is still there, please fix it.' } }");
        place.play(&review(&[]));
        run.tick().await;
    }
    assert_eq!(run.threads(), ["escalated by round_limit"]);
    // Nobody reviews the last head.
    place.play(&push(4));
    run.ticks(2).await;
    assert_eq!(run.end().await, "timeout");

    let config = parsed(DRIVEN);
    let reads = profiles(&config);
    let rows = RowBuilder { config: Arc::new(config.clone()), reads: reads.clone(), read_only: false };
    let rows = BoardRows::default().updated(run.board(), &rows);
    let rows = rows.pulls.values().flat_map(|pull| &pull.inbox);
    let shown: Vec<_> = rows.map(|row| (row.rank.clone(), row.thread.clone(), row.why.clone())).collect();
    run.stop().await;

    let (stored, _) = stored::all(&place.journal().await, &config, &*reads).await.unwrap();
    let address = cloture::supervisor::planned_writes::address(&stored[0].computed);
    let entries = inbox::entries(&InboxQuery {
        address: &address,
        computed: Some(&stored[0].computed),
        exit: stored[0].exit.as_ref(),
        refusal: None,
        handoffs: &[],
        policy: &config.policy,
        include_ended: false,
    });
    let listed = entries.into_iter().map(|entry| {
        let thread = match &entry.subject {
            InboxSubject::Thread(waiting) => Some(waiting.shown.id().clone()),
            _ => None,
        };
        (entry.rank, thread, entry.why)
    });
    let listed: Vec<_> = listed.collect();
    assert_eq!(shown, listed);
    assert_eq!(shown.len(), 2, "a thread, and the loop that timed out: {shown:?}");
}
