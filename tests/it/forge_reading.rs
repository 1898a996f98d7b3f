//! Every scenario, read over HTTP, equals the simulator's own state.

use crate::support::simulated::{PATIENT, address, client, start};
use cloture::domain::snapshot::{
    Account, AccountKind, CheckOutcome, DiffSide, PullRequestSnapshot, PullRequestState, PushEvidence,
    RequestedReviewer, ReviewState, ThreadSubject, Visible,
};
use cloture::github::{Client, Error, Reader};
use cloture::simulator::{
    self, CommentSnapshot, PullSnapshot, PullState, Scenario, Simulator, ThreadSnapshot,
};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The simulator's deleted accounts: GitHub does not name them.
struct Accounts {
    gone: BTreeSet<String>,
    kinds: BTreeMap<String, simulator::SimulatedAccountKind>,
}

impl Accounts {
    fn of(scenario: &Scenario) -> Self {
        let accounts = || scenario.accounts.iter().map(toml::Spanned::get_ref);
        Self {
            gone: accounts().filter(|it| it.deleted).map(|it| it.login.clone()).collect(),
            kinds: accounts().map(|it| (it.login.clone(), it.kind)).collect(),
        }
    }

    fn visible(&self, login: &str) -> Option<String> {
        (!self.gone.contains(login)).then(|| login.to_owned())
    }

    fn same(&self, read: Option<&Account>, login: &str) {
        assert_eq!(read.map(|it| it.login.as_str().to_owned()), self.visible(login));
        if let Some(account) = read {
            let bot = self.kinds[login] == simulator::SimulatedAccountKind::Bot;
            assert_eq!(account.kind == AccountKind::Bot, bot, "{login}");
        }
    }

    /// GitHub does not name a bot that resolved a thread.
    fn resolver(&self, login: Option<&String>) -> Option<String> {
        login
            .filter(|it| self.kinds[*it] == simulator::SimulatedAccountKind::User)
            .and_then(|it| self.visible(it))
    }
}

fn state(state: simulator::SimulatedReviewState) -> ReviewState {
    match state {
        simulator::SimulatedReviewState::Approved => ReviewState::Approved,
        simulator::SimulatedReviewState::ChangesRequested => ReviewState::ChangesRequested,
        simulator::SimulatedReviewState::Commented => ReviewState::Commented,
        simulator::SimulatedReviewState::Dismissed => ReviewState::Dismissed,
        simulator::SimulatedReviewState::Pending => ReviewState::Pending,
    }
}

/// Compares a snapshot with the simulator's state: nothing may be missing or doubled.
fn compare(read: &PullRequestSnapshot, there: &PullSnapshot, accounts: &Accounts) {
    assert_eq!(read.node_id, there.id);
    assert_eq!(read.repository.to_string(), there.repository);
    assert_eq!(i64::try_from(read.number).unwrap(), there.number);
    assert_eq!(read.title, there.title);
    assert_eq!(read.draft, there.draft);
    assert_eq!(read.head.sha.as_str(), there.head);
    assert_eq!(read.updated_at, there.updated_at);
    assert_eq!(read.labels, there.labels);
    accounts.same(read.author.as_ref(), &there.author);
    let expected = match there.state {
        PullState::Open => PullRequestState::Open,
        PullState::Closed => PullRequestState::Closed,
        PullState::Merged => PullRequestState::Merged,
    };
    assert_eq!(read.state, expected);
    assert_eq!(read.merged_at.is_some(), there.state == PullState::Merged);

    assert_eq!(read.threads.len(), there.threads.len());
    for (read, there) in read.threads.iter().zip(&there.threads) {
        compare_thread(read, there, accounts);
    }
    assert_eq!(read.reviews.len(), there.reviews.len());
    for (read, there) in read.reviews.iter().zip(&there.reviews) {
        assert_eq!((&read.id, &read.body, read.state), (&there.id, &there.body, state(there.state)));
        assert_eq!(read.commit.as_ref().unwrap().as_str(), there.commit);
        assert_eq!(read.submitted_at.is_none(), there.state == simulator::SimulatedReviewState::Pending);
        accounts.same(read.author.as_ref(), &there.by);
    }
    assert_eq!(read.comments.len(), there.comments.len());
    for (read, there) in read.comments.iter().zip(&there.comments) {
        assert_eq!((&read.id, &read.body), (&there.id, &there.body));
        let hidden = read.minimized.as_ref().map(|it| it.reason.as_deref());
        assert_eq!(hidden, there.minimized.as_deref().map(Some));
        accounts.same(read.author.as_ref(), &there.by);
    }
}

