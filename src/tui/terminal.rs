//! Takes over the terminal and restores it exactly once: on drop, or before a panic on any thread prints its
//! message.

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

/// Buffered, so that a frame reaches the terminal in few pieces.
type TerminalOutput = BufWriter<Stdout>;

/// Larger than a big screen with every cell in another colour.
const BUFFER: usize = 256 * 1024;

pub(super) struct Terminal {
    /// Never dropped: dropping it shows the cursor, and panics if the terminal is gone.
    /// [`TerminalState::restore`] does all of the cleanup.
    screen: ManuallyDrop<ratatui::Terminal<CrosstermBackend<TerminalOutput>>>,
    previous_hook: PanicHook,
    shared: Arc<TerminalState>,
}

#[derive(Debug, Default)]
struct TerminalState {
    ours: AtomicBool,
    panicked: Notify,
}

impl Terminal {
    pub(super) fn take() -> io::Result<Terminal> {
        let previous_hook: PanicHook = Arc::from(std::panic::take_hook());
        let shared = Arc::new(TerminalState { ours: AtomicBool::new(true), panicked: Notify::new() });
        let (hook, at_panic) = (Arc::clone(&previous_hook), Arc::clone(&shared));
        std::panic::set_hook(Box::new(move |panic| {
            at_panic.restore();
            hook(panic);
            at_panic.panicked.notify_one();
        }));
        let made = enable_raw_mode().and_then(|()| {
            execute!(stdout(), EnterAlternateScreen, EnableMouseCapture, EnableBracketedPaste)?;
            ratatui::Terminal::new(CrosstermBackend::new(BufWriter::with_capacity(BUFFER, stdout())))
        });
        match made {
            Ok(screen) => Ok(Terminal { screen: ManuallyDrop::new(screen), previous_hook, shared }),
            Err(error) => {
                shared.restore();
                Err(error)
            }
        }
    }

    /// Draws a frame as one synchronized update, if the terminal supports it.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        queue!(self.screen.backend_mut(), BeginSynchronizedUpdate)?;
        let drawn = self.screen.draw(draw).map(|_| ());
        // Also after a failed frame, or the terminal would freeze.
        queue!(self.screen.backend_mut(), EndSynchronizedUpdate)?;
        self.screen.backend_mut().flush()?;
        drawn
    }

    pub(super) fn size(&self) -> io::Result<Size> {
        self.screen.size()
    }

    /// Completes when any thread of this process has panicked and the terminal is restored.
    pub(super) fn panicked(&self) -> impl Future<Output = ()> + use<> {
        let shared = Arc::clone(&self.shared);
        async move { shared.panicked.notified().await }
    }
}

impl TerminalState {
    /// Restores the terminal. Errors are ignored, because there is nowhere to report them.
    fn restore(&self) {
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
        self.shared.restore();
        if !std::thread::panicking() {
            let hook = Arc::clone(&self.previous_hook);
            std::panic::set_hook(Box::new(move |panic| hook(panic)));
        }
    }
}
