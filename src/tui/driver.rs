//! The driver of the pure part: it owns the terminal, turns keys and news from the supervisor and the journal
//! into messages, carries out effects, and draws when something changed. Nothing here waits for the network.

use super::alarm::Alarm;
use super::background::{BackgroundWork, Job};
use super::guide::Guide;
use super::keyboard::{self, BackgroundReplyParser, Keyboard, ParsedKey};
use super::message::{Effect, Message};
use super::model::Model;
use super::rows::{BoardRows, RowBuilder};
use super::startup::{self, Startup};
use super::suspension::{Suspension, SuspensionEvent};
use super::terminal::Terminal;
use super::theme::{Background, Themes};
use super::{browser, draw, editor, update};
use crate::failure::Failure;
use crate::github::PullRequestRef;
use crate::journal::Journal;
use crate::supervisor::Supervisor;
use crate::supervisor::clock::Clock;
use crate::supervisor::people::request_handler::RequestHandler;
use crossterm::clipboard::CopyToClipboard;
use crossterm::event::Event;
use crossterm::execute;
use std::future::Future;
use std::io::{self, Write as _, stdout};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout};

#[derive(Debug)]
pub struct TerminalSetup {
    pub row_builder: RowBuilder,
    pub themes: Themes,
    /// The person at this terminal, for the journal.
    pub by: String,
    pub clock: Arc<dyn Clock>,
    /// How often countdowns are drawn again.
    pub tick: Duration,
    /// Only in the demo.
    pub guide: Option<Guide>,
    /// Given if the supervisor runs before the first frame, as in the demo.
    pub supervised: Option<SupervisorHandles>,
    /// Given if the launcher starts everything else after the first frame.
    pub launch: Option<LaunchChannels>,
}

#[derive(Debug)]
pub struct SupervisorHandles {
    pub supervisor: Supervisor,
    pub journal: Journal,
    pub request_handler: RequestHandler,
}

/// The channels to the launcher, which starts everything else while the screen is already shown.
#[derive(Debug)]
pub struct LaunchChannels {
    pub events: mpsc::Receiver<StartupEvent>,
    pub requests: mpsc::UnboundedSender<StartupRequest>,
    /// Completes after the first frame; slow work starts then.
    pub drawn: oneshot::Sender<()>,
}

#[derive(Debug)]
pub enum StartupEvent {
    /// The supervisor runs. It shows this many pull requests from earlier runs as soon as it has computed
    /// them.
    Supervised {
        supervised: Box<SupervisorHandles>,
        remembered: usize,
    },
    Found(Result<startup::DiscoveredPullRequests, Failure>),
    News(startup::StartupNews),
}

/// What the person asks of the launcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartupRequest {
    LookAgain,
    WriteConfiguration,
}

/// Why the terminal ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TerminalEnd {
    Quit,
    /// The person asked for the demo.
    PlayDemo,
    /// A thread panicked, and printed why.
    Panicked,
}

/// The shortest time between two frames.
pub(super) const FRAME: Duration = Duration::from_millis(16);

/// The first frame waits at most this long for the pull requests of earlier runs, because an empty frame just
/// before them would delay them.
const FIRST_FRAME: Duration = Duration::from_millis(40);

/// How long the supervisor may take to stop after the person has quit. The journal holds the intent of every
/// write that is cut off, and the next start looks for it.
const SHUTDOWN: Duration = Duration::from_millis(900);

/// Capacity of the message queue; senders wait when it is full.
const QUEUE: usize = 64;

/// The pull requests to watch, or why the search failed.
pub type DiscoveryResult = Result<Vec<PullRequestRef>, String>;

