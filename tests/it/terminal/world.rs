//! A pull request with threads on a simulated GitHub, and the terminal over it.

use crate::support::coverage;
use crate::support::pty::Played;
use cloture::journal::{Journal, JournalAddress, JournalOptions};
use cloture::simulator::{PullSnapshot, Scenario, Simulator, SimulatorOptions};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::runtime::Runtime;

const SCENARIO: &str = r#"
title = "Something to decide"
start = "2026-03-02T09:00:00Z"
viewer = "dana"

[limits]
content_per_minute = 100000
content_per_hour = 100000

[[account]]
login = "dana"
[[account]]
login = "erin"
[[account]]
login = "coderabbitai"
kind = "bot"
id = 136622811

[[repository]]
name = "acme/shop"
members = { dana = "owner", erin = "collaborator" }
labels = ["cloture:break-glass"]
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
review = { by = "coderabbitai", body = '''
**Actionable comments posted: 3**

<!-- This is an auto-generated comment by CodeRabbit for review status -->
''', threads = [
    { name = "first", path = "src/a.rs", line = 1, body = "_⚠️ Potential issue_ | _🔴 Critical_\n\n**The call recurses without end.**\n\nIt never returns." },
    { name = "second", path = "src/a.rs", line = 3, body = "_⚠️ Potential issue_ | _🟠 Major_\n\n**Nobody uses this function.**\n\nRemove it." },
    { name = "third", path = "src/b.rs", line = 1, body = "_⚠️ Potential issue_ | _🟡 Minor_\n\n**A test is missing.**\n\nAdd one." },
] }
"#;

/// A configuration that watches and drives nothing.
pub(crate) const WATCHED: &str =
    "[[watch]]\nrepositories = ['acme/shop']\n[operator]\nmention = '@acme/leads'\n";

pub(crate) struct World {
    runtime: Runtime,
    pub(crate) simulator: Arc<Simulator>,
    pub(crate) home: TempDir,
}

/// Starts the program in a terminal of a size, with arguments and variables.
type StartProgram = fn(&Path, (u16, u16), &[&str], &[(&str, &str)]) -> Played;

impl World {
    pub(crate) fn new(config: &str) -> World {
        let runtime = Runtime::new().unwrap();
        let scenario = Scenario::parse(SCENARIO, "terminal.toml").unwrap();
        let simulator = runtime.block_on(Simulator::start(&scenario, SimulatorOptions::default())).unwrap();
        assert_eq!(simulator.problems(), [""; 0]);
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("cloture.toml"), config).unwrap();
        World { runtime, simulator: Arc::new(simulator), home }
    }

    fn arguments(&self) -> Vec<String> {
        let path = |name: &str| self.home.path().join(name).to_str().unwrap().to_owned();
        let (config, state) = (path("cloture.toml"), path("state"));
        ["--api-url", &self.simulator.url(), "--config", &config, "--state-dir", &state]
            .map(str::to_owned)
            .into()
    }

    /// Starts the terminal and waits until it shows the threads.
    pub(crate) fn play(&self) -> Played {
        self.play_with(&[], &[])
    }

    /// The same, as a job of a shell.
    pub(crate) fn play_as_job(&self) -> Played {
        self.play_by(Played::start_as_job, &[], &[])
    }

    pub(crate) fn play_with(&self, more: &[&str], environment: &[(&str, &str)]) -> Played {
        self.play_by(Played::start, more, environment)
    }

    fn play_by(&self, start: StartProgram, more: &[&str], environment: &[(&str, &str)]) -> Played {
        let arguments = self.arguments();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).chain(more.iter().copied()).collect();
        let path = format!("{}:/usr/bin:/bin", self.home.path().display());
        let usual = [("GH_TOKEN", "secret"), ("PATH", path.as_str()), ("USER", "somebody")];
        let environment: Vec<(&str, &str)> = usual.into_iter().chain(environment.iter().copied()).collect();
        let mut played = start(self.home.path(), (120, 40), &arguments, &environment);
        played.until_shown("src/a.rs:1");
        played
    }

    /// Puts a script on the path.
    pub(crate) fn script(&self, name: &str, body: &str) -> String {
        let path = self.home.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.home.path().join(name)).unwrap_or_default()
    }

    pub(crate) fn pull(&self) -> PullSnapshot {
        self.simulator.pull_request("acme/shop#1").unwrap()
    }

    /// Whether the thread at a place is resolved on the server.
    pub(crate) fn is_resolved(&self, path: &str, line: i64) -> bool {
        let pull = self.pull();
        pull.threads.iter().any(|thread| thread.path == path && thread.line == Some(line) && thread.resolved)
    }

    /// Everything that was written to the server, in order.
    pub(crate) fn posts(&self) -> Vec<String> {
        self.simulator.posts().into_iter().map(|post| post.what).collect()
    }

    /// Runs `cloture act` on the thread at a place, as a second process.
    pub(crate) fn act(&self, place: &str, what: &[&str]) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cloture"));
        command.args(self.arguments()).args(["act", "acme/shop#1", place]).args(what).arg("--yes");
        command.env_clear().envs(coverage::variable());
        let output = command.env("HOME", self.home.path()).env("GH_TOKEN", "secret").output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    /// The journal's records of a kind, oldest first, as a second process reads them.
    pub(crate) fn records(&self, kind: &str) -> Vec<Value> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cloture"));
        command.args(self.arguments()).args(["journal", "--json", "--kind", kind]);
        let output =
            command.env_clear().envs(coverage::variable()).env("HOME", self.home.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// How many pull requests somebody drives, by the journal.
    pub(crate) fn leases(&self) -> usize {
        let address = JournalAddress::file(self.home.path().join("state").join(JournalAddress::FILE_NAME));
        self.runtime.block_on(async {
            let options = JournalOptions::new(self.simulator.now());
            let journal = Journal::open(&address, options).await.unwrap().journal;
            let leases = journal.leases().await.unwrap().len();
            journal.close().await.unwrap();
            leases
        })
    }

    /// All decisions in the journal, by name.
    pub(crate) fn decisions(&self) -> Vec<String> {
        let records = self.records("decided");
        records.iter().map(|record| record["body"]["verb"].as_str().unwrap().to_owned()).collect()
    }

    pub(crate) fn perform(&self, actions: &str) {
        let _entered = self.runtime.enter();
        self.simulator.perform_toml("acme/shop#1", &format!("do = [{actions}]")).unwrap();
    }
}

impl Played {
    /// Waits until the terminal has handled every key so far and drawn the result.
    pub(crate) fn settle(&mut self) {
        self.press("?");
        self.until_shown("Keys of this screen");
        self.press("?");
        self.until_gone("Keys of this screen");
    }

    /// Goes to the threads and moves the cursor to the one at this place.
    pub(crate) fn select(&mut self, place: &str) {
        self.press("1lg");
        self.settle();
        for _ in 0..8 {
            if self.selected().contains(place) {
                return;
            }
            self.press("j");
            self.settle();
        }
        assert!(self.selected().contains(place), "{place} is not there:\n{}", self.contents());
    }

    /// Answers a question with yes; the question must hold this sentence.
    pub(crate) fn agree(&mut self, sentence: &str) {
        self.until_shown(sentence);
        self.until_shown("y yes");
        self.press("y");
        self.until_gone("y yes");
    }

    /// Types a reason into the prompt.
    pub(crate) fn because(&mut self, reason: &str) {
        self.until_shown("⏎ continue");
        self.press(reason);
        self.until_shown(reason);
        self.press("\r");
    }
}
