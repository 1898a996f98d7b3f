//! `cloture inbox`: every thread that waits for a person, over all pull requests, worst and oldest first (U1).

use crate::app::connection::ConnectionSettings;
use crate::app::selection;
use crate::app::session::{existing_journal, open_journal};
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

/// What somebody wants to see.
#[derive(Debug, Clone, Copy)]
pub struct InboxQuery<'a> {
    /// As they were typed; none for all.
    pub pull_requests: &'a [String],
    /// Look at GitHub first.
    pub fresh: bool,
    /// Also what is merged or closed.
    pub all: bool,
}

/// What the journal knows, as far as it is wanted.
#[derive(Debug)]
pub struct InboxReport {
    known: Vec<StoredPullRequest>,
    config: Config,
    /// Whether there is nothing to look at, as opposed to nothing that waits.
    is_blank: bool,
    /// What could not be shown, and why.
    pub failures: Vec<Failure>,
}

pub async fn inbox(
    wanted: &InboxQuery<'_>,
    settings: &ConnectionSettings<'_>,
    profiles: &Profiles,
    state_folder: Option<PathBuf>,
    now: Timestamp,
) -> Result<InboxReport, Failure> {
    let StoredPullRequests { mut known, failures } =
        gather(wanted, settings, profiles, state_folder, now).await?;
    let is_blank = known.is_empty();
    if !wanted.all && wanted.pull_requests.is_empty() {
        known.retain(|known| known.standing.snapshot.state == PullRequestState::Open);
    }
    Ok(InboxReport { known, config: settings.config.clone(), is_blank, failures })
}

/// What the journal knows of the pull requests that are wanted.
#[derive(Debug, Default)]
pub(crate) struct StoredPullRequests {
    pub(crate) known: Vec<StoredPullRequest>,
    pub(crate) failures: Vec<Failure>,
}

/// Looks at GitHub first where that is wanted, and then at the journal. Without a journal nothing is known.
pub(crate) async fn gather(
    wanted: &InboxQuery<'_>,
    settings: &ConnectionSettings<'_>,
    profiles: &Profiles,
    state_folder: Option<PathBuf>,
    now: Timestamp,
) -> Result<StoredPullRequests, Failure> {
    let host = settings.host()?;
    let named = selection::named(wanted.pull_requests, &host)?;
    let journal = if wanted.fresh {
        Some(open_journal(settings, state_folder, now).await?.0)
    } else {
        existing_journal(settings, state_folder, now).await?
    };
    let Some(journal) = journal else {
        return Ok(StoredPullRequests { known: Vec::new(), failures: named.iter().map(unknown).collect() });
    };
    let mut failures = Vec::new();
    if wanted.fresh {
        let name = host.name().to_owned();
        let forge = settings.connect(host.clone()).await?;
        let mut addresses = named.clone();
        if addresses.is_empty() {
            let (known, _) = stored::all(&journal, settings.config, profiles).await?;
            addresses = known.iter().filter(|known| is_open_here(known, &name)).map(address).collect();
        }
        if addresses.is_empty() {
            let selection = selection::select(Vec::new(), settings, &forge.client).await?;
            failures.extend(selection.failures);
            addresses = selection.pull_requests.into_iter().map(|found| found.address).collect();
        }
        let reader = Reader::new(&forge.client);
        failures.extend(stored::refresh(&journal, &reader, &name, &addresses, now).await?);
    }
    let (mut known, unreadable) = stored::all(&journal, settings.config, profiles).await?;
    journal.close().await?;
    if named.is_empty() {
        failures.extend(unreadable.iter().map(|about| {
            Failure::usage(format_args!(
                "what was last seen of {about} cannot be read any more; look at it again with --fresh"
            ))
        }));
    } else {
        let is_named =
            |known: &StoredPullRequest| known.about.host == host.name() && named.contains(&address(known));
        known.retain(is_named);
        let missing = named.iter().filter(|named| !known.iter().any(|known| address(known) == **named));
        failures.extend(missing.filter(|_| !wanted.fresh).map(unknown));
    }
    Ok(StoredPullRequests { known, failures })
}

