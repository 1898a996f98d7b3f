//! Reads the unified diff between two commits.

use super::call::{Call, Transport};
use super::error::Error;
use crate::domain::snapshot::{PullRequestSnapshot, RepositoryName};
use crate::domain::vocabulary::Sha;

/// The diff that a reviewer gets: the changes since the head that it last reviewed, or the whole pull request
/// (R1, R2). After a force-push away from that head, GitHub's comparison would include other people's
/// changes, and GitHub may have deleted the commit. In both cases the reviewer gets the whole pull request.
pub async fn in_scope(
    transport: &(impl Transport + Sync),
    snapshot: &PullRequestSnapshot,
    baseline: Option<&Sha>,
) -> Result<String, Error> {
    let (repository, head) = (&snapshot.repository, &snapshot.head.sha);
    let rewritten = |sha: &&Sha| snapshot.force_pushes.iter().any(|push| push.before.as_ref() == Some(*sha));
    if let Some(baseline) = baseline.filter(|sha| !rewritten(sha)) {
        match between(transport, repository, baseline, head).await {
            Err(Error::Gone { .. }) => {}
            outcome => return outcome,
        }
    }
    between(transport, repository, &snapshot.base.sha, head).await
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
