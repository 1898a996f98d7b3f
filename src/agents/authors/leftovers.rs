//! The folders of author rounds, and what is left of a round whose Cloture was killed.
//!
//! A folder is in use while its lock is held. The agent inherits the lock, because it goes on working if
//! Cloture is killed. The operating system gives the lock back when the last of them has ended.

use super::git::Git;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Begins the name of each round's folder.
const PREFIX: &str = "cloture-work-";
/// Versions without locks gave their folders such names. They are not touched while they exist.
const FORMER_PREFIX: &str = ".tmp";
const LOCK: &str = "lock";
const TREE: &str = "work";
/// The git folder of the clone. Versions that made linked work trees had none.
const GIT_FOLDER: &str = "git";
const TEMPORARY: &str = "tmp";

/// The folder of one round, in use until it is dropped.
#[derive(Debug)]
pub(super) struct RoundFolder {
    _lock: File,
    /// Dropped last, so it also removes files that git left.
    folder: TempDir,
}

impl RoundFolder {
    pub(super) fn create() -> io::Result<RoundFolder> {
        loop {
            let folder = tempfile::Builder::new().prefix(PREFIX).tempdir()?;
            let place = folder.path().join(LOCK);
            let lock = File::create_new(&place)?;
            lock.lock()?;
            // Another instance may have taken the folder for a leftover before it was locked.
            if place.try_exists()? {
                leave_to_programs(&lock)?;
                fs::create_dir(folder.path().join(TEMPORARY))?;
                return Ok(RoundFolder { _lock: lock, folder });
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Where git puts the work tree.
    pub(super) fn tree(&self) -> PathBuf {
        self.folder.path().join(TREE)
    }

    pub(super) fn git_folder(&self) -> PathBuf {
        self.folder.path().join(GIT_FOLDER)
    }

    /// For the agent's temporary files.
    pub(super) fn temporary(&self) -> PathBuf {
        self.folder.path().join(TEMPORARY)
    }
}

/// Removes the folders of rounds that nobody uses. Earlier versions made linked work trees: those of the checkout
/// go with git's entries for them. A failure leaves them to the next start.
pub(super) async fn remove(git: &Git) {
    let listed = git.run(&["worktree", "list", "--porcelain"]).await.unwrap_or_default();
    for tree in listed.lines().filter_map(|line| line.strip_prefix("worktree ")).map(Path::new) {
        let Some(folder) = tree.parent().filter(|_| tree.ends_with(TREE)) else { continue };
        let begins = |prefix: &str| {
            let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
            name.is_some_and(|name| name.starts_with(prefix))
        };
        if !begins(PREFIX) && !begins(FORMER_PREFIX) {
            continue;
        }
        // Of a folder that is gone, only git's entry is left.
        let is_gone = folder.try_exists().is_ok_and(|exists| !exists);
        let claimed = if begins(PREFIX) { claim(folder) } else { None };
        if !is_gone && claimed.is_none() {
            continue;
        }
        tracing::info!(folder = %folder.display(), "removing the work tree of an interrupted round");
        // Twice: git itself locks a work tree until it is complete.
        let place = tree.to_string_lossy();
        let removed = git.run(&["worktree", "remove", "--force", "--force", &place]).await;
        if removed.is_ok() && claimed.is_some() {
            let _left_to_the_next_start = tokio::fs::remove_dir_all(folder).await;
        }
    }
    for folder in unlinked_folders() {
        if let Some(_claimed) = claim(&folder) {
            let _left_to_the_next_start = fs::remove_dir_all(&folder);
        }
    }
}

/// Folders with a clone, and those of rounds that were interrupted before they had one. A folder with a linked
/// work tree belongs to the checkout that lists it, which need not be ours.
fn unlinked_folders() -> Vec<PathBuf> {
    let entries = fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    let folders = folders.map(|entry| entry.path());
    let exists = |folder: &Path, name: &str| folder.join(name).try_exists().unwrap_or(true);
    folders.filter(|folder| !exists(folder, TREE) || exists(folder, GIT_FOLDER)).collect()
}

/// The lock of a folder that is ours and that nobody uses.
fn claim(folder: &Path) -> Option<File> {
    let is_folder = fs::symlink_metadata(folder).is_ok_and(|it| it.is_dir() && is_own(&it));
    // A folder without a lock was not made by a round, or its round has only just begun.
    let lock = File::options().write(true).open(folder.join(LOCK)).ok().filter(|_| is_folder)?;
    lock.try_lock().ok()?;
    Some(lock)
}

#[cfg(unix)]
fn is_own(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.uid() == rustix::process::getuid().as_raw()
}

#[cfg(not(unix))]
fn is_own(_: &fs::Metadata) -> bool {
    true
}

/// Lets programs that are started from now on inherit the lock.
#[cfg(unix)]
fn leave_to_programs(lock: &File) -> io::Result<()> {
    Ok(rustix::io::fcntl_setfd(lock, rustix::io::FdFlags::empty())?)
}

#[cfg(not(unix))]
fn leave_to_programs(_: &File) -> io::Result<()> {
    Ok(())
}
