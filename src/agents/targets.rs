//! Sends handoff tasks to their targets (H9). What to hand off and when is decided elsewhere (H1–H8).
//!
//! A task becomes a [`TaskDocument`], and the document a [`Delivery`]: data that the caller can show and
//! record before it sends anything. A task is never sent twice (H4). On GitHub the writer looks for the
//! task's marker before each write. A program or server cannot be searched, so after a lost answer a person
//! has to decide.

mod backoff;
mod command;
mod document;
mod forge;
mod markdown;
mod webhook;

pub use backoff::{Backoff, RetryDecision};
pub use command::{CommandDelivery, KEY_VARIABLE};
pub use document::{KEY_PREFIX, ReplyPart, TaskDocument, TaskFindingPart, TaskSources, VERSION, key, reason};
pub use webhook::{KEY_HEADER, SIGNATURE_HEADER, WebhookDelivery, signature};

use crate::agents::secret::SecretScanner;
use crate::config::{TargetKind, TargetKinds};
use crate::domain::vocabulary::{TargetName, ThreadId};
use crate::github::write::{self, WriteKeyError};
use crate::github::{self, Transport, Write, WriteOutcome, Writer};
use crate::output::sanitize;
use jiff::Timestamp;
use std::time::Duration;

/// A task that is ready to send.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivery {
    /// The task's key (H4). The same task always has the same key.
    pub key: String,
    /// What is sent where, as a sentence for the person who confirms it (U3). Sanitized.
    pub sentence: String,
    pub means: DeliveryMeans,
}

/// How a task is sent.
#[derive(Debug, Clone, PartialEq)]
pub enum DeliveryMeans {
    /// A GitHub write. [`Writer::write`] looks for it before sending it.
    Write(Write),
    Run(CommandDelivery),
    Post(WebhookDelivery),
}

/// The result of sending a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// The target has the task; on GitHub, at this URL.
    Taken { url: Option<String> },
    /// Cloture may try again: the target does not have the task, or the writer will look for it first.
    Refused(String),
    /// L8: GitHub limits requests for so long and did not take the task. The try costs none of the task's tries.
    Limited { wait: Duration, reason: String },
    /// S2: Cloture did not send the task, because it has a secret in it. Only a person may send it again.
    Withheld(String),
    /// The target may have the task, and Cloture cannot check. Only a person may send it again (H4).
    Unknown(String),
}

/// Why a task cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotSendable {
    #[error(
        "Cloture cannot send tasks to the target \"{0}\": the configuration does not say how; give it a `kind` \
         in [[handoff.targets]]"
    )]
    NoKind(TargetName),
    #[error("the task is too large for {0}, even with its long texts cut; use a target of another kind")]
    TooLarge(&'static str),
    #[error("the pull request has no finding {0}, which the task names; nothing was sent")]
    UnknownFinding(ThreadId),
    #[error("the task cannot be written as JSON: {0}")]
    Unwritable(String),
    #[error(transparent)]
    Key(#[from] WriteKeyError),
}

/// The kind of a target, which says how to send tasks to it.
pub fn kind_of<'a>(targets: &'a TargetKinds, name: &TargetName) -> Result<&'a TargetKind, NotSendable> {
    targets.get(name).ok_or_else(|| NotSendable::NoKind(name.clone()))
}

/// Prepares a task for a target and sends nothing. `on` is the pull request of the task.
pub fn prepare(
    document: &TaskDocument,
    kind: &TargetKind,
    on: &write::PullRequestTarget,
) -> Result<Delivery, NotSendable> {
    let (means, how) = match kind {
        TargetKind::Command { program, directory } => {
            let run = CommandDelivery::of(document, program, directory.as_deref())?;
            let how = format!("run `{}` with the task on its standard input", run.command_line());
            (DeliveryMeans::Run(run), how)
        }
        TargetKind::Webhook { url, secret_env, timeout } => {
            let post = WebhookDelivery::of(document, url, secret_env.as_deref(), *timeout)?;
            let signed = match secret_env {
                Some(name) => format!("signed with the value of {name}"),
                None => "not signed".to_owned(),
            };
            (DeliveryMeans::Post(post), format!("post the task to {url}, {signed}"))
        }
        TargetKind::Issue { repository, labels, assignees } => {
            let repository = repository.as_ref().unwrap_or(&on.address.repository);
            let write = forge::issue(document, repository, labels, assignees)?;
            let with = |what: &str, names: &[String]| match names {
                [] => String::new(),
                names => format!(", {what} {}", names.join(", ")),
            };
            let (labelled, assigned) = (with("labelled", labels), with("assigned to", assignees));
            (DeliveryMeans::Write(write), format!("open an issue in {repository}{labelled}{assigned}"))
        }
        TargetKind::RepositoryDispatch { repository, event_type } => {
            let repository = repository.as_ref().unwrap_or(&on.address.repository);
            let write = forge::dispatch(document, repository, event_type)?;
            let how = format!("send the event `{event_type}` to the workflows of {repository}");
            (DeliveryMeans::Write(write), how)
        }
        TargetKind::Comment { body } => {
            let write = forge::comment(document, on, body)?;
            (DeliveryMeans::Write(write), format!("comment on {} with \"{body}\"", on.address))
        }
    };
    let count = match document.findings.len() {
        1 => "1 finding".to_owned(),
        count => format!("{count} findings"),
    };
    let sentence = format!(
        "Hand {count} in {} of {} to the target \"{}\": {how}.",
        document.path, on.address, document.target
    );
    Ok(Delivery { key: document.key.clone(), sentence: sanitize::line(&sentence).into_owned(), means })
}

