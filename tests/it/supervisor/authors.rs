//! Author rounds (L6): a real agent in a real checkout, the round cap, and the ways past it.

use super::driven::{BY_CYCLE, answer, reported};
use super::repository;
use crate::support::folder;
use crate::support::harness::{Place, Run, SEVEN, START};
use cloture::supervisor::LoopCommand as Order;
use std::path::Path;
use std::process::Command;

pub(crate) fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_AUTHOR_DATE", "2026-03-02T09:00:00Z")
        .env("GIT_COMMITTER_DATE", "2026-03-02T09:00:00Z")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A pull request that is also a branch of a real repository, with an author that works on it.
pub(crate) struct Shop {
    pub(crate) place: Place,
    pub(crate) config: String,
    pub(crate) repository: tempfile::TempDir,
    first_head: String,
}

/// The author adds a line far from all findings and pushes. The same head always gets the same commit.
pub(crate) const FIX: &str = "cat > \"$here/task\"; echo round >> \"$here/rounds\"\n\
    export GIT_AUTHOR_DATE=2026-03-02T09:00:00Z GIT_COMMITTER_DATE=2026-03-02T09:00:00Z\n\
    echo another >> notes.txt && git add notes.txt && git -c user.name=T -c user.email=t@example.com \
    commit --quiet -m fix && git push --quiet origin HEAD:discount";

impl Shop {
    pub(crate) async fn new(author: &str) -> Shop {
        Shop::starting(author, START).await
    }

    /// The same, with another start time.
    pub(crate) async fn starting(author: &str, start: &str) -> Shop {
        let (repository, head) = repository::copy();
        let checkout = repository.path().join("checkout");
        let place = Place::with_head_at(&head, start).await;
        let (reviewer, author) = (place.script("reviewer", BY_CYCLE), place.script("author", author));
        let checkout = checkout.to_str().unwrap();
        let config = format!(
            "[policy]\nmax_rounds = 2\nrepeat_limit = 9\n[[repositories]]\nname = 'acme/shop'\ndrive = true\nreviewers = ['orange']\n\
             [[reviewers]]\nname = 'orange'\nkind = 'program'\ncommand = ['{reviewer}']\n\
             [author]\nkind = 'program'\ncommand = ['{author}']\ncheckout = '{checkout}'\n"
        );
        Shop { place, config, repository, first_head: head }
    }

    /// Whether no round's push has arrived.
    pub(crate) fn is_at_first_head(&self) -> bool {
        self.place.pull(SEVEN).head == self.first_head
    }

    /// The branch's head in the real repository.
    fn head(&self) -> String {
        let remote = self.repository.path().join("acme/shop.git");
        // Every tick asks for it, and a process would take longer than the tick.
        let written = std::fs::read_to_string(remote.join("refs/heads/discount"));
        written.map_or_else(|_| git(&remote, &["rev-parse", "discount"]), |head| head.trim().to_owned())
    }

    /// Passes a push to the real repository on to the simulator.
    pub(crate) fn deliver(&self) {
        let head = self.head();
        if self.place.pull(SEVEN).head != head {
            let remote = self.repository.path().join("acme/shop.git");
            let notes = git(&remote, &["show", "discount:notes.txt"]);
            self.place.play(&format!(
                "{{ push = {{ by = 'erin', sha = '{head}', files = {{ 'notes.txt' = '''\n{notes}\n''' }} }} }}"
            ));
        }
    }

    /// Pushes the fix of an agent that was interrupted.
    pub(crate) fn fix_by_hand(&self) {
        let clone = folder::temporary();
        let remote = self.repository.path().join("acme/shop.git");
        let work = clone.path().join("work");
        git(clone.path(), &["clone", "--quiet", "--branch", "discount", remote.to_str().unwrap(), "work"]);
        let notes = std::fs::read_to_string(work.join("notes.txt")).unwrap();
        std::fs::write(work.join("notes.txt"), format!("{notes}another\n")).unwrap();
        git(&work, &["commit", "--quiet", "-am", "fix"]);
        git(&work, &["push", "--quiet", "origin", "discount"]);
    }

    pub(crate) async fn ticks(&self, run: &Run, count: usize) {
        for _ in 0..count {
            run.tick().await;
            self.deliver();
        }
    }

    fn rounds(&self) -> usize {
        self.place.read("rounds").lines().count()
    }

    fn cap_comments(&self) -> usize {
        let pull = self.place.pull(SEVEN);
        pull.comments.iter().filter(|comment| comment.body.contains("author rounds did not settle")).count()
    }
}

