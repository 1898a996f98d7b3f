//! Interprets people's replies in review threads (R3), and recognises replies that agents wrote (R5).
//!
//! *Won't fix* and *acknowledged* close a thread if a maintainer writes them, so the reading is cautious on
//! purpose. A reply closes only if all of it could be read, it says so plainly, and nothing else in it
//! argues, asks, hedges, agrees with the finding or mentions a change: `ReplyEvidence::may_close` is the one
//! rule for every language. Everything else is a disagreement, a question, a report of a change, or
//! [`Intent::Other`]. None of these closes anything.
//!
//! Only phrase tables decide; no model is called.

use crate::domain::re_review::ReadsReplies;
use crate::domain::vocabulary::Intent;
use evidence::SentenceEvidence;
use phrases::Signal;

mod agents;
mod evidence;
mod languages;
mod phrases;
mod quotations;
mod reading;
mod sentence;

/// The phrase tables of this folder, as the domain's reader of replies.
#[derive(Debug, Clone, Copy, Default)]
pub struct PhraseTables;

impl ReadsReplies for PhraseTables {
    fn intent(&self, body: &str) -> Intent {
        classify(body)
    }

    fn is_agent_post(&self, body: &str) -> bool {
        is_agent_post(body)
    }

    fn own_lines<'a>(&self, body: &'a str) -> Vec<&'a str> {
        own_lines(body)
    }
}

/// The intent of a person's reply in a review thread (R3).
pub fn classify(body: &str) -> Intent {
    let reading = reading::read(body);
    let sentences = sentence::split(&reading.lines);
    let reply = ReplyEvidence {
        sentences: sentences.into_iter().map(evidence::weigh).collect(),
        whole: reading.whole,
    };
    reply.intent()
}

/// R5: whether the reply carries a coding agent's marker, whatever the login. Cloture's own hidden marker is
/// one.
pub fn is_agent_post(body: &str) -> bool {
    reading::read(body).signed_by_agent
}

/// The source lines that are nothing but the person's own plain words. Commands count only there (R7).
pub fn own_lines(body: &str) -> Vec<&str> {
    quotations::own_lines(body)
}

/// How many unknown words may follow "no action needed". With more, it could be a polite objection.
const MOST_UNEXPLAINED_AT_REST: usize = 2;
/// The same after "the order is intentional", which a reason may follow. A longer reason is an argument.
const MOST_UNEXPLAINED_AFTER_INTENDED: usize = 12;
/// "Addressed — by design" is a refusal. In a longer sentence, "addressed" reports a change.
const LONGEST_BARE_REFUSAL: usize = 8;
/// A shorter statement is too short for an argument.
const SHORTEST_ARGUMENT: usize = 5;

/// From this many words on, plain facts count as an argument.
const SHORTEST_STATEMENT: usize = 11;

/// Signals that keep a thread open, whatever else the reply says.
const KEEPS_OPEN: [Signal; 6] =
    [Signal::Agrees, Signal::Credits, Signal::Changes, Signal::Conditions, Signal::Wavers, Signal::Withholds];
/// Signals that move a promised change out of this pull request.
const ELSEWHERE: [Signal; 3] = [Signal::Defers, Signal::DefersRest, Signal::Later];

/// Signals that prevent "this is intended" from closing the thread.
const OBJECTIONS: [Signal; 3] = [Signal::Argues, Signal::Denies, Signal::Settled];

struct ReplyEvidence {
    sentences: Vec<SentenceEvidence>,
    whole: bool,
}

impl ReplyEvidence {
    fn intent(&self) -> Intent {
        let fixed = self.first(Signal::Fixed);
        let disputed = self.first(Signal::Disputes);
        let asked = self.first(Signal::Asks);

        // A report of a change counts unless the reply began with an objection.
        let reported = fixed.filter(|at| disputed.is_none_or(|other| *at <= other));
        if let Some(asked) = asked {
            return match (reported, disputed) {
                (Some(at), _) if at < asked => Intent::Fixed,
                (_, Some(_)) => Intent::Disagree,
                _ => Intent::Question,
            };
        }
        if disputed.is_some() {
            return if reported.is_some() { Intent::Fixed } else { Intent::Disagree };
        }
        if let Some(closing) = self.closing(fixed)
            && self.may_close()
        {
            return closing;
        }
        self.intent_that_stays_open(fixed)
    }

    /// R3: whether closing words in this reply count. All of the reply must have been read, and nothing in it
    /// may take the words back, set a condition, agree with the finding or mention a change here.
    fn may_close(&self) -> bool {
        let takes_back = |sentence: &SentenceEvidence| {
            sentence.doubted || (sentence.has(Signal::Contrasts) && sentence.has(Signal::Denies))
        };
        let blocks = |sentence: &SentenceEvidence| {
            takes_back(sentence)
                || sentence.is_unknown
                || sentence.has_any(&KEEPS_OPEN)
                || (sentence.has(Signal::Promises) && !sentence.has_any(&ELSEWHERE))
        };
        self.whole && !self.sentences.iter().any(blocks)
    }

