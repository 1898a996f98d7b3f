//! The commands that write: what was typed, and the order it stands for.

use crate::commands::act::{ActKind, ActRequest, BodySource, MergeMethod, PullRequestAct, ReasonedThreadAct};
use crate::domain::finding::Destination;
use crate::domain::machine::Decision;
use crate::failure::Failure;
use crate::supervisor::people::ThreadAct;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Map, Value};
use std::io::Read;
use std::path::PathBuf;

const ONCE: &str = "What is posted is posted once. A text carries a hidden key, made from the pull request, the thread, \
the verb, the text and the head commit; a post of your account that carries the same key is looked for first, so that \
running the same command again after a lost answer, or by mistake, posts nothing. After a push it is posted again. To \
say the same once more at the same head, or to say it once whatever the head is, pass --key with a word of your own: it \
takes the head's place. What is no text (resolving, labels, closing, merging, asking for a review) is not done where it \
is so already, and an approval not where one of yours stands at this head. Only `pr dispatch` leaves nothing that could \
be looked for: run twice, it is sent twice, with the same `cloture_key` in its payload.

Exit codes: 0 done, or there already; 2 wrong usage, no such thread, or refused; 4 no token, or not allowed; 5 GitHub out \
of reach: the sentence says whether it was certainly not done or whether nobody knows; 18 you said no.";

/// `cloture act`
#[derive(Debug, Args)]
#[command(after_long_help = ONCE)]
pub struct ActArgs {
    /// The pull request; its web address does too.
    #[arg(value_name = "OWNER/REPO#N")]
    pull_request: String,
    /// A thread's id, the beginning or end of one, or PATH:LINE, where only one thread of the pull request fits.
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
    /// The pull request; its web address does too.
    #[arg(value_name = "OWNER/REPO#N")]
    pull_request: String,
    #[command(subcommand)]
    verb: PullRequestCommand,
    #[command(flatten)]
    pub how: WriteArgs,
}

/// What all that writes has in common.
#[derive(Debug, Args)]
pub struct WriteArgs {
    /// Print exactly what would be sent, and send nothing.
    #[arg(long, global = true)]
    pub dry_run: bool,
    /// Agree beforehand instead of being asked.
    #[arg(long, short, global = true)]
    pub yes: bool,
    /// Print what became of each write as one JSON object.
    #[arg(long, global = true)]
    pub json: bool,
    /// Name the occasion: under another key the same text is posted again, under the same one never.
    #[arg(long, global = true, value_name = "WORD")]
    key: Option<String>,
    /// Do nothing unless this commit (its first 7 characters will do) is still the head.
    #[arg(long, global = true, value_name = "SHA")]
    head: Option<String>,
}

