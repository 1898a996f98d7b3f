//! R7, L10: the end of the loop by a person or of the pull request stops the programs at the poll that sees
//! it. Polls go on here while a program runs, and no program of these tests ends by itself.

use super::authors::{FIX, Shop, argues_for_ever, git};
use super::driven::{BY_CYCLE, answer};
use crate::support::gone::assert_gone;
use crate::support::harness::{Place, Run, SEVEN, Settings};
use cloture::supervisor::LoopCommand;
use std::time::Duration;

/// Tells its process and one of its children's, and then waits for a file that no test makes.
const HANGS: &str = r#"
cat > /dev/null; sleep 600 & echo "$$ $!" > "$here/pids.new"; mv "$here/pids.new" "$here/pids"
while [ ! -e "$here/go" ]; do sleep 0.05; done
"#;

/// How a loop ends while a program runs: its exit, what happens on the forge, and the reason in the journal.
const ENDS: [(&str, &str, &str); 5] = [
    (
        "break_glass",
        "{ label = { by = 'erin', name = 'cloture:break-glass' } }",
        "the label cloture:break-glass ended the loop",
    ),
    (
        "break_glass",
        "{ comment = { by = 'dana', body = '/cloture break-glass' } }",
        "dana broke the glass with a comment",
    ),
    ("pr_closed", "{ close = { by = 'dana' } }", "the pull request was closed without merging"),
    ("pr_merged", "{ merge = { by = 'dana' } }", "the pull request was merged"),
    ("stopped", "", "a person stopped the loop"),
];

async fn start(place: &Place, config: &str) -> Run {
    let settings = Settings { polls_during_work: true, ..Settings::default() };
    place.start("one", config, &[SEVEN], settings).await
}

/// Polls until the program has told its processes.
async fn started(place: &Place, run: &Run) -> String {
    poll_until(run, async || !place.read("pids").is_empty()).await;
    place.read("pids")
}

/// No poll waits for a program here, so a program's effect may be seen only some polls later.
async fn poll_until(run: &Run, is_so: impl AsyncFn() -> bool) {
    let seen = async {
        while !is_so().await {
            run.tick().await;
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let seen = tokio::time::timeout(Duration::from_mins(1), seen).await;
    assert!(seen.is_ok(), "{} {:?}", run.phase(), run.view().trouble);
}

/// Ends the loop, and waits until no program is at work any more.
async fn end(place: &Place, run: &Run, (exit, action, _): (&str, &str, &str)) {
    if action.is_empty() {
        run.tell(LoopCommand::Stop, |view| view.exit().is_some()).await;
    } else {
        place.play(action);
        run.tick().await;
    }
    run.see(|view| {
        let is_idle = view.thinking.is_empty() && !view.author_at_work;
        is_idle && view.exit().is_some_and(|ended| ended.name() == exit)
    })
    .await;
}

async fn assert_all_gone(pids: &str) {
    for pid in pids.split_whitespace() {
        assert_gone(pid).await;
    }
}

#[tokio::test]
async fn r7_every_end_by_a_person_stops_the_author_at_once() {
    for case @ (exit, _, reason) in ENDS {
        let shop = Shop::new(&format!("{HANGS}\n{FIX}")).await;
        argues_for_ever(&shop.place);
        let before = shop.place.pull(SEVEN).head;
        let run = start(&shop.place, &shop.config).await;
        let pids = started(&shop.place, &run).await;
        end(&shop.place, &run, case).await;
        assert_all_gone(&pids).await;
        run.ticks(2).await;
        run.stop().await;

        let records = shop.place.records().await;
        let ended: Vec<_> = records.iter().filter(|record| record.kind == "author_ended").collect();
        let [ended] = ended.as_slice() else { panic!("{exit}: {ended:?}") };
        let outcome = ended.body["outcome"].as_str().unwrap();
        assert!(outcome.starts_with("the author's agent was stopped after "), "{outcome}");
        assert!(outcome.ends_with(&format!(" s, because {reason}; nothing was pushed")), "{outcome}");
        assert_eq!(ended.body["pushed"], false, "{exit}");
        let dispatched = records.iter().filter(|record| record.kind == "dispatched");
        assert_eq!(dispatched.count(), 1, "{exit}: the round is spent");

        // Nothing of the round is left, and nothing was pushed.
        let remote = shop.repository.path().join("acme/shop.git");
        assert_eq!(git(&remote, &["rev-parse", "discount"]), before, "{exit}");
        let trees = git(&shop.repository.path().join("checkout"), &["worktree", "list", "--porcelain"]);
        assert_eq!(trees.matches("worktree ").count(), 1, "{exit}: {trees}");
    }
}

fn hanging_reviewer(place: &Place) -> String {
    let command = place.script("reviewer", &format!("echo call >> \"$here/calls\"\n{HANGS}"));
    format!(
        "[[repositories]]\nname = 'acme/shop'\ndrive = true\nreviewers = ['orange']\n\
         [[reviewers]]\nname = 'orange'\nkind = 'program'\ncommand = ['{command}']\n"
    )
}

#[tokio::test]
async fn r7_every_end_by_a_person_stops_a_driven_reviewer_at_once() {
    for case @ (exit, _, reason) in ENDS {
        let place = Place::new().await;
        let run = start(&place, &hanging_reviewer(&place)).await;
        let pids = started(&place, &run).await;
        end(&place, &run, case).await;
        assert_all_gone(&pids).await;
        run.ticks(2).await;
        run.stop().await;

        assert_eq!(place.read("calls").lines().count(), 1, "{exit}: it is not called again");
        let records = place.records().await;
        let answered: Vec<_> = records.iter().filter(|record| record.kind == "answered").collect();
        let [answered] = answered.as_slice() else { panic!("{exit}: {answered:?}") };
        let message = answered.body["answer"]["failed"]["message"].as_str().unwrap();
        assert_eq!(message, format!("Cloture stopped the reviewer, because {reason}"));
        assert_eq!(place.count("review"), 0, "{:?}", place.posts());
    }
}

/// The stopped call costs its attempt, and the next attempt completes the same cycle.
#[tokio::test]
async fn r7_after_a_reopening_the_stopped_reviewer_is_asked_again() {
    let place = Place::new().await;
    let config = hanging_reviewer(&place);
    let run = start(&place, &config).await;
    let pids = started(&place, &run).await;
    end(&place, &run, ENDS[2]).await;
    assert_all_gone(&pids).await;
    place.script("reviewer", BY_CYCLE);
    for number in 1..=2 {
        answer(&place, number, &[], &[]);
    }
    place.play("{ reopen = { by = 'dana' } }");
    poll_until(&run, async || run.exit().as_deref() == Some("success")).await;
    run.stop().await;
    assert_eq!(place.count("review"), 1, "{:?}", place.posts());
}

/// The same for the author: the next round is another one.
#[tokio::test]
async fn r7_after_a_reopening_another_author_round_starts() {
    let shop = Shop::new(&format!("{HANGS}\n{FIX}")).await;
    argues_for_ever(&shop.place);
    let run = start(&shop.place, &shop.config).await;
    let pids = started(&shop.place, &run).await;
    end(&shop.place, &run, ENDS[2]).await;
    assert_all_gone(&pids).await;
    std::fs::write(shop.place.path("go"), "").unwrap();
    shop.place.play("{ reopen = { by = 'dana' } }");
    let rounds = async || shop.place.facts().await.iter().filter(|kind| *kind == "dispatched").count();
    poll_until(&run, async || rounds().await == 2).await;
    run.stop().await;
}
