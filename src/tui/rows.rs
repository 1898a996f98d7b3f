//! Turns the board into rows. All text is cleaned for a terminal here (S1), so no screen has to.
//!
//! A pull request's rows are built again only when its view was replaced, and on a task of their own: with
//! hundreds of pull requests that takes longer than a key may.

pub mod handoff;
pub mod inbox;
pub mod journal;
pub mod page;
pub mod prompt;
pub mod thread;

use super::model::RowKey;
use super::theme::TextMeaning;
use crate::config::Config;
use crate::domain::machine::ThreadStatus;
use crate::domain::post::PostReader;
use crate::domain::review_loop::{Exit, Phase};
use crate::domain::snapshot::{Account, PullRequestState};
use crate::domain::vocabulary::ReviewerName;
use crate::github::PullRequestAddress;
use crate::output::sanitize;
use crate::supervisor::computed_state::RepositoryRules;
use crate::supervisor::{Board, DriverRole, PullRequestView};
use handoff::{HandoffRow, HandoffStage};
use inbox::InboxRow;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use thread::ThreadRow;

/// Builds rows under a configuration.
#[derive(Debug, Clone)]
pub struct RowBuilder {
    pub config: Arc<Config>,
    pub reads: Arc<dyn PostReader>,
    pub read_only: bool,
}

/// Everything that the screens show of one pull request.
#[derive(Debug, Clone)]
pub struct PullRow {
    pub view: Arc<PullRequestView>,
    pub address: PullRequestAddress,
    pub name: String,
    pub title: String,
    pub author: String,
    pub head: String,
    pub state: &'static str,
    pub phase: (&'static str, TextMeaning),
    /// How the loop ended, or what blocks it.
    pub sentence: Option<(String, TextMeaning)>,
    pub attempt: u32,
    pub max_attempts: u32,
    pub arrived: Vec<String>,
    pub missing: Vec<String>,
    pub failed: Vec<String>,
    pub thinking: Vec<String>,
    pub role: String,
    pub due: Vec<String>,
    pub opened_at: Option<Timestamp>,
    pub url: Option<String>,
    pub threads: Arc<[ThreadRow]>,
    /// The number of findings in review texts; they have no thread to reply in.
    pub in_bodies: usize,
    pub inbox: Vec<InboxRow>,
    /// The tasks that a merge started, or would start.
    pub handoff: Arc<[HandoffRow]>,
    /// Built on first use: there are many, and few people open the list.
    not_handed_off: Option<Arc<OnceLock<Box<[HandoffRow]>>>>,
    /// The number of tasks that are not sent yet.
    pub pending_tasks: usize,
}

impl PullRow {
    /// The findings that are not settled and wait for nobody's decision: open ones, and upheld ones, which the
    /// author must fix (T6).
    pub fn open(&self) -> usize {
        self.count(|status| matches!(status, ThreadStatus::Open | ThreadStatus::Upheld))
    }

    pub fn stuck(&self) -> usize {
        self.threads.iter().filter(|thread| thread.is_stuck()).count()
    }

    pub fn settled(&self) -> usize {
        self.count(ThreadStatus::is_settled)
    }

    fn count(&self, matches: impl Fn(ThreadStatus) -> bool) -> usize {
        self.threads.iter().filter(|thread| !thread.repeats && matches(thread.status)).count()
    }

    /// The open findings that will not be handed off, with the reason.
    pub fn not_handed_off(&self) -> &[HandoffRow] {
        match &self.not_handed_off {
            Some(rows) => rows.get_or_init(|| handoff::not_handed_off(self).into()),
            None => &[],
        }
    }

    pub fn key(&self) -> RowKey {
        RowKey::new(self.address.to_string())
    }