/// A reviewer with a critical finding at every head.
pub(crate) fn argues_for_ever(place: &Place) {
    answer(place, 1, &[], &[reported(3, "Subtraction underflows", "critical")]);
    for number in 2..=5 {
        answer(place, number, &[("@1", "reply", "seeks_change", "Still there.")], &[]);
    }
}

#[tokio::test]
async fn l6_rounds_start_up_to_the_cap_and_the_operator_is_told_once() {
    let shop = Shop::new(FIX).await;
    argues_for_ever(&shop.place);
    let run = shop.place.run(&shop.config).await;
    shop.ticks(&run, 12).await;
    assert_eq!(run.exit().as_deref(), Some("round_cap"), "{:?}", run.view().trouble);
    assert_eq!((shop.rounds(), shop.cap_comments()), (2, 1));
    let comment = shop.place.pull(SEVEN).comments.last().unwrap().body.clone();
    for way in ["merge it as it is", "approve it", "close and reopen", "push the last fix by hand"] {
        assert!(comment.contains(way), "{comment}");
    }
    assert!(comment.starts_with("@acme/leads 2 author rounds"), "{comment}");
    assert!(shop.place.read("task").contains("Subtraction underflows"));
    run.stop().await;

    // Not again after a restart, even with a lost journal: the writer looks for the comment.
    let run = shop.place.run(&shop.config).await;
    shop.ticks(&run, 3).await;
    assert_eq!((shop.rounds(), shop.cap_comments()), (2, 1));

    // A person grants exactly one more round.
    run.tell(Order::GrantRound { by: "dana".to_owned(), why: "nearly there".to_owned() }, |view| {
        view.exit().is_none()
    })
    .await;
    shop.ticks(&run, 6).await;
    assert_eq!(shop.rounds(), 3, "{:?}", shop.place.facts().await);
    run.stop().await;
    let facts = shop.place.facts().await;
    assert_eq!(facts.iter().filter(|kind| *kind == "dispatched").count(), 3);
    assert_eq!(facts.iter().filter(|kind| *kind == "granted").count(), 1);
}

#[tokio::test]
async fn l6_the_cap_comment_is_posted_although_the_forge_refuses_it_at_first() {
    let shop = Shop::new(FIX).await;
    argues_for_ever(&shop.place);
    let run = shop.place.run(&shop.config).await;
    shop.place.simulator.inject(cloture::simulator::Fault {
        on: "addComment".to_owned(),
        nth: 1,
        times: 4,
        kind: cloture::simulator::FaultKind::DropBefore,
    });
    shop.ticks(&run, 14).await;
    assert_eq!(run.exit().as_deref(), Some("round_cap"));
    assert_eq!(shop.cap_comments(), 1, "{:?}", run.view().trouble);
    run.stop().await;
}

#[tokio::test]
async fn l6_closing_and_reopening_starts_the_count_again() {
    let shop = Shop::new(FIX).await;
    argues_for_ever(&shop.place);
    let run = shop.place.run(&shop.config).await;
    shop.ticks(&run, 12).await;
    assert_eq!((run.exit().as_deref(), shop.rounds()), (Some("round_cap"), 2));
    shop.place.play("{ close = { by = 'dana' } }, { reopen = { by = 'dana' } }");
    shop.ticks(&run, 2).await;
    assert_ne!(run.exit().as_deref(), Some("round_cap"), "also if no poll saw it closed");
    let records = shop.place.facts().await;
    assert!(records.contains(&"closed".to_owned()) && records.contains(&"reopened_pull_request".to_owned()));
    run.stop().await;
}

#[tokio::test]
async fn l6_a_round_without_a_push_is_spent_and_the_cap_says_so() {
    let shop = Shop::new("cat > /dev/null; echo round >> \"$here/rounds\"").await;
    argues_for_ever(&shop.place);
    let run = shop.place.run(&shop.config).await;
    shop.ticks(&run, 3).await;
    assert_eq!(run.exit().as_deref(), Some("round_cap"));
    let sentence = run.view().exit().unwrap().to_string();
    assert!(sentence.contains("2 author rounds") && sentence.contains("ended without a push"), "{sentence}");
    shop.ticks(&run, 5).await;
    assert_eq!((shop.rounds(), shop.cap_comments()), (2, 1), "no more rounds than allowed");
    run.stop().await;
    // The next start says the same at its first look.
    let again = shop.place.run(&shop.config).await;
    assert_eq!(again.view().exit().map(ToString::to_string), Some(sentence));
    assert_eq!((shop.rounds(), shop.cap_comments()), (2, 1));
    again.stop().await;
}