fn compare_thread(
    read: &cloture::domain::snapshot::ReviewThread,
    there: &ThreadSnapshot,
    accounts: &Accounts,
) {
    assert_eq!((read.id.as_str(), read.path.as_str()), (there.id.as_str(), there.path.as_str()));
    assert_eq!(read.line.map(i64::from), there.line, "{}", there.id);
    assert_eq!((read.outdated, read.resolved), (there.outdated, there.resolved), "{}", there.id);
    let resolver = read.resolved_by.as_ref().map(|it| it.login.as_str().to_owned());
    assert_eq!(resolver, accounts.resolver(there.resolved_by.as_ref()), "{}", there.id);
    assert_eq!(read.comments.len(), there.comments.len(), "{}", there.id);
    let first = &there.comments[0].id;
    for (index, (read, there)) in read.comments.iter().zip(&there.comments).enumerate() {
        let CommentSnapshot { id, by, body, minimized, pending } = there;
        assert_eq!((&read.id, &read.body, read.pending), (id, body, *pending));
        assert_eq!(read.minimized.as_ref().and_then(|it| it.reason.as_ref()), minimized.as_ref());
        assert_eq!(read.reply_to.as_ref(), (index > 0).then_some(first));
        accounts.same(read.author.as_ref(), by);
    }
}

/// The visible requested reviewers.
fn asked(read: &PullRequestSnapshot) -> BTreeSet<String> {
    let requests = read.review_requests.seen().unwrap().iter();
    requests
        .map(|request| match &request.reviewer {
            RequestedReviewer::Account(account) => account.login.as_str().to_owned(),
            RequestedReviewer::Team(slug) => slug.rsplit('/').next().unwrap().to_owned(),
            RequestedReviewer::Unknown => "?".to_owned(),
        })
        .collect()
}

async fn read_and_compare(
    reader: &Reader<Client>,
    simulator: &Simulator,
    there: &PullSnapshot,
    accounts: &Accounts,
) -> PullRequestSnapshot {
    let number = u64::try_from(there.number).unwrap();
    let read = reader.read(&address(&there.repository, number)).await.unwrap();
    assert_eq!(read.gaps, [""; 0]);
    compare(&read.snapshot, there, accounts);
    assert_eq!(asked(&read.snapshot), there.requested_reviewers.iter().cloned().collect());
    assert_eq!(simulator.problems(), [""; 0]);
    read.snapshot
}

