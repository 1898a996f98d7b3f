//! The terminal while it is ours. It is given back once: when this is dropped, or before a panic says its last words, be it
//! on another thread.

use crossterm::cursor::Show;
use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::execute;
use crossterm::queue;
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use ratatui::Frame;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Size;
use std::io::{self, BufWriter, Stdout, Write, stdout};
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;

type PanicHook = Arc<dyn Fn(&std::panic::PanicHookInfo<'_>) + Send + Sync>;

/// A frame reaches the terminal in as few pieces as it can.
type TerminalOutput = BufWriter<Stdout>;

/// More than a large screen's every cell in its own colour.
const BUFFER: usize = 256 * 1024;

pub(super) struct Terminal {
    /// Never dropped: it would show the cursor once more and, where the terminal is gone and its error stream with it, panic
    /// because it cannot say that this failed. [`TerminalState::give_back`] does all there is to do.
    screen: ManuallyDrop<ratatui::Terminal<CrosstermBackend<TerminalOutput>>>,
    before: PanicHook,
    shared: Arc<TerminalState>,
}

#[derive(Debug, Default)]
struct TerminalState {
    ours: AtomicBool,
    panicked: Notify,
}

impl Terminal {
    pub(super) fn take() -> io::Result<Terminal> {
        let before: PanicHook = Arc::from(std::panic::take_hook());
        let shared = Arc::new(TerminalState { ours: AtomicBool::new(true), panicked: Notify::new() });
        let (hook, at_panic) = (Arc::clone(&before), Arc::clone(&shared));
        std::panic::set_hook(Box::new(move |panic| {
            at_panic.give_back();
            hook(panic);
            at_panic.panicked.notify_one();
        }));
        let made = enable_raw_mode().and_then(|()| {
            execute!(stdout(), EnterAlternateScreen, EnableMouseCapture, EnableBracketedPaste)?;
            ratatui::Terminal::new(CrosstermBackend::new(BufWriter::with_capacity(BUFFER, stdout())))
        });
        match made {
            Ok(screen) => Ok(Terminal { screen: ManuallyDrop::new(screen), before, shared }),
            Err(error) => {
                shared.give_back();
                Err(error)
            }
        }
    }

    /// Draws a frame, which a terminal that can do so shows as a whole or not at all.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        queue!(self.screen.backend_mut(), BeginSynchronizedUpdate)?;
        let drawn = self.screen.draw(draw).map(|_| ());
        // A frame that failed half-way must not freeze the terminal.
        queue!(self.screen.backend_mut(), EndSynchronizedUpdate)?;
        self.screen.backend_mut().flush()?;
        drawn
    }

    pub(super) fn size(&self) -> io::Result<Size> {
        self.screen.size()
    }

    /// Completes when anything in this process has panicked: the terminal is not ours any more.
    pub(super) fn panicked(&self) -> impl Future<Output = ()> + use<> {
        let shared = Arc::clone(&self.shared);
        async move { shared.panicked.notified().await }
    }
}

impl TerminalState {
    /// Undoes everything, each part even where another fails: nobody is left to tell.
    fn give_back(&self) {
        if self.ours.swap(false, Ordering::SeqCst) {
            let _closed = execute!(
                stdout(),
                EndSynchronizedUpdate,
                DisableBracketedPaste,
                DisableMouseCapture,
                LeaveAlternateScreen,
                Show
            );
            let _closed = disable_raw_mode();
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.shared.give_back();
        if !std::thread::panicking() {
            let before = Arc::clone(&self.before);
            std::panic::set_hook(Box::new(move |panic| before(panic)));
        }
    }
}
