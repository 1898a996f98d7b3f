//! The instances of Cloture in the soak. The test starts them, ticks them, kills them and starts them again.

use crate::support::harness::{Fatal, Place, Run, Settings};
use crate::support::simulated;
use cloture::config::Config;
use cloture::github::PullRequestAddress;
use cloture::journal::Checkpoint;
use cloture::reviewers::profiles::Profiles;
use cloture::supervisor::LoopCommand;
use cloture::supervisor::clock::Clock;
use cloture::supervisor::people::request_handler::{
    PersonRequest, RequestHandler, RequestHandlerSetup, RequestOutcome,
};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// A timeout that only an instance that hangs reaches.
const HANGS: Duration = Duration::from_mins(2);

/// One instance with its own runtime in place of a process, and a person at its screen.
pub(crate) struct Life {
    pub(crate) name: &'static str,
    process: Runtime,
    pub(crate) run: Run,
    desk: Arc<RequestHandler>,
    fatal: Arc<Fatal>,
}

/// The configuration, for the instances and for the checks.
pub(crate) struct Rules {
    pub(crate) config: Arc<Config>,
    pub(crate) reads: Arc<Profiles>,
    pub(crate) text: String,
}

impl Rules {
    pub(crate) fn of(text: String) -> Rules {
        let whole = format!("[operator]\nmention = '@acme/leads'\n{text}");
        let config = Config::parse(Path::new("config.toml"), whole.as_bytes()).unwrap();
        let reads = Arc::new(Profiles::with_overrides(&config.profiles).unwrap());
        Rules { config: Arc::new(config), reads, text }
    }
}

impl Life {
    pub(crate) fn begin(name: &'static str, place: &Place, rules: &Rules, on: &[&str]) -> Life {
        let process = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let fatal = Fatal::at(usize::MAX);
        let settings = Settings {
            checkpoint: Some(Arc::clone(&fatal) as Arc<dyn Checkpoint>),
            patience: Duration::from_secs(20),
            ..Settings::default()
        };
        let run = process.block_on(place.start(name, &rules.text, on, settings));
        let inside = process.enter();
        let client = simulated::client(&place.simulator.url(), "secret", simulated::PATIENT);
        let desk = RequestHandler::new(RequestHandlerSetup {
            config: Arc::clone(&rules.config),
            reads: rules.reads.clone(),
            journal: run.journal.clone(),
            client,
            writer: run.supervisor.writer(),
            clock: Arc::clone(&run.ticker) as Arc<dyn Clock>,
            by: "somebody".to_owned(),
            read_only: false,
        });
        drop(inside);
        Life { name, process, run, desk: Arc::new(desk), fatal }
    }

    /// One poll and everything that follows. False if the instance was killed meanwhile.
    pub(crate) async fn tick(&self) -> bool {
        let ticked = async {
            tokio::select! {
                () = self.run.tick() => true,
                () = self.fatal.reached.notified() => false,
            }
        };
        let Ok(lives) = tokio::time::timeout(HANGS, ticked).await else {
            panic!("{} does not come to rest: {:?}", self.name, self.run.board().trouble)
        };
        lives
    }

    /// Kills the instance after this many commits, before it learns of the last.
    pub(crate) fn doom(&self, commits: usize) {
        self.fatal.after(commits);
    }

    /// Drops every task where it is, without any notice.
    pub(crate) fn kill(self) {
        let Life { process, run, desk, .. } = self;
        process.shutdown_timeout(Duration::from_secs(10));
        drop((run, desk));
    }

    /// Stops the instance in order. False if it was killed meanwhile.
    pub(crate) fn stop(self) -> bool {
        let Life { name, process, run, desk, fatal } = self;
        drop(desk);
        let stopped = process.block_on(async {
            tokio::select! {
                () = run.stop() => true,
                () = fatal.reached.notified() => false,
                () = tokio::time::sleep(HANGS) => panic!("{name} does not come to its end"),
            }
        });
        process.shutdown_timeout(Duration::from_secs(10));
        stopped
    }

    /// A person orders something and confirms it. True if anything was done.
    pub(crate) async fn order(&self, order: PersonRequest) -> bool {
        let (desk, board) = (Arc::clone(&self.desk), self.run.board());
        let mut ordered = self.process.spawn(async move {
            let proposal = desk.propose(order, &board).await.ok().filter(|proposal| !proposal.is_empty())?;
            desk.carry_out(proposal, &board).await.ok()
        });
        let became = tokio::select! {
            became = &mut ordered => became.unwrap(),
            () = self.fatal.reached.notified() => {
                // A killed instance does not finish it.
                ordered.abort();
                let _gone = ordered.await;
                // The next tick notices the kill.
                self.fatal.reached.notify_one();
                return false;
            }
        };
        match became {
            Some(RequestOutcome::Done(done)) => {
                for (address, command) in done.tell {
                    self.tell(address, command).await;
                }
                true
            }
            Some(RequestOutcome::Changed(_)) | None => false,
        }
    }

    /// A person's command to a loop.
    pub(crate) async fn tell(&self, address: PullRequestAddress, command: LoopCommand) {
        self.run.supervisor.tell(address, command).await;
    }
}
