//! The state of one pull request, computed from the last snapshot, the history and the rules. The function is
//! pure, so every instance and every restart computes the same state.

use super::history::{History, RecordedAct};
use super::markers;
use super::replay::ReplayedHistory;
use crate::agents::targets;
use crate::config::Config;
use crate::domain::actionable::{self, TriagedFindings};
use crate::domain::cycle::CycleSkip;
use crate::domain::duplicates;
use crate::domain::finding::Thread;
use crate::domain::handoff::{self, Eligibility, HandoffMode, HandoffRules, HandoffTask};
use crate::domain::observed::{self, ObservedPullRequest, RaisedAgain, UnownedThread};
use crate::domain::place::LineRange;
use crate::domain::policy::Policy;
use crate::domain::post::PostReader;
use crate::domain::review_loop::{
    AuthorState, Observation, PostContent, PostKind, ReviewerPost, UnreadablePost,
};
use crate::domain::snapshot::{
    AccountKind, PullRequestSnapshot, PullRequestState, RepositoryName, ReviewState, ReviewThread,
};
use crate::domain::vocabulary::{ReviewerName, TargetName, ThreadId};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// The configuration as it applies to one repository.
#[derive(Debug, Clone, Copy)]
pub struct RepositoryRules<'a> {
    pub config: &'a Config,
    pub reads: &'a dyn PostReader,
    pub drive: bool,
    /// Whether Cloture may dispatch an author.
    pub author: bool,
    /// The reviewers to wait for, if the configuration names them.
    pub expected: Option<&'a [ReviewerName]>,
}

impl<'a> RepositoryRules<'a> {
    /// S4: a repository that the configuration does not mention is only watched.
    pub fn of(
        config: &'a Config,
        reads: &'a dyn PostReader,
        repository: &RepositoryName,
        read_only: bool,
    ) -> RepositoryRules<'a> {
        Self::of_names(config, reads, [repository], read_only)
    }

    /// L13: after a rename, the entry with the former name still applies, unless there is one with the new
    /// name. `names` begins with the present one.
    pub fn of_names<'n>(
        config: &'a Config,
        reads: &'a dyn PostReader,
        names: impl IntoIterator<Item = &'n RepositoryName>,
        read_only: bool,
    ) -> RepositoryRules<'a> {
        let configured = names.into_iter().find_map(|name| config.repository(name));
        let drive = configured.is_some_and(|it| it.drive) && !read_only;
        RepositoryRules {
            config,
            reads,
            drive,
            author: drive && configured.is_some_and(|it| it.author) && config.author.agent.is_some(),
            expected: configured.and_then(|it| it.reviewers.as_deref()),
        }
    }
}

/// See the module's text.
#[derive(Debug, Clone)]
pub struct ComputedState {
    pub snapshot: Arc<PullRequestSnapshot>,
    pub observed: ObservedPullRequest,
    pub folded: ReplayedHistory,
    /// Threads that no reviewer opened.
    pub unowned: Vec<UnownedThread>,
    /// Reviewers that have shown themselves here.
    pub recognised: BTreeSet<ReviewerName>,
    pub seen: Observation,
    /// The last decision about each thread that waits for a person, by the engine's id.
    pub decisions: BTreeMap<ThreadId, RecordedAct>,
    /// S2: the texts at this head that Cloture did not let out because of a secret in them, each as a sentence
    /// without a full stop.
    pub withheld: Vec<String>,
}

/// C6: how often Cloture asked each observed reviewer for a review since the counts began, by the journal and by
/// GitHub, which outlives it. A reviewer is asked once for a head.
fn asks(snapshot: &PullRequestSnapshot, history: &History) -> BTreeMap<ReviewerName, u32> {
    let since = snapshot.counts_from;
    let posted =
        snapshot.comments.iter().filter(|comment| since.is_none_or(|since| comment.created_at > since));
    let mut asks = history.asks(snapshot, since);
    asks.extend(posted.filter_map(markers::posted_ask));
    let mut asked = BTreeMap::new();
    for (reviewer, _head) in asks {
        *asked.entry(reviewer).or_default() += 1;
    }
    asked
}

