//! Overlays: each lies on top of a screen and takes the keys.

use super::message::Effect;
use crate::github::PullRequestAddress;
use crate::supervisor::people::request_handler::{PersonRequest, Proposal};

#[derive(Debug, Clone, PartialEq)]
pub enum Overlay {
    None,
    /// The person types the filter of the list.
    Filter,
    Palette {
        query: String,
        selected: usize,
    },
    Help {
        scroll: usize,
    },
    /// The request handler works on a proposal.
    Working {
        what: String,
    },
    Ask(Confirmation),
    Write(TextPrompt),
    Menu(Menu),
}

/// A question that says exactly what will be done.
#[derive(Debug, Clone, PartialEq)]
pub struct Confirmation {
    pub title: String,
    pub sentences: Vec<String>,
    /// The posts, word for word.
    pub texts: Vec<String>,
    pub scroll: usize,
    pub then: ConfirmedAction,
}

/// What a yes starts.
#[derive(Debug, Clone, PartialEq)]
pub enum ConfirmedAction {
    Effect(Effect),
    Proposal(Box<Proposal>),
}

/// A prompt for a text. The text itself is in `super::model::Dialog`.
#[derive(Debug, Clone, PartialEq)]
pub struct TextPrompt {
    pub title: String,
    /// What will happen with the text.
    pub sentences: Vec<String>,
    /// In a long text, return starts a new line.
    pub long: bool,
    pub then: TextPurpose,
}

#[derive(Debug, Clone, PartialEq)]
pub enum TextPurpose {
    /// The reason of a request, or the text of a reply.
    Reason(PersonRequest),
    /// The reason for granting one more round.
    Grant(PullRequestAddress),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Menu {
    pub title: String,
    pub entries: Vec<MenuEntry>,
    pub selected: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct MenuEntry {
    pub name: String,
    /// One sentence that explains the entry.
    pub meaning: String,
    pub choice: MenuChoice,
}

#[derive(Debug, Clone, PartialEq)]
pub enum MenuChoice {
    Request(PersonRequest),
    /// Asks for a reason first.
    Write(TextPrompt),
    /// Not possible, or not from here; the sentence says why.
    Nothing(String),
}
