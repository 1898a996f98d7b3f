//! The configuration (S5): the example agrees with the code, every range holds at both ends, every mistake is
//! shown with its place, and any file is either read or refused.

mod example;
mod mistakes;
mod places;

use cloture::config::{
    Config, ConfigError, NotificationConfig, NotifyHow, NotifyWhen, OperatorConfig, Problem, TargetKind,
    typed,
};
use cloture::domain::cycle::Protocol;
use cloture::domain::handoff::{HandoffMode, HandoffRules};
use cloture::domain::policy::Policy;
use cloture::domain::snapshot::RepositoryName;
use cloture::domain::vocabulary::{Category, Severity};
use proptest::prelude::*;
use std::path::Path;
use std::time::Duration;

fn parse(text: &str) -> Result<Config, ConfigError> {
    Config::parse(Path::new("config.toml"), text.as_bytes())
}

fn policy(line: &str) -> Result<Policy, ConfigError> {
    parse(&format!("[policy]\n{line}")).map(|config| config.policy)
}

#[test]
fn an_empty_file_gives_the_defaults() {
    assert_eq!(parse("").unwrap(), Config::default());
    assert_eq!(parse("\u{feff}# nothing\r\n[policy]\r\n").unwrap(), Config::default());
    assert_eq!(Config::default().policy, Policy::default());
    assert_eq!(Config::default().handoff, HandoffRules::default());
}

#[test]
fn every_whole_number_holds_at_both_ends_of_its_range_and_not_beyond() {
    type Field = fn(&Policy) -> u32;
    const MOST: u32 = 1_000_000_000;
    let limits: [(&str, u32, u32, Field); 12] = [
        ("repeat_limit", 1, MOST, |policy| policy.repeat_limit),
        ("flip_limit", 0, MOST, |policy| policy.flip_limit),
        ("reopen_limit", 0, MOST, |policy| policy.reopen_limit),
        ("cycle_retries", 0, MOST, |policy| policy.cycle_retries),
        ("max_review_iterations", 1, MOST, |policy| policy.max_review_iterations),
        ("max_asks", 0, MOST, |policy| policy.max_asks),
        ("line_slack", 0, MOST, |policy| policy.line_slack),
        ("max_attempts", 1, MOST, |policy| policy.max_attempts),
        ("max_rounds", 0, MOST, |policy| policy.max_rounds),
        ("max_restarts", 0, MOST, |policy| policy.max_restarts),
        ("max_findings_per_answer", 1, MOST, |policy| policy.max_findings_per_answer),
        ("max_answer_bytes", 1024, 1024 * 1024 * 1024, |policy| policy.max_answer_bytes),
    ];
    for (key, least, most, field) in limits {
        for value in [least, most] {
            assert_eq!(field(&policy(&format!("{key} = {value}")).unwrap()), value, "{key}");
        }
        for value in [i64::from(least) - 1, i64::from(most) + 1, i64::MAX] {
            let refused = policy(&format!("{key} = {value}")).unwrap_err().to_string();
            let sentence = format!(
                "config.toml:2:{}: policy.{key}: expected a whole number from {least} to {most}, \
                 found {value}\n",
                key.len() + 4
            );
            assert!(refused.starts_with(&sentence), "{refused}");
        }
    }
}

#[test]
fn the_similarity_threshold_is_a_number_from_0_to_1() {
    for (typed, value) in [("0", 0.0), ("1", 1.0), ("0.0", 0.0), ("1.0", 1.0), ("0.6", 0.6)] {
        let read = policy(&format!("similarity_threshold = {typed}")).unwrap().similarity_threshold;
        assert!((read - value).abs() < f64::EPSILON, "{typed}");
    }
    for typed in ["-0.1", "1.1", "2", "-1", "nan", "inf", "-inf", "\"0.5\""] {
        assert!(policy(&format!("similarity_threshold = {typed}")).is_err(), "{typed}");
    }
}

