//! Under every fault, a write appears exactly once or is reported as not done.

use crate::support::forge;
use crate::support::forge::{Fault, Forge, Server, address, client};
use cloture::domain::snapshot::RepositoryName;
use cloture::domain::verdict::Verdict;
use cloture::github::evidence::WriteProof;
use cloture::github::write::{MergeMethod, NewReviewThread, PullRequestTarget, ThreadTarget, WriteKey};
use cloture::github::writer::WritePace;
use cloture::github::{ApiReply, Call, Error, LimitKind, RetryAfter, Transport, Write, WriteOutcome, Writer};
use serde_json::{Map, json};
use std::sync::Mutex;
use std::time::Duration;
use tokio::time::Instant;

fn key() -> WriteKey {
    WriteKey::new("o/r/7/test").unwrap()
}

fn target() -> PullRequestTarget {
    PullRequestTarget { address: address(7), node_id: "PR_7".to_owned() }
}

fn thread() -> ThreadTarget {
    ThreadTarget { pull_request: address(7), id: "T".into(), path: "src/a.rs".into(), line: Some(10) }
}

fn review(verdict: Verdict) -> Write {
    let finding = NewReviewThread {
        path: "src/a.rs".into(),
        line: 12,
        start_line: Some(10),
        body: "Wrong.".to_owned(),
        key: WriteKey::new("finding/1").unwrap(),
    };
    Write::Review {
        on: target(),
        verdict,
        head: "9f9f9f9f9f".into(),
        body: "Summary.".to_owned(),
        threads: vec![finding],
        key: key(),
    }
}

/// Prepares the state that a write needs.
type Prepare = fn(&Forge);

/// One write of each kind, with the state that it needs.
fn every_write() -> Vec<(Write, Prepare)> {
    let nothing: Prepare = |_| {};
    let repository = || RepositoryName::new("o", "r").unwrap();
    let text = || "Hello.".to_owned();
    vec![
        (Write::Reply { thread: thread(), body: text(), key: key() }, nothing),
        (Write::Resolve { thread: thread() }, nothing),
        (Write::Unresolve { thread: thread() }, |forge| forge.0.lock().unwrap().resolved = true),
        (Write::Comment { on: target(), body: text(), key: key() }, nothing),
        (review(Verdict::Approve), nothing),
        (review(Verdict::RequestChanges), nothing),
        (review(Verdict::Comment), nothing),
        (Write::RequestReview { on: target(), reviewer: "Copilot".into(), is_bot: true }, nothing),
        (Write::AddLabel { on: target(), label: "stuck".to_owned() }, |forge| {
            forge.0.lock().unwrap().repository_labels.push("stuck".to_owned());
        }),
        (Write::RemoveLabel { on: target(), label: "stuck".to_owned() }, |forge| {
            let mut state = forge.0.lock().unwrap();
            state.repository_labels.push("stuck".to_owned());
            state.labels.push("stuck".to_owned());
        }),
        (Write::Close { on: target() }, nothing),
        (Write::Reopen { on: target() }, |forge| forge.0.lock().unwrap().phase = "CLOSED"),
        (Write::Merge { on: target(), head: "9f".into(), method: MergeMethod::Squash }, nothing),
        (Write::Minimize { on: address(7), comment: "IC_1".to_owned() }, nothing),
        (
            Write::OpenIssue {
                repository: repository(),
                title: "Fix it".to_owned(),
                body: text(),
                labels: vec!["bug".to_owned()],
                assignees: vec!["copilot-swe-agent[bot]".to_owned()],
                key: key(),
            },
            nothing,
        ),
        (
            Write::Dispatch {
                repository: repository(),
                event_type: "fix".to_owned(),
                payload: Map::from_iter([("a".to_owned(), json!(1))]),
                key: key(),
            },
            nothing,
        ),
    ]
}

fn at_once() -> WritePace {
    WritePace { between: Duration::ZERO, looks: vec![Duration::ZERO, Duration::ZERO], attempts: 3 }
}

