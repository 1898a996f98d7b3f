//! A journal that fails for good: the supervisor counts the polls without it, and `watch` ends.

use super::journal::{Disk, PAGES};
use super::trouble::Trouble;
use crate::support::harness::{DRIVEN, Place, SEVEN, Settings};
use crate::support::program;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};

#[tokio::test]
async fn polls_without_the_journal_are_counted_until_it_works_again() {
    let place = Place::new().await;
    let config = format!("[policy]\nmax_attempts = 3\n{DRIVEN}");
    let settings = Settings { page_limit: Some(PAGES), ..Settings::default() };
    let run = place.run_as("one", &config, &[SEVEN], settings).await;
    assert_eq!(run.view().journal_failure, None);
    let mut disk = Disk::of(place.journal.path().unwrap());
    disk.strike(Trouble::DiskFull, Some(&run.journal)).await;
    // An attempt changes a row in place, but the end needs a new record.
    run.tick().await;
    for polls in 1..=5 {
        run.tick().await;
        let view = run.view();
        let failure = view.journal_failure.as_ref().unwrap();
        assert_eq!(failure.polls, polls, "{failure:?}");
        assert!(failure.why.contains("the disk or its quota is full"), "{failure:?}");
        assert_eq!(view.review_loop.attempt(), 2, "a turn that cannot be recorded did not happen");
    }
    // The terminal goes on, and so does the loop once there is room.
    disk.end(Trouble::DiskFull).await;
    run.tick().await;
    assert_eq!((run.view().journal_failure.as_ref(), run.exit().as_deref()), (None, Some("timeout")));
    run.stop().await;
}

/// The journal is destroyed under a running `watch`.
async fn watch_without_journal(arguments: &[&str]) -> (Option<i32>, String) {
    let place = Place::new().await;
    let config = "[policy]\npoll_interval = '1s'\nmax_attempts = 3\n\
                  [[repositories]]\nname = 'acme/shop'\nreviewers = ['coderabbit']\n";
    std::fs::write(place.path("config.toml"), config).unwrap();
    let (config, state) = (place.path("config.toml"), place.path("state"));
    let options = [
        "--api-url",
        &place.simulator.url(),
        "--config",
        config.to_str().unwrap(),
        "--state-dir",
        state.to_str().unwrap(),
        "watch",
        SEVEN,
    ];
    let mut command = program::program(place.folder.path(), &[&options, arguments].concat());
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut told = String::new();
    while !told.contains("waiting for: coderabbit") && !told.contains("\"missing\":[\"coderabbit\"]") {
        assert!(lines.read_line(&mut told).await.unwrap() > 0, "{told}");
    }
    Disk::of(place.journal.path().unwrap()).strike(Trouble::JournalDamaged, None).await;
    let ended = async {
        lines.read_to_string(&mut told).await.unwrap();
        child.wait().await.unwrap()
    };
    let ended = tokio::time::timeout(std::time::Duration::from_mins(2), ended).await;
    let code = ended.ok().and_then(|status| status.code());
    (code, told)
}

#[tokio::test]
async fn watch_ends_when_its_journal_fails_for_good() {
    let (code, told) = watch_without_journal(&[]).await;
    assert_eq!(code, Some(74), "{told}");
    let last = told.lines().last().unwrap();
    assert!(last.starts_with("the journal failed at 3 polls in a row, so nothing was done: "), "{told}");
    assert!(last.contains("is damaged"), "{told}");
    assert!(
        last.ends_with("repair the journal, and run the same command again: it goes on from there"),
        "{told}"
    );
}

#[tokio::test]
async fn watch_tells_scripts_that_its_journal_failed() {
    let (code, told) = watch_without_journal(&["--json"]).await;
    assert_eq!(code, Some(74), "{told}");
    let last: serde_json::Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
    assert_eq!((last["event"].as_str(), last["exit"].as_str()), (Some("exit"), Some("failed")));
    assert_eq!(last["code"], 74);
}