#[test]
fn the_poll_interval_is_seconds_or_a_duration() {
    let read = |typed| policy(&format!("poll_interval = {typed}")).map(|policy| policy.poll_interval);
    let week = 7 * 24 * 60 * 60;
    for (typed, seconds) in [
        ("1", 1),
        ("604800", week),
        ("\"90s\"", 90),
        ("\"5m\"", 300),
        ("\"1h 30m\"", 5400),
        ("\"2 minutes\"", 120),
        ("\"168h\"", week),
    ] {
        assert_eq!(read(typed).unwrap(), Duration::from_secs(seconds), "{typed}");
    }
    for typed in
        ["0", "604801", "-1", "1.5", "\"\"", "\"90\"", "\"999ms\"", "\"-5m\"", "\"5m ago\"", "true", "[]"]
    {
        assert!(read(typed).is_err(), "{typed}");
    }
}

#[test]
fn every_key_of_reviewers_and_handoff_is_read() {
    let config = parse(
        r#"
        author.price_per_call = 2
        reviewers = [{ name = "a", protocol = "findings", context_window = 1, price_per_call = 0 }, { name = "b" }]
        break_glass = { label = "", phrase = "stop it" }
        [handoff]
        mode = "threshold_auto"
        auto_threshold = "nit"
        auto_categories = ["bug", "other"]
        [[handoff.targets]]
        name = "default"
        coalesce = false
        [[handoff.targets]]
        name = "fixer"
        [[handoff.routes]]
        target = "fixer"
        min_severity = "low"
        categories = ["docs"]
        paths = ["docs/**", "*.md"]
        [[handoff.routes]]
        target = "default"
        "#,
    )
    .unwrap();
    let HandoffRules { mode, auto_threshold, auto_categories, targets, routes } = &config.handoff;
    assert_eq!((*mode, *auto_threshold), (HandoffMode::ThresholdAuto, Severity::Nit));
    assert_eq!(*auto_categories, [Category::Bug, Category::Other]);
    let named = targets.iter().map(|target| (target.name.as_str(), target.coalesce));
    assert_eq!(named.collect::<Vec<_>>(), [("default", false), ("fixer", true)]);
    let first = &routes[0];
    assert_eq!((first.target.as_str(), first.min_severity), ("fixer", Some(Severity::Low)));
    assert_eq!(first.categories, [Category::Docs]);
    assert_eq!(first.paths.iter().map(glob::Pattern::as_str).collect::<Vec<_>>(), ["docs/**", "*.md"]);
    let second = &routes[1];
    assert_eq!((second.min_severity, second.categories.len(), second.paths.len()), (None, 0, 0));
    let reviewers = config.reviewers.iter();
    let reviewers = reviewers.map(|r| (r.name.as_str(), r.protocol, r.context_window, r.price_per_call));
    let expected = [("a", Protocol::Findings, 1, Some(0.0)), ("b", Protocol::Actions, 200_000, None)];
    assert_eq!(reviewers.collect::<Vec<_>>(), expected);
    assert_eq!(config.author.price_per_call, Some(2.0));
    assert_eq!((config.break_glass.label.as_str(), config.break_glass.phrase.as_str()), ("", "stop it"));
}

#[test]
fn every_key_of_repositories_targets_and_notifications_is_read() {
    let config = parse(
        r#"
        operator = { mention = "@acme/leads", label = "" }
        notifications = { when = "severity", min_severity = "medium", how = "command", command = ["tell", ""] }
        [[repositories]]
        name = "Acme/Shop"
        drive = true
        [[repositories]]
        name = "acme/site"
        drive = true
        reviewers = []
        author = false
        [[handoff.targets]]
        name = "plain"
        [[handoff.targets]]
        name = "hook"
        kind = "webhook"
        url = "https://me:secret@hooks.example.com/secret"
        [[handoff.targets]]
        name = "issue"
        kind = "issue"
        "#,
    )
    .unwrap();
    let operator = OperatorConfig { mention: Some("@acme/leads".to_owned()), label: None };
    assert_eq!(config.operator, operator);
    let how = NotifyHow::Command(vec!["tell".to_owned(), String::new()]);
    assert_eq!(config.notifications, NotificationConfig { when: NotifyWhen::AtLeast(Severity::Medium), how });
    let named = |name: &str| RepositoryName::parse(name).unwrap();
    let shop = config.repository(&named("acme/SHOP")).unwrap();
    assert_eq!((shop.drive, shop.author, &shop.reviewers), (true, true, &None));
    let site = config.repository(&named("acme/site")).unwrap();
    assert_eq!((site.author, site.reviewers.as_deref()), (false, Some([].as_slice())));
    assert!(config.may_drive(&named("ACME/shop")) && !config.may_drive(&named("acme/other")));
    assert!(
        !config.targets.contains_key(&"plain".into()),
        "a target without a kind is declared, but Cloture cannot send to it"
    );
    assert_eq!(config.handoff.targets.len(), 3);
    let least = TargetKind::Issue { repository: None, labels: Vec::new(), assignees: Vec::new() };
    assert_eq!(config.targets[&"issue".into()], least);
    let shown = format!("{config:?}");
    assert!(
        shown.contains("https://hooks.example.com")
            && !shown.contains("secret@")
            && !shown.contains("/secret")
    );
}

