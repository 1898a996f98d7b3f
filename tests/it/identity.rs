//! L13: every command finds a pull request by any name of its repository, or says that it does not know it.

use crate::support::folder;
use crate::support::program::{Run, finish, program};
use crate::support::verbs;
use cloture::simulator::Simulator;
use tempfile::TempDir;

/// A simulator, and a home folder with a journal that outlives each run.
struct Desk {
    simulator: Simulator,
    home: TempDir,
}

impl Desk {
    async fn new() -> Desk {
        Desk { simulator: verbs::start().await, home: folder::temporary() }
    }

    async fn run(&self, arguments: &[&str]) -> Run {
        let url = self.simulator.url();
        finish(program(self.home.path(), &[&["--api-url", url.as_str()], arguments].concat())).await
    }

    /// Runs a command that must succeed, and returns its output.
    async fn out(&self, arguments: &[&str]) -> String {
        let run = self.run(arguments).await;
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{arguments:?}: {run:?}");
        run.out
    }

    fn rename(&self, from: &str, to: &str) {
        let rename = format!("do = [{{ rename = {{ by = 'dana', to = '{to}' }} }}]");
        self.simulator.perform_toml(from, &rename).unwrap();
    }
}

#[tokio::test]
async fn l13_every_command_ignores_the_case_of_a_name() {
    let desk = Desk::new().await;
    for name in ["ACME/Shop#1", "https://github.com/ACME/SHOP/pull/1"] {
        let status = desk.out(&["status", name]).await;
        assert!(status.starts_with("acme/shop#1  Open"), "{status}");
        let watched = desk.run(&["watch", name, "--once", "--json"]).await;
        assert!(watched.out.contains("acme/shop#1") && !watched.out.contains("ACME"), "{watched:?}");
        assert_eq!(watched.code, 10, "{watched:?}");
        let queue = desk.out(&["queue", "list", name]).await;
        assert!(queue.starts_with("acme/shop#1  Open"), "{queue}");
        let inbox = desk.out(&["inbox", name]).await;
        assert_eq!(inbox.trim(), "Nothing waits for a person.");
        let acted = desk.out(&["act", name, "src/a.rs:1", "queue", "--yes"]).await;
        assert!(acted.contains("acme/shop#1"), "{acted}");
        let labelled = desk.out(&["pr", name, "label", "stuck", "--yes"]).await;
        assert!(labelled.contains("acme/shop#1"), "{labelled}");
    }
    let journal = desk.out(&["journal", "ACME/Shop#1"]).await;
    assert!(journal.contains("acme/shop#1") && journal.contains("queue PRRT_1"), "{journal}");
}

#[tokio::test]
async fn l13_a_name_that_the_journal_does_not_know_is_never_passed_over_in_silence() {
    let desk = Desk::new().await;
    desk.out(&["queue", "list", "acme/shop#1"]).await;
    for arguments in [
        vec!["inbox", "acme/desk#1"],
        vec!["journal", "acme/desk#1", "--json"],
        vec!["queue", "list", "acme/desk#1"],
        vec!["status", "acme/desk#1"],
        vec!["watch", "acme/desk#1"],
        vec!["act", "acme/desk#1", "PRRT_1", "resolve", "--yes"],
        vec!["pr", "acme/desk#1", "close", "--yes"],
    ] {
        let run = desk.run(&arguments).await;
        let said = format!("{}{}", run.out, run.err);
        assert!(run.code != 0 && said.contains("acme/desk"), "{arguments:?}: {run:?}");
    }
    for arguments in [vec!["journal", "acme/desk#1"], vec!["queue", "history", "acme/desk#1"]] {
        let out = desk.out(&arguments).await;
        assert!(out.contains("The journal has no"), "{arguments:?}: {out}");
    }
}

#[tokio::test]
async fn l13_after_a_rename_both_names_lead_to_one_history_and_nothing_is_posted_twice() {
    let desk = Desk::new().await;
    let reply = |name: &'static str| ["act", name, "src/a.rs:1", "reply", "--body", "Why?", "--yes"];
    let comment = |name: &'static str| ["pr", name, "comment", "--body", "Ready?", "--yes"];
    desk.out(&reply("acme/shop#1")).await;
    desk.out(&comment("acme/shop#1")).await;
    desk.out(&["act", "acme/shop#1", "src/a.rs:1", "queue", "--yes"]).await;
    let posts = verbs::changes(&desk.simulator);
    desk.rename("acme/shop#1", "acme/store");
    for name in ["acme/store#1", "acme/shop#1", "Acme/STORE#1"] {
        desk.out(&reply(name)).await;
        desk.out(&comment(name)).await;
        assert_eq!(verbs::changes(&desk.simulator), posts, "{name}: the text is there already");
        let queue = desk.out(&["queue", "list", name]).await;
        assert!(queue.starts_with("acme/store#1  Open"), "{name}: {queue}");
        assert!(queue.contains("queued by a person"), "{name}: {queue}");
        assert!(desk.out(&["inbox", name]).await.contains("Nothing waits"), "{name}");
        let journal = desk.out(&["journal", name]).await;
        assert!(journal.contains("queue PRRT_1"), "{name}: {journal}");
        let about = |line: &str| line.split_whitespace().nth(1) == Some("acme/store#1");
        assert!(journal.lines().all(about), "{name}: {journal}");
    }
    let both = desk.out(&["status", "acme/shop#1", "acme/store#1", "--json"]).await;
    let both: serde_json::Value = serde_json::from_str(&both).unwrap();
    assert_eq!(both["pull_requests"].as_array().unwrap().len(), 1, "two names, one pull request");
    assert_eq!(both["pull_requests"][0]["threads"][0]["queued"], true);
}

#[tokio::test]
async fn l13_a_review_is_requested_in_the_renamed_repository() {
    let desk = Desk::new().await;
    desk.rename("acme/shop#1", "acme/store");
    desk.out(&["pr", "acme/shop#1", "request-review", "copilot", "--yes"]).await;
    assert_eq!(verbs::changes(&desk.simulator), ["request_review"]);
}

#[tokio::test]
async fn a_number_that_github_cannot_have_is_refused_by_every_command() {
    let desk = Desk::new().await;
    for arguments in [
        vec!["status", "acme/shop#4294967296"],
        vec!["watch", "acme/shop#4294967296"],
        vec!["watch", "acme/shop#0"],
        vec!["watch", "acme/shop#00"],
        vec!["watch", "https://github.com/acme/shop/pull/2147483648"],
        vec!["doctor", "acme/shop#4294967296"],
        vec!["review", "--reviewer", "orange", "acme/shop#4294967296"],
        vec!["act", "acme/shop#4294967296", "src/a.rs:1", "veto", "--reason", "No.", "--yes"],
        vec!["queue", "list", "https://github.com/acme/shop/pull/4294967296"],
        vec!["queue", "history", "acme/shop#4294967296"],
        vec!["queue", "add", "acme/shop#4294967296", "src/a.rs:1", "--yes"],
        vec!["inbox", "acme/shop#99999999999999999999"],
        vec!["journal", "acme/shop#2147483648"],
        vec!["pr", "acme/shop#4294967296", "close", "--yes"],
    ] {
        let run = desk.run(&arguments).await;
        assert_eq!(run.code, 2, "{arguments:?}: {run:?}");
        assert!(run.err.contains("GitHub's numbers go from 1 to 2147483647"), "{arguments:?}: {run:?}");
    }
}
