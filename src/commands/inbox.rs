//! `cloture inbox`: every thread that waits for a person, from all pull requests, worst and oldest first
//! (U1).

use crate::app::connection::ConnectionSettings;
use crate::app::invocation::Invocation;
use crate::app::selection;
use crate::app::session::{existing_journal, open_journal};
use crate::commands::{Outcome, Report, report};
use crate::config::Config;
use crate::domain::snapshot::{PullRequestState, RepositoryName};
use crate::domain::vocabulary::{Category, FilePath, ReviewerName, ThreadId};
use crate::failure::Failure;
use crate::github::{PullRequestAddress, Reader};
use crate::journal::PullRequestKey;
use crate::output::sanitize;
use crate::output::thread_json::ThreadLine;
use crate::output::thread_table;
use crate::reviewers::profiles::Profiles;
use crate::supervisor::people::inbox::{InboxThread, waiting};
use crate::supervisor::people::stored::{self, StoredPullRequest};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

/// The arguments of the command.
#[derive(Debug, Clone, Copy)]
pub struct InboxQuery<'a> {
    /// As typed on the command line. Empty means all.
    pub pull_requests: &'a [String],
    /// Poll GitHub first.
    pub fresh: bool,
    /// Include merged and closed pull requests.
    pub all: bool,
}

#[derive(Debug)]
pub struct InboxReport {
    pull_requests: Vec<StoredPullRequest>,
    config: Config,
    /// Whether the journal has no pull request at all.
    is_empty: bool,
    /// Why some pull requests are missing.
    failures: Vec<Failure>,
}

pub fn run(invocation: &Invocation, query: &InboxQuery<'_>, json: bool) -> anyhow::Result<Outcome> {
    let inbox = invocation.with_context(async |context| {
        inbox(query, &context.settings, &context.profiles, context.state_folder, context.now).await
    })?;
    report::print(&inbox, json)
}

async fn inbox(
    query: &InboxQuery<'_>,
    settings: &ConnectionSettings<'_>,
    profiles: &Profiles,
    state_folder: Option<PathBuf>,
    now: Timestamp,
) -> Result<InboxReport, Failure> {
    let StoredPullRequests { mut pull_requests, failures } =
        load_stored(query, settings, profiles, state_folder, now).await?;
    let is_empty = pull_requests.is_empty();
    if !query.all && query.pull_requests.is_empty() {
        pull_requests.retain(|stored| stored.computed.snapshot.state == PullRequestState::Open);
    }
    Ok(InboxReport { pull_requests, config: settings.config.clone(), is_empty, failures })
}

/// The requested pull requests, from the journal.
#[derive(Debug, Default)]
pub(crate) struct StoredPullRequests {
    pub(crate) pull_requests: Vec<StoredPullRequest>,
    pub(crate) failures: Vec<Failure>,
}

/// Loads the requested pull requests from the journal, after a poll if the query is `fresh`.
pub(crate) async fn load_stored(
    query: &InboxQuery<'_>,
    settings: &ConnectionSettings<'_>,
    profiles: &Profiles,
    state_folder: Option<PathBuf>,
    now: Timestamp,
) -> Result<StoredPullRequests, Failure> {
    let host = settings.host()?;
    let named = selection::parse_addresses(query.pull_requests, &host)?;
    let journal = if query.fresh {
        Some(open_journal(settings, state_folder, now).await?.0)
    } else {
        existing_journal(settings, state_folder, now).await?
    };
    let Some(journal) = journal else {
        return Ok(StoredPullRequests {
            pull_requests: Vec::new(),
            failures: named.iter().map(not_in_journal).collect(),
        });
    };
    let mut failures = Vec::new();
    if query.fresh {
        let name = host.name().to_owned();
        let forge = settings.connect(host.clone()).await?;
        let mut addresses = named.clone();
        if addresses.is_empty() {
            let (stored, _) = stored::all(&journal, settings.config, profiles).await?;
            addresses = stored.iter().filter(|stored| is_open_on(stored, &name)).map(address).collect();
        }
        if addresses.is_empty() {
            let selection = selection::select(Vec::new(), settings, &forge.client).await?;
            failures.extend(selection.failures);
            addresses = selection.pull_requests.into_iter().map(|found| found.address).collect();
        }
        let reader = Reader::new(&forge.client);
        failures.extend(stored::refresh(&journal, &reader, &name, &addresses, now).await?);
    }
    let (mut pull_requests, unreadable) = stored::all(&journal, settings.config, profiles).await?;
    journal.close().await?;
    if named.is_empty() {
        failures.extend(unreadable.iter().map(|about| {
            Failure::usage(format_args!(
                "cannot read the stored snapshot of {about}; pass --fresh to poll it again"
            ))
        }));
    } else {
        pull_requests.retain(|stored| stored.about.host == host.name() && named.contains(&address(stored)));
        let is_missing =
            |named: &&PullRequestAddress| !pull_requests.iter().any(|stored| address(stored) == **named);
        if !query.fresh {
            failures.extend(named.iter().filter(is_missing).map(not_in_journal));
        }
    }
    Ok(StoredPullRequests { pull_requests, failures })
}

fn not_in_journal(address: &PullRequestAddress) -> Failure {
    Failure::usage(format_args!("{address} is not in the journal yet; pass --fresh to poll it"))
}

fn is_open_on(stored: &StoredPullRequest, host: &str) -> bool {
    stored.about.host == host && stored.computed.snapshot.state == PullRequestState::Open
}

