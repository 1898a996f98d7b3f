//! The phrase tables, one per language. All of them are tried on every sentence: people mix languages, and a
//! guess at the language would be one more thing to get wrong.
//!
//! A table lists, for each [`Signal`], phrases in the notation of [`super::phrases`]. What is here closes
//! threads, so the rows for [`Signal::Declines`] and [`Signal::Agrees`] hold whole expressions that a person
//! uses about a remark, never words that also describe code: a value *goes out of scope*, a message *is
//! acknowledged*, a retry *won't fix* a race.

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

/// For each signal its phrases, separated by semicolons.
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
