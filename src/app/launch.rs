//! The start of the terminal. The screen comes first, with what the journal saw last; the rest comes up behind it, each part
//! as soon as it can: the token, the connection, and what GitHub says is to be watched now.
//!
//! What is absent: nothing here is waited for by the screen, no failure ends the program, and no file is written without
//! somebody agreeing.

mod first_run;
mod remembered;

use crate::app::connection::ConnectionSettings;
use crate::app::selection::WatchSelection;
use crate::app::session::{self, Session};
use crate::config::{Config, ConfigPaths, LoadedConfig};
use crate::failure::{Failure, FailureKind};
use crate::github::writer::WritePace;
use crate::github::{Client, CredentialSender, Credentials, Error, Host, Timeouts, TokenSource};
use crate::journal::{SetAside, StoredSnapshot};
use crate::reviewers::profiles::Profiles;
use crate::supervisor::clock::{Clock, SystemClock};
use crate::tui::rows::RowBuilder;
use crate::tui::startup::{DiscoveredPullRequests, StartupNews, WatchScope};
use crate::tui::{self, StartupEvent, StartupRequest, TerminalEnd, Themes};
use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// What the terminal is started with: the command line, the environment and the folder, as they were found.
#[derive(Debug, Clone)]
pub struct TerminalLaunch {
    pub config: Arc<Config>,
    /// Where the configuration was found, or would be.
    pub configured: ConfigPresence,
    pub api_url: Option<String>,
    pub read_only: bool,
    pub state_folder: Option<PathBuf>,
    pub directory: PathBuf,
    /// Names this process among those that share the journal.
    pub instance: String,
    /// Who sits here.
    pub by: String,
    pub themes: Themes,
    pub environment: fn(&str) -> Option<String>,
}

/// Whether there is a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigPresence {
    Yes,
    /// There is none, and this is where it would be read from; none where no home folder is known.
    No {
        place: Option<PathBuf>,
    },
}

impl ConfigPresence {
    pub fn of(loaded: &LoadedConfig, places: &ConfigPaths) -> ConfigPresence {
        match &loaded.source {
            Some(_) => ConfigPresence::Yes,
            None => ConfigPresence::No { place: places.default.clone() },
        }
    }
}

/// New pull requests are looked for as often as this many polls of the known ones, and not more often than the second.
const POLLS_BETWEEN_SEARCHES: u32 = 5;
const BETWEEN_SEARCHES: Duration = Duration::from_mins(5);

/// A search that failed is not repeated sooner.
const SHORTEST_WAIT: Duration = Duration::from_secs(15);

/// Arrivals that may wait for the screen.
const QUEUE: usize = 64;

/// Shows the terminal until the person leaves or `interrupted` completes.
pub async fn show(
    launch: TerminalLaunch,
    profiles: Profiles,
    interrupted: impl Future<Output = ()>,
) -> Result<TerminalEnd, ShowError> {
    let host = launch.settings().host()?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let profiles = Arc::new(profiles);
    let (arrivals, arriving) = mpsc::channel(QUEUE);
    let (wishes, asked_for) = mpsc::unbounded_channel();
    let (drawn, was_drawn) = oneshot::channel();
    let setup = tui::TerminalSetup {
        row_builder: RowBuilder {
            config: Arc::clone(&launch.config),
            reads: profiles.clone(),
            read_only: launch.read_only,
        },
        themes: launch.themes,
        by: launch.by.clone(),
        clock: Arc::clone(&clock),
        tick: Duration::from_secs(1),
        guide: None,
        supervised: None,
        launch: Some(tui::LaunchChannels { events: arriving, requests: wishes, drawn }),
    };
    let (client, introduction) = Client::waiting(host.clone(), Timeouts::default());
    let introduction = Arc::new(introduction);
    let starting =
        BackgroundStart { launch, host, profiles, clock, client, introduction, arrivals, asked_for };
    let panics = panics((starting.launch.environment)("CLOTURE_PANIC"));
    let starting = tokio::spawn(starting.run(was_drawn));
    let interrupted = async {
        tokio::select! {
            () = interrupted => {}
            () = panics => {}
        }
    };
    let end = tui::run(setup, std::future::pending(), interrupted).await;
    starting.abort();
    Ok(end?)
}

/// Lets a test see that a bug leaves the terminal as it was. What people use has no such switch.
#[cfg(debug_assertions)]
#[expect(clippy::panic, reason = "that is what is asked for")]
async fn panics(place: Option<String>) {
    const AFTER: Duration = Duration::from_millis(200);
    match place.as_deref() {
        Some("screen") => {
            tokio::time::sleep(AFTER).await;
            panic!("the screen was asked to panic");
        }
        Some("task") => {
            tokio::spawn(async {
                tokio::time::sleep(AFTER).await;
                panic!("a task was asked to panic");
            });
        }
        _ => {}
    }
    std::future::pending::<()>().await;
}

