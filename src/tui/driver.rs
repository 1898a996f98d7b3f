//! Carries out what the pure part says: owns the terminal, reads what people type, passes on what the supervisor and the
//! journal have to tell, and draws when something changed. Nothing here waits for the network.

use super::alarm::Alarm;
use super::background::BackgroundWork;
use super::guide::Guide;
use super::keyboard::{self, BackgroundReplyParser, Keyboard, ParsedKey};
use super::message::{Effect, Message};
use super::model::Model;
use super::rows::{BoardRows, RowBuilder};
use super::startup::{self, Startup};
use super::terminal::Terminal;
use super::theme::{Background, Themes};
use super::{draw, editor, update};
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

/// What the terminal is started with.
#[derive(Debug)]
pub struct TerminalSetup {
    pub making: RowBuilder,
    pub themes: Themes,
    /// Who sits here, for the journal.
    pub by: String,
    pub clock: Arc<dyn Clock>,
    /// How often what counts down is drawn again.
    pub tick: Duration,
    /// Says what to look at and which key to try, in the demo.
    pub guide: Option<Guide>,
    /// What is there from the beginning.
    pub supervised: Option<SupervisorHandles>,
    /// Where the rest comes up behind the first frame.
    pub launch: Option<LaunchChannels>,
}

/// What drives the loops, what it records, and where a person's orders are carried out.
#[derive(Debug)]
pub struct SupervisorHandles {
    pub supervisor: Supervisor,
    pub journal: Journal,
    pub desk: RequestHandler,
}

/// The two ends towards whoever starts everything else while the screen is shown already.
#[derive(Debug)]
pub struct LaunchChannels {
    pub arrivals: mpsc::Receiver<StartupEvent>,
    pub wishes: mpsc::UnboundedSender<StartupRequest>,
    /// Completed when the first frame was drawn: what takes long begins then.
    pub drawn: oneshot::Sender<()>,
}

/// What comes up behind the first frame.
#[derive(Debug)]
pub enum StartupEvent {
    /// So many pull requests are known from before, and are shown as soon as they have been put together.
    Supervised {
        supervised: Box<SupervisorHandles>,
        remembered: usize,
    },
    Found(Result<startup::DiscoveredPullRequests, Failure>),
    News(startup::StartupNews),
}

/// What a person wants of the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartupRequest {
    LookAgain,
    WriteConfiguration,
}

/// Why it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TerminalEnd {
    Quit,
    /// The person wants to see the demo.
    PlayDemo,
    /// Something panicked, and has said so.
    Panicked,
}

/// No two frames are drawn closer together.
pub(super) const FRAME: Duration = Duration::from_millis(16);

/// The first frame waits so long for what was seen before, and no longer. One that is drawn just before that comes would only
/// keep it waiting.
const FIRST_FRAME: Duration = Duration::from_millis(40);

/// How long everything may take to reach a safe state after the person has left: what is cut off has its intent in the
/// journal, and is looked for at the next start.
const LEAVING: Duration = Duration::from_millis(900);

/// Messages that may wait for the screen.
const QUEUE: usize = 64;

/// The pull requests to watch, or a sentence that says why there are none.
pub type DiscoveryResult = Result<Vec<PullRequestRef>, String>;

