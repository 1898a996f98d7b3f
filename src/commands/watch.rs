//! `cloture watch`: follows one pull request's loop until it ends, and prints a line per change for people
//! and scripts.

mod lines;

use crate::app::invocation::{CommandContext, Invocation};
use crate::app::runtime::interrupted;
use crate::app::selection;
use crate::app::session::{Session, instance_identity};
use crate::commands::Outcome;
use crate::domain::review_loop::Exit;
use crate::failure::{ExitStatus, Failure, FailureKind};
use crate::github::PullRequestAddress;
use crate::output::standard::standard_output;
use crate::supervisor::clock::Clock;
use crate::supervisor::people::{InboxNotifier, stored};
use crate::supervisor::view::JournalFailure;
use crate::supervisor::{DriverRole, PullRequestView, Supervisor};
use jiff::Timestamp;
use lines::WatchLines;
use std::future::Future;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

/// The arguments of the command.
#[derive(Debug, Clone)]
pub struct WatchOptions {
    pub pull_request: PullRequestAddress,
    pub json: bool,
    /// Poll once, print the state and end.
    pub once: bool,
    /// Give up after this time.
    pub timeout: Option<Duration>,
    /// Whether the output is a terminal. Then the last line counts down to the next poll.
    pub terminal: bool,
}

/// How the command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchEnd {
    Exit(Exit),
    /// `--once` or `--timeout` ended the command while the loop still waits, or so many writes do.
    Unfinished {
        waiting_writes: usize,
    },
    Failed(Failure),
}

impl WatchEnd {
    pub fn exit_status(&self) -> ExitStatus {
        match self {
            WatchEnd::Exit(exit) => exit.into(),
            WatchEnd::Unfinished { .. } => ExitStatus::Timeout,
            WatchEnd::Failed(failure) => failure.kind.exit_status(),
        }
    }
}

/// How long the journal may take to close at the end.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(150);

pub fn run(
    invocation: &Invocation,
    pull_request: &str,
    json: bool,
    once: bool,
    timeout: Option<Duration>,
) -> anyhow::Result<Outcome> {
    let end = invocation.with_context(async |context: CommandContext<'_>| {
        let CommandContext { settings, profiles, state_folder, now, .. } = context;
        let config = settings.config;
        let host = settings.host()?;
        let address = selection::parse_address(pull_request, &host)?;
        let session = Session::open(&settings, host, profiles, state_folder, now).await?;
        invocation.warn_of_damage(session.set_aside.as_ref());
        // A thread that already waited before this start is no news.
        let key = session.key_of(&address).await?;
        let before = stored::one(&session.journal, config, &*session.profiles, &key).await;
        let before = before.map_err(Failure::from)?;
        let mut notifier = InboxNotifier::new(config);
        if let Some(before) = &before {
            notifier.seed(before);
        }
        let tracked = vec![address.clone().into()];
        let supervisor =
            session.supervise(&settings, instance_identity(), invocation.read_only, tracked).await?;
        let terminal = io::stdout().is_terminal();
        let options = WatchOptions { pull_request: address, json, once, timeout, terminal };
        let output = &mut standard_output();
        let end = watch(&options, &supervisor, &session.clock, interrupted(), notifier, output).await;
        supervisor.stop().await;
        // Another process may hold the journal for long. A write that is cut off here has its intent
        // recorded, and the next driver looks for it.
        if let Ok(closed) = tokio::time::timeout(CLOSE_TIMEOUT, session.journal.close()).await {
            closed.map_err(Failure::from)?;
        }
        Ok::<_, anyhow::Error>(end?)
    })?;
    Ok(end.exit_status().into())
}

