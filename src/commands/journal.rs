//! `cloture journal`: prints the records of the journal, one per line, for people and for scripts.

use crate::app::invocation::Invocation;
use crate::app::{runtime, session};
use crate::commands::Outcome;
use crate::failure::Failure;
use crate::github::PullRequestAddress;
use crate::journal::{
    Journal, JournalError, JournalOptions, KnownRepositories, Record, RecordFilter, RecordOrder,
};
use crate::output::sanitize;
use crate::output::standard::standard_output;
use crate::supervisor::clock::{Clock, SystemClock};
use serde_json::json;
use std::io::{self, Write};

/// The arguments of the command, as typed.
#[derive(Debug, Clone, Default)]
pub struct JournalQuery<'a> {
    pub pull_request: Option<&'a str>,
    pub kind: Option<&'a str>,
    pub search: Option<&'a str>,
    /// Only the newest records, at most this many.
    pub limit: Option<usize>,
    pub json: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum JournalCommandError {
    #[error(transparent)]
    Usage(#[from] Failure),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("cannot print the records")]
    Output(#[from] io::Error),
}

pub fn run(invocation: &Invocation, query: &JournalQuery<'_>, follow: bool) -> anyhow::Result<Outcome> {
    let config = invocation.load_config()?.config;
    let address = session::journal_address(&config, invocation.state_folder())?;
    runtime::block_on(async {
        let opened = Journal::open(&address, JournalOptions::new(SystemClock.now())).await?;
        invocation.warn_of_damage(opened.set_aside.as_ref());
        let until = follow.then(runtime::interrupted);
        let shown = show(&opened.journal, query, until, &mut standard_output()).await;
        opened.journal.close().await?;
        shown?;
        Ok(Outcome::SUCCESS)
    })?
}

impl JournalQuery<'_> {
    /// `OWNER/REPO#N` fits every host. Only a web address names one. Any name of a repository finds it (L13).
    fn filter(&self, known: &KnownRepositories) -> Result<RecordFilter, Failure> {
        let named = self.pull_request.map(PullRequestAddress::parse).transpose()?;
        let (host, address) = named.map_or((None, None), |(host, address)| (host, Some(address)));
        let repository = address.as_ref().map(|address| match &host {
            Some(host) => known.key_of(host, &address.repository, address.number).repository,
            None => known.filed_anywhere(&address.repository),
        });
        Ok(RecordFilter {
            host,
            number: address.map(|address| address.number),
            repository,
            kind: self.kind.map(ToOwned::to_owned),
            text: self.search.map(ToOwned::to_owned),
            ..RecordFilter::default()
        })
    }
}

/// Prints the records, oldest first. With `follow`, prints new records of every instance until `follow`
/// completes.
async fn show(
    journal: &Journal,
    query: &JournalQuery<'_>,
    follow: Option<impl Future<Output = ()>>,
    output: &mut impl Write,
) -> Result<(), JournalCommandError> {
    let known = journal.repositories().await?;
    let filter = query.filter(&known)?;
    // The follower prints every record after this one.
    let newest = RecordFilter { order: RecordOrder::NewestFirst, limit: Some(1), ..RecordFilter::default() };
    let last = journal.records(newest).await?.first().map_or(0, |record| record.seq);
    let newest = RecordFilter { order: RecordOrder::NewestFirst, limit: query.limit, ..filter.clone() };
    let mut records = journal.records(newest).await?;
    records.reverse();
    records.retain(|record| record.seq <= last || follow.is_none());
    let is_empty = records.is_empty();
    for record in records {
        print(&known.shown(record), query, output)?;
    }
    let Some(stop) = follow else {
        match query.pull_request {
            _ if !is_empty => {}
            // A script would take no line for an answer.
            Some(named) if query.json && !is_mentioned(journal, &filter).await? => {
                let unknown = format_args!("no record of the journal is about {named}");
                return Err(Failure::usage(unknown).into());
            }
            _ if query.json => {}
            _ => writeln!(output, "The journal has no matching record.")?,
        }
        return Ok(());
    };
    let mut stop = std::pin::pin!(stop);
    let mut follower = journal.follow(last);
    loop {
        let record = tokio::select! {
            record = follower.next() => record?,
            () = &mut stop => return Ok(()),
        };
        if filter.fits(&record) {
            let known = journal.repositories().await?;
            print(&known.shown(record), query, output)?;
            output.flush()?;
        }
    }
}

/// Whether any record is about the filter's pull request.
async fn is_mentioned(journal: &Journal, filter: &RecordFilter) -> Result<bool, JournalError> {
    let RecordFilter { host, repository, number, .. } = filter.clone();
    let any = RecordFilter { host, repository, number, limit: Some(1), ..RecordFilter::default() };
    Ok(!journal.records(any).await?.is_empty())
}

fn print(record: &Record, query: &JournalQuery<'_>, output: &mut impl Write) -> io::Result<()> {
    if query.json {
        writeln!(output, "{}", sanitize::json(&as_json(record).to_string()))
    } else {
        writeln!(output, "{}", sanitize::line(&as_line(record)))
    }
}

/// When, on which pull request, who, what and why. Times are in UTC, so that all readers of a shared journal
/// see the same.
fn as_line(record: &Record) -> String {
    let about = record.pull_request.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
    let Record { at, by, kind, why, body, .. } = record;
    let words = match (detail(body), why.is_empty()) {
        // The reason may repeat the detail.
        (Some(detail), is_blank) if is_blank || detail == *why => detail,
        (Some(detail), _) => format!("{detail} ({why})"),
        (None, _) => why.clone(),
    };
    format!("{at:.0}  {about:<20}  {by:<16}  {kind:<16}  {words}").trim_end().to_owned()
}

/// The most useful part of a record's body: the decision and its thread, the planned write, or its outcome.
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
