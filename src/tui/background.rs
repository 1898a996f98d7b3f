//! What works behind the screen: the supervisor and the desk, whoever reads the journal, and whoever makes rows of what there
//! is to see. Each works beside the screen and sends it what came of it.

use super::driver::{FRAME, SupervisorHandles};
use super::message::{Effect, Message};
use super::rows::journal::KEPT;
use super::rows::{BoardRows, RowBuilder};
use crate::config::Config;
use crate::journal::{Journal, JournalError, RecordFilter, RecordOrder};
use crate::supervisor::people::InboxNotifier;
use crate::supervisor::people::request_handler::{self, RequestHandler, RequestOutcome};
use crate::supervisor::{Board, PullRequestView, Supervisor, handoffs};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};

/// How long whoever leaves waits for what is being written. What is cut off is found again by its intent.
const GRACE: Duration = Duration::from_millis(400);

/// The newest so many tasks are shown; `cloture queue history` has the rest.
const HISTORY: usize = 200;

/// An order waits no longer for what was written before it to be seen.
const PATIENCE: Duration = Duration::from_secs(3);

/// So many times of what there was to see are held until the screen has surely let go of them.
const HELD: usize = 3;

/// Records that are made into rows between two looks at the keyboard.
const AT_A_TIME: usize = 100;

/// What works behind the screen, once it is there.
pub(super) struct BackgroundWork {
    config: Arc<Config>,
    news: mpsc::Sender<Message>,
    making: RowBuilder,
    /// What there is to see, with its rows.
    seen: Option<watch::Receiver<BoardRows>>,
    maker: Option<JoinHandle<()>>,
    orders: Option<mpsc::UnboundedSender<Effect>>,
    reading: Option<JoinHandle<()>>,
    telling: Option<JoinHandle<()>>,
    worker: Option<JoinHandle<()>>,
    journal: Option<Journal>,
}

impl BackgroundWork {
    pub(super) fn new(making: RowBuilder, news: mpsc::Sender<Message>) -> BackgroundWork {
        let config = Arc::clone(&making.config);
        BackgroundWork {
            config,
            news,
            making,
            seen: None,
            maker: None,
            orders: None,
            reading: None,
            telling: None,
            worker: None,
            journal: None,
        }
    }

    pub(super) fn begin(&mut self, supervised: SupervisorHandles) {
        let SupervisorHandles { supervisor, journal, desk } = supervised;
        let (made, seen) = watch::channel(BoardRows::default());
        self.seen = Some(seen);
        self.maker = Some(tokio::spawn(make_rows(supervisor.board(), self.making.clone(), made)));
        self.reading =
            Some(tokio::spawn(read_journal(journal.clone(), Arc::clone(&self.config), self.news.clone())));
        let teller = desk.notifier();
        if teller.is_enabled() {
            self.telling = Some(tokio::spawn(tell(supervisor.board(), teller, self.news.clone())));
        }
        let (orders, inbox) = mpsc::unbounded_channel();
        self.orders = Some(orders);
        self.worker = Some(tokio::spawn(work(supervisor, Arc::new(desk), inbox, self.news.clone())));
        self.journal = Some(journal);
    }

    /// Passes on what a person wants done. Nobody is there to do it before everything has come up, and nothing is offered.
    pub(super) fn order(&self, effect: Effect) {
        if let Some(orders) = &self.orders {
            // A worker that has ended has nothing to be told.
            let _ended = orders.send(effect);
        }
    }

    /// The next thing there is to see.
    pub(super) async fn changed(&mut self) -> BoardRows {
        if let Some(seen) = &mut self.seen
            && seen.changed().await.is_ok()
        {
            return seen.borrow_and_update().clone();
        }
        std::future::pending().await
    }

    pub(super) async fn end(self) {
        let BackgroundWork { orders, reading, telling, maker, worker, journal, .. } = self;
        for helper in [reading, telling, maker].into_iter().flatten() {
            helper.abort();
        }
        // With the last sender gone the worker stops the supervisor, which reaches a safe state.
        drop(orders);
        if let Some(worker) = worker {
            let _panicked = worker.await;
        }
        if let Some(journal) = journal {
            // What could not be written is looked for at the next start.
            let _unwritten = journal.close().await;
        }
    }
}

