//! Files that are damaged, newer, locked, full or read-only.

use crate::support::places::{Place, note, now, on_both, options};
use cloture::journal::{
    Journal, JournalAddress, JournalError, JournalOptions, NewRecord, OpenedJournal, RecordFilter, SET_ASIDE,
    SetAside,
};
use sqlx::{ConnectOptions, Connection};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A closed journal with enough records to be damaged in the middle.
async fn filled() -> (Place, PathBuf) {
    let place = Place::file();
    let journal = place.open().await;
    let records = (0..400).map(|number| note("x".repeat(200)).with_key(number.to_string())).collect();
    journal.append(records).await.unwrap();
    journal.close().await.unwrap();
    let path = place.address.path().unwrap().to_owned();
    (place, path)
}

async fn reopened(place: &Place) -> (Journal, SetAside) {
    let OpenedJournal { journal, set_aside } = place.try_open(options()).await.unwrap();
    (journal, set_aside.expect("the damage was reported"))
}

#[tokio::test]
async fn a_damaged_file_is_set_aside_unchanged_and_replaced() {
    type Damage = fn(&Path);
    let ways: [(&str, Damage); 5] = [
        ("no database", |path| fs::write(path, "this is a text, and a rather long one at that").unwrap()),
        ("cut in half", |path| {
            let content = fs::read(path).unwrap();
            fs::write(path, &content[..content.len() / 2]).unwrap();
        }),
        ("cut to a few bytes", |path| {
            let content = fs::read(path).unwrap();
            fs::write(path, &content[..100]).unwrap();
        }),
        ("overwritten in the middle", |path| {
            let mut content = fs::read(path).unwrap();
            let middle = content.len() / 2 / 4096 * 4096;
            content[middle..middle + 8192].fill(0xa5);
            fs::write(path, content).unwrap();
        }),
        ("emptied, with changes pending", |path| {
            fs::write(path, "").unwrap();
            fs::write(path.with_extension("db-wal"), "changes").unwrap();
        }),
    ];
    for (name, damage) in ways {
        let (place, path) = filled().await;
        damage(&path);
        let damaged = fs::read(&path).unwrap();
        let (journal, set_aside) = reopened(&place).await;
        assert_eq!(set_aside.to.file_name().unwrap(), "journal.db.damaged-20260304T050607Z", "{name}");
        assert_eq!(fs::read(&set_aside.to).unwrap(), damaged, "{name}: it is kept as it was");
        assert!(!set_aside.why.is_empty(), "{name}");
        let begun = journal.records(RecordFilter::default()).await.unwrap();
        assert_eq!(
            begun.iter().map(|record| record.kind.as_str()).collect::<Vec<_>>(),
            [SET_ASIDE],
            "{name}"
        );
        assert!(begun[0].why.contains("journal.db.damaged-20260304T050607Z"), "{name}: {}", begun[0].why);
        assert_eq!(journal.append_one(note("new")).await.unwrap().record().seq, 2, "{name}");
        journal.close().await.unwrap();
        let journal = place.open().await;
        assert_eq!(journal.records(RecordFilter::default()).await.unwrap().len(), 2, "{name}");
        assert!(journal.replaces_another().await.unwrap(), "{name}: it remembers that it replaced another");
    }
}

#[tokio::test]
async fn an_older_damaged_file_is_not_overwritten() {
    let place = Place::file();
    let path = place.address.path().unwrap();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    for (content, name) in [
        ("the first text that is no database", "journal.db.damaged-20260304T050607Z"),
        ("the second text that is no database", "journal.db.damaged-20260304T050607Z-2"),
        ("the third text that is no database", "journal.db.damaged-20260304T050607Z-3"),
    ] {
        fs::write(path, content).unwrap();
        let (journal, set_aside) = reopened(&place).await;
        assert_eq!(set_aside.to.file_name().unwrap(), name);
        assert_eq!(fs::read_to_string(&set_aside.to).unwrap(), content);
        journal.close().await.unwrap();
        for ending in ["", "-wal", "-shm"] {
            let _not_there = fs::remove_file(format!("{}{ending}", path.display()));
        }
    }
}

#[tokio::test]
async fn a_damaged_file_in_use_is_not_moved() {
    let (place, path) = filled().await;
    let user = place.open().await;
    let mut content = fs::read(&path).unwrap();
    content[..16].fill(b'x');
    fs::write(&path, &content).unwrap();
    let error = place.try_open(options()).await.unwrap_err();
    assert!(matches!(&error, JournalError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("stop every Cloture that uses it"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), content);
    drop(user);
}

#[tokio::test]
async fn instances_that_start_together_set_a_damaged_file_aside_once() {
    let place = Place::file();
    let path = place.address.path().unwrap();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "this is a text, and a rather long one at that").unwrap();
    let mut starts = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let place = place.clone();
        starts.spawn(async move {
            let opened = place.try_open(options()).await.unwrap();
            opened.journal.append_one(note("started")).await.unwrap();
            opened
        });
    }
    let opened = starts.join_all().await;
    assert_eq!(
        opened.iter().filter(|opened| opened.set_aside.is_some()).count(),
        1,
        "only one instance reports it"
    );
    let records = opened[0].journal.records(RecordFilter::default()).await.unwrap();
    let count = |kind: &str| records.iter().filter(|record| record.kind == kind).count();
    assert_eq!((count("note"), count(SET_ASIDE)), (8, 1));
}

