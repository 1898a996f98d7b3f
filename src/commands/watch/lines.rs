//! The lines that `watch` prints: one whenever something changed that a reader would want to know.

use super::{WatchEnd, WatchOptions, cleaned};
use crate::agents::notify::NotifyError;
use crate::domain::review_loop::{Phase, ReviewArrivals, ReviewLoop};
use crate::domain::vocabulary::ReviewerName;
use crate::output::sanitize;
use crate::supervisor::view::HandoffState;
use crate::supervisor::{DriverRole, PullRequestView};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::io::{self, Write};

/// What was said last, so that nothing is said twice.
#[expect(clippy::struct_excessive_bools, reason = "independent of each other, and none is a mode")]
pub(super) struct WatchLines {
    pull_request: String,
    json: bool,
    terminal: bool,
    most_attempts: Option<u32>,
    introduced: bool,
    told: Option<PrintedState>,
    trouble: Option<String>,
    due: Vec<String>,
    handoffs: Vec<String>,
    /// Whether the last line is a countdown that may be written over.
    counting: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct PrintedState {
    phase: String,
    attempt: u32,
    arrived: Vec<ReviewerName>,
    missing: Vec<ReviewerName>,
    thinking: Vec<ReviewerName>,
    author_at_work: bool,
    role: String,
}

impl WatchLines {
    pub(super) fn new(wanted: &WatchOptions) -> Self {
        Self {
            pull_request: wanted.pull_request.to_string(),
            json: wanted.json,
            terminal: wanted.terminal && !wanted.json,
            most_attempts: None,
            introduced: false,
            told: None,
            trouble: None,
            due: Vec::new(),
            handoffs: Vec::new(),
            counting: false,
        }
    }

    pub(super) fn show(
        &mut self,
        view: &PullRequestView,
        now: Timestamp,
        output: &mut impl Write,
    ) -> io::Result<()> {
        self.most_attempts = Some(view.max_attempts);
        self.introduce(view, now, output)?;
        let told = told(view);
        // Before the first look there is nothing to tell.
        let known = view.standing.is_some() || view.attempts_failed > 0;
        if known && self.told.as_ref() != Some(&told) {
            let sentence = progress(view, &told);
            let body = json!({
                "event": "progress", "phase": told.phase, "attempt": told.attempt, "max_attempts": view.max_attempts,
                "in": told.arrived, "missing": told.missing, "thinking": told.thinking,
                "author_at_work": told.author_at_work, "role": told.role, "next_at": view.next_at,
            });
            self.line(&sentence, body, output)?;
            self.told = Some(told);
        }
        if self.trouble != view.trouble {
            if let Some(trouble) = &view.trouble {
                self.line(trouble, json!({"event": "trouble", "message": trouble}), output)?;
            }
            self.trouble.clone_from(&view.trouble);
        }
        for due in view.due.iter().filter(|due| !self.due.contains(due)).cloned().collect::<Vec<_>>() {
            let sentence = if view.drive { format!("due: {due}") } else { format!("would: {due}") };
            self.line(&sentence, json!({"event": "due", "message": due, "driven": view.drive}), output)?;
            self.due.push(due);
        }
        for handoff in &view.handoffs {
            let state = match &handoff.state {
                HandoffState::Sent { url } => {
                    format!("sent{}", url.as_ref().map_or_else(String::new, |url| format!(": {url}")))
                }
                HandoffState::Waiting { why: None, .. } => "not taken yet; it is tried again".to_owned(),
                HandoffState::Waiting { why: Some(why), .. } => {
                    format!("not taken yet; it is tried again: {why}")
                }
                HandoffState::Stuck(why) => format!("stuck: {why}"),
            };
            let sentence = format!("task for {} about {}: {state}", handoff.task.target, handoff.task.path);
            if !self.handoffs.contains(&sentence) {
                let body = json!({"event": "handoff", "key": handoff.key, "target": handoff.task.target, "path": handoff.task.path, "state": state});
                self.line(&sentence, body, output)?;
                self.handoffs.push(sentence);
            }
        }
        self.count_down(view, now, output)
    }

    fn introduce(
        &mut self,
        view: &PullRequestView,
        now: Timestamp,
        output: &mut impl Write,
    ) -> io::Result<()> {
        let Some(standing) = view.standing.as_ref().filter(|_| !self.introduced) else { return Ok(()) };
        self.introduced = true;
        let snapshot = &standing.snapshot;
        let head: String = snapshot.head.sha.as_str().chars().take(7).collect();
        let age = view.seen_at.map(|at| now.duration_since(at).as_secs()).filter(|age| *age > 1);
        let age = age.map_or_else(String::new, |age| format!(", as known {age} s ago"));
        let sentence = format!("{}  {} (head {head}{age})", self.pull_request, snapshot.title);
        let body = json!({"event": "start", "title": snapshot.title, "url": snapshot.url, "head": snapshot.head.sha});
        self.line(&sentence, body, output)
    }

