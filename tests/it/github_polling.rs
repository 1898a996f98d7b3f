//! Polling many pull requests costs few points and misses no change.

use crate::support::forge::{Answer, PullRequest, PullRequests, Request, address};
use cloture::github::call::PathStep;
use cloture::github::limits::RateBudget;
use cloture::github::poll::{FingerprintChange, FullReadReason, PollEvent, PollReport, PollSettings, Poller};
use cloture::github::{ApiReply, Call, Error, GraphqlError, Reader, Transport};
use jiff::Timestamp;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// The test forge without a network, so that an hour of polling takes a moment.
#[derive(Debug, Clone)]
struct InProcess(PullRequests);

impl Transport for InProcess {
    async fn send(&self, call: &Call) -> Result<ApiReply, Error> {
        let body = call.body().unwrap();
        let request =
            Request { method: "POST".to_owned(), path: "/graphql".to_owned(), head: String::new(), body };
        let Answer::Json(200, _, mut body) = self.0.answer(&request) else { panic!("only answers") };
        let errors: Vec<GraphqlError> = body["errors"].as_array().into_iter().flatten().map(error).collect();
        let data = body["data"].take();
        if data.is_null() {
            return Err(errors[0].to_error(call));
        }
        let rate = &data["rateLimit"];
        let number = |name: &str| rate[name].as_u64().unwrap();
        let budget = Some(RateBudget {
            limit: number("limit"),
            remaining: number("remaining"),
            reset_at: rate["resetAt"].as_str().unwrap().parse().unwrap(),
            cost: Some(number("cost")),
        });
        Ok(ApiReply { body: data, errors, budget, ..ApiReply::default() })
    }
}

fn error(error: &Value) -> GraphqlError {
    let step = |step: &Value| match step.as_str() {
        Some(field) => PathStep::Field(field.to_owned()),
        None => PathStep::Index(usize::try_from(step.as_u64().unwrap()).unwrap()),
    };
    GraphqlError {
        kind: error["type"].as_str().map(str::to_owned),
        path: error["path"].as_array().into_iter().flatten().map(step).collect(),
        message: error["message"].as_str().unwrap().to_owned(),
    }
}

struct Watch {
    forge: PullRequests,
    poller: Poller<InProcess>,
    now: Timestamp,
}

impl Watch {
    fn new(count: u64, pull_request: &PullRequest) -> Self {
        let forge = PullRequests::new(vec![pull_request.clone(); usize::try_from(count).unwrap()]);
        let reader = Arc::new(Reader::new(InProcess(forge.clone())));
        let mut poller = Poller::new(reader, PollSettings::default());
        for number in 1..=count {
            poller.schedule_mut().track(address(number), None);
        }
        // Right before the reset, so that the budget never stretches the interval here.
        Self { forge, poller, now: "2026-01-02T02:00:00Z".parse().unwrap() }
    }

    /// One poll, a minute after the last.
    async fn poll(&mut self) -> (Vec<PollEvent>, PollReport) {
        let mut seen = Vec::new();
        let report = self.poller.poll(self.now, |sighting| seen.push(sighting)).await;
        self.now += Duration::from_mins(1);
        (seen, report)
    }

    async fn changes(&mut self) -> Vec<(u64, FullReadReason)> {
        let (seen, _) = self.poll().await;
        seen.into_iter()
            .filter_map(|sighting| match sighting {
                PollEvent::Read { read, why, .. } if why != FullReadReason::Sweep => {
                    Some((read.snapshot.number, why))
                }
                _ => None,
            })
            .collect()
    }
}