/// What a worker has done about an order.
enum WorkerResult {
    /// It knows what the order comes to.
    Out,
    Done,
    NotDone,
}

/// Owns the supervisor, and stops it when nobody can order anything any more. Orders are worked on beside each other: one
/// that hangs holds up nothing else.
async fn work(
    supervisor: Supervisor,
    desk: Arc<RequestHandler>,
    mut inbox: mpsc::UnboundedReceiver<Effect>,
    news: mpsc::Sender<Message>,
) {
    let board = supervisor.board();
    let mut orders = JoinSet::new();
    // What there was to see when something was last written.
    let mut before: Option<Arc<Board>> = None;
    loop {
        let effect = tokio::select! {
            effect = inbox.recv() => match effect {
                Some(effect) => effect,
                None => break,
            },
            Some(ended) = orders.join_next() => {
                match ended {
                    Ok(WorkerResult::Done) => {
                        before = Some(board.borrow().clone());
                        supervisor.poll_now().await;
                    }
                    Ok(WorkerResult::NotDone) => before = None,
                    Ok(WorkerResult::Out) | Err(_) => {}
                }
                continue;
            }
        };
        match effect {
            Effect::Tell(address, command) => supervisor.tell(address, command).await,
            Effect::Track(pull_requests) => supervisor.track(pull_requests).await,
            Effect::Forget(address) => supervisor.forget(address).await,
            Effect::Propose { ticket, order } => {
                let (desk, news, board, before) =
                    (Arc::clone(&desk), news.clone(), board.clone(), before.clone());
                orders.spawn(async move {
                    let board = up_to_date(board, before, &order).await;
                    let proposal = desk.propose(order, &board).await;
                    let proposal = proposal.map(Box::new).map_err(|failure| failure.to_string());
                    let _gone = news.send(Message::Proposed { ticket, proposal }).await;
                    WorkerResult::Out
                });
            }
            Effect::CarryOut(proposal) => {
                before = Some(board.borrow().clone());
                let (desk, news, board) = (Arc::clone(&desk), news.clone(), board.borrow().clone());
                orders.spawn(async move {
                    let became = desk.carry_out(*proposal, &board).await;
                    // What was written is to be seen at once.
                    let worked = if matches!(became, Ok(RequestOutcome::Done(_))) {
                        WorkerResult::Done
                    } else {
                        WorkerResult::NotDone
                    };
                    let became = became.map(Box::new).map_err(|failure| failure.to_string());
                    let _gone = news.send(Message::Became(became)).await;
                    worked
                });
            }
            Effect::FindWaysOut { ticket, address } => {
                let (desk, news, board) = (Arc::clone(&desk), news.clone(), board.borrow().clone());
                orders.spawn(async move {
                    let ways = desk.ways_out(&address, &board).await.map_err(|failure| failure.to_string());
                    let _gone = news.send(Message::WaysOut { ticket, address, ways }).await;
                    WorkerResult::Out
                });
            }
            Effect::OpenInBrowser(_)
            | Effect::CopyToClipboard(_)
            | Effect::Ring(_)
            | Effect::Edit(_)
            | Effect::LookAgain
            | Effect::WriteConfiguration
            | Effect::PlayDemo
            | Effect::Quit => {}
        }
    }
    let _cut_off = timeout(GRACE, async { while orders.join_next().await.is_some() {} }).await;
    drop(orders);
    supervisor.stop().await;
}

/// What was just written is seen before the next order about it is worked out, or that would be about what was: whoever undoes
/// something at once would be told that there is nothing to undo.
async fn up_to_date(
    mut board: watch::Receiver<Arc<Board>>,
    before: Option<Arc<Board>>,
    order: &request_handler::PersonRequest,
) -> Arc<Board> {
    if let Some(before) = before {
        let seen_at = |board: &Board, address| board.pull_requests.get(address).and_then(|view| view.seen_at);
        let is_newer = |now: &Arc<Board>| {
            order.pull_requests().iter().all(|address| seen_at(now, address) != seen_at(&before, address))
        };
        let _late = timeout(PATIENCE, board.wait_for(is_newer)).await;
    }
    board.borrow().clone()
}