    /// The text that a filter searches.
    pub fn haystack(&self) -> String {
        format!("{} {} {} {}", self.name, self.title, self.author, self.phase.0)
    }
}

pub type PullRows = BTreeMap<PullRequestAddress, Arc<PullRow>>;

/// A board and its rows. Cloning it copies no row.
#[derive(Debug, Clone, Default)]
pub struct BoardRows {
    pub board: Arc<Board>,
    pub pulls: PullRows,
}

impl BoardRows {
    /// Builds the rows of a new board. A pull request whose threads did not change keeps its rows.
    #[must_use]
    pub fn updated(&self, board: Arc<Board>, row_builder: &RowBuilder) -> BoardRows {
        let row = |(address, view): (&PullRequestAddress, &Arc<PullRequestView>)| {
            let row = match self.pulls.get(address) {
                Some(row) if Arc::ptr_eq(&row.view, view) => Arc::clone(row),
                Some(row) if has_same_threads(&row.view, view) => {
                    let mut renewed = PullRow::clone(row);
                    renewed.renew(view, row_builder);
                    Arc::new(renewed)
                }
                _ => Arc::new(pull_row(view, row_builder)),
            };
            (address.clone(), row)
        };
        let pulls = board.pull_requests.iter().map(row).collect();
        BoardRows { board, pulls }
    }
}

fn pull_row(view: &Arc<PullRequestView>, row_builder: &RowBuilder) -> PullRow {
    let RowBuilder { config, reads, read_only } = row_builder;
    let rules = RepositoryRules::of_names(config, &**reads, view.repository_names(), *read_only);
    let computed = view.computed.as_deref();
    let snapshot = view.snapshot();
    let threads = thread::rows(view, &rules, &view.arrivals()).into();
    let handoff: Arc<[HandoffRow]> = handoff::rows(view, &rules).into();
    let mut row = PullRow {
        view: Arc::clone(view),
        address: view.address.clone(),
        name: view.name().to_string(),
        title: snapshot.map_or_else(|| "(not read yet)".to_owned(), |snapshot| line(&snapshot.title)),
        author: snapshot.map_or_else(String::new, |snapshot| account(snapshot.author.as_ref())),
        head: snapshot
            .map_or_else(String::new, |s| line(&s.head.sha.as_str().chars().take(7).collect::<String>())),
        state: snapshot.map_or("", |snapshot| match snapshot.state {
            PullRequestState::Open if snapshot.draft => "draft",
            PullRequestState::Open => "open",
            PullRequestState::Closed => "closed",
            PullRequestState::Merged => "merged",
        }),
        phase: ("", TextMeaning::Plain),
        sentence: None,
        attempt: 0,
        max_attempts: 0,
        arrived: Vec::new(),
        missing: Vec::new(),
        failed: Vec::new(),
        thinking: Vec::new(),
        role: String::new(),
        due: Vec::new(),
        opened_at: snapshot.map(|snapshot| snapshot.created_at),
        url: snapshot.map(|snapshot| snapshot.url.clone()),
        threads,
        in_bodies: computed.map_or(0, |computed| computed.observed.in_bodies.len()),
        inbox: Vec::new(),
        pending_tasks: handoff.iter().filter(|row| row.stage < HandoffStage::Sent).count(),
        not_handed_off: handoff::is_undecided(view).then(Arc::default),
        handoff,
    };
    row.renew(view, row_builder);
    row
}

impl PullRow {
    /// Takes over the parts that can change while no thread does.
    fn renew(&mut self, view: &Arc<PullRequestView>, row_builder: &RowBuilder) {
        let arrivals = view.arrivals();
        let names = |names: &[ReviewerName]| names.iter().map(|name| line(name.as_str())).collect::<Vec<_>>();
        self.view = Arc::clone(view);
        self.phase = phase(view);
        self.sentence = sentence(view);
        self.attempt = view.review_loop.attempt();
        self.max_attempts = view.max_attempts;
        self.arrived = names(&arrivals.arrived);
        self.missing = names(&arrivals.missing);
        let unreadable = arrivals.unreadable.iter().map(|(name, post)| (name, &post.reason));
        let failed = arrivals.failed.iter().chain(unreadable);
        self.failed = failed.map(|(name, why)| line(&format!("{name} ({why})"))).collect();
        self.thinking = names(&view.thinking);
        self.role = role(view);
        self.due = view.due.iter().map(|due| line(&due.sentence)).collect();
        self.inbox = inbox::rows(self, &row_builder.config.policy);
    }
}

/// Whether everything that thread and task rows are built from is the same.
fn has_same_threads(before: &PullRequestView, now: &PullRequestView) -> bool {
    let computed = match (&before.computed, &now.computed) {
        (Some(before), Some(now)) => Arc::ptr_eq(before, now),
        (None, None) => true,
        _ => false,
    };
    computed
        && before.drive == now.drive
        && before.thinking == now.thinking
        && before.handoffs == now.handoffs
        && before.review_loop.phase() == now.review_loop.phase()
}

/// The longest name or title in bytes; a longer one is cut.
const LONGEST_LINE: usize = 8_000;

/// Text as one line that is safe for a terminal.
pub fn line(text: &str) -> String {
    if text.len() <= LONGEST_LINE {
        return sanitize::line(text).into_owned();
    }
    let end = (0..=LONGEST_LINE).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}…", sanitize::line(&text[..end]))
}

