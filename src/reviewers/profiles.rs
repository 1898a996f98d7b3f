//! Who is a reviewer (L3), and which profile reads its posts.
//!
//! The profiles that the program carries are in `assets/reviewers.toml`; a configuration changes them key by key or adds its
//! own. Look-alikes exist, so nothing here matches a part of a name.

use super::profile::{Mark, Profile, ProfileOverride, SeverityMark};
use super::reading;
use crate::domain::post::{ParsedPost, PostPlace, PostReader};
use crate::domain::re_review::ReadsReplies;
use crate::domain::snapshot::Account;
use crate::domain::vocabulary::{Intent, ReviewerName};
use crate::replies;
use serde::Deserialize;
use std::collections::BTreeMap;

const BUILT_IN: &str = include_str!("../../assets/reviewers.toml");

/// The known reviewers, ready to be looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profiles {
    known: Vec<ActiveProfile>,
    by_name: BTreeMap<ReviewerName, usize>,
    by_id: BTreeMap<u64, usize>,
    /// In lower case: the forge does not tell logins apart by case.
    by_login: BTreeMap<String, usize>,
    by_shared_login: BTreeMap<String, Vec<usize>>,
    common: Common,
}

/// A profile in force, and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveProfile {
    pub name: ReviewerName,
    pub profile: Profile,
    /// The program carries a profile of this name.
    pub built_in: bool,
    /// The keys that the configuration gave.
    pub configured: Vec<&'static str>,
}

/// What holds for every reviewer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Common {
    pub(super) severity: Vec<SeverityMark>,
    pub(super) accepted: Vec<Mark>,
    /// In what a reviewer says in a thread, in its own words.
    pub(super) reply_accepts: Vec<Mark>,
    pub(super) reply_holds: Vec<Mark>,
    /// For bots that have no profile.
    pub(super) unknown_failure: Vec<Mark>,
}

/// Why the profiles cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfilesError {
    #[error("the reviewers' profiles cannot be read: {0}")]
    Unreadable(String),
    #[error("the reviewers' profiles give {what} to both {first} and {second}; take it from one of them")]
    Ambiguous { what: String, first: ReviewerName, second: ReviewerName },
    #[error("the reviewers' profiles hold {0} twice; put its keys into one of them")]
    Twice(ReviewerName),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileFile {
    #[serde(default)]
    common: Common,
    #[serde(default)]
    profiles: Vec<ProfileOverride>,
}

impl Profiles {
    /// The profiles that the program carries.
    pub fn built_in() -> Result<Profiles, ProfilesError> {
        Self::in_force(&[])
    }

    /// The program's profiles with a configuration's changes to them, and the profiles that it adds.
    pub fn in_force(changes: &[ProfileOverride]) -> Result<Profiles, ProfilesError> {
        Self::parse(BUILT_IN, changes)
    }

    pub fn parse(text: &str, changes: &[ProfileOverride]) -> Result<Profiles, ProfilesError> {
        let file: ProfileFile =
            toml::from_str(text).map_err(|error| ProfilesError::Unreadable(error.to_string()))?;
        let mut known: Vec<ActiveProfile> = Vec::new();
        for (change, built_in) in
            file.profiles.iter().map(|own| (own, true)).chain(changes.iter().map(|theirs| (theirs, false)))
        {
            let name = ReviewerName::from(change.name.as_str());
            let there = known.iter_mut().find(|known| known.name == name);
            match there {
                Some(known) if built_in || !known.configured.is_empty() || !known.built_in => {
                    return Err(ProfilesError::Twice(known.name.clone()));
                }
                Some(known) => known.configured = known.profile.apply(change),
                None => {
                    let mut profile = Profile::default();
                    let given = profile.apply(change);
                    let configured = if built_in { Vec::new() } else { given };
                    known.push(ActiveProfile { name, profile, built_in, configured });
                }
            }
        }
        Self::new(known, file.common)
    }

    fn new(known: Vec<ActiveProfile>, common: Common) -> Result<Profiles, ProfilesError> {
        let mut by_id = BTreeMap::new();
        let mut by_login = BTreeMap::new();
        let mut by_name = BTreeMap::new();
        let mut by_shared_login: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let ambiguous = |what: String, first: usize, second: &ActiveProfile| ProfilesError::Ambiguous {
            what,
            first: known[first].name.clone(),
            second: second.name.clone(),
        };
        for (index, entry) in known.iter().enumerate() {
            by_name.insert(entry.name.clone(), index);
            for id in &entry.profile.ids {
                if let Some(first) = by_id.insert(*id, index) {
                    return Err(ambiguous(format!("the account {id}"), first, entry));
                }
            }
            for login in &entry.profile.logins {
                if let Some(first) = by_login.insert(bare(login), index) {
                    return Err(ambiguous(format!("the login {login}"), first, entry));
                }
            }
            for login in &entry.profile.shared_logins {
                by_shared_login.entry(bare(login)).or_default().push(index);
            }
        }
        Ok(Profiles { known, by_name, by_id, by_login, by_shared_login, common })
    }

    /// The reviewer whose account this is. A known id decides, because it outlives a change of login; without
    /// one the login does, exactly, with or without `[bot]`. The kind of account must fit either way.
    pub fn recognise(&self, account: &Account) -> Option<&ReviewerName> {
        let by_id = account.database_id.and_then(|id| self.by_id.get(&id));
        let known = &self.known[*by_id.or_else(|| self.by_login.get(&bare(account.login.as_str())))?];
        known.profile.kind.fits(account.kind).then_some(&known.name)
    }

    /// The reviewer whose post this is. On an account that many share, only the post's own marks tell.
    fn recognise_post(&self, account: &Account, body: &str) -> Option<&ReviewerName> {
        if let Some(name) = self.recognise(account) {
            return Some(name);
        }
        let sharing = self.by_shared_login.get(&bare(account.login.as_str()))?;
        let known = sharing.iter().map(|index| &self.known[*index]).find(|known| {
            known.profile.kind.fits(account.kind)
                && known.profile.body_marks.iter().any(|mark| mark.fits(body))
        })?;
        Some(&known.name)
    }

    pub fn iter(&self) -> impl Iterator<Item = &ActiveProfile> {
        self.known.iter()
    }

    pub fn get(&self, name: &ReviewerName) -> Option<&ActiveProfile> {
        self.by_name.get(name).map(|index| &self.known[*index])
    }

    /// Reads the post of a bot that nobody knows, by the marks that many share.
    pub fn read_unknown(&self, place: PostPlace, body: &str) -> ParsedPost {
        let profile = Profile { failure: self.common.unknown_failure.clone(), ..Profile::default() };
        reading::read(&profile, &self.common, place, body)
    }
}

impl ReadsReplies for Profiles {
    fn intent(&self, body: &str) -> Intent {
        replies::classify(body)
    }

    fn is_agent_post(&self, body: &str) -> bool {
        replies::is_agent_post(body)
    }
}

impl PostReader for Profiles {
    fn reviewer(&self, by: &Account, body: &str) -> Option<ReviewerName> {
        self.recognise_post(by, body).cloned()
    }

    fn read(&self, reviewer: &ReviewerName, place: PostPlace, body: &str) -> ParsedPost {
        match self.get(reviewer) {
            Some(known) => reading::read(&known.profile, &self.common, place, body),
            None => self.read_unknown(place, body),
        }
    }
}

/// A login as it is compared.
fn bare(login: &str) -> String {
    login.strip_suffix("[bot]").unwrap_or(login).to_ascii_lowercase()
}

#[cfg(test)]
mod tests;