async fn start(forge: &Forge) -> Server {
    let forge = forge.clone();
    Server::start(move |request| forge.answer(request)).await
}

#[tokio::test]
async fn without_faults_every_write_happens_exactly_once() {
    let forge = Forge::new();
    let server = start(&forge).await;
    let writer = Writer::new(client(&server.url), at_once());
    for (write, prepare) in every_write() {
        forge.reset();
        prepare(&forge);
        let outcome = writer.write(&write).await.unwrap_or_else(|error| panic!("{write:?}: {error}"));
        assert!(matches!(outcome, WriteOutcome::Done(_)), "{write:?}: {outcome:?}");
        assert_eq!(forge.effects(), 1, "{write:?}");
        if write.can_be_looked_for() {
            let again = writer.write(&write).await.unwrap();
            assert!(matches!(again, WriteOutcome::AlreadyThere(_)), "{write:?}: {again:?}");
            assert_eq!(forge.effects(), 1, "{write:?}");
        }
    }
}

#[tokio::test]
async fn after_a_lost_answer_the_write_appears_exactly_once() {
    let both = [false, true];
    let mut faults = vec![Fault::CutOff, Fault::HalfJson];
    faults.extend(both.map(|takes_effect| Fault::InternalError { takes_effect }));
    faults.extend(both.map(|takes_effect| Fault::BadGatewayPage { takes_effect }));
    faults.extend(both.map(|takes_effect| Fault::Dropped { takes_effect }));
    faults.extend(both.map(|takes_effect| Fault::PartialData { takes_effect }));
    let forge = Forge::new();
    let server = start(&forge).await;
    let writer = Writer::new(client(&server.url), at_once());
    for fault in faults {
        for (write, prepare) in every_write() {
            let graphql = matches!(write.describe().calls.last(), Some(Call::Graphql { .. }));
            if matches!(fault, Fault::PartialData { .. }) && !graphql {
                continue;
            }
            forge.reset();
            prepare(&forge);
            forge.fail_next_write(fault);
            let outcome = writer.write(&write).await;
            if write.can_be_looked_for() {
                let outcome = outcome.unwrap_or_else(|error| panic!("{write:?} {fault:?}: {error}"));
                assert!(matches!(outcome, WriteOutcome::Done(_)), "{write:?} {fault:?}: {outcome:?}");
                assert_eq!(forge.effects(), 1, "{write:?} {fault:?}");
            } else {
                // The writer cannot look for it, so it never sends it twice. An empty answer cannot be cut.
                assert!(forge.effects() <= 1, "{write:?} {fault:?}");
                let unknown = matches!(outcome, Ok(WriteOutcome::Unknown { may_be_repeated: false, .. }));
                let uncut = matches!(fault, Fault::CutOff | Fault::HalfJson);
                assert!(unknown || uncut, "{write:?} {fault:?}: {outcome:?}");
            }
        }
    }
}

#[tokio::test]
async fn after_a_timeout_the_writer_looks_for_the_write() {
    for takes_effect in [false, true] {
        let forge = Forge::new();
        forge.fail_next_write(Fault::Silence { takes_effect });
        let server = start(&forge).await;
        let writer = Writer::new(client(&server.url), at_once());
        let write = Write::Comment { on: target(), body: "Hello.".to_owned(), key: key() };
        assert!(matches!(writer.write(&write).await, Ok(WriteOutcome::Done(_))));
        assert_eq!(forge.effects(), 1);
    }
}

