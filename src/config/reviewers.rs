//! Checks `[[reviewers]]`, `[author]` and `[break_glass]`, and calls the checks of all other tables.

use super::check::{Checks, Problem, one_line, one_line_or_empty};
use super::drivers::{checked_adapter, checked_agent};
use super::github::checked_watch;
use super::people::{checked_notifications, checked_operator, checked_repositories};
use super::profiles::checked_profiles;
use super::screen::{checked_keys, checked_tui};
use super::value::quoted;
use super::{AuthorConfig, Config, ReviewerConfig, TypedValue, typed};
use crate::domain::cycle::Protocol;
use crate::domain::re_review::BreakGlassRules;
use crate::reviewers::profiles::built_in_names;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Tokens that current models take (R6).
const DEFAULT_CONTEXT_WINDOW: u64 = 200_000;
/// With 0 every prompt would be cut to nothing. The upper end prevents overflows.
const CONTEXT_WINDOW: RangeInclusive<u64> = 1..=1_000_000_000;
/// A negative price would lower the sum. The upper end keeps the worst case finite.
const PRICE: RangeInclusive<f64> = 0.0..=1_000_000_000.0;

const PROTOCOLS: [(&str, Protocol); 2] = [("actions", Protocol::Actions), ("findings", Protocol::Findings)];

impl typed::TypedConfig {
    /// The configuration with its defaults, or all problems.
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
        let known = known_reviewers(reviewers, profiles);
        let (handoff, targets) = or_default(handoff.validated_with_targets(), &mut problems);
        let config = Config {
            github: or_default(github.validated(), &mut problems),
            journal: or_default(journal.validated(), &mut problems),
            watch: or_default(checked_watch(watch), &mut problems),
            policy: or_default(policy.validated(), &mut problems),
            handoff,
            targets,
            reviewers: or_default(checked_reviewers(reviewers), &mut problems),
            profiles: or_default(checked_profiles(profiles), &mut problems),
            author: or_default(checked_author(author), &mut problems),
            repositories: or_default(checked_repositories(repositories, &known), &mut problems),
            operator: or_default(checked_operator(operator), &mut problems),
            notifications: or_default(checked_notifications(notifications), &mut problems),
            break_glass: or_default(checked_break_glass(break_glass), &mut problems),
            tui: or_default(checked_tui(tui), &mut problems),
            keys: or_default(checked_keys(keys), &mut problems),
        };
        if problems.is_empty() { Ok(config) } else { Err(problems) }
    }
}

/// Collects the problems of one table and continues with its default.
fn or_default<T: Default>(table: Result<T, Vec<Problem>>, problems: &mut Vec<Problem>) -> T {
    table.unwrap_or_else(|more| {
        problems.extend(more);
        T::default()
    })
}

/// The names of all reviewers, also of those whose other keys are wrong: these have problems of their own.
fn known_reviewers(reviewers: &[typed::TypedReviewer], profiles: &[typed::TypedProfile]) -> BTreeSet<String> {
    let reviewers = reviewers.iter().filter_map(|reviewer| reviewer.name.as_ref());
    let typed = reviewers.chain(profiles.iter().filter_map(|profile| profile.name.as_ref()));
    typed.filter_map(one_line).chain(built_in_names()).collect()
}

fn checked_reviewers(typed: &[typed::TypedReviewer]) -> Result<Vec<ReviewerConfig>, Vec<Problem>> {
    let mut checks = Checks::of("reviewers");
    let mut reviewers = Vec::new();
    let mut names = BTreeSet::new();
    for (index, reviewer) in typed.iter().enumerate() {
        // `checked_adapter` reads the other keys.
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
        if !names.insert(name.clone()) {
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

/// A blank phrase would match almost every comment, and a phrase of two lines none.
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
