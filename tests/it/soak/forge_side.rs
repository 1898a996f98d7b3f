//! The invariants of the simulated GitHub after every step: Cloture writes nothing twice, nothing without a
//! mark, and nothing where it must not write.

use super::world::VIEWER;
use cloture::agents::targets::KEY_PREFIX;
use cloture::github::write::WriteKey;
use cloture::simulator::{PullSnapshot, ReceivedWrite, Snapshot};
use std::collections::{BTreeMap, BTreeSet};

/// The writes of Cloture that were checked so far.
#[derive(Debug, Default)]
pub(crate) struct ForgeSide {
    posts: usize,
    /// The place of each of our marks. A task's mark is unique on the whole forge, any other on its pull
    /// request.
    marks: BTreeMap<(String, String), String>,
    /// The threads that we resolved or reopened, until another account changes them.
    resolved: BTreeMap<String, bool>,
    pub(crate) written: BTreeMap<String, usize>,
}

/// The reason why Cloture must not write to a pull request by itself.
pub(crate) type Quiet = BTreeMap<String, &'static str>;

impl ForgeSide {
    /// Checks the new writes. `since` is the number of posts when the instances began to work. People wrote
    /// the posts before that.
    pub(crate) fn check(&mut self, forge: &Snapshot, since: usize, quiet: &Quiet) -> Vec<String> {
        let mut wrong = Vec::new();
        for (index, post) in forge.posts.iter().enumerate().skip(self.posts) {
            if post.by != VIEWER {
                wrong.push(format!("somebody else wrote over the API: {post:?}"));
            }
            *self.written.entry(post.what.clone()).or_default() += 1;
            wrong.extend(self.twice(post));
            // The merge sends a task, and a person orders an act. Neither is a write by itself, and an
            // instance that was killed may still have one under way.
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
                    // GitHub adds a review without text for every reply.
                    return (!post.text.is_empty()).then(|| format!("it carries no mark: {post:?}"));
                };
                let place = if key.as_str().starts_with(KEY_PREFIX) { "" } else { post.on.as_str() };
                let before = self.marks.insert((place.to_owned(), key.to_string()), post.id.clone());
                before.map(|before| format!("written twice, as {before} and as {}: {post:?}", post.id))
            }
            _ => None,
        }
    }

    /// Forgets the threads that others changed: Cloture may change them again.
    pub(crate) fn others_acted(&mut self, forge: &Snapshot) {
        for thread in forge.pull_requests.iter().flat_map(|pull| &pull.threads) {
            if self.resolved.get(&thread.id).is_some_and(|known| *known != thread.resolved) {
                self.resolved.remove(&thread.id);
            }
        }
    }

    /// Finds marks of ours that are on the forge twice.
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
            // The payload of an event holds the task's key.
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

/// The first text that looks like a task's key.
pub(crate) fn task_key(payload: &serde_json::Value) -> Option<String> {
    match payload {
        serde_json::Value::String(text) => text.starts_with(KEY_PREFIX).then(|| text.clone()),
        serde_json::Value::Object(fields) => fields.values().find_map(task_key),
        serde_json::Value::Array(items) => items.iter().find_map(task_key),
        _ => None,
    }
}

/// Every text of our account on a pull request.
pub(crate) fn our_texts(pull: &PullSnapshot) -> impl Iterator<Item = &str> {
    let comments = pull.comments.iter().map(|comment| (&comment.by, &comment.body));
    let reviews = pull.reviews.iter().map(|review| (&review.by, &review.body));
    let replies = pull.threads.iter().flat_map(|thread| &thread.comments);
    let replies = replies.map(|comment| (&comment.by, &comment.body));
    let all = comments.chain(reviews).chain(replies);
    all.filter(|(by, _)| *by == VIEWER).map(|(_, body)| body.as_str())
}
