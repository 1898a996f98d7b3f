//! Tasks that run beside the screen and send it messages: one owns the supervisor and the request handler,
//! one reads the journal, one builds rows from the board, and one rings for threads that wait for a person.

use super::driver::{FRAME, SupervisorHandles};
use super::message::Message;
use super::rows::journal::KEPT;
use super::rows::{BoardRows, RowBuilder};
use crate::config::Config;
use crate::github::{PullRequestAddress, PullRequestRef};
use crate::journal::{Journal, JournalError, Record, RecordFilter, RecordOrder};
use crate::supervisor::people::InboxNotifier;
use crate::supervisor::people::request_handler::{PersonRequest, Proposal, RequestHandler, RequestOutcome};
use crate::supervisor::{Board, LoopCommand, PullRequestView, Supervisor, handoffs};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};

/// How long quitting waits for running writes. The next start finds one that is cut off by its intent.
const GRACE: Duration = Duration::from_millis(400);

/// How many handed-off tasks the screen shows; `cloture queue history` has the rest.
const HISTORY: usize = 200;

/// How long a proposal waits until a poll has seen the write before it.
const PATIENCE: Duration = Duration::from_secs(3);

/// How many old versions of the rows are kept, so that the screen never frees them.
const KEPT_VERSIONS: usize = 3;

/// Records in one message, so that a key need not wait for thousands of them.
const RECORDS_PER_MESSAGE: usize = 100;

/// The tasks, once the supervisor is there.
pub(super) struct BackgroundWork {
    config: Arc<Config>,
    sender: mpsc::Sender<Message>,
    row_builder: RowBuilder,
    rows: Option<watch::Receiver<BoardRows>>,
    row_task: Option<JoinHandle<()>>,
    jobs: Option<mpsc::UnboundedSender<Job>>,
    journal_task: Option<JoinHandle<()>>,
    notifier_task: Option<JoinHandle<()>>,
    worker: Option<JoinHandle<()>>,
    journal: Option<Journal>,
}

/// The effects that need the supervisor or the request handler.
pub(super) enum Job {
    Tell(PullRequestAddress, LoopCommand),
    Track(Vec<PullRequestRef>),
    Forget(PullRequestAddress),
    Propose { ticket: u32, request: PersonRequest },
    CarryOut(Box<Proposal>),
    FindWaysOut { ticket: u32, address: PullRequestAddress },
}

impl BackgroundWork {
    pub(super) fn new(row_builder: RowBuilder, sender: mpsc::Sender<Message>) -> BackgroundWork {
        let config = Arc::clone(&row_builder.config);
        BackgroundWork {
            config,
            sender,
            row_builder,
            rows: None,
            row_task: None,
            jobs: None,
            journal_task: None,
            notifier_task: None,
            worker: None,
            journal: None,
        }
    }

    pub(super) fn begin(&mut self, supervised: SupervisorHandles) {
        let SupervisorHandles { supervisor, journal, request_handler } = supervised;
        let (built, rows) = watch::channel(BoardRows::default());
        self.rows = Some(rows);
        self.row_task = Some(tokio::spawn(build_rows(supervisor.board(), self.row_builder.clone(), built)));
        let reading = read_journal(journal.clone(), Arc::clone(&self.config), self.sender.clone());
        self.journal_task = Some(tokio::spawn(reading));
        let notifier = request_handler.notifier();
        if notifier.is_enabled() {
            let notifying = notify(supervisor.board(), notifier, self.sender.clone());
            self.notifier_task = Some(tokio::spawn(notifying));
        }
        let (jobs, inbox) = mpsc::unbounded_channel();
        self.jobs = Some(jobs);
        let working = work(supervisor, Arc::new(request_handler), inbox, self.sender.clone());
        self.worker = Some(tokio::spawn(working));
        self.journal = Some(journal);
    }

    /// Hands a job to the worker. Before the supervisor runs there are no rows, so there are no jobs either.
    pub(super) fn start(&self, job: Job) {
        if let Some(jobs) = &self.jobs {
            // Fails if the worker has ended.
            let _ended = jobs.send(job);
        }
    }

    /// Waits for new rows.
    pub(super) async fn changed(&mut self) -> BoardRows {
        if let Some(rows) = &mut self.rows
            && rows.changed().await.is_ok()
        {
            return rows.borrow_and_update().clone();
        }
        std::future::pending().await
    }