/// Runs until the person leaves, or `interrupted` completes. `finding` goes on behind the first frame.
#[expect(clippy::too_many_lines, reason = "one place that waits for everything that can wake the screen")]
pub async fn run(
    setup: TerminalSetup,
    finding: impl Future<Output = DiscoveryResult>,
    interrupted: impl Future<Output = ()>,
) -> io::Result<TerminalEnd> {
    let TerminalSetup { making, themes, by, clock, tick, guide, supervised, launch } = setup;
    let mut model = Model::new(making.clone(), themes.first, by, clock.now());
    model.guide = guide;
    let (news, told) = mpsc::channel(QUEUE);
    let (mut arrivals, mut wishes, mut drawn) = (None, None, None);
    if let Some(launch) = launch {
        model.start = Startup::new(clock.now());
        model.searching = true;
        (arrivals, wishes, drawn) = (Some(launch.arrivals), Some(launch.wishes), Some(launch.drawn));
    }
    let mut behind = BackgroundWork::new(making, news.clone());
    if let Some(supervised) = supervised {
        behind.begin(supervised);
    }
    let ended = {
        let mut terminal = Terminal::take()?;
        let size = terminal.size()?;
        (model.width, model.height) = (size.width, size.height);
        let hold = arrivals.is_some().then(|| Instant::now() + FIRST_FRAME);
        let mut screen = ScreenLoop {
            model,
            dirty: true,
            drawn: None,
            hold,
            remembered: usize::MAX,
            wishes,
            news,
            editing: None,
            end: None,
        };
        let mut panicked = Box::pin(terminal.panicked());
        let mut keyboard = Keyboard::read()?;
        let mut sources = ScreenWakeups { arrivals, told };
        let mut listening = themes.by_background.map(|_| BackgroundReplyParser::default());
        let mut finding = std::pin::pin!(finding);
        let mut found = false;
        let mut interrupted = std::pin::pin!(interrupted);
        screen.take(Message::Board(BoardRows::default()), &behind);
        let mut alarm = Alarm::new()?;
        let mut ticked = Instant::now();
        loop {
            if let Some(end) = screen.end {
                break Ok(end);
            }
            if let Some(text) = screen.editing.take() {
                // The editor gets the terminal as it was, and all of the keyboard.
                drop(terminal);
                keyboard.stop().await;
                let edited = tokio::select! {
                    edited = editor::edit(&text) => edited,
                    () = &mut interrupted => break Ok(TerminalEnd::Quit),
                };
                terminal = Terminal::take()?;
                panicked = Box::pin(terminal.panicked());
                keyboard = Keyboard::read()?;
                let size = terminal.size()?;
                screen.take(Message::Resized { width: size.width, height: size.height }, &behind);
                screen.take(Message::Edited(edited), &behind);
            }
            let tick = screen.model.counts().then(|| ticked + tick);
            let wake = [screen.dirty.then(|| screen.due()), tick].into_iter().flatten().min();
            tokio::select! {
                biased;
                () = &mut panicked => break Ok(TerminalEnd::Panicked),
                () = &mut interrupted => break Ok(TerminalEnd::Quit),
                () = alarm.until(wake.unwrap_or(ticked)), if wake.is_some() => {
                    if tick.is_some_and(|tick| tick <= Instant::now()) {
                        ticked = Instant::now();
                        screen.take(Message::Tick(clock.now()), &behind);
                    }
                    if screen.due() > Instant::now() {
                        continue;
                    }
                    if let Err(error) = screen.draw(&mut terminal) {
                        break unless_gone(error);
                    }
                    if let Some(drawn) = drawn.take() {
                        // Nobody may wait for it.
                        let _gone = drawn.send(());
                        if let Some(error) = ask_for_background(listening.is_some()) {
                            break unless_gone(error);
                        }
                    }
                }
                event = keyboard.next() => match event {
                    Some(Ok(event)) => match (event, &mut listening, themes.by_background) {
                        (Event::Key(key), Some(ear), Some((dark, light))) => match ear.hear(key) {
                            ParsedKey::Nothing => {}
                            ParsedKey::Keys(keys) => {
                                for key in keys {
                                    screen.event(Event::Key(key), &behind);
                                }
                            }
                            ParsedKey::Answer(answer) => {
                                let theme = if answer == Some(Background::Light) { light } else { dark };
                                screen.take(Message::Theme(theme), &behind);
                            }
                        },
                        (event, ..) => screen.event(event, &behind),
                    },
                    Some(Err(error)) => break Err(error),
                    // Nobody can type any more: the terminal is gone.
                    None => break Ok(TerminalEnd::Quit),
                },
                outcome = &mut finding, if !found => {
                    found = true;
                    screen.take(Message::Found(told_by(outcome)), &behind);
                }
                arrival = arriving(&mut sources.arrivals) => match arrival {
                    Some(StartupEvent::Supervised { supervised, remembered }) => {
                        behind.begin(*supervised);
                        screen.expect(remembered);
                    }
                    Some(StartupEvent::Found(outcome)) => screen.take(Message::Found(outcome), &behind),
                    Some(StartupEvent::News(news)) => screen.take(Message::Start(news), &behind),
                    None => sources.arrivals = None,
                },
                seen = behind.changed() => {
                    screen.take(Message::Tick(clock.now()), &behind);
                    screen.take(Message::Board(seen), &behind);
                }
                Some(message) = sources.told.recv() => screen.take(message, &behind),
            }
        }
    };
    // The terminal is given back by now: whoever left does not see the rest.
    let _cut_off = timeout(LEAVING, behind.end()).await;
    ended
}

/// What a future outside has found, in the words of the model.
fn told_by(outcome: DiscoveryResult) -> Result<startup::DiscoveredPullRequests, Failure> {
    match outcome {
        Ok(pull_requests) => Ok(startup::DiscoveredPullRequests {
            pull_requests,
            ..startup::DiscoveredPullRequests::default()
        }),
        Err(why) => Err(Failure::usage(why)),
    }
}

/// Whoever closes a terminal leaves, and nothing has failed.
fn unless_gone(error: io::Error) -> io::Result<TerminalEnd> {
    #[cfg(unix)]
    let is_gone = error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error());
    #[cfg(not(unix))]
    let is_gone = error.kind() == io::ErrorKind::BrokenPipe;
    if is_gone { Ok(TerminalEnd::Quit) } else { Err(error) }
}

