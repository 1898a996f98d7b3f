//! Checking the whole file: `[policy]` and `[handoff]` by their own modules, and here who takes part.

use super::check::{Checks, Problem, one_line_or_empty};
use super::drivers::{checked_adapter, checked_agent};
use super::github::checked_watch;
use super::people::{checked_notifications, checked_operator, checked_repositories};
use super::profiles::checked_profiles;
use super::screen::{checked_keys, checked_tui};
use super::value::quoted;
use super::{AuthorConfig, Config, ReviewerConfig, TypedValue, typed};
use crate::domain::cycle::Protocol;
use crate::domain::re_review::BreakGlassRules;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// What current models take; the prompt is measured against it (R6).
const DEFAULT_CONTEXT_WINDOW: u64 = 200_000;
/// With 0 everything would be cut from every prompt. The upper end only keeps sums far from overflowing.
const CONTEXT_WINDOW: RangeInclusive<u64> = 1..=1_000_000_000;
/// A negative price would let one reviewer pay for another. The upper end keeps the worst case finite.
const PRICE: RangeInclusive<f64> = 0.0..=1_000_000_000.0;

const PROTOCOLS: [(&str, Protocol); 2] = [("actions", Protocol::Actions), ("findings", Protocol::Findings)];

impl typed::TypedConfig {
    /// The configuration with its defaults filled in, or everything that is wrong with it.
    pub fn validated(&self) -> Result<Config, Vec<Problem>> {
        let typed::TypedConfig {
            github,
            journal,
            watch,
            policy,
            handoff,
            reviewers,
            profiles,
            author,
            repositories,
            operator,
            notifications,
            break_glass,
            tui,
            keys,
        } = self;
        let mut problems = Vec::new();
        let (handoff, targets) = unless_wrong(handoff.validated_with_targets(), &mut problems);
        let config = Config {
            github: unless_wrong(github.validated(), &mut problems),
            journal: unless_wrong(journal.validated(), &mut problems),
            watch: unless_wrong(checked_watch(watch), &mut problems),
            policy: unless_wrong(policy.validated(), &mut problems),
            handoff,
            targets,
            reviewers: unless_wrong(checked_reviewers(reviewers), &mut problems),
            profiles: unless_wrong(checked_profiles(profiles), &mut problems),
            author: unless_wrong(checked_author(author), &mut problems),
            repositories: unless_wrong(checked_repositories(repositories), &mut problems),
            operator: unless_wrong(checked_operator(operator), &mut problems),
            notifications: unless_wrong(checked_notifications(notifications), &mut problems),
            break_glass: unless_wrong(checked_break_glass(break_glass), &mut problems),
            tui: unless_wrong(checked_tui(tui), &mut problems),
            keys: unless_wrong(checked_keys(keys), &mut problems),
        };
        if problems.is_empty() { Ok(config) } else { Err(problems) }
    }
}

/// Keeps the problems of one section and goes on with the next.
fn unless_wrong<T: Default>(section: Result<T, Vec<Problem>>, problems: &mut Vec<Problem>) -> T {
    section.unwrap_or_else(|found| {
        problems.extend(found);
        T::default()
    })
}

fn checked_reviewers(typed: &[typed::TypedReviewer]) -> Result<Vec<ReviewerConfig>, Vec<Problem>> {
    let mut checks = Checks::of("reviewers");
    let mut reviewers = Vec::new();
    let mut taken = BTreeSet::new();
    for (index, reviewer) in typed.iter().enumerate() {
        // The rest says how it is asked.
        let typed::TypedReviewer { name, protocol, context_window, price_per_call, .. } = reviewer;
        let table = format!("[{index}]");
        let name = checks.required_name(&table, "name", name.as_ref(), "a name for the reviewer");
        let protocol = checks.choice(&format!("{table}.protocol"), protocol.as_ref(), &PROTOCOLS);
        let context_window =
            checks.whole(&format!("{table}.context_window"), context_window.as_ref(), &CONTEXT_WINDOW);
        let price_per_call =
            checks.number(&format!("{table}.price_per_call"), price_per_call.as_ref(), &PRICE);
        let adapter = checked_adapter(&mut checks, &table, reviewer);
        let Some(name) = name else { continue };
        if !taken.insert(name.clone()) {
            checks.refuse(&format!("{table}.name"), "a name that no other reviewer has", quoted(&name));
            continue;
        }
        reviewers.push(ReviewerConfig {
            name: name.into(),
            protocol: protocol.unwrap_or_default(),
            context_window: context_window.unwrap_or(DEFAULT_CONTEXT_WINDOW),
            price_per_call,
            adapter,
        });
    }
    checks.finish(reviewers)
}

fn checked_author(typed: &typed::TypedAuthor) -> Result<AuthorConfig, Vec<Problem>> {
    let mut checks = Checks::of("author");
    let price_per_call = checks.number("price_per_call", typed.price_per_call.as_ref(), &PRICE);
    let agent = checked_agent(&mut checks, typed);
    checks.finish(AuthorConfig { price_per_call, agent })
}

/// A blank phrase would stand in almost every comment, and one over two lines in none.
fn checked_break_glass(typed: &typed::TypedBreakGlass) -> Result<BreakGlassRules, Vec<Problem>> {
    let typed::TypedBreakGlass { label, phrase } = typed;
    let default = BreakGlassRules::default();
    let mut checks = Checks::of("break_glass");
    let mut text = |key, typed: &Option<TypedValue>, default| {
        let expected = || "one line of text, or \"\" to switch it off".to_owned();
        checks.read(key, typed.as_ref(), expected, one_line_or_empty).unwrap_or(default)
    };
    let rules = BreakGlassRules {
        label: text("label", label, default.label),
        phrase: text("phrase", phrase, default.phrase),
    };
    checks.finish(rules)
}
