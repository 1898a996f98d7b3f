//! What the README and the pages tell people to type is typed here.
//!
//! A page's `sh` fences are run from top to bottom in an empty folder; what runs beside them is a `sh background` fence. The
//! README's commands are run one by one, each against a simulator of its own in which everything that they name is there.
#![cfg(unix)]
#![allow(clippy::print_stdout, reason = "what is skipped is told")]

use crate::support::coverage;
use cloture::config::Config;
use cloture::simulator::{Scenario, Simulator, SimulatorOptions};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tokio::runtime::Runtime;

const PROGRAM: &str = env!("CARGO_BIN_EXE_cloture");
const README: &str = include_str!("../../README.md");

/// A fenced block: what stands behind the fence, and what is in it.
struct Fence {
    language: String,
    text: String,
}

fn fences(page: &str) -> Vec<Fence> {
    let mut fences: Vec<Fence> = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        match (line.strip_prefix("```"), inside) {
            (Some(_), true) => inside = false,
            (Some(language), false) => {
                inside = true;
                fences.push(Fence { language: language.trim().to_owned(), text: String::new() });
            }
            (None, true) => writeln!(fences.last_mut().unwrap().text, "{line}").unwrap(),
            (None, false) => {}
        }
    }
    assert!(!inside, "a fence is not closed");
    fences
}

/// A shell in a folder, with the program on its path and nobody's configuration.
fn shell(folder: &Path, script: &str) -> Command {
    let programs = Path::new(PROGRAM).parent().unwrap().display();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("sh");
    command.args(["-eu", "-c", script]).current_dir(folder).stdin(Stdio::null());
    command.env_clear().envs(coverage::variable());
    command.env("PATH", format!("{programs}:{path}")).env("HOME", folder).env("TMPDIR", folder);
    command
}

/// What runs beside a page, until the page is over.
struct Beside(Child);

impl Drop for Beside {
    fn drop(&mut self) {
        // It may have ended by itself, which the page would have noticed.
        let _ended = self.0.kill();
        let _ended = self.0.wait();
    }
}

