//! Cuts a request to the reviewer's context window (R6).

use super::{PreparedRequest, ReviewerRequest};
use crate::domain::diff;
use crate::domain::re_review::{PromptPiece, fit};
use serde_json::Value;
use std::fmt::Write;

/// A text that may be cut.
enum Bulk {
    /// The body of a reply: thread and entry.
    Reply(usize, usize),
    PreviousReview,
    /// The index of a file in the diff.
    File(usize),
}

const LEFT_OUT: &str = "(left out by Cloture, because the request would not fit your context window)";

/// Estimates the size of the request and the prompt around it, and cuts the request to fit.
pub(super) fn fit_to_window(
    mut request: ReviewerRequest,
    window_tokens: u64,
    prompt_text: &str,
) -> PreparedRequest {
    let diff = std::mem::take(&mut request.diff);
    let files = sections(&diff);
    let previous = request.previous_review.take();
    let bulk = bulk(&request, previous.is_some(), files.len());
    let bodies = take_bodies(&mut request);
    // The rest of the request is never cut.
    let question = serde_json::to_string(&request).unwrap_or_default();
    let text_of = |bulk: &Bulk| match bulk {
        Bulk::Reply(thread, entry) => bodies[*thread][*entry].as_str(),
        Bulk::PreviousReview => previous.as_deref().unwrap_or_default(),
        Bulk::File(index) => files[*index],
    };
    let mut pieces: Vec<PromptPiece<'_>> =
        bulk.iter().map(|bulk| PromptPiece { text: text_of(bulk), may_be_cut: true }).collect();
    pieces.push(PromptPiece { text: &question, may_be_cut: false });
    pieces.push(PromptPiece { text: prompt_text, may_be_cut: false });
    let fit = fit(&pieces, window_tokens);

    let mut kept_files = vec![true; files.len()];
    let (mut bodies, mut previous) = (bodies, previous);
    for cut in fit.cut.iter().filter_map(|index| bulk.get(*index)) {
        match cut {
            Bulk::Reply(thread, entry) => LEFT_OUT.clone_into(&mut bodies[*thread][*entry]),
            Bulk::PreviousReview => previous = Some(LEFT_OUT.to_owned()),
            Bulk::File(index) => kept_files[*index] = false,
        }
    }
    for (thread, bodies) in request.threads.iter_mut().zip(bodies) {
        for (entry, body) in thread.conversation.iter_mut().zip(bodies) {
            entry.body = body;
        }
    }
    request.previous_review = previous;
    request.diff = remaining(&files, &kept_files);
    PreparedRequest { request, fit }
}

/// The sections of the diff, one for each file. Text before the first file belongs to the first section,
/// unreadable text to the section before it.
fn sections(diff: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = diff::files(diff).iter().map(|file| file.at).skip(1).collect();
    starts.insert(0, 0);
    let ends = starts.iter().copied().skip(1).chain([diff.len()]);
    let sections = starts.iter().copied().zip(ends).map(|(start, end)| &diff[start..end]);
    sections.filter(|section| !section.is_empty()).collect()
}

/// The texts that may be cut, in the order of cutting.
fn bulk(request: &ReviewerRequest, has_previous: bool, files: usize) -> Vec<Bulk> {
    let threads = request.threads.iter().enumerate();
    let mut replies: Vec<_> = threads
        .flat_map(|(thread, part)| {
            part.conversation.iter().enumerate().map(move |(entry, reply)| (reply.at, thread, entry))
        })
        .collect();
    replies.sort_unstable();
    let replies = replies.into_iter().map(|(_, thread, entry)| Bulk::Reply(thread, entry));
    let previous = has_previous.then_some(Bulk::PreviousReview);
    replies.chain(previous).chain((0..files).rev().map(Bulk::File)).collect()
}

fn take_bodies(request: &mut ReviewerRequest) -> Vec<Vec<String>> {
    let of_thread = |thread: &mut super::ThreadPart| {
        thread.conversation.iter_mut().map(|entry| std::mem::take(&mut entry.body)).collect()
    };
    request.threads.iter_mut().map(of_thread).collect()
}

/// The diff of the kept files, and a note about the others.
fn remaining(files: &[&str], kept: &[bool]) -> String {
    let mut text: String = files.iter().zip(kept).filter(|(_, kept)| **kept).map(|(file, _)| *file).collect();
    let left_out: Vec<String> = files
        .iter()
        .zip(kept)
        .filter(|(_, kept)| !**kept)
        .flat_map(|(file, _)| diff::read(file))
        .map(|change| Value::from(change.path.as_str()).to_string())
        .collect();
    if kept.contains(&false) {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(LEFT_OUT);
        if !left_out.is_empty() {
            // Writing to a string does not fail.
            let _ = write!(text, " {} of {} files: {}", left_out.len(), files.len(), left_out.join(", "));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn splitting_a_diff_loses_nothing(text in "(diff --git a/x b/x\n|diff --git \n|--- a/y\n|\\+\\+\\+ b/y\n|@@ -1 \\+1 @@\n|[-+ é]x\n|ü){0,30}") {
            prop_assert_eq!(sections(&text).concat(), text);
        }
    }
}
