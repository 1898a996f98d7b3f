//! Everything a supervising command needs: the client, the journal, the profiles of reviewers, and the
//! supervisor.

#[cfg(feature = "test-control")]
pub mod test_control;

use crate::app::connection::ConnectionSettings;
use crate::config::Config;
use crate::failure::{Failure, FailureKind};
use crate::github::writer::WritePace;
use crate::github::{Client, Host, PullRequestAddress, PullRequestRef};
use crate::journal::instance;
use crate::journal::{
    Checkpoint, Journal, JournalAddress, JournalError, JournalOptions, PullRequestKey, SetAside,
    StoredSnapshot,
};
use crate::output::sanitize;
use crate::reviewers::profiles::Profiles;
use crate::supervisor::clock::{Clock, SystemClock};
use crate::supervisor::people::request_handler::{self, RequestHandler};
use crate::supervisor::{Supervisor, SupervisorOptions};
use jiff::Timestamp;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use std::{env, fs, process};

/// An open journal and a client.
#[derive(Debug)]
pub struct Session {
    pub journal: Journal,
    /// Set if the old journal was damaged. The person must be told, with [`damage_notice`].
    pub set_aside: Option<SetAside>,
    pub profiles: Arc<Profiles>,
    pub client: Client,
    pub clock: Arc<dyn Clock>,
    /// The pause between two writes to GitHub.
    pub pace: WritePace,
}

/// How many polls a driver may miss before another instance takes its pull request over.
const LEASE_POLLS: u32 = 3;
/// The shortest lease. After a lost answer, the driver looks for its write for some seconds.
const SHORTEST_LEASE: Duration = Duration::from_mins(1);

impl Session {
    /// Opens the journal and makes the client. This sends nothing yet.
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

    /// The journal's key of a pull request on this host.
    pub async fn key_of(&self, address: &PullRequestAddress) -> Result<PullRequestKey, Failure> {
        let known = self.journal.repositories().await?;
        Ok(known.key_of(self.client.host().name(), &address.repository, address.number))
    }

    /// The handler of a person's requests. It shares the supervisor's writer. `by` names the person if GitHub
    /// does not.
    pub fn request_handler(
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

    /// Starts the supervisor. `instance` names this process among those that share the journal.
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

    /// Starts the supervisor on stored snapshots.
    pub async fn resume(
        &self,
        settings: &ConnectionSettings<'_>,
        instance: String,
        read_only: bool,
        snapshots: Vec<StoredSnapshot>,
    ) -> Result<Supervisor, Failure> {
        let options = self.options(settings, instance, read_only);
        Ok(Supervisor::resume(options, snapshots).await?)
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

/// Opens the journal, and makes it if it does not exist yet.
pub async fn open_journal(
    settings: &ConnectionSettings<'_>,
    state_folder: Option<PathBuf>,
    now: Timestamp,
) -> Result<(Journal, Option<SetAside>), Failure> {
    open_with(settings, state_folder, now, Process::of(settings)?.checkpoint).await
}

/// The pause between two writes to GitHub. A process under a test's control makes none.
#[cfg_attr(not(feature = "test-control"), expect(unused_variables, reason = "only a test changes the pace"))]
pub fn pace(settings: &ConnectionSettings<'_>) -> WritePace {
    #[cfg(feature = "test-control")]
    if test_control::TestControl::is_offered(settings.environment) {
        return WritePace { between: Duration::ZERO, ..WritePace::default() };
    }
    WritePace::default()
}

/// The clock of this process, and the observer of its journal's commits. A test can replace both.
struct Process {
    clock: Arc<dyn Clock>,
    checkpoint: Option<Arc<dyn Checkpoint>>,
}

impl Process {
    #[cfg(feature = "test-control")]
    fn of(settings: &ConnectionSettings<'_>) -> Result<Process, Failure> {
        let control = test_control::TestControl::connect_if_requested(settings.environment)?;
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
    let address = journal_address(settings.config, state_folder)?;
    let mut options = JournalOptions::new(now);
    options.checkpoint = checkpoint;
    let opened = Journal::open(&address, options).await?;
    // The command records something, so it learns of a full disk now and not in the middle of its work.
    opened.journal.check_writable().await?;
    Ok((opened.journal, opened.set_aside))
}

/// Where the journal is, or will be.
pub fn journal_address(config: &Config, state_folder: Option<PathBuf>) -> Result<JournalAddress, Failure> {
    config.journal_address(state_folder).ok_or_else(|| {
        Failure::usage(
            "cannot place the journal, because the home folder is unknown; pass --state-dir DIR or set HOME",
        )
    })
}

/// Opens the journal if it exists. Commands that only read do not make one.
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

/// Tells the person that the journal was damaged, and where the damaged file is now.
pub fn damage_notice(set_aside: &SetAside) -> String {
    let SetAside { to, why } = set_aside;
    let (to, why) = (to.display(), sanitize::line(why));
    format!("the journal was damaged ({why}) and was moved to {to}; Cloture started a new one")
}

/// Identifies this process in a shared journal. People read its name there, to see which one did what.
pub fn instance_identity() -> String {
    let host = env::var("HOSTNAME").ok().or_else(|| fs::read_to_string("/etc/hostname").ok());
    let host = host.map(|host| host.trim().to_owned()).filter(|host| !host.is_empty());
    instance::unique(&format!("{}/{}", host.unwrap_or_else(|| "here".to_owned()), process::id()))
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        Failure::new(FailureKind::Journal, error)
    }
}
