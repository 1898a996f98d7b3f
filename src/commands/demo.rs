//! `cloture demo`: the real client, supervisor and terminal over the simulator. It needs no account, no token and no
//! network, and deletes its files when it ends.
//!
//! The scenario plays the bots that post by themselves. The driven reviewer (`reviewer`) and the author's agent
//! (`author`) are this program itself, started with hidden subcommands. So the user installs nothing, and their answers
//! pass the same limits and checks as any program's. The author works in a real checkout (`checkout`) and pushes with
//! `git`; without `git` there is no author, and the guide says so. `cast` lets authors react to the user's decisions.

mod author;
mod cast;
mod checkout;
mod clock;
mod remarks;
mod reviewer;

pub use author::work;
pub use reviewer::review;

use crate::agents::authors::AuthorAgent;
use crate::app::connection::ConnectionSettings;
use crate::app::session::Session;
use crate::config::{Config, ConfigError};
use crate::domain::snapshot::RepositoryName;
use crate::failure::Failure;
use crate::github::writer::WritePace;
use crate::github::{PullRequestAddress, PullRequestRef};
use crate::reviewers::adapters::Adapter;
use crate::reviewers::profiles::{Profiles, ProfilesError};
use crate::simulator::{ClockMode, Scenario, ScenarioError, Simulator, SimulatorError, SimulatorOptions};
use crate::supervisor::clock::Clock as _;
use crate::tui::rows::RowBuilder;
use crate::tui::{self, Guide, TerminalEnd, Themes};
use clock::SimulatedClock;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use std::{env, fs, io};
use tempfile::TempDir;