/// Follows the loop until it ends, the time is up, or `interrupted` completes. `notifier` tells the person
/// whenever a thread starts to wait for them. After an interrupt, the next `watch` continues the loop.
async fn watch(
    options: &WatchOptions,
    supervisor: &Supervisor,
    clock: &Arc<dyn Clock>,
    interrupted: impl Future<Output = ()>,
    mut notifier: InboxNotifier,
    output: &mut impl Write,
) -> io::Result<WatchEnd> {
    let mut board = supervisor.board();
    let mut lines = WatchLines::new(options);
    let deadline = options.timeout.map(|timeout| clock.now().checked_add(timeout).unwrap_or(Timestamp::MAX));
    let mut interrupted = std::pin::pin!(interrupted);
    let started = clock.now();
    loop {
        let (view, next_poll) = {
            let board = board.borrow_and_update();
            (board.get(&options.pull_request).cloned(), board.next_poll)
        };
        if let Some(view) = &view {
            lines.show(view, next_poll, clock.now(), output)?;
            notifier.notify_arrivals(view);
            if let Some(end) = ended(options, view, started) {
                for notification in notifier.rest().await {
                    lines.notified(notification, output)?;
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
            if options.terminal {
                tokio::time::sleep(Duration::from_secs(1)).await;
            } else {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            changed = board.changed() => {
                if changed.is_err() {
                    let failure = Failure::new(FailureKind::OutOfReach, "the supervisor has stopped");
                    return Ok(WatchEnd::Failed(failure));
                }
            }
            notification = notifier.next() => lines.notified(notification, output)?,
            () = tick => {}
            () = deadline => {
                let ended = view.as_ref().filter(|view| view.exit().is_some());
                let waiting_writes = ended.map_or(0, |view| view.waiting_writes());
                let end = WatchEnd::Unfinished { waiting_writes };
                lines.end(&end, output)?;
                return Ok(end);
            }
            () = &mut interrupted => {
                let end = WatchEnd::Exit(Exit::Stopped);
                lines.end(&end, output)?;
                return Ok(end);
            }
        }
    }
}

/// The end of the command, if this view is one. A view from before the first poll is not.
fn ended(options: &WatchOptions, view: &PullRequestView, started: Timestamp) -> Option<WatchEnd> {
    if let Some(refusal) = &view.refusal {
        return Some(WatchEnd::Failed(refusal.clone()));
    }
    if let Some(failure) = without_journal(options, view) {
        return Some(WatchEnd::Failed(failure));
    }
    let is_polled = view.seen_at.is_some_and(|at| at >= started);
    if !is_polled && view.attempts_failed == 0 {
        return None;
    }
    let idle = view.thinking.is_empty() && !view.author_at_work;
    // `--once` does not wait for another instance that drives the loop.
    let only_looks = options.once && matches!(view.role, DriverRole::Standby { .. });
    match view.exit() {
        // The loop has not ended before everything that is due is written, and the tasks of a merge are sent.
        Some(exit) if idle && (only_looks || view.is_settled()) => {
            Some(unwritten(exit, view).map_or_else(|| WatchEnd::Exit(exit.clone()), WatchEnd::Failed))
        }
        Some(_) if idle && options.once && view.waiting_writes() > 0 => {
            Some(WatchEnd::Unfinished { waiting_writes: view.waiting_writes() })
        }
        None if options.once && idle => Some(WatchEnd::Unfinished { waiting_writes: 0 }),
        Some(_) | None => None,
    }
}

/// A loop that cannot record anything does not move, so its attempts never run out. The polls without the journal
/// are counted like them (L2).
fn without_journal(options: &WatchOptions, view: &PullRequestView) -> Option<Failure> {
    let JournalFailure { polls, why } = view.journal_failure.as_ref()?;
    let most = if options.once { 1 } else { view.max_attempts };
    let polls = match *polls {
        polls if polls < most => return None,
        1 => "this poll".to_owned(),
        polls => format!("{polls} polls in a row"),
    };
    Some(Failure::new(
        FailureKind::Journal,
        format_args!(
            "the journal failed at {polls}, so nothing was done: {why}; repair the journal, and run the same \
             command again: it goes on from there"
        ),
    ))
}

/// The loop has ended, but some of its writes cannot be done. People who wait for these must not read the exit
/// alone.
fn unwritten(exit: &Exit, view: &PullRequestView) -> Option<Failure> {
    let mut impossible = view.impossible_writes();
    let (write, failure) = impossible.next()?;
    let others = match impossible.count() {
        0 => String::new(),
        1 => ", and neither could one other write".to_owned(),
        more => format!(", and neither could {more} other writes"),
    };
    Some(Failure::new(
        failure.kind,
        format_args!("{exit}; but this could not be done: {write}{others}: {failure}"),
    ))
}
