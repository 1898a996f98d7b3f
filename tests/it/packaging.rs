//! The parts of a package: completions, manual pages, the gh extension and the promised toolchain.
#![cfg(unix)]
#![allow(clippy::print_stdout, reason = "prints what it skips")]

use clap::CommandFactory;
use cloture::cli::Cli;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_cloture");

fn cloture(arguments: &[&str]) -> Output {
    Command::new(PROGRAM).args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// The commands that `--help` shows.
fn commands() -> Vec<String> {
    let command = Cli::command();
    command.get_subcommands().filter(|c| !c.is_hide_set()).map(|c| c.get_name().to_owned()).collect()
}

#[test]
fn every_shell_completes_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = cloture(&["completions", shell]);
        assert!(output.status.success(), "{shell}");
        let script = String::from_utf8(output.stdout).unwrap();
        for command in commands() {
            assert!(script.contains(&command), "{shell} does not know {command}");
        }
        assert!(script.contains("--read-only") || script.contains("read-only"), "{shell}");
    }
    // bash is on most machines, so it also runs its script.
    let script = r#"eval "$(cloture completions bash)"; COMP_WORDS=(cloture jour); COMP_CWORD=1; _cloture cloture jour cloture; echo "${COMPREPLY[@]}""#;
    let programs = Path::new(PROGRAM).parent().unwrap().display();
    let path = format!("{programs}:{}", std::env::var("PATH").unwrap());
    match Command::new("bash").args(["-c", script]).env("PATH", path).output() {
        Ok(output) => assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "journal"),
        Err(_) => println!("SKIPPED: there is no bash here"),
    }
}

#[test]
fn the_program_and_every_command_have_a_manual_page() {
    let output = cloture(&["man"]);
    let page = String::from_utf8(output.stdout).unwrap();
    assert!(page.contains(".TH cloture 1") && page.contains("inside bounds that are proved"), "{page}");
    let folder = tempfile::tempdir().unwrap();
    let output = cloture(&["man", "--into", folder.path().to_str().unwrap()]);
    assert!(output.status.success());
    for command in commands() {
        let page = folder.path().join(format!("cloture-{command}.1"));
        assert!(std::fs::read_to_string(&page).unwrap().contains(".SH SYNOPSIS"), "{}", page.display());
    }
    let missing = folder.path().join("missing");
    let output = cloture(&["man", "--into", missing.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write the manual pages into"));
}

#[test]
fn the_gh_extension_runs_the_program_or_says_how_to_install_it() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/gh-cloture");
    let programs = Path::new(PROGRAM).parent().unwrap().display();
    let run = |path: &str| {
        Command::new("/bin/sh").arg(&script).arg("--version").env("PATH", path).output().unwrap()
    };
    let found = run(&format!("{programs}:/usr/bin:/bin"));
    assert_eq!(
        String::from_utf8_lossy(&found.stdout).trim(),
        format!("cloture {}", env!("CARGO_PKG_VERSION"))
    );
    let empty = tempfile::tempdir().unwrap();
    let missing = run(empty.path().to_str().unwrap());
    assert_eq!(missing.status.code(), Some(127));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("cargo install"));
}

/// CI uses the oldest promised toolchain, so every build there checks the promise.
#[test]
fn the_promised_toolchain_is_the_tested_one() {
    let manifest = include_str!("../../Cargo.toml");
    let promised = manifest.lines().find_map(|line| line.strip_prefix("rust-version = \"")).unwrap();
    let promised = promised.trim_end_matches('"');
    assert!(include_str!("../../README.md").contains(promised), "the README names it");
    let version =
        Command::new(std::env::var("RUSTC").unwrap_or("rustc".to_owned())).arg("--version").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    if !version.starts_with(&format!("rustc {promised}")) {
        println!("SKIPPED: this is {}, not the promised {promised}", version.trim());
    }
}