/// Why the demo cannot run.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    #[error(transparent)]
    Simulator(#[from] SimulatorError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Profiles(#[from] ProfilesError),
    #[error(transparent)]
    Failure(#[from] Failure),
    #[error("the demo cannot use its terminal or its temporary folder: {0}")]
    Io(#[from] io::Error),
}

const CONFIGURATION: &str = include_str!("../../assets/demo.toml");

/// How many simulated seconds pass per real second if the scenario has no `speed`.
const SPEED: f64 = 60.0;

/// How often the screen is drawn again, because times on it change fast.
const TICK: Duration = Duration::from_millis(250);

/// How long the driven reviewer and the author work, in real time: long enough to be visible.
const THINK: Duration = Duration::from_millis(2_500);

/// How often the demo checks for newly opened pull requests.
const LOOK: Duration = Duration::from_millis(500);

/// The demo's parts without the supervisor and the screen.
#[derive(Debug)]
pub struct DemoStage {
    pub config: Config,
    pub scenario: Scenario,
    pub simulator: Arc<Simulator>,
    /// False without `git`.
    pub has_author: bool,
    /// The demo writes all its files here, including the journal.
    folder: TempDir,
}

/// The program that plays the reviewer and the author, and the pace.
#[derive(Debug, Clone)]
pub struct DemoCast<'a> {
    /// This program's own path.
    pub program: &'a Path,
    pub clock: ClockMode,
    /// How long the driven reviewer and the author work, in real time.
    pub think: Duration,
}

impl DemoStage {
    /// Creates the author's repository, starts the simulator, and points the configuration at both.
    pub async fn build(own: &Config, cast: &DemoCast<'_>) -> Result<DemoStage, DemoError> {
        let mut config = configuration(own)?;
        let mut scenario = Scenario::built_in("demo")?;
        let folder = tempfile::Builder::new().prefix("cloture-demo-").tempdir()?;
        let checkout = match author_repository(&config) {
            Some(repository) => checkout::make(folder.path(), &repository.to_string(), &scenario).await,
            None => None,
        };
        if let (Some(checkout), Some(repository)) = (&checkout, author_repository(&config)) {
            checkout.name_heads(&repository.to_string(), &mut scenario);
        }
        let simulator = Simulator::start(&scenario, SimulatorOptions { port: 0, clock: cast.clock }).await?;
        let think = format!("--think={}", cast.think.as_millis());
        let program = cast.program.to_string_lossy().into_owned();
        for reviewer in &mut config.reviewers {
            if let Some(Adapter::Program(driven)) = &mut reviewer.adapter {
                driven.command = vec![program.clone(), "demo-reviewer".to_owned(), think.clone()];
            }
        }
        let has_author = checkout.is_some();
        config.author.agent =
            config.author.agent.take().zip(checkout).map(|(mut agent, made): (AuthorAgent, _)| {
                let simulator = format!("--simulator={}", simulator.url());
                agent.program.command = vec![program, "demo-author".to_owned(), simulator, think];
                agent.checkout = made.checkout;
                agent
            });
        Ok(DemoStage { config, scenario, simulator: Arc::new(simulator), has_author, folder })
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The pull requests that are open from the beginning.
    pub fn opened(&self) -> Vec<PullRequestAddress> {
        self.pull_requests(false)
    }

    /// The pull requests that an event opens later.
    pub fn awaited(&self) -> Vec<PullRequestAddress> {
        self.pull_requests(true)
    }

    fn pull_requests(&self, awaited: bool) -> Vec<PullRequestAddress> {
        let entries = self.scenario.pull_requests.iter().map(toml::Spanned::get_ref);
        let entries = entries.filter(|entry| entry.on.is_some() == awaited);
        let names = entries.map(|entry| format!("{}#{}", entry.repository, entry.number));
        names.filter_map(|name| PullRequestAddress::parse(&name).ok().map(|(_, address)| address)).collect()
    }

    /// Deletes the folder. It retries for a while, because a program that was just killed may still be writing.
    async fn tear_down(self) {
        let DemoStage { simulator, folder, .. } = self;
        drop(simulator);
        let path: PathBuf = folder.path().to_owned();
        for _ in 0..40 {
            match fs::remove_dir_all(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                Ok(()) | Err(_) => return,
            }
        }
    }
}

/// Plays until the user leaves or `interrupted` completes. `own` is the user's configuration: its keys and theme replace
/// the demo's.
pub async fn play(
    own: &Config,
    themes: Themes,
    interrupted: impl Future<Output = ()>,
) -> Result<TerminalEnd, DemoError> {
    let mut interrupted = pin!(interrupted);
    let program = env::current_exe()?;
    let speed = Scenario::built_in("demo")?.speed.unwrap_or(SPEED);
    let cast = DemoCast { program: &program, clock: ClockMode::Running { speed }, think: THINK };
    let stage = tokio::select! {
        biased;
        () = &mut interrupted => return Ok(TerminalEnd::Quit),
        stage = DemoStage::build(own, &cast) => stage?,
    };
    let played = perform(&stage, speed, themes, interrupted).await;
    stage.tear_down().await;
    played
}

async fn perform(
    stage: &DemoStage,
    speed: f64,
    themes: Themes,
    interrupted: impl Future<Output = ()>,
) -> Result<TerminalEnd, DemoError> {
    let DemoStage { config, scenario, simulator, has_author, .. } = stage;
    let url = simulator.url();
    let settings = ConnectionSettings {
        config,
        api_url: Some(&url),
        environment: &|name| (name == "GH_TOKEN").then(|| "demo".to_owned()),
        directory: stage.folder(),
        environment_of_programs: |_| None,
    };
    let profiles = Profiles::in_force(&config.profiles)?;
    let clock = Arc::new(SimulatedClock::new(Arc::clone(simulator), speed));
    let host = settings.host()?;
    let mut session =
        Session::open(&settings, host, profiles, Some(stage.folder().to_owned()), clock.now()).await?;
    session.clock = clock;
    // GitHub asks for a second between two writes; here that is a simulated second.
    session.pace =
        WritePace { between: Duration::from_secs(1).div_f64(speed.max(1.0)), ..WritePace::default() };
    let tracked = stage.opened().into_iter().map(PullRequestRef::from).collect();
    let supervisor = session.supervise(&settings, "demo".to_owned(), false, tracked).await?;
    let desk = session.desk(&settings, &supervisor, scenario.viewer.clone(), false);
    let setup = tui::TerminalSetup {
        making: RowBuilder {
            config: Arc::new(config.clone()),
            reads: session.profiles.clone(),
            read_only: false,
        },
        themes,
        by: scenario.viewer.clone(),
        clock: Arc::clone(&session.clock),
        tick: TICK,
        guide: Some(Guide::new(author_repository(config).filter(|_| !has_author))),
        supervised: Some(tui::SupervisorHandles { supervisor, journal: session.journal.clone(), desk }),
        launch: None,
    };
    let reacting =
        tokio::spawn(cast::react(session.journal.clone(), Arc::clone(simulator), author_repository(config)));
    let ended = tui::run(setup, wait_for_openings(stage), interrupted).await;
    reacting.abort();
    Ok(ended?)
}

/// Waits until all later pull requests are open.
async fn wait_for_openings(stage: &DemoStage) -> tui::DiscoveryResult {
    let awaited = stage.awaited();
    while !awaited.iter().all(|address| stage.simulator.author_of(&address.to_string()).is_some()) {
        tokio::time::sleep(LOOK).await;
    }
    Ok(awaited.into_iter().map(PullRequestRef::from).collect())
}

/// The repository whose findings the author fixes.
fn author_repository(config: &Config) -> Option<RepositoryName> {
    config.repositories.iter().find(|repository| repository.author).map(|repository| repository.name.clone())
}

fn configuration(own: &Config) -> Result<Config, ConfigError> {
    let mut config = Config::parse(Path::new("assets/demo.toml"), CONFIGURATION.as_bytes())?;
    config.keys = own.keys.clone();
    config.tui = own.tui.clone();
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demo_configures_every_repository_of_its_scenario() {
        let config = configuration(&Config::default()).unwrap();
        let scenario = Scenario::built_in("demo").unwrap();
        assert!((10..=14).contains(&scenario.pull_requests.len()));
        for pull_request in &scenario.pull_requests {
            let (_, address) = PullRequestAddress::parse(&format!(
                "{}#{}",
                pull_request.get_ref().repository,
                pull_request.get_ref().number
            ))
            .unwrap();
            assert!(config.repository(&address.repository).is_some(), "{address} has no repository entry");
        }
    }
}