    pub(super) async fn end(self) {
        let BackgroundWork { jobs, journal_task, notifier_task, row_task, worker, journal, .. } = self;
        for task in [journal_task, notifier_task, row_task].into_iter().flatten() {
            task.abort();
        }
        // When the last sender is gone, the worker stops the supervisor.
        drop(jobs);
        if let Some(worker) = worker {
            let _panicked = worker.await;
        }
        if let Some(journal) = journal {
            // The next start looks for records that could not be written.
            let _unwritten = journal.close().await;
        }
    }
}

/// How a job ended.
enum JobResult {
    /// The answer was sent to the screen; nothing was written.
    Answered,
    Done,
    NotDone,
}

/// Owns the supervisor, and stops it when no more jobs can come. Jobs run concurrently, so one that hangs
/// delays no other.
async fn work(
    supervisor: Supervisor,
    request_handler: Arc<RequestHandler>,
    mut inbox: mpsc::UnboundedReceiver<Job>,
    sender: mpsc::Sender<Message>,
) {
    let board = supervisor.board();
    let mut running = JoinSet::new();
    // The board when a job last wrote something.
    let mut before: Option<Arc<Board>> = None;
    loop {
        let job = tokio::select! {
            job = inbox.recv() => match job {
                Some(job) => job,
                None => break,
            },
            Some(ended) = running.join_next() => {
                match ended {
                    Ok(JobResult::Done) => {
                        before = Some(board.borrow().clone());
                        supervisor.poll_now().await;
                    }
                    Ok(JobResult::NotDone) => before = None,
                    Ok(JobResult::Answered) | Err(_) => {}
                }
                continue;
            }
        };
        match job {
            Job::Tell(address, command) => supervisor.tell(address, command).await,
            Job::Track(pull_requests) => supervisor.track(pull_requests).await,
            Job::Forget(address) => supervisor.forget(address).await,
            Job::Propose { ticket, request } => {
                let (handler, sender) = (Arc::clone(&request_handler), sender.clone());
                let (board, before) = (board.clone(), before.clone());
                running.spawn(async move {
                    let board = up_to_date(board, before, &request).await;
                    let proposal = handler.propose(request, &board).await;
                    let proposal = proposal.map(Box::new).map_err(|failure| failure.to_string());
                    let _gone = sender.send(Message::Proposed { ticket, proposal }).await;
                    JobResult::Answered
                });
            }
            Job::CarryOut(proposal) => {
                before = Some(board.borrow().clone());
                let (handler, sender) = (Arc::clone(&request_handler), sender.clone());
                let board = board.borrow().clone();
                running.spawn(async move {
                    let outcome = handler.carry_out(*proposal, &board).await;
                    let result = if matches!(outcome, Ok(RequestOutcome::Done(_))) {
                        JobResult::Done
                    } else {
                        JobResult::NotDone
                    };
                    let outcome = outcome.map(Box::new).map_err(|failure| failure.to_string());
                    let _gone = sender.send(Message::RequestFinished(outcome)).await;
                    result
                });
            }
            Job::FindWaysOut { ticket, address } => {
                let (handler, sender) = (Arc::clone(&request_handler), sender.clone());
                let board = board.borrow().clone();
                running.spawn(async move {
                    let ways =
                        handler.ways_out(&address, &board).await.map_err(|failure| failure.to_string());
                    let _gone = sender.send(Message::WaysOut { ticket, address, ways }).await;
                    JobResult::Answered
                });
            }
        }
    }
    let _cut_off = timeout(GRACE, async { while running.join_next().await.is_some() {} }).await;
    drop(running);
    supervisor.stop().await;
}

/// Waits until a poll has seen the last write. Otherwise a person who undoes it at once would hear that there
/// is nothing to undo.
async fn up_to_date(
    mut board: watch::Receiver<Arc<Board>>,
    before: Option<Arc<Board>>,
    request: &PersonRequest,
) -> Arc<Board> {
    if let Some(before) = before {
        let seen_at = |board: &Board, address| board.get(address).and_then(|view| view.seen_at);
        let is_newer = |now: &Arc<Board>| {
            request.pull_requests().iter().all(|address| seen_at(now, address) != seen_at(&before, address))
        };
        let _late = timeout(PATIENCE, board.wait_for(is_newer)).await;
    }
    board.borrow().clone()
}

