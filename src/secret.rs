//! Reading a secret from a file that nobody else can read (S2).

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
