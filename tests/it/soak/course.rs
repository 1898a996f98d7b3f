//! The course of a soak. In each step people and bots act, time passes, and the checks look at both sides.

use super::forge_side::{ForgeSide, Quiet};
use super::lives::{Life, Rules};
use super::world::{self, Pull, Size};
use super::{inhabitants, our_side, person, rest, weather};
use crate::support::dice::Dice;
use crate::support::harness::{Place, address};
use crate::support::simulated;
use cloture::domain::review_loop::Phase;
use cloture::domain::snapshot::PullRequestState;
use cloture::github::{Host, PullRequestAddress};
use cloture::journal::{Journal, PullRequestKey, Record, RecordFilter};
use cloture::simulator::Snapshot;
use cloture::supervisor::{DriverRole, PullRequestView};
use jiff::{SignedDuration, Timestamp};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// Every so many steps nobody acts for two polls. Cloture must then know the whole state of the forge.
const QUIET_EVERY: usize = 12;

pub(crate) struct Course {
    size: Size,
    dice: Dice,
    pub(crate) world: Runtime,
    pub(crate) place: Place,
    pub(crate) pulls: Vec<Pull>,
    rules: Rules,
    lives: Vec<Life>,
    pub(crate) journal: Journal,
    host: String,
    forge_side: ForgeSide,
    /// The views at the last check.
    shown: BTreeMap<PullRequestAddress, Arc<PullRequestView>>,
    step: usize,
    begun: Timestamp,
    wall: Instant,
    counts: BTreeMap<String, usize>,
    requests: usize,
}

/// After this many polls every postponed write is done.
const MADE_UP_FOR: u32 = 12;

impl Course {
    #[expect(clippy::disallowed_methods, reason = "how long it takes is told")]
    pub(crate) fn new(size: Size) -> Course {
        let wall = Instant::now();
        let world = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (scenario, pulls) = world::scenario(size);
        let place = world.block_on(Place::of(&scenario));
        let rules = Rules::of(world::config(&place, size));
        let journal = world.block_on(place.journal());
        let begun = place.simulator.now();
        let host = Host::from_api_url(&place.simulator.url()).unwrap().name().to_owned();
        let mut course = Course {
            size,
            dice: Dice::new(size.seed),
            world,
            place,
            pulls,
            rules,
            lives: Vec::new(),
            journal,
            host,
            forge_side: ForgeSide::default(),
            shown: BTreeMap::new(),
            step: 0,
            begun,
            wall,
            counts: BTreeMap::new(),
            requests: 0,
        };
        course.begin("one");
        course
    }

    fn begin(&mut self, name: &'static str) {
        let on: Vec<&str> = self.pulls.iter().map(|pull| pull.name.as_str()).collect();
        self.lives.push(Life::begin(name, &self.place, &self.rules, &on));
    }

    fn count(&mut self, what: &str) {
        self.counted(what, 1);
    }

    pub(crate) fn counted(&mut self, what: &str, times: usize) {
        *self.counts.entry(what.to_owned()).or_default() += times;
    }

    /// Runs random steps until the hours are over.
    pub(crate) fn run(&mut self) {
        let until = self.begun.checked_add(SignedDuration::from_hours(self.size.hours)).unwrap();
        while self.place.simulator.now() < until {
            self.step += 1;
            if self.step.is_multiple_of(QUIET_EVERY) {
                self.be_quiet();
            } else {
                self.go_on();
            }
        }
    }

    /// One random step.
    fn go_on(&mut self) {
        self.others_act();
        self.instances_come_and_go();
        let quiet = self.quiet();
        for fault in weather::faults(&mut self.dice) {
            self.place.simulator.inject(fault);
        }
        self.people_act();
        let since = self.place.simulator.post_count();
        let locked = self.dice.is_in(40).then(|| self.lock_journal());
        self.tick();
        if let Some(locked) = locked {
            self.world.block_on(locked).unwrap();
        }
        self.place.simulator.clear_faults();
        self.look(since, &quiet);
    }

    fn others_act(&mut self) {
        let forge = self.place.simulator.snapshot();
        for _ in 0..self.dice.between(3, 9) {
            let index = self.dice.below(self.pulls.len());
            let pull = &mut self.pulls[index];
            let Some(action) = inhabitants::act(pull, &forge.pull_requests[index], &mut self.dice) else {
                continue;
            };
            let done = self.place.simulator.perform_toml(&pull.name, &format!("do = [{action}]"));
            match done {
                Ok(()) => self.count("deeds of others"),
                Err(error) => {
                    let refused = error.to_string();
                    assert!(!refused.contains("TOML"), "{refused}: {action}");
                    self.count("deeds of others that made no sense");
                }
            }
        }
        let forge = self.place.simulator.snapshot();
        self.forge_side.others_acted(&forge);
    }