    /// On a terminal the time until the next attempt runs in place.
    fn count_down(
        &mut self,
        view: &PullRequestView,
        now: Timestamp,
        output: &mut impl Write,
    ) -> io::Result<()> {
        if !self.terminal {
            return Ok(());
        }
        let Some(next) = view.next_at else { return Ok(()) };
        let left = next.duration_since(now).as_secs().max(0);
        write!(output, "\r  next look in {left} s\x1b[K")?;
        self.counting = true;
        output.flush()
    }

    /// What came of telling somebody. Where nobody sits in front of a terminal there is nothing to ring.
    pub(super) fn told(
        &mut self,
        told: Result<Vec<u8>, NotifyError>,
        output: &mut impl Write,
    ) -> io::Result<()> {
        match told {
            Ok(bytes) if self.terminal => {
                output.write_all(&bytes)?;
                output.flush()
            }
            Ok(_) => Ok(()),
            Err(error) => {
                let message = error.to_string();
                self.line(&message, json!({"event": "trouble", "message": message}), output)
            }
        }
    }

    pub(super) fn end(&mut self, end: &WatchEnd, output: &mut impl Write) -> io::Result<()> {
        let (name, sentence) = match end {
            WatchEnd::Exit(exit) => (exit.name(), exit.to_string()),
            WatchEnd::Unfinished => ("unfinished", "it still waits".to_owned()),
            WatchEnd::Failed(failure) => ("failed", failure.to_string()),
        };
        let body =
            json!({"event": "exit", "exit": name, "code": end.exit_status().code(), "message": sentence});
        self.line(&sentence, body, output)
    }

    fn line(&mut self, sentence: &str, mut body: Value, output: &mut impl Write) -> io::Result<()> {
        if std::mem::take(&mut self.counting) {
            write!(output, "\r\x1b[K")?;
        }
        if self.json {
            if let Some(fields) = body.as_object_mut() {
                fields.insert("pull_request".to_owned(), json!(self.pull_request));
            }
            writeln!(output, "{}", sanitize::json(&body.to_string()))?;
        } else {
            writeln!(output, "{}", cleaned(sentence))?;
        }
        output.flush()
    }
}

fn progress(view: &PullRequestView, told: &PrintedState) -> String {
    let names =
        |names: &[ReviewerName]| names.iter().map(ReviewerName::as_str).collect::<Vec<_>>().join(", ");
    let mut parts = Vec::new();
    if !told.arrived.is_empty() {
        parts.push(format!("in: {}", names(&told.arrived)));
    }
    if !told.missing.is_empty() {
        parts.push(format!("missing: {}", names(&told.missing)));
    }
    if !told.thinking.is_empty() {
        parts.push(format!("thinking: {}", names(&told.thinking)));
    }
    if told.author_at_work {
        parts.push("the author is at work".to_owned());
    }
    if let DriverRole::Standby { holder } = &view.role
        && !holder.is_empty()
    {
        parts.push(format!("driven by {holder}"));
    }
    let detail =
        if parts.is_empty() { "no reviewer has shown itself yet".to_owned() } else { parts.join("; ") };
    match told.phase.as_str() {
        "waiting" => format!("attempt {} of {}: {detail}", told.attempt, view.max_attempts),
        phase => format!("{phase}: {detail}"),
    }
}

fn told(view: &PullRequestView) -> PrintedState {
    let ReviewArrivals { arrived, missing, .. } = match (&view.standing, &view.review_loop) {
        (Some(standing), Some(review_loop)) => standing.seen.arrivals(review_loop.expected()),
        (Some(standing), None) => standing.seen.arrivals(&standing.expected),
        (None, _) => ReviewArrivals::default(),
    };
    let phase = match view.review_loop.as_ref().map(ReviewLoop::phase) {
        None | Some(Phase::Waiting) => "waiting",
        Some(Phase::WithAuthor) => "with the author",
        Some(Phase::Paused(_)) => "paused",
        Some(Phase::Ended(_)) => "ended",
    };
    PrintedState {
        phase: phase.to_owned(),
        attempt: view.review_loop.as_ref().map_or(0, ReviewLoop::attempt),
        arrived,
        missing,
        thinking: view.thinking.clone(),
        author_at_work: view.author_at_work,
        role: match &view.role {
            DriverRole::ReadOnly => "read_only",
            DriverRole::Driver => "driver",
            DriverRole::Standby { .. } => "standby",
        }
        .to_owned(),
    }
}
