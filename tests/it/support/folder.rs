//! Temporary folders. They are in memory if the machine has a file system for that: thousands of small
//! journals and repositories spend more time waiting for the disk than the tests spend computing.

use std::path::Path;
use std::sync::OnceLock;
use tempfile::TempDir;

/// Removed with everything in it when the value is dropped. `TMPDIR` chooses another place.
pub(crate) fn temporary() -> TempDir {
    static IS_IN_MEMORY: OnceLock<bool> = OnceLock::new();
    let memory = Path::new("/dev/shm");
    let folder = if *IS_IN_MEMORY.get_or_init(|| std::env::var_os("TMPDIR").is_none() && is_usable(memory)) {
        tempfile::tempdir_in(memory)
    } else {
        tempfile::tempdir()
    };
    folder.unwrap()
}

/// A container may offer only a few megabytes, or forbid the scripts that tests run.
#[cfg(target_os = "linux")]
fn is_usable(folder: &Path) -> bool {
    use rustix::fs::{StatVfsMountFlags, statvfs};
    const ENOUGH: u64 = 1 << 30;
    statvfs(folder).is_ok_and(|found| {
        let is_executable = !found.f_flag.intersects(StatVfsMountFlags::NOEXEC | StatVfsMountFlags::RDONLY);
        is_executable && found.f_bavail.saturating_mul(found.f_frsize) >= ENOUGH
    })
}

#[cfg(not(target_os = "linux"))]
fn is_usable(_: &Path) -> bool {
    false
}
