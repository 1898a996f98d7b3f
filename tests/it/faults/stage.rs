//! A supervisor in virtual time under a fault. A person restarts it if that is the cure.

use super::journal::{Disk, PAGES, set_aside};
use super::table::Told;
use super::trouble::{NOBODY, Trouble, struck};
use crate::support::harness::{Place, Run, SEVEN, Settings, address};
use crate::support::simulated;
use cloture::journal::{NewRecord, RecordFilter, RecordOrder};
use cloture::supervisor::LoopCommand;
use cloture::supervisor::view::HandoffState;
use jiff::{SignedDuration, Timestamp};
use std::time::Duration;

pub(crate) struct Stage {
    pub(crate) place: Place,
    pub(crate) config: String,
    pub(crate) trouble: Option<Trouble>,
    pub(crate) told: Told,
    run: Option<Run>,
    disk: Disk,
    began: Option<Timestamp>,
    /// The operation worked in spite of the fault, so there is nothing to tell.
    is_done: bool,
}

/// The longest delay of a poll in the forge's time: the longest limit plus the longest sweep interval.
const LATEST: SignedDuration = SignedDuration::from_hours(3);

/// The ticks of a history without a fault, and the most ticks with one.
const TICKS: usize = 10;
const MOST_TICKS: usize = 100;

/// A result that is missing after this time never comes. Only a request that hangs may take longer.
const SHORT: Duration = Duration::from_secs(2);

impl Stage {
    pub(crate) async fn new(place: Place, config: String, trouble: Option<Trouble>) -> Stage {
        let disk = Disk::of(place.journal.path().unwrap());
        let (told, run, began, is_done) = (Told::default(), None, None, false);
        let mut stage = Stage { place, config, trouble, told, run, disk, began, is_done };
        stage.start(None).await;
        stage
    }

    async fn start(&mut self, api_url: Option<String>) {
        let waits = matches!(self.trouble, Some(Trouble::SlowLoris | Trouble::Hangs));
        let settings = Settings {
            api_url,
            patience: if waits { SHORT } else { simulated::PATIENT },
            patience_with_journal: Some(Duration::from_millis(100)),
            page_limit: Some(PAGES),
            ..Settings::default()
        };
        self.run = Some(self.place.start("one", &self.config, &[SEVEN], settings).await);
    }

    /// Stops like the program. The next start has to cope with a journal that could not be closed.
    pub(crate) async fn stop(&mut self) {
        if let Some(run) = self.run.take() {
            run.supervisor.stop().await;
            let _damaged = run.journal.close().await;
        }
    }

    pub(crate) async fn restart(&mut self) {
        self.stop().await;
        self.start(None).await;
    }

    pub(crate) fn run(&self) -> &Run {
        self.run.as_ref().unwrap()
    }

    pub(crate) async fn tick(&mut self) {
        self.run().tick().await;
        self.look();
    }

    /// Starts counting the delay.
    pub(crate) fn mark(&mut self) {
        self.began = Some(self.place.simulator.now());
    }

    /// Begins the fault, on the forge at the given request.
    pub(crate) async fn strike(&mut self, aim: &str, field: &str) {
        self.mark();
        let Some(trouble) = self.trouble else { return };
        trouble.begin(&self.place.simulator, aim, field);
        self.strike_here().await;
    }

    /// Begins a fault of this machine.
    pub(crate) async fn strike_here(&mut self) {
        self.mark();
        let Some(trouble) = self.trouble else { return };
        if let Some(by) = trouble.jump() {
            let run = self.run();
            run.ticker.jump(by);
            // A record wakes the supervisor, so that it reads the clock.
            let note = async {
                run.journal.append_one(NewRecord::new("note", "somebody")).await.unwrap();
            };
            run.ticker.disturbed(note).await;
        }
        if trouble == Trouble::NoSuchHost {
            self.stop().await;
            self.start(Some(NOBODY.to_owned())).await;
        }
        let journal = self.run().journal.clone();
        self.disk.strike(trouble, Some(&journal)).await;
    }

    /// Two polls while the fault lasts.
    pub(crate) async fn endure(&mut self, wanted: Option<&[String]>, state: impl Fn(&Stage) -> Vec<String>) {
        for _ in 0..2 {
            self.tick().await;
        }
        self.is_done = wanted.is_some_and(|wanted| state(self) == wanted);
    }

    /// Ends the fault, and restarts the supervisor if the cure is a restart.
    pub(crate) async fn end(&mut self) {
        self.place.simulator.clear_faults();
        let Some(trouble) = self.trouble else { return };
        self.disk.end(trouble).await;
        if matches!(trouble, Trouble::NoSuchHost | Trouble::JournalDamaged) {
            self.stop().await;
            set_aside(&self.place.journal, self.place.simulator.now()).await;
            self.start(None).await;
        }
    }

    /// Every sentence about the fault that the screen shows.
    fn look(&mut self) {
        let board = self.run().board();
        let mut seen: Vec<String> =
            [&board.trouble, &board.journal_trouble].into_iter().flatten().map(|it| it.why.clone()).collect();
        if let Some(view) = board.pull_requests.get(&address(SEVEN)) {
            seen.extend(view.trouble.clone());
            seen.extend(view.refusal.as_ref().map(ToString::to_string));
            for handoff in &view.handoffs {
                match &handoff.state {
                    HandoffState::Stuck(why) => seen.push(why.clone()),
                    HandoffState::Waiting { why, .. } => seen.extend(why.clone()),
                    HandoffState::Sent { .. } => {}
                }
            }
        }
        for sentence in seen {
            self.told.show(sentence);
        }
    }

    /// The journal screen's sentences about programs that did not answer. A damaged journal has its own
    /// sentence.
    pub(crate) async fn look_at_journal(&mut self) {
        let filter = RecordFilter { order: RecordOrder::OldestFirst, ..RecordFilter::default() };
        for record in self.run().journal.records(filter).await.unwrap_or_default() {
            let is_of_program = ["asked", "author_ended"].contains(&record.kind.as_str());
            if is_of_program && record.why.contains("within") {
                self.told.show(format!("{}: {}", record.kind, record.why));
            }
        }
    }

    /// Ticks until the state is as without a fault, and a little longer. `others` react to each state.
    pub(crate) async fn settle(
        &mut self,
        wanted: Option<&[String]>,
        state: impl Fn(&Stage) -> Vec<String>,
        mut others: impl FnMut(&Stage) -> Vec<LoopCommand>,
    ) -> Vec<String> {
        let most = if wanted.is_some() { MOST_TICKS } else { TICKS };
        for _ in 0..most {
            self.tick().await;
            for command in others(self) {
                self.run().supervisor.tell(address(SEVEN), command).await;
            }
            if wanted.is_some_and(|wanted| state(self) == wanted) {
                break;
            }
        }
        let late = self.place.simulator.now().duration_since(self.began.unwrap());
        for _ in 0..3 {
            self.tick().await;
            others(self);
        }
        let found = state(self);
        if let (Some(wanted), Some(trouble)) = (wanted, self.trouble) {
            self.told.compare(&found, wanted);
            self.told.expect(late <= LATEST, || format!("it took {late:#}"));
            self.told.tries = self.told.tries.max(struck(&self.place.simulator));
            let is_on_forge = trouble.on_forge("").is_some();
            self.told.expect(!is_on_forge || self.told.tries > 0, || "it never struck".to_owned());
            let is_told = trouble.is_silent() || self.is_done || !self.told.shown.is_empty();
            self.told.expect(is_told, || "nobody was told".to_owned());
        }
        found
    }
}
