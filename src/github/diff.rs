//! What changed between two commits, as a unified diff.

use super::call::{Call, Transport};
use super::error::Error;
use crate::domain::snapshot::{PullRequestSnapshot, RepositoryName};
use crate::domain::vocabulary::Sha;

/// R1, R2: what a reviewer has to look at: what changed since the head it last looked at, or all of the pull request. Where
/// that head was rewritten away, the forge cannot tell what changed since without counting everybody else's changes,
/// and where it was collected as garbage it can tell nothing; then it is all of the pull request again.
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

/// The diff from where `head` left `base` to `head`, which is what a pull request shows. A diff that GitHub finds too
/// large, or that is larger than we keep, is refused.
pub async fn between(
    transport: &(impl Transport + Sync),
    repository: &RepositoryName,
    base: &Sha,
    head: &Sha,
) -> Result<String, Error> {
    let purpose = format!("reading what changed in {repository} from {} to {}", short(base), short(head));
    for sha in [base, head] {
        // It stands in a path, so nothing else may pass for one.
        if sha.as_str().is_empty() || !sha.as_str().bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let detail = format!("`{}` is no commit", short(sha));
            return Err(Error::Malformed { what: purpose, detail });
        }
    }
    let path = format!("/repos/{}/{}/compare/{base}...{head}", repository.owner(), repository.name());
    let reply = transport.send(&Call::Diff { path, purpose: purpose.clone().into() }).await?;
    match reply.body {
        serde_json::Value::String(diff) => Ok(diff),
        // Nothing changed, and an answer without a body says so.
        serde_json::Value::Null => Ok(String::new()),
        _ => Err(Error::Malformed { what: purpose, detail: "it is not a diff".to_owned() }),
    }
}

fn short(sha: &Sha) -> String {
    sha.as_str().chars().take(12).collect()
}
