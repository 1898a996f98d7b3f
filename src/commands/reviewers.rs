//! `cloture reviewers`: the active profiles of reviewers, and where each comes from.

use crate::app::invocation::Invocation;
use crate::commands::{Outcome, Report, report};
use crate::output::sanitize;
use crate::reviewers::profile::{Channel, Profile, Settling};
use crate::reviewers::profiles::{ActiveProfile, Profiles};
use serde::Serialize;
use std::fmt;

/// The active profiles, sorted by name.
#[derive(Debug, Serialize)]
pub struct ProfileList {
    profiles: Vec<ProfileListEntry>,
}

#[derive(Debug, Serialize)]
struct ProfileListEntry {
    name: String,
    logins: Vec<String>,
    ids: Vec<u64>,
    shared_logins: Vec<String>,
    posts: Vec<&'static str>,
    settles: Vec<&'static str>,
    ask_again: Option<String>,
    re_request: bool,
    /// `built_in` or `configuration`.
    source: &'static str,
    /// The keys that the configuration sets, in the order of the documentation.
    configured: Vec<&'static str>,
}

pub fn run(invocation: &Invocation, json: bool) -> anyhow::Result<Outcome> {
    let profiles = Profiles::with_overrides(&invocation.load_config()?.config.profiles)?;
    report::print(&ProfileList::of(&profiles), json)
}

impl ProfileList {
    fn of(profiles: &Profiles) -> ProfileList {
        let mut profiles: Vec<ProfileListEntry> = profiles.iter().map(ProfileListEntry::of).collect();
        profiles.sort_by(|a, b| a.name.cmp(&b.name));
        ProfileList { profiles }
    }
}

impl Report for ProfileList {
    fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|text| sanitize::json(&text).into_owned())
    }
}

impl ProfileListEntry {
    fn of(active: &ActiveProfile) -> ProfileListEntry {
        let Profile { logins, ids, shared_logins, posts, settles, ask_again, re_request, .. } =
            &active.profile;
        ProfileListEntry {
            name: active.name.to_string(),
            logins: logins.clone(),
            ids: ids.clone(),
            shared_logins: shared_logins.clone(),
            posts: names(posts, &Channel::ALL),
            settles: names(settles, &Settling::ALL),
            ask_again: Some(ask_again.clone()).filter(|text| !text.is_empty()),
            re_request: *re_request,
            source: if active.built_in { "built_in" } else { "configuration" },
            configured: active.configured.clone(),
        }
    }

    /// The accounts whose posts the profile reads.
    fn accounts(&self) -> String {
        let shared = self.shared_logins.iter().map(|login| format!("{login} (by marks in the post)"));
        let accounts: Vec<String> = self.logins.iter().cloned().chain(shared).collect();
        if accounts.is_empty() { "known by account number".to_owned() } else { accounts.join(", ") }
    }

    fn asking_again(&self) -> String {
        match (&self.ask_again, self.re_request) {
            (Some(comment), _) => format!("ask again with the comment {comment:?}"),
            (None, true) => "ask again by requesting its review".to_owned(),
            (None, false) => "cannot be asked again".to_owned(),
        }
    }

    fn origin(&self) -> String {
        match (self.source, self.configured.as_slice()) {
            ("built_in", []) => "built in".to_owned(),
            ("built_in", keys) => format!("built in, with {} from the configuration", keys.join(", ")),
            (_, _) => "the configuration".to_owned(),
        }
    }
}

fn names<T: Copy + PartialEq>(chosen: &[T], all: &[(&'static str, T)]) -> Vec<&'static str> {
    let name = |choice: &T| all.iter().find(|(_, value)| value == choice).map(|(name, _)| *name);
    chosen.iter().filter_map(name).collect()
}

impl fmt::Display for ProfileList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widest = self.profiles.iter().map(|entry| entry.name.chars().count()).max().unwrap_or_default();
        for (index, entry) in self.profiles.iter().enumerate() {
            let break_before = if index == 0 { "" } else { "\n" };
            let name = sanitize::line(&entry.name).into_owned();
            let text = format!("{}; {}; from: {}", entry.accounts(), entry.asking_again(), entry.origin());
            write!(f, "{break_before}{name:widest$}  {}", sanitize::line(&text))?;
        }
        Ok(())
    }
}