fn address(stored: &StoredPullRequest) -> PullRequestAddress {
    let PullRequestKey { repository, number, .. } = stored.about.clone();
    PullRequestAddress { repository, number }
}

impl InboxReport {
    /// Every waiting thread, with its pull request.
    fn waiting(&self) -> Vec<(&StoredPullRequest, InboxThread<'_>)> {
        let of = |stored| waiting_on(stored, &self.config).into_iter().map(move |waiting| (stored, waiting));
        let mut all: Vec<_> = self.pull_requests.iter().flat_map(of).collect();
        all.sort_by_key(|(_, waiting)| waiting.rank());
        all
    }
}

impl Report for InboxReport {
    fn to_json(&self) -> serde_json::Result<String> {
        let waiting = self.waiting();
        let threads = waiting.iter().map(|(stored, waiting)| line(stored, waiting, &self.config)).collect();
        Ok(sanitize::json(&serde_json::to_string(&InboxDocument { threads })?).into_owned())
    }

    fn failures(&self) -> Vec<Failure> {
        self.failures.clone()
    }
}

fn waiting_on<'a>(stored: &'a StoredPullRequest, config: &Config) -> Vec<InboxThread<'a>> {
    waiting(&stored.computed, &stored.history, &config.policy)
}

#[derive(Serialize)]
struct InboxDocument<'a> {
    threads: Vec<InboxThreadPart<'a>>,
}

#[derive(Serialize)]
struct InboxThreadPart<'a> {
    repository: &'a RepositoryName,
    number: u64,
    state: &'static str,
    /// Seconds since the pull request was polled.
    age_seconds: u64,
    #[serde(flatten)]
    thread: ThreadLine<'a>,
    path: &'a FilePath,
    line: Option<u32>,
    title: &'a str,
    category: Category,
    url: Option<&'a str>,
    outdated: bool,
    why: &'a str,
    /// When the thread was opened.
    since: Option<Timestamp>,
    /// All reviewers that report the same problem.
    reviewers: &'a BTreeSet<ReviewerName>,
    /// Their waiting threads.
    others: &'a [ThreadId],
}

fn line<'a>(
    stored: &'a StoredPullRequest,
    waiting: &'a InboxThread<'a>,
    config: &Config,
) -> InboxThreadPart<'a> {
    let InboxThread { shown, why, since, reviewers, others } = waiting;
    let snapshot = &stored.computed.snapshot;
    let finding = &shown.thread.finding;
    InboxThreadPart {
        repository: &snapshot.repository,
        number: snapshot.number,
        state: snapshot.state.name(),
        age_seconds: stored.age.as_secs(),
        thread: ThreadLine::named(shown.id(), shown.thread, &config.policy),
        path: &finding.path,
        line: shown.line(),
        title: &finding.title,
        category: finding.category,
        url: shown.url(),
        outdated: shown.outdated(),
        why,
        since: *since,
        reviewers,
        others,
    }
}

/// ```text
/// high  acme/shop#7  src/cart.rs:12  Potential issue
///   coderabbit has held its stance as often as it may
///   coderabbit, escalated (round limit), 2 of 2 rounds, opened 2026-03-02T09:01:00Z, polled 5 min ago
///   PRRT_1  https://…
/// ```
impl fmt::Display for InboxReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiting = self.waiting();
        if waiting.is_empty() {
            let nothing = if self.is_empty {
                "The journal has no pull request yet. Run `cloture watch OWNER/REPO#N`, or \
                 `cloture inbox --fresh OWNER/REPO#N`."
            } else {
                "Nothing waits for a person."
            };
            return write!(f, "{nothing}");
        }
        for (index, (stored, waiting)) in waiting.iter().enumerate() {
            if index > 0 {
                writeln!(f, "\n")?;
            }
            block(f, stored, waiting, &self.config)?;
        }
        Ok(())
    }
}

fn block(
    f: &mut fmt::Formatter<'_>,
    stored: &StoredPullRequest,
    waiting: &InboxThread<'_>,
    config: &Config,
) -> fmt::Result {
    let InboxThread { shown, why, since, reviewers, others } = waiting;
    let thread = shown.thread;
    let state = stored.computed.snapshot.state;
    let state = if state == PullRequestState::Open { String::new() } else { format!(" ({})", state.name()) };
    let severity = thread.finding.severity.map_or("severity unknown", |severity| severity.name());
    writeln!(
        f,
        "{severity}  {}{state}  {}  {}",
        stored.about,
        thread_table::place(&thread.finding, shown.line(), shown.outdated()),
        thread_table::shortened(&thread.finding.title)
    )?;
    writeln!(f, "  {}", sanitize::line(why))?;
    let names: Vec<&str> = reviewers.iter().map(ReviewerName::as_str).collect();
    let since = since.map_or_else(String::new, |at| format!(", opened {at:.0}"));
    writeln!(
        f,
        "  {}, {}, {} of {} rounds{since}, polled {}",
        sanitize::line(&names.join(", ")),
        thread_table::described(thread.status()),
        thread.machine.counters.round_count,
        config.policy.repeat_limit,
        thread_table::ago(stored.age)
    )?;
    write!(f, "  {}", sanitize::line(shown.id().as_str()))?;
    for other in others {
        write!(f, ", {}", sanitize::line(other.as_str()))?;
    }
    if let Some(url) = shown.url() {
        write!(f, "  {}", sanitize::line(url))?;
    }
    Ok(())
}
