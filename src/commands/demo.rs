//! `cloture demo`: the simulator on loopback, and the real client, supervisor and terminal over it. It needs no account, no
//! token and no network, and what it records is gone with it.
//!
//! Bots that post by themselves are played by the scenario. The reviewer that Cloture drives (`reviewer`) and the author's
//! agent (`author`) are programs like any other, except that the program is this one, called with a command that no help
//! lists: so nothing has to be installed, and every answer goes through the same limits and checks as a stranger's. The
//! author works in a real checkout (`checkout`) and pushes with `git`; where there is no `git`, there is no author, and the
//! guide says so. `cast` lets people of the scenario react to what is decided at the keyboard.

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

/// Why the demo does not play.
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
    #[error("the demo's terminal or folder: {0}")]
    Io(#[from] io::Error),
}

const CONFIGURATION: &str = include_str!("../../assets/demo.toml");

/// Virtual seconds a real one, where the scenario does not say.
const SPEED: f64 = 60.0;

/// What is drawn again while time runs fast.
const TICK: Duration = Duration::from_millis(250);

/// How long the driven reviewer and the author are at it, in real time: long enough to be seen.
const THINK: Duration = Duration::from_millis(2_500);

/// How often somebody looks whether a pull request was opened meanwhile.
const LOOK: Duration = Duration::from_millis(500);

/// Everything that the demo is played with, but for the supervisor and the screen.
#[derive(Debug)]
pub struct DemoStage {
    pub config: Config,
    pub scenario: Scenario,
    pub simulator: Arc<Simulator>,
    /// Whether there is an author; without `git` there is none.
    pub has_author: bool,
    /// Everything that is written goes here, the journal included.
    folder: TempDir,
}

/// Who plays, and at which pace.
#[derive(Debug, Clone)]
pub struct DemoCast<'a> {
    /// This program, which is also the driven reviewer and the author.
    pub program: &'a Path,
    pub clock: ClockMode,
    /// How long the driven reviewer and the author take for their work, in real time.
    pub think: Duration,
}

impl DemoStage {
    /// Sets the stage: the repository that the author works on, the simulator, and the configuration that fits both.
    pub async fn set(own: &Config, casting: &DemoCast<'_>) -> Result<DemoStage, DemoError> {
        let mut config = configuration(own)?;
        let mut scenario = Scenario::built_in("demo")?;
        let folder = tempfile::Builder::new().prefix("cloture-demo-").tempdir()?;
        let made = match with_author(&config) {
            Some(repository) => checkout::make(folder.path(), &repository.to_string(), &scenario).await,
            None => None,
        };
        if let (Some(made), Some(repository)) = (&made, with_author(&config)) {
            made.name_heads(&repository.to_string(), &mut scenario);
        }
        let simulator =
            Simulator::start(&scenario, SimulatorOptions { port: 0, clock: casting.clock }).await?;
        let think = format!("--think={}", casting.think.as_millis());
        let program = casting.program.to_string_lossy().into_owned();
        for reviewer in &mut config.reviewers {
            if let Some(Adapter::Program(own)) = &mut reviewer.adapter {
                own.command = vec![program.clone(), "demo-reviewer".to_owned(), think.clone()];
            }
        }
        let has_author = made.is_some();
        config.author.agent =
            config.author.agent.take().zip(made).map(|(mut agent, made): (AuthorAgent, _)| {
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

    /// The pull requests that are there from the beginning.
    pub fn opened(&self) -> Vec<PullRequestAddress> {
        self.pull_requests(false)
    }

    /// Those that something has to happen for first.
    pub fn awaited(&self) -> Vec<PullRequestAddress> {
        self.pull_requests(true)
    }

    fn pull_requests(&self, awaited: bool) -> Vec<PullRequestAddress> {
        let entries = self.scenario.pull_requests.iter().map(toml::Spanned::get_ref);
        let entries = entries.filter(|entry| entry.on.is_some() == awaited);
        let names = entries.map(|entry| format!("{}#{}", entry.repository, entry.number));
        names.filter_map(|name| PullRequestAddress::parse(&name).ok().map(|(_, address)| address)).collect()
    }

    /// Removes everything. A program that was just ended may still be writing its last, so this is tried for a while.
    async fn strike(self) {
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

/// Plays until the person leaves or `interrupted` completes. `own` is how the person wants it to look: their keys and
/// theme, over the demo's rules.
pub async fn play(
    own: &Config,
    themes: Themes,
    interrupted: impl Future<Output = ()>,
) -> Result<TerminalEnd, DemoError> {
    let mut interrupted = pin!(interrupted);
    let program = env::current_exe()?;
    let speed = Scenario::built_in("demo")?.speed.unwrap_or(SPEED);
    let casting = DemoCast { program: &program, clock: ClockMode::Running { speed }, think: THINK };
    let stage = tokio::select! {
        biased;
        () = &mut interrupted => return Ok(TerminalEnd::Quit),
        stage = DemoStage::set(own, &casting) => stage?,
    };
    let played = perform(&stage, speed, themes, interrupted).await;
    stage.strike().await;
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
    // GitHub asks for a second between two writes; this one is as patient in its own time.
    session.pace =
        WritePace { between: Duration::from_secs(1).div_f64(speed.max(1.0)), ..WritePace::default() };
    let tracked = stage.opened().into_iter().map(PullRequestRef::from).collect();
    let supervisor = session.supervise(&settings, "demo".to_owned(), false, tracked).await?;
    let desk = session.desk(&settings, &supervisor, scenario.viewer.clone(), false);
    let setup = tui::TerminalSetup {
        row_builder: RowBuilder {
            config: Arc::new(config.clone()),
            reads: session.profiles.clone(),
            read_only: false,
        },
        themes,
        by: scenario.viewer.clone(),
        clock: Arc::clone(&session.clock),
        tick: TICK,
        guide: Some(Guide::new(with_author(config).filter(|_| !has_author))),
        supervised: Some(tui::SupervisorHandles {
            supervisor,
            journal: session.journal.clone(),
            request_handler: desk,
        }),
        launch: None,
    };
    let reacting =
        tokio::spawn(cast::react(session.journal.clone(), Arc::clone(simulator), with_author(config)));
    let ended = tui::run(setup, opening(stage), interrupted).await;
    reacting.abort();
    Ok(ended?)
}

/// Waits for the pull requests that are still to come.
async fn opening(stage: &DemoStage) -> tui::DiscoveryResult {
    let awaited = stage.awaited();
    while !awaited.iter().all(|address| stage.simulator.author_of(&address.to_string()).is_some()) {
        tokio::time::sleep(LOOK).await;
    }
    Ok(awaited.into_iter().map(PullRequestRef::from).collect())
}

/// The repository whose findings an author is sent to fix.
fn with_author(config: &Config) -> Option<RepositoryName> {
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
    fn the_demo_is_sound() {
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
            assert!(config.repository(&address.repository).is_some(), "{address} is watched as configured");
        }
    }
}
