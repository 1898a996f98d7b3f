//! Runs the real program against a simulator in this process, over HTTP.

use super::coverage;
use super::folder;
use cloture::simulator::{Scenario, Simulator, SimulatorOptions};
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;
use tokio::process::Command;

/// No output may contain it.
pub(crate) const TOKEN: &str = "ghp_thisIsTheDummyTokenOfTheTests0123456";

/// The result of a run of the program.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Run {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

pub(crate) async fn start(scenario: &str) -> Simulator {
    let scenario = Scenario::built_in(scenario).unwrap();
    let simulator = Simulator::start(&scenario, SimulatorOptions::default()).await.unwrap();
    assert_eq!(simulator.problems(), [""; 0]);
    simulator
}

/// The program isolated from this machine: its own home, no `gh`, no variables except the token.
pub(crate) fn program(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cloture"));
    command
        .args(arguments)
        .env_clear()
        .envs(coverage::variable())
        .env("HOME", home)
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("GIT_CEILING_DIRECTORIES", home)
        .env("GH_TOKEN", TOKEN)
        .current_dir(home)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    command
}

pub(crate) async fn finish(mut command: Command) -> Run {
    let output = command.output().await.unwrap();
    let run = Run {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    };
    assert!(!run.out.contains(TOKEN) && !run.err.contains(TOKEN), "the token is shown");
    run
}

pub(crate) async fn run(api_url: &str, arguments: &[&str]) -> Run {
    let home = folder::temporary();
    finish(program(home.path(), &[&["--api-url", api_url], arguments].concat())).await
}
