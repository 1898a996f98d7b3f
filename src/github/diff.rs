//! Reads the unified diff between two commits.

use super::call::{Call, Transport};
use super::discover::PullRequestAddress;
use super::error::Error;
use crate::domain::diff as unified;
use crate::domain::place::LineRange;
use crate::domain::snapshot::{PullRequestSnapshot, RepositoryName};
use crate::domain::vocabulary::{FilePath, Sha};
use std::collections::BTreeMap;

/// The diff that a reviewer gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffInScope {
    pub text: String,
    /// Why it is the whole pull request, although the changes since the baseline were asked for: GitHub does not
    /// compare the two commits.
    pub whole: Option<String>,
}

/// The diff for a reviewer: the changes since the head that it last reviewed, or the whole pull request (R1,
/// R2). After a force-push away from that head, GitHub's comparison would include other people's changes, and
/// GitHub may have deleted the commit; a comparison may also be too large for it. In these cases the reviewer
/// gets the whole pull request.
pub async fn in_scope(
    transport: &(impl Transport + Sync),
    snapshot: &PullRequestSnapshot,
    baseline: Option<&Sha>,
) -> Result<DiffInScope, Error> {
    let (repository, head) = (&snapshot.repository, &snapshot.head.sha);
    let rewritten = |sha: &&Sha| snapshot.force_pushes.iter().any(|push| push.before.as_ref() == Some(*sha));
    let mut whole = None;
    if let Some(baseline) = baseline.filter(|sha| !rewritten(sha)) {
        match between(transport, repository, baseline, head).await {
            Err(error) if is_not_shown(&error) => whole = Some(error.event()),
            outcome => return outcome.map(|text| DiffInScope { text, whole }),
        }
    }
    let text = match between(transport, repository, &snapshot.base.sha, head).await {
        Err(error) if is_not_shown(&error) => {
            let address = PullRequestAddress { repository: repository.clone(), number: snapshot.number };
            of_pull_request(transport, &address).await?
        }
        outcome => outcome?,
    };
    Ok(DiffInScope { text, whole })
}

/// Whether GitHub does not show a comparison and never will: it answers 404 if a commit is gone, and 406 if the
/// diff is too large.
pub fn is_not_shown(error: &Error) -> bool {
    matches!(error, Error::Gone { .. } | Error::Refused { .. })
}

/// The diff of a pull request, as its page shows it. It fails if the diff is too large for GitHub or for the
/// client.
pub async fn of_pull_request(
    transport: &(impl Transport + Sync),
    address: &PullRequestAddress,
) -> Result<String, Error> {
    let path = format!("/repos/{}/pulls/{}", address.repository, address.number);
    read(transport, path, format!("reading the diff of {address}")).await
}

/// The lines of the new files that a diff shows, with the unchanged lines around each change. GitHub takes a
/// comment on no other line.
#[derive(Debug, Default)]
pub struct LinesInDiff {
    hunks: BTreeMap<FilePath, Vec<LineRange>>,
}

impl LinesInDiff {
    pub fn read(diff: &str) -> LinesInDiff {
        let mut hunks: BTreeMap<FilePath, Vec<LineRange>> = BTreeMap::new();
        for file in unified::files(diff) {
            // Every line of code in a hunk begins with a blank, a sign or a backslash.
            let headers = file.text.lines().filter_map(|line| line.strip_prefix("@@ "));
            hunks.entry(file.change.path).or_default().extend(headers.filter_map(new_lines));
        }
        LinesInDiff { hunks }
    }

    pub fn contain(&self, path: &FilePath, line: u32) -> bool {
        self.are_together(path, line, line)
    }

    /// Whether one hunk shows both lines.
    pub fn are_together(&self, path: &FilePath, first: u32, last: u32) -> bool {
        let mut hunks = self.hunks.get(path).into_iter().flatten();
        hunks.any(|hunk| hunk.first() <= first && last <= hunk.last())
    }
}

/// The new side of a hunk's header: `-1,4 +1,6 @@`.
fn new_lines(header: &str) -> Option<LineRange> {
    let new = header.split(' ').find_map(|part| part.strip_prefix('+'))?;
    let (start, count) = new.split_once(',').unwrap_or((new, "1"));
    let (start, count) = (start.parse::<u32>().ok()?, count.parse::<u32>().ok()?);
    LineRange::new(start, start.checked_add(count)?.checked_sub(1)?)
}

/// The diff from the merge base of `base` and `head` to `head`, as a pull request shows it. It fails if the
/// diff is too large for GitHub or for the client.
pub async fn between(
    transport: &(impl Transport + Sync),
    repository: &RepositoryName,
    base: &Sha,
    head: &Sha,
) -> Result<String, Error> {
    let purpose = format!("reading what changed in {repository} from {} to {}", short(base), short(head));
    for sha in [base, head] {
        // The commit becomes part of a path, so only hexadecimal digits may pass.
        if sha.as_str().is_empty() || !sha.as_str().bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let detail = format!("`{}` is not a commit id", short(sha));
            return Err(Error::Malformed { what: purpose, detail });
        }
    }
    let path = format!("/repos/{}/{}/compare/{base}...{head}", repository.owner(), repository.name());
    read(transport, path, purpose).await
}

async fn read(transport: &(impl Transport + Sync), path: String, purpose: String) -> Result<String, Error> {
    let reply = transport.send(&Call::Diff { path, purpose: purpose.clone().into() }).await?;
    match reply.body {
        serde_json::Value::String(diff) => Ok(diff),
        // An empty answer means that nothing changed.
        serde_json::Value::Null => Ok(String::new()),
        _ => Err(Error::Malformed { what: purpose, detail: "it is not a diff".to_owned() }),
    }
}

fn short(sha: &Sha) -> String {
    sha.as_str().chars().take(12).collect()
}
