//! The commands that write, and the request that each stands for.

use crate::commands::act::{ActKind, ActRequest, BodySource, MergeMethod, PullRequestAct, ReasonedThreadAct};
use crate::domain::finding::Destination;
use crate::domain::machine::Decision;
use crate::failure::Failure;
use crate::supervisor::people::ThreadAct;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Map, Value};
use std::io::Read;
use std::path::PathBuf;

const ONCE: &str = "A text is posted once. It carries a hidden key, made from the pull request, the \
thread, the verb, the text and the head commit. Cloture first looks for a post of your account with that \
key, so you can run the same command again after a lost answer or by mistake, and nothing is posted \
twice. After a push the same text is posted again. With --key WORD your word replaces the head commit in \
the key: another word posts the same text again at the same head, and the same word never does. Other \
writes (resolve, label, close, merge, request a review) are skipped when they are already in effect, and \
so is an approval that you already gave at this head. Only `pr dispatch` cannot be looked for: run \
twice, it sends two events, with the same `cloture_key` in their payload.

Exit codes: 0 done, or already done; 2 wrong usage, no such thread, or refused; 4 no token, or not \
allowed; 5 GitHub out of reach: the sentence says whether the write is certainly not done or may have \
arrived; 18 you said no.";

/// `cloture act`
#[derive(Debug, Args)]
#[command(after_long_help = ONCE)]
pub struct ActArgs {
    /// OWNER/REPO#N or a web address.
    #[arg(value_name = "OWNER/REPO#N")]
    pull_request: String,
    /// A thread's id, the beginning or end of an id, or PATH:LINE. It must fit exactly one thread.
    thread: String,
    #[command(subcommand)]
    verb: ThreadCommand,
    #[command(flatten)]
    pub how: WriteArgs,
}

/// `cloture pr`
#[derive(Debug, Args)]
#[command(after_long_help = ONCE)]
pub struct PrArgs {
    /// OWNER/REPO#N or a web address.
    #[arg(value_name = "OWNER/REPO#N")]
    pull_request: String,
    #[command(subcommand)]
    verb: PullRequestCommand,
    #[command(flatten)]
    pub how: WriteArgs,
}

/// The options of every command that writes.
#[derive(Debug, Args)]
pub struct WriteArgs {
    /// Print every call that would be sent, and send nothing.
    #[arg(long, global = true)]
    pub dry_run: bool,
    /// Do not ask for confirmation.
    #[arg(long, short, global = true)]
    pub yes: bool,
    /// Print the outcome of each write as one JSON object.
    #[arg(long, global = true)]
    pub json: bool,
    /// Post the same text again under another word, and never twice under the same word.
    #[arg(long, global = true, value_name = "WORD")]
    key: Option<String>,
    /// Do nothing unless this commit (at least 7 characters) is still the head.
    #[arg(long, global = true, value_name = "SHA")]
    head: Option<String>,
}

