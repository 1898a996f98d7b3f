//! `cloture inbox`: everything that waits for a person, from all pull requests, worst and oldest first (U1).
//! The terminal's Inbox shows the same entries.

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
use crate::output::sanitize;
use crate::output::thread_json::ThreadLine;
use crate::output::thread_table;
use crate::reviewers::profiles::Profiles;
use crate::supervisor::handoffs::handoffs;
use crate::supervisor::people::inbox::{self, InboxEntry, InboxSubject, InboxThread};
use crate::supervisor::people::stored::{self, StoredPullRequest};
use crate::supervisor::view::HandoffView;
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
    pull_requests: Vec<ListedPullRequest>,
    config: Config,
    /// Include the threads of merged and closed pull requests.
    include_ended: bool,
    /// Whether the journal has no pull request at all.
    is_empty: bool,
    /// Why some pull requests are missing.
    failures: Vec<Failure>,
}

#[derive(Debug)]
struct ListedPullRequest {
    stored: StoredPullRequest,
    address: PullRequestAddress,
    /// The tasks of its merge.
    handoffs: Vec<HandoffView>,
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
    let StoredPullRequests { pull_requests, failures } =
        load_stored(query, settings, profiles, state_folder, now).await?;
    let listed = |stored: StoredPullRequest| ListedPullRequest {
        address: address(&stored),
        handoffs: handoffs(&stored.history, &stored.computed.snapshot, &settings.config.targets),
        stored,
    };
    Ok(InboxReport {
        is_empty: pull_requests.is_empty(),
        pull_requests: pull_requests.into_iter().map(listed).collect(),
        config: settings.config.clone(),
        include_ended: query.all || !query.pull_requests.is_empty(),
        failures,
    })
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
        failures
            .extend(stored::refresh(&journal, &reader, &name, &addresses, settings.config, profiles).await?);
    }
    let (mut pull_requests, unreadable) = stored::all(&journal, settings.config, profiles).await?;
    let known = journal.repositories().await?;
    journal.close().await?;
    if named.is_empty() {
        failures.extend(unreadable.iter().map(|about| {
            Failure::usage(format_args!(
                "cannot read the stored snapshot of {about}; pass --fresh to poll it again"
            ))
        }));
    } else {
        // L13: any name of the repository finds it.
        let key = |named: &PullRequestAddress| known.key_of(host.name(), &named.repository, named.number);
        pull_requests.retain(|stored| named.iter().any(|named| key(named) == stored.about));
        let is_missing =
            |named: &&PullRequestAddress| !pull_requests.iter().any(|stored| stored.about == key(named));
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
    let snapshot = &stored.computed.snapshot;
    PullRequestAddress { repository: snapshot.repository.clone(), number: snapshot.number }
}

impl InboxReport {
    /// Every entry, with its pull request.
    fn entries(&self) -> Vec<(&ListedPullRequest, InboxEntry<'_>)> {
        let of = |listed| self.entries_of(listed).into_iter().map(move |entry| (listed, entry));
        let mut all: Vec<_> = self.pull_requests.iter().flat_map(of).collect();
        all.sort_by(|(_, a), (_, b)| a.rank.cmp(&b.rank));
        all
    }

    fn entries_of<'a>(&'a self, listed: &'a ListedPullRequest) -> Vec<InboxEntry<'a>> {
        inbox::entries(&inbox::InboxQuery {
            address: &listed.address,
            computed: Some(&listed.stored.computed),
            exit: listed.stored.exit.as_ref(),
            refusal: None,
            handoffs: &listed.handoffs,
            policy: &self.config.policy,
            include_ended: self.include_ended,
        })
    }
}

impl Report for InboxReport {
    fn to_json(&self) -> serde_json::Result<String> {
        let entries = self.entries();
        let mut document = InboxDocument { threads: Vec::new(), pull_requests: Vec::new() };
        for (ListedPullRequest { stored, .. }, entry) in &entries {
            match &entry.subject {
                InboxSubject::Thread(waiting) => document.threads.push(line(stored, waiting, &self.config)),
                subject => document.pull_requests.push(whole(stored, subject, entry)),
            }
        }
        Ok(sanitize::json(&serde_json::to_string(&document)?).into_owned())
    }

    fn failures(&self) -> Vec<Failure> {
        self.failures.clone()
    }
}

#[derive(Serialize)]
struct InboxDocument<'a> {
    threads: Vec<InboxThreadPart<'a>>,
    /// Entries about a whole pull request.
    pull_requests: Vec<InboxPullRequestPart<'a>>,
}

#[derive(Serialize)]
struct InboxPullRequestPart<'a> {
    repository: &'a RepositoryName,
    number: u64,
    state: &'static str,
    age_seconds: u64,
    title: &'a str,
    url: &'a str,
    /// The exit of its loop, or `stuck_task`.
    kind: &'static str,
    why: &'a str,
    /// The file of a stuck task.
    path: Option<&'a FilePath>,
}

fn whole<'a>(
    stored: &'a StoredPullRequest,
    subject: &InboxSubject<'a>,
    entry: &'a InboxEntry<'a>,
) -> InboxPullRequestPart<'a> {
    let snapshot = &stored.computed.snapshot;
    InboxPullRequestPart {
        repository: &snapshot.repository,
        number: snapshot.number,
        state: snapshot.state.name(),
        age_seconds: stored.age.as_secs(),
        title: &snapshot.title,
        url: &snapshot.url,
        kind: kind(subject),
        why: &entry.why,
        path: match subject {
            InboxSubject::Task(handoff) => Some(&handoff.task.path),
            _ => None,
        },
    }
}

fn kind(subject: &InboxSubject<'_>) -> &'static str {
    match subject {
        InboxSubject::Thread(waiting) => waiting.shown.thread.status().name(),
        InboxSubject::Refused => "refused",
        InboxSubject::Loop(exit) => exit.name(),
        InboxSubject::Task(_) => "stuck_task",
        InboxSubject::Withheld => "withheld",
    }
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
///
/// round_cap  acme/shop#8  Retry the payment
///   3 author rounds did not settle it; polled 5 min ago
///   https://…
/// ```
impl fmt::Display for InboxReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.entries();
        if entries.is_empty() {
            let nothing = if self.is_empty {
                "The journal has no pull request yet. Run `cloture watch OWNER/REPO#N`, or \
                 `cloture inbox --fresh OWNER/REPO#N`."
            } else {
                "Nothing waits for a person."
            };
            return write!(f, "{nothing}");
        }
        for (index, (ListedPullRequest { stored, .. }, entry)) in entries.iter().enumerate() {
            if index > 0 {
                writeln!(f, "\n")?;
            }
            match &entry.subject {
                InboxSubject::Thread(waiting) => block(f, stored, waiting, &self.config)?,
                subject => whole_block(f, stored, subject, &entry.why)?,
            }
        }
        Ok(())
    }
}

fn whole_block(
    f: &mut fmt::Formatter<'_>,
    stored: &StoredPullRequest,
    subject: &InboxSubject<'_>,
    why: &str,
) -> fmt::Result {
    let snapshot = &stored.computed.snapshot;
    let title = thread_table::shortened(&snapshot.title);
    writeln!(f, "{}  {}  {title}", kind(subject), stored.about)?;
    writeln!(f, "  {}; polled {}", sanitize::line(why), thread_table::ago(stored.age))?;
    write!(f, "  {}", sanitize::line(&snapshot.url))
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
        address(stored),
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