#[cfg(not(debug_assertions))]
async fn panics(_place: Option<String>) {
    std::future::pending().await
}

/// Why the terminal was not shown, or not to the end.
#[derive(Debug, thiserror::Error)]
pub enum ShowError {
    #[error(transparent)]
    Failure(#[from] Failure),
    #[error("the terminal: {0}")]
    Terminal(#[from] io::Error),
}

impl TerminalLaunch {
    fn settings(&self) -> ConnectionSettings<'_> {
        ConnectionSettings {
            config: &self.config,
            api_url: self.api_url.as_deref(),
            environment: &self.environment,
            directory: &self.directory,
            environment_of_programs: self.environment,
        }
    }
}

/// What comes up behind the screen.
struct BackgroundStart {
    launch: TerminalLaunch,
    host: Host,
    profiles: Arc<Profiles>,
    clock: Arc<dyn Clock>,
    client: Client,
    introduction: Arc<CredentialSender>,
    arrivals: mpsc::Sender<StartupEvent>,
    asked_for: mpsc::UnboundedReceiver<StartupRequest>,
}

impl BackgroundStart {
    /// Everything in its order, each step again when somebody wants that. It ends with the screen.
    async fn run(mut self, drawn: oneshot::Receiver<()>) {
        // Both are only this machine's business, and the first frame wants both.
        let settings = self.launch.settings();
        let (mut opened, here) =
            tokio::join!(self.open_journal(), WatchSelection::here(&settings, &self.host));
        loop {
            match opened {
                Ok((session, stored)) => {
                    if let Err(failure) = self.resume(session, stored, &here).await {
                        self.tell(StartupNews::Journal(Err(failure))).await;
                    }
                    break;
                }
                Err(failure) => self.tell(StartupNews::Journal(Err(failure))).await,
            }
            self.scope(&here, None).await;
            if self.wish().await.is_none() {
                return;
            }
            opened = self.open_journal().await;
        }
        // Certificates and programs would be in the way of the first frame.
        let _gone = drawn.await;
        while !self.introduce().await {
            if self.wish().await.is_none() {
                return;
            }
        }
        self.search(here).await;
    }

    /// Opens the journal and reads what was seen last, in a task of its own: starting `git` holds up whoever does it.
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
        let bug = |_| Failure::usage("the journal could not be opened; this is a bug, please report it");
        opening.await.map_err(bug)?
    }

    /// Shows what was seen before, and lets the supervisor go on with it.
    async fn resume(
        &self,
        session: Session,
        stored: Vec<StoredSnapshot>,
        here: &WatchSelection,
    ) -> Result<(), Failure> {
        if let Some(SetAside { to, why }) = &session.set_aside {
            let to = to.display();
            self.tell(StartupNews::Note(format!(
                "the journal was damaged ({why}) and is now {to}; a new one was begun"
            )))
            .await;
        }
        let last = remembered::among(stored, self.host.name(), here, self.clock.now());
        let first = last.iter().find(|stored| here.is_of_branch(&stored.snapshot));
        let first = first.map(remembered::address);
        let remembered = last.len();
        let (settings, read_only) = (self.launch.settings(), self.launch.read_only);
        let supervisor = session.resume(&settings, self.launch.instance.clone(), read_only, last).await?;
        self.scope(here, first).await;
        let desk = session.desk(&settings, &supervisor, self.launch.by.clone(), read_only);
        let supervised =
            Box::new(tui::SupervisorHandles { supervisor, journal: session.journal, request_handler: desk });
        self.send(StartupEvent::Supervised { supervised, remembered }).await;
        self.tell(StartupNews::Journal(Ok(()))).await;
        if remembered == 0
            && let ConfigPresence::No { place: Some(place) } = &self.launch.configured
        {
            let repository = here.checkout.as_ref().ok().map(|checkout| &checkout.repository);
            self.tell(StartupNews::FirstRun(first_run::proposal(place, repository))).await;
        }
        Ok(())
    }

    async fn scope(&self, here: &WatchSelection, first: Option<crate::github::PullRequestAddress>) {
        let scope = match (&here.checkout, here.rules()) {
            (_, number @ 1..) => WatchScope::Rules { number },
            (Ok(checkout), _) => WatchScope::Checkout {
                repository: checkout.repository.to_string(),
                branch: checkout.branch.clone(),
            },
            (Err(why), _) => WatchScope::Nothing { why: why.clone() },
        };
        self.tell(StartupNews::Scope { scope, first }).await;
    }

