//! Checking how tasks are sent to the targets of a handoff (H9). A key that means nothing to a target's kind is refused,
//! because whoever wrote it expected something of it.

use super::check::Checks;
use super::drivers::Keys;
use super::github::is_login;
use super::{Value, typed};
use crate::agents::http::Address;
use crate::domain::snapshot::RepositoryName;
use crate::domain::vocabulary::TargetName;
use crate::reviewers::adapters::Program;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// How tasks are sent, by target. What is declared without a kind is not in it.
pub type Targets = BTreeMap<TargetName, TargetKind>;

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
        url: Address,
        /// The variable whose value signs the request.
        secret_env: Option<String>,
        timeout: Duration,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Command,
    Issue,
    RepositoryDispatch,
    Comment,
    Webhook,
}

const KINDS: [(&str, Kind); 5] = [
    ("command", Kind::Command),
    ("issue", Kind::Issue),
    ("repository_dispatch", Kind::RepositoryDispatch),
    ("comment", Kind::Comment),
    ("webhook", Kind::Webhook),
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
pub(super) fn checked_kind(checks: &mut Checks, table: &str, typed: &typed::Target) -> Option<TargetKind> {
    // Taken apart by name, so that a key which is read but never checked does not compile.
    let typed::Target {
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
    let mut keys = Keys { checks, table };
    let chosen = keys.kind(kind.as_ref(), &KINDS);
    // With a kind that is wrong nothing can be said about the others.
    if kind.is_some() && chosen.is_none() {
        return None;
    }
    let of = |kinds: &[Kind]| chosen.is_some_and(|kind| kinds.contains(&kind));
    for (key, value, belongs) in [
        ("command", command, of(&[Kind::Command])),
        ("env", env, of(&[Kind::Command])),
        ("timeout", timeout, of(&[Kind::Command, Kind::Webhook])),
        ("directory", directory, of(&[Kind::Command])),
        ("repository", repository, of(&[Kind::Issue, Kind::RepositoryDispatch])),
        ("labels", labels, of(&[Kind::Issue])),
        ("assignees", assignees, of(&[Kind::Issue])),
        ("event_type", event_type, of(&[Kind::RepositoryDispatch])),
        ("body", body, of(&[Kind::Comment])),
        ("secret_env", secret_env, of(&[Kind::Webhook])),
    ] {
        keys.only_if(belongs, key, value.as_ref(), kind.as_ref());
    }
    // Whatever is wrong with an address, it may hold a password.
    let shown = url.as_ref().map(|_| Value::Text("…".to_owned()));
    keys.only_if(of(&[Kind::Webhook]), "url", shown.as_ref(), kind.as_ref());
    match chosen? {
        Kind::Command => {
            let command = keys.command(command.as_ref(), None);
            let env = keys.variables(env.as_ref());
            let timeout = keys.timeout(timeout.as_ref(), COMMAND_TIMEOUT);
            let directory = keys.path("directory", directory.as_ref());
            Some(TargetKind::Command { program: Program { command: command?, env, timeout }, directory })
        }
        Kind::Issue => Some(TargetKind::Issue {
            repository: checked_repository(&mut keys, repository.as_ref()),
            labels: keys.checks.texts(&keys.named("labels"), labels.as_ref(), "a label's name", |_| true),
            assignees: keys.checks.texts(&keys.named("assignees"), assignees.as_ref(), "a login", |text| {
                is_login(text) && text != "@me"
            }),
        }),
        Kind::RepositoryDispatch => {
            let repository = checked_repository(&mut keys, repository.as_ref());
            let fits = |text: &str| text.chars().count() <= LONGEST_EVENT_TYPE;
            let event_type = required(&mut keys, "event_type", event_type.as_ref(), EVENT_TYPE, fits);
            Some(TargetKind::RepositoryDispatch { repository, event_type: event_type? })
        }
        Kind::Comment => {
            let body = required(&mut keys, "body", body.as_ref(), BODY, |_| true);
            Some(TargetKind::Comment { body: body? })
        }
        Kind::Webhook => {
            let url = checked_url(&mut keys, url.as_ref());
            let secret_env = keys.variable("secret_env", secret_env.as_ref());
            let timeout = keys.timeout(timeout.as_ref(), WEBHOOK_TIMEOUT);
            Some(TargetKind::Webhook { url: url?, secret_env, timeout })
        }
    }
}

fn checked_repository(keys: &mut Keys<'_, '_>, typed: Option<&Value>) -> Option<RepositoryName> {
    keys.checks.repository(&keys.named("repository"), typed, REPOSITORY)
}

fn required(
    keys: &mut Keys<'_, '_>,
    key: &str,
    typed: Option<&Value>,
    expected: &str,
    fits: impl FnOnce(&str) -> bool,
) -> Option<String> {
    if typed.is_none() {
        keys.refuse(key, expected, "nothing");
    }
    keys.checks.text(&keys.named(key), typed, expected, fits)
}

fn checked_url(keys: &mut Keys<'_, '_>, typed: Option<&Value>) -> Option<Address> {
    let found = match typed {
        None => "nothing".to_owned(),
        Some(Value::Text(text)) => match Address::parse(text.trim()) {
            Ok(address) => return Some(address),
            Err(error) => error.to_string(),
        },
        Some(other) => other.to_string(),
    };
    keys.refuse("url", URL, found);
    None
}
