//! U3: nothing is written unless the user agreed.

use crate::support::folder;
use crate::support::program::{TOKEN, run};
use crate::support::verbs::{all, changes, start};
use cloture::app::connection::ConnectionSettings;
use cloture::commands::act::{ActKind, ActRequest, Consent, PullRequestAct, act};
use cloture::config::Config;
use cloture::failure::FailureKind;
use cloture::reviewers::profiles::Profiles;

#[tokio::test]
async fn without_a_terminal_and_without_yes_no_request_is_sent_to_github() {
    let simulator = start().await;
    for verb in all() {
        let run = run(&simulator.url(), verb.command).await;
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{run:?}");
        assert!(
            run.err.contains("standard input is no terminal, so Cloture cannot ask you; pass --yes"),
            "{}",
            run.err
        );
    }
    assert_eq!(simulator.requests(), []);
}

#[tokio::test]
async fn read_only_refuses_every_verb_and_allows_a_rehearsal() {
    let simulator = start().await;
    for verb in all() {
        let refused = run(&simulator.url(), &[&["--read-only"], verb.command, &["--yes"]].concat()).await;
        assert_eq!((refused.code, refused.out.as_str()), (2, ""), "{refused:?}");
        assert!(refused.err.contains("nothing is written with --read-only"), "{}", refused.err);
    }
    assert_eq!(simulator.requests(), []);
    let rehearsed = run(&simulator.url(), &["pr", "acme/shop#1", "close", "--dry-run", "--read-only"]).await;
    assert_eq!(rehearsed.code, 0, "{rehearsed:?}");
    assert_eq!(changes(&simulator), [""; 0]);
}

#[tokio::test]
async fn a_no_writes_nothing_and_a_yes_writes() {
    let simulator = start().await;
    let (config, profiles) = (Config::default(), Profiles::built_in().unwrap());
    let url = simulator.url();
    let environment = |name: &str| (name == "GH_TOKEN").then(|| TOKEN.to_owned());
    let settings = ConnectionSettings {
        config: &config,
        api_url: Some(&url),
        environment: &environment,
        directory: std::path::Path::new("."),
        environment_of_programs: |_| None,
    };
    let verb = ActKind::PullRequest(PullRequestAct::Comment { body: "Hello.".to_owned() });
    let order = ActRequest { pull_request: "acme/shop#1".to_owned(), verb, key: None, head: None };
    let home = folder::temporary();
    let state = || Some(home.path().to_owned());
    let shown = "Comment with 6 characters on acme/shop#1, once.";

    let mut asked = Vec::new();
    let mut no = |sentences: &[String]| {
        asked.push(sentences.to_vec());
        Ok(false)
    };
    let refused = act(&order, &settings, &profiles, state(), Consent::Ask(&mut no)).await.unwrap_err();
    assert_eq!((refused.kind, refused.kind.exit_status().code()), (FailureKind::Stopped, 18));
    assert_eq!((asked, changes(&simulator)), (vec![vec![shown.to_owned()]], vec![]));

    let mut unheard = |_: &[String]| Err(std::io::ErrorKind::BrokenPipe.into());
    let failed = act(&order, &settings, &profiles, state(), Consent::Ask(&mut unheard)).await.unwrap_err();
    assert_eq!((failed.kind, changes(&simulator)), (FailureKind::Usage, vec![]));

    let mut nobody =
        |sentences: &[String]| -> std::io::Result<bool> { panic!("asked in vain: {sentences:?}") };
    let failed = act(&order, &settings, &profiles, None, Consent::Ask(&mut nobody)).await.unwrap_err();
    assert!(failed.to_string().contains("cannot place the journal"), "{failed}");

    let mut yes = |_: &[String]| Ok(true);
    let report = act(&order, &settings, &profiles, state(), Consent::Ask(&mut yes)).await.unwrap();
    assert_eq!((report.failures(), changes(&simulator)), (vec![], vec!["comment".to_owned()]));
    assert!(report.to_string().starts_with(&format!("{shown} It is done. https://")), "{report}");
}
