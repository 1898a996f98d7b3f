//! One thread in full: what was said, by whom in which role, and the code it is about.

use super::{Making, account, line};
use crate::clean;
use crate::domain::intent;
use crate::domain::observed::is_person;
use crate::domain::snapshot::{PullRequestSnapshot, ThreadComment};
use crate::domain::vocabulary::{Intent, ThreadId};
use crate::supervisor::View;
use jiff::Timestamp;

/// What a thread's own screen shows beyond its row.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The diff hunk, a line each.
    pub hunk: Vec<String>,
    pub said: Vec<Said>,
}

#[derive(Debug, Clone)]
pub struct Said {
    pub who: String,
    pub role: &'static str,
    /// How a person's reply was understood (R3).
    pub intent: Option<&'static str>,
    pub at: Option<Timestamp>,
    /// Markdown, safe for a terminal.
    pub body: String,
    pub minimized: bool,
}

/// None where the thread is not there any more.
pub fn page(view: &View, id: &ThreadId, making: &Making) -> Option<Page> {
    let standing = view.standing.as_deref()?;
    let snapshot = &standing.snapshot;
    let seen = match standing.thread(id) {
        // A driven reviewer's finding that has no thread on the forge: its own words are all there is.
        Some(shown) if shown.on_forge.is_none() => {
            let finding = &shown.thread.finding;
            let said = Said {
                who: line(shown.thread.reviewer.as_str()),
                role: "reviewer",
                intent: None,
                at: None,
                body: clean::block(&finding.body),
                minimized: false,
            };
            return Some(Page { hunk: Vec::new(), said: vec![said] });
        }
        Some(shown) => shown.on_forge?,
        None => snapshot.threads.iter().find(|seen| seen.id == *id)?,
    };
    let mut comments: Vec<&ThreadComment> = seen.comments.iter().filter(|comment| !comment.pending).collect();
    comments.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
    let hunk = comments.first().map(|first| hunk(first)).unwrap_or_default();
    let said = comments.iter().map(|comment| said(comment, snapshot, making)).collect();
    Some(Page { hunk, said })
}

fn said(comment: &ThreadComment, snapshot: &PullRequestSnapshot, making: &Making) -> Said {
    let author = comment.author.as_ref();
    let is_reviewer = author.is_some_and(|author| making.reads.reviewer(author, &comment.body).is_some());
    let by_agent = intent::is_agent_post(&comment.body);
    let by_person = author.is_some_and(is_person) && !by_agent && !comment.written_by_us;
    let role = if comment.written_by_us {
        "Cloture"
    } else if is_reviewer {
        "reviewer"
    } else if by_agent {
        "agent"
    } else if author.is_some() && author.map(|a| &a.login) == snapshot.author.as_ref().map(|a| &a.login) {
        "author"
    } else if by_person && comment.association.may_override() {
        "may override"
    } else if by_person {
        "person"
    } else {
        "bot"
    };
    let intent = (by_person && !is_reviewer).then(|| intent::classify(&comment.body));
    Said {
        who: account(author),
        role,
        intent: intent.filter(|intent| *intent != Intent::Other).map(in_words),
        at: Some(comment.created_at),
        body: clean::block(&comment.body),
        minimized: comment.minimized.is_some(),
    }
}

fn in_words(intent: Intent) -> &'static str {
    match intent {
        Intent::WontFix => "won't fix",
        Intent::Acknowledged => "acknowledged",
        Intent::Disagree => "disagrees",
        Intent::Fixed => "says it is fixed",
        Intent::Question => "asks",
        Intent::Other => "",
    }
}

/// Tabs take the columns that code usually gives them, as a terminal cell cannot hold one.
fn hunk(first: &ThreadComment) -> Vec<String> {
    clean::block(&first.diff_hunk).lines().map(|text| text.replace('\t', "    ")).collect()
}