#[tokio::test]
async fn a_refused_write_is_reported_and_not_retried() {
    let forge = Forge::new();
    let server = start(&forge).await;
    let writer = Writer::new(client(&server.url), at_once());
    for fault in [Fault::BadToken, Fault::SecondaryLimit, Fault::PrimaryLimitAs200, Fault::Refused] {
        for (write, prepare) in every_write() {
            let graphql = matches!(write.describe().calls.last(), Some(Call::Graphql { .. }));
            if !graphql && matches!(fault, Fault::PrimaryLimitAs200 | Fault::Refused) {
                continue;
            }
            forge.reset();
            prepare(&forge);
            forge.fail_next_write(fault);
            let error = writer.write(&write).await.unwrap_err();
            match (fault, &error) {
                (Fault::BadToken, Error::Unauthorised { .. }) | (Fault::Refused, Error::Denied { .. }) => {}
                (
                    Fault::SecondaryLimit,
                    Error::RateLimited { kind: LimitKind::Secondary, retry_after, .. },
                ) => {
                    assert_eq!(*retry_after, RetryAfter::After(Duration::from_secs(7)));
                }
                (
                    Fault::PrimaryLimitAs200,
                    Error::RateLimited { kind: LimitKind::Primary, retry_after, .. },
                ) => {
                    assert!(
                        matches!(retry_after, RetryAfter::At(moment) if moment.as_second() == 2_000_000_000)
                    );
                }
                _ => panic!("{write:?} {fault:?}: {error:?}"),
            }
            assert!(!format!("{error} {error:?}").contains(forge::SECRET));
            assert_eq!(forge.effects(), 0, "{write:?} {fault:?}");
            assert!(matches!(writer.write(&write).await, Ok(WriteOutcome::Done(_))), "{write:?} {fault:?}");
            assert_eq!(forge.effects(), 1, "{write:?} {fault:?}");
        }
    }
}

#[tokio::test]
async fn a_reply_in_a_draft_review_is_reported_and_not_retried() {
    let forge = Forge::new();
    forge.0.lock().unwrap().has_draft = true;
    let server = start(&forge).await;
    let writer = Writer::new(client(&server.url), at_once());
    let write = Write::Reply { thread: thread(), body: "Hello.".to_owned(), key: key() };
    for _ in 0..2 {
        let outcome = writer.write(&write).await.unwrap();
        assert!(
            matches!(outcome, WriteOutcome::SwallowedByDraft(WriteProof { id: Some(_), .. })),
            "{outcome:?}"
        );
        assert!(outcome.sentence().contains("draft"));
    }
    assert_eq!(forge.effects(), 1);
}

#[tokio::test]
async fn a_marker_in_another_accounts_comment_proves_nothing() {
    let forge = Forge::new();
    let author = json!({"__typename": "Bot", "login": "operator", "databaseId": 66});
    let fake =
        json!({"id": "X", "url": "u", "body": key().marker(), "viewerDidAuthor": false, "author": author});
    forge.0.lock().unwrap().comments.push(fake);
    let server = start(&forge).await;
    let writer = Writer::new(client(&server.url), at_once());
    let write = Write::Comment { on: target(), body: "Hello.".to_owned(), key: key() };
    assert!(matches!(writer.write(&write).await, Ok(WriteOutcome::Done(_))));
    assert_eq!(forge.effects(), 1);
}

#[tokio::test]
async fn v3_our_approval_of_this_head_is_not_repeated() {
    let there = |state: &str, commit: &str| json!({"id": "X", "url": "u", "body": "", "state": state, "viewerDidAuthor": true, "commit": {"oid": commit}});
    let head = "9f9f9f9f9f";
    for (reviews, effects) in [
        (vec![there("APPROVED", head)], 0),
        (vec![there("APPROVED", head), there("COMMENTED", head)], 0),
        (vec![there("APPROVED", "old")], 1),
        (vec![there("DISMISSED", head)], 1),
        (vec![there("APPROVED", head), there("CHANGES_REQUESTED", head)], 1),
    ] {
        let forge = Forge::new();
        forge.0.lock().unwrap().reviews.clone_from(&reviews);
        let server = start(&forge).await;
        Writer::new(client(&server.url), at_once()).write(&review(Verdict::Approve)).await.unwrap();
        assert_eq!(forge.effects(), effects, "{reviews:?}");
    }
}