impl Delivery {
    /// Sends the task once. The caller records the intent before and the outcome after. `environment` has the
    /// secret that signs a webhook, and `now` tells the time; tests pass their own.
    pub async fn send<T: Transport + Sync>(
        &self,
        writer: &Writer<T>,
        environment: &(dyn Fn(&str) -> Option<String> + Sync),
        now: &(dyn Fn() -> Timestamp + Sync),
    ) -> DeliveryOutcome {
        let secrets = writer.secrets();
        let withheld = |text: &str| {
            let found = secrets.find_in_json(text)?;
            Some(DeliveryOutcome::Withheld(format!("the task contains {found}")))
        };
        let outcome = match &self.means {
            DeliveryMeans::Write(write) => DeliveryOutcome::of_write(writer.write(write).await, now()),
            DeliveryMeans::Run(run) => match withheld(&run.stdin) {
                Some(outcome) => outcome,
                None => run.send().await,
            },
            DeliveryMeans::Post(post) => match withheld(&post.body) {
                Some(outcome) => outcome,
                None => post.send(environment).await,
            },
        };
        outcome.without_secrets(secrets)
    }
}

impl DeliveryOutcome {
    /// The outcome of a task that was sent as a GitHub write and was answered at `now`.
    pub fn of_write(outcome: Result<WriteOutcome, github::Error>, now: Timestamp) -> DeliveryOutcome {
        match outcome {
            Ok(WriteOutcome::Done(proof) | WriteOutcome::AlreadyThere(proof)) => {
                DeliveryOutcome::Taken { url: proof.url }
            }
            Ok(WriteOutcome::Unknown { reason, may_be_repeated: true }) => DeliveryOutcome::Refused(reason),
            Ok(WriteOutcome::Unknown { reason, may_be_repeated: false }) => DeliveryOutcome::Unknown(reason),
            Ok(swallowed @ WriteOutcome::SwallowedByDraft(_)) => {
                DeliveryOutcome::Unknown(swallowed.sentence())
            }
            Err(error @ github::Error::RateLimited { retry_after, .. }) => {
                let wait = Duration::try_from(retry_after.when(now).duration_since(now)).unwrap_or_default();
                DeliveryOutcome::Limited { wait, reason: error.event() }
            }
            Err(github::Error::Withheld { secret, .. }) => {
                DeliveryOutcome::Withheld(format!("the task contains {secret}"))
            }
            Err(error) => DeliveryOutcome::Refused(error.event()),
        }
    }

    /// The reason may quote what the target printed.
    fn without_secrets(self, secrets: &SecretScanner) -> DeliveryOutcome {
        let clean = |reason: String| secrets.redacted(&reason).into_owned();
        match self {
            DeliveryOutcome::Refused(reason) => DeliveryOutcome::Refused(clean(reason)),
            DeliveryOutcome::Unknown(reason) => DeliveryOutcome::Unknown(clean(reason)),
            outcome => outcome,
        }
    }

    /// Why the target refused the task. Sanitized.
    pub fn refusal(&self) -> Option<String> {
        match self {
            DeliveryOutcome::Refused(reason) | DeliveryOutcome::Limited { reason, .. } => {
                Some(sanitize::line(reason).into_owned())
            }
            DeliveryOutcome::Taken { .. } | DeliveryOutcome::Withheld(_) | DeliveryOutcome::Unknown(_) => {
                None
            }
        }
    }

    /// A sentence for the journal and the screen. Sanitized.
    pub fn sentence(&self) -> String {
        let sentence = match self {
            DeliveryOutcome::Taken { url: Some(url) } => format!("The target has the task: {url}"),
            DeliveryOutcome::Taken { url: None } => "The target has the task.".to_owned(),
            DeliveryOutcome::Refused(reason) => format!("The target refused the task: {reason}."),
            DeliveryOutcome::Limited { reason, .. } => format!("GitHub did not take the task yet: {reason}."),
            DeliveryOutcome::Withheld(reason) => {
                format!(
                    "Cloture did not send the task, because it sends no secrets: {reason}. Hand it on by hand."
                )
            }
            DeliveryOutcome::Unknown(reason) => {
                format!("The target may have the task, so Cloture does not send it again: {reason}.")
            }
        };
        sanitize::line(&sentence).into_owned()
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}