#[test]
fn a_trace_has_the_same_keys_in_json() {
    let policy: typed::TypedPolicy = serde_json::from_str(
        r#"{"repeat_limit": 3, "flip_limit": 0, "poll_interval": "5m", "max_rounds": null}"#,
    )
    .unwrap();
    let expected =
        Policy { repeat_limit: 3, flip_limit: 0, poll_interval: Duration::from_mins(5), ..Policy::default() };
    assert_eq!(policy.validated(), Ok(expected));

    let handoff: typed::TypedHandoff = serde_json::from_str(
        r#"{"mode": "full_auto", "targets": [{"name": "x"}], "routes": [{"target": "x", "paths": ["a/*"]}]}"#,
    )
    .unwrap();
    let rules = handoff.validated().unwrap();
    assert_eq!((rules.mode, rules.routes[0].target.as_str()), (HandoffMode::FullAuto, "x"));
}

#[test]
fn a_trace_is_refused_with_the_same_sentences() {
    let policy: typed::TypedPolicy =
        serde_json::from_str(r#"{"repeat_limit": 0, "flip_limit": "one", "line_slack": 2.0}"#).unwrap();
    let problems = policy.validated().unwrap_err();
    let sentences: Vec<String> = problems.iter().map(Problem::to_string).collect();
    assert_eq!(
        sentences,
        [
            "policy.repeat_limit: expected a whole number from 1 to 1000000000, found 0",
            "policy.flip_limit: expected a whole number from 0 to 1000000000, found \"one\"",
            "policy.line_slack: expected a whole number from 0 to 1000000000, found 2.0",
        ]
    );
    let handoff: typed::TypedHandoff =
        serde_json::from_str(r#"{"auto_categories": ["bug", null], "routes": [{}]}"#).unwrap();
    let sentences: Vec<String> = handoff.validated().unwrap_err().iter().map(Problem::to_string).collect();
    assert_eq!(sentences.len(), 2);
    assert!(
        sentences[0].starts_with("handoff.auto_categories[1]: expected one of \"bug\", "),
        "{sentences:?}"
    );
    assert_eq!(sentences[1], "handoff.routes[0].target: expected the name of a target, found nothing");

    let unknown =
        serde_json::from_str::<typed::TypedPolicy>(r#"{"repeat_limt": 3}"#).unwrap_err().to_string();
    assert!(unknown.starts_with("unknown field `repeat_limt`, expected one of `repeat_limit`"), "{unknown}");
}

/// Any content gives a configuration or a complaint with a place in the file.
fn survives(content: &[u8]) -> Result<(), TestCaseError> {
    let lines = content.split(|byte| *byte == b'\n').count();
    match Config::parse(Path::new("config.toml"), content) {
        Ok(_) => {}
        Err(ConfigError::Invalid { file, complaints, left_off }) => {
            prop_assert!(!complaints.is_empty());
            for complaint in &complaints {
                prop_assert!((1..=lines).contains(&complaint.line));
                prop_assert!((1..=content.len() + 1).contains(&complaint.column));
            }
            let text = ConfigError::Invalid { file, complaints, left_off }.to_string();
            prop_assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
        }
        Err(other) => prop_assert!(false, "{other}"),
    }
    Ok(())
}

/// Text that is enough like a configuration to get past the TOML parser.
fn almost_a_configuration() -> impl Strategy<Value = String> {
    let header = prop::sample::select(vec![
        "[policy]",
        "[handoff]",
        "[[handoff.targets]]",
        "[[handoff.routes]]",
        "[[reviewers]]",
        "[author]",
        "[break_glass]",
        "[[repositories]]",
        "[operator]",
        "[notifications]",
        "[reviewers]",
        "[policy.repeat_limit]",
        "[x.\"y z\"]",
    ]);
    let key = prop::sample::select(vec![
        "repeat_limit",
        "repeat_limt",
        "poll_interval",
        "similarity_threshold",
        "policy.flip_limit",
        "mode",
        "targets",
        "routes",
        "auto_categories",
        "name",
        "target",
        "paths",
        "label",
        "kind",
        "url",
        "command",
        "how",
        "\"\\u0007\"",
        "\"\"",
    ]);
    let value = prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>().prop_map(|number| format!("{number:?}").to_lowercase()),
        "\"[a-z*\\[0-9 ]{0,8}\"",
        "\\PC{0,6}",
        prop::sample::select(vec![
            "1e999",
            "-99999999999999999999999999999999999999999999999999",
            "1979-05-27T07:32:00Z",
            "07:32:00",
            "{ a = [1e999, 1979-05-27], b = {} }",
            "[[], {}, 1e999, \"[\"]",
            "[{ name = \"x\" }, { nmae = 1979-05-27 }]",
            "'''\n\n'''",
            "\"\\u202e\"",
            "0xffffffffffffffffffffffffffffffffff",
        ])
        .prop_map(str::to_owned),
    ];
    let line = prop_oneof![
        header.prop_map(str::to_owned),
        (key, value).prop_map(|(key, value)| format!("{key} = {value}"))
    ];
    prop::collection::vec(line, 0..6).prop_map(|lines| lines.join("\n"))
}

proptest! {
    // A failure prints its file. Add that file as a test.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_or_refused(content in prop::collection::vec(any::<u8>(), 0..200)) {
        survives(&content)?;
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[\\PC\\n\\t=\\[\\]\"{}]{0,60}") {
        survives(text.as_bytes())?;
    }

    #[test]
    fn almost_a_configuration_is_read_or_refused(text in almost_a_configuration()) {
        survives(text.as_bytes())?;
    }

    #[test]
    fn a_broken_example_is_read_or_refused(
        at in any::<prop::sample::Index>(),
        length in 0usize..40,
        instead in prop::collection::vec(any::<u8>(), 0..4),
    ) {
        let mut content = example::switched_on().into_bytes();
        let start = at.index(content.len());
        let end = (start + length).min(content.len());
        content.splice(start..end, instead);
        survives(&content)?;
    }
}

#[test]
fn every_key_of_github_and_watch_is_read() {
    let config = parse(
        r#"
        [github]
        api_url = "https://git.example.com"
        token_file = "/etc/token"
        [[watch]]
        repositories = ["o/r"]
        [[watch]]
        authors = ["@me", "fixer[bot]"]
        review_requested = true
        labels = ["ai review"]
        "#,
    )
    .unwrap();
    assert_eq!(config.github.host.unwrap().rest(), "https://git.example.com/api/v3");
    assert_eq!(config.github.token_file.as_deref(), Some(Path::new("/etc/token")));
    assert_eq!(config.watch[0].repositories[0].to_string(), "o/r");
    assert_eq!(config.watch[1].authors, ["@me", "fixer[bot]"]);
    assert_eq!(
        (config.watch[1].review_requested.as_slice(), config.watch[1].labels.len()),
        (&["@me".to_owned()][..], 1)
    );
}

#[test]
fn a_bad_watch_rule_or_address_is_refused() {
    for (text, words) in [
        ("[github]\napi_url = 'http://git.example.com'", "github.api_url"),
        ("[github]\napi_url = 'git.example.com'", "github.api_url"),
        ("[github]\napi_url = 7", "github.api_url"),
        ("[github]\ntoken_file = ''", "github.token_file"),
        ("[[watch]]", "watch[0]: expected at least one condition"),
        ("[[watch]]\nreview_requested = false", "watch[0]: expected at least one condition"),
        ("[[watch]]\nrepositories = ['nonsense']", "watch[0].repositories[0]"),
        ("[[watch]]\nauthors = ['a b']", "watch[0].authors[0]"),
        ("[[watch]]\nlabels = 'x'", "watch[0].labels"),
        ("[[watch]]\nreview_requested = '@me'", "watch[0].review_requested"),
    ] {
        let refused = parse(text).unwrap_err().to_string();
        assert!(refused.contains(words), "{text}: {refused}");
    }
}
