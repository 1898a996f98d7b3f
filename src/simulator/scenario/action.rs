//! The actions of scripted accounts, in scenario files and at the control endpoint.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::once;
use crate::simulator::world::{Side, SimulatedReviewState};

/// One action on a pull request.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScenarioAction {
    Push(PushAction),
    ForcePush(PushAction),
    Review(ReviewAction),
    Comment(CommentAction),
    Reply(ReplyAction),
    Edit(EditAction),
    Resolve(OnThreadAction),
    Unresolve(OnThreadAction),
    Minimise(MinimiseAction),
    CheckRun(CheckRunAction),
    Label(LabelAction),
    Unlabel(LabelAction),
    /// Reacts to the body of the pull request, in GitHub's words: `+1`, `eyes` and so on.
    React(ReactAction),
    /// Takes the reaction back.
    Unreact(ReactAction),
    RequestReview(RequestAction),
    UnrequestReview(RequestAction),
    Ready(ByAction),
    Draft(ByAction),
    Close(ByAction),
    Reopen(ByAction),
    Merge(ByAction),
    DeleteAccount(DeleteAccountAction),
    Rename(RenameAction),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PushAction {
    pub by: String,
    #[serde(default)]
    pub message: String,
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    #[serde(default)]
    pub replace: Vec<Replacement>,
    #[serde(default)]
    pub delete: Vec<String>,
    #[serde(default)]
    pub rename: BTreeMap<String, String>,
    /// The commit's name if it also exists in a real checkout; otherwise the simulator makes one.
    pub sha: Option<String>,
}

/// Replaces the first `find` by `with`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replacement {
    pub path: String,
    pub find: String,
    pub with: String,
}

/// A review with the threads it opens. Texts may contain `{n}`, `{head}`, `{head_short}`, `{number}` and
/// `{author}`: the repetition, the head commit, the pull request's number and its author.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewAction {
    pub by: String,
    /// `commented` (default), `approved`, `changes_requested`, or `pending` for a draft.
    #[serde(default)]
    pub state: SimulatedReviewState,
    #[serde(default)]
    pub body: String,
    pub body_file: Option<String>,
    /// Reviews the head before the last push, as a slow bot does.
    #[serde(default)]
    pub on_previous_head: bool,
    #[serde(default)]
    pub threads: Vec<ThreadEntry>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThreadEntry {
    /// The name for later steps; with `repeat` it must contain `{n}`.
    pub name: Option<String>,
    pub path: String,
    /// Without a line, the thread is about the whole file.
    pub line: Option<i64>,
    pub start_line: Option<i64>,
    #[serde(default)]
    pub side: Side,
    #[serde(default)]
    pub body: String,
    pub body_file: Option<String>,
    #[serde(default = "once")]
    pub repeat: u32,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommentAction {
    pub by: String,
    /// The name for a later `edit` or `minimise`.
    pub name: Option<String>,
    #[serde(default)]
    pub body: String,
    pub body_file: Option<String>,
    #[serde(default = "once")]
    pub repeat: u32,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplyAction {
    pub by: String,
    /// A thread's name, `it` (the event's thread), `own` (open threads that `by` began) or `all` (open).
    pub thread: String,
    pub name: Option<String>,
    #[serde(default)]
    pub body: String,
    pub body_file: Option<String>,
    #[serde(default = "once")]
    pub repeat: u32,
}

/// Changes a named comment, or the first comment of a thread: `body` replaces the text, or is `append`ed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EditAction {
    pub by: String,
    pub comment: Option<String>,
    pub thread: Option<String>,
    #[serde(default)]
    pub body: String,
    pub body_file: Option<String>,
    #[serde(default)]
    pub append: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnThreadAction {
    pub by: String,
    pub thread: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MinimiseAction {
    pub by: String,
    pub comment: Option<String>,
    pub thread: Option<String>,
    #[serde(default = "outdated")]
    pub reason: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckRunAction {
    pub by: String,
    pub name: String,
    /// `success`, `failure`, `neutral` …; without one, the check is still running.
    pub conclusion: Option<String>,
    pub title: Option<String>,
    pub summary: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelAction {
    pub by: String,
    pub name: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReactAction {
    pub by: String,
    pub content: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestAction {
    pub by: String,
    pub of: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ByAction {
    pub by: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeleteAccountAction {
    pub login: String,
}

/// Renames the pull request's repository, or transfers it to another owner.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RenameAction {
    pub by: String,
    /// The new full name, `owner/name`.
    pub to: String,
}

fn outdated() -> String {
    "outdated".to_owned()
}

impl ScenarioAction {
    /// The acting account; `None` for deleting an account.
    pub fn by(&self) -> Option<&str> {
        match self {
            Self::Push(action) | Self::ForcePush(action) => Some(&action.by),
            Self::Review(action) => Some(&action.by),
            Self::Comment(action) => Some(&action.by),
            Self::Reply(action) => Some(&action.by),
            Self::Edit(action) => Some(&action.by),
            Self::Resolve(action) | Self::Unresolve(action) => Some(&action.by),
            Self::Minimise(action) => Some(&action.by),
            Self::CheckRun(action) => Some(&action.by),
            Self::Label(action) | Self::Unlabel(action) => Some(&action.by),
            Self::React(action) | Self::Unreact(action) => Some(&action.by),
            Self::RequestReview(action) | Self::UnrequestReview(action) => Some(&action.by),
            Self::Ready(action)
            | Self::Draft(action)
            | Self::Close(action)
            | Self::Reopen(action)
            | Self::Merge(action) => Some(&action.by),
            Self::Rename(action) => Some(&action.by),
            Self::DeleteAccount(_) => None,
        }
    }

    /// Each body with its `body_file`.
    pub(super) fn bodies_mut(&mut self) -> Vec<(&mut String, &mut Option<String>)> {
        match self {
            Self::Review(action) => {
                let threads = action.threads.iter_mut();
                let threads = threads.map(|thread| (&mut thread.body, &mut thread.body_file));
                std::iter::once((&mut action.body, &mut action.body_file)).chain(threads).collect()
            }
            Self::Comment(action) => vec![(&mut action.body, &mut action.body_file)],
            Self::Reply(action) => vec![(&mut action.body, &mut action.body_file)],
            Self::Edit(action) => vec![(&mut action.body, &mut action.body_file)],
            _ => Vec::new(),
        }
    }
}
