//! Checks `[[profiles]]`. With a broken pattern Cloture would misread every post of a reviewer.

use super::check::{Checks, Problem, is_one_line, one_of};
use super::handoff::severities;
use super::unknown_keys::nearest;
use super::value::quoted;
use super::{TypedValue, typed};
use crate::domain::vocabulary::Category;
use crate::reviewers::pattern::Pattern;
use crate::reviewers::profile::{
    BodyLayout, CategoryMark, Channel, Flag, Mark, MarkPosition, ProfileAccountKind, ProfileOverride,
    Reactions, RunStatus, SectionMark, Settling, SeverityMark, StatusMark, TitleFrom, Verdict, VerdictMark,
};
use crate::reviewers::profiles::{Profiles, ProfilesError, built_in_names};
use std::collections::BTreeSet;

const PATTERN: &str = "a regular expression";
/// Required where Cloture uses the captured text.
const GROUP: &str = "a regular expression with a group, such as \"id: (\\\\w+)\"";
const PLACE: &str =
    "a regular expression with the groups path and from, such as \"(?P<path>\\\\S+):(?P<from>\\\\d+)\"";
const TIME: &str =
    "a regular expression with a group hours, minutes or seconds, such as \"in (?P<minutes>\\\\d+) min\"";
const LOGIN: &str = "a login without @ and [bot], such as \"acme-reviewer\"";
/// Far above the ids of real accounts.
const ACCOUNT_IDS: std::ops::RangeInclusive<u64> = 1..=1_000_000_000_000;

pub(super) fn checked_profiles(typed: &[typed::TypedProfile]) -> Result<Vec<ProfileOverride>, Vec<Problem>> {
    let mut checks = Checks::of("profiles");
    let mut overrides: Vec<ProfileOverride> = Vec::new();
    let mut names = BTreeSet::new();
    for (index, profile) in typed.iter().enumerate() {
        let table = format!("[{index}]");
        let Some(entry) = ProfileChecks { checks: &mut checks, table: &table }.checked(profile) else {
            continue;
        };
        if !names.insert(entry.name.clone()) {
            let expected = "a name that no other profile in this file has";
            checks.refuse(&format!("{table}.name"), expected, quoted(&entry.name));
            continue;
        }
        if checks.is_clean() {
            check_with_others(&mut checks, &table, &overrides, &entry);
        }
        overrides.push(entry);
    }
    checks.finish(overrides)
}

/// Refuses a profile that has no account, or an account of a built-in profile or of one before it.
fn check_with_others(checks: &mut Checks, table: &str, before: &[ProfileOverride], entry: &ProfileOverride) {
    let overrides: Vec<ProfileOverride> = before.iter().chain([entry]).cloned().collect();
    match Profiles::with_overrides(&overrides) {
        Ok(profiles) => {
            let active = profiles.iter().find(|active| active.name.as_str() == entry.name);
            let has_no_account = active.is_some_and(|active| {
                let profile = &active.profile;
                profile.logins.is_empty() && profile.ids.is_empty() && profile.shared_logins.is_empty()
            });
            if has_no_account {
                let built_in = built_in_names();
                let likely = nearest(&entry.name, built_in.iter().map(String::as_str));
                let likely = likely.map(|name| format!(" (did you mean {}?)", quoted(name)));
                let expected = format!(
                    "the name of a built-in profile{}, or logins, ids or shared_logins beside it",
                    likely.unwrap_or_default()
                );
                checks.refuse(&format!("{table}.name"), expected, quoted(&entry.name));
            }
        }
        Err(ProfilesError::Ambiguous { what, first, second }) => {
            let other = if first.as_str() == entry.name { second } else { first };
            let expected = "accounts that no other profile has";
            checks.refuse(
                &format!("{table}.name"),
                expected,
                format!("{what}, which the profile {other} has"),
            );
        }
        Err(other) => {
            checks.refuse(&format!("{table}.name"), "profiles without conflicts", other.to_string());
        }
    }
}

/// Checks the keys of one profile.
struct ProfileChecks<'a> {
    checks: &'a mut Checks,
    table: &'a str,
}

