//! The terminal: it shows the loops and takes the person's commands.
//!
//! The middle is pure: [`update()`] applies a [`Message`] to the [`Model`] and returns [`Effect`]s, and
//! [`draw`] draws the model. Only `driver` and its helpers (`terminal`, `keyboard`, `editor`, `alarm`,
//! `background`) touch the terminal, the supervisor, the journal and the desktop.
//!
//! Reading order: `model`, `update`, `view`. `rows` turns the board into rows that are safe for a terminal;
//! `action`, `keymap` and `theme` are configurable. Nothing here waits for the network, and no command writes
//! or spends without asking first.

pub mod action;
mod alarm;
mod background;
mod browser;
pub mod dialog;
mod driver;
mod editor;
mod guide;
mod highlight;
mod keyboard;
mod keymap;
mod markdown;
mod message;
mod model;
pub mod rows;
pub mod startup;
mod suspension;
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
