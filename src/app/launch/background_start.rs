//! The part of the start that runs behind the first frame: journal, token, connection, and the search for
//! pull requests. The person can ask to try a failed step again.

use super::{ConfigPresence, TerminalLaunch, first_run, remembered};
use crate::app::connection::found_where;
use crate::app::selection::WatchSelection;
use crate::app::session::{self, Session};
use crate::failure::{Failure, FailureKind};
use crate::github::writer::WritePace;
use crate::github::{Client, CredentialSender, Credentials, Error, Host, PullRequestAddress};
use crate::journal::StoredSnapshot;
use crate::reviewers::profiles::Profiles;
use crate::supervisor::clock::Clock;
use crate::tui::startup::{DiscoveredPullRequests, StartupNews, WatchScope};
use crate::tui::{self, StartupEvent, StartupRequest};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// Cloture searches for new pull requests once per this many polls, but not more often than
/// [`SEARCH_INTERVAL`].
const POLLS_PER_SEARCH: u32 = 5;
const SEARCH_INTERVAL: Duration = Duration::from_mins(5);

/// The shortest pause after a failed search.
const SHORTEST_RETRY: Duration = Duration::from_secs(15);

pub(super) struct BackgroundStart {
    pub(super) launch: TerminalLaunch,
    pub(super) host: Host,
    pub(super) profiles: Arc<Profiles>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) client: Client,
    /// Gives the client its token. Until then its calls wait.
    pub(super) credentials: Arc<CredentialSender>,
    pub(super) events: mpsc::Sender<StartupEvent>,
    pub(super) requests: mpsc::UnboundedReceiver<StartupRequest>,
}

impl BackgroundStart {
    /// Runs the steps in order, and repeats a failed step when the person asks for it. It ends with the
    /// screen.
    pub(super) async fn run(mut self, drawn: oneshot::Receiver<()>) {
        // Both read only this machine, and the first frame shows both.
        let settings = self.launch.settings();
        let (mut opened, selection) =
            tokio::join!(self.open_journal(), WatchSelection::from_directory(&settings, &self.host));
        loop {
            match opened {
                Ok((session, stored)) => {
                    if let Err(failure) = self.resume(session, stored, &selection).await {
                        self.send_news(StartupNews::Journal(Err(failure))).await;
                    }
                    break;
                }
                Err(failure) => self.send_news(StartupNews::Journal(Err(failure))).await,
            }
            self.send_scope(&selection, None).await;
            if self.retry_requested().await.is_none() {
                return;
            }
            opened = self.open_journal().await;
        }
        // Reading certificates and running `gh` would delay the first frame.
        let _screen_gone = drawn.await;
        while !self.send_credentials().await {
            if self.retry_requested().await.is_none() {
                return;
            }
        }
        self.search(selection).await;
    }

    /// Opens the journal and reads the last snapshots. It runs in a task of its own, because starting `git`
    /// blocks the thread that does it.
    async fn open_journal(&self) -> Result<(Session, Vec<StoredSnapshot>), Failure> {
        let BackgroundStart { launch, profiles, clock, client, .. } = self;
        let launch = launch.clone();
        let (profiles, client, clock) = (Arc::clone(profiles), client.clone(), Arc::clone(clock));
        let opening = tokio::spawn(async move {
            let (journal, set_aside) =
                session::open_journal(&launch.settings(), launch.state_folder.clone(), clock.now()).await?;
            let stored = journal.load_snapshots().await?.readable;
            Ok((Session { journal, set_aside, profiles, client, clock, pace: WritePace::default() }, stored))
        });
        let bug = |_| Failure::usage("opening the journal panicked; this is a bug, please report it");
        opening.await.map_err(bug)?
    }

    /// Shows the stored snapshots, and starts the supervisor on them.
    async fn resume(
        &self,
        session: Session,
        stored: Vec<StoredSnapshot>,
        selection: &WatchSelection,
    ) -> Result<(), Failure> {
        if let Some(set_aside) = &session.set_aside {
            self.send_news(StartupNews::Note(session::damage_notice(set_aside))).await;
        }
        let last = remembered::likely_watched(stored, self.host.name(), selection, self.clock.now());
        let first = last.iter().find(|stored| selection.is_of_branch(&stored.snapshot));
        let first = first.map(remembered::address);
        let remembered = last.len();
        let (settings, read_only) = (self.launch.settings(), self.launch.read_only);
        let supervisor = session.resume(&settings, self.launch.instance.clone(), read_only, last).await?;
        self.send_scope(selection, first).await;
        let request_handler =
            session.request_handler(&settings, &supervisor, self.launch.by.clone(), read_only);
        let supervised =
            Box::new(tui::SupervisorHandles { supervisor, journal: session.journal, request_handler });
        self.send_event(StartupEvent::Supervised { supervised, remembered }).await;
        self.send_news(StartupNews::Journal(Ok(()))).await;
        if remembered == 0
            && let ConfigPresence::No { path: Some(path) } = &self.launch.config_presence
        {
            let repository = selection.checkout.as_ref().ok().map(|checkout| &checkout.repository);
            self.send_news(StartupNews::FirstRun(first_run::proposal(path, repository))).await;
        }
        Ok(())
    }