#[tokio::test]
async fn a_locked_file_is_waited_for_and_then_reported_as_busy() {
    let place = Place::file();
    let impatient = JournalOptions { patience: Duration::from_millis(50), ..options() };
    let journal = place.try_open(impatient).await.unwrap().journal;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&place.text);
    let mut other = options.connect().await.unwrap();
    let transaction = other.begin_with("BEGIN IMMEDIATE").await.unwrap();
    let error = journal.append_one(note("a")).await.unwrap_err();
    assert!(matches!(&error, JournalError::Busy { .. }) && error.may_pass(), "{error}");
    transaction.rollback().await.unwrap();
    assert_eq!(journal.append_one(note("b")).await.unwrap().record().seq, 1);
}

#[tokio::test]
async fn a_full_disk_refuses_a_whole_batch_and_keeps_older_records() {
    let place = Place::file();
    let small = JournalOptions { page_limit: Some(40), ..options() };
    let journal = place.try_open(small).await.unwrap().journal;
    let mut kept = 0;
    let error = loop {
        match journal.append(vec![note("small"), note("x".repeat(5000))]).await {
            Ok(_) => kept += 2,
            Err(error) => break error,
        }
        assert!(kept < 1000, "the limit holds");
    };
    assert!(matches!(error, JournalError::Full { .. }), "{error}");
    assert!(error.to_string().ends_with("the disk or its quota is full; make room and try again"), "{error}");
    assert!(kept > 0);
    assert_eq!(journal.records(RecordFilter::default()).await.unwrap().len(), kept);
    let again = journal.append(vec![note("x".repeat(5000))]).await.unwrap_err();
    assert!(matches!(again, JournalError::Full { .. }), "it is still reported as full: {again}");
    assert_eq!(journal.append_one(note("fits")).await.unwrap().record().seq, kept as u64 + 1);
    journal.close().await.unwrap();
    let roomy = place.open().await;
    assert_eq!(roomy.append_one(note("again")).await.unwrap().record().seq, kept as u64 + 2);
}

/// Opens the file as a user who may only read it. For root, that takes another user.
#[cfg(unix)]
#[tokio::test]
async fn a_read_only_folder_is_reported_in_a_sentence() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let (place, path) = filled().await;
    let folder = path.parent().unwrap();
    let above = folder.parent().unwrap();
    let program = above.join("cloture");
    fs::copy(env!("CARGO_BIN_EXE_cloture"), &program).unwrap();
    fs::set_permissions(above, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o555)).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    for lock in [".opening", ".in-use"] {
        fs::remove_file(format!("{}{lock}", path.display())).unwrap();
    }
    let mut command = std::process::Command::new(&program);
    command.arg("--state-dir").arg(folder).arg("journal").env_clear().env("HOME", above).current_dir(above);
    if fs::metadata(folder).unwrap().uid() == 0 {
        std::os::unix::process::CommandExt::uid(&mut command, 65534);
    }
    let output = command.output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(message.contains("cannot be written: it is read-only for this user"), "{message}");
    assert_eq!(output.status.code(), Some(74));
    assert_eq!(place.open().await.records(RecordFilter::default()).await.unwrap().len(), 400);
}

#[tokio::test]
async fn a_place_that_cannot_be_a_folder_is_reported_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let address = JournalAddress::file(folder.path().join("file").join(JournalAddress::FILE_NAME));
    let error = Journal::open(&address, options()).await.unwrap_err();
    assert!(matches!(&error, JournalError::Files { .. }), "{error}");
    assert!(error.to_string().contains("cannot create its folder"), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn files_and_folder_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::file();
    let path = place.address.path().unwrap();
    let folder = path.parent().unwrap();
    let journal = place.open().await;
    journal.append_one(note("a")).await.unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(folder), 0o700);
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(mode(&entry.path()), 0o600, "{entry:?}");
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort();
    let expected =
        ["journal.db", "journal.db-shm", "journal.db-wal", "journal.db.in-use", "journal.db.opening"];
    assert_eq!(names, expected);
    journal.close().await.unwrap();
    // A file that others could read becomes private.
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
    place.open().await;
    assert_eq!(mode(path), 0o600);
}

#[tokio::test]
async fn a_path_may_have_any_characters() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a b?c=d#e%41&ü'\"").join("../x").join(JournalAddress::FILE_NAME);
    fs::create_dir_all(folder.path().join("a b?c=d#e%41&ü'\"")).unwrap();
    let address = JournalAddress::file(&path);
    let journal = Journal::open(&address, JournalOptions::new(now())).await.unwrap().journal;
    journal.append_one(NewRecord::new("a", "b")).await.unwrap();
    journal.close().await.unwrap();
    assert!(fs::metadata(folder.path().join("x").join(JournalAddress::FILE_NAME)).unwrap().len() > 0);
}

mod newer {
    use super::*;

    on_both! {
        a_journal_of_a_newer_cloture_is_refused_and_left_unchanged
    }

    async fn a_journal_of_a_newer_cloture_is_refused_and_left_unchanged(place: Place) {
        let journal = place.open().await;
        journal.append_one(note("kept")).await.unwrap();
        journal.close().await.unwrap();
        place.tamper("UPDATE cloture_schema SET version = 4000").await;
        let error = place.try_open(options()).await.unwrap_err();
        assert!(matches!(&error, JournalError::Newer { found: 4000, supported: 3, .. }), "{error}");
        let message = error.to_string();
        assert!(
            message.contains("its format is 4000, and this version reads formats up to 3; update Cloture"),
            "{message}"
        );
        place.tamper("UPDATE cloture_schema SET version = 3").await;
        assert_eq!(place.open().await.records(RecordFilter::default()).await.unwrap().len(), 1);
    }
}
