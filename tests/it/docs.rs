//! Runs the commands that the README and the pages tell people to type.
//!
//! On a page with a story, the `sh` fences run from top to bottom in one folder; a `sh background` fence runs
//! beside them. The commands of the README and of the reference pages run one by one, each against a
//! simulator of its own that has everything they name.
#![cfg(unix)]

use crate::support::coverage;
use cloture::config::Config;
use cloture::simulator::{Scenario, Simulator, SimulatorOptions};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tokio::runtime::Runtime;

const PROGRAM: &str = env!("CARGO_BIN_EXE_cloture");

/// The README and the reference pages, whose commands stand alone.
const REFERENCE: [(&str, &str); 7] = [
    ("README.md", include_str!("../../README.md")),
    ("commands.md", include_str!("../../docs/commands.md")),
    ("terminal.md", include_str!("../../docs/terminal.md")),
    ("watching.md", include_str!("../../docs/watching.md")),
    ("writing.md", include_str!("../../docs/writing.md")),
    ("handoff.md", include_str!("../../docs/handoff.md")),
    ("configuration.md", include_str!("../../docs/configuration.md")),
];

/// A fenced block: the word behind the fence, and the lines inside.
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

/// A shell in a folder, with the program on its path and without a configuration.
fn shell(folder: &Path, script: &str) -> Command {
    let programs = Path::new(PROGRAM).parent().unwrap().display();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("sh");
    command.args(["-eu", "-c", script]).current_dir(folder).stdin(Stdio::null());
    command.env_clear().envs(coverage::variable());
    command.env("PATH", format!("{programs}:{path}")).env("HOME", folder).env("TMPDIR", folder);
    command
}

/// A program that runs beside a page until the page is over.
struct Beside(Child);

impl Drop for Beside {
    fn drop(&mut self) {
        // It may have ended by itself, which the page would have noticed.
        let _ended = self.0.kill();
        let _ended = self.0.wait();
    }
}

