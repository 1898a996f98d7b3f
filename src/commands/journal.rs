//! `cloture journal`: what happened, a line each, for people and for scripts.

use crate::failure::Failure;
use crate::github::PullRequestAddress;
use crate::journal::{Journal, JournalError, Record, RecordFilter, RecordOrder};
use crate::output::sanitize;
use serde_json::json;
use std::io::{self, Write};

/// What somebody wants to see, as it was typed.
#[derive(Debug, Clone, Default)]
pub struct JournalQuery<'a> {
    pub pull_request: Option<&'a str>,
    pub kind: Option<&'a str>,
    pub search: Option<&'a str>,
    /// The newest so many.
    pub limit: Option<usize>,
    pub json: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum JournalCommandError {
    #[error(transparent)]
    Usage(#[from] Failure),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("what happened cannot be printed")]
    Output(#[from] io::Error),
}

impl JournalQuery<'_> {
    /// Without a host: a pull request is meant wherever it is, unless a web address says where.
    fn filter(&self) -> Result<RecordFilter, Failure> {
        let named = self.pull_request.map(PullRequestAddress::parse).transpose()?;
        let (host, address) = named.map_or((None, None), |(host, address)| (host, Some(address)));
        Ok(RecordFilter {
            host,
            number: address.as_ref().map(|address| address.number),
            repository: address.map(|address| address.repository),
            kind: self.kind.map(ToOwned::to_owned),
            text: self.search.map(ToOwned::to_owned),
            ..RecordFilter::default()
        })
    }
}

/// Prints what is there, oldest first. With `follow` it goes on with what anybody appends, until that is over.
pub async fn show(
    journal: &Journal,
    wanted: &JournalQuery<'_>,
    follow: Option<impl Future<Output = ()>>,
    output: &mut impl Write,
) -> Result<(), JournalCommandError> {
    let filter = wanted.filter()?;
    // What is appended from here on is the follower's to show.
    let newest = RecordFilter { order: RecordOrder::NewestFirst, limit: Some(1), ..RecordFilter::default() };
    let last = journal.records(newest).await?.first().map_or(0, |record| record.seq);
    let newest = RecordFilter { order: RecordOrder::NewestFirst, limit: wanted.limit, ..filter.clone() };
    let mut records = journal.records(newest).await?;
    records.reverse();
    records.retain(|record| record.seq <= last || follow.is_none());
    let is_empty = records.is_empty();
    for record in &records {
        print(record, wanted, output)?;
    }
    let Some(over) = follow else {
        if is_empty && !wanted.json {
            writeln!(output, "The journal has no such record.")?;
        }
        return Ok(());
    };
    let mut over = std::pin::pin!(over);
    let mut follower = journal.follow(last);
    loop {
        let record = tokio::select! {
            record = follower.next() => record?,
            () = &mut over => return Ok(()),
        };
        if filter.fits(&record) {
            print(&record, wanted, output)?;
            output.flush()?;
        }
    }
}

fn print(record: &Record, wanted: &JournalQuery<'_>, output: &mut impl Write) -> io::Result<()> {
    if wanted.json {
        writeln!(output, "{}", sanitize::json(&as_json(record).to_string()))
    } else {
        writeln!(output, "{}", sanitize::line(&as_line(record)))
    }
}

/// When, about what, who, what, why. In UTC, so that two people looking at the same record see the same.
fn as_line(record: &Record) -> String {
    let about = record.pull_request.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
    let Record { at, by, kind, why, body, .. } = record;
    let words = match (detail(body), why.is_empty()) {
        // Where the reason is what is to be done, once is enough.
        (Some(detail), is_blank) if is_blank || detail == *why => detail,
        (Some(detail), _) => format!("{detail} ({why})"),
        (None, _) => why.clone(),
    };
    format!("{at:.0}  {about:<20}  {by:<16}  {kind:<16}  {words}").trim_end().to_owned()
}

/// What a person would ask first about a record, where its body says so: what was decided about which thread, what is to be
/// done, what came of it.
fn detail(body: &serde_json::Value) -> Option<String> {
    let text = |name: &str| body.get(name).and_then(serde_json::Value::as_str);
    let target = body.pointer("/to/target").and_then(serde_json::Value::as_str);
    match (text("verb"), text("thread")) {
        (Some(verb), Some(thread)) => Some(format!("{verb} {thread}")),
        (None, Some(thread)) if target.is_some() => target.map(|target| format!("send {thread} to {target}")),
        (None, Some(thread)) if text("to") == Some("nowhere") => Some(format!("withhold {thread}")),
        (None, Some(thread)) if text("to") == Some("as_configured") => {
            Some(format!("leave {thread} to the rules"))
        }
        _ => text("does").or_else(|| text("outcome")).map(ToOwned::to_owned),
    }
}

fn as_json(record: &Record) -> serde_json::Value {
    let Record { seq, at, pull_request, kind, by, why, key, body } = record;
    json!({
        "seq": seq,
        "at": at,
        "host": pull_request.as_ref().map(|about| &about.host),
        "repository": pull_request.as_ref().map(|about| &about.repository),
        "number": pull_request.as_ref().map(|about| about.number),
        "kind": kind,
        "by": by,
        "why": why,
        "key": key,
        "body": body,
    })
}
