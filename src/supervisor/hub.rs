//! The hub: polls for all loops at once, wakes each loop with its part, and passes on other instances'
//! records.

mod aliases;

use super::actor::{ActorStart, LoopCommand, LoopMessage, PullRequestActor, WakeUp};
use super::clock::WorkCounter;
use super::polling::{FinishedPoll, PollCause, PollProgress, RunningPoll};
use super::request_pause::RequestPause;
use super::view::{Board, PullRequestView, SupervisorProblem, SupervisorProblemKind};
use super::{SupervisorContext, SupervisorOptions, secrets};
use crate::domain::snapshot::PullRequestSnapshot;
use crate::failure::Failure;
use crate::github::poll::{PollEvent, PollSettings};
use crate::github::{Client, Error, Poller, PullRequestAddress, PullRequestRef, Reader, Writer};
use crate::journal::{Follower, Journal, JournalError, Record, RecordFilter, StoredSnapshot};
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
    /// Removes what killed author rounds left behind.
    tidying: Option<JoinHandle<()>>,
}

/// Requests to the hub.
#[derive(Debug)]
enum HubRequest {
    Track(Vec<PullRequestRef>),
    Forget(PullRequestAddress),
    Tell(PullRequestAddress, LoopCommand),
    PollNow,
}

/// How long a loop may take to reach a safe state at shutdown.
const GRACE: Duration = Duration::from_millis(800);

/// How long the end waits for the removal of leftovers, which takes moments.
const TIDYING: Duration = Duration::from_secs(5);

/// Queue capacity; senders wait when it is full.
const QUEUE: usize = 64;

impl Supervisor {
    /// Starts from the journal; uses no network before the first poll.
    pub async fn start(
        options: SupervisorOptions,
        pull_requests: Vec<PullRequestRef>,
    ) -> Result<Supervisor, JournalError> {
        let stored = StoredPolls::Unread(options.journal.clone());
        Self::begin(options, pull_requests, stored).await
    }

    /// Starts with pull requests whose last poll the caller has already read from the journal.
    pub async fn resume(
        options: SupervisorOptions,
        last: Vec<StoredSnapshot>,
    ) -> Result<Supervisor, JournalError> {
        let tracked = |StoredSnapshot { snapshot, .. }: &StoredSnapshot| {
            let (repository, number) = (snapshot.repository.clone(), snapshot.number);
            let address = PullRequestAddress { repository, number };
            PullRequestRef { address, node_id: Some(snapshot.node_id.clone()) }
        };
        let pull_requests = last.iter().map(tracked).collect();
        Self::begin(options, pull_requests, StoredPolls::Read(last)).await
    }

    async fn begin(
        options: SupervisorOptions,
        pull_requests: Vec<PullRequestRef>,
        stored: StoredPolls,
    ) -> Result<Supervisor, JournalError> {
        let SupervisorOptions { config, reads, asks, journal, client, clock, .. } = options;
        let (board, view) = watch::channel(Arc::new(Board::default()));
        let secrets = secrets::scanner(&config, &client, &options.environment).await;
        let writer = Arc::new(Writer::new(client.clone(), options.pace).withholding(secrets));
        let context = Arc::new(SupervisorContext {
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
            request_pause: RequestPause::default(),
            writing: Mutex::default(),
            board,
            hurry: watch::Sender::new(false),
        });
        let (requests, inbox) = mpsc::channel(QUEUE);
        let hub = Hub::new(Arc::clone(&context), pull_requests, stored).await?;
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(hub.run(inbox, stopped));
        let tidying = context
            .author_agent()
            .cloned()
            .map(|agent| tokio::spawn(async move { crate::agents::authors::remove_leftovers(&agent).await }));
        Ok(Supervisor { requests, board: view, writer, stop, task, tidying })
    }

    /// The board; it has a new value whenever something changed.
    pub fn board(&self) -> watch::Receiver<Arc<Board>> {
        self.board.clone()
    }

    /// The one writer of this process, so that only one write is under way at a time.
    pub fn writer(&self) -> Arc<Writer<Client>> {
        Arc::clone(&self.writer)
    }

    pub async fn track(&self, pull_requests: Vec<PullRequestRef>) {
        self.request(HubRequest::Track(pull_requests)).await;
    }

    pub async fn forget(&self, pull_request: PullRequestAddress) {
        self.request(HubRequest::Forget(pull_request)).await;
    }

    /// Passes a person's command to one pull request's loop.
    pub async fn tell(&self, pull_request: PullRequestAddress, command: LoopCommand) {
        self.request(HubRequest::Tell(pull_request, command)).await;
    }

    pub async fn poll_now(&self) {
        self.request(HubRequest::PollNow).await;
    }

    async fn request(&self, request: HubRequest) {
        // A hub that has ended needs no requests.
        let _ended = self.requests.send(request).await;
    }

