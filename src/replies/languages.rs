//! The phrase tables, one per language. Every sentence is compared with all of them: people mix languages,
//! and a guess at the language could be wrong.
//!
//! A table lists the phrases of each [`Signal`] in the notation of [`super::phrases`]. Some of them close
//! threads. So [`Signal::Declines`] and [`Signal::Acknowledges`] contain only expressions that people use
//! about a remark, and no words that also describe code: a value *goes out of scope*, a message *is
//! acknowledged*, a retry *won't fix* a race. [`Signal::Agrees`] and [`Signal::Changes`] keep threads open, so
//! they are broad.

use super::phrases::Signal;

mod chinese;
mod english;
mod french;
mod german;
mod japanese;
mod korean;
mod portuguese;
mod russian;
mod spanish;
mod turkish;

pub(super) use english::CHANGE_VERBS;

/// The phrases of each signal, separated by semicolons.
type PhraseTable = &'static [(Signal, &'static str)];

pub(super) const LANGUAGES: [PhraseTable; 10] = [
    english::PHRASES,
    japanese::PHRASES,
    chinese::PHRASES,
    korean::PHRASES,
    portuguese::PHRASES,
    spanish::PHRASES,
    french::PHRASES,
    german::PHRASES,
    russian::PHRASES,
    turkish::PHRASES,
];
