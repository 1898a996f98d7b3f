use super::*;
use crate::domain::snapshot::AccountKind;
use crate::reviewers::pattern::Pattern;

fn recognised(login: &str, kind: AccountKind, database_id: Option<u64>) -> Option<String> {
    let profiles = Profiles::built_in().unwrap();
    let account = Account { login: login.into(), kind, database_id };
    profiles.recognise(&account).map(ToString::to_string)
}

fn bot(login: &str, id: Option<u64>) -> Option<String> {
    recognised(login, AccountKind::Bot, id)
}

#[test]
fn a_login_matches_whole_with_or_without_its_suffix() {
    for login in ["coderabbitai", "coderabbitai[bot]", "CodeRabbitAI"] {
        assert_eq!(bot(login, None).as_deref(), Some("coderabbit"), "{login}");
    }
    for login in ["coderabbitai-evil", "my-coderabbitai", "coderabbit", "github-actions-evil", "", "[bot]"] {
        assert_eq!(bot(login, None), None, "{login}");
    }
}

#[test]
fn a_person_with_a_bots_login_is_not_recognised() {
    for kind in [AccountKind::User, AccountKind::Organization, AccountKind::Mannequin, AccountKind::Other] {
        assert_eq!(recognised("coderabbitai", kind, None), None);
        assert_eq!(recognised("coderabbitai", kind, Some(136_622_811)), None);
    }
}

#[test]
fn an_account_id_decides_before_the_login() {
    assert_eq!(bot("renamed-rabbit", Some(136_622_811)).as_deref(), Some("coderabbit"));
    assert_eq!(bot("coderabbitai", Some(175_728_472)).as_deref(), Some("copilot"));
    assert_eq!(bot("Copilot", Some(175_728_472)).as_deref(), Some("copilot"));
}

#[test]
fn l3_a_look_alike_with_a_known_login_and_another_id_is_nobody() {
    assert_eq!(bot("coderabbitai", Some(1)), None);
    assert_eq!(bot("Copilot", Some(1)), None);
    assert_eq!(bot("kilo-code-bot", Some(1)), None);
    assert_eq!(bot("kiloconnect", Some(1)).as_deref(), Some("kilo"), "its id is not known");
    assert_eq!(bot("macroscopeapp", Some(1)).as_deref(), Some("macroscope"), "the profile knows no id");
    let with = |entry: ProfileOverride| {
        let profiles = Profiles::with_overrides(&[entry]).unwrap();
        let account =
            |login: &str| Account { login: login.into(), kind: AccountKind::Bot, database_id: Some(1) };
        let recognised =
            ["coderabbitai", "our-rabbit"].map(|login| profiles.recognise(&account(login)).is_some());
        (recognised[0], recognised[1])
    };
    let rabbit = ProfileOverride { name: "coderabbit".to_owned(), ..ProfileOverride::default() };
    let other_ids = ProfileOverride { ids: Some(Vec::new()), ..rabbit.clone() };
    assert_eq!(with(other_ids), (true, false), "GitHub Enterprise has other ids");
    let own = ProfileOverride { logins: Some(vec!["our-rabbit".to_owned()]), ..rabbit };
    assert_eq!(with(own), (false, true), "a login of one's own");
}

#[test]
fn every_profile_is_reachable_by_each_of_its_names() {
    let profiles = Profiles::built_in().unwrap();
    assert!(profiles.iter().count() >= 15);
    for known in profiles.iter() {
        let Profile { logins, ids, shared_logins, body_marks, .. } = &known.profile;
        assert!(!logins.is_empty() || !shared_logins.is_empty(), "{}", known.name);
        assert_eq!(shared_logins.is_empty(), body_marks.is_empty(), "{}", known.name);
        for login in logins {
            assert_eq!(bot(login, None), Some(known.name.to_string()));
        }
        for id in ids {
            assert_eq!(bot("any-login", Some(*id)), Some(known.name.to_string()));
        }
    }
}

