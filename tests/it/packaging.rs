//! What a package is made of: completions, manual pages, the extension of gh, and the toolchain that is promised to do.
#![cfg(unix)]
#![allow(clippy::print_stdout, reason = "what is skipped is told")]

use clap::CommandFactory;
use cloture::cli::Cli;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_cloture");

fn cloture(arguments: &[&str]) -> Output {
    Command::new(PROGRAM).args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// The commands that people are told about.
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
    // The one shell that is everywhere reads its script, and completes with it.
    let script = r#"eval "$(cloture completions bash)"; COMP_WORDS=(cloture jour); COMP_CWORD=1; _cloture cloture jour cloture; echo "${COMPREPLY[@]}""#;
    let programs = Path::new(PROGRAM).parent().unwrap().display();
    let path = format!("{programs}:{}", std::env::var("PATH").unwrap());
    match Command::new("bash").args(["-c", script]).env("PATH", path).output() {
        Ok(output) => assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "journal"),
        Err(_) => println!("SKIPPED: there is no bash here"),
    }
}

#[test]
fn there_is_a_manual_page_for_the_program_and_for_every_command() {
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
fn gh_runs_the_program_and_says_what_to_do_where_there_is_none() {
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

/// The oldest toolchain that is promised is the one that CI has, so that every build there checks the promise.
#[test]
fn the_toolchain_that_is_promised_is_the_one_that_is_tested() {
    let manifest = include_str!("../../Cargo.toml");
    let promised = manifest.lines().find_map(|line| line.strip_prefix("rust-version = \"")).unwrap();
    let promised = promised.trim_end_matches('"');
    assert!(include_str!("../../README.md").contains(promised), "the README names it");
    let version =
        Command::new(std::env::var("RUSTC").unwrap_or("rustc".to_owned())).arg("--version").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    if !version.starts_with(&format!("rustc {promised}")) {
        println!("SKIPPED: this is {}, and {promised} is promised to do", version.trim());
    }
}