    /// Stops every loop in a safe state, gives all leases back, and waits for it.
    pub async fn stop(self) {
        // A hub that has ended or panicked has stopped already.
        let _ended = self.stop.send(());
        let _panicked = self.task.await;
        if let Some(tidying) = self.tidying {
            // The next start goes on where it stops.
            let _cut_off = tokio::time::timeout(TIDYING, tidying).await;
        }
    }
}

/// The last polls in the journal.
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
    context: Arc<SupervisorContext>,
    /// None while a poll is under way: the poll's task has it, so that the hub does not wait for the network.
    poller: Option<Poller<Client>>,
    /// Pull requests to track (with their node id, if known) or forget once the poller is back.
    changes: Vec<(PullRequestAddress, TrackingChange)>,
    /// By the address that was first asked for.
    actors: BTreeMap<PullRequestAddress, RunningLoop>,
    /// Other addresses of the same pull requests (L13).
    aliases: BTreeMap<PullRequestAddress, PullRequestAddress>,
    follower: Follower,
}

enum TrackingChange {
    Track(Option<String>),
    Forget,
}

struct RunningLoop {
    inbox: mpsc::Sender<LoopMessage>,
    task: JoinHandle<()>,
    /// GitHub's id of the pull request, once it is known.
    node_id: Option<String>,
}

impl Hub {
    async fn new(
        context: Arc<SupervisorContext>,
        pull_requests: Vec<PullRequestRef>,
        stored: StoredPolls,
    ) -> Result<Hub, JournalError> {
        let interval = context.config.policy.poll_interval;
        let settings = PollSettings { interval, ..PollSettings::default() };
        let poller = Poller::new(Arc::clone(&context.reader), settings);
        let records = context
            .journal
            .records(RecordFilter { host: Some(context.host.clone()), ..RecordFilter::default() })
            .await?;
        let last = records.last().map_or(0, |record| record.seq);
        let follower = context.journal.follow(last);
        let (actors, aliases, changes) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        let mut hub = Hub { context, poller: Some(poller), changes, actors, aliases, follower };
        hub.start_loops(pull_requests, records, stored).await?;
        Ok(hub)
    }

    /// Starts a loop for each pull request, from the journal.
    async fn start_loops(
        &mut self,
        pull_requests: Vec<PullRequestRef>,
        records: Vec<Record>,
        stored: StoredPolls,
    ) -> Result<(), JournalError> {
        let now = self.context.clock.now();
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
        let known = self.context.journal.repositories().await?;
        let mut starting = Vec::new();
        let mut begun = BTreeSet::new();
        for PullRequestRef { address, node_id } in pull_requests {
            if self.actors.contains_key(&address) || !begun.insert(address.clone()) {
                continue;
            }
            let key = known.key_of(&self.context.host, &address.repository, address.number);
            // Two names may lead to one key. GitHub's answer tells which of them still means it.
            let last = last.get(&key).cloned();
            let records = by_pull_request.get(&key).cloned().unwrap_or_default();
            self.changes.push((address.clone(), TrackingChange::Track(node_id.clone())));
            let (inbox, messages) = mpsc::channel(QUEUE);
            let (programs, reports) = mpsc::channel(QUEUE);
            let start = ActorStart { address: address.clone(), key, records, last };
            let actor = PullRequestActor::new(Arc::clone(&self.context), start, programs);
            // All pull requests are shown from their stored snapshot before the first state is computed.
            actor.publish();
            starting.push((address, node_id, inbox, actor, messages, reports));
        }
        for (address, node_id, inbox, actor, messages, reports) in starting {
            let span = tracing::info_span!("pull_request", %address);
            let task = tokio::spawn(actor.run(messages, reports).instrument(span));
            self.actors.insert(address, RunningLoop { inbox, task, node_id });
        }
        Ok(())
    }

    /// Works until stopped, also in the middle of a poll that does not come back.
    async fn run(mut self, inbox: mpsc::Receiver<HubRequest>, stopped: oneshot::Receiver<()>) {
        tokio::select! {
            // Dropping the supervisor stops it, too.
            _dropped = stopped => {}
            () = self.work(inbox) => {}
        }
        self.end().await;
    }