#[test]
fn an_unknown_key_and_a_name_given_twice_are_refused() {
    let entry = "[[profiles]]\nname = \"a\"\nlogins = [\"x\"]\nids = [1]\n";
    let parse = |text: &str| Profiles::parse(text, &[]).unwrap_err().to_string();
    let unknown = parse(&format!("{entry}severety = 1\n"));
    assert!(unknown.contains("severety"), "{unknown}");
    let account = parse(&format!("{entry}{}", entry.replace("\"a\"", "\"b\"")));
    assert!(account.starts_with("two reviewer profiles, a and b, have the account 1;"), "{account}");
    assert!(parse(&format!("{entry}{entry}")).contains("two reviewer profiles with the name a"));
}

#[test]
fn every_built_in_pattern_compiles_and_matches_typical_posts() {
    let patterns = BUILT_IN.lines().flat_map(|line| line.split("pattern = ").skip(1));
    assert!(patterns.count() > 150);
    let profiles = Profiles::built_in().unwrap();
    let Common {
        severity,
        accepted,
        reply_courtesy,
        reply_withdraws,
        reply_accepts,
        reply_concedes,
        reply_benign,
        reply_problems,
        reply_holds,
        reply_doubts,
        unknown_failure,
        counted_sections,
    } = &profiles.common;
    let replies = [
        reply_courtesy,
        reply_withdraws,
        reply_accepts,
        reply_concedes,
        reply_benign,
        reply_problems,
        reply_holds,
        reply_doubts,
    ];
    let marks = [accepted, unknown_failure].into_iter().chain(replies).flatten();
    let mut all: Vec<&Pattern> = marks.map(|mark| &mark.pattern).collect();
    all.extend(severity.iter().map(|mark| &mark.pattern));
    all.extend(counted_sections);
    for known in profiles.iter() {
        let profile = &known.profile;
        let lists = [
            &profile.body_marks,
            &profile.title_skip,
            &profile.title_strip,
            &profile.own_id,
            &profile.place,
            &profile.commit,
            &profile.count,
            &profile.retry_after,
            &profile.other_sections,
        ];
        all.extend(lists.into_iter().flatten());
        let marks = [
            &profile.finding,
            &profile.introduction,
            &profile.accepted,
            &profile.holds,
            &profile.informs,
            &profile.walkthrough,
            &profile.clean,
            &profile.failure,
            &profile.running,
            &profile.not_ready,
            &profile.noise,
            &profile.chat,
            &profile.status_table,
        ];
        all.extend(marks.into_iter().flatten().map(|mark| &mark.pattern));
        all.extend(profile.severity.iter().map(|mark| &mark.pattern));
        all.extend(profile.category.iter().map(|mark| &mark.pattern));
        all.extend(profile.body_sections.iter().map(|mark| &mark.pattern));
        all.extend(profile.verdict.iter().map(|mark| &mark.pattern));
        all.extend(profile.status.iter().map(|mark| &mark.pattern));
        for pattern in [&profile.own_id, &profile.commit, &profile.count].into_iter().flatten() {
            assert!(pattern.has_group(), "{}: {}", known.name, pattern.source());
        }
        assert!(profile.place.iter().all(Pattern::has_place), "{}", known.name);
        assert!(profile.retry_after.iter().all(Pattern::has_time), "{}", known.name);
    }
    assert!(all.len() > 200);
    for pattern in &all {
        if let Err(why) = Pattern::checked(pattern.source()) {
            panic!("{}: {why}", pattern.source());
        }
    }
    they_match_what_they_are_for(&all);
}

const TYPICAL_LINES: [&str; 11] = [
    "You're right, and I withdraw my finding.",
    "Thanks for fixing this; no further changes are needed.",
    "The concern still stands: this is not addressed.",
    "However, the issue persists and I would still recommend a lock.",
    "Severity: critical",
    "Review failed",
    "Actionable comments posted: 3",
    "Acknowledged, this is intentional and out of scope.",
    "✅ Addressed in commits 0123abc to 4567def",
    "You’re right — the concern no longer applies, Grüße",
    "⚠️ Potential issue | 🟠 Major",
];

