//! Secrets: read from a file that nobody else can read, and kept out of what others say (S2).

use secrecy::{ExposeSecret, SecretString};
use std::path::Path;
use tokio::io::AsyncReadExt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PrivateFileError {
    /// Others than its owner can read it.
    TooOpen,
    Unreadable(String),
}

/// No secret is longer.
const LONGEST: u64 = 4096;

/// The content of a file, as far as a secret can be long.
pub(crate) async fn read_private_file(path: &Path) -> Result<String, PrivateFileError> {
    let failed = |error: std::io::Error| PrivateFileError::Unreadable(error.kind().to_string());
    let file = tokio::fs::File::open(path).await.map_err(failed)?;
    // The opened file is asked, not the path: nobody can swap it in between.
    let metadata = file.metadata().await.map_err(failed)?;
    if others_can_read(&metadata) {
        return Err(PrivateFileError::TooOpen);
    }
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).await.map_err(failed)?;
    Ok(text)
}

#[cfg(unix)]
fn others_can_read(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn others_can_read(_: &std::fs::Metadata) -> bool {
    false
}

/// Removes a secret from a text that came from elsewhere, in case it was echoed back.
pub(crate) fn scrub(text: &str, secret: Option<&SecretString>) -> String {
    match secret.map(ExposeSecret::expose_secret) {
        Some(secret) if !secret.is_empty() => text.replace(secret, "[token]"),
        _ => text.to_owned(),
    }
}
