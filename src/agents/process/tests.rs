use super::*;
use gone::assert_gone;

const LIMITS: ProgramLimits = ProgramLimits { time: Duration::from_secs(20), output: 1000, log: 100 };

async fn sh(script: &str, stdin: &[u8], limits: ProgramLimits) -> FinishedProgram {
    sh_in(script, stdin, limits, &Environment::ordinary()).await
}

async fn sh_in(
    script: &str,
    stdin: &[u8],
    limits: ProgramLimits,
    environment: &Environment,
) -> FinishedProgram {
    let arguments = ["-c".into(), script.into()];
    let job = ProgramRun {
        program: OsStr::new("sh"),
        arguments: &arguments,
        directory: None,
        environment,
        stdin,
        limits,
    };
    run(&job).await.unwrap()
}

#[path = "../../../tests/it/support/gone.rs"]
mod gone;

#[tokio::test]
async fn input_and_output_arrive_whole() {
    let finished = sh("cat; echo log >&2", &[b'x'; 900], LIMITS).await;
    assert_eq!(finished.ending, ProgramEnding::Succeeded);
    assert_eq!(finished.output, vec![b'x'; 900]);
    assert_eq!(finished.log, "log\n");
}

#[tokio::test]
async fn a_program_that_does_not_read_its_input_is_not_waited_for() {
    let finished = sh("exec echo done", &vec![b'x'; 10_000_000], LIMITS).await;
    assert_eq!(
        (finished.ending, finished.output.as_slice()),
        (ProgramEnding::Succeeded, b"done\n".as_slice())
    );
}

#[tokio::test]
async fn every_way_to_end_is_reported() {
    assert_eq!(sh("exit 3", b"", LIMITS).await.ending, ProgramEnding::Failed(3));
    assert_eq!(sh("kill -9 $$", b"", LIMITS).await.ending, ProgramEnding::Killed(Some(9)));
    let endless = sh("while :; do echo yes; done", b"", LIMITS).await;
    assert_eq!((endless.ending, endless.output.len()), (ProgramEnding::TooMuch, 1000));
    let limits = ProgramLimits { time: Duration::from_millis(200), ..LIMITS };
    let slow = sh("exec sleep 60", b"", limits).await;
    assert_eq!(slow.ending, ProgramEnding::TooSlow);
    let stubborn = sh("trap '' TERM; echo begun; sleep 60; sleep 60", b"", limits).await;
    assert_eq!(stubborn.ending, ProgramEnding::TooSlow);
}

#[tokio::test]
async fn a_missing_program_is_named() {
    let arguments = [];
    let job = ProgramRun {
        program: OsStr::new("/nowhere/cloture-none"),
        arguments: &arguments,
        directory: None,
        environment: &Environment::ordinary(),
        stdin: b"",
        limits: LIMITS,
    };
    let refused = run(&job).await.unwrap_err().to_string();
    assert!(refused.starts_with("`cloture-none` could not be started: "), "{refused}");
}

#[tokio::test]
async fn a_child_that_outlives_the_program_is_ended_at_once() {
    let finished = sh("sleep 600 & echo $!", b"", LIMITS).await;
    assert_eq!(finished.ending, ProgramEnding::Succeeded);
    let pid = String::from_utf8(finished.output).unwrap();
    assert_gone(&pid).await;
}

#[tokio::test]
async fn the_time_limit_ends_the_whole_group() {
    // On a slow machine the program may print nothing in time; then it gets more time.
    let mut time = Duration::from_millis(200);
    let pids = loop {
        let finished = sh("sleep 600 & echo $!; echo $$; wait", b"", ProgramLimits { time, ..LIMITS }).await;
        assert_eq!(finished.ending, ProgramEnding::TooSlow);
        let pids = String::from_utf8(finished.output).unwrap();
        if pids.lines().count() == 2 {
            break pids;
        }
        time *= 2;
    };
    for pid in pids.lines() {
        assert_gone(pid).await;
    }
}

#[tokio::test]
async fn dropping_the_future_ends_the_group() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("pid");
    let script = format!("sleep 600 & echo $! > '{0}.new'; mv '{0}.new' '{0}'; wait", place.display());
    let (arguments, environment) = (["-c".into(), script.into()], Environment::ordinary());
    let job = ProgramRun {
        program: OsStr::new("sh"),
        arguments: &arguments,
        directory: None,
        environment: &environment,
        stdin: b"",
        limits: LIMITS,
    };
    let begun = async {
        while !place.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        finished = run(&job) => panic!("{finished:?}"),
        () = begun => {}
    }
    let pid = std::fs::read_to_string(&place).unwrap();
    assert_gone(&pid).await;
}

#[tokio::test]
async fn only_the_end_of_the_log_is_kept() {
    let finished = sh("for i in $(seq 1000); do echo line $i >&2; done", b"", LIMITS).await;
    assert!(
        finished.log.starts_with("…\nline 9") && finished.log.ends_with("line 1000\n"),
        "{}",
        finished.log
    );
    assert!(finished.log.len() <= 104);
}

#[tokio::test]
async fn s2_a_program_gets_only_ordinary_and_named_variables() {
    // Cargo sets this variable for every test.
    const OTHER: &str = "CARGO_MANIFEST_DIR";
    let limits = ProgramLimits { output: 100_000, ..LIMITS };
    let plain = sh("env", b"", limits).await;
    let plain = String::from_utf8(plain.output).unwrap();
    assert!(plain.contains("PATH=") && !plain.contains("CARGO"), "{plain}");
    let environment = Environment::ordinary().passing([OTHER]).with("TERM", "set");
    let named = sh_in("env", b"", limits, &environment).await;
    let named = String::from_utf8(named.output).unwrap();
    assert!(named.contains(&format!("{OTHER}=")) && named.contains("TERM=set"), "{named}");
}