fn run_page(name: &str, page: &str, tools: &[&str]) {
    for tool in tools {
        let found = Command::new("sh").args(["-c", &format!("command -v {tool}")]).output().unwrap();
        if !found.status.success() {
            println!("SKIPPED: {name} needs {tool}, which is not on this machine");
            return;
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let mut beside = Vec::new();
    let mut script = String::new();
    for fence in fences(page) {
        match fence.language.as_str() {
            // Everything that stands before it may be what it needs.
            "sh background" => {
                run(name, folder.path(), &std::mem::take(&mut script));
                let exec = format!("exec {}", fence.text.trim());
                let mut child = shell(folder.path(), &exec).stdout(Stdio::piped()).spawn().unwrap();
                // It says where it is as soon as it can be asked. The rest is kept from filling the pipe.
                let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
                beside.push(Beside(child));
                assert!(lines.any(|line| line.contains("http://")), "{name}: it does not say where it is");
                std::thread::spawn(move || lines.for_each(drop));
            }
            "sh" => script.push_str(&fence.text),
            "console" | "text" | "json" | "toml" | "rust" | "diff" | "python" | "" => {}
            other => panic!("{name}: nobody said what a fence of {other} is"),
        }
    }
    run(name, folder.path(), &script);
}

fn run(name: &str, folder: &Path, script: &str) {
    let output = shell(folder, script).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{name} ended with {}\n{script}\n{out}\n{err}", output.status);
}

#[test]
fn the_page_on_policies() {
    run_page("policy.md", include_str!("../../docs/policy.md"), &[]);
}

#[test]
fn the_page_on_the_proof() {
    run_page("proof.md", include_str!("../../docs/proof.md"), &[]);
}

#[test]
fn the_page_on_reviewers() {
    run_page("reviewers.md", include_str!("../../docs/reviewers.md"), &["python3", "curl"]);
}

#[test]
fn the_page_on_targets() {
    run_page("targets.md", include_str!("../../docs/targets.md"), &["python3", "curl"]);
}

#[test]
fn what_a_contributor_is_told_to_type() {
    run_page("CONTRIBUTING.md", include_str!("../../CONTRIBUTING.md"), &[]);
}

/// Everything that the README names is in it.
const NAMED: &str = include_str!("docs/named.toml");

/// The lines of the README that are commands, as somebody would type them.
fn commands() -> Vec<String> {
    let mut commands = Vec::new();
    for fence in fences(README).into_iter().filter(|fence| fence.language == "sh") {
        let mut line = String::new();
        for part in fence.text.lines() {
            let _infallible = writeln!(line, "{part}");
            // A quotation that goes on, goes on.
            if line.matches('\'').count().is_multiple_of(2) && !part.trim_end().ends_with('\\') {
                commands.push(std::mem::take(&mut line).trim().to_owned());
            }
        }
    }
    commands.retain(|command| !command.is_empty());
    commands
}

#[test]
fn the_commands_of_the_readme() {
    let commands = commands();
    assert!(commands.len() > 20, "{commands:?}");
    let runtime = Runtime::new().unwrap();
    for command in commands {
        // This very test is run by the one, the other needs a person, and the token is there already.
        if command.starts_with("cargo test") || command.starts_with("export GH_TOKEN") {
            continue;
        }
        run_command(&runtime, &command);
    }
}

fn run_command(runtime: &Runtime, command: &str) {
    let scenario = Scenario::parse(NAMED, "named.toml").unwrap();
    let simulator = runtime.block_on(Simulator::start(&scenario, SimulatorOptions::default())).unwrap();
    assert_eq!(simulator.problems(), [""; 0]);
    let home = tempfile::tempdir().unwrap();
    let configuration = home.path().join(".config/cloture");
    std::fs::create_dir_all(&configuration).unwrap();
    let config = format!(
        "[github]\napi_url = '{}'\n[policy]\npoll_interval = '1s'\nmax_attempts = 2\n[[watch]]\nrepositories = ['acme/shop']\n\
         [[handoff.targets]]\nname = 'default'\nkind = 'issue'\n[[handoff.targets]]\nname = 'expert'\nkind = 'issue'\n",
        simulator.url()
    );
    std::fs::write(configuration.join("config.toml"), config).unwrap();
    std::fs::write(home.path().join("answer.md"), "Thank you.\n").unwrap();
    let trace = fences(README).into_iter().find(|fence| fence.language == "json").unwrap();
    std::fs::write(home.path().join("trace.jsonl"), trace.text).unwrap();
    let pull = simulator.pull_request("acme/shop#7").unwrap();
    let typed = command
        .replace("cargo run --", "cloture")
        .replace("PRRT_kwDO123", &pull.threads[0].id)
        .replace("9f8e7d6", &pull.head[..7]);
    // Who types it is asked; here is nobody to ask.
    let words: Vec<&str> = typed.split(" #").next().unwrap().split_whitespace().collect();
    let asks = matches!(
        words.as_slice(),
        ["cloture", "act" | "pr", ..] | ["cloture", "queue", "add" | "remove" | "retarget", ..]
    );
    let script = if asks && !typed.contains("--yes") { agreed(&typed) } else { typed.clone() };
    let mut shell = shell(home.path(), &script);
    shell.env("GH_TOKEN", "any").env("XDG_CONFIG_HOME", home.path().join(".config"));
    if script.contains("simulator --port") || script.starts_with("GH_TOKEN=any") {
        // One runs until it is stopped, and the other asks it: both are what every command here does.
        return;
    }
    let output = shell.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let code = output.status.code().unwrap();
    if matches!(words.as_slice(), ["cloture"] | ["cloture", "--read-only" | "demo"]) {
        assert!(code == 2 && err.contains("needs a terminal"), "{script}\n{out}\n{err}");
        return;
    }
    // How a loop ended is told by the code; wrong use, a wrong configuration and a bug are not among those.
    assert!(matches!(code, 0 | 10..=19), "{script}\nended with {code}\n{out}\n{err}");
}

/// With consent beforehand, in front of what the shell would not pass on.
fn agreed(command: &str) -> String {
    let (first, rest) = command.split_once(" && ").unwrap_or((command, ""));
    let first = first.split(" #").next().unwrap().trim_end();
    if rest.is_empty() { format!("{first} --yes") } else { format!("{first} --yes && {rest}") }
}

#[test]
fn the_example_configuration_is_valid_as_it_is_and_with_everything_switched_on() {
    let example = include_str!("../../config.example.toml");
    Config::parse(Path::new("config.example.toml"), example.as_bytes()).unwrap();
    // The commands that it mentions.
    for command in ["bound", "reviewers"] {
        let mentioned = format!("`cloture {command}`");
        assert!(example.contains(&mentioned), "{mentioned}");
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("config.toml"), example).unwrap();
        run(
            "config.example.toml",
            home.path(),
            &format!("cloture --config config.toml {command} > /dev/null"),
        );
    }
}
