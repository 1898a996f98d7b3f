//! Reads secrets from private files, removes them from texts, and finds them in texts that leave (S2).

mod scanner;

pub use scanner::{SecretFound, SecretScanner};

use secrecy::{ExposeSecret, SecretString};
use std::path::Path;
use tokio::io::AsyncReadExt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PrivateFileError {
    /// Users other than the owner can read the file.
    TooOpen,
    Unreadable(String),
}

/// Bytes of a secret at most.
const LONGEST: u64 = 4096;

/// Reads a secret from a file that only its owner can read.
pub(crate) async fn read_private_file(path: &Path) -> Result<String, PrivateFileError> {
    let failed = |error: std::io::Error| PrivateFileError::Unreadable(error.kind().to_string());
    let file = tokio::fs::File::open(path).await.map_err(failed)?;
    // The check uses the open file, so nobody can swap the path in between.
    let metadata = file.metadata().await.map_err(failed)?;
    if others_can_read(&metadata) {
        return Err(PrivateFileError::TooOpen);
    }
    let mut text = String::new();
    file.take(LONGEST + 1).read_to_string(&mut text).await.map_err(failed)?;
    if text.len() as u64 > LONGEST {
        return Err(PrivateFileError::Unreadable("it is larger than 4 KiB, so it is no token".to_owned()));
    }
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

/// Removes the secret from a text that a server may have echoed it in.
pub(crate) fn scrub(text: &str, secret: Option<&SecretString>) -> String {
    match secret.map(ExposeSecret::expose_secret) {
        Some(secret) if !secret.is_empty() => text.replace(secret, "[token]"),
        _ => text.to_owned(),
    }
}
