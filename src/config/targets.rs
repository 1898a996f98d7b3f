//! Checks how to send tasks to the handoff targets (H9). A key that a target's kind does not use is refused,
//! because it would have no effect.

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

/// How to send tasks to each target. Targets without a kind are absent.
pub type TargetKinds = BTreeMap<TargetName, TargetKind>;

/// How to send tasks to one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetKind {
    /// A local program, with the task on its standard input.
    Command {
        program: Program,
        /// The working directory. None: that of this process.
        directory: Option<PathBuf>,
    },
    /// An issue on GitHub.
    Issue {
        /// None: the pull request's repository.
        repository: Option<RepositoryName>,
        labels: Vec<String>,
        assignees: Vec<String>,
    },
    /// An event for a repository's workflows.
    RepositoryDispatch {
        /// None: the pull request's repository.
        repository: Option<RepositoryName>,
        event_type: String,
    },
    /// A comment on the pull request that starts with this text, such as an agent's trigger phrase.
    Comment { body: String },
    /// A request to a server.
    Webhook {
        url: HttpAddress,
        /// The environment variable with the secret that signs the request.
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

/// A coding agent may fix the findings before it exits, like the author's agent.
const COMMAND_TIMEOUT: Duration = Duration::from_mins(30);
/// A server answers first and works on the task later.
const WEBHOOK_TIMEOUT: Duration = Duration::from_secs(30);
/// GitHub's limit.
const LONGEST_EVENT_TYPE: usize = 100;

const REPOSITORY: &str = "a repository as OWNER/NAME";
const EVENT_TYPE: &str = "the name of an event, of at most 100 characters";
const BODY: &str = "the text at the start of the comment, such as \"@agent fix these\"";
const URL: &str = "an https address, or an http address of this machine";

/// How to send tasks to a target. None: it has no kind, or something is wrong.
pub(super) fn checked_kind(
    checks: &mut Checks,
    table: &str,
    typed: &typed::TypedTarget,
) -> Option<TargetKind> {
    // Destructured, so that a new key does not compile until it is checked.
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
    // With a wrong kind the other keys cannot be checked.
    if kind.is_some() && chosen.is_none() {
        return None;
    }
    let is_any = |kinds: &[TypedTargetKind]| chosen.is_some_and(|kind| kinds.contains(&kind));
    for (key, value, belongs) in [
        ("command", command, is_any(&[TypedTargetKind::Command])),
        ("env", env, is_any(&[TypedTargetKind::Command])),
        ("timeout", timeout, is_any(&[TypedTargetKind::Command, TypedTargetKind::Webhook])),
        ("directory", directory, is_any(&[TypedTargetKind::Command])),
        ("repository", repository, is_any(&[TypedTargetKind::Issue, TypedTargetKind::RepositoryDispatch])),
        ("labels", labels, is_any(&[TypedTargetKind::Issue])),
        ("assignees", assignees, is_any(&[TypedTargetKind::Issue])),
        ("event_type", event_type, is_any(&[TypedTargetKind::RepositoryDispatch])),
        ("body", body, is_any(&[TypedTargetKind::Comment])),
        ("secret_env", secret_env, is_any(&[TypedTargetKind::Webhook])),
    ] {
        keys.refuse_unless(belongs, key, value.as_ref(), kind.as_ref());
    }
    // The address may have a password, so it is not shown.
    let shown = url.as_ref().map(|_| TypedValue::Text("…".to_owned()));
    keys.refuse_unless(is_any(&[TypedTargetKind::Webhook]), "url", shown.as_ref(), kind.as_ref());
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
            labels: keys.checks.texts(
                &keys.full_key("labels"),
                labels.as_ref(),
                "the name of a label",
                |_| true,
            ),
            assignees: keys.checks.texts(
                &keys.full_key("assignees"),
                assignees.as_ref(),
                "a login",
                |text| is_login(text) && text != "@me",
            ),
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
    keys.checks.repository(&keys.full_key("repository"), typed, REPOSITORY)
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
    keys.checks.text(&keys.full_key(key), typed, expected, fits)
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
