//! The terminal while it is ours. It is given back when this is dropped, and before a panic says its last words.

use crossterm::cursor::Show;
use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::execute;
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::backend::CrosstermBackend;
use std::io::{self, Stdout, stdout};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

type PanicHook = Arc<dyn Fn(&std::panic::PanicHookInfo<'_>) + Send + Sync>;

pub(super) struct Terminal {
    screen: ratatui::Terminal<CrosstermBackend<Stdout>>,
    before: PanicHook,
}

impl Terminal {
    pub(super) fn take() -> io::Result<Terminal> {
        let before: PanicHook = Arc::from(std::panic::take_hook());
        let hook = Arc::clone(&before);
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            hook(panic);
        }));
        enable_raw_mode()?;
        let entered = execute!(stdout(), EnterAlternateScreen, EnableMouseCapture, EnableBracketedPaste);
        let made = entered.and_then(|()| ratatui::Terminal::new(CrosstermBackend::new(stdout())));
        match made {
            Ok(screen) => Ok(Terminal { screen, before }),
            Err(error) => {
                give_back();
                Err(error)
            }
        }
    }
}

/// Undoes everything, each part even where another fails: nobody is left to tell.
fn give_back() {
    let _closed = execute!(stdout(), DisableBracketedPaste, DisableMouseCapture, LeaveAlternateScreen, Show);
    let _closed = disable_raw_mode();
}

impl Drop for Terminal {
    fn drop(&mut self) {
        give_back();
        if !std::thread::panicking() {
            let before = Arc::clone(&self.before);
            std::panic::set_hook(Box::new(move |panic| before(panic)));
        }
    }
}

impl Deref for Terminal {
    type Target = ratatui::Terminal<CrosstermBackend<Stdout>>;

    fn deref(&self) -> &Self::Target {
        &self.screen
    }
}

impl DerefMut for Terminal {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.screen
    }
}
