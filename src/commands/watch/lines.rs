//! The lines that `watch` prints: one for each change that matters to a reader.

use super::{WatchEnd, WatchOptions};
use crate::agents::notify::NotifyError;
use crate::domain::review_loop::{Phase, ReviewArrivals, StateCounts};
use crate::domain::vocabulary::ReviewerName;
use crate::output::sanitize;
use crate::supervisor::computed_state::UnreadableReview;
use crate::supervisor::view::HandoffState;
use crate::supervisor::{DriverRole, PullRequestView};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::io::{self, Write};

/// The state that was printed last, so that nothing is printed twice.
#[expect(clippy::struct_excessive_bools, reason = "independent of each other, and none is a mode")]
pub(super) struct WatchLines {
    pull_request: String,
    json: bool,
    terminal: bool,
    is_started: bool,
    printed: Option<PrintedState>,
    trouble: Option<String>,
    due: Vec<String>,
    handoffs: Vec<String>,
    counts: StateCounts,
    unreadable: Vec<UnreadableReview>,
    /// Whether the last line is a countdown, which the next line overwrites.
    is_counting: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct PrintedState {
    phase: &'static str,
    attempt: u32,
    arrived: Vec<ReviewerName>,
    missing: Vec<ReviewerName>,
    unreadable: Vec<ReviewerName>,
    thinking: Vec<ReviewerName>,
    author_at_work: bool,
    role: &'static str,
}

impl WatchLines {
    pub(super) fn new(options: &WatchOptions) -> Self {
        Self {
            pull_request: options.pull_request.to_string(),
            json: options.json,
            terminal: options.terminal && !options.json,
            is_started: false,
            printed: None,
            trouble: None,
            due: Vec::new(),
            handoffs: Vec::new(),
            counts: StateCounts::default(),
            unreadable: Vec::new(),
            is_counting: false,
        }
    }

    pub(super) fn show(
        &mut self,
        view: &PullRequestView,
        next_poll: Option<Timestamp>,
        now: Timestamp,
        output: &mut impl Write,
    ) -> io::Result<()> {
        self.pull_request = view.name().to_string();
        let next_poll = next_poll.filter(|_| {
            matches!(view.review_loop.phase(), Phase::Waiting | Phase::WithAuthor) && view.refusal.is_none()
        });
        if let Some(computed) = &view.computed {
            self.counts = computed.seen.counts();
        }
        self.show_start(view, now, output)?;
        let state = PrintedState::of(view);
        // Before the first poll there is nothing to print.
        let is_polled = view.computed.is_some() || view.attempts_failed > 0;
        if is_polled && self.printed.as_ref() != Some(&state) {
            let sentence = progress(view, &state);
            let body = json!({
                "event": "progress", "phase": state.phase, "attempt": state.attempt,
                "max_attempts": view.max_attempts,
                "in": state.arrived, "missing": state.missing,
                "unreadable": state.unreadable, "thinking": state.thinking,
                "author_at_work": state.author_at_work, "role": state.role, "next_at": next_poll,
            });
            self.line(&sentence, body, output)?;
            self.printed = Some(state);
        }
        for post in view.computed.as_ref().map(|computed| computed.unreadable()).unwrap_or_default() {
            if !self.unreadable.contains(&post) {
                let body = json!({
                    "event": "unreadable", "reviewer": post.reviewer, "reason": post.reason, "url": post.url,
                });
                self.line(&post.to_string(), body, output)?;
                self.unreadable.push(post);
            }
        }
        if self.trouble != view.trouble {
            if let Some(trouble) = &view.trouble {
                self.line(trouble, json!({"event": "trouble", "message": trouble}), output)?;
            }
            self.trouble.clone_from(&view.trouble);
        }
        for due in view.due.iter().map(|due| &due.sentence) {
            if !self.due.contains(due) {
                let sentence = if view.drive { format!("due: {due}") } else { format!("would: {due}") };
                self.line(&sentence, json!({"event": "due", "message": due, "driven": view.drive}), output)?;
                self.due.push(due.clone());
            }
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
                let body = json!({
                    "event": "handoff", "key": handoff.key, "target": handoff.task.target,
                    "path": handoff.task.path, "state": state,
                });
                self.line(&sentence, body, output)?;
                self.handoffs.push(sentence);
            }
        }
        self.count_down(next_poll, now, output)
    }

