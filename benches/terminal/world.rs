//! A simulated GitHub with many pull requests in another process, and a home folder for the terminal.

use super::program;
use super::pty::Pty;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

pub(crate) struct World {
    simulator: Child,
    url: String,
    folder: tempfile::TempDir,
    pull_requests: usize,
}

impl World {
    /// With `changes`, something changes all the time; without, nothing does.
    pub(crate) fn new(pull_requests: usize, threads: usize, changes: bool) -> World {
        let folder = tempfile::tempdir().unwrap();
        let scenario = folder.path().join("scenario.toml");
        std::fs::write(&scenario, self::scenario(pull_requests, threads, changes)).unwrap();
        let mut simulator = Command::new(program())
            .args(["simulator", "--port", "0", "--speed", "1", "--scenario"])
            .arg(&scenario)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(simulator.stdout.take().unwrap()).lines();
        let url = lines.map_while(Result::ok).find_map(|line| {
            let from = line.find("http://")?;
            line[from..].split(' ').next().map(str::to_owned)
        });
        let interval = if changes { "10s" } else { "60s" };
        let config = format!(
            "[[watch]]\nrepositories = [\"acme/shop\"]\n[policy]\npoll_interval = \"{interval}\"\nmax_attempts = 1000\n"
        );
        std::fs::write(folder.path().join("config.toml"), config).unwrap();
        World { simulator, url: url.unwrap(), folder, pull_requests }
    }

    /// Starts the terminal.
    pub(crate) fn start(&self) -> Pty {
        let path = |name: &str| -> String {
            let path: PathBuf = self.folder.path().join(name);
            path.to_str().unwrap().to_owned()
        };
        let (config, state) = (path("config.toml"), path("state"));
        let arguments = ["--api-url", &self.url, "--config", &config, "--state-dir", &state];
        Pty::start(&program(), &arguments, self.folder.path(), &[("GH_TOKEN", "any")])
    }

    /// Runs the terminal once, so that the journal holds every pull request.
    pub(crate) fn warm(&self) {
        let mut shown = self.start();
        let all = format!("({})", self.pull_requests);
        shown.until(&format!("all {all}"), |screen| {
            let contents = screen.contents();
            contents.contains("acme/shop#")
                && contents.contains("next poll in")
                && !contents.contains("not read yet")
        });
        shown.read_for(Duration::from_secs(2));
        shown.quit();
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ended = self.simulator.kill();
        let _ended = self.simulator.wait();
    }
}

fn scenario(pull_requests: usize, threads: usize, changes: bool) -> String {
    let mut text = format!(
        r#"
title = "Many pull requests"
start = "2026-03-02T09:00:00Z"
viewer = "dana"

[limits]
graphql_points_per_hour = 100000000
points_per_minute = 100000000
rest_requests_per_hour = 100000000

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
members = {{ dana = "owner", erin = "collaborator" }}

[repository.files]
"src/cart.rs" = "// Nothing here yet.\n"

[[pull_request]]
repository = "acme/shop"
number = 1
repeat = {pull_requests}
title = "Change number {{n}} of the cart, with a title as long as titles are"
author = "erin"
created = "-5h"
branch = "change-{{n}}"

[pull_request.files]
"src/cart.rs" = """
pub fn discounted(total: u64, percent: u64) -> u64 {{
    total - total * percent / 100
}}

pub fn first(items: &[u64]) -> u64 {{
    items[0]
}}
"""

[[step]]
at = "-4h"
pull_request = "acme/shop#*"
[[step.do]]
review = {{ by = "coderabbitai", body = """
**Actionable comments posted: {threads}**

<!-- This is an auto-generated comment by CodeRabbit for review status -->
""", threads = [
    {{ name = "t{{n}}", repeat = {threads}, path = "src/cart.rs", line = 3, body = """
_⚠️ Potential issue_ | _🟠 Major_

**Finding {{n}}: case {{n}} of the discount is not thought of.**

`percent` comes from the caller unchecked, so the branch {{n}} underflows where it is above one hundred. Clamp it first, or
return an error that the caller can show, as the other branches do.
""" }},
] }}
[[step.do]]
reply = {{ by = "erin", thread = "t1", body = "I disagree: nothing in this file is called from outside." }}
"#
    );
    if changes {
        // A few more every few seconds, without an end.
        for number in (1..=pull_requests).step_by((pull_requests / 25).max(1)) {
            let _infallible = write!(
                text,
                r#"
[[step]]
at = "{}s"
every = "8s"
repeat = 400
pull_request = "acme/shop#{number}"
[[step.do]]
reply = {{ by = "erin", thread = "t2", body = "Still at it." }}
"#,
                1 + number % 8,
            );
        }
    }
    text
}
