//! The journal list: one row for each record.

use super::line;
use crate::journal::Record;
use crate::output::sanitize;
use crate::tui::model::RowKey;
use jiff::Timestamp;

#[derive(Debug, Clone)]
pub struct JournalRow {
    pub seq: u64,
    pub at: Timestamp,
    pub about: String,
    pub by: String,
    pub kind: String,
    pub why: String,
    pub key: Option<String>,
    /// The record's JSON, formatted.
    pub body: String,
}

/// How many of the newest records the screen keeps; `cloture journal` prints the rest.
pub const KEPT: usize = 2_000;

impl JournalRow {
    pub fn of(record: &Record) -> JournalRow {
        let Record { seq, at, pull_request, kind, by, why, key, body } = record;
        let about = pull_request.as_ref().map_or_else(|| "–".to_owned(), ToString::to_string);
        let text = serde_json::to_string_pretty(body).unwrap_or_default();
        JournalRow {
            seq: *seq,
            at: *at,
            about: line(&about),
            by: line(by),
            kind: line(&kind.replace('_', " ")),
            why: line(why),
            key: key.as_deref().map(line),
            body: sanitize::block(&text),
        }
    }

    pub fn key(&self) -> RowKey {
        RowKey::new(self.seq.to_string())
    }

    /// The text that a filter searches.
    pub fn haystack(&self) -> String {
        let JournalRow { about, by, kind, why, body, .. } = self;
        line(&format!("{about} {by} {kind} {why} {body}"))
    }
}
