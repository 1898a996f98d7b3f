//! What lies on top of a screen and takes the keys: a filter, a palette, a question, a text that is being written.

use super::message::Effect;
use crate::github::PullRequestAddress;
use crate::supervisor::people::request_handler::{PersonRequest, Proposal};

#[derive(Debug, Clone, PartialEq)]
pub enum Overlay {
    None,
    /// The filter of the list is being typed.
    Filter,
    Palette {
        query: String,
        selected: usize,
    },
    Help {
        scroll: usize,
    },
    /// What an order comes to is being worked out.
    Working {
        what: String,
    },
    Ask(Confirmation),
    Write(TextPrompt),
    Menu(Menu),
}

/// What will be done, in words, before it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Confirmation {
    pub title: String,
    pub sentences: Vec<String>,
    /// What would be posted, to the letter.
    pub texts: Vec<String>,
    pub scroll: usize,
    pub then: ConfirmedAction,
}

/// What somebody agrees to.
#[derive(Debug, Clone, PartialEq)]
pub enum ConfirmedAction {
    Effect(Effect),
    Proposal(Box<Proposal>),
}

/// A text that is being written; the text itself is in the model's text area.
#[derive(Debug, Clone, PartialEq)]
pub struct TextPrompt {
    pub title: String,
    /// What is done with the text.
    pub sentences: Vec<String>,
    /// A text of several lines, in which return begins a new one.
    pub long: bool,
    pub then: TextPurpose,
}

/// What a text is for.
#[derive(Debug, Clone, PartialEq)]
pub enum TextPurpose {
    /// It becomes the order's reason.
    Order(PersonRequest),
    /// Why one more round is granted.
    Grant(PullRequestAddress),
}

/// A choice between a few things.
#[derive(Debug, Clone, PartialEq)]
pub struct Menu {
    pub title: String,
    pub entries: Vec<MenuEntry>,
    pub selected: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct MenuEntry {
    pub name: String,
    /// What it means, in a sentence.
    pub meaning: String,
    pub choice: MenuChoice,
}

#[derive(Debug, Clone, PartialEq)]
pub enum MenuChoice {
    Order(PersonRequest),
    /// A reason is asked for first.
    Write(TextPrompt),
    /// It cannot be done, or not from here; this says what can.
    Nothing(String),
}
