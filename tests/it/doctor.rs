//! `cloture doctor` and `cloture simulator`, run as programs.

use crate::support::program::{finish, program, run, start};
use cloture::simulator::{Fault, FaultKind};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};

#[tokio::test]
async fn with_everything_in_order_every_line_passes() {
    let simulator = start("converges").await;
    simulator.advance(Duration::from_mins(2));
    let run = run(&simulator.url(), &["doctor", "acme/shop#7"]).await;
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
    let (checks, bug_report) = run.out.split_once("\n\n").unwrap();
    assert!(checks.lines().all(|line| line.starts_with("✓ ")), "{}", run.out);
    for part in ["To report a bug", "CLOTURE_LOG=debug", "--log FILE", "Attach FILE and\nthis output"] {
        assert!(bug_report.contains(part), "{part}: {bug_report}");
    }
    assert!(!bug_report.contains("is logged in"), "{bug_report}");
    for part in [
        "configuration: no file",
        "state folder: ",
        "token: found in GH_TOKEN",
        "identity: dana on http://127.0.0.1:",
        "acme/shop: permission admin, enough to watch and to drive",
        "acme/shop#7: reviewers recognised: coderabbit",
        " points spent now, ",
        " an hour at one poll every 60 s",
    ] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
}

#[tokio::test]
async fn a_missing_permission_is_named_with_a_way_out() {
    let simulator = start("nulls").await;
    let home = tempfile::tempdir().unwrap();
    let mut outsider = program(home.path(), &["--api-url", &simulator.url(), "doctor", "acme/shop#3"]);
    outsider.env("GH_TOKEN", "outsider");
    let run = finish(outsider).await;
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.out.contains("✗ acme/shop: permission read, enough to watch; "), "{}", run.out);
    assert!(run.out.contains(" — ask an administrator for the write role, or only watch"), "{}", run.out);
    assert!(run.err.contains("one thing needs fixing"), "{}", run.err);
}

#[tokio::test]
async fn a_bad_token_and_an_unreachable_forge_have_their_own_codes() {
    let simulator = start("converges").await;
    simulator.inject(Fault::always("*", FaultKind::Unauthorized));
    let refused = run(&simulator.url(), &["doctor", "acme/shop#7"]).await;
    assert_eq!(refused.code, 4, "{refused:?}");
    assert!(refused.out.contains("✗ identity: "), "{}", refused.out);

    let home = tempfile::tempdir().unwrap();
    let mut nobody = program(home.path(), &["--api-url", &simulator.url(), "doctor"]);
    nobody.env_remove("GH_TOKEN");
    let nobody = finish(nobody).await;
    assert_eq!(nobody.code, 4, "{nobody:?}");
    assert!(nobody.out.contains("✗ token: no token for 127.0.0.1 was found: set GH_TOKEN"), "{}", nobody.out);

    let unreachable = run("http://127.0.0.1:1", &["doctor", "acme/shop#7"]).await;
    assert_eq!(unreachable.code, 5, "{unreachable:?}");
}

#[tokio::test]
async fn the_simulator_runs_alone_and_prints_its_address() {
    let home = tempfile::tempdir().unwrap();
    let unknown = finish(program(home.path(), &["simulator", "--scenario", "nonsense"])).await;
    assert_eq!(unknown.code, 2, "{unknown:?}");
    assert!(
        unknown.err.contains("there is no scenario `nonsense`; the built-in scenarios are: alternates, big"),
        "{}",
        unknown.err
    );

    let mut command = program(home.path(), &["simulator", "--scenario", "converges", "--speed", "1000"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let url = loop {
        let line = lines.next_line().await.unwrap().unwrap();
        if let Some((_, rest)) = line.split_once(" runs at ") {
            break rest.split(' ').next().unwrap().to_owned();
        }
    };
    let run = run(&url, &["status", "--json", "acme/shop#7"]).await;
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(run.json()["pull_requests"][0]["number"], 7);
    child.kill().await.unwrap();
}

#[tokio::test]
async fn doctor_says_where_it_logs() {
    let simulator = start("converges").await;
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("bug.log");
    let log = log.to_str().unwrap();
    let arguments = ["--api-url", &simulator.url(), "--log", log, "doctor", "acme/shop#7"];
    let run = finish(program(home.path(), &arguments)).await;
    assert!(run.out.contains(&format!("\n\nThis run is logged in {log}.\nTo report a bug")), "{}", run.out);
}