#[tokio::test]
async fn a_label_that_does_not_exist_is_created_once() {
    for fault in [
        None,
        Some(Fault::Dropped { takes_effect: true }),
        Some(Fault::InternalError { takes_effect: false }),
    ] {
        let forge = Forge::new();
        if let Some(fault) = fault {
            forge.fail_next_write(fault);
        }
        let server = start(&forge).await;
        let writer = Writer::new(client(&server.url), at_once());
        let write = Write::AddLabel { on: target(), label: "stuck".to_owned() };
        assert!(matches!(writer.write(&write).await, Ok(WriteOutcome::Done(_))));
        let state = forge.0.lock().unwrap();
        assert_eq!((state.repository_labels.len(), state.labels.len()), (1, 1), "{fault:?}");
    }
}

#[tokio::test]
async fn a_rehearsal_shows_the_exact_calls_and_sends_nothing() {
    for (write, prepare) in every_write() {
        let forge = Forge::new();
        prepare(&forge);
        let server = start(&forge).await;
        let writer = Writer::new(client(&server.url), at_once());
        let rehearsed = writer.rehearse(&write).await.unwrap();
        assert_eq!(forge.effects(), 0);
        assert!(rehearsed.sentence.ends_with('.'), "{}", rehearsed.sentence);
        writer.write(&write).await.unwrap();
        let sent: Vec<_> = server
            .requests()
            .into_iter()
            .filter(|request| {
                request.body["query"]
                    .as_str()
                    .map_or(request.method == "POST", |query| query.starts_with("mutation"))
            })
            .map(|request| request.body)
            .collect();
        let shown: Vec<_> = rehearsed.calls.iter().map(|call| call.body().unwrap()).collect();
        assert_eq!(shown, sent, "{write:?}");
    }
}

#[tokio::test]
async fn a_write_that_github_would_refuse_is_not_sent() {
    let payload: Map<_, _> = (0..10).map(|n| (format!("k{n}"), json!(n))).collect();
    let repository = RepositoryName::new("o", "r").unwrap();
    let write = Write::Dispatch { repository, event_type: "fix".to_owned(), payload, key: key() };
    let forge = Forge::new();
    let server = start(&forge).await;
    let error = Writer::new(client(&server.url), at_once()).write(&write).await.unwrap_err();
    assert!(error.to_string().contains("at most 9 fields"), "{error}");
    assert!(server.requests().is_empty());
}

/// Replaces the network in tests with a paused clock.
#[derive(Default)]
struct Recorder {
    writes: Mutex<Vec<Instant>>,
}

impl Transport for Recorder {
    async fn send(&self, call: &Call) -> Result<ApiReply, Error> {
        if call.writes() {
            self.writes.lock().unwrap().push(Instant::now());
            tokio::time::sleep(Duration::from_millis(300)).await;
            let body = json!({"resolveReviewThread": {"thread": {"id": "T", "isResolved": true}}});
            return Ok(ApiReply { body, ..ApiReply::default() });
        }
        let comments = json!({"nodes": []});
        let viewer = json!({"__typename": "User", "login": "operator"});
        let body = json!({"viewer": viewer, "node": {"isResolved": false, "comments": comments}});
        Ok(ApiReply { body, ..ApiReply::default() })
    }
}

#[tokio::test(start_paused = true)]
async fn writes_are_sent_one_at_a_time_and_a_second_apart() {
    let recorder = Recorder::default();
    let writer = Writer::new(&recorder, WritePace::default());
    let write = Write::Resolve { thread: thread() };
    let (first, second, third) =
        tokio::join!(writer.write(&write), writer.write(&write), writer.write(&write));
    for outcome in [first, second, third] {
        assert!(matches!(outcome, Ok(WriteOutcome::Done(_))));
    }
    let moments = recorder.writes.lock().unwrap();
    assert_eq!(moments.len(), 3);
    for pair in moments.windows(2) {
        assert!(pair[1] - pair[0] >= Duration::from_secs(1), "{:?}", pair[1] - pair[0]);
    }
}