#[derive(Debug, Subcommand)]
enum ThreadCommand {
    /// Resolve the thread.
    Resolve {
        /// The reason; posted as a reply before the thread is resolved.
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Reopen a resolved thread.
    Unresolve {
        /// The reason; posted as a reply before the thread is reopened.
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Stop the argument and keep the thread: it waits in your inbox, and its reviewer is not asked again.
    Veto(ReasonArg),
    /// Stop the argument and address the thread to the operator, with a reply and a label.
    Escalate(ReasonArg),
    /// Decide that the finding of a waiting thread stands and should be fixed.
    Uphold(OptionalReasonArg),
    /// Decide that a waiting thread will not be fixed: resolve it, with the reason as a reply.
    Dismiss(ReasonArg),
    /// Send a waiting or dismissed thread back into the loop, with fresh counters.
    Return(ReasonArg),
    /// Undo your last decision about the thread: it is as it was, with its counters.
    Undo(OptionalReasonArg),
    /// Hand the finding off when the pull request is merged.
    Queue(OptionalReasonArg),
    /// Take the finding off the queue. Automatic handoff may still send it; `queue remove` prevents that.
    Unqueue(OptionalReasonArg),
    /// Reply in the thread.
    Reply {
        #[command(flatten)]
        words: BodyArgs,
    },
    /// Hide the thread's first comment as a duplicate.
    Hide,
}

#[derive(Debug, Args)]
struct ReasonArg {
    /// The reason; the journal keeps it with your name.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    reason: String,
}

#[derive(Debug, Args)]
struct OptionalReasonArg {
    /// The reason; the journal keeps it with your name.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    reason: Option<String>,
}

/// The finding that `cloture queue` acts on.
#[derive(Debug, Args)]
pub struct QueueThreadArgs {
    /// OWNER/REPO#N or a web address.
    #[arg(value_name = "OWNER/REPO#N")]
    pull_request: String,
    /// A thread's id, the beginning or end of an id, or PATH:LINE. It must fit exactly one thread.
    thread: String,
    #[command(flatten)]
    why: OptionalReasonArg,
    #[command(flatten)]
    pub how: WriteArgs,
}

/// `cloture queue add`
#[derive(Debug, Args)]
pub struct QueueAddArgs {
    #[command(flatten)]
    pub which: QueueThreadArgs,
    /// Send it to this target instead of the one the routes choose.
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
}

/// `cloture queue retarget`
#[derive(Debug, Args)]
pub struct QueueRetargetArgs {
    #[command(flatten)]
    pub which: QueueThreadArgs,
    /// The name of a target in the configuration.
    #[arg(value_name = "TARGET", required_unless_present = "as_configured")]
    target: Option<String>,
    /// Undo every earlier `add`, `remove` and `retarget`: the configuration decides again.
    #[arg(long, conflicts_with = "target")]
    as_configured: bool,
}

impl QueueAddArgs {
    pub fn request(&self) -> ActRequest {
        let what = match &self.target {
            Some(target) => ThreadAct::QueueFor(target.as_str().into()),
            None => ThreadAct::Decide(Decision::Queue),
        };
        self.which.request(what)
    }
}

impl QueueRetargetArgs {
    pub fn request(&self) -> ActRequest {
        let to = match &self.target {
            Some(target) => Destination::Target(target.as_str().into()),
            None => Destination::AsConfigured,
        };
        self.which.request(ThreadAct::Route(to))
    }
}

impl QueueThreadArgs {
    /// `cloture queue remove`
    pub fn removal(&self) -> ActRequest {
        self.request(ThreadAct::Remove)
    }

    fn request(&self, what: ThreadAct) -> ActRequest {
        let verb = ReasonedThreadAct { what, reason: self.why.reason.clone() };
        self.how.request(&self.pull_request, ActKind::Thread { thread: self.thread.clone(), verb })
    }
}

#[derive(Debug, Subcommand)]
enum PullRequestCommand {
    /// Comment on the pull request.
    Comment {
        #[command(flatten)]
        words: BodyArgs,
    },
    /// Add a label; create it if the repository does not have it.
    Label { name: String },
    /// Remove a label.
    Unlabel { name: String },
    /// Approve it at its current head. Nothing is sent if you already approved that head.
    Approve {
        #[command(flatten)]
        words: OptionalBodyArgs,
    },
    /// Request changes at its current head.
    RequestChanges {
        #[command(flatten)]
        words: BodyArgs,
    },
    /// Request a review.
    RequestReview {
        /// A known reviewer's name (such as `coderabbit`), or a login; a bot's ends in `[bot]`.
        #[arg(value_name = "LOGIN|REVIEWER")]
        reviewer: String,
        /// Request it with this comment, for a reviewer that reacts only to a mention.
        #[arg(long, value_name = "TEXT")]
        mention: Option<String>,
    },
    /// Close it without merging.
    Close,
    /// Reopen it.
    Reopen,
    /// Merge it, unless its head moves in the meantime.
    Merge {
        #[arg(long, value_enum, default_value = "merge")]
        method: MergeMethodArg,
    },
    /// Open an issue in its repository.
    Issue {
        #[arg(long)]
        title: String,
        #[command(flatten)]
        words: OptionalBodyArgs,
        /// Repeat the option for several.
        #[arg(long = "label", value_name = "NAME")]
        labels: Vec<String>,
        /// Repeat the option for several.
        #[arg(long = "assignee", value_name = "LOGIN")]
        assignees: Vec<String>,
    },
    /// Send a `repository_dispatch` event to the repository's workflows. GitHub keeps no record of events, so
    /// running this again sends another.
    Dispatch {
        event_type: String,
        /// A JSON object with at most 9 fields; `cloture_key` is added to it.
        #[arg(long, value_name = "JSON", default_value = "{}", value_parser = object)]
        payload: JsonObjectArg,
    },
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct BodyArgs {
    /// The text.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    body: Option<String>,
    /// The file with the text; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    body_file: Option<PathBuf>,
    /// Read the text from standard input.
    #[arg(value_name = "-", value_parser = ["-"])]
    standard_input: Option<String>,
}

/// For commands whose text is optional.
#[derive(Debug, Args)]
#[group(multiple = false)]
struct OptionalBodyArgs {
    /// The text.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    body: Option<String>,
    /// The file with the text; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    body_file: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum MergeMethodArg {
    Merge,
    Squash,
    Rebase,
}

#[derive(Debug, Clone)]
struct JsonObjectArg(Map<String, Value>);

fn object(text: &str) -> Result<JsonObjectArg, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => Ok(JsonObjectArg(fields)),
        Ok(_) => Err("it must be a JSON object, like {\"round\": 1}".to_owned()),
        Err(error) => Err(format!("it is not JSON: {error}")),
    }
}

impl ActArgs {
    /// The request that the arguments stand for, with its texts read.
    pub fn request(&self, standard_input: impl Read) -> Result<ActRequest, Failure> {
        let decide = |verb, reason: Option<&String>| (ThreadAct::Decide(verb), reason.cloned());
        let (what, reason) = match &self.verb {
            ThreadCommand::Resolve { reason } => decide(Decision::Resolve, reason.as_ref()),
            ThreadCommand::Unresolve { reason } => (ThreadAct::Unresolve, reason.clone()),
            ThreadCommand::Veto(why) => decide(Decision::Veto, Some(&why.reason)),
            ThreadCommand::Escalate(why) => decide(Decision::Escalate, Some(&why.reason)),
            ThreadCommand::Uphold(why) => decide(Decision::Uphold, why.reason.as_ref()),
            ThreadCommand::Dismiss(why) => decide(Decision::Dismiss, Some(&why.reason)),
            ThreadCommand::Return(why) => decide(Decision::Return, Some(&why.reason)),
            ThreadCommand::Undo(why) => (ThreadAct::Undo, why.reason.clone()),
            ThreadCommand::Queue(why) => decide(Decision::Queue, why.reason.as_ref()),
            ThreadCommand::Unqueue(why) => decide(Decision::Unqueue, why.reason.as_ref()),
            ThreadCommand::Reply { words } => (ThreadAct::Reply, Some(words.text().read(standard_input)?)),
            ThreadCommand::Hide => (ThreadAct::Hide, None),
        };
        let verb = ReasonedThreadAct { what, reason };
        Ok(self.how.request(&self.pull_request, ActKind::Thread { thread: self.thread.clone(), verb }))
    }
}

impl PrArgs {
    /// The request that the arguments stand for, with its texts read.
    pub fn request(&self, standard_input: impl Read) -> Result<ActRequest, Failure> {
        let verb = match &self.verb {
            PullRequestCommand::Comment { words } => {
                PullRequestAct::Comment { body: words.text().read(standard_input)? }
            }
            PullRequestCommand::Label { name } => PullRequestAct::Label { name: name.clone() },
            PullRequestCommand::Unlabel { name } => PullRequestAct::Unlabel { name: name.clone() },
            PullRequestCommand::Approve { words } => {
                PullRequestAct::Approve { body: words.text().read(standard_input)? }
            }
            PullRequestCommand::RequestChanges { words } => {
                PullRequestAct::RequestChanges { body: words.text().read(standard_input)? }
            }
            PullRequestCommand::RequestReview { reviewer, mention } => {
                PullRequestAct::RequestReview { reviewer: reviewer.clone(), mention: mention.clone() }
            }
            PullRequestCommand::Close => PullRequestAct::Close,
            PullRequestCommand::Reopen => PullRequestAct::Reopen,
            PullRequestCommand::Merge { method } => PullRequestAct::Merge {
                method: match method {
                    MergeMethodArg::Merge => MergeMethod::Merge,
                    MergeMethodArg::Squash => MergeMethod::Squash,
                    MergeMethodArg::Rebase => MergeMethod::Rebase,
                },
            },
            PullRequestCommand::Issue { title, words, labels, assignees } => PullRequestAct::OpenIssue {
                title: title.clone(),
                body: words.text().read(standard_input)?,
                labels: labels.clone(),
                assignees: assignees.clone(),
            },
            PullRequestCommand::Dispatch { event_type, payload } => {
                PullRequestAct::Dispatch { event_type: event_type.clone(), payload: payload.0.clone() }
            }
        };
        Ok(self.how.request(&self.pull_request, ActKind::PullRequest(verb)))
    }
}

impl WriteArgs {
    fn request(&self, pull_request: &str, verb: ActKind) -> ActRequest {
        ActRequest {
            pull_request: pull_request.to_owned(),
            verb,
            key: self.key.clone(),
            head: self.head.clone(),
        }
    }
}

impl BodyArgs {
    fn text(&self) -> BodySource {
        text(self.body.as_ref(), self.body_file.as_ref()).unwrap_or(BodySource::StandardInput)
    }
}

impl OptionalBodyArgs {
    fn text(&self) -> BodySource {
        text(self.body.as_ref(), self.body_file.as_ref()).unwrap_or_default()
    }
}

fn text(body: Option<&String>, file: Option<&PathBuf>) -> Option<BodySource> {
    match (body, file) {
        (Some(text), _) => Some(BodySource::Given(text.clone())),
        (None, Some(file)) if file.as_os_str() == "-" => Some(BodySource::StandardInput),
        (None, file) => file.cloned().map(BodySource::File),
    }
}
