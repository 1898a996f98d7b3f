//! Messages in and effects out, both as data: a test can make the one and read the other.

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
    /// Every task that a merge started, also for pull requests that are no longer watched.
    HandedOff(Vec<DecidedTask>),

    // The start
    /// The pull requests to watch, or why the search failed.
    Found(Result<DiscoveredPullRequests, Failure>),
    Start(StartupNews),
    /// The theme that fits the terminal's background, once the terminal has reported it.
    Theme(Theme),

    // The request handler
    /// What a request would do, or why it cannot be done.
    Proposed {
        ticket: u32,
        proposal: Result<Box<Proposal>, String>,
    },
    RequestFinished(Result<Box<RequestOutcome>, String>),
    /// The ways out of a pull request's loop.
    WaysOut {
        ticket: u32,
        address: PullRequestAddress,
        ways: Result<Vec<WayOut>, String>,
    },
    /// The text from the person's editor, or why there is none.
    Edited(Result<String, String>),

    /// Bytes for the terminal, because a thread starts to wait for a person.
    Ring(Vec<u8>),

    // The clock
    Tick(Timestamp),

    /// One sentence for the person.
    Notice(String),
}

/// What the driver has to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    // For the supervisor
    Tell(PullRequestAddress, LoopCommand),
    Track(Vec<PullRequestRef>),
    Forget(PullRequestAddress),

    // For the request handler
    Propose {
        ticket: u32,
        request: PersonRequest,
    },
    CarryOut(Box<Proposal>),
    FindWaysOut {
        ticket: u32,
        address: PullRequestAddress,
    },

    // For the desktop
    /// Open this text in the person's editor.
    Edit(String),
    OpenInBrowser(String),
    CopyToClipboard(String),
    /// Write these bytes, which ring the terminal's bell or show a notification.
    Ring(Vec<u8>),

    // For the launcher
    /// Retry the failed step of the start.
    LookAgain,
    /// Write the proposed configuration and use it.
    WriteConfiguration,
    PlayDemo,
    Quit,
}