/// Makes the rows of whatever there is to see, beside the screen, and not more often than it is drawn.
async fn make_rows(
    mut board: watch::Receiver<Arc<Board>>,
    making: RowBuilder,
    made: watch::Sender<BoardRows>,
) {
    board.mark_changed();
    // What the screen lets go of is still held here, so that thousands of rows are not taken apart while a key waits.
    let mut before = VecDeque::from([BoardRows::default()]);
    while board.changed().await.is_ok() {
        let now = board.borrow_and_update().clone();
        if let Some(last) = before.back() {
            let seen = last.followed_by(now, &making);
            before.push_back(seen.clone());
            made.send_replace(seen);
        }
        before.drain(..before.len().saturating_sub(HELD));
        sleep(FRAME).await;
    }
}

/// Tells of every thread that starts to wait for a person, wherever on the screen they are.
async fn tell(
    mut board: watch::Receiver<Arc<Board>>,
    mut teller: InboxNotifier,
    news: mpsc::Sender<Message>,
) {
    let mut before: Arc<Board> = Arc::default();
    board.mark_changed();
    loop {
        let told = tokio::select! {
            changed = board.changed() => match changed {
                Ok(()) => {
                    let now = board.borrow_and_update().clone();
                    for (address, view) in &now.pull_requests {
                        let last = before.pull_requests.get(address);
                        if last.is_none_or(|last| !stands_as(last, view)) {
                            teller.notify_arrivals(view).await;
                        }
                    }
                    before = now;
                    continue;
                }
                Err(_) => return,
            },
            told = teller.next() => told,
        };
        let message = match told {
            Ok(bytes) if bytes.is_empty() => continue,
            Ok(bytes) => Message::Ring(bytes),
            Err(error) => Message::Told(error.to_string()),
        };
        if news.send(message).await.is_err() {
            return;
        }
    }
}

/// Whether nothing was put together anew.
fn stands_as(last: &PullRequestView, now: &PullRequestView) -> bool {
    match (&last.standing, &now.standing) {
        (Some(last), Some(now)) => Arc::ptr_eq(last, now),
        (last, now) => last.is_none() && now.is_none(),
    }
}

/// The newest records, and then every one that anybody appends; and what was ever handed off, whenever that changes.
async fn read_journal(journal: Journal, config: Arc<Config>, news: mpsc::Sender<Message>) {
    let newest =
        RecordFilter { order: RecordOrder::NewestFirst, limit: Some(KEPT), ..RecordFilter::default() };
    let mut last = 0;
    match journal.records(newest).await {
        Ok(mut records) => {
            last = records.first().map_or(0, |record| record.seq);
            records.reverse();
            // A few at a time, so that a key does not wait for thousands of them.
            for few in records.chunks(AT_A_TIME) {
                let _gone = news.send(Message::Records(few.to_vec())).await;
            }
        }
        Err(error) => {
            let _gone =
                news.send(Message::JournalTrouble(format!("the journal cannot be read: {error}"))).await;
        }
    }
    let mut follower = journal.follow(last);
    let mut changed = true;
    loop {
        if std::mem::take(&mut changed)
            && let Ok(decided) =
                handoffs::all_decided_tasks(&journal, &config.targets, None, Some(HISTORY)).await
        {
            let _gone = news.send(Message::HandedOff(decided)).await;
        }
        match follower.next().await {
            Ok(record) => {
                changed = handoffs::concerns(&record);
                if news.send(Message::Records(vec![record])).await.is_err() {
                    return;
                }
            }
            Err(JournalError::Closed) => return,
            // The supervisor reads on, too, and tells what is wrong.
            Err(_) => {}
        }
    }
}
