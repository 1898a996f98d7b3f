//! What comes in and what goes out, both as data: a test can make the one and read the other.

use crate::github::PullRequestAddress;
use crate::journal::Record;
use crate::supervisor::{Board, Command};
use crossterm::event::{KeyEvent, MouseEvent};
use jiff::Timestamp;
use std::sync::Arc;

/// Everything that can change what is shown.
#[derive(Debug, Clone)]
pub enum Message {
    // The person
    Key(KeyEvent),
    Mouse(MouseEvent),
    Pasted(String),
    Resized {
        width: u16,
        height: u16,
    },

    // The supervisor and the journal
    Board(Arc<Board>),
    Records(Vec<Record>),
    JournalTrouble(String),
    /// Which pull requests are meant, or why none are.
    Found(Result<Vec<(PullRequestAddress, Option<String>)>, String>),

    // The clock
    Tick(Timestamp),

    /// Something that was to be done was done, or was not: a sentence.
    Told(String),
}

/// What is to be done outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    // Towards the supervisor
    Tell(PullRequestAddress, Command),
    Track(Vec<(PullRequestAddress, Option<String>)>),

    // Towards the desktop
    OpenInBrowser(String),
    CopyToClipboard(String),

    // Towards whoever started it
    PlayDemo,
    Quit,
}
