//! How far the start has come: what is meant by starting here, what was found, and what keeps the rest from being found.
//! Everything in it arrives behind the first frame, in any order.

use crate::failure::Failure;
use crate::github::{PullRequestAddress, PullRequestRef};
use jiff::Timestamp;
use std::collections::BTreeSet;

#[derive(Debug, Clone)]
pub struct Start {
    pub began: Timestamp,
    /// What was recorded and seen before.
    pub journal: Step,
    /// Where the token was found, never the token.
    pub token: Step,
    /// Which pull requests are meant.
    pub search: Step,
    pub scope: Scope,
    pub proposal: Option<Proposal>,
    /// What could not be found out, in sentences, until the next search.
    pub notes: Vec<String>,
    /// Seen before, and not among those that were found: each is looked at once more, and kept only if it ended.
    pub unconfirmed: BTreeSet<PullRequestAddress>,
    /// When the last search came back.
    pub found_at: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Waiting,
    Done(String),
    Failed { why: Failure, since: Timestamp },
}

/// What is watched, and by what that was decided.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Scope {
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
pub struct Proposal {
    pub path: String,
    pub text: String,
}

/// What there is to tell about the start.
#[derive(Debug, Clone)]
pub enum News {
    Scope {
        scope: Scope,
        first: Option<PullRequestAddress>,
    },
    Journal(Result<(), Failure>),
    Token(Result<String, Failure>),
    /// Nothing was configured or seen before: whoever sits here is new.
    FirstRun(Proposal),
    /// The proposal was written, or why not.
    Written(Result<String, String>),
    /// It is being looked again.
    Searching,
    Note(String),
}

/// What a search found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    pub pull_requests: Vec<PullRequestRef>,
    /// The one to look at first: the current branch's.
    pub first: Option<PullRequestAddress>,
    /// What could not be listed, in sentences.
    pub notes: Vec<String>,
    /// Whether this is all that is meant, so that what was seen before and is not in it has to go.
    pub is_all: bool,
}

impl Start {
    pub fn new(began: Timestamp) -> Start {
        Start {
            began,
            journal: Step::Waiting,
            token: Step::Waiting,
            search: Step::Waiting,
            scope: Scope::default(),
            proposal: None,
            notes: Vec::new(),
            unconfirmed: BTreeSet::new(),
            found_at: None,
        }
    }

    /// Nothing has to be found out.
    pub fn over(began: Timestamp) -> Start {
        let done = || Step::Done(String::new());
        Start {
            journal: done(),
            token: done(),
            search: done(),
            scope: Scope::Everything,
            ..Start::new(began)
        }
    }
}

impl Step {
    pub fn of(outcome: Result<String, Failure>, now: Timestamp) -> Step {
        match outcome {
            Ok(what) => Step::Done(what),
            Err(why) => Step::Failed { why, since: now },
        }
    }

    pub fn failure(&self) -> Option<(&Failure, Timestamp)> {
        match self {
            Step::Failed { why, since } => Some((why, *since)),
            Step::Waiting | Step::Done(_) => None,
        }
    }
}