    async fn work(&mut self, mut inbox: mpsc::Receiver<HubRequest>) {
        let mut next = self.context.clock.now();
        let mut longest = SignedDuration::ZERO;
        let mut polling: Option<RunningPoll> = None;
        // Somebody asked for a poll. A poll that is under way may be too early for them.
        let mut requested = false;
        loop {
            // A clock that was set back must not put the next poll off: the wait never gets longer than
            // planned.
            next = next.min(self.context.clock.now().saturating_add(longest).unwrap_or(Timestamp::MAX));
            let context = Arc::clone(&self.context);
            let until_next = async {
                if context.clock.waits_for_work() {
                    context.busy.until_idle().await;
                }
                if !requested {
                    context.clock.sleep_until(next).await;
                }
            };
            tokio::select! {
                progress = RunningPoll::progress(&mut polling) => match progress {
                    PollProgress::Event(event) => {
                        if let Some(polling) = &mut polling {
                            self.pass_on_poll_event(event, polling).await;
                        }
                    }
                    PollProgress::Ended(finished) => {
                        // A poll that panicked took the poller with it.
                        let (Some(polling), Ok(finished)) = (polling.take(), finished) else { return };
                        next = self.poll_finished(&polling, *finished, next).await;
                        self.check_journal().await;
                        longest = next.duration_since(self.context.clock.now());
                    }
                },
                request = inbox.recv() => match request {
                    None => return,
                    Some(HubRequest::Track(pull_requests)) => {
                        // New pull requests are polled now, not after a whole interval.
                        requested |= self.track(pull_requests).await;
                    }
                    Some(HubRequest::Forget(address)) => self.forget(&address).await,
                    Some(HubRequest::Tell(address, command)) => {
                        let polls = command == LoopCommand::PollNow || command == LoopCommand::Resume;
                        self.send(&address, WakeUp::Person(command)).await;
                        requested |= polls;
                    }
                    Some(HubRequest::PollNow) => requested = true,
                },
                record = self.follower.next() => match record {
                    Ok(record) => {
                        self.journal_works();
                        self.pass_on_record(record).await;
                    }
                    Err(error) => self.journal_failed(&error),
                },
                () = until_next, if polling.is_none() => {
                    let is_due = self.context.clock.now() >= next;
                    requested = false;
                    polling = self.poll(if is_due { PollCause::Schedule } else { PollCause::Request });
                }
            }
        }
    }