    fn people_act(&mut self) {
        for _ in 0..self.dice.between(0, 3) {
            let who = self.dice.below(self.lives.len());
            let life = &self.lives[who];
            if let Some(did) = self.world.block_on(person::act(life, &mut self.dice)) {
                self.count(&format!("person: {did}"));
            }
        }
        // A person sets a machine's clock forward or back.
        if self.dice.is_in(25) {
            let hours = i64::try_from(self.dice.below(7)).unwrap() - 3;
            let who = self.dice.below(self.lives.len());
            self.lives[who].run.ticker.jump(SignedDuration::from_hours(hours));
            self.count("clocks set");
        }
    }

    /// Another process locks the journal for a moment, as a backup would.
    fn lock_journal(&mut self) -> JoinHandle<()> {
        self.count("journals locked");
        let path = self.place.journal.path().unwrap().to_owned();
        self.world.spawn(async move {
            let mut other = SqliteConnectOptions::new().filename(path).connect().await.unwrap();
            sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
            tokio::time::sleep(Duration::from_millis(30)).await;
            sqlx::query("COMMIT").execute(&mut other).await.unwrap();
            other.close().await.unwrap();
        })
    }

    /// Kills instances in the middle of their work and starts them again. At times there are two.
    fn instances_come_and_go(&mut self) {
        if self.lives.len() == 1 && self.dice.is_in(20) {
            let name = if self.lives[0].name == "one" { "two" } else { "one" };
            self.begin(name);
            self.count("second instances");
        }
        if self.lives.len() == 2 && self.dice.is_in(150) {
            let who = self.dice.below(2);
            let life = self.lives.remove(who);
            self.stop(life);
        }
        if self.dice.is_in(40) {
            let (who, commits) = (self.dice.below(self.lives.len()), self.dice.between(1, 40));
            self.lives[who].doom(commits);
        }
    }

    /// Ends an instance. Some are killed while they stop.
    fn stop(&mut self, life: Life) {
        if life.stop() {
            self.count("instances stopped");
        } else {
            self.world.block_on(self.leases_run_out());
            self.count("kills while stopping");
        }
    }

    fn tick(&mut self) {
        let mut killed = Vec::new();
        for (index, life) in self.lives.iter().enumerate() {
            if !self.world.block_on(life.tick()) {
                killed.push(index);
            }
        }
        for index in killed.into_iter().rev() {
            let life = self.lives.remove(index);
            let name = life.name;
            life.kill();
            self.count("kills");
            // Half of the instances that were killed beside another start again later.
            if self.lives.is_empty() || self.dice.is_in(500) {
                self.begin(name);
                let life = self.lives.last().unwrap();
                assert!(self.world.block_on(life.tick()), "nobody kills it twice");
            } else {
                self.world.block_on(self.leases_run_out());
            }
        }
        self.count("polls");
    }

    /// Releases the leases of instances that no longer live: by the database's clock they would last for minutes.
    /// A killed instance may still commit one, because its journal has a thread of its own.
    async fn leases_run_out(&self) {
        for lease in self.journal.leases().await.unwrap() {
            if !self.lives.iter().any(|life| life.name == lease.holder) {
                self.journal.release(&lease).await.unwrap();
            }
        }
    }

    /// The pull requests that the driver must not write to by itself, as it knew before this step.
    fn quiet(&self) -> Quiet {
        let mut quiet = Quiet::new();
        for (address, view) in self.views() {
            let why = match view.snapshot().map(|snapshot| snapshot.state) {
                Some(PullRequestState::Closed) => "closed",
                Some(PullRequestState::Merged) => "merged",
                _ => match view.review_loop.phase() {
                    Phase::Paused(_) => "paused",
                    Phase::Ended(exit) if exit.name() == "stopped" => "stopped",
                    Phase::Ended(exit) if exit.name() == "break_glass" => "behind broken glass",
                    _ => continue,
                },
            };
            quiet.insert(address.to_string(), why);
        }
        quiet
    }

