//! Checks `[[repositories]]`, `[operator]` and `[notifications]`: where Cloture may act, and whom it
//! notifies.

use super::check::{Checks, Problem, one_line_or_empty};
use super::drivers::DriverKeys;
use super::handoff::severities;
use super::unknown_keys::nearest;
use super::value::quoted;
use super::{NotificationConfig, NotifyHow, NotifyWhen, OperatorConfig, RepositoryConfig, typed};
use crate::domain::vocabulary::Severity;
use std::collections::BTreeSet;

#[derive(Clone, Copy)]
enum TypedNotifyWhen {
    Never,
    Always,
    Severity,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TypedNotifyHow {
    Bell,
    Osc9,
    Desktop,
    Command,
}

const NOTIFY_WHEN: [(&str, TypedNotifyWhen); 3] = [
    ("off", TypedNotifyWhen::Never),
    ("on", TypedNotifyWhen::Always),
    ("severity", TypedNotifyWhen::Severity),
];
const NOTIFY_HOW: [(&str, TypedNotifyHow); 4] = [
    ("bell", TypedNotifyHow::Bell),
    ("osc9", TypedNotifyHow::Osc9),
    ("desktop", TypedNotifyHow::Desktop),
    ("command", TypedNotifyHow::Command),
];

/// `known` are the names of all reviewers. A name that is none of them would be waited for in vain.
pub(super) fn checked_repositories(
    typed: &[typed::TypedRepository],
    known: &BTreeSet<String>,
) -> Result<Vec<RepositoryConfig>, Vec<Problem>> {
    let mut checks = Checks::of("repositories");
    let mut repositories = Vec::new();
    let mut names = BTreeSet::new();
    for (index, typed::TypedRepository { name, drive, reviewers, author }) in typed.iter().enumerate() {
        let key = |name: &str| format!("[{index}].{name}");
        let expected = "a repository as OWNER/NAME";
        if name.is_none() {
            checks.refuse(&key("name"), expected, "nothing");
        }
        let name = checks.repository(&key("name"), name.as_ref(), expected);
        let drive = checks.flag(&key("drive"), drive.as_ref()).unwrap_or(false);
        let has_reviewers = reviewers.is_some();
        let expected = "a list, each the name of a reviewer";
        let reviewers = checks.list(&key("reviewers"), reviewers.as_ref(), expected, |checks, key, value| {
            let name = checks.text(key, Some(value), "the name of a reviewer", |_| true)?;
            if !known.contains(&name) {
                checks.refuse(key, known_reviewer(&name, known), quoted(&name));
            }
            Some(name)
        });
        let author = checks.flag(&key("author"), author.as_ref()).unwrap_or(drive);
        // S4: the author's agent pushes, so it needs permission to write.
        if author && !drive {
            checks.refuse(&key("author"), "false, or `drive = true` in the same entry", "true");
        }
        let Some(name) = name else { continue };
        if !names.insert(name.clone()) {
            let found = quoted(&name.to_string());
            checks.refuse(&key("name"), "a repository that no other entry has", found);
            continue;
        }
        let reviewers = has_reviewers.then(|| reviewers.into_iter().map(Into::into).collect());
        repositories.push(RepositoryConfig { name, drive, reviewers, author });
    }
    checks.finish(repositories)
}

fn known_reviewer(name: &str, known: &BTreeSet<String>) -> String {
    match nearest(name, known.iter().map(String::as_str)) {
        Some(likely) => format!("a known reviewer (did you mean {}?)", quoted(likely)),
        None => "a reviewer of [[reviewers]], of [[profiles]] or of the list that `cloture reviewers` prints"
            .to_owned(),
    }
}

pub(super) fn checked_operator(typed: &typed::TypedOperator) -> Result<OperatorConfig, Vec<Problem>> {
    let typed::TypedOperator { mention, label } = typed;
    let mut checks = Checks::of("operator");
    let expected = "a person or team to mention, such as \"@alice\" or \"@acme/leads\"";
    let mention = checks.text("mention", mention.as_ref(), expected, is_mention);
    let expected = || "the name of a label, or \"\" for none".to_owned();
    let label = checks.read("label", label.as_ref(), expected, one_line_or_empty);
    let label = label.map_or_else(
        || OperatorConfig::default().label,
        |label| Some(label).filter(|label| !label.is_empty()),
    );
    checks.finish(OperatorConfig { mention, label })
}

/// `@login` or `@organisation/team`.
fn is_mention(text: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    text.strip_prefix('@').is_some_and(|name| match name.split_once('/') {
        Some((organisation, team)) => part(organisation) && part(team),
        None => part(name),
    })
}

pub(super) fn checked_notifications(
    typed: &typed::TypedNotifications,
) -> Result<NotificationConfig, Vec<Problem>> {
    let typed::TypedNotifications { when, min_severity, how, command } = typed;
    let mut checks = Checks::of("notifications");
    let chosen_when = checks.choice("when", when.as_ref(), &NOTIFY_WHEN);
    let min_severity = checks.choice("min_severity", min_severity.as_ref(), &severities());
    let chosen_how = checks.choice("how", how.as_ref(), &NOTIFY_HOW);
    let mut keys = DriverKeys { checks: &mut checks, table: "" };
    let how = match (chosen_how, command) {
        (Some(TypedNotifyHow::Command), _) => {
            keys.command(command.as_ref(), None).map_or_else(NotifyHow::default, NotifyHow::Command)
        }
        (_, Some(found)) if how.is_none() || chosen_how.is_some() => {
            keys.refuse("command", "no such key unless how = \"command\"", found.to_string());
            NotifyHow::default()
        }
        (Some(TypedNotifyHow::Osc9), _) => NotifyHow::Osc9,
        (Some(TypedNotifyHow::Desktop), _) => NotifyHow::Desktop,
        (Some(TypedNotifyHow::Bell) | None, _) => NotifyHow::Bell,
    };
    let when = match chosen_when {
        None | Some(TypedNotifyWhen::Never) => NotifyWhen::Never,
        Some(TypedNotifyWhen::Always) => NotifyWhen::Always,
        Some(TypedNotifyWhen::Severity) => NotifyWhen::AtLeast(min_severity.unwrap_or(Severity::High)),
    };
    checks.finish(NotificationConfig { when, how })
}
