//! Helpers that several test modules share.

pub(crate) mod coverage;
pub(crate) mod dice;
pub(crate) mod driven;
pub(crate) mod folder;
pub(crate) mod forge;
pub(crate) mod gone;
pub(crate) mod harness;
pub(crate) mod here;
pub(crate) mod places;
pub(crate) mod program;
pub(crate) mod pty;
pub(crate) mod schema;
pub(crate) mod simulated;
pub(crate) mod verbs;