    /// The closing intent that the words express, if they do.
    fn closing(&self, fixed: Option<usize>) -> Option<Intent> {
        if self.declines(fixed) {
            return self.may_give_reasons().then_some(Intent::WontFix);
        }
        if fixed.is_some() {
            return self.says(Signal::DefersRest).then_some(Intent::Acknowledged);
        }
        let room = if self.says(Signal::Keeps) {
            self.may_give_reasons().then_some(usize::MAX)
        } else if self.says(Signal::Intends) {
            Some(MOST_UNEXPLAINED_AFTER_INTENDED)
        } else {
            self.says(Signal::Rests).then_some(MOST_UNEXPLAINED_AT_REST)
        };
        if self.says(Signal::OutOfScope) && !self.says_any(&[Signal::Keeps, Signal::Intends]) {
            return self.says_nothing_else().then_some(Intent::WontFix);
        }
        if let Some(room) = room {
            return (!self.says_any(&OBJECTIONS) && self.unexplained() <= room).then_some(Intent::WontFix);
        }
        self.takes_note().then_some(Intent::Acknowledged)
    }

    /// An explicit refusal. Next to a report it counts only in the same short sentence: "addressed —
    /// declined".
    fn declines(&self, fixed: Option<usize>) -> bool {
        let Some(fixed) = fixed else {
            return self.says(Signal::Declines);
        };
        let reported = &self.sentences[fixed];
        reported.has_any(&[Signal::Declines, Signal::Keeps, Signal::Intends])
            && reported.length <= LONGEST_BARE_REFUSAL
    }

    /// Whether the reply takes note of the remark and leaves nothing to do here.
    fn takes_note(&self) -> bool {
        let defers_in = |sentence: &SentenceEvidence| {
            sentence.has_any(&[Signal::Defers, Signal::DefersRest])
                || (sentence.has(Signal::Promises) && sentence.has(Signal::Later))
        };
        let defers = self.sentences.iter().any(defers_in);
        // "Valid, but not here: filed as …" may name any obstacle and still takes note of the remark.
        let defers_at_once = self.sentences.first().is_some_and(|sentence| sentence.has(Signal::Defers));
        if defers_at_once || (defers && self.says(Signal::Confirms)) {
            return self.may_give_reasons();
        }
        if self.says(Signal::Contrasts) || self.says_any(&OBJECTIONS) {
            return false;
        }
        let notes = self.says(Signal::Acknowledges) && !self.says_any(&[Signal::Thanks, Signal::Confirms]);
        (defers && self.may_give_reasons()) || (notes && self.says_nothing_else())
    }

    /// Whether every word is part of a known phrase, a reason or a small word. "Noted" and "out of scope" close
    /// only then: a single unknown verb could announce a change.
    fn says_nothing_else(&self) -> bool {
        self.sentences.iter().all(|sentence| sentence.unexplained_content == 0)
    }

    /// Whether a refusal may be explained at any length. The English table knows enough words for a change;
    /// in the other languages an unknown word could be one.
    fn may_give_reasons(&self) -> bool {
        let is_foreign = self.sentences.iter().any(|sentence| sentence.has_foreign_words);
        !is_foreign || self.has_english_words(10) || self.says_nothing_else()
    }

    /// The intent of a reply that does not close: a report, an argument, or unknown.
    fn intent_that_stays_open(&self, fixed: Option<usize>) -> Intent {
        if fixed.is_some() {
            return Intent::Fixed;
        }
        let argued = self.first_of(&[Signal::Argues, Signal::Rests, Signal::Keeps, Signal::Intends]);
        if let Some(settled) = self.first(Signal::Settled) {
            return if argued.is_some_and(|at| at <= settled) { Intent::Disagree } else { Intent::Fixed };
        }
        let agrees = self.says_any(&[Signal::Agrees, Signal::Credits])
            && (!self.says(Signal::Contrasts) || self.says_any(&[Signal::Declines, Signal::OutOfScope]));
        if agrees || self.says(Signal::Withholds) {
            return Intent::Other;
        }
        let will_change = self.says_any(&[Signal::Promises, Signal::Changes]);
        let brings_evidence = self.says(Signal::Argues) || (argued.is_some() && !will_change);
        let objects = self.says_any(&[Signal::Contrasts, Signal::Denies, Signal::Explains]);
        let is_argument = objects && self.length() >= SHORTEST_ARGUMENT && !self.says(Signal::Promises);
        if (brings_evidence && self.whole) || is_argument {
            return Intent::Disagree;
        }
        let talks_past = self.says(Signal::Acknowledges)
            && self.has_english_words(10)
            && self.unexplained() > MOST_UNEXPLAINED_AT_REST;
        if (talks_past || self.is_statement()) && !will_change {
            return Intent::Disagree;
        }
        Intent::Other
    }

    /// English prose of some length that reports, promises and asks nothing. A person who answers a remark
    /// with facts is arguing, and the reviewer should read them.
    fn is_statement(&self) -> bool {
        self.whole && self.length() >= SHORTEST_STATEMENT && self.has_english_words(5)
    }

    /// Whether one word in `at_most` is a small English one. Prose has more of them than names and numbers.
    fn has_english_words(&self, at_most: usize) -> bool {
        let small_words: usize = self.sentences.iter().map(|sentence| sentence.small_words).sum();
        small_words * at_most >= self.length()
    }

    fn first(&self, signal: Signal) -> Option<usize> {
        self.sentences.iter().position(|sentence| sentence.has(signal))
    }

    fn first_of(&self, signals: &[Signal]) -> Option<usize> {
        self.sentences.iter().position(|sentence| sentence.has_any(signals))
    }

    fn says(&self, signal: Signal) -> bool {
        self.first(signal).is_some()
    }

    fn says_any(&self, signals: &[Signal]) -> bool {
        self.first_of(signals).is_some()
    }

    fn unexplained(&self) -> usize {
        self.sentences.iter().map(|sentence| sentence.unexplained).sum()
    }

    fn length(&self) -> usize {
        self.sentences.iter().map(|sentence| sentence.length).sum()
    }
}