#[derive(Debug, Subcommand)]
enum ThreadCommand {
    /// Resolve the thread.
    Resolve {
        /// Why, posted as a reply before the thread is resolved.
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Open the resolved thread again.
    Unresolve {
        /// Why, posted as a reply before the thread is opened.
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Stop the argument: the reviewer is not asked again, and the thread waits in the inbox for you.
    Veto(ReasonArg),
    /// Stop the argument and address the thread to the operator, by label and reply.
    Escalate(ReasonArg),
    /// Decide that the finding of a waiting thread stands.
    Uphold(OptionalReasonArg),
    /// Decide that nothing will be done about a waiting thread: it is resolved, with the reason as a reply.
    Dismiss(ReasonArg),
    /// Send a waiting or dismissed thread back into the loop, with fresh counters.
    Return(ReasonArg),
    /// Hand the finding off when the pull request is merged.
    Queue(OptionalReasonArg),
    /// Take the finding off the queue; what goes by itself goes all the same, see `queue remove`.
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
    /// Why; kept in the journal with your name.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    reason: String,
}

#[derive(Debug, Args)]
struct OptionalReasonArg {
    /// Why; kept in the journal with your name.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    reason: Option<String>,
}

/// Which finding `cloture queue` is about.
#[derive(Debug, Args)]
pub struct QueueThreadArgs {
    /// The pull request; its web address does too.
    #[arg(value_name = "OWNER/REPO#N")]
    pull_request: String,
    /// A thread's id, the beginning or end of one, or PATH:LINE, where only one thread of the pull request fits.
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
    /// The target it goes to, instead of the one that the routes choose.
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
}

/// `cloture queue retarget`
#[derive(Debug, Args)]
pub struct QueueRetargetArgs {
    #[command(flatten)]
    pub which: QueueThreadArgs,
    /// One of the targets of the configuration.
    #[arg(value_name = "TARGET", required_unless_present = "as_configured")]
    target: Option<String>,
    /// Leave it to the configuration's rules again, whatever anybody said: its target, and whether it goes.
    #[arg(long, conflicts_with = "target")]
    as_configured: bool,
}

impl QueueAddArgs {
    pub fn order(&self) -> ActRequest {
        let what = match &self.target {
            Some(target) => ThreadAct::QueueFor(target.as_str().into()),
            None => ThreadAct::Decide(Decision::Queue),
        };
        self.which.order(what)
    }
}

impl QueueRetargetArgs {
    pub fn order(&self) -> ActRequest {
        let to = match &self.target {
            Some(target) => Destination::Target(target.as_str().into()),
            None => Destination::AsConfigured,
        };
        self.which.order(ThreadAct::Route(to))
    }
}

impl QueueThreadArgs {
    /// `cloture queue remove`
    pub fn removal(&self) -> ActRequest {
        self.order(ThreadAct::Remove)
    }

    fn order(&self, what: ThreadAct) -> ActRequest {
        let verb = ReasonedThreadAct { what, reason: self.why.reason.clone() };
        self.how.order(&self.pull_request, ActKind::Thread { thread: self.thread.clone(), verb })
    }
}

#[derive(Debug, Subcommand)]
enum PullRequestCommand {
    /// Comment on the pull request.
    Comment {
        #[command(flatten)]
        words: BodyArgs,
    },
    /// Put a label on it; one that the repository does not have is made.
    Label { name: String },
    /// Take a label off it.
    Unlabel { name: String },
    /// Approve it at its present head; where an approval of yours stands there, nothing is sent.
    Approve {
        #[command(flatten)]
        words: OptionalBodyArgs,
    },
    /// Request changes at its present head.
    RequestChanges {
        #[command(flatten)]
        words: BodyArgs,
    },
    /// Ask a reviewer to look at it.
    RequestReview {
        /// A known reviewer's name (such as `coderabbit`), or a login; a bot's ends in `[bot]`.
        #[arg(value_name = "LOGIN|REVIEWER")]
        reviewer: String,
        /// Ask by this comment instead, for a reviewer that listens to a mention only.
        #[arg(long, value_name = "TEXT")]
        mention: Option<String>,
    },
    /// Close it without merging.
    Close,
    /// Reopen it.
    Reopen,
    /// Merge it, if its head is still what it is now.
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
        /// May be given several times.
        #[arg(long = "label", value_name = "NAME")]
        labels: Vec<String>,
        /// May be given several times.
        #[arg(long = "assignee", value_name = "LOGIN")]
        assignees: Vec<String>,
    },
    /// Send a `repository_dispatch` event to its repository's workflows. GitHub keeps no record of it, so running this
    /// again sends it again.
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

/// Where it makes sense without a text, too.
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
    /// The order it stands for, its texts read.
    pub fn order(&self, standard_input: impl Read) -> Result<ActRequest, Failure> {
        let decide = |verb, reason: Option<&String>| (ThreadAct::Decide(verb), reason.cloned());
        let (what, reason) = match &self.verb {
            ThreadCommand::Resolve { reason } => decide(Decision::Resolve, reason.as_ref()),
            ThreadCommand::Unresolve { reason } => (ThreadAct::Unresolve, reason.clone()),
            ThreadCommand::Veto(why) => decide(Decision::Veto, Some(&why.reason)),
            ThreadCommand::Escalate(why) => decide(Decision::Escalate, Some(&why.reason)),
            ThreadCommand::Uphold(why) => decide(Decision::Uphold, why.reason.as_ref()),
            ThreadCommand::Dismiss(why) => decide(Decision::Dismiss, Some(&why.reason)),
            ThreadCommand::Return(why) => decide(Decision::Return, Some(&why.reason)),
            ThreadCommand::Queue(why) => decide(Decision::Queue, why.reason.as_ref()),
            ThreadCommand::Unqueue(why) => decide(Decision::Unqueue, why.reason.as_ref()),
            ThreadCommand::Reply { words } => (ThreadAct::Reply, Some(words.text().read(standard_input)?)),
            ThreadCommand::Hide => (ThreadAct::Hide, None),
        };
        let verb = ReasonedThreadAct { what, reason };
        Ok(self.how.order(&self.pull_request, ActKind::Thread { thread: self.thread.clone(), verb }))
    }
}

impl PrArgs {
    /// The order it stands for, its texts read.
    pub fn order(&self, standard_input: impl Read) -> Result<ActRequest, Failure> {
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
        Ok(self.how.order(&self.pull_request, ActKind::PullRequest(verb)))
    }
}

impl WriteArgs {
    fn order(&self, pull_request: &str, verb: ActKind) -> ActRequest {
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
