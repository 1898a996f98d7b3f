//! Reading posts by the place they stand at alone.

use super::profiles::Profiles;
use crate::domain::post::{PostClass, Reading, Reads, Reported, Where};
use crate::domain::review_loop::Content;
use crate::domain::snapshot::Account;
use crate::domain::vocabulary::ReviewerName;

impl Reads for Profiles {
    fn reviewer(&self, by: &Account, _body: &str) -> Option<ReviewerName> {
        self.recognise(by).cloned()
    }

    fn read(&self, _reviewer: &ReviewerName, place: Where, body: &str) -> Reading {
        let (class, content) = match place {
            Where::ThreadRoot => (PostClass::Finding, Content::Complete),
            Where::ThreadReply => (PostClass::Reply, Content::Complete),
            Where::Review => (PostClass::Summary, Content::Complete),
            Where::Comment => (PostClass::Noise, Content::NotReady),
        };
        let findings = if place == Where::ThreadRoot { vec![Reported::untold(body)] } else { Vec::new() };
        Reading { class, findings, stance: None, content, commit: None }
    }
}
