//! The output of `simulate`: one JSON line per event.
//!
//! Every line lists every thread, and most threads do not change between two lines. So the reporter keeps
//! each thread's JSON and makes it again only when the thread has changed.

use super::{Refused, TraceOutcome};
use crate::domain::driven::DrivenPullRequest;
use crate::domain::finding::Thread;
use crate::domain::handoff::HandoffTask;
use crate::domain::machine::ThreadMachine;
use crate::domain::policy::Policy;
use crate::domain::verdict::Verdict;
use crate::domain::vocabulary::{ReviewerName, Severity, ThreadId};
use crate::output::sanitize;
use crate::output::thread_json::ThreadLine;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};

pub(super) struct Reporter<W: Write> {
    output: BufWriter<W>,
    rows: BTreeMap<ThreadId, Row>,
}

struct Row {
    fields: ReportedThread,
    text: Vec<u8>,
}

/// The fields that a thread's JSON depends on.
#[derive(PartialEq, Eq, Clone, Copy)]
struct ReportedThread {
    machine: ThreadMachine,
    severity: Option<Severity>,
    queued: bool,
    handed_off: bool,
}

impl ReportedThread {
    fn of(thread: &Thread) -> ReportedThread {
        let Thread { machine, queued, handed_off, .. } = *thread;
        ReportedThread { machine, severity: thread.finding.severity, queued, handed_off }
    }
}

impl<W: Write> Reporter<W> {
    pub(super) fn new(output: W) -> Self {
        Self { output: BufWriter::with_capacity(1 << 16, output), rows: BTreeMap::new() }
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }

    pub(super) fn print(
        &mut self,
        number: u64,
        outcome: &TraceOutcome,
        pull_request: &DrivenPullRequest,
        policy: &Policy,
    ) -> io::Result<()> {
        let TraceOutcome { refused, skipped, verdict, tasks } = outcome;
        let before = FieldsBefore {
            event: number,
            accepted: refused.is_empty() && skipped.is_none(),
            skipped: *skipped,
            violations: refused.iter().map(ViolationLine::of).collect(),
            verdict: verdict.map(Verdict::name),
        };
        let after = FieldsAfter {
            tasks: tasks.iter().map(TaskLine::of).collect(),
            cycles: pull_request.cycles().collect(),
            rounds: pull_request.rounds(),
        };
        let before = clean_json(&before)?;
        let after = clean_json(&after)?;
        // The threads go between the other fields: `{…` `,"threads":[…],` `…}`.
        self.output.write_all(before.strip_suffix(b"}").unwrap_or(&before))?;
        self.output.write_all(b",\"threads\":[")?;
        for (index, thread) in pull_request.threads().enumerate() {
            if index > 0 {
                self.output.write_all(b",")?;
            }
            let fields = ReportedThread::of(thread);
            match self.rows.get(&thread.id) {
                Some(row) if row.fields == fields => self.output.write_all(&row.text)?,
                _ => {
                    let text = clean_json(&ThreadLine::of(thread, policy))?;
                    self.output.write_all(&text)?;
                    self.rows.insert(thread.id.clone(), Row { fields, text });
                }
            }
        }
        self.output.write_all(b"],")?;
        self.output.write_all(after.strip_prefix(b"{").unwrap_or(&after))?;
        self.output.write_all(b"\n")
    }
}

/// A trace's texts are foreign, and people look at the report in a terminal (S1).
fn clean_json(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let text = serde_json::to_string(value)?;
    Ok(sanitize::json(&text).into_owned().into_bytes())
}

#[derive(Serialize)]
struct FieldsBefore<'a> {
    event: u64,
    accepted: bool,
    skipped: Option<&'a str>,
    violations: Vec<ViolationLine<'a>>,
    verdict: Option<&'a str>,
}

#[derive(Serialize)]
struct FieldsAfter<'a> {
    tasks: Vec<TaskLine<'a>>,
    cycles: BTreeMap<&'a ReviewerName, u32>,
    rounds: u32,
}

#[derive(Serialize)]
struct ViolationLine<'a> {
    kind: &'a str,
    thread: Option<&'a ThreadId>,
    message: String,
}

impl<'a> ViolationLine<'a> {
    fn of(refused: &'a Refused) -> Self {
        match refused {
            Refused::Answer(violation) => {
                Self { kind: violation.kind(), thread: violation.thread(), message: violation.to_string() }
            }
            Refused::Act(thread, refusal) => {
                Self { kind: refusal.kind(), thread: Some(thread), message: refusal.to_string() }
            }
        }
    }
}

#[derive(Serialize)]
struct TaskLine<'a> {
    target: &'a str,
    path: &'a str,
    findings: &'a [ThreadId],
}

impl<'a> TaskLine<'a> {
    fn of(task: &'a HandoffTask) -> Self {
        Self { target: task.target.as_str(), path: task.path.as_str(), findings: &task.findings }
    }
}