    /// The role of each instance on a pull request, and the lease.
    fn roles(&self, of: &PullRequestAddress) -> String {
        let role = |life: &Life| {
            let view = life.run.board().pull_requests.get(of).cloned();
            format!("{} is {:?}", life.name, view.map(|view| (view.role.clone(), view.trouble.clone())))
        };
        let roles: Vec<String> = self.lives.iter().map(role).collect();
        let leases = self.world.block_on(self.journal.leases()).unwrap();
        let lease = leases.iter().find(|lease| {
            lease.pull_request.repository == of.repository && lease.pull_request.number == of.number
        });
        format!("{}; {lease:?}", roles.join(", "))
    }

    /// The driver's view of each pull request.
    pub(crate) fn views(&self) -> BTreeMap<PullRequestAddress, Arc<PullRequestView>> {
        let mut views = BTreeMap::new();
        for life in &self.lives {
            for (address, view) in &life.run.board().pull_requests {
                if view.role == DriverRole::Driver {
                    views.insert(address.clone(), Arc::clone(view));
                }
            }
        }
        views
    }

    /// Two polls in which nobody acts and nothing fails, and more until Cloture has no postponed write left,
    /// for example because of a limit. Then Cloture must know everything.
    fn be_quiet(&mut self) {
        self.world.block_on(self.leases_run_out());
        let (quiet, since) = (Quiet::new(), self.place.simulator.post_count());
        self.tick();
        let mut written = self.place.simulator.post_count();
        for polls in 2.. {
            self.tick();
            let now = self.place.simulator.post_count();
            if std::mem::replace(&mut written, now) == now {
                break;
            }
            if polls == MADE_UP_FOR {
                self.judge(&[format!("we still write, {polls} polls after anything happened")]);
            }
        }
        self.look(since, &quiet);
        let forge = self.place.simulator.snapshot();
        let views = self.views();
        let mut wrong = Vec::new();
        for pull in &forge.pull_requests {
            let name = format!("{}#{}", pull.repository, pull.number);
            match views.get(&address(&name)) {
                Some(view) => wrong.extend(our_side::knows(view, pull)),
                None => wrong.push(format!("{name} has no driver: {}", self.roles(&address(&name)))),
            }
        }
        wrong.extend(ForgeSide::standing_marks(&forge));
        self.judge(&wrong);
        self.count("quiet looks");
    }

    /// The checks after every step.
    fn look(&mut self, since: usize, quiet: &Quiet) {
        let forge = self.place.simulator.snapshot();
        // Cloture may write to a pull request that was reopened or resumed in this step.
        let still = self.quiet();
        let quiet = quiet.iter().filter(|(name, why)| still.get(*name) == Some(*why));
        let quiet = quiet.map(|(name, why)| (name.clone(), *why)).collect();
        let mut wrong = self.forge_side.check(&forge, since, &quiet);
        wrong.extend(self.look_at_requests());
        for life in &self.lives {
            let there = life.run.board().pull_requests.len();
            if there != self.pulls.len() {
                wrong.push(format!("{} has {there} pull requests of {}", life.name, self.pulls.len()));
            }
        }
        let views = self.views();
        for post in forge.posts.iter().skip(since).filter(|post| post.what == "resolve") {
            let view = views.get(&address(&post.on));
            wrong.extend(view.and_then(|view| our_side::should_be_open(view, &post.id)));
        }
        let is_news = |address: &PullRequestAddress, view: &Arc<PullRequestView>| {
            !self.shown.get(address).is_some_and(|shown| Arc::ptr_eq(shown, view))
        };
        let news: Vec<PullRequestAddress> = views
            .iter()
            .filter(|(address, view)| is_news(address, view) && has_changed(self.shown.get(*address), view))
            .map(|(address, _)| address.clone())
            .collect();
        self.counted("views looked at", news.len());
        for address in news {
            wrong.extend(self.world.block_on(self.look_at(&address)));
            let view = &views[&address];
            if is_merged(view) && self.shown.get(&address).is_some_and(|before| !is_merged(before)) {
                let records = self.world.block_on(self.records(&address));
                wrong.extend(rest::queued_goes(view, &records));
                self.count("merges decided");
            }
        }
        self.shown = views;
        self.judge(&wrong);
        self.tell_about(&forge);
    }