/// The form for ASCII texts matches exactly where the other does. And a pattern that compiles may still match
/// nothing, so typical lines must be matched.
fn they_match_what_they_are_for(patterns: &[&Pattern]) {
    let scenario = include_str!("../../../assets/scenarios/demo.toml").lines().map(str::trim);
    let posts = scenario.filter(|line| line.contains(' ') && !line.contains(" = "));
    let texts: Vec<&str> = posts.take(150).chain(TYPICAL_LINES).collect();
    let mut matched = 0;
    for pattern in patterns {
        for text in &texts {
            let by_form = pattern.matches_by_form(text);
            assert_eq!(by_form.len(), if text.is_ascii() { 2 } else { 1 }, "{}", pattern.source());
            assert!(
                by_form.windows(2).all(|two| two[0] == two[1]),
                "{}: {by_form:?} on {text}",
                pattern.source()
            );
            assert_eq!(pattern.matches(text), by_form[0]);
            matched += usize::from(by_form[0]);
        }
    }
    assert!(matched > 20, "{matched}");
    for line in TYPICAL_LINES {
        assert!(patterns.iter().any(|pattern| pattern.matches(line)), "{line}");
    }
}

#[test]
fn on_a_shared_account_only_marks_in_the_post_identify_a_reviewer() {
    let profiles = Profiles::built_in().unwrap();
    let actions = |kind| Account { login: "github-actions[bot]".into(), kind, database_id: None };
    let whose = |kind, body: &str| profiles.reviewer(&actions(kind), body).map(|name| name.to_string());
    let marked = "Looks fine.\n\n<!-- This is an auto-generated comment by OSS CodeRabbit -->";
    assert_eq!(whose(AccountKind::Bot, marked).as_deref(), Some("oss-coderabbit"));
    assert_eq!(whose(AccountKind::Bot, "<!-- presubmit.ai: comment -->\nx").as_deref(), Some("presubmit"));
    assert_eq!(whose(AccountKind::Bot, "Deployed to staging."), None);
    assert_eq!(whose(AccountKind::Bot, ""), None);
    assert_eq!(whose(AccountKind::User, marked), None, "a person cannot use a bot's mark");
    assert_eq!(profiles.recognise(&actions(AccountKind::Bot)), None);
}

#[test]
fn the_configuration_overrides_single_keys_and_adds_profiles() {
    let overrides = [
        ProfileOverride {
            name: "codex".into(),
            ask_again: Some("@codex again".into()),
            ..ProfileOverride::default()
        },
        ProfileOverride {
            name: "ours".into(),
            shared_logins: Some(vec!["github-actions".into()]),
            body_marks: Some(vec![Pattern::checked("(?m)^## Our review").unwrap()]),
            ..ProfileOverride::default()
        },
    ];
    let profiles = Profiles::with_overrides(&overrides).unwrap();
    let codex = profiles.get(&"codex".into()).unwrap();
    assert_eq!(codex.profile.ask_again, "@codex again");
    assert_eq!(codex.profile.logins, ["chatgpt-codex-connector"]);
    assert_eq!((codex.built_in, codex.configured.as_slice()), (true, &["ask_again"][..]));
    let ours = profiles.get(&"ours".into()).unwrap();
    assert_eq!((ours.built_in, ours.configured.as_slice()), (false, &["shared_logins", "body_marks"][..]));
    let account = Account { login: "github-actions".into(), kind: AccountKind::Bot, database_id: None };
    assert_eq!(profiles.reviewer(&account, "## Our review\n\nFine."), Some("ours".into()));
}

#[test]
fn every_built_in_profile_is_named() {
    let profiles = Profiles::built_in().unwrap();
    let names: Vec<&str> = profiles.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(built_in_names(), names);
}
