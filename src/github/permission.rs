//! Asks what the token's owner may do in a repository, and which merge methods it allows.

use super::call::{Call, Transport};
use super::documents;
use super::error::Error;
use super::wire;
use super::write::MergeMethod;
use crate::domain::snapshot::RepositoryName;
use serde_json::json;

/// From the least to the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permission {
    /// No access beyond that of the public, or a level that Cloture does not know.
    None,
    Read,
    Triage,
    Write,
    Maintain,
    Admin,
}

/// The rights of the token's owner in one repository.
#[derive(Debug, Clone, PartialEq)]
pub struct Access {
    pub permission: Permission,
    /// Nobody can write to an archived repository.
    pub archived: bool,
    /// The allowed merge methods, with the token owner's default first.
    pub methods: Vec<MergeMethod>,
}

impl Permission {
    fn from_name(name: Option<&str>) -> Self {
        match name {
            Some("READ") => Permission::Read,
            Some("TRIAGE") => Permission::Triage,
            Some("WRITE") => Permission::Write,
            Some("MAINTAIN") => Permission::Maintain,
            Some("ADMIN") => Permission::Admin,
            _ => Permission::None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Permission::None => "none",
            Permission::Read => "read",
            Permission::Triage => "triage",
            Permission::Write => "write",
            Permission::Maintain => "maintain",
            Permission::Admin => "admin",
        }
    }
}

pub async fn ask(transport: &(impl Transport + Sync), repository: &RepositoryName) -> Result<Access, Error> {
    let call = Call::graphql(
        &documents::PERMISSION,
        json!({"owner": repository.owner(), "name": repository.name()}),
    );
    let mut reply = transport.send(&call).await?;
    let answer: wire::PermissionAnswer = reply.parse(&call)?;
    let Some(found) = answer.repository else { return Err(reply.absence(&call)) };
    Ok(Access {
        permission: Permission::from_name(found.viewer_permission.as_deref()),
        archived: found.is_archived,
        methods: methods(&found),
    })
}

fn methods(found: &wire::RepositoryPermission) -> Vec<MergeMethod> {
    let all = [
        ("MERGE", found.merge_commit_allowed, MergeMethod::Merge),
        ("SQUASH", found.squash_merge_allowed, MergeMethod::Squash),
        ("REBASE", found.rebase_merge_allowed, MergeMethod::Rebase),
    ];
    let mut allowed: Vec<_> = all.into_iter().filter(|(_, allowed, _)| *allowed).collect();
    allowed.sort_by_key(|(name, ..)| *name != found.viewer_default_merge_method);
    allowed.into_iter().map(|(.., method)| method).collect()
}