    fn show_start(
        &mut self,
        view: &PullRequestView,
        now: Timestamp,
        output: &mut impl Write,
    ) -> io::Result<()> {
        let Some(computed) = view.computed.as_ref().filter(|_| !self.is_started) else { return Ok(()) };
        self.is_started = true;
        let snapshot = &computed.snapshot;
        let head: String = snapshot.head.sha.as_str().chars().take(7).collect();
        let age = view.seen_at.map(|at| now.duration_since(at).as_secs()).filter(|age| *age > 1);
        let age = age.map_or_else(String::new, |age| format!(", polled {age} s ago"));
        let sentence = format!("{}  {} (head {head}{age})", self.pull_request, snapshot.title);
        let body = json!({
            "event": "start", "title": snapshot.title, "url": snapshot.url, "head": snapshot.head.sha,
        });
        self.line(&sentence, body, output)
    }

    /// On a terminal, the last line counts down to the next poll.
    fn count_down(
        &mut self,
        next_poll: Option<Timestamp>,
        now: Timestamp,
        output: &mut impl Write,
    ) -> io::Result<()> {
        let Some(next) = next_poll.filter(|_| self.terminal) else { return Ok(()) };
        let left = next.duration_since(now).as_secs().max(0);
        write!(output, "\r  next poll in {left} s\x1b[K")?;
        self.is_counting = true;
        output.flush()
    }

    /// Rings the terminal's bell, if there is a terminal, or says why a notification failed.
    pub(super) fn notified(
        &mut self,
        notification: Result<Vec<u8>, NotifyError>,
        output: &mut impl Write,
    ) -> io::Result<()> {
        match notification {
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
            WatchEnd::Unfinished { waiting_writes: 0 } => ("unfinished", "the loop still waits".to_owned()),
            WatchEnd::Unfinished { waiting_writes: 1 } => {
                ("unfinished", "the loop has ended, but 1 write still waits".to_owned())
            }
            WatchEnd::Unfinished { waiting_writes } => {
                ("unfinished", format!("the loop has ended, but {waiting_writes} writes still wait"))
            }
            WatchEnd::Failed(failure) => ("failed", failure.to_string()),
        };
        let body = json!({
            "event": "exit", "exit": name, "code": end.exit_status().code(), "message": sentence,
            "counts": self.counts,
        });
        self.line(&sentence, body, output)
    }

    fn line(&mut self, sentence: &str, mut body: Value, output: &mut impl Write) -> io::Result<()> {
        if std::mem::take(&mut self.is_counting) {
            write!(output, "\r\x1b[K")?;
        }
        if self.json {
            if let Some(fields) = body.as_object_mut() {
                fields.insert("pull_request".to_owned(), json!(self.pull_request));
            }
            writeln!(output, "{}", sanitize::json(&body.to_string()))?;
        } else {
            writeln!(output, "{}", sanitize::line(sentence))?;
        }
        output.flush()
    }
}

fn progress(view: &PullRequestView, state: &PrintedState) -> String {
    let names =
        |names: &[ReviewerName]| names.iter().map(ReviewerName::as_str).collect::<Vec<_>>().join(", ");
    let mut parts = Vec::new();
    if !state.arrived.is_empty() {
        parts.push(format!("reviews in: {}", names(&state.arrived)));
    }
    if !state.missing.is_empty() {
        parts.push(format!("waiting for: {}", names(&state.missing)));
    }
    if !state.unreadable.is_empty() {
        parts.push(format!("cannot be read: {}", names(&state.unreadable)));
    }
    if !state.thinking.is_empty() {
        parts.push(format!("thinking: {}", names(&state.thinking)));
    }
    if state.author_at_work {
        parts.push("the author is at work".to_owned());
    }
    if let DriverRole::Standby { holder } = &view.role
        && !holder.is_empty()
    {
        parts.push(format!("driven by {holder}"));
    }
    let detail = if parts.is_empty() { "no reviewer yet".to_owned() } else { parts.join("; ") };
    match state.phase {
        "waiting" => format!("attempt {} of {}: {detail}", state.attempt, view.max_attempts),
        phase => format!("{phase}: {detail}"),
    }
}

impl PrintedState {
    fn of(view: &PullRequestView) -> PrintedState {
        let ReviewArrivals { arrived, missing, exhausted: _, failed: _, unreadable } = view.arrivals();
        let phase = match view.review_loop.phase() {
            Phase::Waiting => "waiting",
            Phase::WithAuthor => "with the author",
            Phase::Paused(_) => "paused",
            Phase::Ended(_) => "ended",
        };
        PrintedState {
            phase,
            attempt: view.review_loop.attempt(),
            arrived,
            missing,
            unreadable: unreadable.into_keys().collect(),
            thinking: view.thinking.clone(),
            author_at_work: view.author_at_work,
            role: match &view.role {
                DriverRole::ReadOnly => "read_only",
                DriverRole::Driver => "driver",
                DriverRole::Standby { .. } => "standby",
            },
        }
    }
}