/// Only after the first frame, and only where the answer matters and the terminal can be asked.
fn ask_for_background(matters: bool) -> Option<io::Error> {
    let term = std::env::var("TERM").ok();
    (matters && keyboard::can_be_asked(term.as_deref()))
        .then(|| keyboard::ask_for_background(&mut stdout()).err())
        .flatten()
}

/// What wakes the screen beside the person and the supervisor.
struct ScreenWakeups {
    arrivals: Option<mpsc::Receiver<StartupEvent>>,
    told: mpsc::Receiver<Message>,
}

async fn arriving(arrivals: &mut Option<mpsc::Receiver<StartupEvent>>) -> Option<StartupEvent> {
    match arrivals {
        Some(arrivals) => arrivals.recv().await,
        None => std::future::pending().await,
    }
}

struct ScreenLoop {
    model: Model,
    dirty: bool,
    drawn: Option<Instant>,
    /// The first frame waits until then, or until what was seen before is there.
    hold: Option<Instant>,
    remembered: usize,
    wishes: Option<mpsc::UnboundedSender<StartupRequest>>,
    news: mpsc::Sender<Message>,
    /// A text that is to be edited with the person's own editor.
    editing: Option<String>,
    end: Option<TerminalEnd>,
}

impl ScreenLoop {
    /// When the next frame may be drawn: at once after a pause, so that a key is answered without delay.
    fn due(&self) -> Instant {
        self.hold.or_else(|| self.drawn.map(|drawn| drawn + FRAME)).unwrap_or_else(Instant::now)
    }

    fn draw(&mut self, terminal: &mut Terminal) -> io::Result<()> {
        terminal.draw(|frame| draw(frame, &self.model))?;
        // A first frame that had nothing to show does not keep what comes up from being shown at once.
        self.drawn = self.hold.is_none().then(Instant::now);
        self.dirty = false;
        self.hold = None;
        Ok(())
    }

    /// So many pull requests are worth the first frame's waiting for them.
    fn expect(&mut self, remembered: usize) {
        self.remembered = remembered;
    }

    fn event(&mut self, event: Event, behind: &BackgroundWork) {
        match event {
            Event::Key(key) => self.take(Message::Key(key), behind),
            Event::Mouse(mouse) => self.take(Message::Mouse(mouse), behind),
            Event::Paste(text) => self.take(Message::Pasted(text), behind),
            Event::Resize(width, height) => self.take(Message::Resized { width, height }, behind),
            Event::FocusGained | Event::FocusLost => {}
        }
    }

    fn take(&mut self, message: Message, behind: &BackgroundWork) {
        self.dirty = true;
        // Whoever does something sees at once what it does; a mouse that is dragged does more than can be seen.
        let typed = matches!(message, Message::Key(_) | Message::Pasted(_));
        let by_person = matches!(message, Message::Key(_) | Message::Mouse(_) | Message::Pasted(_));
        for effect in update(&mut self.model, message) {
            self.perform(effect, behind);
        }
        if by_person
            || self.model.pulls.len() >= self.remembered
            || self.model.screen == super::Screen::FirstRun
        {
            self.hold = None;
        }
        if typed {
            self.drawn = None;
        }
    }

    fn wish(&self, wish: StartupRequest) {
        if let Some(wishes) = &self.wishes {
            // Whoever started everything has ended: there is nothing to wish for.
            let _ended = wishes.send(wish);
        }
    }

    fn perform(&mut self, effect: Effect, behind: &BackgroundWork) {
        match effect {
            Effect::Quit => self.end = Some(TerminalEnd::Quit),
            Effect::PlayDemo => self.end = Some(TerminalEnd::PlayDemo),
            Effect::CopyToClipboard(text) => {
                if let Err(error) = execute!(stdout(), CopyToClipboard::to_clipboard_from(text)) {
                    self.model.notice = Some(format!("it could not be copied: {error}"));
                }
            }
            Effect::Ring(bytes) => {
                let mut terminal = stdout();
                if let Err(error) = terminal.write_all(&bytes).and_then(|()| terminal.flush()) {
                    self.model.notice = Some(format!("no notification was shown: {error}"));
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
            Effect::LookAgain => self.wish(StartupRequest::LookAgain),
            Effect::WriteConfiguration => self.wish(StartupRequest::WriteConfiguration),
            Effect::Edit(text) => self.editing = Some(text),
            Effect::Tell(..)
            | Effect::Track(_)
            | Effect::Forget(_)
            | Effect::Propose { .. }
            | Effect::CarryOut(_)
            | Effect::FindWaysOut { .. } => behind.order(effect),
        }
    }
}