/// Whether the viewer can see the pull request: one repository of the scenarios is hidden from her.
fn readable(pull: &PullSnapshot) -> bool {
    pull.repository != "acme/vault"
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_scenario_is_read_completely_at_every_stage() {
    for name in Scenario::built_in_names() {
        let scenario = Scenario::built_in(name).unwrap();
        let accounts = Accounts::of(&scenario);
        let simulator = start(&scenario).await;
        let reader = Reader::new(client(&simulator.url(), "any", PATIENT));
        // `big` does not change, and reading it again would take long.
        let stages: &[u64] = if name == "big" { &[0] } else { &[0, 2, 5, 10, 30, 180] };
        for minutes in stages {
            simulator.advance(Duration::from_mins(*minutes));
            let there = simulator.snapshot().pull_requests;
            for pull in there.iter().filter(|pull| readable(pull)).take(20) {
                read_and_compare(&reader, &simulator, pull, &accounts).await;
            }
        }
    }
}

#[tokio::test]
async fn two_hundred_and_fifty_of_everything_are_read_through_every_page() {
    let scenario = Scenario::built_in("big").unwrap();
    let simulator = start(&scenario).await;
    let reader = Reader::new(client(&simulator.url(), "any", PATIENT));
    let there = simulator.pull_request("acme/shop#1").unwrap();
    let read = read_and_compare(&reader, &simulator, &there, &Accounts::of(&scenario)).await;
    assert_eq!((read.threads.len(), read.threads[0].comments.len(), read.comments.len()), (250, 250, 250));
    let distinct: BTreeSet<_> = read.threads.iter().map(|thread| &thread.id).collect();
    assert_eq!(distinct.len(), 250);
    let last = read.threads[0].comments.last().unwrap();
    assert_eq!(last.body, "Argument number 249.");
}

#[tokio::test]
async fn every_nullable_field_is_null_somewhere_and_read_as_absent() {
    let scenario = Scenario::built_in("nulls").unwrap();
    let simulator = start(&scenario).await;
    let reader = Reader::new(client(&simulator.url(), "any", PATIENT));
    let there = simulator.pull_request("acme/shop#3").unwrap();
    let read = read_and_compare(&reader, &simulator, &there, &Accounts::of(&scenario)).await;
    assert_eq!((&read.author, &read.head_repository), (&None, &None));
    let thread = |text: &str| read.threads.iter().find(|it| it.comments[0].body.contains(text)).unwrap();
    let outdated = thread("loses its line");
    assert!(outdated.outdated && outdated.resolved);
    assert_eq!((outdated.line, outdated.start_line, &outdated.resolved_by), (None, None, &None));
    assert_eq!((outdated.original_line, outdated.original_start_line), (Some(2), Some(1)));
    assert!(outdated.comments[0].edited_at.is_some());
    assert_eq!(outdated.comments[0].commit, None);
    let file = thread("whole file");
    assert_eq!((file.subject, file.line, file.original_line), (ThreadSubject::File, None, None));
    assert_eq!(file.resolved_by.as_ref().unwrap().login.as_str(), "erin");
    assert_eq!(thread("old side").side, DiffSide::Left);
    assert_eq!(thread("no more").comments[0].author, None);
    assert_eq!(thread("moves with the code").comments[1].author, None);
    assert!(thread("have not sent").comments[0].pending);

    // Its history: closed, reopened, made a draft and ready again, force-pushed, all 43 hours ago.
    let then = scenario.start - Duration::from_hours(43);
    assert_eq!(read.reopened_at, Some(then));
    assert_eq!(read.force_pushes.len(), 1);
    assert_eq!(read.force_pushes[0].at, then);
    assert_eq!(read.force_pushes[0].actor.as_ref().unwrap().login.as_str(), "erin");
    assert_eq!(read.force_pushes[0].after.as_ref().unwrap().as_str(), there.head);
    assert_eq!((read.pushed.at, read.pushed.evidence), (then, PushEvidence::ForcePush));
}

#[tokio::test]
async fn fields_hidden_from_a_token_leave_the_rest_complete() {
    let scenario = Scenario::built_in("nulls").unwrap();
    let simulator = start(&scenario).await;
    let there = simulator.pull_request("acme/shop#3").unwrap();
    let reader = Reader::new(client(&simulator.url(), "fine-grained", PATIENT));
    for _ in 0..2 {
        let read = reader.read(&address("acme/shop", 3)).await.unwrap();
        compare(&read.snapshot, &there, &Accounts::of(&scenario));
        assert!(matches!(read.snapshot.checks, Visible::Hidden(_)));
        assert!(matches!(read.snapshot.review_requests, Visible::Hidden(_)));
        assert_eq!(read.gaps, [""; 0]);
    }
    let hidden = reader.read(&address("acme/vault", 1)).await.unwrap_err();
    assert!(matches!(hidden, Error::Gone { .. }), "{hidden}");

    let outsider = Reader::new(client(&simulator.url(), "outsider", PATIENT));
    let read = outsider.read(&address("acme/shop", 3)).await.unwrap().snapshot;
    assert_eq!(read.threads.len(), there.threads.len() - 1, "nobody else sees a draft");
    assert!(read.reviews.iter().all(|review| review.state != ReviewState::Pending));
    assert!(read.threads.iter().all(|thread| !thread.viewer_can_resolve));
}

#[tokio::test]
async fn check_runs_pushes_reopening_and_labels_are_read_as_they_happen() {
    let scenario = Scenario::built_in("quiet").unwrap();
    let accounts = Accounts::of(&scenario);
    let simulator = start(&scenario).await;
    let reader = Reader::new(client(&simulator.url(), "any", PATIENT));
    let name = "acme/shop#1";
    let act = |text: &str| {
        simulator.advance(Duration::from_mins(1));
        simulator.perform_toml(name, &format!("[[do]]\n{text}\n")).unwrap();
        (simulator.pull_request(name).unwrap(), simulator.now())
    };

    let (there, started) = act(r#"check_run = { by = "coderabbitai", name = "CodeRabbit" }"#);
    let read = read_and_compare(&reader, &simulator, &there, &accounts).await;
    let check = &read.checks.seen().unwrap()[0];
    assert_eq!((check.name.as_str(), check.outcome), ("CodeRabbit", CheckOutcome::Running));
    assert_eq!((check.app.as_deref(), check.commit.as_str()), (Some("coderabbitai"), there.head.as_str()));
    assert_eq!((check.started_at, check.completed_at), (Some(started), None));
    for (conclusion, outcome) in [
        ("success", CheckOutcome::Passed),
        ("failure", CheckOutcome::Failed),
        ("neutral", CheckOutcome::Neither),
        ("timed_out", CheckOutcome::Failed),
    ] {
        let (there, ended) = act(&format!(
            r#"check_run = {{ by = "coderabbitai", name = "CodeRabbit", conclusion = "{conclusion}", title = "T", summary = "S" }}"#
        ));
        let read = read_and_compare(&reader, &simulator, &there, &accounts).await;
        let checks = read.checks.seen().unwrap();
        assert_eq!((checks.len(), checks[0].outcome), (1, outcome), "{conclusion}");
        assert_eq!(checks[0].completed_at, Some(ended));
        assert_eq!((checks[0].title.as_deref(), checks[0].summary.as_deref()), (Some("T"), Some("S")));
    }

    let (there, pushed) = act(r#"push = { by = "erin", files = { "new.md" = "Text.\n" } }"#);
    let read = read_and_compare(&reader, &simulator, &there, &accounts).await;
    assert_eq!(read.checks.seen().unwrap().len(), 0, "checks belong to a commit");
    assert_eq!((read.pushed.at, read.force_pushes.len()), (pushed, 0));
    let before = there.head;
    let (there, pushed) = act(r#"force_push = { by = "erin", files = { "new.md" = "Better text.\n" } }"#);
    let read = read_and_compare(&reader, &simulator, &there, &accounts).await;
    assert_eq!((read.pushed.at, read.pushed.evidence), (pushed, PushEvidence::ForcePush));
    assert_eq!(read.force_pushes[0].before.as_ref().unwrap().as_str(), before);
    assert_eq!(read.force_pushes[0].after.as_ref().unwrap().as_str(), there.head);

    let (there, closed) = act(r#"close = { by = "erin" }"#);
    let read = read_and_compare(&reader, &simulator, &there, &accounts).await;
    assert_eq!((read.closed_at, read.reopened_at), (Some(closed), None));
    let (there, reopened) = act(r#"reopen = { by = "erin" }"#);
    let read = read_and_compare(&reader, &simulator, &there, &accounts).await;
    assert_eq!((read.closed_at, read.reopened_at), (None, Some(reopened)));
    for text in [
        r#"label = { by = "erin", name = "bug" }"#,
        r#"label = { by = "erin", name = "brand new" }"#,
        r#"unlabel = { by = "erin", name = "bug" }"#,
        r#"request_review = { by = "erin", of = "coderabbitai" }"#,
        r#"draft = { by = "erin" }"#,
        r#"ready = { by = "erin" }"#,
        r#"merge = { by = "dana" }"#,
    ] {
        let (there, _) = act(text);
        read_and_compare(&reader, &simulator, &there, &accounts).await;
    }
}
