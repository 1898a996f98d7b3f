//! One thread in full: what was said, by whom in which role, the code it is about, and what became of that since.
//!
//! A thread can have ten thousand comments, so a page only knows where everything is; a comment is cleaned and classified
//! when somebody looks at it.

use super::{RowBuilder, account, line};
use crate::domain::observed::is_person;
use crate::domain::snapshot::{DiffSide, PullRequestSnapshot, ReviewThread, ThreadComment};
use crate::domain::vocabulary::{Intent, ThreadId};
use crate::output::sanitize;
use crate::replies;
use crate::supervisor::{PullRequestView, markers};
use crate::tui::text::count;
use jiff::Timestamp;
use std::sync::Arc;

pub use changes_since::ChangesSince;
pub use code::{CodeHunk, CodeLine};

mod changes_since;
mod code;

/// What a thread's own screen shows beyond its row.
#[derive(Debug, Clone)]
pub struct ThreadScreenPage {
    view: Arc<PullRequestView>,
    place: ConversationSource,
    /// The file it is about.
    pub path: String,
    pub code: CodeHunk,
    pub since: Option<ChangesSince>,
}

/// Where its words are.
#[derive(Debug, Clone)]
enum ConversationSource {
    /// A thread of the snapshot, with its comments in order of time.
    OnForge { thread: usize, order: Vec<usize> },
    /// A driven reviewer's finding that has no thread on the forge: its own words are all there is.
    Own { who: String, body: String },
}

#[derive(Debug, Clone)]
pub struct PostedText {
    pub who: String,
    pub role: &'static str,
    /// How a person's reply was understood (R3).
    pub intent: Option<&'static str>,
    pub at: Option<Timestamp>,
    pub edited: bool,
    /// Markdown, safe for a terminal.
    pub body: String,
    /// What of the body was too long to be shown.
    pub left_out: Option<String>,
    /// Why it is hidden on the forge, where it is.
    pub minimized: Option<String>,
}

/// GitHub takes 65,536 characters; whatever is longer than this in bytes came from elsewhere.
const LONGEST_BODY: usize = 300_000;

/// None where the thread is not there any more.
pub fn page(view: &Arc<PullRequestView>, id: &ThreadId) -> Option<ThreadScreenPage> {
    let standing = view.standing.as_deref()?;
    let snapshot = &standing.snapshot;
    let shown = standing.thread(id);
    if let Some(shown) = shown.filter(|shown| shown.on_forge.is_none()) {
        let (finding, anchor) = (&shown.thread.finding, &shown.thread.anchor);
        let place = ConversationSource::Own {
            who: line(shown.thread.reviewer.as_str()),
            body: bounded(&finding.body).0.to_owned(),
        };
        let since = changes_since::followed(anchor, finding.lines);
        let path = line(finding.path.as_str());
        return Some(ThreadScreenPage {
            view: Arc::clone(view),
            place,
            path,
            code: CodeHunk::default(),
            since,
        });
    }
    let on_forge = shown.and_then(|shown| shown.on_forge).map_or(id, |seen| &seen.id);
    let thread = snapshot.threads.iter().position(|seen| seen.id == *on_forge)?;
    let seen = &snapshot.threads[thread];
    let mut order: Vec<usize> = (0..seen.comments.len()).filter(|at| !seen.comments[*at].pending).collect();
    order.sort_by_key(|at| (seen.comments[*at].created_at, &seen.comments[*at].id));
    let first = order.first().map(|at| &seen.comments[*at]);
    let (code, since) = match first {
        Some(first) => (code_of(seen, first), changes_since::since(seen, first, standing)),
        None => (CodeHunk::default(), None),
    };
    let path = line(seen.path.as_str());
    Some(ThreadScreenPage {
        view: Arc::clone(view),
        place: ConversationSource::OnForge { thread, order },
        path,
        code,
        since,
    })
}

fn code_of(seen: &ReviewThread, first: &ThreadComment) -> CodeHunk {
    let last = seen.original_line;
    let lines = last.map(|last| (seen.original_start_line.unwrap_or(last).min(last), last));
    CodeHunk::read(&first.diff_hunk, lines, seen.side == DiffSide::Left)
}

impl ThreadScreenPage {
    /// How many comments there are.
    pub fn len(&self) -> usize {
        match &self.place {
            ConversationSource::OnForge { order, .. } => order.len(),
            ConversationSource::Own { .. } => 1,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One comment, cleaned and classified.
    pub fn said(&self, index: usize, making: &RowBuilder) -> Option<PostedText> {
        match &self.place {
            ConversationSource::Own { who, body } => (index == 0).then(|| PostedText {
                who: who.clone(),
                role: "reviewer",
                intent: None,
                at: None,
                edited: false,
                body: sanitize::block(body),
                left_out: None,
                minimized: None,
            }),
            ConversationSource::OnForge { thread, order } => {
                let snapshot = &self.view.standing.as_deref()?.snapshot;
                let comment = snapshot.threads.get(*thread)?.comments.get(*order.get(index)?)?;
                Some(said(comment, snapshot, making))
            }
        }
    }

    /// Whether it was made from this very view.
    pub fn is_of(&self, view: &Arc<PullRequestView>) -> bool {
        Arc::ptr_eq(&self.view, view)
    }
}

fn said(comment: &ThreadComment, snapshot: &PullRequestSnapshot, making: &RowBuilder) -> PostedText {
    let author = comment.author.as_ref();
    // What a driven reviewer says is Cloture's only in that Cloture posts it.
    let is_reviewer = markers::is_finding(comment)
        || markers::posted_reply(comment).is_some()
        || author.is_some_and(|author| making.reads.reviewer(author, &comment.body).is_some());
    let by_agent = replies::is_agent_post(&comment.body);
    let by_person = author.is_some_and(is_person) && !by_agent;
    let role = if is_reviewer {
        "reviewer"
    } else if markers::is_our_own(comment) {
        "Cloture"
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
    let intent = (by_person && !is_reviewer).then(|| replies::classify(&comment.body));
    let (body, left_out) = bounded(&comment.body);
    let minimized = comment.minimized.as_ref().map(|minimized| {
        let reason = minimized.reason.as_deref().map(|reason| line(&reason.to_lowercase().replace('_', " ")));
        reason.unwrap_or_default()
    });
    PostedText {
        who: account(author),
        role,
        intent: intent.filter(|intent| *intent != Intent::Other).map(in_words),
        at: Some(comment.created_at),
        edited: comment.edited_at.is_some(),
        body: sanitize::block(body),
        left_out: (left_out > 0).then(|| count(left_out, "character is left out", "characters are left out")),
        minimized,
    }
}

/// As much of a post as is shown, and how many characters are not.
fn bounded(body: &str) -> (&str, usize) {
    if body.len() <= LONGEST_BODY {
        return (body, 0);
    }
    let end = (0..=LONGEST_BODY).rev().find(|at| body.is_char_boundary(*at)).unwrap_or(0);
    let (shown, left_out) = body.split_at(end);
    (shown, left_out.chars().count())
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
