//! Notifications when a thread starts to wait for a person during `cloture watch`.

use super::world::World;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};

pub(crate) fn stub(world: &World, body: &str) -> String {
    let path = world.home.path().join("tell");
    std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

fn told(world: &World) -> Vec<Value> {
    let text = std::fs::read_to_string(world.home.path().join("told")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Watches while a person escalates one thread, until the notification was sent or has failed.
async fn watch_an_escalation(world: &World, until: impl Fn(&World, &[Value]) -> bool) -> Vec<Value> {
    let mut command = world.command(&["watch", "--json", "acme/shop#1"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut said: Vec<Value> = Vec::new();
    while !said.iter().any(|line: &Value| line["event"] == "progress" && line["attempt"] != 0) {
        let line = lines.next_line().await.unwrap().unwrap();
        said.push(serde_json::from_str(&line).unwrap());
    }
    world.done("src/a.rs:1", &["escalate", "--reason", "Look."]).await;
    while !until(world, &said) {
        if let Ok(line) = tokio::time::timeout(Duration::from_millis(100), lines.next_line()).await {
            said.push(serde_json::from_str(&line.unwrap().unwrap()).unwrap());
        }
    }
    child.kill().await.unwrap();
    said
}

fn configure(world: &World, command: &str) {
    world.configure(&format!(
        "[policy]\npoll_interval = '1s'\nmax_attempts = 1000\n[notifications]\nwhen = 'on'\nhow = 'command'\n\
         command = ['{command}']\n[[repositories]]\nname = 'acme/shop'\nreviewers = ['coderabbit', 'copilot']\n"
    ));
}

#[tokio::test]
async fn the_command_runs_once_for_a_new_thread_and_not_for_those_that_waited_before() {
    let world = World::new().await;
    let command = stub(&world, "cat >> \"$(dirname \"$0\")/told\"");
    configure(&world, &command);
    world.done("src/b.rs:1", &["escalate", "--reason", "Before."]).await;
    watch_an_escalation(&world, |world, _| !told(world).is_empty()).await;
    let told = told(&world);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((&told[0]["notification"], &told[0]["pull_request"]), (&1.into(), &"acme/shop#1".into()));
    assert_eq!(told[0]["reason"], "dana escalated it: Look.");
    assert!(told[0]["url"].as_str().unwrap().starts_with("https://"));
}

#[tokio::test]
async fn a_failing_command_is_reported_in_a_line_and_does_not_end_the_watch() {
    let world = World::new().await;
    let command = stub(&world, "exit 3");
    configure(&world, &command);
    let is_trouble = |line: &Value| {
        let message = line["message"].as_str().unwrap_or_default();
        line["event"] == "trouble" && message.contains("`tell` failed with status 3")
    };
    let said = watch_an_escalation(&world, |_, said| said.iter().any(is_trouble)).await;
    assert!(!said.iter().any(|line| line["event"] == "exit"), "{said:?}");
}