/// A problem that waits for a person, with every waiting thread about it (D6).
#[derive(Debug, Clone)]
pub struct WaitingProblem<'a> {
    /// At least one. Each needs a decision of its own.
    pub threads: Vec<ThreadView<'a>>,
    /// All reviewers that report the problem.
    pub reviewers: BTreeSet<ReviewerName>,
}

/// Whether the author's agent may work on this branch at all.
fn may_work_on(snapshot: &PullRequestSnapshot, config: &Config) -> bool {
    let is_own =
        snapshot.head_repository.as_ref().is_none_or(|head| snapshot.names().any(|name| name == head));
    is_own || config.author.agent.as_ref().is_some_and(|agent| agent.forks)
}

impl WaitingProblem<'_> {
    pub fn title(&self) -> &str {
        self.threads.first().map_or("", |shown| &shown.thread.finding.title)
    }
}

/// A reviewer's thread, observed or driven, with the forge's thread for it.
#[derive(Debug, Clone, Copy)]
pub struct ThreadView<'a> {
    pub thread: &'a Thread,
    /// Absent if a driven reviewer's finding is not posted yet, or has no line in the diff.
    pub on_forge: Option<&'a ReviewThread>,
    pub repeats: Option<&'a ThreadId>,
    pub resolve_proposed: bool,
    pub raised_again: Option<&'a RaisedAgain>,
    /// R4: the author resolved it on GitHub, may not override, and it is not settled.
    pub resolved_as_argument: bool,
    pub driven: bool,
}

impl<'a> ThreadView<'a> {
    /// The id that people and scripts use: the forge's, if the thread is posted.
    pub fn id(&self) -> &'a ThreadId {
        self.on_forge.map_or(&self.thread.id, |seen| &seen.id)
    }

    pub fn url(&self) -> Option<&'a str> {
        Some(self.on_forge?.opening()?.url.as_str())
    }

    pub fn opened_at(&self) -> Option<Timestamp> {
        Some(self.on_forge?.opening()?.created_at)
    }

    pub fn line(&self) -> Option<u32> {
        match self.on_forge {
            Some(seen) => seen.line,
            None => self.thread.anchor.lines.filter(|_| !self.thread.anchor.gone).map(LineRange::first),
        }
    }

    /// Its place and title, for a sentence.
    pub fn label(&self) -> String {
        let finding = &self.thread.finding;
        let line = self.line().map_or_else(String::new, |line| format!(":{line}"));
        format!("{}{line} \"{}\"", finding.path, finding.title)
    }

    pub fn outdated(&self) -> bool {
        self.on_forge.map_or(self.thread.anchor.gone, |seen| seen.outdated)
    }
}

impl ComputedState {
    pub fn of(
        snapshot: Arc<PullRequestSnapshot>,
        history: &History,
        rules: &RepositoryRules<'_>,
    ) -> ComputedState {
        let RepositoryRules { config, reads, drive, author, expected } = *rules;
        let folded = history.replay(&snapshot, config);
        let mut observed = observed::observe(&snapshot, &folded.happened, reads, &config.policy);
        // A thread that Cloture posted with another journal has no owner here, and is shown so.
        let own = folded.posted.iter().filter(|(engine, _)| folded.engine.thread(engine).is_some());
        let ours: BTreeSet<&ThreadId> = own.map(|(_, forge)| forge).collect();
        let unowned = observed::unowned(&snapshot, reads).into_iter();
        let unowned = unowned.filter(|thread| !ours.contains(&thread.id)).collect();
        let recognised = observed::reviewers(&snapshot, reads);
        let driven: BTreeSet<ReviewerName> = if drive {
            config.reviewers.iter().map(|reviewer| reviewer.name.clone()).collect()
        } else {
            BTreeSet::new()
        };
        let expected = match expected {
            Some(names) => names.iter().cloned().collect(),
            None => recognised.union(&driven).cloned().collect(),
        };
        let mut seen = observed::observation(&snapshot, &observed, reads, &config.break_glass);
        seen.posts.extend(own_posts(&snapshot, &folded));
        seen.rounds_on_forge = seen.rounds_on_forge.saturating_add(own_rounds(&snapshot));
        seen.expects_anybody = rules.expected.is_none();
        seen.expected = expected;
        let is_exhausted = |name: &&ReviewerName| {
            folded.engine.obstacle(name, &config.policy) == Some(CycleSkip::IterationCap)
        };
        seen.exhausted = seen.expected.iter().filter(is_exhausted).cloned().collect();
        seen.count_asks(&asks(&snapshot, history), &config.policy);
        observed::cut_off_unasked(&mut observed, &seen);
        seen.rounds_recorded = folded.dispatched;
        seen.granted = folded.granted;
        if author && may_work_on(&snapshot, config) {
            let state = folded.author_at.get(&snapshot.head.sha);
            seen.author = state.copied().unwrap_or(AuthorState::Idle);
        }
        let decisions = BTreeMap::new();
        let withheld = history.withheld(&snapshot.head.sha);
        let mut computed =
            ComputedState { snapshot, observed, folded, unowned, recognised, seen, decisions, withheld };
        computed.seen.to_fix = computed.count_to_fix();
        let waiting = computed.waiting_for_person(&config.policy);
        let labels = waiting.iter().filter_map(|problem| problem.threads.first().map(ThreadView::label));
        computed.seen.for_person = labels.collect();
        computed.decisions = computed.decisions_about_waiting(history);
        computed
    }

