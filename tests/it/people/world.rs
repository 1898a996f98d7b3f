//! A pull request with open threads, and a home folder whose journal outlives a command.

use crate::support::folder;
use crate::support::program::{Run, finish, program};
use cloture::simulator::{PullSnapshot, Scenario, Simulator, SimulatorOptions};
use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const SCENARIO: &str = r#"
title = "Something to decide"
start = "2026-03-02T09:00:00Z"
viewer = "dana"

[[account]]
login = "dana"
[[account]]
login = "erin"
[[account]]
login = "coderabbitai"
kind = "bot"

[[repository]]
name = "acme/shop"
members = { dana = "owner", erin = "collaborator" }
files = { "src/a.rs" = "fn one() {}\n", "src/b.rs" = "fn other() {}\n" }

[[pull_request]]
repository = "acme/shop"
number = 1
title = "Add a discount"
author = "erin"
branch = "discount"
files = { "src/a.rs" = "fn one() { two() }\nfn two() {}\nfn three() {}\n", "src/b.rs" = "fn other() { one() }\n" }

[[step]]
at = "-30m"
pull_request = "acme/shop#1"
[[step.do]]
review = { by = "coderabbitai", body = "Some things.", threads = [
    { name = "first", path = "src/a.rs", line = 1, body = "The call recurses without end." },
    { name = "second", path = "src/a.rs", line = 3, body = "Nobody uses this function anywhere." },
    { name = "third", path = "src/b.rs", line = 1, body = "A unit test of the discount is missing." },
] }
[[step.do]]
review = { by = "erin", body = "", threads = [{ name = "persons", path = "src/a.rs", line = 2, body = "Why two?" }] }
"#;

pub(crate) struct World {
    pub(crate) simulator: Simulator,
    pub(crate) home: TempDir,
}

impl World {
    pub(crate) async fn new() -> World {
        let scenario = Scenario::parse(SCENARIO, "people.toml").unwrap();
        let simulator = Simulator::start(&scenario, SimulatorOptions::default()).await.unwrap();
        assert_eq!(simulator.problems(), [""; 0]);
        World { simulator, home: folder::temporary() }
    }

    /// Runs a command in the same home, configuration included.
    pub(crate) async fn run(&self, command: &[&str]) -> Run {
        finish(self.command(command)).await
    }

    pub(crate) fn command(&self, command: &[&str]) -> tokio::process::Command {
        let (url, state) = (self.simulator.url(), self.state());
        let mut all = vec!["--api-url", &url, "--state-dir", state.to_str().unwrap()];
        let config = self.home.path().join("cloture.toml");
        if config.exists() {
            all.extend(["--config", config.to_str().unwrap()]);
        }
        all.extend(command);
        program(self.home.path(), &all)
    }

    pub(crate) fn configure(&self, text: &str) {
        std::fs::write(self.home.path().join("cloture.toml"), text).unwrap();
    }

    fn state(&self) -> PathBuf {
        self.home.path().join("state")
    }

    pub(crate) fn has_journal(&self) -> bool {
        Path::new(&self.state().join("journal.db")).exists()
    }

    /// Runs an act on the thread at a place, with `--yes`.
    pub(crate) async fn act(&self, place: &str, what: &[&str]) -> Run {
        self.run(&[&["act", "acme/shop#1", place], what, &["--yes", "--json"]].concat()).await
    }

    /// The same, which must succeed.
    pub(crate) async fn done(&self, place: &str, what: &[&str]) -> Value {
        let run = self.act(place, what).await;
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
        run.json()
    }

    /// The thread at a place, as `status` shows it.
    pub(crate) async fn thread(&self, path: &str, line: u64) -> Value {
        let run = self.run(&["status", "--json", "acme/shop#1"]).await;
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
        let threads = run.json()["pull_requests"][0]["threads"].as_array().unwrap().clone();
        threads.into_iter().find(|thread| thread["path"] == path && thread["line"] == line).unwrap()
    }

    pub(crate) fn pull(&self) -> PullSnapshot {
        self.simulator.pull_request("acme/shop#1").unwrap()
    }

    /// The changes on the server, in order.
    pub(crate) fn changes(&self) -> Vec<String> {
        self.simulator.posts().into_iter().map(|post| post.what).collect()
    }

    /// The journal's records of a kind, oldest first.
    pub(crate) async fn records(&self, kind: &str) -> Vec<Value> {
        let run = self.run(&["journal", "--json", "--kind", kind]).await;
        assert_eq!(run.code, 0, "{run:?}");
        run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}
