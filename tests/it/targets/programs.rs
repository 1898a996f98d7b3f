//! Tasks for local programs, which here are scripts.

use super::{DeliveryOutcome, document, prepared, send};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// What a script says of a task. Its text ends up in a file, so that nothing has to be quoted twice.
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
async fn a_program_gets_the_task_its_key_and_nothing_that_was_not_named() {
    let folder = tempfile::tempdir().unwrap();
    let script = "cat > task.json; printf '%s|' \"$@\" > arguments; env > variables";
    let directory = format!("directory = '{}'\nenv = ['CARGO_PKG_NAME']", folder.path().display());
    assert_eq!(run(&folder, script, &directory).await, DeliveryOutcome::Taken { url: None });
    assert_eq!(read(folder.path(), "task.json"), format!("{}\n", document().to_json().unwrap()));
    assert_eq!(read(folder.path(), "arguments"), "a b|$HOME|", "no shell takes part");
    let variables = read(folder.path(), "variables");
    assert!(variables.contains(&format!("CLOTURE_TASK_KEY={}\n", document().key)), "{variables}");
    // Cargo sets both for every test; one was named.
    assert!(
        variables.contains("CARGO_PKG_NAME=") && !variables.contains("CARGO_MANIFEST_DIR"),
        "{variables}"
    );
}

#[tokio::test]
async fn a_status_says_whether_the_program_has_the_task() {
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
            "how far it came is not known: {script}: {unknown:?}"
        );
    }
}

#[tokio::test]
async fn a_program_that_takes_too_long_may_have_the_task() {
    let folder = tempfile::tempdir().unwrap();
    let slow = run(&folder, "exec sleep 600", "timeout = 1").await;
    let reason = "the program gave no answer within 1s and was ended".to_owned();
    assert_eq!(slow, DeliveryOutcome::Unknown(reason));
}

#[tokio::test]
async fn a_program_that_is_not_there_has_nothing() {
    let task = prepared(&document(), "kind = 'command'\ncommand = ['/nowhere/agent']");
    let outcome = send(&task, &|_| None).await;
    assert!(
        matches!(&outcome, DeliveryOutcome::Refused(reason) if reason.starts_with("`agent` could not be started")),
        "{outcome:?}"
    );
}