/// Builds the rows of every new board, at most once per frame.
async fn build_rows(
    mut board: watch::Receiver<Arc<Board>>,
    row_builder: RowBuilder,
    built: watch::Sender<BoardRows>,
) {
    board.mark_changed();
    // This task keeps old rows for a while: freeing thousands of them on the screen's task would delay a key.
    let mut before = VecDeque::from([BoardRows::default()]);
    while board.changed().await.is_ok() {
        let now = board.borrow_and_update().clone();
        if let Some(last) = before.back() {
            let rows = last.updated(now, &row_builder);
            before.push_back(rows.clone());
            built.send_replace(rows);
        }
        before.drain(..before.len().saturating_sub(KEPT_VERSIONS));
        sleep(FRAME).await;
    }
}

/// Notifies the person of every thread that starts to wait for them.
async fn notify(
    mut board: watch::Receiver<Arc<Board>>,
    mut notifier: InboxNotifier,
    sender: mpsc::Sender<Message>,
) {
    let mut before: Arc<Board> = Arc::default();
    board.mark_changed();
    loop {
        let outcome = tokio::select! {
            changed = board.changed() => match changed {
                Ok(()) => {
                    let now = board.borrow_and_update().clone();
                    for (address, view) in &now.pull_requests {
                        let last = before.pull_requests.get(address);
                        if last.is_none_or(|last| !has_same_state(last, view)) {
                            notifier.notify_arrivals(view);
                        }
                    }
                    before = now;
                    continue;
                }
                Err(_) => return,
            },
            outcome = notifier.next() => outcome,
        };
        let message = match outcome {
            Ok(bytes) if bytes.is_empty() => continue,
            Ok(bytes) => Message::Ring(bytes),
            Err(error) => Message::Notice(error.to_string()),
        };
        if sender.send(message).await.is_err() {
            return;
        }
    }
}

/// Whether the supervisor has not recomputed the state in between.
fn has_same_state(last: &PullRequestView, now: &PullRequestView) -> bool {
    match (&last.computed, &now.computed) {
        (Some(last), Some(now)) => Arc::ptr_eq(last, now),
        (last, now) => last.is_none() && now.is_none(),
    }
}

/// The newest records, with the repositories' present names.
async fn newest_records(journal: &Journal, newest: RecordFilter) -> Result<Vec<Record>, JournalError> {
    let known = journal.repositories().await?;
    Ok(journal.records(newest).await?.into_iter().map(|record| known.shown(record)).collect())
}

/// Sends the newest records, then every record as it is appended, and the handed-off tasks whenever they
/// change.
async fn read_journal(journal: Journal, config: Arc<Config>, sender: mpsc::Sender<Message>) {
    let newest =
        RecordFilter { order: RecordOrder::NewestFirst, limit: Some(KEPT), ..RecordFilter::default() };
    let mut last = 0;
    match newest_records(&journal, newest).await {
        Ok(mut records) => {
            last = records.first().map_or(0, |record| record.seq);
            records.reverse();
            for few in records.chunks(RECORDS_PER_MESSAGE) {
                let _gone = sender.send(Message::Records(few.to_vec())).await;
            }
        }
        Err(error) => {
            let why = format!("Cannot read the journal: {error}");
            let _gone = sender.send(Message::Notice(why)).await;
        }
    }
    let mut follower = journal.follow(last);
    let mut changed = true;
    loop {
        if std::mem::take(&mut changed)
            && let Ok(decided) =
                handoffs::all_decided_tasks(&journal, &config.targets, None, Some(HISTORY)).await
        {
            let _gone = sender.send(Message::HandedOff(decided)).await;
        }
        match follower.next().await {
            Ok(record) => {
                changed = handoffs::concerns(&record);
                let record = match journal.repositories().await {
                    Ok(known) => known.shown(record),
                    Err(_) => record,
                };
                if sender.send(Message::Records(vec![record])).await.is_err() {
                    return;
                }
            }
            Err(JournalError::Closed) => return,
            // The supervisor follows the journal as well, and reports the error.
            Err(_) => {}
        }
    }
}
