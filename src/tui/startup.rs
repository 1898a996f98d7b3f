//! The progress of the start: the journal, the token, the search, and what to watch. Everything in it arrives
//! after the first frame, in any order.

use crate::failure::Failure;
use crate::github::{PullRequestAddress, PullRequestRef};
use jiff::Timestamp;
use std::collections::BTreeSet;

#[derive(Debug, Clone)]
pub struct Startup {
    /// Opening the journal, with the pull requests of earlier runs.
    pub journal: StartupStep,
    /// Where Cloture found the token; never the token itself.
    pub token: StartupStep,
    pub search: StartupStep,
    /// Whether a search is running.
    pub searching: bool,
    pub scope: WatchScope,
    pub proposal: Option<ConfigProposal>,
    /// Sentences about what the last search could not find out.
    pub notes: Vec<String>,
    /// Pull requests of earlier runs that the search did not find. Each is polled once more, and kept only if
    /// it ended.
    pub unconfirmed: BTreeSet<PullRequestAddress>,
    /// When the last search ended.
    pub found_at: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartupStep {
    Waiting,
    Done(String),
    Failed { why: Failure, since: Timestamp },
}

/// What Cloture watches, and why.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum WatchScope {
    #[default]
    Unknown,
    /// The open pull requests of the checkout's repository, the current branch's first.
    Checkout { repository: String, branch: String },
    /// The pull requests that the `[[watch]]` rules select.
    Rules { number: usize },
    /// Neither the configuration nor the folder says what to watch; why the folder does not.
    Nothing { why: String },
    /// Every pull request: the demo.
    Everything,
}

/// A configuration that Cloture proposes to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProposal {
    pub path: String,
    pub text: String,
}

#[derive(Debug, Clone)]
pub enum StartupNews {
    Scope {
        scope: WatchScope,
        first: Option<PullRequestAddress>,
    },
    Journal(Result<(), Failure>),
    Token(Result<String, Failure>),
    /// There is neither a configuration nor an earlier run.
    FirstRun(ConfigProposal),
    /// The path of the written configuration, or why it was not written.
    Written(Result<String, String>),
    Note(String),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiscoveredPullRequests {
    pub pull_requests: Vec<PullRequestRef>,
    /// The pull request of the current branch, to select first.
    pub first: Option<PullRequestAddress>,
    /// Sentences about what could not be listed.
    pub notes: Vec<String>,
    /// Whether the list is complete. Pull requests of earlier runs that are not in a complete list are
    /// dropped.
    pub is_all: bool,
}

#[expect(clippy::new_without_default, reason = "an unfinished start is no default")]
impl Startup {
    /// A start of which nothing is known yet.
    pub fn new() -> Startup {
        Startup {
            journal: StartupStep::Waiting,
            token: StartupStep::Waiting,
            search: StartupStep::Waiting,
            searching: true,
            scope: WatchScope::default(),
            proposal: None,
            notes: Vec::new(),
            unconfirmed: BTreeSet::new(),
            found_at: None,
        }
    }

    /// A start with nothing left to find out.
    pub fn finished() -> Startup {
        let done = || StartupStep::Done(String::new());
        Startup {
            journal: done(),
            token: done(),
            search: done(),
            searching: false,
            scope: WatchScope::Everything,
            ..Startup::new()
        }
    }
}

impl StartupStep {
    pub fn from_outcome(outcome: Result<String, Failure>, now: Timestamp) -> StartupStep {
        match outcome {
            Ok(what) => StartupStep::Done(what),
            Err(why) => StartupStep::Failed { why, since: now },
        }
    }

    pub fn failure(&self) -> Option<(&Failure, Timestamp)> {
        match self {
            StartupStep::Failed { why, since } => Some((why, *since)),
            StartupStep::Waiting | StartupStep::Done(_) => None,
        }
    }
}
