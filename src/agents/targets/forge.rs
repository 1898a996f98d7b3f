//! Tasks as GitHub writes. The writer makes each write once.

use super::document::TaskDocument;
use super::{NotSendable, markdown};
use crate::domain::snapshot::RepositoryName;
use crate::github::Write;
use crate::github::write::{PullRequestTarget, WriteKey};
use serde_json::{Map, Value};

/// GitHub's limit is 65,536 characters, and the marker needs some.
const LONGEST_TEXT: usize = 65_000;
/// GitHub's limit is 64 KiB, including our key.
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

/// The mention comes first, because some agents look for it only there.
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
    let fitting = document.cut_to_fit(fits).ok_or(NotSendable::TooLarge("an event"))?;
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
    let fitting = document.cut_to_fit(fits).ok_or(NotSendable::TooLarge(what))?;
    Ok(markdown::body(&fitting))
}