    /// Checks a driver's view against the journal. A record that a person just wrote may not have reached the
    /// driver yet.
    async fn look_at(&self, address: &PullRequestAddress) -> Vec<String> {
        let mut board = None;
        for life in &self.lives {
            let watched = life.run.supervisor.board();
            let drives =
                watched.borrow().pull_requests.get(address).is_some_and(|v| v.role == DriverRole::Driver);
            if drives {
                board = Some(watched);
            }
        }
        let Some(mut board) = board else { return Vec::new() };
        let mut patience = 50;
        loop {
            let view = board.borrow_and_update().pull_requests[address].clone();
            let records = self.records(address).await;
            match our_side::is_as_recorded(&view, &records, &self.rules) {
                Ok(()) => return our_side::bounds(&view, &records, &self.rules),
                Err(difference) if patience == 0 => return vec![difference],
                Err(_) => patience -= 1,
            }
            let _over = tokio::time::timeout(Duration::from_millis(100), board.changed()).await;
        }
    }

    pub(crate) async fn records(&self, address: &PullRequestAddress) -> Vec<Record> {
        let PullRequestAddress { repository, number } = address.clone();
        let about = PullRequestKey { host: self.host.clone(), repository, number };
        self.journal.records(RecordFilter::about(&about)).await.unwrap()
    }

    /// Cloture keeps within the forge's hourly limit by itself. Reaching it means that Cloture counted wrong.
    fn look_at_requests(&mut self) -> Vec<String> {
        let mut wrong = Vec::new();
        let requests = self.place.simulator.requests_since(self.requests);
        self.requests += requests.len();
        for request in &requests {
            match request.outcome.as_str() {
                "limit: primary" => wrong.push(format!("the hour's points are spent: {}", request.operation)),
                "limit: secondary" => self.counted("secondary limits reached", 1),
                outcome => {
                    if let Some(fault) = outcome.strip_prefix("fault: ") {
                        self.counted(&format!("fault: {fault}"), 1);
                    } else if outcome.contains("invalid query") || outcome.contains("nodes") {
                        wrong.push(format!("a request that cannot be answered: {request:?}"));
                    }
                }
            }
        }
        wrong
    }

    pub(crate) fn judge(&self, wrong: &[String]) {
        assert!(
            wrong.is_empty(),
            "CLOTURE_SOAK_SEED={} with {} pull requests, step {}, {}:\n{}",
            self.size.seed,
            self.pulls.len(),
            self.step,
            self.place.simulator.now(),
            wrong.join("\n")
        );
    }

    fn tell_about(&self, forge: &Snapshot) {
        if std::env::var_os("CLOTURE_SOAK_TELL").is_some() {
            simulated::show(&format!(
                "step {} at {}: {} posts, {} requests, {} instances, {:.1} s",
                self.step,
                self.place.simulator.now(),
                forge.posts.len(),
                self.requests,
                self.lives.len(),
                self.wall.elapsed().as_secs_f64()
            ));
        }
    }

    /// Ends every instance and starts one.
    pub(crate) fn start_anew(&mut self) {
        self.place.simulator.clear_faults();
        for life in std::mem::take(&mut self.lives) {
            self.stop(life);
        }
        self.begin("one");
    }

    /// A poll in which nobody acts and nothing fails.
    pub(crate) fn quiet_step(&mut self) {
        self.step += 1;
        self.world.block_on(self.leases_run_out());
        let (quiet, since) = (self.quiet(), self.place.simulator.post_count());
        self.tick();
        self.look(since, &quiet);
    }

    pub(crate) fn summary(&self) -> String {
        let mut lines = vec![format!(
            "soak, seed {}: {} pull requests, {} h, {} steps, {} requests, {:.1} s",
            self.size.seed,
            self.pulls.len(),
            self.size.hours,
            self.step,
            self.requests,
            self.wall.elapsed().as_secs_f64()
        )];
        let points = usize::try_from(self.place.simulator.points()).unwrap();
        lines.push(format!("  {:40} {points:>8}", "points spent"));
        lines.extend(self.counts.iter().map(|(what, count)| format!("  {what:40} {count:>8}")));
        lines.extend(
            self.forge_side.written.iter().map(|(what, count)| format!("  wrote {what:34} {count:>8}")),
        );
        lines.join("\n")
    }
}

/// Whether more changed than the time of the last poll.
fn has_changed(before: Option<&Arc<PullRequestView>>, now: &Arc<PullRequestView>) -> bool {
    before.is_none_or(|before| match (&before.computed, &now.computed) {
        (Some(before), Some(now)) => !Arc::ptr_eq(before, now),
        (None, None) => false,
        _ => true,
    })
}

/// Whether Cloture has recorded the merge, and so decided the handoff tasks.
fn is_merged(view: &PullRequestView) -> bool {
    let computed = view.computed.as_ref();
    computed.is_some_and(|computed| computed.folded.engine.state() == PullRequestState::Merged)
}