/// Runs until the person quits or `interrupted` completes. `discovery` runs while the screen is shown.
#[expect(clippy::too_many_lines, reason = "one place that waits for everything that wakes the screen")]
pub async fn run(
    setup: TerminalSetup,
    discovery: impl Future<Output = DiscoveryResult>,
    interrupted: impl Future<Output = ()>,
) -> io::Result<TerminalEnd> {
    let TerminalSetup { row_builder, themes, by, clock, tick, guide, supervised, launch } = setup;
    let mut model = Model::new(row_builder.clone(), themes.first, by, clock.now());
    model.guide = guide;
    let (sender, messages) = mpsc::channel(QUEUE);
    let (mut events, mut requests, mut first_frame) = (None, None, None);
    if let Some(launch) = launch {
        model.startup = Startup::new();
        (events, requests, first_frame) = (Some(launch.events), Some(launch.requests), Some(launch.drawn));
    }
    let mut background = BackgroundWork::new(row_builder, sender.clone());
    if let Some(supervised) = supervised {
        background.begin(supervised);
    }
    let ended = {
        let mut terminal = Terminal::take()?;
        model.size = terminal.size()?;
        let hold = events.is_some().then(|| Instant::now() + FIRST_FRAME);
        let mut screen = ScreenLoop {
            model,
            dirty: true,
            drawn: None,
            hold,
            remembered: usize::MAX,
            requests,
            sender,
            editing: None,
            end: None,
        };
        let mut panicked = Box::pin(terminal.panicked());
        let mut keyboard = Keyboard::read()?;
        let mut suspension = Suspension::new();
        let mut suspended = None;
        let mut sources = ScreenWakeups { events, messages };
        let mut reply_parser = themes.by_background.map(|_| BackgroundReplyParser::default());
        let mut discovery = std::pin::pin!(discovery);
        let mut is_discovered = false;
        let mut interrupted = std::pin::pin!(interrupted);
        screen.take(Message::Board(BoardRows::default()), &background);
        let mut alarm = Alarm::new()?;
        let mut ticked = Instant::now();
        loop {
            if let Some(end) = screen.end {
                break Ok(end);
            }
            if let Some(text) = screen.editing.take() {
                // The editor needs the terminal in its normal state, and the whole keyboard.
                drop(terminal);
                keyboard.stop().await;
                let mut editing = Box::pin(editor::edit(&text));
                let edited = loop {
                    tokio::select! {
                        edited = &mut editing => break Some(edited),
                        () = &mut interrupted => break None,
                        // The editor stops itself and this process, and the shell continues both.
                        event = suspension.next() => if event == SuspensionEvent::Stop {
                            suspension.stop_process().await;
                        },
                    }
                };
                let Some(edited) = edited else { break Ok(TerminalEnd::Quit) };
                terminal = Terminal::take()?;
                panicked = Box::pin(terminal.panicked());
                keyboard = Keyboard::read()?;
                let size = terminal.size()?;
                screen.take(Message::Resized { width: size.width, height: size.height }, &background);
                screen.take(Message::Edited(edited), &background);
            }
            if let Some(event) = suspended.take() {
                drop(terminal);
                keyboard.stop().await;
                if event == SuspensionEvent::Stop {
                    suspension.stop_process().await;
                }
                terminal = Terminal::take()?;
                panicked = Box::pin(terminal.panicked());
                keyboard = Keyboard::read()?;
                let size = terminal.size()?;
                screen.take(Message::Resized { width: size.width, height: size.height }, &background);
            }
            let tick = screen.model.shows_times().then(|| ticked + tick);
            let wake = [screen.dirty.then(|| screen.due()), tick].into_iter().flatten().min();
            tokio::select! {
                biased;
                () = &mut panicked => break Ok(TerminalEnd::Panicked),
                () = &mut interrupted => break Ok(TerminalEnd::Quit),
                event = suspension.next() => suspended = Some(event),
                () = alarm.until(wake.unwrap_or(ticked)), if wake.is_some() => {
                    if tick.is_some_and(|tick| tick <= Instant::now()) {
                        ticked = Instant::now();
                        screen.take(Message::Tick(clock.now()), &background);
                    }
                    if screen.due() > Instant::now() {
                        continue;
                    }
                    if let Err(error) = screen.draw(&mut terminal) {
                        break unless_gone(error);
                    }
                    if let Some(first_frame) = first_frame.take() {
                        // Fails if the launcher has ended.
                        let _ended = first_frame.send(());
                        if let Some(error) = ask_for_background(reply_parser.is_some()) {
                            break unless_gone(error);
                        }
                    }
                }
                event = keyboard.next() => match event {
                    Some(Ok(event)) => match (event, &mut reply_parser, themes.by_background) {
                        (Event::Key(key), Some(parser), Some((dark, light))) => match parser.parse(key) {
                            ParsedKey::Nothing => {}
                            ParsedKey::Keys(keys) => {
                                for key in keys {
                                    screen.event(Event::Key(key), &background);
                                }
                            }
                            ParsedKey::Answer(answer) => {
                                let theme = if answer == Some(Background::Light) { light } else { dark };
                                screen.take(Message::Theme(theme), &background);
                            }
                        },
                        (event, ..) => screen.event(event, &background),
                    },
                    Some(Err(error)) => break Err(error),
                    // The terminal is gone.
                    None => break Ok(TerminalEnd::Quit),
                },
                outcome = &mut discovery, if !is_discovered => {
                    is_discovered = true;
                    screen.take(Message::Found(discovered(outcome)), &background);
                }
                event = next_event(&mut sources.events) => match event {
                    Some(StartupEvent::Supervised { supervised, remembered }) => {
                        background.begin(*supervised);
                        screen.expect(remembered);
                    }
                    Some(StartupEvent::Found(outcome)) => screen.take(Message::Found(outcome), &background),
                    Some(StartupEvent::News(news)) => screen.take(Message::Start(news), &background),
                    None => sources.events = None,
                },
                rows = background.changed() => {
                    screen.take(Message::Tick(clock.now()), &background);
                    screen.take(Message::Board(rows), &background);
                }
                Some(message) = sources.messages.recv() => screen.take(message, &background),
            }
        }
    };
    // The terminal is restored by now, so the person does not see the shutdown.
    let _cut_off = timeout(SHUTDOWN, background.end()).await;
    ended
}