    async fn send_scope(&self, selection: &WatchSelection, first: Option<PullRequestAddress>) {
        let scope = match (&selection.checkout, selection.rules()) {
            (_, number @ 1..) => WatchScope::Rules { number },
            (Ok(checkout), _) => WatchScope::Checkout {
                repository: checkout.repository.to_string(),
                branch: checkout.branch.clone(),
            },
            (Err(why), _) => WatchScope::Nothing { why: why.clone() },
        };
        self.send_news(StartupNews::Scope { scope, first }).await;
    }

    /// Finds a token and releases the calls that wait for it. Returns false if there is no usable token.
    async fn send_credentials(&self) -> bool {
        let found = self.launch.settings().token(&self.host).await;
        let token = match found {
            Ok(token) => token,
            Err(failure) => {
                let what = format!("asking {}", self.host);
                self.credentials.refuse(Error::Denied { what, missing: failure.to_string() });
                self.send_news(StartupNews::Token(Err(failure))).await;
                return false;
            }
        };
        let source = found_where(token.source());
        let credentials = Arc::clone(&self.credentials);
        // This blocks: it reads every certificate that the machine trusts.
        let connecting =
            tokio::task::spawn_blocking(move || credentials.set_credentials(&Credentials::Token(token)));
        let connected = match connecting.await {
            Ok(connected) => connected.map(|()| source).map_err(Failure::from),
            Err(_) => Err(Failure::usage("connecting panicked; this is a bug, please report it")),
        };
        let is_connected = connected.is_ok();
        self.send_news(StartupNews::Token(connected)).await;
        is_connected
    }

    /// Asks GitHub for the pull requests to watch: now, every few minutes, and when the person asks for it.
    async fn search(&mut self, mut selection: WatchSelection) {
        let interval = self.launch.config.policy.poll_interval;
        let search_interval = interval.saturating_mul(POLLS_PER_SEARCH).max(SEARCH_INTERVAL);
        loop {
            let mut pause = search_interval;
            if selection.is_nothing() {
                let nothing = Failure::usage("nothing says which pull requests to watch");
                self.send_event(StartupEvent::Found(Err(nothing))).await;
            } else {
                let found = selection.find(&self.client).await.map(|(first, found)| DiscoveredPullRequests {
                    pull_requests: found.pull_requests,
                    first,
                    notes: found.failures.iter().map(ToString::to_string).collect(),
                    is_all: true,
                });
                // Other failures may be over soon. A rate limit is not, and asking again would make it worse.
                if found.as_ref().is_err_and(|failure| failure.kind != FailureKind::Limited) {
                    pause = interval.clamp(SHORTEST_RETRY, search_interval);
                }
                self.send_event(StartupEvent::Found(found)).await;
            }
            let request = tokio::select! {
                () = tokio::time::sleep(pause) => Some(StartupRequest::LookAgain),
                request = self.requests.recv() => request,
            };
            match request {
                None => return,
                Some(StartupRequest::LookAgain) => {}
                Some(StartupRequest::WriteConfiguration) => {
                    selection = self.write_configuration(selection).await;
                }
            }
        }
    }

    /// Waits until the person asks for another attempt. None when the screen is gone.
    async fn retry_requested(&mut self) -> Option<StartupRequest> {
        loop {
            match self.requests.recv().await {
                Some(StartupRequest::WriteConfiguration) => {
                    let selection = WatchSelection::from_directory(&self.launch.settings(), &self.host).await;
                    self.write_configuration(selection).await;
                }
                other => return other,
            }
        }
    }

    /// Writes the proposed configuration, and returns the selection that it makes.
    async fn write_configuration(&mut self, mut selection: WatchSelection) -> WatchSelection {
        let ConfigPresence::No { path: Some(path) } = self.launch.config_presence.clone() else {
            return selection;
        };
        let repository = selection.checkout.as_ref().ok().map(|checkout| checkout.repository.clone());
        let proposal = first_run::proposal(&path, repository.as_ref());
        let written = tokio::task::spawn_blocking(move || first_run::write(&path, &proposal.text)).await;
        let written = written.unwrap_or_else(|error| Err(error.to_string()));
        let outcome = match written {
            Ok(config) => {
                selection = WatchSelection::new(config.watch, selection.checkout);
                self.launch.config_presence = ConfigPresence::Yes;
                self.send_scope(&selection, None).await;
                Ok(proposal.path)
            }
            Err(why) => Err(why),
        };
        self.send_news(StartupNews::Written(outcome)).await;
        selection
    }

    async fn send_news(&self, news: StartupNews) {
        self.send_event(StartupEvent::News(news)).await;
    }

    async fn send_event(&self, event: StartupEvent) {
        // If the screen is gone, this task is about to be aborted too.
        let _screen_gone = self.events.send(event).await;
    }
}
