//! Checking how tasks are sent to the targets of a handoff (H9). A key that means nothing to a target's kind is refused,
//! because whoever wrote it expected something of it.

use super::check::Checks;
use super::drivers::DriverKeys;
use super::github::is_login;
use super::{TypedValue, typed};
use crate::agents::http::HttpAddress;
use crate::domain::snapshot::RepositoryName;
use crate::domain::vocabulary::TargetName;
use crate::reviewers::adapters::Program;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// How tasks are sent, by target. What is declared without a kind is not in it.
pub type TargetKinds = BTreeMap<TargetName, TargetKind>;

/// How a task is sent to one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetKind {
    /// A local program, with the task on its standard input.
    Command {
        program: Program,
        /// Where it runs; the folder of this process where there is none.
        directory: Option<PathBuf>,
    },
    /// An issue on GitHub.
    Issue {
        /// The pull request's own where there is none.
        repository: Option<RepositoryName>,
        labels: Vec<String>,
        assignees: Vec<String>,
    },
    /// An event for a repository's workflows.
    RepositoryDispatch {
        /// The pull request's own where there is none.
        repository: Option<RepositoryName>,
        event_type: String,
    },
    /// A comment on the pull request that begins with this text, such as an agent's trigger phrase.
    Comment { body: String },
    /// A request to somebody's server.
    Webhook {
        url: HttpAddress,
        /// The variable whose value signs the request.
        secret_env: Option<String>,
        timeout: Duration,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TypedTargetKind {
    Command,
    Issue,
    RepositoryDispatch,
    Comment,
    Webhook,
}

const KINDS: [(&str, TypedTargetKind); 5] = [
    ("command", TypedTargetKind::Command),
    ("issue", TypedTargetKind::Issue),
    ("repository_dispatch", TypedTargetKind::RepositoryDispatch),
    ("comment", TypedTargetKind::Comment),
    ("webhook", TypedTargetKind::Webhook),
];

/// A coding agent that fixes what it is given before it answers needs as long as the author's does.
const COMMAND_TIMEOUT: Duration = Duration::from_mins(30);
/// A server that only takes a task and works on it afterwards.
const WEBHOOK_TIMEOUT: Duration = Duration::from_secs(30);
/// GitHub's own bound.
const LONGEST_EVENT_TYPE: usize = 100;

const REPOSITORY: &str = "a repository as OWNER/NAME";
const EVENT_TYPE: &str = "the name of an event, of at most 100 characters";
const BODY: &str = "the text that the comment begins with, such as \"@agent fix these\"";
const URL: &str = "an address with https, or with http on this machine only";

/// How tasks are sent to a target; none where it has no kind, or where something is wrong.
pub(super) fn checked_kind(
    checks: &mut Checks,
    table: &str,
    typed: &typed::TypedTarget,
) -> Option<TargetKind> {
    // Taken apart by name, so that a key which is read but never checked does not compile.
    let typed::TypedTarget {
        name: _,
        coalesce: _,
        kind,
        command,
        env,
        timeout,
        directory,
        repository,
        labels,
        assignees,
        event_type,
        body,
        url,
        secret_env,
    } = typed;
    let mut keys = DriverKeys { checks, table };
    let chosen = keys.kind(kind.as_ref(), &KINDS);
    // With a kind that is wrong nothing can be said about the others.
    if kind.is_some() && chosen.is_none() {
        return None;
    }
    let of = |kinds: &[TypedTargetKind]| chosen.is_some_and(|kind| kinds.contains(&kind));
    for (key, value, belongs) in [
        ("command", command, of(&[TypedTargetKind::Command])),
        ("env", env, of(&[TypedTargetKind::Command])),
        ("timeout", timeout, of(&[TypedTargetKind::Command, TypedTargetKind::Webhook])),
        ("directory", directory, of(&[TypedTargetKind::Command])),
        ("repository", repository, of(&[TypedTargetKind::Issue, TypedTargetKind::RepositoryDispatch])),
        ("labels", labels, of(&[TypedTargetKind::Issue])),
        ("assignees", assignees, of(&[TypedTargetKind::Issue])),
        ("event_type", event_type, of(&[TypedTargetKind::RepositoryDispatch])),
        ("body", body, of(&[TypedTargetKind::Comment])),
        ("secret_env", secret_env, of(&[TypedTargetKind::Webhook])),
    ] {
        keys.only_if(belongs, key, value.as_ref(), kind.as_ref());
    }
    // Whatever is wrong with an address, it may hold a password.
    let shown = url.as_ref().map(|_| TypedValue::Text("…".to_owned()));
    keys.only_if(of(&[TypedTargetKind::Webhook]), "url", shown.as_ref(), kind.as_ref());
    match chosen? {
        TypedTargetKind::Command => {
            let command = keys.command(command.as_ref(), None);
            let env = keys.variables(env.as_ref());
            let timeout = keys.timeout(timeout.as_ref(), COMMAND_TIMEOUT);
            let directory = keys.path("directory", directory.as_ref());
            Some(TargetKind::Command { program: Program { command: command?, env, timeout }, directory })
        }
        TypedTargetKind::Issue => Some(TargetKind::Issue {
            repository: checked_repository(&mut keys, repository.as_ref()),
            labels: keys.checks.texts(&keys.named("labels"), labels.as_ref(), "a label's name", |_| true),
            assignees: keys.checks.texts(&keys.named("assignees"), assignees.as_ref(), "a login", |text| {
                is_login(text) && text != "@me"
            }),
        }),
        TypedTargetKind::RepositoryDispatch => {
            let repository = checked_repository(&mut keys, repository.as_ref());
            let fits = |text: &str| text.chars().count() <= LONGEST_EVENT_TYPE;
            let event_type = required(&mut keys, "event_type", event_type.as_ref(), EVENT_TYPE, fits);
            Some(TargetKind::RepositoryDispatch { repository, event_type: event_type? })
        }
        TypedTargetKind::Comment => {
            let body = required(&mut keys, "body", body.as_ref(), BODY, |_| true);
            Some(TargetKind::Comment { body: body? })
        }
        TypedTargetKind::Webhook => {
            let url = checked_url(&mut keys, url.as_ref());
            let secret_env = keys.variable("secret_env", secret_env.as_ref());
            let timeout = keys.timeout(timeout.as_ref(), WEBHOOK_TIMEOUT);
            Some(TargetKind::Webhook { url: url?, secret_env, timeout })
        }
    }
}

fn checked_repository(keys: &mut DriverKeys<'_, '_>, typed: Option<&TypedValue>) -> Option<RepositoryName> {
    keys.checks.repository(&keys.named("repository"), typed, REPOSITORY)
}

fn required(
    keys: &mut DriverKeys<'_, '_>,
    key: &str,
    typed: Option<&TypedValue>,
    expected: &str,
    fits: impl FnOnce(&str) -> bool,
) -> Option<String> {
    if typed.is_none() {
        keys.refuse(key, expected, "nothing");
    }
    keys.checks.text(&keys.named(key), typed, expected, fits)
}

fn checked_url(keys: &mut DriverKeys<'_, '_>, typed: Option<&TypedValue>) -> Option<HttpAddress> {
    let found = match typed {
        None => "nothing".to_owned(),
        Some(TypedValue::Text(text)) => match HttpAddress::parse(text.trim()) {
            Ok(address) => return Some(address),
            Err(error) => error.to_string(),
        },
        Some(other) => other.to_string(),
    };
    keys.refuse("url", URL, found);
    None
}
