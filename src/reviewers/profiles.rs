//! Recognises reviewers (L3) and reads their posts with their profiles.
//!
//! The built-in profiles are in `assets/reviewers.toml`. The configuration overrides their keys and adds
//! profiles. Logins are compared whole, because look-alikes of bots exist.

use super::pattern::Pattern;
use super::profile::{Mark, Profile, ProfileOverride, SeverityMark};
use super::reading;
use crate::domain::post::{ParsedPost, PostPlace, PostReader};
use crate::domain::re_review::ReadsReplies;
use crate::domain::review_loop::PostContent;
use crate::domain::snapshot::Account;
use crate::domain::vocabulary::{Intent, ReviewerName};
use crate::replies;
use serde::Deserialize;
use std::collections::BTreeMap;

const BUILT_IN: &str = include_str!("../../assets/reviewers.toml");

/// The names of the built-in profiles. Reading them costs much less than compiling the profiles' patterns.
pub fn built_in_names() -> Vec<String> {
    #[derive(Deserialize)]
    struct NamedProfiles {
        profiles: Vec<NamedProfile>,
    }
    #[derive(Deserialize)]
    struct NamedProfile {
        name: String,
    }
    // A test reads the same file as a whole, so it cannot fail.
    let named: Result<NamedProfiles, _> = toml::from_str(BUILT_IN);
    named
        .map_or_else(|_| Vec::new(), |named| named.profiles.into_iter().map(|profile| profile.name).collect())
}

/// All profiles, indexed by name, account id and login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profiles {
    entries: Vec<ActiveProfile>,
    by_name: BTreeMap<ReviewerName, usize>,
    by_id: BTreeMap<u64, usize>,
    /// In lower case: GitHub ignores the case of logins.
    by_login: BTreeMap<String, usize>,
    by_shared_login: BTreeMap<String, Vec<usize>>,
    common: Common,
}

/// A profile with its overrides applied, and its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveProfile {
    pub name: ReviewerName,
    pub profile: Profile,
    /// Whether there is a built-in profile of this name.
    pub built_in: bool,
    /// The keys that the configuration sets.
    pub configured: Vec<&'static str>,
}

/// Marks for every reviewer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Common {
    pub(super) severity: Vec<SeverityMark>,
    pub(super) accepted: Vec<Mark>,
    /// Phrases in a reviewer's reply that mean nothing. They are removed first.
    pub(super) reply_courtesy: Vec<Mark>,
    /// Signs that the reviewer gives up the finding.
    pub(super) reply_withdraws: Vec<Mark>,
    /// Plain signs of acceptance. Only `reply_benign` sentences may follow them.
    pub(super) reply_accepts: Vec<Mark>,
    /// Weak signs of acceptance. They count only in a reply without `reply_problems`, whose other sentences
    /// are all `reply_benign`.
    pub(super) reply_concedes: Vec<Mark>,
    pub(super) reply_benign: Vec<Mark>,
    pub(super) reply_problems: Vec<Mark>,
    /// The reviewer insists, recommends or says what to do.
    pub(super) reply_holds: Vec<Mark>,
    /// Doubt, which prevents acceptance.
    pub(super) reply_doubts: Vec<Mark>,
    /// Notices that many bots share.
    pub(super) unknown_failure: Vec<Mark>,
    /// Titles of folded sections that announce findings in any format.
    pub(super) counted_sections: Vec<Pattern>,
}

