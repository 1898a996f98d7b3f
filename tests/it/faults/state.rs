//! The state of a forge as a list of sentences, to compare two runs.

use cloture::simulator::{CommentSnapshot, Simulator};
use serde_json::json;

/// The state without times and ids, which differ from run to run, and every write as often as it happened.
pub(crate) fn forge(simulator: &Simulator) -> Vec<String> {
    let snapshot = simulator.snapshot();
    let said = |comment: &CommentSnapshot| {
        json!([comment.by, comment.body, comment.minimized, comment.pending]).to_string()
    };
    let mut all = Vec::new();
    for pull in &snapshot.pull_requests {
        let on = format!("{}#{}", pull.repository, pull.number);
        all.push(format!("{on} is {:?} at {}", pull.state, pull.head));
        all.extend(pull.labels.iter().map(|label| format!("{on} has the label {label}")));
        all.extend(pull.requested_reviewers.iter().map(|login| format!("{on} waits for {login}")));
        all.extend(pull.comments.iter().map(|comment| format!("{on}: {}", said(comment))));
        for review in &pull.reviews {
            let shown = json!([review.by, review.state, review.body, review.commit]);
            all.push(format!("{on} was reviewed: {shown}"));
        }
        for thread in &pull.threads {
            let place = format!("{on} {}:{:?}", thread.path, thread.line);
            all.push(format!("{place} is resolved: {}", thread.resolved));
            all.extend(thread.comments.iter().map(|comment| format!("{place}: {}", said(comment))));
        }
    }
    for issue in &snapshot.issues {
        let shown = json!([issue.title, issue.body, issue.labels, issue.assignees]);
        all.push(format!("an issue in {}: {shown}", issue.repository));
    }
    for event in &snapshot.dispatches {
        all.push(format!("an event {}: {}", event.event_type, event.client_payload));
    }
    let posts = simulator.posts();
    all.extend(posts.iter().map(|post| format!("written: {} {} {}", post.what, post.on, post.text)));
    all.sort();
    all
}
