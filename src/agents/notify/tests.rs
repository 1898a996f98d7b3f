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

/// A program that writes its arguments, one a line, and its input to a file.
fn program(folder: &Path, name: &str) {
    let path = folder.join(name);
    let script = format!(
        "#!/bin/sh\nfor word; do echo \"$word\"; done > '{0}.received'\ncat >> '{0}.received'\n",
        path.display()
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
}

fn received(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(format!("{name}.received"))).unwrap()
}

/// A `PATH` with this folder and the system's tools, which are no notification programs.
fn environment(folder: &Path) -> Environment {
    Environment::ordinary().with("PATH", format!("{}:/bin", folder.display()))
}

#[test]
fn the_setting_and_the_severity_decide_whether_to_notify() {
    let notifies =
        |when, severity| should_notify(&NotificationConfig { when, how: NotifyHow::Bell }, severity);
    assert!(
        !notifies(NotifyWhen::Never, Some(Severity::Critical))
            && notifies(NotifyWhen::Always, Some(Severity::Nit))
    );
    let least = NotifyWhen::AtLeast(Severity::High);
    assert!(notifies(least, Some(Severity::High)) && notifies(least, Some(Severity::Critical)));
    assert!(
        !notifies(least, Some(Severity::Medium)) && notifies(least, None),
        "an unknown severity may be high"
    );
    assert!(!should_notify(&NotificationConfig::default(), None));
}

#[tokio::test]
async fn a_terminal_gets_no_control_characters_from_the_text() {
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
async fn the_first_installed_program_notifies_the_desktop() {
    let folder = tempfile::tempdir().unwrap();
    let environment = environment(folder.path());
    assert_eq!(desktop(&notice(), &environment).await, Err(NotifyError::NoDesktop));

    program(folder.path(), "osascript");
    desktop(&notice(), &environment).await.unwrap();
    let mac = received(folder.path(), "osascript");
    assert!(
        mac.ends_with(
            "\nend run\nCloture: acme/shop#7\nSQL ]0;owned <b>& injection: escalated by the reviewer\n"
        ),
        "{mac}"
    );

    program(folder.path(), "notify-send");
    desktop(&notice(), &environment).await.unwrap();
    assert_eq!(
        received(folder.path(), "notify-send"),
        "--app-name=cloture\n--\nCloture: acme/shop#7\nSQL ]0;owned &lt;b&gt;&amp; injection: escalated by the reviewer\n"
    );
}

#[tokio::test]
async fn a_command_gets_the_notification_as_json() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path(), "tell");
    let path = folder.path().join("tell").display().to_string();
    let printed = notify(&NotifyHow::Command(vec![path, "an argument".to_owned()]), &notice()).await.unwrap();
    assert!(printed.is_empty());
    let received = received(folder.path(), "tell");
    let (argument, json) = received.split_once('\n').unwrap();
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
