//! Who is a reviewer: the accounts of the bots that are known without being told (L3).
//!
//! The profiles are data, in `assets/reviewers.toml`. Look-alikes exist, so nothing here matches a part of a name.

use crate::domain::snapshot::{Account, AccountKind};
use crate::domain::vocabulary::ReviewerName;
use serde::Deserialize;
use std::collections::BTreeMap;

const BUILT_IN: &str = include_str!("../../assets/reviewers.toml");

/// The known reviewers, ready to be looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profiles {
    known: Vec<Profile>,
    by_id: BTreeMap<u64, usize>,
    /// In lower case: the forge does not tell logins apart by case.
    by_login: BTreeMap<String, usize>,
}

/// One reviewer's identity.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    pub name: ReviewerName,
    /// Without `[bot]`, the present one first.
    pub logins: Vec<String>,
    /// Of the accounts; they stay when a login changes.
    pub ids: Vec<u64>,
    pub kind: AccountKind,
}

/// Why the profiles cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfilesError {
    #[error("the reviewers' profiles cannot be read: {0}")]
    Unreadable(String),
    #[error("the reviewers' profiles give {what} to both {first} and {second}")]
    Ambiguous { what: String, first: ReviewerName, second: ReviewerName },
}

impl Profiles {
    /// The profiles that the program carries.
    pub fn built_in() -> Result<Profiles, ProfilesError> {
        Self::parse(BUILT_IN)
    }

    pub fn parse(text: &str) -> Result<Profiles, ProfilesError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct File {
            reviewer: Vec<Profile>,
        }
        let file: File =
            toml::from_str(text).map_err(|error| ProfilesError::Unreadable(error.to_string()))?;
        Self::new(file.reviewer)
    }

    fn new(known: Vec<Profile>) -> Result<Profiles, ProfilesError> {
        let mut by_id = BTreeMap::new();
        let mut by_login = BTreeMap::new();
        let ambiguous = |what: String, first: usize, second: &Profile| ProfilesError::Ambiguous {
            what,
            first: known[first].name.clone(),
            second: second.name.clone(),
        };
        for (index, profile) in known.iter().enumerate() {
            for id in &profile.ids {
                if let Some(first) = by_id.insert(*id, index) {
                    return Err(ambiguous(format!("the account {id}"), first, profile));
                }
            }
            for login in &profile.logins {
                if let Some(first) = by_login.insert(login.to_ascii_lowercase(), index) {
                    return Err(ambiguous(format!("the login {login}"), first, profile));
                }
            }
        }
        Ok(Profiles { known, by_id, by_login })
    }

    /// The reviewer whose account this is. A known id decides, because it outlives a change of login; without
    /// one the login does, exactly, with or without `[bot]`. The kind of account must fit either way.
    pub fn recognise(&self, account: &Account) -> Option<&ReviewerName> {
        let login = account.login.as_str();
        let login = login.strip_suffix("[bot]").unwrap_or(login).to_ascii_lowercase();
        let by_id = account.database_id.and_then(|id| self.by_id.get(&id));
        let profile = &self.known[*by_id.or_else(|| self.by_login.get(&login))?];
        (profile.kind == account.kind).then_some(&profile.name)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Profile> {
        self.known.iter()
    }
}

#[cfg(test)]
mod tests {
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
}
