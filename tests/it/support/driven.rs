//! A pull request with threads, and reviewers that are small scripts.

use cloture::domain::cycle::{AnswerFinding, CycleTrigger, Protocol, ReviewerAnswer};
use cloture::domain::driven::{CycleOutcome, DrivenPullRequest, NextCall};
use cloture::domain::finding::Finding;
use cloture::domain::place::LineRange;
use cloture::domain::policy::Policy;
use cloture::domain::snapshot::{
    Account, AccountKind, Branch, DiffSide, KnownNames, PullRequestSnapshot, PullRequestState, PushEvidence,
    PushTime, RepositoryName, ReviewThread, ThreadComment, ThreadSubject, Visible,
};
use cloture::domain::vocabulary::{Association, Category, ReviewerName, Severity, ThreadId};
use cloture::reviewers::adapters::{Adapter, Program, ReviewerDriver};
use cloture::reviewers::ask::{CycleEnd, JudgedAttempt, cycle};
use cloture::reviewers::request::RequestSources;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

pub(crate) const DIFF: &str = "diff --git a/src/a.rs b/src/a.rs\n--- a/src/a.rs\n+++ b/src/a.rs\n@@ -10,2 +10,2 @@\n-old\n+new\n same\n";

/// Scripts in a folder of their own.
#[derive(Debug)]
pub(crate) struct Scripts {
    folder: TempDir,
}

