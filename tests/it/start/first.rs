//! The first screen, and the pull requests that `cloture` without arguments watches.

use crate::support::here::{Here, WATCHED};
use std::io::ErrorKind;
use std::net::TcpListener;

const TITLES: [&str; 3] = ["Change number 1", "Change number 2", "Change number 3"];

#[test]
fn u4_the_last_state_is_shown_before_any_request_and_without_a_network() {
    let mut here = Here::new();
    here.configure(WATCHED);
    let mut played = here.start();
    for title in TITLES {
        played.until_shown(title);
    }
    played.until_shown("The call recurses");
    played.press("q");
    assert!(played.ended().success());
    here.cut_off();
    // Nobody answers at this address as long as the listener lives, so no request can come to an end before it.
    let address = here.url.trim_start_matches("http://").split('/').next().unwrap().to_owned();
    let silent = loop {
        // The simulator's task may still hold the port.
        match TcpListener::bind(&address) {
            Ok(listener) => break listener,
            Err(error) if error.kind() == ErrorKind::AddrInUse => std::thread::yield_now(),
            Err(error) => panic!("{address}: {error}"),
        }
    };
    let mut played = here.start();
    played.until("pull requests", |screen| screen.contents().contains("acme/shop#"));
    assert!(
        !played.contents().contains("offline"),
        "the first frame waits for no server:\n{}",
        played.contents()
    );
    played.until_shown("The call recurses");
    drop(silent);
    played.until_shown("offline");
    for title in TITLES {
        played.until_shown(title);
    }
    played.until_shown("You see the state of the last poll");
    played.press("q");
    assert!(played.ended().success());
}

#[test]
fn an_ended_pull_request_stays_and_one_that_matches_no_rule_is_dropped() {
    let here = Here::new();
    let rule = "[[watch]]\nrepositories = ['acme/shop']\nlabels = ['ai']\n[policy]\npoll_interval = '1s'\n";
    here.configure(rule);
    for number in 1..=3 {
        here.perform(&format!("acme/shop#{number}"), "{ label = { by = 'dana', name = 'ai' } }");
    }
    let mut played = here.start();
    for title in TITLES {
        played.until_shown(title);
    }
    played.press("q");
    assert!(played.ended().success());
    here.perform("acme/shop#2", "{ merge = { by = 'dana' } }");
    here.perform("acme/shop#3", "{ unlabel = { by = 'dana', name = 'ai' } }");
    let mut played = here.start();
    played.until_gone("Change number 3");
    played.until("the merge", |screen| {
        screen.contents().lines().any(|row| row.contains("Change number 2") && row.contains("merged"))
    });
    played.until_shown("Change number 1");
}

#[test]
fn in_a_checkout_the_pull_request_of_the_branch_is_selected() {
    let here = Here::new();
    here.configure("[policy]\npoll_interval = '1s'\n");
    here.check_out("change-2");
    let mut played = here.start();
    for title in TITLES {
        played.until_shown(title);
    }
    played.until("the branch's to be selected", |screen| {
        screen.contents().lines().any(|row| row.starts_with('›') && row.contains("Change number 2"))
    });
    played.press("q");
    assert!(played.ended().success());
    // The second start reads it from the journal.
    let mut played = here.start();
    played.until("a selection", |screen| screen.contents().lines().any(|row| row.starts_with('›')));
    let contents = played.contents();
    let selected = contents.lines().find(|row| row.starts_with('›')).unwrap();
    assert!(selected.contains("Change number 2"), "{contents}");
}

#[test]
fn without_a_configuration_the_first_run_page_proposes_one_and_writes_it_after_a_yes() {
    let here = Here::new();
    here.check_out("change-3");
    let mut played = here.start();
    played.until_shown("Found a token in GH_TOKEN");
    played.until_shown("This folder is a checkout of acme/shop, on branch change-3");
    played.until_shown("repositories = [\"acme/shop\"]");
    played.until_shown(".config/cloture/config.toml");
    assert!(!played.contents().contains("secret"));
    assert!(!here.default_config().exists(), "nothing is written before the yes");
    played.press("W");
    played.until_shown("y yes");
    played.press("n");
    played.until_gone("y yes");
    assert!(!here.default_config().exists());
    played.press("W");
    played.until_shown("y yes");
    played.press("y");
    // It continues without a restart.
    for title in TITLES {
        played.until_shown(title);
    }
    let written = std::fs::read_to_string(here.default_config()).unwrap();
    assert!(
        written.contains("repositories = [\"acme/shop\"]") && written.contains("#drive = true"),
        "{written}"
    );
    played.press("q");
    assert!(played.ended().success());
}

#[test]
fn watching_needs_no_configuration_file() {
    let here = Here::new();
    here.check_out("change-3");
    let mut played = here.start();
    played.until_shown("watch without a configuration");
    played.press("\r");
    for title in TITLES {
        played.until_shown(title);
    }
    assert!(!here.default_config().exists());
}

#[test]
fn without_a_token_the_page_says_how_to_get_one_and_offers_the_demo() {
    let here = Here::new();
    here.check_out("change-3");
    let mut played = here.start_with(&[], &[]);
    played.until_shown("no token for");
    for text in ["gh auth login", "GH_TOKEN", "token_file", "play the demo"] {
        played.until_shown(text);
    }
    played.press("q");
    assert!(played.ended().success());
}
