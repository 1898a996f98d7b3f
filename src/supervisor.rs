//! Drives the loops: receive, decide (`domain`), record (`journal`), act, record.
//!
//! One task a pull request (`actor`) wakes for one closed set of reasons; one hub polls for all of them. What is known is
//! a fold of the journal's [`fact`]s and the last poll ([`computed_state`]); what ought to be done follows from that alone
//! ([`planned_writes`]), so nothing has to be remembered between a crash and a restart. A lease in the journal decides which of
//! several instances acts.
//!
//! What is absent: no write to the forge without an intent in the journal before it and an outcome after it, and
//! towards a repository that is not to be driven none that no person asked for.

mod actor;
pub mod clock;
pub mod computed_state;
pub mod fact;
pub mod forge_facts;
pub mod handoffs;
pub mod history;
mod hub;
mod left_alone;
pub mod markers;
mod obeyed_commands;
pub mod people;
pub mod perform;
pub mod planned_writes;
mod polling;
mod programs;
pub mod replay;
pub mod view;

pub use actor::LoopCommand;
pub use hub::Supervisor;
pub use view::{Board, DriverRole, PullRequestView, SupervisorProblem, SupervisorProblemKind};

use crate::config::Config;
use crate::domain::post::PostReader;
use crate::domain::snapshot::RepositoryName;
use crate::domain::vocabulary::ReviewerName;
use crate::github::writer::WritePace;
use crate::github::{Client, PullRequestAddress, Reader, Writer};
use crate::journal::{Journal, PullRequestKey};
use crate::reviewers::profiles::{ActiveProfile, Profiles};
use clock::{Clock, WorkCounter};
use computed_state::RepositoryRules;
use left_alone::RequestPause;
use planned_writes::ReReviewRequest;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, watch};

/// How a reviewer is asked to look again. Profiles know.
pub trait ReReviewRequester: fmt::Debug + Send + Sync {
    /// None for one that comes by itself, or cannot be asked.
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

/// What a supervisor is started with.
#[derive(Debug)]
pub struct SupervisorOptions {
    pub config: Arc<Config>,
    pub reads: Arc<dyn PostReader>,
    pub asks: Arc<dyn ReReviewRequester>,
    pub journal: Journal,
    pub client: Client,
    pub clock: Arc<dyn Clock>,
    /// Names this process among those that share a journal.
    pub instance: String,
    /// Decides and writes nothing, whatever the configuration says.
    pub read_only: bool,
    pub pace: WritePace,
    /// How long this instance keeps a pull request without being heard of.
    pub lease: Duration,
    /// Whether somebody wants loops to run that have ended before, be it that a person stopped them. What was under way
    /// goes on in any case.
    pub fresh: bool,
    /// Where reviewers' keys are looked for.
    pub environment: fn(&str) -> Option<String>,
}

/// The same, as everything inside shares it.
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
    left_alone: RequestPause,
    /// Held for the whole of a write, so that whoever comes next knows how it went.
    writing: Mutex<()>,
    board: watch::Sender<Arc<Board>>,
}

impl SupervisorContext {
    fn key(&self, address: &PullRequestAddress) -> PullRequestKey {
        PullRequestKey {
            host: self.host.clone(),
            repository: address.repository.clone(),
            number: address.number,
        }
    }

    fn rules(&self, repository: &RepositoryName) -> RepositoryRules<'_> {
        RepositoryRules::of(&self.config, &*self.reads, repository, self.read_only)
    }
}