/// Why the profiles cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfilesError {
    #[error("the reviewer profiles cannot be read: {0}")]
    Unreadable(String),
    #[error("two reviewer profiles, {first} and {second}, have {what}; remove it from one of them")]
    Ambiguous { what: String, first: ReviewerName, second: ReviewerName },
    #[error("there are two reviewer profiles with the name {0}; merge them into one")]
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
    pub fn built_in() -> Result<Profiles, ProfilesError> {
        Self::with_overrides(&[])
    }

    /// The built-in profiles with the configuration's overrides and additions.
    pub fn with_overrides(overrides: &[ProfileOverride]) -> Result<Profiles, ProfilesError> {
        Self::parse(BUILT_IN, overrides)
    }

    pub fn parse(text: &str, overrides: &[ProfileOverride]) -> Result<Profiles, ProfilesError> {
        let file: ProfileFile =
            toml::from_str(text).map_err(|error| ProfilesError::Unreadable(error.to_string()))?;
        let mut entries: Vec<ActiveProfile> = Vec::new();
        let built_in = file.profiles.iter().map(|entry| (entry, true));
        let configured = overrides.iter().map(|entry| (entry, false));
        for (entry, built_in) in built_in.chain(configured) {
            let name = ReviewerName::from(entry.name.as_str());
            match entries.iter_mut().find(|entry| entry.name == name) {
                Some(same) if built_in || !same.configured.is_empty() || !same.built_in => {
                    return Err(ProfilesError::Twice(name));
                }
                Some(same) => {
                    same.configured = same.profile.apply(entry);
                    // The built-in ids are those of the built-in logins.
                    if entry.logins.is_some() && entry.ids.is_none() && entry.logins_without_id.is_none() {
                        same.profile.logins_without_id.clone_from(&same.profile.logins);
                    }
                }
                None => {
                    let mut profile = Profile::default();
                    let keys = profile.apply(entry);
                    let configured = if built_in { Vec::new() } else { keys };
                    entries.push(ActiveProfile { name, profile, built_in, configured });
                }
            }
        }
        Self::new(entries, file.common)
    }

    fn new(entries: Vec<ActiveProfile>, common: Common) -> Result<Profiles, ProfilesError> {
        let mut by_id = BTreeMap::new();
        let mut by_login = BTreeMap::new();
        let mut by_name = BTreeMap::new();
        let mut by_shared_login: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let ambiguous = |what: String, first: usize, second: &ActiveProfile| ProfilesError::Ambiguous {
            what,
            first: entries[first].name.clone(),
            second: second.name.clone(),
        };
        for (index, entry) in entries.iter().enumerate() {
            by_name.insert(entry.name.clone(), index);
            for id in &entry.profile.ids {
                if let Some(first) = by_id.insert(*id, index) {
                    return Err(ambiguous(format!("the account {id}"), first, entry));
                }
            }
            for login in &entry.profile.logins {
                if let Some(first) = by_login.insert(comparable(login), index) {
                    return Err(ambiguous(format!("the login {login}"), first, entry));
                }
            }
            for login in &entry.profile.shared_logins {
                by_shared_login.entry(comparable(login)).or_default().push(index);
            }
        }
        Ok(Profiles { entries, by_name, by_id, by_login, by_shared_login, common })
    }

    /// The reviewer that has this account. A known id decides, because it stays when the login changes.
    /// Otherwise the whole login decides, with or without `[bot]`, unless the profile knows another id for it. The kind
    /// of account must match in all cases.
    pub fn recognise(&self, account: &Account) -> Option<&ReviewerName> {
        let by_id = account.database_id.and_then(|id| self.by_id.get(&id));
        let login = comparable(account.login.as_str());
        let by_login = || {
            let index = self.by_login.get(&login)?;
            let Profile { ids, logins_without_id, .. } = &self.entries[*index].profile;
            let is_without_id = || logins_without_id.iter().any(|known| comparable(known) == login);
            (account.database_id.is_none() || ids.is_empty() || is_without_id()).then_some(index)
        };
        let entry = &self.entries[*by_id.or_else(by_login)?];
        entry.profile.kind.matches(account.kind).then_some(&entry.name)
    }

    /// The reviewer that wrote this post. On a shared account only marks in the post identify it.
    fn recognise_post(&self, account: &Account, body: &str) -> Option<&ReviewerName> {
        if let Some(name) = self.recognise(account) {
            return Some(name);
        }
        let sharing = self.by_shared_login.get(&comparable(account.login.as_str()))?;
        let entry = sharing.iter().map(|index| &self.entries[*index]).find(|entry| {
            entry.profile.kind.matches(account.kind)
                && entry.profile.body_marks.iter().any(|mark| mark.matches(body))
        })?;
        Some(&entry.name)
    }

    pub fn iter(&self) -> impl Iterator<Item = &ActiveProfile> {
        self.entries.iter()
    }

    pub fn get(&self, name: &ReviewerName) -> Option<&ActiveProfile> {
        self.by_name.get(name).map(|index| &self.entries[*index])
    }

    /// Reads the post of an unknown bot with the common marks.
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

    fn own_lines<'a>(&self, body: &'a str) -> Vec<&'a str> {
        replies::own_lines(body)
    }
}

impl PostReader for Profiles {
    fn reviewer(&self, by: &Account, body: &str) -> Option<ReviewerName> {
        self.recognise_post(by, body).cloned()
    }

    fn read(&self, reviewer: &ReviewerName, place: PostPlace, body: &str) -> ParsedPost {
        match self.get(reviewer) {
            Some(entry) => reading::read(&entry.profile, &self.common, place, body),
            None => self.read_unknown(place, body),
        }
    }

    fn reacts(&self, reviewer: &ReviewerName) -> bool {
        self.get(reviewer).is_some_and(|entry| !entry.profile.reactions.is_empty())
    }

    fn accepts_unedited(&self, reviewer: &ReviewerName) -> bool {
        self.get(reviewer).is_none_or(|entry| entry.profile.settles.is_empty())
    }

    /// A clean reaction counts only if the profile trusts it; it names no commit and no number.
    fn reaction(&self, reviewer: &ReviewerName, content: &str) -> Option<PostContent> {
        let Profile { reactions, trust_reaction, .. } = &self.get(reviewer)?.profile;
        if content == reactions.running {
            Some(PostContent::InProgress)
        } else {
            (content == reactions.clean && *trust_reaction).then_some(PostContent::Complete)
        }
    }
}

/// A login without `[bot]` and in lower case, for comparing.
fn comparable(login: &str) -> String {
    login.strip_suffix("[bot]").unwrap_or(login).to_ascii_lowercase()
}

#[cfg(test)]
mod tests;
