//! What must hold on the forge after every step, whoever did what: nothing of ours twice, nothing without a reason, nothing
//! where nothing more is to be written.

use super::world::VIEWER;
use cloture::agents::targets::KEY_PREFIX;
use cloture::github::write::WriteKey;
use cloture::simulator::{PullSnapshot, ReceivedWrite, Snapshot};
use std::collections::{BTreeMap, BTreeSet};

/// What was seen so far of what Cloture wrote.
#[derive(Debug, Default)]
pub(crate) struct ForgeSide {
    posts: usize,
    /// Where each of our marks stands. A task's is the only one of the whole forge, any other of its pull request.
    marks: BTreeMap<(String, String), String>,
    /// Threads that we resolved or opened again, by whether they are resolved, until somebody else changes that.
    resolved: BTreeMap<String, bool>,
    pub(crate) written: BTreeMap<String, usize>,
}

/// Why nothing more is to be written to a pull request by itself.
pub(crate) type Quiet = BTreeMap<String, &'static str>;

impl ForgeSide {
    /// Looks at what is new since the last time. `since` is how many posts there were when the instances began to work:
    /// what came before was done by people.
    pub(crate) fn check(&mut self, forge: &Snapshot, since: usize, quiet: &Quiet) -> Vec<String> {
        let mut wrong = Vec::new();
        for (index, post) in forge.posts.iter().enumerate().skip(self.posts) {
            if post.by != VIEWER {
                wrong.push(format!("somebody else wrote over the API: {post:?}"));
            }
            *self.written.entry(post.what.clone()).or_default() += 1;
            wrong.extend(self.twice(post));
            // A task is sent because of the merge, and what a person orders is not done by itself: an instance that is
            // killed with it may have it under way.
            let key = WriteKey::parse_marker(&post.text);
            let is_wanted =
                key.is_some_and(|key| [KEY_PREFIX, "act/"].iter().any(|of| key.as_str().starts_with(of)));
            if index >= since
                && !is_wanted
                && let Some(why) = quiet.get(&post.on)
            {
                wrong.push(format!("written although it is {why}: {post:?}"));
            }
            if post.pending {
                wrong.push(format!("it went into a draft: {post:?}"));
            }
        }
        self.posts = forge.posts.len();
        wrong.extend(forge.problems.iter().map(|problem| format!("the world has a problem: {problem}")));
        wrong
    }

    fn twice(&mut self, post: &ReceivedWrite) -> Option<String> {
        match post.what.as_str() {
            "resolve" | "unresolve" => {
                let becomes = post.what == "resolve";
                let was = self.resolved.insert(post.id.clone(), becomes);
                (was == Some(becomes)).then(|| format!("done twice: {post:?}"))
            }
            "comment" | "reply" | "review" | "thread" | "issue" => {
                let Some(key) = WriteKey::parse_marker(&post.text) else {
                    // GitHub makes a review without a text of every reply.
                    return (!post.text.is_empty()).then(|| format!("it carries no mark: {post:?}"));
                };
                let place = if key.as_str().starts_with(KEY_PREFIX) { "" } else { post.on.as_str() };
                let before = self.marks.insert((place.to_owned(), key.to_string()), post.id.clone());
                before.map(|before| format!("written twice, as {before} and as {}: {post:?}", post.id))
            }
            _ => None,
        }
    }

    /// What others did to threads since: what they changed, we may change again.
    pub(crate) fn others_acted(&mut self, forge: &Snapshot) {
        for thread in forge.pull_requests.iter().flat_map(|pull| &pull.threads) {
            if self.resolved.get(&thread.id).is_some_and(|known| *known != thread.resolved) {
                self.resolved.remove(&thread.id);
            }
        }
    }

    /// What stands there now, however it got there: no mark of ours twice.
    pub(crate) fn standing_marks(forge: &Snapshot) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut tasks: BTreeSet<String> = BTreeSet::new();
        let mut task = |text: &str, place: &str, wrong: &mut Vec<String>| {
            let key = WriteKey::parse_marker(text).filter(|key| key.as_str().starts_with(KEY_PREFIX));
            if let Some(key) = key
                && !tasks.insert(key.to_string())
            {
                wrong.push(format!("{place}: the task {key} is there twice"));
            }
        };
        for issue in forge.issues.iter().filter(|issue| issue.by == VIEWER) {
            task(&issue.body, &format!("{}#{}", issue.repository, issue.number), &mut wrong);
        }
        for event in &forge.dispatches {
            // A task that is an event has its key inside, wherever that is.
            if let Some(key) = task_key(&event.client_payload) {
                task(&format!("<!-- cloture:{key} -->"), &event.repository, &mut wrong);
            }
        }
        for pull in &forge.pull_requests {
            let name = format!("{}#{}", pull.repository, pull.number);
            let mut marks: BTreeSet<WriteKey> = BTreeSet::new();
            for text in our_texts(pull) {
                task(text, &name, &mut wrong);
                if let Some(key) = WriteKey::parse_marker(text)
                    && !key.as_str().starts_with(KEY_PREFIX)
                    && !marks.insert(key.clone())
                {
                    wrong.push(format!("{name}: {key} is there twice"));
                }
            }
        }
        wrong
    }
}

/// The first text that begins like a task's key.
pub(crate) fn task_key(payload: &serde_json::Value) -> Option<String> {
    match payload {
        serde_json::Value::String(text) => text.starts_with(KEY_PREFIX).then(|| text.clone()),
        serde_json::Value::Object(fields) => fields.values().find_map(task_key),
        serde_json::Value::Array(items) => items.iter().find_map(task_key),
        _ => None,
    }
}

/// Every text on a pull request that our account wrote.
pub(crate) fn our_texts(pull: &PullSnapshot) -> impl Iterator<Item = &str> {
    let comments = pull.comments.iter().map(|comment| (&comment.by, &comment.body));
    let reviews = pull.reviews.iter().map(|review| (&review.by, &review.body));
    let replies = pull.threads.iter().flat_map(|thread| &thread.comments);
    let replies = replies.map(|comment| (&comment.by, &comment.body));
    let all = comments.chain(reviews).chain(replies);
    all.filter(|(by, _)| *by == VIEWER).map(|(_, body)| body.as_str())
}
