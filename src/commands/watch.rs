//! `cloture watch`: one pull request's loop as lines, for people and for scripts, until it ends.

mod lines;

use crate::domain::review_loop::Exit;
use crate::failure::{ExitStatus, Failure, FailureKind};
use crate::github::PullRequestAddress;
use crate::output::sanitize;
use crate::supervisor::clock::Clock;
use crate::supervisor::people::InboxNotifier;
use crate::supervisor::{DriverRole, PullRequestView, Supervisor};
use jiff::Timestamp;
use lines::WatchLines;
use std::future::Future;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

/// How somebody wants to watch.
#[derive(Debug, Clone)]
pub struct WatchOptions {
    pub pull_request: PullRequestAddress,
    pub json: bool,
    /// Look once and say where it stands.
    pub once: bool,
    /// Give up after so long.
    pub timeout: Option<Duration>,
    /// Whether somebody sits in front of it: then the time that is left is counted down in place.
    pub terminal: bool,
}

/// How watching ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchEnd {
    Exit(Exit),
    /// It still waits, and nobody wanted to wait longer.
    Unfinished,
    Failed(Failure),
}

impl WatchEnd {
    pub fn exit_status(&self) -> ExitStatus {
        match self {
            WatchEnd::Exit(exit) => exit.into(),
            WatchEnd::Unfinished => ExitStatus::Timeout,
            WatchEnd::Failed(failure) => failure.kind.exit_status(),
        }
    }
}

/// Watches until the loop ends, the time is up, or `interrupted` completes. An interrupted loop goes on where it was when
/// somebody watches again.
pub async fn watch(
    wanted: &WatchOptions,
    supervisor: &Supervisor,
    clock: &Arc<dyn Clock>,
    interrupted: impl Future<Output = ()>,
    output: &mut impl Write,
) -> io::Result<WatchEnd> {
    watch_and_tell(wanted, supervisor, clock, interrupted, InboxNotifier::disabled(), output).await
}

/// The same, and somebody is told whenever a thread starts to wait for a person.
pub async fn watch_and_tell(
    wanted: &WatchOptions,
    supervisor: &Supervisor,
    clock: &Arc<dyn Clock>,
    interrupted: impl Future<Output = ()>,
    mut teller: InboxNotifier,
    output: &mut impl Write,
) -> io::Result<WatchEnd> {
    let mut board = supervisor.board();
    let mut lines = WatchLines::new(wanted);
    let deadline = wanted.timeout.map(|timeout| clock.now().checked_add(timeout).unwrap_or(Timestamp::MAX));
    let mut interrupted = std::pin::pin!(interrupted);
    let begun = clock.now();
    loop {
        let view = {
            let board = board.borrow_and_update();
            board.pull_requests.get(&wanted.pull_request).cloned()
        };
        if let Some(view) = &view {
            lines.show(view, clock.now(), output)?;
            // The reasons are in the journal, which others may hold for longer than anybody wants to wait.
            tokio::select! {
                () = teller.notify_arrivals(view) => {}
                () = &mut interrupted => {
                    let end = WatchEnd::Exit(Exit::Stopped);
                    lines.end(&end, output)?;
                    return Ok(end);
                }
            }
            if let Some(end) = ended(wanted, view, begun) {
                for told in teller.rest().await {
                    lines.told(told, output)?;
                }
                lines.end(&end, output)?;
                return Ok(end);
            }
        }
        let deadline = async {
            match deadline {
                Some(at) => clock.sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        let tick = async {
            if wanted.terminal {
                tokio::time::sleep(Duration::from_secs(1)).await;
            } else {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            changed = board.changed() => {
                if changed.is_err() {
                    return Ok(WatchEnd::Failed(Failure::new(FailureKind::OutOfReach, "the supervisor has stopped")));
                }
            }
            told = teller.next() => lines.told(told, output)?,
            () = tick => {}
            () = deadline => {
                lines.end(&WatchEnd::Unfinished, output)?;
                return Ok(WatchEnd::Unfinished);
            }
            () = &mut interrupted => {
                let end = WatchEnd::Exit(Exit::Stopped);
                lines.end(&end, output)?;
                return Ok(end);
            }
        }
    }
}

/// Whether what was just seen is the end of it. What the journal knew before the first poll is not news.
fn ended(wanted: &WatchOptions, view: &PullRequestView, begun: Timestamp) -> Option<WatchEnd> {
    if let Some(refusal) = &view.refusal {
        return Some(WatchEnd::Failed(refusal.clone()));
    }
    let seen = view.seen_at.is_some_and(|at| at >= begun);
    if !seen && view.attempts_failed == 0 {
        return None;
    }
    let idle = view.thinking.is_empty() && !view.author_at_work;
    // Whoever only looks once does not wait for what another instance does.
    let only_looks = wanted.once && matches!(view.role, DriverRole::Standby { .. });
    match view.exit() {
        // What a merge hands off is part of the loop's end.
        Some(exit) if idle && (only_looks || view.is_settled()) => Some(WatchEnd::Exit(exit.clone())),
        None if wanted.once && idle => Some(WatchEnd::Unfinished),
        Some(_) | None => None,
    }
}

/// One line for a terminal.
fn cleaned(text: &str) -> String {
    sanitize::line(text).into_owned()
}
