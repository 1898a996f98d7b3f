//! Tasks for local programs; the tests use scripts.

use super::{DeliveryOutcome, document, prepared, send};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Runs a script as the target. The script goes into a file, which avoids double quoting.
async fn run(folder: &TempDir, script: &str, more: &str) -> DeliveryOutcome {
    let path = folder.path().join("agent.sh");
    fs::write(&path, script).unwrap();
    let command = format!("kind = 'command'\ncommand = ['sh', '{}', 'a b', '$HOME']\n{more}", path.display());
    send(&prepared(&document(), &command), &|_| None).await
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

#[tokio::test]
async fn s2_a_program_gets_the_task_its_key_and_only_named_variables() {
    let folder = tempfile::tempdir().unwrap();
    let script = "cat > task.json; printf '%s|' \"$@\" > arguments; env > variables";
    let directory = format!("directory = '{}'\nenv = ['CARGO_PKG_NAME']", folder.path().display());
    assert_eq!(run(&folder, script, &directory).await, DeliveryOutcome::Taken { url: None });
    assert_eq!(read(folder.path(), "task.json"), format!("{}\n", document().to_json().unwrap()));
    assert_eq!(read(folder.path(), "arguments"), "a b|$HOME|", "no shell reads the arguments");
    let variables = read(folder.path(), "variables");
    assert!(variables.contains(&format!("CLOTURE_TASK_KEY={}\n", document().key)), "{variables}");
    // Cargo sets both for every test; the configuration names one.
    assert!(
        variables.contains("CARGO_PKG_NAME=") && !variables.contains("CARGO_MANIFEST_DIR"),
        "{variables}"
    );
}

#[tokio::test]
async fn the_exit_status_says_whether_the_program_took_the_task() {
    let folder = tempfile::tempdir().unwrap();
    for script in ["exit 0", "cat > /dev/null; echo working; exit 0"] {
        assert_eq!(run(&folder, script, "").await, DeliveryOutcome::Taken { url: None }, "{script}");
    }
    let refused = run(&folder, "echo 'no such \u{1b}[2Jmodel' >&2; exit 3", "").await;
    let reason = "the program exited with status 3 instead of 0 (no such [2Jmodel)".to_owned();
    assert_eq!(refused, DeliveryOutcome::Refused(reason));
    for script in ["kill -9 $$", "exit 137"] {
        let unknown = run(&folder, script, "").await;
        assert!(
            matches!(unknown, DeliveryOutcome::Unknown(_)),
            "the program may have taken the task: {script}: {unknown:?}"
        );
    }
}

#[tokio::test]
async fn a_program_that_is_too_slow_may_have_the_task() {
    let folder = tempfile::tempdir().unwrap();
    let slow = run(&folder, "exec sleep 600", "timeout = 1").await;
    let reason = "the program gave no answer within 1s, and Cloture ended it".to_owned();
    assert_eq!(slow, DeliveryOutcome::Unknown(reason));
}

#[tokio::test]
async fn a_missing_program_refuses_the_task() {
    let task = prepared(&document(), "kind = 'command'\ncommand = ['/nowhere/agent']");
    let outcome = send(&task, &|_| None).await;
    assert!(
        matches!(&outcome, DeliveryOutcome::Refused(reason) if reason.starts_with("`agent` could not be started")),
        "{outcome:?}"
    );
}