impl ProfileChecks<'_> {
    fn checked(&mut self, typed: &typed::TypedProfile) -> Option<ProfileOverride> {
        // Destructured, so that a new key does not compile until it is checked.
        let typed::TypedProfile {
            name,
            logins,
            ids,
            logins_without_id,
            kind,
            shared_logins,
            body_marks,
            posts,
            title,
            title_skip,
            title_strip,
            severity,
            category,
            common_marks,
            own_id,
            place,
            commit,
            finding,
            introduction,
            accepted,
            holds,
            informs,
            walkthrough,
            clean,
            verdict,
            count,
            failure,
            retry_after,
            running,
            not_ready,
            noise,
            chat,
            status_table,
            status,
            body_layout,
            body_sections,
            other_sections,
            reactions,
            trust_reaction,
            ask_again,
            re_request,
            settles,
        } = typed;
        let shared = self.texts("shared_logins", shared_logins.as_ref(), LOGIN, login);
        let marks = self.patterns("body_marks", body_marks.as_ref(), PATTERN, |_| true);
        if shared.as_ref().is_some_and(|shared| !shared.is_empty()) && body_marks.is_none() {
            let expected = "body_marks beside it, because only they identify the reviewer's posts";
            self.checks.refuse(&self.key("shared_logins"), expected, "none");
        }
        let entry = ProfileOverride {
            name: String::new(),
            logins: self.texts("logins", logins.as_ref(), LOGIN, login),
            ids: self.ids(ids.as_ref()),
            logins_without_id: self.texts("logins_without_id", logins_without_id.as_ref(), LOGIN, login),
            kind: self.choice("kind", kind.as_ref(), &ProfileAccountKind::ALL),
            shared_logins: shared,
            body_marks: marks,
            posts: self.choices("posts", posts.as_ref(), &Channel::ALL),
            title: self.choice("title", title.as_ref(), &TitleFrom::ALL),
            title_skip: self.patterns("title_skip", title_skip.as_ref(), PATTERN, |_| true),
            title_strip: self.patterns("title_strip", title_strip.as_ref(), PATTERN, |_| true),
            severity: self.severities("severity", severity.as_deref()),
            category: self.categories("category", category.as_deref()),
            common_marks: self.checks.flag(&self.key("common_marks"), common_marks.as_ref()).map(Flag),
            own_id: self.patterns("own_id", own_id.as_ref(), GROUP, Pattern::has_group),
            place: self.patterns("place", place.as_ref(), PLACE, Pattern::has_place),
            commit: self.patterns("commit", commit.as_ref(), GROUP, Pattern::has_group),
            finding: self.marks("finding", finding.as_deref()),
            introduction: self.marks("introduction", introduction.as_deref()),
            accepted: self.marks("accepted", accepted.as_deref()),
            holds: self.marks("holds", holds.as_deref()),
            informs: self.marks("informs", informs.as_deref()),
            walkthrough: self.marks("walkthrough", walkthrough.as_deref()),
            clean: self.marks("clean", clean.as_deref()),
            verdict: self.verdicts("verdict", verdict.as_deref()),
            count: self.patterns("count", count.as_ref(), GROUP, Pattern::has_group),
            failure: self.marks("failure", failure.as_deref()),
            retry_after: self.patterns("retry_after", retry_after.as_ref(), TIME, Pattern::has_time),
            running: self.marks("running", running.as_deref()),
            not_ready: self.marks("not_ready", not_ready.as_deref()),
            noise: self.marks("noise", noise.as_deref()),
            chat: self.marks("chat", chat.as_deref()),
            status_table: self.marks("status_table", status_table.as_deref()),
            status: self.statuses("status", status.as_deref()),
            body_layout: self.choice("body_layout", body_layout.as_ref(), &BodyLayout::ALL),
            body_sections: self.sections("body_sections", body_sections.as_deref()),
            other_sections: self.patterns("other_sections", other_sections.as_ref(), PATTERN, |_| true),
            reactions: self.reactions(reactions.as_ref()),
            trust_reaction: self.checks.flag(&self.key("trust_reaction"), trust_reaction.as_ref()),
            ask_again: self.ask_again(ask_again.as_ref()),
            re_request: self.checks.flag(&self.key("re_request"), re_request.as_ref()),
            settles: self.choices("settles", settles.as_ref(), &Settling::ALL),
        };
        let name = self.checks.required_name(self.table, "name", name.as_ref(), "a name for the reviewer")?;
        Some(ProfileOverride { name, ..entry })
    }

    fn key(&self, key: &str) -> String {
        format!("{}.{key}", self.table)
    }

    fn choice<T: Copy>(&mut self, key: &str, typed: Option<&TypedValue>, choices: &[(&str, T)]) -> Option<T> {
        self.checks.choice(&self.key(key), typed, choices)
    }

    fn choices<T: Copy>(
        &mut self,
        key: &str,
        typed: Option<&TypedValue>,
        choices: &[(&str, T)],
    ) -> Option<Vec<T>> {
        typed?;
        let names: Vec<String> = choices.iter().map(|(name, _)| format!("{name:?}")).collect();
        let expected = format!("a list of {}", names.join(", "));
        let key = self.key(key);
        Some(
            self.checks
                .list(&key, typed, &expected, |checks, key, value| checks.choice(key, Some(value), choices)),
        )
    }

    /// A list of texts that `accept` allows.
    fn texts(
        &mut self,
        key: &str,
        typed: Option<&TypedValue>,
        expected: &str,
        accept: fn(&str) -> bool,
    ) -> Option<Vec<String>> {
        typed?;
        let key = self.key(key);
        Some(self.checks.list(&key, typed, &format!("a list, each {expected}"), |checks, key, value| {
            let text = |value: &TypedValue| match value {
                TypedValue::Text(text) if accept(text) => Some(text.clone()),
                _ => None,
            };
            checks.read(key, Some(value), || expected.to_owned(), text)
        }))
    }

    fn ids(&mut self, typed: Option<&TypedValue>) -> Option<Vec<u64>> {
        typed?;
        let key = self.key("ids");
        let expected = "a list of account numbers";
        Some(
            self.checks.list(&key, typed, expected, |checks, key, value| {
                checks.whole(key, Some(value), &ACCOUNT_IDS)
            }),
        )
    }

    fn patterns(
        &mut self,
        key: &str,
        typed: Option<&TypedValue>,
        expected: &str,
        accept: fn(&Pattern) -> bool,
    ) -> Option<Vec<Pattern>> {
        typed?;
        let key = self.key(key);
        Some(self.checks.list(&key, typed, &format!("a list, each {expected}"), |checks, key, value| {
            pattern(checks, key, Some(value), expected, accept)
        }))
    }

    fn ask_again(&mut self, typed: Option<&TypedValue>) -> Option<String> {
        let expected = || "one line of text, or \"\" if no comment asks the reviewer again".to_owned();
        self.checks.read(&format!("{}.ask_again", self.table), typed, expected, |value| match value {
            TypedValue::Text(text) if is_one_line(text) => Some(text.trim().to_owned()),
            _ => None,
        })
    }

    /// The position and pattern of a mark.
    fn mark(
        &mut self,
        key: &str,
        at: Option<&TypedValue>,
        typed: Option<&TypedValue>,
    ) -> Option<(MarkPosition, Pattern)> {
        let at = self.checks.choice(&format!("{key}.at"), at, &MarkPosition::ALL).unwrap_or_default();
        let key = format!("{key}.pattern");
        if typed.is_none() {
            self.checks.refuse(&key, PATTERN, "nothing");
        }
        pattern(self.checks, &key, typed, PATTERN, |_| true).map(|pattern| (at, pattern))
    }

    fn marks(&mut self, key: &str, typed: Option<&[typed::TypedMark]>) -> Option<Vec<Mark>> {
        let mut marks = Vec::new();
        for (index, typed::TypedMark { at, pattern }) in typed?.iter().enumerate() {
            let key = format!("{}[{index}]", self.key(key));
            marks.extend(
                self.mark(&key, at.as_ref(), pattern.as_ref()).map(|(at, pattern)| Mark { at, pattern }),
            );
        }
        Some(marks)
    }

    /// Marks that state a severity or a category.
    fn meanings<T: Copy>(
        &mut self,
        key: &str,
        typed: Option<&[typed::TypedMeaningMark]>,
        known: &[(&str, T)],
    ) -> Option<Vec<(MarkPosition, Pattern, T)>> {
        let mut marks = Vec::new();
        for (index, typed::TypedMeaningMark { at, pattern, is }) in typed?.iter().enumerate() {
            let key = format!("{}[{index}]", self.key(key));
            let mark = self.mark(&key, at.as_ref(), pattern.as_ref());
            let is = meaning(self.checks, &key, is.as_ref(), known);
            marks.extend(mark.zip(is).map(|((at, pattern), is)| (at, pattern, is)));
        }
        Some(marks)
    }

    fn severities(
        &mut self,
        key: &str,
        typed: Option<&[typed::TypedMeaningMark]>,
    ) -> Option<Vec<SeverityMark>> {
        let marks = self.meanings(key, typed, &severities())?;
        Some(marks.into_iter().map(|(at, pattern, is)| SeverityMark { at, pattern, is }).collect())
    }

    fn categories(
        &mut self,
        key: &str,
        typed: Option<&[typed::TypedMeaningMark]>,
    ) -> Option<Vec<CategoryMark>> {
        let known = Category::ALL.map(|category| (category.name(), category));
        let marks = self.meanings(key, typed, &known)?;
        Some(marks.into_iter().map(|(at, pattern, is)| CategoryMark { at, pattern, is }).collect())
    }

    fn verdicts(&mut self, key: &str, typed: Option<&[typed::TypedMeaningMark]>) -> Option<Vec<VerdictMark>> {
        let marks = self.meanings(key, typed, &Verdict::ALL)?;
        Some(marks.into_iter().map(|(at, pattern, is)| VerdictMark { at, pattern, is }).collect())
    }

    fn statuses(&mut self, key: &str, typed: Option<&[typed::TypedMeaningMark]>) -> Option<Vec<StatusMark>> {
        let marks = self.meanings(key, typed, &RunStatus::ALL)?;
        Some(marks.into_iter().map(|(at, pattern, is)| StatusMark { at, pattern, is }).collect())
    }

    fn reactions(&mut self, typed: Option<&typed::TypedReactions>) -> Option<Reactions> {
        let typed::TypedReactions { clean, running } = typed?;
        let known = Reactions::ALL.map(|name| (name, name));
        let mut reaction = |key: &str, typed: Option<&TypedValue>| {
            let chosen = self.checks.choice(&format!("{}.reactions.{key}", self.table), typed, &known);
            chosen.unwrap_or_default().to_owned()
        };
        Some(Reactions {
            clean: reaction("clean", clean.as_ref()),
            running: reaction("running", running.as_ref()),
        })
    }

    fn sections(&mut self, key: &str, typed: Option<&[typed::TypedSectionMark]>) -> Option<Vec<SectionMark>> {
        let mut marks = Vec::new();
        for (index, typed::TypedSectionMark { pattern, is }) in typed?.iter().enumerate() {
            let key = format!("{}[{index}]", self.key(key));
            let is = self.checks.choice(&format!("{key}.is"), is.as_ref(), &severities());
            marks.extend(
                self.mark(&key, None, pattern.as_ref()).map(|(_, pattern)| SectionMark { pattern, is }),
            );
        }
        Some(marks)
    }
}

/// The severity or category that a mark states. Required.
fn meaning<T: Copy>(
    checks: &mut Checks,
    key: &str,
    is: Option<&TypedValue>,
    known: &[(&str, T)],
) -> Option<T> {
    let key = format!("{key}.is");
    if is.is_none() {
        checks.refuse(&key, one_of(known), "nothing");
    }
    checks.choice(&key, is, known)
}

fn pattern(
    checks: &mut Checks,
    key: &str,
    typed: Option<&TypedValue>,
    expected: &str,
    accept: fn(&Pattern) -> bool,
) -> Option<Pattern> {
    let TypedValue::Text(text) = typed? else {
        checks.refuse(key, expected, typed?.to_string());
        return None;
    };
    match Pattern::checked(text) {
        Ok(pattern) if accept(&pattern) => Some(pattern),
        Ok(_) => {
            checks.refuse(key, expected, quoted(text));
            None
        }
        Err(why) => {
            checks.refuse(key, expected, format!("{}: {why}", quoted(text)));
            None
        }
    }
}

fn login(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}
