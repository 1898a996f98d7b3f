//! The terminal: what a person sees of the loops, and how they are told what to do.
//!
//! Pure in the middle: a [`Model`] takes a [`Message`] in and says what is to be done as [`Effect`]s; [`draw`] makes a
//! screen of it. Only `driver`, and what works for it (`terminal`,
//! `keyboard`, `editor`, `background`), touches the terminal, the supervisor, the journal and the desktop.
//!
//! Reading order: `model`, `update`, `view`; `rows` is what the board amounts to, cleaned for a terminal; `action`,
//! `keymap` and `theme` are what can be configured. What is absent: nothing here waits for the network, and nothing is
//! told to a loop that writes or spends without a question first.

pub mod action;
mod alarm;
mod background;
pub mod dialog;
mod driver;
mod editor;
mod guide;
mod highlight;
mod keyboard;
mod keymap;
mod list_cache;
mod markdown;
mod message;
mod model;
pub mod rows;
pub mod startup;
pub mod svg;
mod terminal;
mod text;
mod theme;
mod thread_reading;
mod update;
mod view;

pub use dialog::Overlay;
pub use driver::{
    DiscoveryResult, LaunchChannels, StartupEvent, StartupRequest, SupervisorHandles, TerminalEnd,
    TerminalSetup, run,
};
pub use guide::Guide;
pub use message::{Effect, Message};
pub use model::{ListScreen, Model, Pane, Screen};
pub use theme::{Theme, Themes};
pub use update::update;
pub use view::draw;
