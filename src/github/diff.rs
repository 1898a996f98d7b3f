//! What changed between two commits, as a unified diff.

use super::call::{Call, Transport};
use super::error::Error;
use crate::domain::snapshot::RepositoryName;
use crate::domain::vocabulary::Sha;

/// The diff from where `head` left `base` to `head`, which is what a pull request shows. A diff that GitHub finds too
/// large, or that is larger than we keep, is refused.
pub async fn between(
    transport: &(impl Transport + Sync),
    repository: &RepositoryName,
    base: &Sha,
    head: &Sha,
) -> Result<String, Error> {
    let purpose = format!("Reading what changed in {repository} from {} to {}", short(base), short(head));
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