fn discovered(outcome: DiscoveryResult) -> Result<startup::DiscoveredPullRequests, Failure> {
    match outcome {
        Ok(pull_requests) => Ok(startup::DiscoveredPullRequests {
            pull_requests,
            ..startup::DiscoveredPullRequests::default()
        }),
        Err(why) => Err(Failure::usage(why)),
    }
}

/// A closed terminal is a normal end, not an error.
fn unless_gone(error: io::Error) -> io::Result<TerminalEnd> {
    #[cfg(unix)]
    let is_gone = error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error());
    #[cfg(not(unix))]
    let is_gone = error.kind() == io::ErrorKind::BrokenPipe;
    if is_gone { Ok(TerminalEnd::Quit) } else { Err(error) }
}

/// Asks after the first frame, and only if the reply matters and the terminal understands the question.
fn ask_for_background(matters: bool) -> Option<io::Error> {
    let term = std::env::var("TERM").ok();
    (matters && keyboard::can_be_asked(term.as_deref()))
        .then(|| keyboard::ask_for_background(&mut stdout()).err())
        .flatten()
}

/// The channels that wake the screen.
struct ScreenWakeups {
    events: Option<mpsc::Receiver<StartupEvent>>,
    messages: mpsc::Receiver<Message>,
}

async fn next_event(events: &mut Option<mpsc::Receiver<StartupEvent>>) -> Option<StartupEvent> {
    match events {
        Some(events) => events.recv().await,
        None => std::future::pending().await,
    }
}

struct ScreenLoop {
    model: Model,
    dirty: bool,
    drawn: Option<Instant>,
    /// The first frame waits until then, or until the remembered pull requests are there.
    hold: Option<Instant>,
    /// How many pull requests of earlier runs the first frame waits for.
    remembered: usize,
    requests: Option<mpsc::UnboundedSender<StartupRequest>>,
    sender: mpsc::Sender<Message>,
    /// A text to open in the person's editor.
    editing: Option<String>,
    end: Option<TerminalEnd>,
}

