//! Carries out what the pure part says: owns the terminal, reads what people type, passes on what the supervisor and the
//! journal have to tell, and draws when something changed. Nothing here waits for the network.

use super::guide::Guide;
use super::message::{Effect, Message};
use super::model::Model;
use super::rows::Making;
use super::rows::journal::KEPT;
use super::terminal::Terminal;
use super::theme::Theme;
use super::{draw, editor, update};
use crate::github::PullRequestAddress;
use crate::journal::{Filter, Journal, Order};
use crate::people::desk::{Became, Desk};
use crate::supervisor::Supervisor;
use crate::supervisor::clock::Clock;
use crossterm::clipboard::CopyToClipboard;
use crossterm::event::{Event, EventStream};
use crossterm::execute;
use futures_util::StreamExt;
use std::future::Future;
use std::io::{self, stdout};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// What the terminal is started with.
#[derive(Debug)]
pub struct Setup {
    pub making: Making,
    pub theme: Theme,
    /// Who sits here, for the journal.
    pub by: String,
    pub clock: Arc<dyn Clock>,
    /// How often what counts down is drawn again.
    pub tick: Duration,
    /// Says what to look at and which key to try, in the demo.
    pub guide: Option<Guide>,
    /// None where nothing can be supervised.
    pub supervised: Option<Supervised>,
}

/// What drives the loops, what it records, and where a person's orders are carried out.
#[derive(Debug)]
pub struct Supervised {
    pub supervisor: Supervisor,
    pub journal: Journal,
    pub desk: Desk,
}

/// Why it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Quit,
    /// The person wants to see the demo.
    PlayDemo,
}

/// No two frames are drawn closer together.
const FRAME: Duration = Duration::from_millis(16);

/// How long whoever leaves waits for what is being written. What is cut off is found again by its intent.
const GRACE: Duration = Duration::from_millis(400);

/// Messages that may wait for the screen.
const QUEUE: usize = 64;

/// The pull requests to watch, or a sentence that says why there are none.
pub type Found = Result<Vec<(PullRequestAddress, Option<String>)>, String>;

/// Runs until the person leaves, or `interrupted` completes. `finding` goes on behind the first frame.
pub async fn run(
    setup: Setup,
    finding: impl Future<Output = Found>,
    interrupted: impl Future<Output = ()>,
) -> io::Result<End> {
    let Setup { making, theme, by, clock, tick, guide, supervised } = setup;
    let mut model = Model::new(making, theme, by, clock.now());
    model.guide = guide;
    model.searching = true;
    let (news, mut told) = mpsc::channel(QUEUE);
    let mut board = None;
    let mut reading = None;
    let (orders, worker) = match supervised {
        None => (None, None),
        Some(Supervised { supervisor, journal, desk }) => {
            board = Some(supervisor.board());
            reading = Some(tokio::spawn(read_journal(journal, news.clone())));
            let (orders, inbox) = mpsc::unbounded_channel();
            (Some(orders), Some(tokio::spawn(work(supervisor, Arc::new(desk), inbox, news.clone()))))
        }
    };
    let ended = {
        let mut terminal = Terminal::take()?;
        let size = terminal.size()?;
        (model.width, model.height) = (size.width, size.height);
        let mut screen = Screen { model, dirty: true, drawn: None, orders, news, editing: None, end: None };
        let mut events = EventStream::new();
        let mut finding = std::pin::pin!(finding);
        let mut found = false;
        let mut interrupted = std::pin::pin!(interrupted);
        if let Some(board) = &mut board {
            let first = board.borrow_and_update().clone();
            screen.take(Message::Board(first));
        }
        loop {
            if let Some(end) = screen.end {
                break Ok(end);
            }
            if let Some(text) = screen.editing.take() {
                // The editor gets the terminal as it was, and all of the keyboard.
                drop((events, terminal));
                let edited = tokio::select! {
                    edited = editor::edit(&text) => edited,
                    () = &mut interrupted => break Ok(End::Quit),
                };
                terminal = Terminal::take()?;
                events = EventStream::new();
                let size = terminal.size()?;
                screen.take(Message::Resized { width: size.width, height: size.height });
                screen.take(Message::Edited(edited));
            }
            let counts = screen.model.counts();
            let changed = async {
                if let Some(board) = &mut board
                    && board.changed().await.is_ok()
                {
                    return board.borrow_and_update().clone();
                }
                std::future::pending().await
            };
            tokio::select! {
                biased;
                () = sleep_until(screen.due()), if screen.dirty => screen.draw(&mut terminal)?,
                () = &mut interrupted => break Ok(End::Quit),
                event = events.next() => match event {
                    Some(Ok(event)) => screen.event(event),
                    Some(Err(error)) => break Err(error),
                    // Nobody can type any more: the terminal is gone.
                    None => break Ok(End::Quit),
                },
                outcome = &mut finding, if !found => {
                    found = true;
                    screen.take(Message::Found(outcome));
                }
                seen = changed => {
                    screen.take(Message::Tick(clock.now()));
                    screen.take(Message::Board(seen));
                }
                Some(message) = told.recv() => screen.take(message),
                () = sleep(tick), if counts => screen.take(Message::Tick(clock.now())),
            }
        }
    };
    if let Some(reading) = reading {
        reading.abort();
    }
    // With the last sender gone the worker stops the supervisor, which reaches a safe state.
    if let Some(worker) = worker {
        let _panicked = worker.await;
    }
    ended
}