fn run_page(name: &str, page: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mut beside = Vec::new();
    let mut script = String::new();
    for fence in fences(page) {
        match fence.language.as_str() {
            // It may need everything that stands before it.
            "sh background" => {
                run(name, folder.path(), &std::mem::take(&mut script));
                let exec = format!("exec {}", fence.text.trim());
                let mut child = shell(folder.path(), &exec).stdout(Stdio::piped()).spawn().unwrap();
                // It prints its address when it is ready. The thread keeps the pipe from filling up.
                let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
                beside.push(Beside(child));
                assert!(lines.any(|line| line.contains("http://")), "{name}: it prints no address");
                std::thread::spawn(move || lines.for_each(drop));
            }
            "sh" => script.push_str(&fence.text),
            "console" | "text" | "json" | "toml" | "rust" | "diff" | "python" | "" => {}
            other => panic!("{name}: a fence of `{other}` is neither run nor known to be data"),
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
fn the_page_on_policies_works_as_written() {
    run_page("policy.md", include_str!("../../docs/policy.md"));
}

#[test]
fn the_page_on_the_proof_works_as_written() {
    run_page("proof.md", include_str!("../../docs/proof.md"));
}

#[test]
#[cfg_attr(not(has_python_and_curl), ignore = "needs python3 and curl")]
fn the_page_on_reviewers_works_as_written() {
    run_page("reviewers.md", include_str!("../../docs/reviewers.md"));
}

#[test]
#[cfg_attr(not(has_python_and_curl), ignore = "needs python3 and curl")]
fn the_page_on_targets_works_as_written() {
    run_page("targets.md", include_str!("../../docs/targets.md"));
}

#[test]
fn the_page_for_contributors_works_as_written() {
    run_page("CONTRIBUTING.md", include_str!("../../CONTRIBUTING.md"));
}

/// A scenario with everything that the commands name.
const NAMED: &str = include_str!("docs/named.toml");

/// The commands in the `sh` fences of a page.
fn commands(name: &str, page: &str) -> Vec<String> {
    let mut commands = Vec::new();
    for fence in fences(page).into_iter().filter(|fence| fence.language == "sh") {
        let mut command = String::new();
        for line in fence.text.lines() {
            writeln!(command, "{line}").unwrap();
            // An open quotation or a backslash continues on the next line.
            if command.matches('\'').count().is_multiple_of(2) && !line.trim_end().ends_with('\\') {
                commands.push(std::mem::take(&mut command).trim().to_owned());
            }
        }
        assert_eq!(command, "", "{name}: the last command of a fence has no end");
    }
    commands.retain(|command| !command.is_empty());
    commands
}

#[test]
fn the_commands_of_the_readme_and_the_reference_pages_work() {
    let commands: Vec<String> = REFERENCE.iter().flat_map(|(name, page)| commands(name, page)).collect();
    assert!(commands.len() > 20, "{commands:?}");
    let runtime = Runtime::new().unwrap();
    for command in commands {
        // `cargo test` is running this test, and the shell has a token already.
        if command.starts_with("cargo test") || command.starts_with("export GH_TOKEN") {
            continue;
        }
        run_command(&runtime, &command);
    }
}

/// The example trace in `commands.md`.
fn trace() -> String {
    let traces = REFERENCE.iter().flat_map(|(_, page)| fences(page));
    let mut traces = traces.filter(|fence| fence.language == "json" && fence.text.starts_with("{\"trace\""));
    traces.next().unwrap().text
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
    std::fs::write(home.path().join("trace.jsonl"), trace()).unwrap();
    let pull = simulator.pull_request("acme/shop#7").unwrap();
    let typed = command
        .replace("cargo run --", "cloture")
        .replace("PRRT_kwDO123", &pull.threads[0].id)
        .replace("9f8e7d6", &pull.head[..7]);
    // These commands ask for consent, and here nobody can answer.
    let words: Vec<&str> = typed.split(" #").next().unwrap().split_whitespace().collect();
    let asks = matches!(
        words.as_slice(),
        ["cloture", "act" | "pr", ..] | ["cloture", "queue", "add" | "remove" | "retarget", ..]
    );
    let mut script = if asks && !typed.contains("--yes") { agreed(&typed) } else { typed.clone() };
    // These decisions are about a thread that waits for a person, and the scenario's threads are open.
    if let ["cloture", "act", pull_request, thread, "uphold" | "dismiss" | "return", ..] = words.as_slice() {
        script = format!("cloture act {pull_request} {thread} veto --reason x --yes && {script}");
    }
    let mut shell = shell(home.path(), &script);
    shell.env("GH_TOKEN", "any").env("XDG_CONFIG_HOME", home.path().join(".config"));
    if script.contains("simulator --port") || script.starts_with("GH_TOKEN=any") {
        // The first runs until it is stopped, and the second asks it. Every other command here asks a
        // simulator too.
        return;
    }
    let output = shell.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let code = output.status.code().unwrap();
    if matches!(words.as_slice(), ["cloture"] | ["cloture", "--read-only" | "demo"]) {
        assert!(code == 2 && err.contains("needs a terminal"), "{script}\n{out}\n{err}");
        return;
    }
    // Codes from 10 say how a loop ended. Wrong usage, a wrong configuration and a bug have codes below.
    assert!(matches!(code, 0 | 10..=19), "{script}\nended with {code}\n{out}\n{err}");
}

/// The command with `--yes`, before a comment or a second command.
fn agreed(command: &str) -> String {
    let (first, rest) = command.split_once(" && ").unwrap_or((command, ""));
    let first = first.split(" #").next().unwrap().trim_end();
    if rest.is_empty() { format!("{first} --yes") } else { format!("{first} --yes && {rest}") }
}

#[test]
fn the_example_configuration_is_valid_as_it_is_and_with_everything_switched_on() {
    let example = include_str!("../../config.example.toml");
    Config::parse(Path::new("config.example.toml"), example.as_bytes()).unwrap();
    // The commands that the example mentions.
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
