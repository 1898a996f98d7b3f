//! Drives the loops: receive, decide (`domain`), record (`journal`), act, record.
//!
//! One task per pull request (`actor`) wakes for one closed set of reasons; one hub polls for all of them.
//! The actor computes its state ([`computed_state`]) from two inputs: the last poll and the journal's
//! [`history`]. The writes that are due ([`planned_writes`]) follow from that state alone, so a restart after
//! a crash needs no other memory. A lease in the journal decides which of several instances drives.
//!
//! What is absent: no write to the forge without an intent in the journal before it and an outcome after it,
//! and no write to a repository that is only watched unless a person asked for it.

mod actor;
pub mod adoption;
pub mod clock;
pub mod computed_state;
pub mod fact;
pub mod forge_facts;
pub mod handoffs;
pub mod history;
mod hub;
pub mod markers;
pub mod obeyed_commands;
pub mod people;
pub mod perform;
pub mod planned_writes;
mod polling;
mod programs;
pub mod replay;
mod request_pause;
mod review_posting;
pub mod secrets;
pub mod view;

pub use actor::LoopCommand;
pub use hub::Supervisor;
pub use view::{
    Board, DriverRole, DueState, DueWrite, PullRequestView, SupervisorProblem, SupervisorProblemKind,
};

use crate::agents::authors::AuthorAgent;
use crate::config::Config;
use crate::domain::post::PostReader;
use crate::domain::snapshot::RepositoryName;
use crate::domain::vocabulary::ReviewerName;
use crate::github::writer::WritePace;
use crate::github::{Client, Reader, Writer};
use crate::journal::{Journal, instance};
use crate::reviewers::profiles::{ActiveProfile, Profiles};
use clock::{Clock, WorkCounter};
use computed_state::RepositoryRules;
use planned_writes::ReReviewRequest;
use request_pause::RequestPause;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, watch};

/// How to ask a reviewer for another review.
pub trait ReReviewRequester: fmt::Debug + Send + Sync {
    /// None for a reviewer that comes by itself or cannot be asked.
    fn ask(&self, reviewer: &ReviewerName) -> Option<ReReviewRequest>;
}

impl ReReviewRequester for Profiles {
    fn ask(&self, reviewer: &ReviewerName) -> Option<ReReviewRequest> {
        let ActiveProfile { profile, .. } = self.get(reviewer)?;
        match profile.logins.first() {
            Some(login) if profile.re_request => {
                Some(ReReviewRequest::Request { login: login.as_str().into() })
            }
            _ if !profile.ask_again.is_empty() => Some(ReReviewRequest::Mention(profile.ask_again.clone())),
            _ => None,
        }
    }
}

/// The inputs of a supervisor.
#[derive(Debug)]
pub struct SupervisorOptions {
    pub config: Arc<Config>,
    pub reads: Arc<dyn PostReader>,
    pub asks: Arc<dyn ReReviewRequester>,
    pub journal: Journal,
    pub client: Client,
    pub clock: Arc<dyn Clock>,
    /// Identifies this process among the instances that share a journal
    /// ([`unique`](crate::journal::instance::unique)).
    pub instance: String,
    /// Only watch, even where the configuration says `drive`.
    pub read_only: bool,
    pub pace: WritePace,
    /// How long a lease lasts without renewal.
    pub lease: Duration,
    /// Start ended and stopped loops again. Loops that are under way continue in any case.
    pub fresh: bool,
    /// Reads environment variables: reviewers' API keys come from there.
    pub environment: fn(&str) -> Option<String>,
}

/// What all parts of one supervisor share.
#[derive(Debug)]
pub(crate) struct SupervisorContext {
    config: Arc<Config>,
    reads: Arc<dyn PostReader>,
    asks: Arc<dyn ReReviewRequester>,
    journal: Journal,
    reader: Arc<Reader<Client>>,
    writer: Arc<Writer<Client>>,
    host: String,
    clock: Arc<dyn Clock>,
    instance: String,
    read_only: bool,
    lease: Duration,
    fresh: bool,
    environment: fn(&str) -> Option<String>,
    busy: WorkCounter,
    request_pause: RequestPause,
    /// Held during each write, so that only one is under way at a time.
    writing: Mutex<()>,
    board: watch::Sender<Arc<Board>>,
    /// Becomes true when loops must stop at once, in the middle of a request if need be.
    hurry: watch::Sender<bool>,
}

impl SupervisorContext {
    fn rules<'n>(&self, names: impl IntoIterator<Item = &'n RepositoryName>) -> RepositoryRules<'_> {
        RepositoryRules::of_names(&self.config, &*self.reads, names, self.read_only)
    }

    /// The author's agent, if this instance may dispatch it anywhere.
    fn author_agent(&self) -> Option<&AuthorAgent> {
        let is_used = self.config.repositories.iter().any(|it| it.drive && it.author);
        self.config.author.agent.as_ref().filter(|_| is_used && !self.read_only)
    }

    /// The name of this instance in records, for people.
    fn instance_name(&self) -> &str {
        instance::name(&self.instance)
    }
}