fn unknown(address: &PullRequestAddress) -> Failure {
    Failure::usage(format_args!("the journal does not know {address} yet; pass --fresh to look at it"))
}

fn is_open_here(known: &StoredPullRequest, host: &str) -> bool {
    known.about.host == host && known.standing.snapshot.state == PullRequestState::Open
}

fn address(known: &StoredPullRequest) -> PullRequestAddress {
    let PullRequestKey { repository, number, .. } = known.about.clone();
    PullRequestAddress { repository, number }
}

impl InboxReport {
    /// Everything that waits, with the pull request it is on.
    fn waiting(&self) -> Vec<(&StoredPullRequest, InboxThread<'_>)> {
        let of = |known| waiting_on(known, &self.config).into_iter().map(move |waiting| (known, waiting));
        let mut all: Vec<_> = self.known.iter().flat_map(of).collect();
        all.sort_by_key(|(_, waiting)| waiting.rank());
        all
    }

    pub fn to_json(&self) -> serde_json::Result<String> {
        let waiting = self.waiting();
        let threads = waiting.iter().map(|(known, waiting)| line(known, waiting, &self.config)).collect();
        Ok(sanitize::json(&serde_json::to_string(&InboxDocument { threads })?).into_owned())
    }
}

fn waiting_on<'a>(known: &'a StoredPullRequest, config: &Config) -> Vec<InboxThread<'a>> {
    waiting(&known.standing, &known.history, &config.policy)
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
    /// How long ago the pull request was looked at.
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
    /// Everybody who reports the same problem.
    reviewers: &'a BTreeSet<ReviewerName>,
    /// Their threads that wait as well.
    others: &'a [ThreadId],
}

fn line<'a>(
    known: &'a StoredPullRequest,
    waiting: &'a InboxThread<'a>,
    config: &Config,
) -> InboxThreadPart<'a> {
    let InboxThread { shown, why, since, reviewers, others } = waiting;
    let snapshot = &known.standing.snapshot;
    let finding = &shown.thread.finding;
    InboxThreadPart {
        repository: &snapshot.repository,
        number: snapshot.number,
        state: snapshot.state.name(),
        age_seconds: known.age.as_secs(),
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
///   coderabbit, escalated (round limit), 2 of 2 rounds, opened 2026-03-02T09:01:00Z, seen 5 min ago
///   PRRT_1  https://…
/// ```
impl fmt::Display for InboxReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiting = self.waiting();
        if waiting.is_empty() {
            let nothing = if self.is_blank {
                "The journal knows no pull request yet: watch one, or pass --fresh with its name."
            } else {
                "Nothing waits for a person."
            };
            return write!(f, "{nothing}");
        }
        for (index, (known, waiting)) in waiting.iter().enumerate() {
            if index > 0 {
                writeln!(f, "\n")?;
            }
            block(f, known, waiting, &self.config)?;
        }
        Ok(())
    }
}

fn block(
    f: &mut fmt::Formatter<'_>,
    known: &StoredPullRequest,
    waiting: &InboxThread<'_>,
    config: &Config,
) -> fmt::Result {
    let InboxThread { shown, why, since, reviewers, others } = waiting;
    let thread = shown.thread;
    let state = known.standing.snapshot.state;
    let state = if state == PullRequestState::Open { String::new() } else { format!(" ({})", state.name()) };
    let severity = thread.finding.severity.map_or("severity unknown", |severity| severity.name());
    writeln!(
        f,
        "{severity}  {}{state}  {}  {}",
        known.about,
        thread_table::place(&thread.finding, shown.line(), shown.outdated()),
        thread_table::shortened(&thread.finding.title)
    )?;
    writeln!(f, "  {}", sanitize::line(why))?;
    let names: Vec<&str> = reviewers.iter().map(ReviewerName::as_str).collect();
    let since = since.map_or_else(String::new, |at| format!(", opened {at:.0}"));
    writeln!(
        f,
        "  {}, {}, {} of {} rounds{since}, seen {}",
        sanitize::line(&names.join(", ")),
        thread_table::described(thread.status()),
        thread.machine.counters.round_count,
        config.policy.repeat_limit,
        thread_table::ago(known.age)
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