impl Scripts {
    pub(crate) fn new() -> Scripts {
        Scripts { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes an executable script. The test can read the files that the script writes under `$here`.
    pub(crate) fn add(&self, name: &str, body: &str) -> PathBuf {
        let path = self.path(name);
        let text = format!("#!/bin/sh\nhere='{}'\n{body}\n", self.folder.path().display());
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }
}

pub(crate) fn program(path: &Path) -> Program {
    let command = vec![path.to_str().unwrap().to_owned()];
    Program { command, env: Vec::new(), timeout: Duration::from_secs(30) }
}

pub(crate) async fn driver(adapter: Adapter) -> ReviewerDriver {
    ReviewerDriver::ready(adapter, &|_| None).await.unwrap()
}

pub(crate) fn at(second: i64) -> jiff::Timestamp {
    jiff::Timestamp::from_second(1_770_000_000 + second).unwrap()
}

pub(crate) fn account(login: &str, kind: AccountKind) -> Account {
    Account { login: login.into(), kind, database_id: None }
}

pub(crate) fn snapshot() -> PullRequestSnapshot {
    PullRequestSnapshot {
        repository: RepositoryName::new("acme", "shop").unwrap(),
        repository_id: "R_1".to_owned(),
        known_as: KnownNames::default(),
        number: 7,
        node_id: "PR_7".to_owned(),
        title: "Add a discount".to_owned(),
        body: String::new(),
        url: "https://github.com/acme/shop/pull/7".to_owned(),
        author: Some(account("fixer", AccountKind::Bot)),
        author_association: Association::Contributor,
        written_by_us: false,
        state: PullRequestState::Open,
        draft: false,
        base: Branch { name: "main".to_owned(), sha: "b0".into() },
        head: Branch { name: "discount".to_owned(), sha: "h1".into() },
        head_repository: RepositoryName::new("acme", "shop"),
        pushed: PushTime { at: at(0), evidence: PushEvidence::Opened },
        created_at: at(0),
        updated_at: at(0),
        merged_at: None,
        closed_at: None,
        reactions: Vec::new(),
        reopened_at: None,
        counts_from: None,
        labels: Vec::new(),
        reviews: Vec::new(),
        comments: Vec::new(),
        threads: Vec::new(),
        force_pushes: Vec::new(),
        review_requests: Visible::Seen(Vec::new()),
        checks: Visible::Seen(Vec::new()),
    }
}

pub(crate) fn comment(
    id: &str,
    by: Account,
    association: Association,
    second: i64,
    body: &str,
) -> ThreadComment {
    ThreadComment {
        id: id.to_owned(),
        author: Some(by),
        association,
        written_by_us: false,
        body: body.to_owned(),
        diff_hunk: String::new(),
        created_at: at(second),
        updated_at: at(second),
        edited_at: None,
        commit: None,
        original_commit: None,
        reply_to: None,
        review: None,
        minimized: None,
        pending: false,
        url: String::new(),
    }
}

pub(crate) fn seen_thread(id: &str, comments: Vec<ThreadComment>) -> ReviewThread {
    ReviewThread {
        id: id.into(),
        path: "src/a.rs".into(),
        line: Some(10),
        start_line: None,
        original_line: Some(10),
        original_start_line: None,
        side: DiffSide::Right,
        subject: ThreadSubject::Line,
        outdated: false,
        resolved: false,
        resolved_by: None,
        viewer_can_reply: true,
        viewer_can_resolve: true,
        viewer_can_unresolve: true,
        comments,
    }
}

pub(crate) fn finding(title: &str, line: u32) -> Finding {
    Finding {
        path: "src/a.rs".into(),
        lines: LineRange::new(line, line),
        title: title.into(),
        body: "It breaks.".into(),
        severity: Some(Severity::High),
        category: Category::Bug,
        suggestion: None,
        own_id: None,
    }
}

/// Two reviewers have looked at `h0`: orange owns `T1` and `T2`, which are open, and `T3`, which it has
/// resolved since; green owns `G1`. The head is now `h1`.
pub(crate) fn argued(policy: &Policy) -> DrivenPullRequest {
    let mut engine = DrivenPullRequest::new(true);
    engine.push("h0".into(), &[]);
    let orange =
        [("T1", "Leaked file handle", 10), ("T2", "Unchecked index", 50), ("T3", "Wrong unit of time", 90)];
    let green = [("G1", "Missing license header", 10)];
    for (reviewer, findings) in [("orange", orange.as_slice()), ("green", green.as_slice())] {
        let NextCall::Ask(frozen) = engine.next_call(&reviewer.into(), CycleTrigger::Review, policy) else {
            panic!("{reviewer} cannot be asked")
        };
        let reports = findings
            .iter()
            .map(|(id, title, line)| AnswerFinding { id: (*id).into(), finding: finding(title, *line) });
        let answer = ReviewerAnswer::Actions { choices: Vec::new(), reports: reports.collect() };
        let outcome = engine.answer(&frozen, Ok(answer), policy);
        assert!(matches!(outcome, CycleOutcome::Completed { .. }), "{outcome:?}");
    }
    let resolved = cloture::domain::machine::Decision::Resolve;
    engine.decide(&"T3".into(), resolved).unwrap();
    engine.push("h1".into(), &cloture::domain::diff::read(DIFF));
    engine
}

/// A valid answer of orange.
pub(crate) const GOOD: &str = r#"{"actions": [{"thread": "T1", "action": "resolve", "stance": "accepts", "body": "Fixed."}, {"thread": "T2", "action": "reply", "stance": "seeks_change", "body": "Still there."}], "findings": [], "summary": "Better."}"#;

/// Runs one cycle of orange; every attempt runs the same script.
pub(crate) async fn run(script: &Path, policy: &Policy) -> (Vec<JudgedAttempt>, DrivenPullRequest) {
    run_with(Adapter::Program(program(script)), policy).await
}

pub(crate) async fn run_with(adapter: Adapter, policy: &Policy) -> (Vec<JudgedAttempt>, DrivenPullRequest) {
    run_as(adapter, Protocol::Actions, policy).await
}

/// The same for a reviewer that only lists findings.
pub(crate) async fn run_listing(
    adapter: Adapter,
    policy: &Policy,
) -> (Vec<JudgedAttempt>, DrivenPullRequest) {
    run_as(adapter, Protocol::Findings, policy).await
}

async fn run_as(
    adapter: Adapter,
    protocol: Protocol,
    policy: &Policy,
) -> (Vec<JudgedAttempt>, DrivenPullRequest) {
    let driver = driver(adapter).await;
    let snapshot = snapshot();
    let mut engine = argued(policy);
    let sources = RequestSources { protocol, ..sources(&snapshot) };
    let orange: ReviewerName = "orange".into();
    let mut told = 0;
    let end =
        cycle(&mut engine, &orange, &driver, &sources, CycleTrigger::Review, policy, |_| told += 1).await;
    let CycleEnd::Asked(turns) = end else { panic!("{end:?}") };
    assert_eq!(told, turns.len());
    (turns, engine)
}

pub(crate) fn sources(snapshot: &PullRequestSnapshot) -> RequestSources<'_> {
    RequestSources {
        snapshot,
        conversation: &|_: &ThreadId| None,
        reviewer_of: &|_| None,
        previous_review: None,
        diff: DIFF,
        protocol: Protocol::Actions,
        context_window: 200_000,
    }
}