pub fn account(account: Option<&Account>) -> String {
    match account {
        None => "a deleted account".to_owned(),
        Some(account) => line(&account.spelled()),
    }
}

fn phase(view: &PullRequestView) -> (&'static str, TextMeaning) {
    if view.refusal.is_some() {
        return ("refused", TextMeaning::Alert);
    }
    // A merge or close after the loop ended is more important than how the loop ended.
    match view.snapshot().map(|snapshot| snapshot.state) {
        Some(PullRequestState::Merged) => return ("merged", TextMeaning::Good),
        Some(PullRequestState::Closed) => return ("closed", TextMeaning::Muted),
        Some(PullRequestState::Open) | None => {}
    }
    match view.review_loop.phase() {
        Phase::Waiting if view.review_loop.anchor().is_none() => ("starting", TextMeaning::Muted),
        Phase::Waiting if !view.thinking.is_empty() => ("reviewing", TextMeaning::Busy),
        Phase::Waiting => ("waiting", TextMeaning::Busy),
        Phase::WithAuthor => ("with author", TextMeaning::Busy),
        Phase::Paused(_) => ("paused", TextMeaning::Warning),
        Phase::Ended(exit) => match exit {
            Exit::Success => ("clean", TextMeaning::Good),
            Exit::NeedsPerson { .. } => ("needs you", TextMeaning::Alert),
            Exit::IssuesFound { .. } => ("issues found", TextMeaning::Warning),
            Exit::Timeout { .. } => ("timed out", TextMeaning::Warning),
            Exit::WorkflowFailure { .. } => ("review failed", TextMeaning::Alert),
            Exit::Unreadable { .. } => ("unreadable", TextMeaning::Alert),
            Exit::RoundCap { .. } => ("round cap", TextMeaning::Alert),
            Exit::PrMerged => ("merged", TextMeaning::Good),
            Exit::PrClosed => ("closed", TextMeaning::Muted),
            Exit::BreakGlass(_) => ("glass broken", TextMeaning::Alert),
            Exit::Stopped => ("stopped", TextMeaning::Muted),
            Exit::OutOfReach => ("out of reach", TextMeaning::Alert),
        },
    }
}

fn sentence(view: &PullRequestView) -> Option<(String, TextMeaning)> {
    let refused = view.refusal.as_ref().map(|refusal| (line(&refusal.to_string()), TextMeaning::Alert));
    let problem = || view.trouble.as_ref().map(|problem| (line(problem), TextMeaning::Alert));
    let state = view.snapshot().map(|snapshot| snapshot.state);
    let ended = || match state {
        Some(PullRequestState::Merged) => Some((Exit::PrMerged.to_string(), TextMeaning::Good)),
        Some(PullRequestState::Closed) => Some((Exit::PrClosed.to_string(), TextMeaning::Muted)),
        _ => view.exit().map(|exit| (line(&exit.to_string()), phase(view).1)),
    };
    refused.or_else(problem).or_else(ended)
}

fn role(view: &PullRequestView) -> String {
    match &view.role {
        DriverRole::Driver if view.drive => "driven here".to_owned(),
        DriverRole::ReadOnly | DriverRole::Driver => "watched only".to_owned(),
        DriverRole::Standby { holder } if holder.is_empty() => "driven by another instance".to_owned(),
        DriverRole::Standby { holder } => line(&format!("driven by {holder}")),
    }
}