    /// L7: how many findings somebody has to fix, those without a thread included.
    fn count_to_fix(&self) -> u32 {
        let actionable: BTreeSet<ThreadId> = self.actionable().actionable.into_iter().collect();
        let observed = observed::to_fix(&self.observed);
        let with_thread = actionable.iter().chain(observed).collect::<BTreeSet<_>>().len();
        let count = with_thread + observed::to_fix_in_bodies(&self.observed);
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    fn decisions_about_waiting(&self, history: &History) -> BTreeMap<ThreadId, RecordedAct> {
        let waiting = self.threads().into_iter().filter(|shown| shown.thread.status().waits_for_person());
        let decided = waiting.filter_map(|shown| {
            let act = history.last_decision(&[&shown.thread.id, shown.id()])?;
            Some((shown.thread.id.clone(), act.clone()))
        });
        decided.collect()
    }

    /// The problems that wait for a person, and that no person has decided about (T2). A repetition counts with
    /// its first thread, and a problem of several reviewers once (D6).
    pub fn waiting_for_person(&self, policy: &Policy) -> Vec<WaitingProblem<'_>> {
        let threads: Vec<ThreadView<'_>> =
            self.threads().into_iter().filter(|shown| shown.repeats.is_none()).collect();
        let waits = |shown: &&ThreadView<'_>| shown.thread.status().waits_for_person();
        if !threads.iter().any(|shown| waits(&shown)) {
            return Vec::new();
        }
        let groups = duplicates::group_duplicates(threads.iter().map(|shown| shown.thread), policy);
        let group_of: BTreeMap<&ThreadId, usize> = groups
            .iter()
            .enumerate()
            .flat_map(|(index, group)| group.threads.iter().map(move |thread| (thread, index)))
            .collect();
        let mut problems: BTreeMap<usize, WaitingProblem<'_>> = BTreeMap::new();
        for shown in threads.iter().filter(waits) {
            let Some(&index) = group_of.get(&shown.thread.id) else { continue };
            let reviewers = || groups[index].reviewers.clone();
            let problem = problems
                .entry(index)
                .or_insert_with(|| WaitingProblem { threads: Vec::new(), reviewers: reviewers() });
            problem.threads.push(*shown);
        }
        problems.into_values().collect()
    }

