#![cfg(unix)]

use super::*;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn notice() -> Notification {
    Notification {
        notification: VERSION,
        pull_request: "acme/shop#7".to_owned(),
        title: "SQL \u{1b}]0;owned\u{7} <b>& injection\u{202e}".to_owned(),
        reason: "escalated\nby the reviewer".to_owned(),
        severity: Some(Severity::High),
        url: None,
    }
}

/// A program that writes its arguments and its input, a line each, to a file of its name.
fn program(folder: &Path, name: &str) {
    let path = folder.join(name);
    let script = format!(
        "#!/bin/sh\nfor word; do echo \"$word\"; done > '{0}.said'\ncat >> '{0}.said'\n",
        path.display()
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
}

fn said(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(format!("{name}.said"))).unwrap()
}

/// Only the programs in this folder and the system's own tools, which never are a desktop's.
fn environment(folder: &Path) -> Environment {
    Environment::ordinary().with("PATH", format!("{}:/bin", folder.display()))
}

#[test]
fn whom_to_tell_of_what() {
    let told = |when, severity| should_notify(&NotificationConfig { when, how: NotifyHow::Bell }, severity);
    assert!(
        !told(NotifyWhen::Never, Some(Severity::Critical)) && told(NotifyWhen::Always, Some(Severity::Nit))
    );
    let least = NotifyWhen::AtLeast(Severity::High);
    assert!(told(least, Some(Severity::High)) && told(least, Some(Severity::Critical)));
    assert!(!told(least, Some(Severity::Medium)) && told(least, None), "unknown is not low");
    assert!(!should_notify(&NotificationConfig::default(), None));
}

#[tokio::test]
async fn a_terminal_gets_nothing_but_what_was_meant() {
    assert_eq!(notify(&NotifyHow::Bell, &notice()).await.unwrap(), b"\x07");
    let bytes = notify(&NotifyHow::Osc9, &notice()).await.unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert_eq!(
        text,
        "\u{1b}]9;Cloture: acme/shop#7: SQL ]0;owned <b>& injection: escalated by the reviewer\u{7}"
    );
    let endless = Notification { title: "x".repeat(100_000), ..notice() };
    assert!(notify(&NotifyHow::Osc9, &endless).await.unwrap().len() < 1000);
}

#[tokio::test]
async fn the_desktop_is_told_by_whichever_program_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let environment = environment(folder.path());
    assert_eq!(desktop(&notice(), &environment).await, Err(NotifyError::NoDesktop));

    program(folder.path(), "osascript");
    desktop(&notice(), &environment).await.unwrap();
    let mac = said(folder.path(), "osascript");
    assert!(
        mac.ends_with(
            "\nend run\nCloture: acme/shop#7\nSQL ]0;owned <b>& injection: escalated by the reviewer\n"
        ),
        "{mac}"
    );

    program(folder.path(), "notify-send");
    desktop(&notice(), &environment).await.unwrap();
    assert_eq!(
        said(folder.path(), "notify-send"),
        "--app-name=cloture\n--\nCloture: acme/shop#7\nSQL ]0;owned &lt;b&gt;&amp; injection: escalated by the reviewer\n"
    );
}

#[tokio::test]
async fn a_command_gets_all_of_it_as_json() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path(), "tell");
    let path = folder.path().join("tell").display().to_string();
    let printed = notify(&NotifyHow::Command(vec![path, "an argument".to_owned()]), &notice()).await.unwrap();
    assert!(printed.is_empty());
    let said = said(folder.path(), "tell");
    let (argument, json) = said.split_once('\n').unwrap();
    assert_eq!(argument, "an argument");
    assert!(!json.trim_end().chars().any(sanitize::is_hostile), "{json}");
    let json: serde_json::Value = serde_json::from_str(json).unwrap();
    let expected = serde_json::json!({
        "notification": 1, "pull_request": "acme/shop#7", "title": notice().title, "reason": notice().reason,
        "severity": "high", "url": null,
    });
    assert_eq!(json, expected);
}

#[tokio::test]
async fn a_command_that_fails_is_named() {
    let failing = notify(&NotifyHow::Command(vec!["false".to_owned()]), &notice()).await.unwrap_err();
    assert_eq!(failing.to_string(), "no notification was shown: `false` failed with status 1");
    let missing = notify(&NotifyHow::Command(vec!["/nowhere/none".to_owned()]), &notice()).await.unwrap_err();
    assert!(
        missing.to_string().starts_with("no notification was shown: `none` could not be started"),
        "{missing}"
    );
}
