//! What comes in and what goes out, both as data: a test can make the one and read the other.

use super::rows::BoardRows;
use super::startup::{DiscoveredPullRequests, StartupNews};
use super::theme::Theme;
use crate::failure::Failure;
use crate::github::{PullRequestAddress, PullRequestRef};
use crate::journal::Record;
use crate::supervisor::LoopCommand;
use crate::supervisor::handoffs::DecidedTask;
use crate::supervisor::people::WayOut;
use crate::supervisor::people::request_handler::{PersonRequest, Proposal, RequestOutcome};
use crossterm::event::{KeyEvent, MouseEvent};
use jiff::Timestamp;

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
    Board(BoardRows),
    Records(Vec<Record>),
    JournalTrouble(String),
    /// Every task that a merge decided, be it of a pull request that nobody watches any more.
    HandedOff(Vec<DecidedTask>),

    // The start
    /// Which pull requests are meant, or why that is not known.
    Found(Result<DiscoveredPullRequests, Failure>),
    Start(StartupNews),
    /// The terminal has said how its background is.
    Theme(Theme),

    // The desk
    /// What an order would come to, or why nothing comes of it.
    Proposed {
        ticket: u32,
        proposal: Result<Box<Proposal>, String>,
    },
    Became(Result<Box<RequestOutcome>, String>),
    /// Everything that can be done about a whole pull request.
    WaysOut {
        ticket: u32,
        address: PullRequestAddress,
        ways: Result<Vec<WayOut>, String>,
    },
    /// What the person's own editor left; none where nothing was saved.
    Edited(Result<String, String>),

    /// What the terminal is to print because a thread starts to wait for a person.
    Ring(Vec<u8>),

    // The clock
    Tick(Timestamp),

    /// Something that was to be done was done, or was not: a sentence.
    Told(String),
}

/// What is to be done outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    // Towards the supervisor
    Tell(PullRequestAddress, LoopCommand),
    Track(Vec<PullRequestRef>),
    Forget(PullRequestAddress),

    // Towards the desk
    Propose {
        ticket: u32,
        order: PersonRequest,
    },
    CarryOut(Box<Proposal>),
    FindWaysOut {
        ticket: u32,
        address: PullRequestAddress,
    },

    // Towards the desktop
    /// The text is to be edited with the person's own editor.
    Edit(String),
    OpenInBrowser(String),
    CopyToClipboard(String),
    /// These bytes ring the terminal's bell, or let it show a notification.
    Ring(Vec<u8>),

    // Towards whoever started it
    /// What failed at the start is to be tried again.
    LookAgain,
    /// The proposed configuration is to be written, and to be in force.
    WriteConfiguration,
    PlayDemo,
    Quit,
}
