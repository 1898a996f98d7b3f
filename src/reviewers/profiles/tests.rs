use super::*;

fn recognised(login: &str, kind: AccountKind, database_id: Option<u64>) -> Option<String> {
    let profiles = Profiles::built_in().unwrap();
    let account = Account { login: login.into(), kind, database_id };
    profiles.recognise(&account).map(ToString::to_string)
}

fn bot(login: &str, id: Option<u64>) -> Option<String> {
    recognised(login, AccountKind::Bot, id)
}

#[test]
fn a_login_matches_exactly_with_or_without_its_suffix() {
    for login in ["coderabbitai", "coderabbitai[bot]", "CodeRabbitAI"] {
        assert_eq!(bot(login, None).as_deref(), Some("coderabbit"), "{login}");
    }
    for login in
        ["coderabbitai-evil", "my-coderabbitai", "coderabbit", "github-actions-evil", "", "[bot]"]
    {
        assert_eq!(bot(login, None), None, "{login}");
    }
}

#[test]
fn a_person_with_a_bots_login_is_nobody() {
    for kind in [AccountKind::User, AccountKind::Organization, AccountKind::Mannequin, AccountKind::Other]
    {
        assert_eq!(recognised("coderabbitai", kind, None), None);
        assert_eq!(recognised("coderabbitai", kind, Some(136_622_811)), None);
    }
}

#[test]
fn an_id_outlives_a_change_of_login_and_beats_one_that_was_taken_over() {
    assert_eq!(bot("renamed-rabbit", Some(136_622_811)).as_deref(), Some("coderabbit"));
    assert_eq!(bot("coderabbitai", Some(175_728_472)).as_deref(), Some("copilot"));
    assert_eq!(bot("Copilot", Some(175_728_472)).as_deref(), Some("copilot"));
}

#[test]
fn every_profile_is_reachable_by_each_of_its_names() {
    let profiles = Profiles::built_in().unwrap();
    assert!(profiles.iter().count() >= 15);
    for profile in profiles.iter() {
        assert!(!profile.logins.is_empty(), "{}", profile.name);
        for login in &profile.logins {
            assert_eq!(bot(login, None), Some(profile.name.to_string()));
        }
        for id in &profile.ids {
            assert_eq!(bot("whatever", Some(*id)), Some(profile.name.to_string()));
        }
    }
}

#[test]
fn an_unknown_key_and_a_name_given_twice_are_refused() {
    let entry = "[[reviewer]]\nname = \"a\"\nlogins = [\"x\"]\nids = [1]\nkind = \"bot\"\n";
    let unknown = Profiles::parse(&format!("{entry}severety = 1\n")).unwrap_err().to_string();
    assert!(unknown.contains("severety"), "{unknown}");
    let twice = Profiles::parse(&format!("{entry}{}", entry.replace("\"a\"", "\"b\""))).unwrap_err();
    assert_eq!(twice.to_string(), "the reviewers' profiles give the account 1 to both a and b");
}