#[tokio::test]
async fn an_hour_of_polling_keeps_its_budget_and_misses_nothing() {
    for (count, promised) in [(1, 60), (50, 200), (500, 1_500)] {
        let mut watch = Watch::new(count, &PullRequest::with_threads(2, 1));
        let (seen, report) = watch.poll().await;
        assert_eq!(seen.len() as u64, count, "everything is read at first");
        let at_once = u64::try_from(PollSettings::default().at_once).unwrap().min(count);
        assert!(
            report.spent.points <= count + 1 + 2 * at_once,
            "checks and requests are probed in queries of their own once"
        );
        let before = watch.forge.points();
        let last = usize::try_from(count).unwrap();
        let mut edit_seen_after = None;
        for minute in 0..60 {
            match minute {
                5 => watch.forge.change(last, |it| it.threads[1].resolved = true),
                10 => watch.forge.change(last, |it| it.threads[0].text = "edited".to_owned()),
                15 => watch.forge.change(1, |it| "fee1dead".clone_into(&mut it.head)),
                20 => watch.forge.change(last, |it| it.checks += 1),
                25 => watch.forge.change(1, |it| it.comments += 1),
                30 => watch.forge.change(1, |it| it.updated += 1),
                35 => watch.forge.change(1, |it| it.state = "MERGED"),
                _ => {}
            }
            let (seen, _) = watch.poll().await;
            let mut reads = seen.iter().map(|sighting| match sighting {
                PollEvent::Read { read, .. } => &read.snapshot,
                other => panic!("{other:?}"),
            });
            let expected = match minute {
                5 => reads.any(|it| it.number == count && it.threads[1].resolved),
                15 => reads.any(|it| it.number == 1 && it.head.sha.as_str() == "fee1dead"),
                20 => reads.any(|it| it.number == count && it.checks.seen().unwrap().len() == 2),
                25 => reads.any(|it| it.number == 1 && it.comments.len() == 2),
                30 => reads.any(|it| it.number == 1),
                35 => reads.any(|it| it.number == 1 && it.merged_at.is_none() && it.state as u8 == 2),
                _ => true,
            };
            assert!(expected, "minute {minute} of {count}");
            let edited = seen.iter().any(|sighting| {
                matches!(sighting, PollEvent::Read { read, .. }
                    if read.snapshot.number == count && read.snapshot.threads[0].comments[0].body == "edited")
            });
            if edited && edit_seen_after.is_none() {
                edit_seen_after = Some(minute - 10);
            }
        }
        let spent = watch.forge.points() - before;
        assert!(spent <= promised, "{count} pull requests cost {spent} points in an hour, not {promised}");
        if count == 1 {
            assert_eq!(edit_seen_after, Some(0), "a single pull request is read every time");
        }
        // The rest of the sweep.
        let mut further = 0;
        while edit_seen_after.is_none() {
            let (seen, _) = watch.poll().await;
            further += 1;
            if seen
                .iter()
                .any(|it| matches!(it, PollEvent::Read { read, .. } if read.snapshot.number == count))
            {
                edit_seen_after = Some(50 + further);
            }
        }
        assert!(edit_seen_after.unwrap() <= 60, "{edit_seen_after:?}");
    }
}

#[tokio::test]
async fn a_full_read_names_the_change() {
    let mut watch = Watch::new(3, &PullRequest::with_threads(2, 1));
    watch.poll().await;
    assert_eq!(watch.changes().await, []);
    watch.forge.change(2, |it| it.threads[0].resolved = true);
    assert_eq!(watch.changes().await, [(2, FullReadReason::Changed(vec![FingerprintChange::Threads]))]);
    watch.forge.change(3, |it| {
        it.reviews += 1;
        "beef".clone_into(&mut it.head);
        it.updated += 1;
    });
    assert_eq!(
        watch.changes().await,
        [(3, FullReadReason::Changed(vec![FingerprintChange::Head, FingerprintChange::Reviews]))]
    );
    watch.forge.change(1, |it| it.updated += 1);
    assert_eq!(watch.changes().await, [(1, FullReadReason::Changed(vec![FingerprintChange::Other]))]);
    assert_eq!(watch.changes().await, []);
}

#[tokio::test]
async fn a_change_in_a_thread_beyond_the_first_hundred_is_noticed() {
    let mut watch = Watch::new(2, &PullRequest::with_threads(250, 1));
    watch.poll().await;
    assert_eq!(watch.changes().await, []);
    watch.forge.change(2, |it| it.threads[249].resolved = true);
    assert_eq!(watch.changes().await, [(2, FullReadReason::Changed(vec![FingerprintChange::Threads]))]);
}

