//! The program in a terminal: a simulator with three pull requests, a home folder, and either of them out of
//! order.

use super::folder;
use super::pty::Played;
use cloture::simulator::{Scenario, Simulator, SimulatorOptions};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;
use tokio::runtime::Runtime;

const SCENARIO: &str = r#"
title = "Something to start with"
start = "2026-03-02T09:00:00Z"
viewer = "dana"

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
files = { "src/a.rs" = "fn one() {}\n" }

[[repository]]
name = "acme/quiet"
members = { dana = "owner" }
files = { "src/a.rs" = "fn one() {}\n" }

[[pull_request]]
repository = "acme/shop"
number = 1
repeat = 3
title = "Change number {n}"
author = "erin"
branch = "change-{n}"
files = { "src/a.rs" = "fn one() { {n} }\n" }

[[step]]
at = "-30m"
pull_request = "acme/shop#*"
[[step.do]]
review = { by = "coderabbitai", body = "**Actionable comments posted: 1**", threads = [
    { path = "src/a.rs", line = 1, body = "_⚠️ Potential issue_ | _🔴 Critical_\n\n**The call recurses without end.**" },
] }
"#;

pub(crate) const WATCHED: &str = "[[watch]]\nrepositories = ['acme/shop']\n[policy]\npoll_interval = '1s'\n";

/// The home that the program starts in, and the simulator that it talks to.
pub(crate) struct Here {
    runtime: Runtime,
    simulator: Option<Simulator>,
    pub(crate) url: String,
    pub(crate) home: TempDir,
}

impl Here {
    pub(crate) fn new() -> Here {
        let runtime = Runtime::new().unwrap();
        let scenario = Scenario::parse(SCENARIO, "start.toml").unwrap();
        let simulator = runtime.block_on(Simulator::start(&scenario, SimulatorOptions::default())).unwrap();
        assert_eq!(simulator.problems(), [""; 0]);
        let (url, home) = (simulator.url(), folder::temporary());
        Here { runtime, simulator: Some(simulator), url, home }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// The default place of the configuration.
    pub(crate) fn default_config(&self) -> PathBuf {
        self.path(".config/cloture/config.toml")
    }

    pub(crate) fn configure(&self, text: &str) {
        let path = self.default_config();
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Stops the simulator.
    pub(crate) fn cut_off(&mut self) {
        let _entered = self.runtime.enter();
        drop(self.simulator.take());
    }

    pub(crate) fn perform(&self, pull_request: &str, actions: &str) {
        let _entered = self.runtime.enter();
        self.simulator().perform_toml(pull_request, &format!("do = [{actions}]")).unwrap();
    }

    pub(crate) fn simulator(&self) -> &Simulator {
        self.simulator.as_ref().unwrap()
    }

    /// Makes the home folder a checkout of a branch.
    pub(crate) fn check_out(&self, branch: &str) {
        for arguments in [
            vec!["init", "--quiet", "--initial-branch", branch],
            vec!["remote", "add", "origin", "git@github.com:acme/shop.git"],
        ] {
            let mut git = Command::new("git");
            let status = git.args(arguments).current_dir(self.home.path()).status().unwrap();
            assert!(status.success());
        }
    }

    pub(crate) fn start(&self) -> Played {
        self.start_with(&[], &[("GH_TOKEN", "secret")])
    }

    pub(crate) fn start_with(&self, more: &[&str], environment: &[(&str, &str)]) -> Played {
        let mut arguments = vec!["--api-url", self.url.as_str()];
        arguments.extend(more);
        let usual = [("PATH", "/usr/bin:/bin"), ("USER", "somebody")];
        let environment: Vec<(&str, &str)> = usual.into_iter().chain(environment.iter().copied()).collect();
        Played::start(self.home.path(), (120, 40), &arguments, &environment)
    }
}

/// A server that accepts every connection and never answers, until the listener is dropped.
pub(crate) fn silent_server() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}
