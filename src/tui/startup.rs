//! How far the start has come: what is meant by starting here, what was found, and what keeps the rest from being found.
//! Everything in it arrives behind the first frame, in any order.

use crate::failure::Failure;
use crate::github::{PullRequestAddress, PullRequestRef};
use jiff::Timestamp;
use std::collections::BTreeSet;

#[derive(Debug, Clone)]
pub struct Startup {
    pub began: Timestamp,
    /// What was recorded and seen before.
    pub journal: StartupStep,
    /// Where the token was found, never the token.
    pub token: StartupStep,
    /// Which pull requests are meant.
    pub search: StartupStep,
    pub scope: WatchScope,
    pub proposal: Option<ConfigProposal>,
    /// What could not be found out, in sentences, until the next search.
    pub notes: Vec<String>,
    /// Seen before, and not among those that were found: each is looked at once more, and kept only if it ended.
    pub unconfirmed: BTreeSet<PullRequestAddress>,
    /// When the last search came back.
    pub found_at: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartupStep {
    Waiting,
    Done(String),
    Failed { why: Failure, since: Timestamp },
}

/// What is watched, and by what that was decided.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum WatchScope {
    #[default]
    Unknown,
    /// The open pull requests of the checkout's repository, its branch's first.
    Checkout { repository: String, branch: String },
    /// What the `[[watch]]` rules select.
    Rules { number: usize },
    /// Nothing says what to watch, and why the folder does not.
    Nothing { why: String },
    /// Everything there is: the demo.
    Everything,
}

/// A configuration that could be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProposal {
    pub path: String,
    pub text: String,
}

/// What there is to tell about the start.
#[derive(Debug, Clone)]
pub enum StartupNews {
    Scope {
        scope: WatchScope,
        first: Option<PullRequestAddress>,
    },
    Journal(Result<(), Failure>),
    Token(Result<String, Failure>),
    /// Nothing was configured or seen before: whoever sits here is new.
    FirstRun(ConfigProposal),
    /// The proposal was written, or why not.
    Written(Result<String, String>),
    /// It is being looked again.
    Searching,
    Note(String),
}

/// What a search found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiscoveredPullRequests {
    pub pull_requests: Vec<PullRequestRef>,
    /// The one to look at first: the current branch's.
    pub first: Option<PullRequestAddress>,
    /// What could not be listed, in sentences.
    pub notes: Vec<String>,
    /// Whether this is all that is meant, so that what was seen before and is not in it has to go.
    pub is_all: bool,
}

impl Startup {
    pub fn new(began: Timestamp) -> Startup {
        Startup {
            began,
            journal: StartupStep::Waiting,
            token: StartupStep::Waiting,
            search: StartupStep::Waiting,
            scope: WatchScope::default(),
            proposal: None,
            notes: Vec::new(),
            unconfirmed: BTreeSet::new(),
            found_at: None,
        }
    }

    /// Nothing has to be found out.
    pub fn over(began: Timestamp) -> Startup {
        let done = || StartupStep::Done(String::new());
        Startup {
            journal: done(),
            token: done(),
            search: done(),
            scope: WatchScope::Everything,
            ..Startup::new(began)
        }
    }
}

impl StartupStep {
    pub fn of(outcome: Result<String, Failure>, now: Timestamp) -> StartupStep {
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