    /// Every reviewer's threads, observed ones first.
    pub fn threads(&self) -> Vec<ThreadView<'_>> {
        let by_id: BTreeMap<&ThreadId, &ReviewThread> =
            self.snapshot.threads.iter().map(|seen| (&seen.id, seen)).collect();
        let argued = |thread: &Thread, on_forge: Option<&ReviewThread>| {
            !thread.status().is_settled()
                && on_forge.is_some_and(|seen| self.snapshot.is_resolved_as_argument(seen))
        };
        let observed = self.observed.threads.iter().map(|observed| ThreadView {
            thread: &observed.thread,
            on_forge: by_id.get(&observed.thread.id).copied(),
            repeats: observed.repeats.as_ref(),
            resolve_proposed: observed.resolve_proposed,
            raised_again: observed.raised_again.as_ref(),
            resolved_as_argument: argued(&observed.thread, by_id.get(&observed.thread.id).copied()),
            driven: false,
        });
        let driven = self.folded.engine.threads().map(|thread| {
            let on_forge = self.folded.posted.get(&thread.id).and_then(|forge| by_id.get(forge).copied());
            ThreadView {
                thread,
                on_forge,
                repeats: None,
                resolve_proposed: false,
                raised_again: None,
                resolved_as_argument: argued(thread, on_forge),
                driven: true,
            }
        });
        observed.chain(driven).collect()
    }

    /// A thread by the forge's id or the engine's.
    pub fn thread(&self, id: &ThreadId) -> Option<ThreadView<'_>> {
        self.threads().into_iter().find(|shown| shown.id() == id || shown.thread.id == *id)
    }

    /// The findings of an author round (L7).
    pub fn actionable(&self) -> TriagedFindings {
        let threads = self.threads();
        let open = threads.iter().filter(|shown| shown.repeats.is_none() && !shown.resolve_proposed);
        actionable::triage(open.map(|shown| shown.thread))
    }

    /// Whether an expected reviewer that says things by reactions has not said its result by other means.
    pub fn waits_for_reaction(&self, reads: &dyn PostReader) -> bool {
        let reacting: BTreeSet<_> =
            self.seen.expected.iter().filter(|name| reads.reacts(name)).cloned().collect();
        if reacting.is_empty() || self.snapshot.state != PullRequestState::Open {
            return false;
        }
        let mut seen = self.seen.clone();
        seen.posts.retain(|post| !post.is_reaction());
        !seen.arrivals_of(&reacting).missing.is_empty()
    }

    /// Whether GitHub shows a driven reviewer's review of this head, posted with this journal or another.
    pub fn has_posted_review(&self, reviewer: &ReviewerName) -> bool {
        let head = &self.snapshot.head.sha;
        let mut at_head = self.snapshot.reviews.iter().filter(|review| review.commit.as_ref() == Some(head));
        at_head.any(|review| markers::posted_review(review).as_ref() == Some(reviewer))
    }

    /// L3: posts of reviewers for this head that nobody but a person can read.
    pub fn unreadable(&self) -> Vec<UnreadableReview> {
        let reviewers = self.seen.expected.union(&self.recognised).cloned().collect();
        let unreadable = self.seen.arrivals_of(&reviewers).unreadable.into_iter();
        let posts = unreadable.map(|(reviewer, UnreadablePost { reason, url, at })| {
            let url = url.unwrap_or_else(|| self.snapshot.url.clone());
            let reviews = self.snapshot.reviews.iter().map(|review| (&review.url, &review.body));
            let comments = self.snapshot.comments.iter().map(|comment| (&comment.url, &comment.body));
            let body = reviews.chain(comments).find(|(address, _)| **address == url).map(|(_, body)| body);
            let start = body.map(|body| first_lines(body)).unwrap_or_default();
            UnreadableReview { reviewer, url, written_at: at, reason, start }
        });
        posts.collect()
    }

    pub fn author_is_bot(&self) -> bool {
        self.snapshot.author.as_ref().is_some_and(|author| author.kind == AccountKind::Bot)
    }

    /// The tasks that a merge would hand off now (H). Without `drive`, only findings that a person queued.
    pub fn tasks(&self, rules: &RepositoryRules<'_>) -> Vec<HandoffTask> {
        let rules = handoff_rules(rules);
        let threads = self.threads();
        let own = threads.iter().filter(|shown| shown.repeats.is_none()).map(|shown| shown.thread);
        handoff::tasks(own, self.author_is_bot(), &rules)
    }

    /// H8: whether a thread will be handed off, and why.
    pub fn eligibility(&self, thread: &Thread, rules: &RepositoryRules<'_>) -> Eligibility {
        self.handoff_guards(rules).eligibility(thread)
    }

    /// The same for many threads.
    pub fn handoff_guards(&self, rules: &RepositoryRules<'_>) -> HandoffGuards {
        HandoffGuards { rules: handoff_rules(rules), author_is_bot: self.author_is_bot() }
    }

    /// The same as if no person had queued the thread.
    pub fn eligibility_by_itself(&self, thread: &Thread, rules: &RepositoryRules<'_>) -> Eligibility {
        self.eligibility(&Thread { queued: false, ..thread.clone() }, rules)
    }

    /// H9: the target of a thread if it is handed off.
    pub fn target_of(thread: &Thread, rules: &RepositoryRules<'_>) -> TargetName {
        rules.config.handoff.target_of(thread)
    }
}

