//! Files that never end, files that are too large, and a journal that cannot be written. A folder may hold what
//! somebody else put there.
#![cfg(unix)]

use crate::support::folder;
use crate::support::program::{Run, TOKEN, finish, program};
use crate::support::verbs;
use cloture::journal::{Journal, JournalAddress, JournalOptions, NewRecord};
use jiff::Timestamp;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// Runs the program with a limit on its memory: one that reads without an end fails there instead of taking the
/// machine's memory.
async fn run(home: &Path, arguments: &[&str]) -> Run {
    let mut command = tokio::process::Command::new("sh");
    let script = "ulimit -v 4194304; exec timeout 20 \"$0\" \"$@\"";
    let program = program(home, arguments);
    let program = program.as_std();
    command.args(["-c", script]).arg(program.get_program()).args(program.get_args());
    command.env_clear().current_dir(home).stdin(Stdio::null()).kill_on_drop(true);
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    // A token in the environment would come before the one in a file.
    if arguments.iter().any(|argument| argument.ends_with("token.toml")) {
        command.env_remove("GH_TOKEN");
    }
    finish(command).await
}

fn make_pipe(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[tokio::test]
async fn a_checkout_whose_files_never_end_is_no_checkout() {
    let kinds = [(".git/HEAD", "zero"), (".git/HEAD", "pipe"), (".git", "zero"), (".git", "pipe")];
    for (name, kind) in kinds {
        let home = folder::temporary();
        if name == ".git/HEAD" {
            std::fs::create_dir(home.path().join(".git")).unwrap();
            std::fs::create_dir(home.path().join(".git/objects")).unwrap();
            std::fs::create_dir(home.path().join(".git/refs")).unwrap();
        }
        match kind {
            "zero" => symlink("/dev/zero", home.path().join(name)).unwrap(),
            // Opening a pipe waits for somebody who writes to it.
            _ => make_pipe(&home.path().join(name)),
        }
        let run = run(home.path(), &["--api-url", "http://127.0.0.1:9", "status"]).await;
        assert_eq!(run.code, 2, "{name} {kind}: {run:?}");
        assert!(run.err.contains("this folder is not a git checkout"), "{name} {kind}: {run:?}");
    }
}

#[tokio::test]
async fn a_file_that_never_ends_is_refused_with_a_sentence() {
    let home = folder::temporary();
    let path = |name: &str| home.path().join(name).display().to_string();
    let prompt = "[[reviewers]]\nname = 'lime'\nkind = 'claude'\nprompt_file = '/dev/zero'\n";
    std::fs::write(path("prompt.toml"), prompt).unwrap();
    std::fs::write(path("token.toml"), format!("[github]\ntoken_file = '{}'\n", path("token"))).unwrap();
    std::fs::write(path("token"), "x".repeat(5000)).unwrap();
    std::fs::set_permissions(path("token"), std::fs::Permissions::from_mode(0o600)).unwrap();
    let simulator = verbs::start().await;
    let url = simulator.url();
    let (prompt, token) = (path("prompt.toml"), path("token.toml"));
    let cases: [(&[&str], i32, &str); 5] = [
        (&["--config", "/dev/zero", "bound"], 3, "larger than 4 MiB"),
        (&["simulate", "/dev/zero"], 2, "larger than 64 MiB"),
        (&["simulator", "--scenario", "/dev/zero"], 2, "larger than 64 MiB"),
        (&["--config", &token, "--api-url", &url, "status", "acme/shop#1"], 4, "larger than 4 KiB"),
        (
            &["--config", &prompt, "--api-url", &url, "review", "--reviewer", "lime", "acme/shop#1"],
            2,
            "larger than 4 MiB",
        ),
    ];
    for (arguments, code, words) in cases {
        let run = run(home.path(), arguments).await;
        assert!(run.code == code && run.err.contains(words), "{arguments:?}: {run:?}");
    }
}

/// A link to a device or a pipe in place of the journal is refused, and the device keeps its permissions: root would
/// take `/dev/null` from everybody else.
#[tokio::test]
async fn a_journal_that_is_no_file_is_refused() {
    let home = folder::temporary();
    let state = home.path().join("state");
    std::fs::create_dir(&state).unwrap();
    let pipe = home.path().join("pipe");
    make_pipe(&pipe);
    std::fs::set_permissions(&pipe, std::fs::Permissions::from_mode(0o666)).unwrap();
    symlink(&pipe, state.join(JournalAddress::FILE_NAME)).unwrap();
    let run = run(home.path(), &["--state-dir", "state", "journal"]).await;
    assert_eq!(run.code, 74, "{run:?}");
    assert!(run.err.contains("not a regular file"), "{run:?}");
    assert_eq!(std::fs::metadata(&pipe).unwrap().permissions().mode() & 0o777, 0o666);
}

/// The file system refuses to make the journal's log longer, as a full disk does. Each command that records
/// something says so before it does anything else.
#[tokio::test]
async fn a_journal_that_cannot_grow_is_reported_at_once() {
    let home = folder::temporary();
    let state = home.path().join("state");
    let address = JournalAddress::file(state.join(JournalAddress::FILE_NAME));
    // While this journal is open, its long log stays, and every write makes it longer.
    let journal = Journal::open(&address, JournalOptions::new(Timestamp::UNIX_EPOCH)).await.unwrap().journal;
    let long = "x".repeat(200_000);
    journal.append_one(NewRecord::new("note", "dana").with_reason(long)).await.unwrap();
    let simulator = verbs::start().await;
    let url = simulator.url();
    let commands: [&[&str]; 4] = [
        &["watch", "acme/shop#1"],
        &["act", "acme/shop#1", "src/a.rs:1", "dismiss", "--reason", "no", "--yes"],
        &["queue", "add", "acme/shop#1", "src/a.rs:1", "--yes"],
        &["inbox", "--fresh", "acme/shop#1"],
    ];
    for command in commands {
        let mut limited = tokio::process::Command::new("sh");
        let program = program(home.path(), &[&["--api-url", &url, "--state-dir", "state"], command].concat());
        let program = program.as_std();
        // The limit counts blocks of 512 bytes: 64 KiB. A write beyond it fails instead of ending the process.
        limited.args(["-c", "trap '' XFSZ; ulimit -f 128; exec \"$0\" \"$@\""]);
        limited.arg(program.get_program()).args(program.get_args()).env_clear().current_dir(home.path());
        limited.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        limited.stdin(Stdio::null()).kill_on_drop(true);
        let run =
            tokio::time::timeout(Duration::from_secs(60), finish(limited)).await.expect("it ends at once");
        assert_eq!(run.code, 74, "{command:?}: {run:?}");
        assert!(run.err.contains("the journal at "), "{command:?}: {run:?}");
        assert!(!run.err.contains(TOKEN));
    }
    assert_eq!(simulator.post_count(), 0, "nothing was sent");
    journal.close().await.unwrap();
}