    /// Returns false if all of them are tracked already.
    async fn track(&mut self, mut pull_requests: Vec<PullRequestRef>) -> bool {
        pull_requests.retain(|tracked| !self.is_tracked(tracked));
        if pull_requests.is_empty() {
            return false;
        }
        let filter = RecordFilter { host: Some(self.context.host.clone()), ..RecordFilter::default() };
        let stored = StoredPolls::Unread(self.context.journal.clone());
        let outcome = match self.context.journal.records(filter).await {
            Ok(records) => self.start_loops(pull_requests, records, stored).await,
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
        if let Some(RunningLoop { inbox, task, .. }) = self.actors.remove(address) {
            drop(inbox);
            let _panicked = task.await;
        }
        self.context.board.send_modify(|board| {
            Arc::make_mut(board).pull_requests.remove(address);
        });
    }

    /// Starts one poll for all loops.
    fn poll(&mut self, cause: PollCause) -> Option<RunningPoll> {
        let mut poller = self.poller.take()?;
        for (address, change) in self.changes.drain(..) {
            match change {
                TrackingChange::Track(id) => poller.schedule_mut().track(address, id),
                TrackingChange::Forget => poller.schedule_mut().forget(&address),
            }
        }
        self.want_reactions();
        Some(RunningPoll::begin(poller, cause, self.context.clock.now(), self.context.busy.begin()))
    }

    /// Asks for reactions only where a reviewer that uses them is missing.
    fn want_reactions(&self) {
        let board = self.context.board.borrow();
        let waits = |view: &PullRequestView| {
            view.computed.as_ref().is_some_and(|computed| computed.waits_for_reaction(&*self.context.reads))
        };
        let waiting = board.pull_requests.iter().filter(|(_, view)| waits(view));
        self.context.reader.want_reactions(waiting.map(|(address, _)| address.clone()).collect());
    }

    /// Wakes the loop of the pull request that a poll event is about.
    async fn pass_on_poll_event(&mut self, event: PollEvent, polling: &mut RunningPoll) {
        polling.note(&event);
        let (address, wake) = match event {
            PollEvent::Read { asked, read, .. } => {
                let snapshot: PullRequestSnapshot = read.snapshot;
                let address = self.loop_of(asked, &snapshot.node_id).await;
                (address, WakeUp::Polled(Arc::new(snapshot), polling.cause))
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
            PollEvent::Failed(address, error) => {
                (address, WakeUp::Unreachable(error.to_string(), polling.cause))
            }
        };
        polling.reported.insert(address.clone());
        self.send(&address, wake).await;
    }

    /// Wakes all other loops: nothing is new, or the forge limits requests. Returns when the next scheduled
    /// poll is due. A poll on request leaves the schedule as it is.
    async fn poll_finished(
        &mut self,
        polling: &RunningPoll,
        finished: FinishedPoll,
        scheduled: Timestamp,
    ) -> Timestamp {
        let FinishedPoll { poller, report, working: _working } = finished;
        let now = polling.began;
        let failed = polling.failure(self.actors.len());
        let limit =
            report.limited.as_ref().map(|(retry_after, error)| (retry_after.when(now), error.to_string()));
        if let Some((until, _)) = &limit {
            self.context.request_pause.begin(now, *until);
        }
        // The poller did not look for missing pull requests, so there is no news about them.
        let is_unreported = |address: &&PullRequestAddress| {
            !polling.reported.contains(*address) && !poller.schedule().is_missing(address, now)
        };
        let rest: Vec<_> = self.actors.keys().filter(is_unreported).cloned().collect();
        self.poller = Some(poller);
        for address in rest {
            let wake = match &limit {
                Some((_, why)) => WakeUp::RateLimited(why.clone()),
                None => WakeUp::Unchanged(polling.cause),
            };
            self.send(&address, wake).await;
        }
        let budget = report.budget;
        let regular = match polling.cause {
            PollCause::Schedule => now.checked_add(budget.interval).unwrap_or(Timestamp::MAX),
            PollCause::Request => scheduled,
        };
        let next = limit.as_ref().map_or(regular, |(until, _)| (*until).max(regular));
        let limited = limit.map(|(until, why)| SupervisorProblem {
            kind: SupervisorProblemKind::Limited,
            why,
            since: now,
            until: Some(until),
        });
        let failed = failed.map(|failed| SupervisorProblem { until: Some(next), ..failed });
        self.context.board.send_modify(|board| {
            let board = Arc::make_mut(board);
            board.trouble = limited.or(failed).map(|trouble| trouble.after(board.trouble.as_ref()));
            board.budget = Some(budget);
            board.next_poll = Some(next);
        });
        next
    }

    /// Wakes the loop of the pull request that a record is about. The record has the name under which the
    /// journal files the repository, and only the loop knows that one.
    async fn pass_on_record(&mut self, record: Record) {
        let Some(key) = record.pull_request.as_ref().filter(|key| key.host == self.context.host) else {
            return;
        };
        let has_number = |address: &&PullRequestAddress| address.number == key.number;
        let addresses: Vec<PullRequestAddress> = self.actors.keys().filter(has_number).cloned().collect();
        for address in addresses {
            self.send(&address, WakeUp::Recorded(Box::new(record.clone()))).await;
        }
    }

    async fn send(&self, address: &PullRequestAddress, wake: WakeUp) {
        let address = self.aliases.get(address).unwrap_or(address);
        if let Some(RunningLoop { inbox, .. }) = self.actors.get(address) {
            let message = LoopMessage { wake: Box::new(wake), working: self.context.busy.begin() };
            // A loop that has ended needs no wake-up.
            let _ended = inbox.send(message).await;
        }
    }

    fn journal_failed(&self, error: &JournalError) {
        let trouble = SupervisorProblem {
            kind: SupervisorProblemKind::Journal,
            why: error.to_string(),
            since: self.context.clock.now(),
            until: None,
        };
        self.context.board.send_modify(|board| {
            let board = Arc::make_mut(board);
            board.journal_trouble = Some(trouble.after(board.journal_trouble.as_ref()));
        });
    }

    /// Checks a failed journal after each poll, because it may be long until the next record. A journal that
    /// does not answer at once has not recovered.
    async fn check_journal(&self) {
        let in_trouble = self.context.board.borrow().journal_trouble.is_some();
        if in_trouble && matches!(timeout(GRACE, self.context.journal.check_writable()).await, Ok(Ok(()))) {
            self.journal_works();
        }
    }

    fn journal_works(&self) {
        self.context.board.send_if_modified(|board| {
            let was_in_trouble = board.journal_trouble.is_some();
            if was_in_trouble {
                Arc::make_mut(board).journal_trouble = None;
            }
            was_in_trouble
        });
    }

    /// Lets every loop finish its current work, but not for long: an interrupted write has its intent in the
    /// journal, and the next start looks for it.
    async fn end(self) {
        let mut tasks = Vec::new();
        for (_, RunningLoop { inbox, task, .. }) in self.actors {
            let shutdown =
                LoopMessage { wake: Box::new(WakeUp::Shutdown), working: self.context.busy.begin() };
            let _full_or_ended = inbox.try_send(shutdown);
            tasks.push(task);
        }
        let all = async {
            for task in &mut tasks {
                let _panicked = task.await;
            }
        };
        let mut all = std::pin::pin!(all);
        if timeout(GRACE, &mut all).await.is_ok() {
            return;
        }
        // A loop that hangs in a request leaves it and gives its lease back.
        self.context.hurry.send_replace(true);
        if timeout(GRACE, all).await.is_err() {
            for task in tasks {
                task.abort();
            }
        }
    }
}