struct Screen {
    model: Model,
    dirty: bool,
    drawn: Option<Instant>,
    orders: Option<mpsc::UnboundedSender<Effect>>,
    news: mpsc::Sender<Message>,
    /// A text that is to be edited with the person's own editor.
    editing: Option<String>,
    end: Option<End>,
}

impl Screen {
    /// When the next frame may be drawn: at once after a pause, so that a key is answered without delay.
    fn due(&self) -> Instant {
        self.drawn.map_or_else(Instant::now, |drawn| drawn + FRAME)
    }

    fn draw(&mut self, terminal: &mut Terminal) -> io::Result<()> {
        terminal.draw(|frame| draw(frame, &self.model))?;
        self.drawn = Some(Instant::now());
        self.dirty = false;
        Ok(())
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Key(key) => self.take(Message::Key(key)),
            Event::Mouse(mouse) => self.take(Message::Mouse(mouse)),
            Event::Paste(text) => self.take(Message::Pasted(text)),
            Event::Resize(width, height) => self.take(Message::Resized { width, height }),
            Event::FocusGained | Event::FocusLost => {}
        }
    }

    fn take(&mut self, message: Message) {
        self.dirty = true;
        for effect in update(&mut self.model, message) {
            self.perform(effect);
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Quit => self.end = Some(End::Quit),
            Effect::PlayDemo => self.end = Some(End::PlayDemo),
            Effect::CopyToClipboard(text) => {
                if let Err(error) = execute!(stdout(), CopyToClipboard::to_clipboard_from(text)) {
                    self.model.notice = Some(format!("it could not be copied: {error}"));
                }
            }
            Effect::OpenInBrowser(link) => {
                let news = self.news.clone();
                tokio::task::spawn_blocking(move || {
                    if let Err(error) = open::that_detached(&link) {
                        let why = format!("no browser could be started ({error}); the link is {link}");
                        // Whoever left does not need to know.
                        let _gone = news.blocking_send(Message::Told(why));
                    }
                });
            }
            Effect::Edit(text) => self.editing = Some(text),
            Effect::Tell(..)
            | Effect::Track(_)
            | Effect::Propose { .. }
            | Effect::CarryOut(_)
            | Effect::FindWaysOut { .. } => {
                if let Some(orders) = &self.orders {
                    // A worker that has ended has nothing to be told.
                    let _ended = orders.send(effect);
                }
            }
        }
    }
}

/// Owns the supervisor, and stops it when nobody can order anything any more. Orders are worked on beside each other: one
/// that hangs holds up nothing else.
async fn work(
    supervisor: Supervisor,
    desk: Arc<Desk>,
    mut inbox: mpsc::UnboundedReceiver<Effect>,
    news: mpsc::Sender<Message>,
) {
    let board = supervisor.board();
    let mut orders = JoinSet::new();
    loop {
        let effect = tokio::select! {
            effect = inbox.recv() => match effect {
                Some(effect) => effect,
                None => break,
            },
            Some(ended) = orders.join_next() => {
                if matches!(ended, Ok(true)) {
                    supervisor.poll_now().await;
                }
                continue;
            }
        };
        match effect {
            Effect::Tell(address, command) => supervisor.tell(address, command).await,
            Effect::Track(pull_requests) => supervisor.track(pull_requests).await,
            Effect::Propose { ticket, order } => {
                let (desk, news, board) = (Arc::clone(&desk), news.clone(), board.borrow().clone());
                orders.spawn(async move {
                    let proposal = desk.propose(order, &board).await;
                    let proposal = proposal.map(Box::new).map_err(|failure| failure.to_string());
                    let _gone = news.send(Message::Proposed { ticket, proposal }).await;
                    false
                });
            }
            Effect::CarryOut(proposal) => {
                let (desk, news, board) = (Arc::clone(&desk), news.clone(), board.borrow().clone());
                orders.spawn(async move {
                    let became = desk.carry_out(*proposal, &board).await;
                    // What was written is to be seen at once.
                    let seen = matches!(became, Ok(Became::Done(_)));
                    let became = became.map(Box::new).map_err(|failure| failure.to_string());
                    let _gone = news.send(Message::Became(became)).await;
                    seen
                });
            }
            Effect::FindWaysOut { ticket, address } => {
                let (desk, news, board) = (Arc::clone(&desk), news.clone(), board.borrow().clone());
                orders.spawn(async move {
                    let ways = desk.ways_out(&address, &board).await.map_err(|failure| failure.to_string());
                    let _gone = news.send(Message::WaysOut { ticket, address, ways }).await;
                    false
                });
            }
            Effect::OpenInBrowser(_)
            | Effect::CopyToClipboard(_)
            | Effect::Edit(_)
            | Effect::PlayDemo
            | Effect::Quit => {}
        }
    }
    let _cut_off = timeout(GRACE, async { while orders.join_next().await.is_some() {} }).await;
    drop(orders);
    supervisor.stop().await;
}

/// The newest records, and then every one that anybody appends.
async fn read_journal(journal: Journal, news: mpsc::Sender<Message>) {
    let newest = Filter { order: Order::NewestFirst, limit: Some(KEPT), ..Filter::default() };
    let mut last = 0;
    match journal.records(newest).await {
        Ok(mut records) => {
            last = records.first().map_or(0, |record| record.seq);
            records.reverse();
            let _gone = news.send(Message::Records(records)).await;
        }
        Err(error) => {
            let _gone =
                news.send(Message::JournalTrouble(format!("the journal cannot be read: {error}"))).await;
        }
    }
    let mut follower = journal.follow(last);
    while let Ok(record) = follower.next().await {
        if news.send(Message::Records(vec![record])).await.is_err() {
            return;
        }
    }
}
