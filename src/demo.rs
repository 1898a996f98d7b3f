//! `cloture demo`: the simulator on loopback, and the real client, supervisor and terminal over it. It needs no account, no
//! token and no network, and what it records is gone with it.

mod clock;

use crate::config::{Config, ConfigError};
use crate::failure::Failure;
use crate::forge::Settings;
use crate::github::PullRequestAddress;
use crate::reviewers::profiles::{Profiles, ProfilesError};
use crate::session::Session;
use crate::simulator::{ClockMode, Options, Scenario, ScenarioError, Simulator, SimulatorError};
use crate::supervisor::clock::Clock as _;
use crate::tui::rows::Making;
use crate::tui::{self, End, Themes};
use clock::SimulatedClock;
use std::future::Future;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

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

const CONFIGURATION: &str = include_str!("../assets/demo.toml");

const GUIDE: &str = "A simulated GitHub, a minute a second. n: what is stuck, 2: your inbox";

/// What is drawn again while time runs fast.
const TICK: Duration = Duration::from_millis(250);

/// How the person wants it to look: their own keys and theme, over the demo's rules.
pub async fn play(
    own: &Config,
    themes: Themes,
    interrupted: impl Future<Output = ()>,
) -> Result<End, DemoError> {
    let config = configuration(own)?;
    let scenario = Scenario::built_in("demo")?;
    let speed = scenario.speed.unwrap_or(60.0);
    let options = Options { port: 0, clock: ClockMode::Running { speed } };
    let simulator = Arc::new(Simulator::start(&scenario, options).await?);
    let folder = tempfile::tempdir()?;
    let url = simulator.url();
    let settings = Settings {
        config: &config,
        api_url: Some(&url),
        environment: &|name| (name == "GH_TOKEN").then(|| "demo".to_owned()),
        directory: folder.path(),
        environment_of_programs: |_| None,
    };
    let profiles = Profiles::in_force(&config.profiles)?;
    let clock = Arc::new(SimulatedClock::new(Arc::clone(&simulator), speed));
    let host = settings.host()?;
    let mut session =
        Session::open(&settings, host, profiles, Some(folder.path().to_owned()), clock.now()).await?;
    session.clock = clock;
    let tracked = scenario.pull_requests.iter().filter_map(|entry| {
        let entry = entry.get_ref();
        let name = format!("{}#{}", entry.repository, entry.number);
        PullRequestAddress::parse(&name).ok().map(|(_, address)| (address, None))
    });
    let supervisor = session.supervise(&settings, "demo".to_owned(), false, tracked.collect()).await?;
    let desk = session.desk(&settings, &supervisor, scenario.viewer.clone(), false);
    let setup = tui::Setup {
        making: Making {
            config: Arc::new(config.clone()),
            reads: session.profiles.clone(),
            read_only: false,
        },
        themes,
        by: scenario.viewer.clone(),
        clock: Arc::clone(&session.clock),
        tick: TICK,
        guide: Some(GUIDE),
        supervised: Some(tui::Supervised { supervisor, journal: session.journal, desk }),
        launch: None,
    };
    // Everything is tracked already.
    Ok(tui::run(setup, std::future::pending(), interrupted).await?)
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
        assert!(scenario.pull_requests.len() >= 10);
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