/// A reviewer's post that its profile cannot read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableReview {
    pub reviewer: ReviewerName,
    pub url: String,
    pub written_at: Timestamp,
    pub reason: String,
    /// The post's first lines.
    pub start: String,
}

impl fmt::Display for UnreadableReview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnreadableReview { reviewer, url, reason, .. } = self;
        write!(f, "cannot read the post of {reviewer}: {reason} ({url})")
    }
}

/// Enough of a post to recognise its format: its first lines with text.
fn first_lines(body: &str) -> String {
    let lines = body.lines().map(str::trim).filter(|line| !line.is_empty()).take(3);
    let text = lines.collect::<Vec<_>>().join(" / ");
    match text.char_indices().nth(LONGEST_START) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Characters of an unreadable post that are recorded.
const LONGEST_START: usize = 200;

/// The rules that decide whether a thread is handed off.
#[derive(Debug, Clone)]
pub struct HandoffGuards {
    rules: HandoffRules,
    author_is_bot: bool,
}

impl HandoffGuards {
    pub fn eligibility(&self, thread: &Thread) -> Eligibility {
        handoff::eligibility(thread, self.author_is_bot, &self.rules)
    }

    /// The reasons of all findings in a task, in one sentence.
    pub fn reason_for(&self, task: &HandoffTask, computed: &ComputedState) -> String {
        let findings = task.findings.iter().filter_map(|id| computed.thread(id));
        targets::reason(findings.map(|shown| self.eligibility(shown.thread)))
    }
}

/// S4: in a repository that is only watched, nothing is handed off by itself.
fn handoff_rules(rules: &RepositoryRules<'_>) -> HandoffRules {
    let mut handoff = rules.config.handoff.clone();
    if !rules.drive {
        handoff.mode = HandoffMode::Off;
    }
    handoff
}

/// The driven reviewers' posts as the loop sees them: reviews posted in their name, and failures.
fn own_posts(snapshot: &PullRequestSnapshot, folded: &ReplayedHistory) -> Vec<ReviewerPost> {
    let posted = snapshot.reviews.iter().filter_map(|review| {
        Some(ReviewerPost {
            reviewer: markers::posted_review(review)?,
            kind: PostKind::Review(PostContent::Complete),
            at: review.submitted_at.unwrap_or(review.created_at),
            commit: review.commit.clone(),
            url: Some(review.url.clone()),
            aside: false,
        })
    });
    let failed = folded.failed.iter().map(|(reviewer, (head, reason))| ReviewerPost {
        reviewer: reviewer.clone(),
        kind: PostKind::Review(PostContent::Failure(reason.clone())),
        at: snapshot.pushed.at,
        commit: Some(head.clone()),
        url: None,
        aside: false,
    });
    posted.chain(failed).collect()
}

/// L6: reviews that Cloture posted for driven reviewers count as rounds, too.
fn own_rounds(snapshot: &PullRequestSnapshot) -> u32 {
    let own = snapshot.reviews.iter().filter(|review| {
        let at = review.submitted_at.unwrap_or(review.created_at);
        review.state == ReviewState::ChangesRequested
            && snapshot.counts_from.is_none_or(|reopened| at > reopened)
            && markers::posted_review(review).is_some()
    });
    u32::try_from(own.count()).unwrap_or(u32::MAX)
}
