//! Posts a driven reviewer's review. GitHub refuses a whole review for one line outside the diff, and for a
//! verdict that the account may not give. The findings must reach people all the same.

use super::markers;
use crate::domain::verdict::Verdict;
use crate::github::diff::{self, LinesInDiff};
use crate::github::write::{NewReviewThread, Write};
use crate::github::{Client, Error, WriteOutcome, Writer};
use crate::output::foreign_text;
use std::fmt::Write as _;

/// The result of posting a review, and how it differs from the planned one, in sentences.
pub(super) struct PostedReview {
    pub(super) outcome: Result<WriteOutcome, Error>,
    pub(super) changes: Vec<String>,
}

/// Whether this is the review of a driven reviewer's cycle. A person who approves wants that or nothing.
pub(super) fn is_of_cycle(write: &Write) -> bool {
    matches!(write, Write::Review { key, .. } if markers::is_review(key))
}

/// Posts the review as planned. After a refusal it takes out the part that GitHub refuses, at most one part at
/// a time: the verdict, the findings outside the diff, then all threads.
pub(super) async fn post(planned: &Write, writer: &Writer<Client>) -> PostedReview {
    let mut write = planned.clone();
    let mut changes = Vec::new();
    let mut is_placed = false;
    loop {
        let message = match writer.write(&write).await {
            Err(Error::Refused { message, .. }) => message,
            outcome => return PostedReview { outcome, changes },
        };
        let Write::Review { on, verdict, body, threads, .. } = &mut write else {
            let what = "posting a review".to_owned();
            return PostedReview { outcome: Err(Error::Refused { what, message }), changes };
        };
        if *verdict != Verdict::Comment && is_about_verdict(&message) {
            changes.push(give_no_verdict(verdict, body, &message));
            continue;
        }
        if !is_placed && !threads.is_empty() {
            is_placed = true;
            let outside = match diff::of_pull_request(writer.transport(), &on.address).await {
                Ok(shown) => take_outside(threads, &LinesInDiff::read(&shown)),
                Err(error) if error.is_passing() => return PostedReview { outcome: Err(error), changes },
                Err(_) => Vec::new(),
            };
            if !outside.is_empty() {
                changes.push(move_into_text(body, outside, "outside the diff"));
                continue;
            }
        }
        if *verdict != Verdict::Comment {
            changes.push(give_no_verdict(verdict, body, &message));
        } else if !threads.is_empty() {
            changes.push(move_into_text(body, std::mem::take(threads), &format!("refused: {message}")));
        } else {
            let what = "posting a review".to_owned();
            return PostedReview { outcome: Err(Error::Refused { what, message }), changes };
        }
    }
}

/// For example "Can not approve your own pull request", or "GitHub Actions is not permitted to approve pull
/// requests".
fn is_about_verdict(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    ["approve", "request changes", "own pull request"].iter().any(|words| message.contains(words))
}

fn give_no_verdict(verdict: &mut Verdict, body: &mut String, message: &str) -> String {
    let wanted = match verdict {
        Verdict::Approve => "approves",
        Verdict::RequestChanges => "requests changes",
        Verdict::Comment => "comments",
    };
    *verdict = Verdict::Comment;
    let message = message.trim().trim_end_matches('.');
    let said = foreign_text::title(message);
    let _infallible = write!(
        body,
        "\n\n_The reviewer {wanted}. GitHub does not take that verdict from this account ({said}), so this \
         is a comment._"
    );
    format!("GitHub refused the verdict ({message}), so the review was posted as a comment.")
}

/// Takes the threads out that the diff does not show. A range that leaves its hunk becomes its last line.
fn take_outside(threads: &mut Vec<NewReviewThread>, shown: &LinesInDiff) -> Vec<NewReviewThread> {
    let (inside, outside) =
        std::mem::take(threads).into_iter().partition(|thread| shown.contain(&thread.path, thread.line));
    *threads = inside;
    for thread in threads {
        let is_whole = |start: &u32| shown.are_together(&thread.path, *start, thread.line);
        thread.start_line = thread.start_line.filter(is_whole);
    }
    outside
}

fn move_into_text(body: &mut String, moved: Vec<NewReviewThread>, why: &str) -> String {
    let count = match moved.len() {
        1 => "1 finding is".to_owned(),
        count => format!("{count} findings are"),
    };
    for NewReviewThread { path, line, body: text, key, .. } in moved {
        let marker = markers::in_text(&key);
        let place = foreign_text::code(&format!("{path}:{line}"));
        let _infallible = write!(body, "\n\n---\n\n{marker}\n{place}\n\n{text}");
    }
    format!("{count} in the review's text, without a thread ({why}).")
}