#[tokio::test]
async fn hidden_checks_cost_one_error_and_no_full_read() {
    let mut watch = Watch::new(3, &PullRequest::with_threads(1, 1));
    watch.forge.0.lock().unwrap().hide_checks = true;
    watch.poll().await;
    for _ in 0..3 {
        assert_eq!(watch.changes().await, []);
    }
    let before = watch.forge.points();
    watch.changes().await;
    assert_eq!(watch.forge.points() - before, 1);
}

#[tokio::test]
async fn a_lasting_difference_between_light_and_full_query_is_not_a_change() {
    let mut watch = Watch::new(2, &PullRequest::with_threads(1, 1));
    watch.forge.0.lock().unwrap().phantom_checks = 1;
    watch.poll().await;
    let mut reads = Vec::new();
    for _ in 0..5 {
        reads.push(watch.changes().await.len());
    }
    assert_eq!(reads, [2, 2, 0, 0, 0], "two reads to confirm, then none");
    watch.forge.change(1, |it| it.threads[0].resolved = true);
    assert_eq!(watch.changes().await.len(), 1, "a real change still causes a read");
}

#[tokio::test]
async fn a_missing_pull_request_does_not_hide_the_others() {
    let mut watch = Watch::new(3, &PullRequest::with_threads(1, 1));
    watch.poll().await;
    watch.forge.0.lock().unwrap().all.truncate(2);
    watch.forge.change(1, |it| it.threads[0].resolved = true);
    let (seen, _) = watch.poll().await;
    assert!(seen.contains(&PollEvent::Gone(address(3))), "{seen:?}");
    assert!(
        seen.iter().any(|it| matches!(it, PollEvent::Read { read, .. } if read.snapshot.number == 1)),
        "{seen:?}"
    );
    let reports_it = |seen: &[PollEvent]| seen.contains(&PollEvent::Gone(address(3)));
    let mut again = Vec::new();
    for minute in 1..=60 {
        if reports_it(&watch.poll().await.0) {
            again.push(minute);
        }
    }
    assert_eq!(again, [60], "the poller asks again after a sweep");
}

#[tokio::test]
async fn a_budget_that_runs_out_stretches_the_interval() {
    let mut watch = Watch::new(50, &PullRequest::with_threads(1, 1));
    watch.now = "2026-01-02T00:00:00Z".parse().unwrap();
    watch.poll().await;
    watch.forge.0.lock().unwrap().remaining = Some(560);
    let (_, report) = watch.poll().await;
    assert!(report.budget.interval > Duration::from_mins(1), "{:?}", report.budget);
    let sentence = report.budget.stretched.unwrap();
    assert!(
        sentence.contains("instead of every 60 s") && sentence.contains("560 points are left"),
        "{sentence}"
    );
    assert_eq!(report.budget.left.unwrap().0, 560);
}

/// Answers every call with a rate limit.
#[derive(Debug, Default)]
struct Limited(std::sync::atomic::AtomicUsize);

impl Transport for Limited {
    async fn send(&self, call: &Call) -> Result<ApiReply, Error> {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Err(Error::RateLimited {
            what: call.purpose().to_owned(),
            kind: cloture::github::LimitKind::Secondary,
            retry_after: cloture::github::RetryAfter::After(Duration::from_secs(9)),
        })
    }
}

#[tokio::test]
async fn a_rate_limit_stops_the_poll() {
    let reader = Arc::new(Reader::new(Limited::default()));
    let mut poller = Poller::new(Arc::clone(&reader), PollSettings { at_once: 1, ..PollSettings::default() });
    for number in 1..=20 {
        poller.schedule_mut().track(address(number), None);
    }
    let mut seen = Vec::new();
    let report = poller.poll("2026-01-02T00:00:00Z".parse().unwrap(), |sighting| seen.push(sighting)).await;
    assert_eq!(report.limited.unwrap().0, cloture::github::RetryAfter::After(Duration::from_secs(9)));
    assert!(seen.is_empty(), "a limit is not the failure of a pull request: {seen:?}");
    assert_eq!(reader.transport().0.load(std::sync::atomic::Ordering::Relaxed), 1);
}
