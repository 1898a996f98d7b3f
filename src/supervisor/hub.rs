//! The hub: polls for all loops at once, tells each what concerns it, and lets the journal's news through.

use super::actor::{ActorStart, LoopCommand, LoopMessage, PullRequestActor, WakeUp};
use super::clock::WorkCounter;
use super::left_alone::RequestPause;
use super::polling::{FinishedPoll, PollProgress, RunningPoll};
use super::view::{Board, SupervisorProblem, SupervisorProblemKind};
use super::{SupervisorContext, SupervisorOptions};
use crate::domain::snapshot::PullRequestSnapshot;
use crate::failure::Failure;
use crate::github::poll::{PollEvent, PollSettings};
use crate::github::{Client, Error, Poller, PullRequestAddress, PullRequestRef, Reader, Writer};
use crate::journal::{Follower, Journal, JournalError, PullRequestKey, Record, RecordFilter, StoredSnapshot};
use jiff::{SignedDuration, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tracing::Instrument;

/// A running supervisor. Dropping it stops it without waiting; [`Supervisor::stop`] waits.
#[derive(Debug)]
pub struct Supervisor {
    requests: mpsc::Sender<HubRequest>,
    board: watch::Receiver<Arc<Board>>,
    writer: Arc<Writer<Client>>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

/// What the hub can be asked for.
#[derive(Debug)]
enum HubRequest {
    Track(Vec<PullRequestRef>),
    Forget(PullRequestAddress),
    Tell(PullRequestAddress, LoopCommand),
    PollNow,
}

/// How long a loop may take to reach a safe state when all is to end.
const GRACE: Duration = Duration::from_millis(800);

/// Messages that may wait before whoever sends has to.
const QUEUE: usize = 64;

impl Supervisor {
    /// Starts with what the journal knows; the network is not touched before the first poll.
    pub async fn start(
        options: SupervisorOptions,
        pull_requests: Vec<PullRequestRef>,
    ) -> Result<Supervisor, JournalError> {
        let stored = StoredPolls::Unread(options.journal.clone());
        Self::begin(options, pull_requests, stored).await
    }

    /// Goes on with pull requests whose last poll was read from the journal already.
    pub async fn resume(
        options: SupervisorOptions,
        last: Vec<StoredSnapshot>,
    ) -> Result<Supervisor, JournalError> {
        let address = |stored: &StoredSnapshot| {
            let PullRequestKey { repository, number, .. } = &stored.pull_request;
            PullRequestAddress { repository: repository.clone(), number: *number }
        };
        let pull_requests = last.iter().map(|stored| address(stored).into()).collect();
        Self::begin(options, pull_requests, StoredPolls::Read(last)).await
    }

    async fn begin(
        options: SupervisorOptions,
        pull_requests: Vec<PullRequestRef>,
        stored: StoredPolls,
    ) -> Result<Supervisor, JournalError> {
        let SupervisorOptions { config, reads, asks, journal, client, clock, .. } = options;
        let (board, seen) = watch::channel(Arc::new(Board::default()));
        let writer = Arc::new(Writer::new(client.clone(), options.pace));
        let setup = Arc::new(SupervisorContext {
            host: client.host().name().to_owned(),
            reader: Arc::new(Reader::new(client)),
            writer: Arc::clone(&writer),
            config,
            reads,
            asks,
            journal,
            clock,
            instance: options.instance,
            read_only: options.read_only,
            lease: options.lease,
            fresh: options.fresh,
            environment: options.environment,
            busy: WorkCounter::new(),
            left_alone: RequestPause::default(),
            writing: Mutex::default(),
            board,
        });
        let (requests, inbox) = mpsc::channel(QUEUE);
        let hub = Hub::new(Arc::clone(&setup), pull_requests, stored).await?;
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(hub.run(inbox, stopped));
        Ok(Supervisor { requests, board: seen, writer, stop, task })
    }

    /// What there is to see; a new value whenever something changed.
    pub fn board(&self) -> watch::Receiver<Arc<Board>> {
        self.board.clone()
    }

    /// What everything in this process writes with, so that there is only ever one write under way.
    pub fn writer(&self) -> Arc<Writer<Client>> {
        Arc::clone(&self.writer)
    }

    pub async fn track(&self, pull_requests: Vec<PullRequestRef>) {
        self.request(HubRequest::Track(pull_requests)).await;
    }

    pub async fn forget(&self, pull_request: PullRequestAddress) {
        self.request(HubRequest::Forget(pull_request)).await;
    }

    /// Tells one pull request's loop what a person wants.
    pub async fn tell(&self, pull_request: PullRequestAddress, command: LoopCommand) {
        self.request(HubRequest::Tell(pull_request, command)).await;
    }

    pub async fn poll_now(&self) {
        self.request(HubRequest::PollNow).await;
    }

    async fn request(&self, request: HubRequest) {
        // A hub that has ended has nothing to be asked for.
        let _ended = self.requests.send(request).await;
    }

    /// Lets every loop reach a safe state, gives all leases back, and waits.
    pub async fn stop(self) {
        // A hub that has ended or panicked has stopped, too.
        let _ended = self.stop.send(());
        let _panicked = self.task.await;
    }
}

/// The last polls, as the journal keeps them.
enum StoredPolls {
    Unread(Journal),
    Read(Vec<StoredSnapshot>),
}

impl StoredPolls {
    async fn read(self) -> Result<Vec<StoredSnapshot>, JournalError> {
        match self {
            StoredPolls::Unread(journal) => Ok(journal.load_snapshots().await?.readable),
            StoredPolls::Read(stored) => Ok(stored),
        }
    }
}

struct Hub {
    setup: Arc<SupervisorContext>,
    /// None while a poll is under way: it has the poller, so that nobody waits for the network but that poll.
    poller: Option<Poller<Client>>,
    /// What is to be tracked (with its id, if that is known) or forgotten once the poller is back.
    changes: Vec<(PullRequestAddress, TrackingChange)>,
    actors: BTreeMap<PullRequestAddress, RunningLoop>,
    follower: Follower,
}

enum TrackingChange {
    Track(Option<String>),
    Forget,
}

struct RunningLoop {
    inbox: mpsc::Sender<LoopMessage>,
    task: JoinHandle<()>,
}

impl Hub {
    async fn new(
        setup: Arc<SupervisorContext>,
        pull_requests: Vec<PullRequestRef>,
        stored: StoredPolls,
    ) -> Result<Hub, JournalError> {
        let interval = setup.config.policy.poll_interval;
        let settings = PollSettings { interval, ..PollSettings::default() };
        let poller = Poller::new(Arc::clone(&setup.reader), settings);
        let records = setup
            .journal
            .records(RecordFilter { host: Some(setup.host.clone()), ..RecordFilter::default() })
            .await?;
        let last = records.last().map_or(0, |record| record.seq);
        let follower = setup.journal.follow(last);
        let (actors, changes) = (BTreeMap::new(), Vec::new());
        let mut hub = Hub { setup, poller: Some(poller), changes, actors, follower };
        hub.adopt(pull_requests, records, stored).await?;
        Ok(hub)
    }

    /// Starts a loop for each, from what the journal has.
    async fn adopt(
        &mut self,
        pull_requests: Vec<PullRequestRef>,
        records: Vec<Record>,
        stored: StoredPolls,
    ) -> Result<(), JournalError> {
        let now = self.setup.clock.now();
        let mut by_pull_request: BTreeMap<_, Vec<Record>> = BTreeMap::new();
        for record in records {
            if let Some(key) = record.pull_request.clone() {
                by_pull_request.entry(key).or_default().push(record);
            }
        }
        let mut last: BTreeMap<_, _> = BTreeMap::new();
        for stored in stored.read().await? {
            let age = SignedDuration::try_from(stored.age).unwrap_or(SignedDuration::ZERO);
            let seen_at = now.checked_sub(age).unwrap_or(Timestamp::MIN);
            last.insert(stored.pull_request, (Arc::new(stored.snapshot), seen_at, stored.poll));
        }
        let mut adopted = Vec::new();
        let mut begun = BTreeSet::new();
        for PullRequestRef { address, node_id: id } in pull_requests {
            if self.actors.contains_key(&address) || !begun.insert(address.clone()) {
                continue;
            }
            let key = self.setup.key(&address);
            let last = last.remove(&key);
            let id = id.or_else(|| last.as_ref().map(|(snapshot, ..)| snapshot.node_id.clone()));
            self.changes.push((address.clone(), TrackingChange::Track(id)));
            let records = by_pull_request.remove(&key).unwrap_or_default();
            let (inbox, messages) = mpsc::channel(QUEUE);
            let (programs, reports) = mpsc::channel(QUEUE);
            let start = ActorStart { address: address.clone(), records, last };
            let actor = PullRequestActor::new(Arc::clone(&self.setup), start, programs);
            // What is known of all of them is shown before any is put together.
            actor.publish();
            adopted.push((address, inbox, actor, messages, reports));
        }
        for (address, inbox, actor, messages, reports) in adopted {
            let span = tracing::info_span!("pull_request", %address);
            let task = tokio::spawn(actor.run(messages, reports).instrument(span));
            self.actors.insert(address, RunningLoop { inbox, task });
        }
        Ok(())
    }

    /// Works until told to stop, also in the middle of a poll that does not come back.
    async fn run(mut self, inbox: mpsc::Receiver<HubRequest>, stopped: oneshot::Receiver<()>) {
        tokio::select! {
            // Whoever drops the supervisor wants it to end as well.
            _dropped = stopped => {}
            () = self.work(inbox) => {}
        }
        self.end().await;
    }

    async fn work(&mut self, mut inbox: mpsc::Receiver<HubRequest>) {
        let mut next = self.setup.clock.now();
        let mut longest = SignedDuration::ZERO;
        let mut polling: Option<RunningPoll> = None;
        // A poll that was asked for while one was under way, and may have looked before what somebody wants to see.
        let mut again = false;
        loop {
            // Whoever sets the clock back does not mean to put the next poll off: it never is further away than it was
            // when it was planned.
            next = next.min(self.setup.clock.now().saturating_add(longest).unwrap_or(Timestamp::MAX));
            let setup = Arc::clone(&self.setup);
            let until_next = async {
                if setup.clock.waits_for_work() {
                    setup.busy.until_idle().await;
                }
                setup.clock.sleep_until(next).await;
            };
            tokio::select! {
                progress = RunningPoll::progress(&mut polling) => match progress {
                    PollProgress::Sighted(sighting) => {
                        if let Some(polling) = &mut polling {
                            self.sighted(sighting, polling).await;
                        }
                    }
                    PollProgress::Ended(polled) => {
                        // A poll that panicked has taken the poller with it.
                        let (Some(polling), Ok(polled)) = (polling.take(), polled) else { return };
                        let due = self.polled(&polling, *polled).await;
                        self.look_at_journal().await;
                        let now = self.setup.clock.now();
                        next = if std::mem::take(&mut again) { now } else { due };
                        longest = next.duration_since(now);
                    }
                },
                request = inbox.recv() => match request {
                    None => return,
                    Some(HubRequest::Track(pull_requests)) => {
                        // Whoever has just found something wants to see it now, and not after a whole interval.
                        if self.track(pull_requests).await {
                            next = self.setup.clock.now();
                            again = polling.is_some();
                        }
                    }
                    Some(HubRequest::Forget(address)) => self.forget(&address).await,
                    Some(HubRequest::Tell(address, command)) => {
                        let polls = command == LoopCommand::PollNow || command == LoopCommand::Resume;
                        self.send(&address, WakeUp::Person(command)).await;
                        if polls {
                            next = self.setup.clock.now();
                            again = polling.is_some();
                        }
                    }
                    Some(HubRequest::PollNow) => {
                        next = self.setup.clock.now();
                        again = polling.is_some();
                    }
                },
                record = self.follower.next() => match record {
                    Ok(record) => {
                        self.journal_works();
                        self.pass_on(record).await;
                    }
                    Err(error) => self.journal_failed(&error),
                },
                () = until_next, if polling.is_none() => polling = self.poll(),
            }
        }
    }

    /// False where all of them are tracked already.
    async fn track(&mut self, mut pull_requests: Vec<PullRequestRef>) -> bool {
        pull_requests.retain(|tracked| !self.actors.contains_key(&tracked.address));
        if pull_requests.is_empty() {
            return false;
        }
        let filter = RecordFilter { host: Some(self.setup.host.clone()), ..RecordFilter::default() };
        let stored = StoredPolls::Unread(self.setup.journal.clone());
        let outcome = match self.setup.journal.records(filter).await {
            Ok(records) => self.adopt(pull_requests, records, stored).await,
            Err(error) => Err(error),
        };
        match outcome {
            Ok(()) => self.journal_works(),
            Err(error) => self.journal_failed(&error),
        }
        true
    }

    async fn forget(&mut self, address: &PullRequestAddress) {
        self.changes.push((address.clone(), TrackingChange::Forget));
        if let Some(RunningLoop { inbox, task }) = self.actors.remove(address) {
            drop(inbox);
            let _panicked = task.await;
        }
        self.setup.board.send_modify(|board| {
            Arc::make_mut(board).pull_requests.remove(address);
        });
    }

    /// Begins one poll for everybody.
    fn poll(&mut self) -> Option<RunningPoll> {
        let mut poller = self.poller.take()?;
        for (address, change) in self.changes.drain(..) {
            match change {
                TrackingChange::Track(id) => poller.schedule_mut().track(address, id),
                TrackingChange::Forget => poller.schedule_mut().forget(&address),
            }
        }
        Some(RunningPoll::begin(poller, self.setup.clock.now(), self.setup.busy.begin()))
    }

    /// Tells whom it concerns what a poll found.
    async fn sighted(&self, sighting: PollEvent, polling: &mut RunningPoll) {
        polling.note(&sighting);
        let (address, wake) = match sighting {
            PollEvent::Read { read, .. } => {
                let snapshot: PullRequestSnapshot = read.snapshot;
                let PullRequestSnapshot { repository, number, .. } = &snapshot;
                let address = PullRequestAddress { repository: repository.clone(), number: *number };
                (address, WakeUp::Polled(Arc::new(snapshot)))
            }
            PollEvent::Gone(address) => {
                let gone = Failure::usage(format_args!(
                    "{address} is not there: it was deleted or renamed, or the token may not see it"
                ));
                (address, WakeUp::Refused(gone))
            }
            PollEvent::Failed(address, error @ (Error::Unauthorised { .. } | Error::Denied { .. })) => {
                let refused = Failure::about(&address, &error);
                (address, WakeUp::Refused(refused))
            }
            PollEvent::Failed(address, error) => (address, WakeUp::Unreachable(error.to_string())),
        };
        polling.told.insert(address.clone());
        self.send(&address, wake).await;
    }

    /// Tells everybody else that nothing is new, or why nobody looked. Returns when the next poll is due.
    async fn polled(&mut self, polling: &RunningPoll, polled: FinishedPoll) -> Timestamp {
        let FinishedPoll { poller, report, working: _working } = polled;
        let now = polling.began;
        let failed = polling.failure(self.actors.len());
        let limit =
            report.limited.as_ref().map(|(retry_after, error)| (retry_after.when(now), error.to_string()));
        if let Some((until, _)) = &limit {
            self.setup.left_alone.begin(now, *until);
        }
        // What was not there before was not looked for either: nothing is known that could be told.
        let is_known = |address: &&PullRequestAddress| {
            !polling.told.contains(*address) && !poller.schedule().is_missing(address, now)
        };
        let rest: Vec<_> = self.actors.keys().filter(is_known).cloned().collect();
        self.poller = Some(poller);
        for address in rest {
            let wake = match &limit {
                Some((until, why)) => WakeUp::RateLimited { until: *until, why: why.clone() },
                None => WakeUp::Unchanged,
            };
            self.send(&address, wake).await;
        }
        let budget = report.budget;
        let interval = now.checked_add(budget.interval).unwrap_or(Timestamp::MAX);
        let next = limit.as_ref().map_or(interval, |(until, _)| (*until).max(interval));
        let limited = limit.map(|(until, why)| SupervisorProblem {
            kind: SupervisorProblemKind::Limited,
            why,
            since: now,
            until: Some(until),
        });
        let failed = failed.map(|failed| SupervisorProblem { until: Some(next), ..failed });
        self.setup.board.send_modify(|board| {
            let board = Arc::make_mut(board);
            board.trouble = limited.or(failed).map(|trouble| trouble.after(board.trouble.as_ref()));
            board.budget = Some(budget);
            board.next_poll = Some(next);
        });
        next
    }

    /// What somebody recorded concerns the loop of its pull request.
    async fn pass_on(&mut self, record: Record) {
        let Some(key) = &record.pull_request else { return };
        let address = PullRequestAddress { repository: key.repository.clone(), number: key.number };
        if key.host == self.setup.host {
            self.send(&address, WakeUp::Recorded(Box::new(record))).await;
        }
    }

    async fn send(&self, address: &PullRequestAddress, wake: WakeUp) {
        if let Some(RunningLoop { inbox, .. }) = self.actors.get(address) {
            let message = LoopMessage { wake: Box::new(wake), working: self.setup.busy.begin() };
            // A loop that has ended has nothing to be told.
            let _ended = inbox.send(message).await;
        }
    }

    fn journal_failed(&self, error: &JournalError) {
        let trouble = SupervisorProblem {
            kind: SupervisorProblemKind::Journal,
            why: error.to_string(),
            since: self.setup.clock.now(),
            until: None,
        };
        self.setup.board.send_modify(|board| {
            let board = Arc::make_mut(board);
            board.journal_trouble = Some(trouble.after(board.journal_trouble.as_ref()));
        });
    }

    /// Nothing may be recorded for a long time after a trouble is over, so somebody has to look. A journal that does not
    /// answer at once has not recovered.
    async fn look_at_journal(&self) {
        let in_trouble = self.setup.board.borrow().journal_trouble.is_some();
        if in_trouble && matches!(timeout(GRACE, self.setup.journal.check_writable()).await, Ok(Ok(()))) {
            self.journal_works();
        }
    }

    fn journal_works(&self) {
        self.setup.board.send_if_modified(|board| {
            let was_in_trouble = board.journal_trouble.is_some();
            if was_in_trouble {
                Arc::make_mut(board).journal_trouble = None;
            }
            was_in_trouble
        });
    }

    /// Lets every loop finish what it is at, but not for long: what is cut off in the middle has its intent in the
    /// journal, and is looked for at the next start.
    async fn end(self) {
        let mut tasks = Vec::new();
        for (_, RunningLoop { inbox, task }) in self.actors {
            let shutdown = LoopMessage { wake: Box::new(WakeUp::Shutdown), working: self.setup.busy.begin() };
            let _full_or_ended = inbox.try_send(shutdown);
            tasks.push(task);
        }
        let everybody = async {
            for task in &mut tasks {
                let _panicked = task.await;
            }
        };
        if timeout(GRACE, everybody).await.is_err() {
            for task in tasks {
                task.abort();
            }
        }
    }
}
