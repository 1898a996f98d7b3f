//! What a command that supervises needs, put together: the forge, the journal, the reviewers' profiles and the supervisor.

#[cfg(feature = "test-control")]
pub mod test_control;

use crate::app::connection::ConnectionSettings;
use crate::failure::{Failure, FailureKind};
use crate::github::writer::WritePace;
use crate::github::{Client, Host, PullRequestAddress, PullRequestRef};
use crate::journal::{
    Checkpoint, Journal, JournalAddress, JournalError, JournalOptions, PullRequestKey, SetAside,
    StoredSnapshot,
};
use crate::reviewers::profiles::Profiles;
use crate::supervisor::clock::{Clock, SystemClock};
use crate::supervisor::people::request_handler::{self, RequestHandler};
use crate::supervisor::{Supervisor, SupervisorOptions};
use jiff::Timestamp;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// An open journal and the way to the forge.
#[derive(Debug)]
pub struct Session {
    pub journal: Journal,
    /// The file that was there was damaged; a person should hear of it.
    pub set_aside: Option<SetAside>,
    pub profiles: Arc<Profiles>,
    pub client: Client,
    pub clock: Arc<dyn Clock>,
    /// How patient the supervisor's writes are.
    pub pace: WritePace,
}

/// A pull request stays with an instance for so many polls without being heard of.
const LEASE_POLLS: u32 = 3;
/// No lease is shorter: a write whose answer was lost is looked for over some seconds.
const SHORTEST_LEASE: Duration = Duration::from_mins(1);

impl Session {
    /// Opens the journal and connects. Nothing is sent yet.
    pub async fn open(
        settings: &ConnectionSettings<'_>,
        host: Host,
        profiles: Profiles,
        state_folder: Option<PathBuf>,
        now: Timestamp,
    ) -> Result<Session, Failure> {
        let client = settings.connect(host).await?.client;
        let Process { clock, checkpoint } = Process::of(settings)?;
        let (journal, set_aside) = open_with(settings, state_folder, now, checkpoint).await?;
        let (profiles, pace) = (Arc::new(profiles), pace(settings));
        Ok(Session { journal, set_aside, profiles, client, clock, pace })
    }

    /// A pull request of this forge, as the journal names it.
    pub fn about(&self, address: &PullRequestAddress) -> PullRequestKey {
        PullRequestKey {
            host: self.client.host().name().to_owned(),
            repository: address.repository.clone(),
            number: address.number,
        }
    }

    /// Where a person's orders are carried out, with what the supervisor writes with. `by` names the person where GitHub
    /// cannot be asked.
    pub fn desk(
        &self,
        settings: &ConnectionSettings<'_>,
        supervisor: &Supervisor,
        by: String,
        read_only: bool,
    ) -> RequestHandler {
        RequestHandler::new(request_handler::RequestHandlerSetup {
            config: Arc::new(settings.config.clone()),
            reads: self.profiles.clone(),
            journal: self.journal.clone(),
            client: self.client.clone(),
            writer: supervisor.writer(),
            clock: Arc::clone(&self.clock),
            by,
            read_only,
        })
    }

    /// Starts supervising. `instance` names this process among those that share the journal.
    pub async fn supervise(
        &self,
        settings: &ConnectionSettings<'_>,
        instance: String,
        read_only: bool,
        pull_requests: Vec<PullRequestRef>,
    ) -> Result<Supervisor, Failure> {
        let options = self.options(settings, instance, read_only);
        Ok(Supervisor::start(options, pull_requests).await?)
    }

    /// Starts supervising what was seen before.
    pub async fn resume(
        &self,
        settings: &ConnectionSettings<'_>,
        instance: String,
        read_only: bool,
        last: Vec<StoredSnapshot>,
    ) -> Result<Supervisor, Failure> {
        let options = self.options(settings, instance, read_only);
        Ok(Supervisor::resume(options, last).await?)
    }

    fn options(
        &self,
        settings: &ConnectionSettings<'_>,
        instance: String,
        read_only: bool,
    ) -> SupervisorOptions {
        let interval = settings.config.policy.poll_interval;
        SupervisorOptions {
            config: Arc::new(settings.config.clone()),
            reads: self.profiles.clone(),
            asks: self.profiles.clone(),
            journal: self.journal.clone(),
            client: self.client.clone(),
            clock: Arc::clone(&self.clock),
            instance,
            read_only,
            pace: self.pace.clone(),
            lease: interval.saturating_mul(LEASE_POLLS).max(SHORTEST_LEASE),
            fresh: true,
            environment: settings.environment_of_programs,
        }
    }
}

/// Opens the journal that the configuration and the command line mean.
pub async fn open_journal(
    settings: &ConnectionSettings<'_>,
    state_folder: Option<PathBuf>,
    now: Timestamp,
) -> Result<(Journal, Option<SetAside>), Failure> {
    open_with(settings, state_folder, now, Process::of(settings)?.checkpoint).await
}

/// How fast a command writes to GitHub. A test that controls the process waits for nothing.
#[cfg_attr(not(feature = "test-control"), expect(unused_variables, reason = "only a test changes the pace"))]
pub fn pace(settings: &ConnectionSettings<'_>) -> WritePace {
    #[cfg(feature = "test-control")]
    if test_control::TestControl::is_offered(settings.environment) {
        return WritePace { between: Duration::ZERO, ..WritePace::default() };
    }
    WritePace::default()
}

/// What a process brings of its own: its clock, and what sees the commits of its journal.
struct Process {
    clock: Arc<dyn Clock>,
    checkpoint: Option<Arc<dyn Checkpoint>>,
}

impl Process {
    #[cfg(feature = "test-control")]
    fn of(settings: &ConnectionSettings<'_>) -> Result<Process, Failure> {
        let control = test_control::TestControl::taken(settings.environment)?;
        Ok(control.map_or_else(Process::uncontrolled, |control| {
            let control = Arc::new(control);
            Process { clock: control.clone(), checkpoint: Some(control) }
        }))
    }

    #[cfg(not(feature = "test-control"))]
    #[expect(clippy::unnecessary_wraps, reason = "with the feature `test-control` it can fail")]
    fn of(_settings: &ConnectionSettings<'_>) -> Result<Process, Failure> {
        Ok(Process::uncontrolled())
    }

    fn uncontrolled() -> Process {
        Process { clock: Arc::new(SystemClock), checkpoint: None }
    }
}

async fn open_with(
    settings: &ConnectionSettings<'_>,
    state_folder: Option<PathBuf>,
    now: Timestamp,
    checkpoint: Option<Arc<dyn Checkpoint>>,
) -> Result<(Journal, Option<SetAside>), Failure> {
    let address: Option<JournalAddress> = settings.config.journal_address(state_folder);
    let address = address.ok_or_else(|| {
        Failure::usage("no home folder is known to keep the journal in; pass --state-dir DIR or set HOME")
    })?;
    let mut options = JournalOptions::new(now);
    options.checkpoint = checkpoint;
    let opened = Journal::open(&address, options).await?;
    Ok((opened.journal, opened.set_aside))
}

/// The journal, where there is one: whoever only looks does not make one.
pub async fn existing_journal(
    settings: &ConnectionSettings<'_>,
    state_folder: Option<PathBuf>,
    now: Timestamp,
) -> Result<Option<Journal>, Failure> {
    let Some(address) = settings.config.journal_address(state_folder) else { return Ok(None) };
    if address.path().is_some_and(|path| !path.exists()) {
        return Ok(None);
    }
    Ok(Some(Journal::open(&address, JournalOptions::new(now)).await?.journal))
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        Failure::new(FailureKind::Journal, error)
    }
}
