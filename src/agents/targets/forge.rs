//! Tasks as writes to GitHub, each of which happens once.

use super::document::TaskDocument;
use super::{NotSendable, markdown};
use crate::domain::snapshot::RepositoryName;
use crate::github::Write;
use crate::github::write::{PullRequestTarget, WriteKey};
use serde_json::{Map, Value};

/// GitHub takes 65,536 characters, of which the marker needs some.
const LONGEST_TEXT: usize = 65_000;
/// GitHub takes less than 64 KiB, our own key included.
const LARGEST_PAYLOAD: usize = 63 * 1024;

pub(super) fn issue(
    document: &TaskDocument,
    repository: &RepositoryName,
    labels: &[String],
    assignees: &[String],
) -> Result<Write, NotSendable> {
    Ok(Write::OpenIssue {
        repository: repository.clone(),
        title: markdown::title(document),
        body: text(document, LONGEST_TEXT, "an issue")?,
        labels: labels.to_vec(),
        assignees: assignees.to_vec(),
        key: WriteKey::new(&document.key)?,
    })
}

/// The mention comes first, because some agents look for theirs only there.
pub(super) fn comment(
    document: &TaskDocument,
    on: &PullRequestTarget,
    mention: &str,
) -> Result<Write, NotSendable> {
    let room = LONGEST_TEXT.saturating_sub(mention.chars().count());
    let body = format!("{mention}\n\n{}", text(document, room, "a comment")?);
    Ok(Write::Comment { on: on.clone(), body, key: WriteKey::new(&document.key)? })
}

pub(super) fn dispatch(
    document: &TaskDocument,
    repository: &RepositoryName,
    event_type: &str,
) -> Result<Write, NotSendable> {
    let fits = |document: &TaskDocument| document.to_json().is_ok_and(|text| text.len() <= LARGEST_PAYLOAD);
    let fitting = document.fitting(fits).ok_or(NotSendable::TooLarge("an event"))?;
    let payload = match serde_json::to_value(&fitting) {
        Ok(Value::Object(payload)) => payload,
        Ok(_) => Map::new(),
        Err(error) => return Err(NotSendable::Unwritable(error.to_string())),
    };
    Ok(Write::Dispatch {
        repository: repository.clone(),
        event_type: event_type.to_owned(),
        payload,
        key: WriteKey::new(&document.key)?,
    })
}

fn text(document: &TaskDocument, room: usize, what: &'static str) -> Result<String, NotSendable> {
    let fits = |document: &TaskDocument| markdown::body(document).chars().count() <= room;
    let fitting = document.fitting(fits).ok_or(NotSendable::TooLarge(what))?;
    Ok(markdown::body(&fitting))
}
