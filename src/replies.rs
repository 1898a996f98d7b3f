//! Interprets people's replies in review threads (R3), and recognises replies that agents wrote (R5).
//!
//! *Won't fix* and *acknowledged* close a thread if a maintainer writes them, so the reading is cautious on
//! purpose. A reply closes only if all of it could be read, it says so plainly, and nothing else in it
//! argues, asks, hedges or takes it back. Everything else is a disagreement, a question, a report of a
//! change, or [`Intent::Other`]. None of these closes anything.
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

/// How many unknown words may follow "noted". With more, it could be a polite objection.
const MOST_UNEXPLAINED_AFTER_NOTED: usize = 2;
/// The same after "you're right" or "noted for later", which leave less room for an objection.
const MOST_UNEXPLAINED_AFTER_AGREED: usize = 3;
/// The same after "the order is intentional", which a reason may follow. A longer reason is an argument.
const MOST_UNEXPLAINED_AFTER_INTENDED: usize = 12;
/// "Addressed — by design" is a refusal. In a longer sentence, "addressed" reports a change.
const LONGEST_BARE_REFUSAL: usize = 8;
/// A shorter statement is too short for an argument.
const SHORTEST_ARGUMENT: usize = 5;

/// From this many words on, plain facts count as an argument.
const SHORTEST_STATEMENT: usize = 11;

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

    /// Whether all of the reply was read, and nothing in it takes the closing words back.
    fn may_close(&self) -> bool {
        let takes_back = |sentence: &SentenceEvidence| {
            sentence.doubted || (sentence.has(Signal::Contrasts) && sentence.has(Signal::Denies))
        };
        self.whole && !self.says(Signal::Withholds) && !self.sentences.iter().any(takes_back)
    }

    /// The closing intent that the words express, if they do.
    fn closing(&self, fixed: Option<usize>) -> Option<Intent> {
        if self.declines(fixed) {
            return Some(Intent::WontFix);
        }
        if let Some(at) = fixed {
            let reported = &self.sentences[at];
            return (self.says(Signal::DefersRest) && !reported.names_commit).then_some(Intent::Acknowledged);
        }
        let room = if self.says(Signal::Keeps) {
            Some(usize::MAX)
        } else if self.says(Signal::Intends) {
            Some(MOST_UNEXPLAINED_AFTER_INTENDED)
        } else {
            self.says(Signal::Rests).then_some(MOST_UNEXPLAINED_AFTER_NOTED)
        };
        if let Some(room) = room {
            return (!self.says_any(&OBJECTIONS) && self.unexplained() <= room).then_some(Intent::WontFix);
        }
        self.accepts().then_some(Intent::Acknowledged)
    }

    /// An explicit refusal. Next to a report of a change it counts if it is in the same sentence ("addressed
    /// — declined") or came first. After a named commit it is about something else.
    fn declines(&self, fixed: Option<usize>) -> bool {
        let Some(fixed) = fixed else {
            return self.says(Signal::Declines);
        };
        let reported = &self.sentences[fixed];
        let briefly_kept =
            reported.has_any(&[Signal::Keeps, Signal::Intends]) && reported.length <= LONGEST_BARE_REFUSAL;
        self.first(Signal::Declines).is_some_and(|declined| declined < fixed)
            || (!reported.names_commit && (reported.has(Signal::Declines) || briefly_kept))
    }

    /// Whether the reply accepts the remark and leaves nothing to do here.
    fn accepts(&self) -> bool {
        let agrees = self.says(Signal::Agrees);
        let welcomes = agrees || self.says(Signal::Acknowledges);
        let any = |both: [Signal; 2]| self.sentences.iter().any(|one| one.has(both[0]) && one.has(both[1]));
        let defers =
            self.says_any(&[Signal::Defers, Signal::DefersRest]) || any([Signal::Promises, Signal::Later]);
        // "Valid, but not here: filed as …" may name any obstacle and still accepts the remark.
        let defers_at_once = self.sentences.first().is_some_and(|sentence| sentence.has(Signal::Defers));
        if defers_at_once || (agrees && defers) {
            return true;
        }
        if self.says(Signal::Contrasts) || self.says_any(&OBJECTIONS) {
            return false;
        }
        if defers {
            return true;
        }
        let has_room = agrees || self.says(Signal::Later);
        let most = if has_room { MOST_UNEXPLAINED_AFTER_AGREED } else { MOST_UNEXPLAINED_AFTER_NOTED };
        welcomes && !self.says(Signal::Promises) && self.unexplained() <= most
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
        if self.says(Signal::Withholds) {
            return Intent::Other;
        }
        let objects = self.says_any(&[Signal::Contrasts, Signal::Denies, Signal::Explains]);
        let is_argument = objects && self.length() >= SHORTEST_ARGUMENT && !self.says(Signal::Promises);
        if (argued.is_some() && self.whole) || is_argument {
            return Intent::Disagree;
        }
        let talks_past = self.says(Signal::Acknowledges) && self.unexplained() > MOST_UNEXPLAINED_AFTER_NOTED;
        if (talks_past || self.is_statement()) && !self.says(Signal::Promises) {
            return Intent::Disagree;
        }
        Intent::Other
    }

    /// English prose of some length that reports, promises and asks nothing. A person who answers a remark
    /// with facts is arguing, and the reviewer should read them.
    fn is_statement(&self) -> bool {
        let small_words: usize = self.sentences.iter().map(|sentence| sentence.small_words).sum();
        self.whole && self.length() >= SHORTEST_STATEMENT && small_words * 5 >= self.length()
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