    /// Finds a token and lets everything through that waits for it. False where there is none.
    async fn introduce(&self) -> bool {
        let found = self.launch.settings().token(&self.host).await;
        let token = match found {
            Ok(token) => token,
            Err(failure) => {
                let what = format!("asking {}", self.host);
                self.introduction.refuse(Error::Denied { what, missing: failure.to_string() });
                self.tell(StartupNews::Token(Err(failure))).await;
                return false;
            }
        };
        let source = found_where(token.source());
        let introduction = Arc::clone(&self.introduction);
        // It reads every certificate of the machine.
        let introducing =
            tokio::task::spawn_blocking(move || introduction.introduce(&Credentials::Token(token)));
        let introduced = match introducing.await {
            Ok(introduced) => introduced.map(|()| source).map_err(Failure::from),
            Err(_) => {
                Err(Failure::usage("the connection could not be made; this is a bug, please report it"))
            }
        };
        let is_introduced = introduced.is_ok();
        self.tell(StartupNews::Token(introduced)).await;
        is_introduced
    }

    /// Asks GitHub what is to be watched now: at once, every some minutes, and when somebody wants it.
    async fn search(&mut self, mut here: WatchSelection) {
        let interval = self.launch.config.policy.poll_interval;
        let between = interval.saturating_mul(POLLS_BETWEEN_SEARCHES).max(BETWEEN_SEARCHES);
        loop {
            let mut again_in = between;
            if here.is_nothing() {
                let nothing = Failure::usage("nothing says which pull requests to watch");
                self.send(StartupEvent::Found(Err(nothing))).await;
            } else {
                let found = here.find(&self.client).await.map(|(first, selection)| DiscoveredPullRequests {
                    pull_requests: selection.pull_requests,
                    first,
                    notes: selection.failures.iter().map(ToString::to_string).collect(),
                    is_all: true,
                });
                // A limit is not a thing to knock at; whatever else failed may be over soon.
                if found.as_ref().is_err_and(|failure| failure.kind != FailureKind::Limited) {
                    again_in = interval.clamp(SHORTEST_WAIT, between);
                }
                self.send(StartupEvent::Found(found)).await;
            }
            let wish = tokio::select! {
                () = tokio::time::sleep(again_in) => Some(StartupRequest::LookAgain),
                wish = self.asked_for.recv() => wish,
            };
            match wish {
                None => return,
                Some(StartupRequest::LookAgain) => {}
                Some(StartupRequest::WriteConfiguration) => here = self.configure(here).await,
            }
        }
    }

    /// The next wish to look again. A configuration that somebody wants written meanwhile is.
    async fn wish(&mut self) -> Option<StartupRequest> {
        loop {
            match self.asked_for.recv().await {
                Some(StartupRequest::WriteConfiguration) => {
                    let here = WatchSelection::here(&self.launch.settings(), &self.host).await;
                    self.configure(here).await;
                }
                other => return other,
            }
        }
    }

    /// Writes what was proposed, and watches by it from now on.
    async fn configure(&mut self, here: WatchSelection) -> WatchSelection {
        let ConfigPresence::No { place: Some(place) } = self.launch.configured.clone() else { return here };
        let repository = here.checkout.as_ref().ok().map(|checkout| checkout.repository.clone());
        let proposal = first_run::proposal(&place, repository.as_ref());
        let written = tokio::task::spawn_blocking(move || first_run::write(&place, &proposal.text)).await;
        let written = written.unwrap_or_else(|error| Err(error.to_string()));
        let mut now = here;
        let outcome = match written {
            Ok(config) => {
                now = WatchSelection::new(config.watch, now.checkout);
                self.launch.configured = ConfigPresence::Yes;
                self.scope(&now, None).await;
                Ok(proposal.path)
            }
            Err(why) => Err(why),
        };
        self.tell(StartupNews::Written(outcome)).await;
        now
    }

    async fn tell(&self, news: StartupNews) {
        self.send(StartupEvent::News(news)).await;
    }

    async fn send(&self, arrival: StartupEvent) {
        // With the screen gone, this task is about to be ended, too.
        let _gone = self.arrivals.send(arrival).await;
    }
}

/// Where a token was found, never the token.
fn found_where(source: &TokenSource) -> String {
    match source {
        TokenSource::Environment(name) => format!("in {name}"),
        TokenSource::GhCli => "by asking `gh auth token`".to_owned(),
        TokenSource::File(path) => format!("in {}", path.display()),
    }
}
