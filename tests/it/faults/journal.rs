//! Faults of the journal's file while it is in use.

use super::trouble::Trouble;
use cloture::journal::{Journal, JournalAddress, JournalError, JournalOptions, NewRecord};
use jiff::Timestamp;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A page limit that every history here fits into and that a test can fill quickly.
pub(crate) const PAGES: u32 = 400;

/// Another user of the same file.
pub(crate) struct Disk {
    path: PathBuf,
    other: Option<SqliteConnection>,
}

impl Disk {
    pub(crate) fn of(path: &Path) -> Disk {
        Disk { path: path.to_owned(), other: None }
    }

    /// `own` is the journal that runs out of room.
    pub(crate) async fn strike(&mut self, trouble: Trouble, own: Option<&Journal>) {
        match trouble {
            Trouble::JournalLocked => self.run(&["BEGIN IMMEDIATE"]).await,
            Trouble::DiskFull => self.fill(own.unwrap()).await,
            Trouble::JournalDamaged => self.damage().await,
            _ => {}
        }
    }

    /// Releases the lock or makes room. Damage stays.
    pub(crate) async fn end(&mut self, trouble: Trouble) {
        match trouble {
            Trouble::JournalLocked => self.run(&["ROLLBACK"]).await,
            Trouble::DiskFull => self.run(&["DELETE FROM filler"]).await,
            _ => {}
        }
        if let Some(other) = self.other.take() {
            other.close().await.unwrap();
        }
    }

    async fn run(&mut self, statements: &[&'static str]) {
        let other = self.other().await;
        for statement in statements {
            sqlx::raw_sql(*statement).execute(&mut *other).await.unwrap();
        }
    }

    async fn other(&mut self) -> &mut SqliteConnection {
        if self.other.is_none() {
            let options = SqliteConnectOptions::new().filename(&self.path);
            self.other = Some(options.disable_statement_logging().connect().await.unwrap());
        }
        self.other.as_mut().unwrap()
    }

    /// Uses up all pages, and then the room in the existing ones.
    async fn fill(&mut self, own: &Journal) {
        self.run(&["PRAGMA max_page_count = 400", "CREATE TABLE filler (content BLOB)"]).await;
        for size in
            ["INSERT INTO filler VALUES (zeroblob(100000))", "INSERT INTO filler VALUES (zeroblob(3000))"]
        {
            let other = self.other().await;
            while sqlx::raw_sql(size).execute(&mut *other).await.is_ok() {}
        }
        for size in [3000, 300, 30, 1] {
            loop {
                let note = NewRecord::new("note", "somebody").with_reason("x".repeat(size));
                match own.append_one(note).await {
                    Ok(_) => {}
                    Err(JournalError::Full { .. }) => break,
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }

    /// Zeroes the file while a journal has it open. A write in between makes SQLite drop its cache. Another
    /// process does it: closing the file in this process would release the locks of its journals.
    async fn damage(&mut self) {
        self.run(&["BEGIN IMMEDIATE", "CREATE TABLE other (content BLOB)"]).await;
        zero(&self.path);
        self.run(&["COMMIT"]).await;
        if let Some(other) = self.other.take() {
            other.close().await.unwrap();
        }
    }
}

/// Overwrites a journal's file and its log with zeroes.
pub(crate) fn zero(path: &Path) {
    for ending in ["", "-wal"] {
        let file = format!("{}{ending}", path.display());
        let Ok(metadata) = std::fs::metadata(&file) else { continue };
        let mut dd = Command::new("dd");
        dd.args(["if=/dev/zero", "bs=512", "conv=notrunc", "status=none"]);
        dd.arg(format!("of={file}")).arg(format!("count={}", metadata.len().div_ceil(512)));
        assert!(dd.status().unwrap().success());
    }
}

/// Makes the next start find a new journal. A child process shares our locks between fork and exec, so the
/// damaged file may seem in use for a moment.
pub(crate) async fn set_aside(address: &JournalAddress, now: Timestamp) {
    for _ in 0..200 {
        match Journal::open(address, JournalOptions::new(now)).await {
            Ok(opened) => return opened.journal.close().await.unwrap(),
            Err(JournalError::Damaged { .. }) => tokio::time::sleep(Duration::from_millis(10)).await,
            Err(error) => panic!("{error}"),
        }
    }
    panic!("it is never set aside");
}
