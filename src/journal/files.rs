//! The files of an SQLite journal: readable only by their owner, opened by one instance at a time, and set
//! aside instead of overwritten when they are damaged.

use super::address::JournalAddress;
use super::error::{JournalError, StorageFault};
use super::store::{Store, StoreSetup};
use crate::agents::bounded_file;
use jiff::Timestamp;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// A damaged journal, and its new place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    pub to: PathBuf,
    pub why: String,
}

/// Marks the file as in use while this value exists.
#[derive(Debug)]
pub(super) struct InUse {
    _shared: File,
}

/// Opens the file and creates it if it is missing. A damaged file is set aside and replaced. Locks and file
/// operations run on blocking threads.
pub(super) async fn open(
    path: &Path,
    setup: &StoreSetup,
    now: Timestamp,
) -> Result<(Store, InUse, Option<SetAside>), JournalError> {
    let address = JournalAddress::file(path);
    let files = Files { path: path.to_owned() };
    let opening = files.clone().blocking(Files::lock_opening).await?;
    let mut set_aside = None;
    loop {
        let in_use = files.clone().blocking(Files::lock_in_use).await?;
        let why = match files.clone().blocking(Files::prepare).await? {
            Some(why) => why,
            None => match ready(&address, setup).await {
                Ok(store) => {
                    // From here on other instances may open it.
                    drop(opening);
                    return Ok((store, in_use, set_aside));
                }
                Err(fault) => match fault.into_journal_error(&address) {
                    JournalError::Damaged { why, .. } => why,
                    other => return Err(other),
                },
            },
        };
        if set_aside.is_some() {
            return Err(JournalError::Damaged { place: address.to_string(), why });
        }
        drop(in_use);
        let to = files.clone().blocking(move |files| files.move_away(now)).await?;
        let to = to.ok_or_else(|| JournalError::Damaged { place: address.to_string(), why: why.clone() })?;
        set_aside = Some(SetAside { to, why });
    }
}

/// Connects, checks the whole file for damage, and migrates its tables.
async fn ready(address: &JournalAddress, setup: &StoreSetup) -> Result<Store, StorageFault> {
    let mut store = Store::connect(address, setup).await?;
    let verdict: String =
        sqlx::query_scalar("PRAGMA quick_check(1)").fetch_one(&mut store.connection).await?;
    if verdict != "ok" {
        return Err(JournalError::Damaged { place: address.to_string(), why: verdict }.into());
    }
    store.migrate(address).await?;
    Ok(store)
}

#[derive(Debug, Clone)]
struct Files {
    path: PathBuf,
}

impl Files {
    /// Runs work that may block on a disk or a lock.
    async fn blocking<T: Send + 'static>(
        self,
        work: impl FnOnce(&Files) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, JournalError> {
        let place = self.path.display().to_string();
        let done = tokio::task::spawn_blocking(move || work(&self)).await;
        done.unwrap_or_else(|error| Err(JournalError::Other { place, why: error.to_string() }))
    }

    /// Held while the file is checked and its tables are created, so that instances that start together take
    /// turns.
    fn lock_opening(&self) -> Result<File, JournalError> {
        if let Some(folder) = self.path.parent() {
            let mut builder = DirBuilder::new();
            builder.recursive(true);
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder.create(folder).map_err(|error| self.failed("cannot create its folder", error))?;
        }
        let file = self.lock_file(".opening")?;
        file.lock().map_err(|error| self.failed("cannot lock it", error))?;
        Ok(file)
    }

    /// Held while the journal is open, so that no instance moves a file that another one uses.
    fn lock_in_use(&self) -> Result<InUse, JournalError> {
        let file = self.lock_file(".in-use")?;
        file.lock_shared().map_err(|error| self.failed("cannot lock it", error))?;
        Ok(InUse { _shared: file })
    }

    /// Creates the file if it is missing. Returns damage that SQLite would not notice.
    ///
    /// An existing file is not opened here: under POSIX, closing it would release the locks that another
    /// journal in this process holds on it.
    fn prepare(&self) -> Result<Option<String>, JournalError> {
        let cannot = |error| self.failed("cannot open the journal", error);
        match private().create_new(true).open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => drop(made.map_err(cannot)?),
        }
        let metadata = fs::metadata(&self.path).map_err(cannot)?;
        // Changing the permissions of a device that a link points to would harm the whole machine.
        if !metadata.is_file() {
            return Err(cannot(bounded_file::not_regular()));
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mut permissions = metadata.permissions();
            if permissions.mode() & 0o077 != 0 {
                permissions.set_mode(0o600);
                fs::set_permissions(&self.path, permissions).map_err(cannot)?;
            }
        }
        // SQLite takes an empty file for a new one and discards the changes in its log.
        let pending = || fs::metadata(self.beside("-wal")).is_ok_and(|log| log.len() > 0);
        let is_emptied = metadata.len() == 0 && pending();
        Ok(is_emptied.then(|| "it is empty, but its log has changes".to_owned()))
    }

    /// Renames the file, its log and its index. None if another instance uses it.
    fn move_away(&self, now: Timestamp) -> Result<Option<PathBuf>, JournalError> {
        let users = self.lock_file(".in-use")?;
        match users.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(self.failed("cannot lock it", error)),
        }
        let stamp = now.strftime("%Y%m%dT%H%M%SZ");
        let names = (1..).map(|count: u32| match count {
            1 => format!(".damaged-{stamp}"),
            again => format!(".damaged-{stamp}-{again}"),
        });
        let is_free = |name: &String| {
            ["", "-wal", "-shm"].iter().all(|part| !self.beside(&format!("{name}{part}")).exists())
        };
        let mut free = names.filter(is_free);
        let name = free.next().unwrap_or_default();
        let to = self.beside(&name);
        // The log goes first. A crash in between then leaves a file without its log, which is damaged again;
        // the other order would leave a log that a new file would apply.
        for part in ["-wal", "-shm", ""] {
            match fs::rename(self.beside(part), self.beside(&format!("{name}{part}"))) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(self.failed("cannot set the damaged journal aside", error));
                }
                _ => {}
            }
        }
        Ok(Some(to))
    }

    fn beside(&self, ending: &str) -> PathBuf {
        let mut name = OsString::from(&self.path);
        name.push(ending);
        PathBuf::from(name)
    }

    /// Opens a file that exists only to be locked.
    fn lock_file(&self, ending: &str) -> Result<File, JournalError> {
        let opened = private().create(true).truncate(false).open(self.beside(ending));
        opened.map_err(|error| self.failed("cannot open the journal", error))
    }

    fn failed(&self, why: &'static str, source: io::Error) -> JournalError {
        let place = self.path.display().to_string();
        match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                JournalError::ReadOnly { place }
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => JournalError::Full { place },
            _ => JournalError::Files { path: self.path.clone(), why, source },
        }
    }
}

/// Options for files that only their owner may read.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
