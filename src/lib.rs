//! Cloture supervises AI review loops on pull requests.
pub mod domain;
pub mod simulator;