impl ScreenLoop {
    /// When to draw the next frame: at once after a pause, so a key has no delay.
    fn due(&self) -> Instant {
        self.hold.or_else(|| self.drawn.map(|drawn| drawn + FRAME)).unwrap_or_else(Instant::now)
    }

    fn draw(&mut self, terminal: &mut Terminal) -> io::Result<()> {
        terminal.draw(|frame| draw(frame, &self.model))?;
        // After an empty first frame the next one need not wait.
        self.drawn = self.hold.is_none().then(Instant::now);
        self.dirty = false;
        self.hold = None;
        Ok(())
    }

    fn expect(&mut self, remembered: usize) {
        self.remembered = remembered;
    }

    fn event(&mut self, event: Event, background: &BackgroundWork) {
        match event {
            Event::Key(key) => self.take(Message::Key(key), background),
            Event::Mouse(mouse) => self.take(Message::Mouse(mouse), background),
            Event::Paste(text) => self.take(Message::Pasted(text), background),
            Event::Resize(width, height) => self.take(Message::Resized { width, height }, background),
            Event::FocusGained | Event::FocusLost => {}
        }
    }

    fn take(&mut self, message: Message, background: &BackgroundWork) {
        self.dirty = true;
        // A key is drawn at once. Mouse drags are not: they come faster than frames.
        let typed = matches!(message, Message::Key(_) | Message::Pasted(_));
        let by_person = matches!(message, Message::Key(_) | Message::Mouse(_) | Message::Pasted(_));
        for effect in update(&mut self.model, message) {
            self.perform(effect, background);
        }
        if by_person
            || self.model.data.pulls.len() >= self.remembered
            || self.model.screen == super::Screen::FirstRun
        {
            self.hold = None;
        }
        if typed {
            self.drawn = None;
        }
    }

    fn request(&self, request: StartupRequest) {
        if let Some(requests) = &self.requests {
            // Fails if the launcher has ended.
            let _ended = requests.send(request);
        }
    }

    fn perform(&mut self, effect: Effect, background: &BackgroundWork) {
        match effect {
            Effect::Quit => self.end = Some(TerminalEnd::Quit),
            Effect::PlayDemo => self.end = Some(TerminalEnd::PlayDemo),
            Effect::CopyToClipboard(text) => {
                if let Err(error) = execute!(stdout(), CopyToClipboard::to_clipboard_from(text)) {
                    self.model.notice = Some(format!("Cannot copy it: {error}"));
                }
            }
            Effect::Ring(bytes) => {
                let mut terminal = stdout();
                if let Err(error) = terminal.write_all(&bytes).and_then(|()| terminal.flush()) {
                    self.model.notice = Some(format!("Cannot show the notification: {error}"));
                }
            }
            Effect::OpenInBrowser(link) => {
                let sender = self.sender.clone();
                tokio::spawn(async move {
                    if let Err(error) = browser::open(&link).await {
                        let why = format!("Cannot start a browser ({error}). The link is {link}");
                        // Fails if the person has quit.
                        let _gone = sender.send(Message::Notice(why)).await;
                    }
                });
            }
            Effect::LookAgain => self.request(StartupRequest::LookAgain),
            Effect::WriteConfiguration => self.request(StartupRequest::WriteConfiguration),
            Effect::Edit(text) => self.editing = Some(text),
            Effect::Tell(address, command) => background.start(Job::Tell(address, command)),
            Effect::Track(pull_requests) => background.start(Job::Track(pull_requests)),
            Effect::Forget(address) => background.start(Job::Forget(address)),
            Effect::Propose { ticket, request } => background.start(Job::Propose { ticket, request }),
            Effect::CarryOut(proposal) => background.start(Job::CarryOut(proposal)),
            Effect::FindWaysOut { ticket, address } => background.start(Job::FindWaysOut { ticket, address }),
        }
    }
}
