//! How a handoff task is sent to its target (H9). What is handed off, and when, was decided before (H1–H8); here a task
//! becomes a [`TaskDocument`], and the document a [`Delivery`]: data that can be shown, recorded, and only then sent.
//!
//! A task is never sent twice (H4). What goes to GitHub carries a marker that is looked for before anything is sent;
//! what goes to a program or a server cannot be looked for, so that an answer which was lost is a person's business.

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

use crate::config::{TargetKind, TargetKinds};
use crate::domain::vocabulary::{TargetName, ThreadId};
use crate::github::write::{self, WriteKeyError};
use crate::github::{self, Transport, Write, Writer};
use crate::output::sanitize;

/// A task, ready to be sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivery {
    /// The task's own (H4): the same task has the same key whenever and by whomever it is prepared.
    pub key: String,
    /// What will be sent where, in one sentence for people who are asked first (U3). Fit for a terminal.
    pub sentence: String,
    pub means: DeliveryMeans,
}

#[derive(Debug, Clone, PartialEq)]
pub enum DeliveryMeans {
    /// For [`Writer::write`], which looks for it before it sends it.
    Write(Write),
    Run(CommandDelivery),
    Post(WebhookDelivery),
}

/// What became of a task that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// The target has it; on GitHub, there.
    Taken { url: Option<String> },
    /// The target does not have it, or it will be looked for before it is sent again: it may be tried again.
    Refused(String),
    /// The target may have it, and nothing can be looked for: it is never sent again by itself (H4), but a person may.
    Unknown(String),
}

/// Why a task cannot be sent at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotSendable {
    #[error(
        "nothing can be sent to the target \"{0}\", because the configuration does not say how: give it a `kind` in \
         [[handoff.targets]]"
    )]
    NoKind(TargetName),
    #[error(
        "the task is too large for {0} even without what could be left out; use a target of another kind for it"
    )]
    TooLarge(&'static str),
    #[error("the task names the finding {0}, which the pull request does not have; nothing was sent")]
    UnknownFinding(ThreadId),
    #[error("the task could not be written as JSON: {0}")]
    Unwritable(String),
    #[error(transparent)]
    Key(#[from] WriteKeyError),
}

/// How tasks are sent to a target.
pub fn kind_of<'a>(targets: &'a TargetKinds, name: &TargetName) -> Result<&'a TargetKind, NotSendable> {
    targets.get(name).ok_or_else(|| NotSendable::NoKind(name.clone()))
}

/// Turns a task into what is to be sent. `on` is the pull request it comes from. Nothing is sent.
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
    /// Sends it, once. Whoever calls this has recorded that it will, and records what came of it. The environment is
    /// asked for the secret that signs a request, and passed in so that a test decides it.
    pub async fn send<T: Transport + Sync>(
        &self,
        writer: &Writer<T>,
        environment: &(dyn Fn(&str) -> Option<String> + Sync),
    ) -> DeliveryOutcome {
        match &self.means {
            DeliveryMeans::Write(write) => DeliveryOutcome::of_write(writer.write(write).await),
            DeliveryMeans::Run(run) => run.send().await,
            DeliveryMeans::Post(post) => post.send(environment).await,
        }
    }
}

impl DeliveryOutcome {
    /// What a write's outcome means for the task that it carries.
    pub fn of_write(outcome: Result<github::WriteOutcome, github::Error>) -> DeliveryOutcome {
        use github::WriteOutcome as Written;
        match outcome {
            Ok(Written::Done(proof) | Written::AlreadyThere(proof)) => {
                DeliveryOutcome::Taken { url: proof.url }
            }
            Ok(Written::Unknown { reason, may_be_repeated: true }) => DeliveryOutcome::Refused(reason),
            Ok(Written::Unknown { reason, may_be_repeated: false }) => DeliveryOutcome::Unknown(reason),
            Ok(swallowed @ Written::SwallowedByDraft(_)) => DeliveryOutcome::Unknown(swallowed.sentence()),
            Err(error) => DeliveryOutcome::Refused(error.event()),
        }
    }

    /// Why the target does not have it, fit for a terminal.
    pub fn refusal(&self) -> Option<String> {
        match self {
            DeliveryOutcome::Refused(reason) => Some(sanitize::line(reason).into_owned()),
            DeliveryOutcome::Taken { .. } | DeliveryOutcome::Unknown(_) => None,
        }
    }

    /// One sentence for the journal and the screen.
    pub fn sentence(&self) -> String {
        let sentence = match self {
            DeliveryOutcome::Taken { url: Some(url) } => format!("The target has it: {url}"),
            DeliveryOutcome::Taken { url: None } => "The target has it.".to_owned(),
            DeliveryOutcome::Refused(reason) => format!("The target did not take it: {reason}."),
            DeliveryOutcome::Unknown(reason) => {
                format!(
                    "Nobody knows whether the target has it, so that it is not sent again by itself: {reason}."
                )
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
