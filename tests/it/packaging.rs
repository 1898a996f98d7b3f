//! The parts of a package: completions, manual pages, the extension of `gh`, and the oldest toolchain that
//! builds it.
#![cfg(unix)]

use clap::CommandFactory;
use cloture::cli::Cli;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_cloture");

fn cloture(arguments: &[&str]) -> Output {
    Command::new(PROGRAM).args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// The commands that `--help` lists.
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
}

#[test]
#[cfg_attr(not(has_bash), ignore = "needs bash")]
fn bash_completes_a_command_with_its_script() {
    let script = r#"eval "$(cloture completions bash)"; COMP_WORDS=(cloture jour); COMP_CWORD=1; _cloture cloture jour cloture; echo "${COMPREPLY[@]}""#;
    let programs = Path::new(PROGRAM).parent().unwrap().display();
    let path = format!("{programs}:{}", std::env::var("PATH").unwrap());
    let output = Command::new("bash").args(["-c", script]).env("PATH", path).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "journal");
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

#[test]
fn the_readme_names_the_oldest_toolchain_of_the_manifest() {
    let manifest = include_str!("../../Cargo.toml");
    let oldest = manifest.lines().find_map(|line| line.strip_prefix("rust-version = \"")).unwrap();
    assert!(include_str!("../../README.md").contains(oldest.trim_end_matches('"')));
}
