//! Routes that read code: the diff of a pull request, the comparison of two commits, a file's contents.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::{RestAnswer, RestRequest, not_found, shapes};
use crate::simulator::world::{RepositoryId, World, WorldRefusal, diff};

pub(super) fn compare(
    world: &World,
    repository: RepositoryId,
    basehead: &str,
    accept: &str,
) -> Result<RestAnswer, WorldRefusal> {
    let (base, head) = basehead.split_once("...").ok_or_else(not_found)?;
    let find = |name: &str| world.commit_named(repository, name).ok_or_else(not_found);
    let (base, head) = (find(base)?, find(head)?);
    let changes = diff::changes(&base.tree, &head.tree);
    if accept.contains("diff") {
        return Ok(RestAnswer::text(unified(&changes)));
    }
    // Walks from head back to base along first parents.
    let mut between = Vec::new();
    let mut at = Some(head);
    while let Some(commit) = at.filter(|commit| commit.oid != base.oid) {
        between.push(shapes::commit(world, commit));
        at = commit.parents.first().and_then(|parent| world.commit(parent));
    }
    let reached = at.is_some();
    between.reverse();
    let status = match (base.oid == head.oid, reached) {
        (true, _) => "identical",
        (false, true) => "ahead",
        (false, false) => "diverged",
    };
    let body = json!({
        "status": status,
        "ahead_by": between.len(),
        "behind_by": usize::from(!reached),
        "total_commits": between.len(),
        "base_commit": shapes::commit(world, base),
        "merge_base_commit": shapes::commit(world, base),
        "commits": between,
        "files": changes.iter().map(shapes::file).collect::<Vec<_>>(),
    });
    Ok(RestAnswer::json(200, body))
}

pub(super) fn unified(changes: &[diff::SimulatedFileChange]) -> String {
    let mut text = String::new();
    for file in changes {
        let old = file.previous_path.as_deref().unwrap_or(&file.path);
        let (from, to) = match file.status {
            diff::FileStatus::Added => ("/dev/null".to_owned(), format!("b/{}", file.path)),
            diff::FileStatus::Removed => (format!("a/{old}"), "/dev/null".to_owned()),
            _ => (format!("a/{old}"), format!("b/{}", file.path)),
        };
        let (new, hunks) = (&file.path, &file.patch);
        let _ = write!(text, "diff --git a/{old} b/{new}\n--- {from}\n+++ {to}\n{hunks}\n");
    }
    text
}

pub(super) fn contents(
    world: &World,
    repository: RepositoryId,
    path: &str,
    request: &RestRequest<'_>,
) -> Result<RestAnswer, WorldRefusal> {
    let name = request.parameter("ref").unwrap_or(&world[repository].default_branch);
    let missing = || WorldRefusal::NotFound(format!("No commit found for the ref {name}"));
    let commit = world.commit_named(repository, name).ok_or_else(missing)?;
    let text = commit.tree.get(path).ok_or_else(not_found)?;
    if request.accept.contains("raw") {
        return Ok(RestAnswer::text(text.to_string()));
    }
    let body = json!({
        "type": "file",
        "encoding": "base64",
        "name": path.rsplit('/').next(),
        "path": path,
        "size": text.len(),
        "sha": &*commit.oid,
        "content": STANDARD.encode(text.as_bytes()),
    });
    Ok(RestAnswer::json(200, body))
}
