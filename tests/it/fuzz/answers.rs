//! GitHub's answers with values that break the schema, and everything computed from the pull requests read
//! from them.

use crate::support::dice::Dice;
use crate::support::forge::{Answer, PullRequest, PullRequests, Request, address};
use cloture::config::Config;
use cloture::domain::observed;
use cloture::domain::policy::Policy;
use cloture::domain::snapshot::PullRequestSnapshot;
use cloture::github::poll::{PollSettings, Poller};
use cloture::github::{ApiReply, Call, Error, Reader, Transport};
use cloture::reviewers::profiles::Profiles;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const ROUNDS: u64 = 300;

/// More calls than any of these pull requests needs.
const MOST_CALLS: usize = 400;

/// A GitHub without a network, which corrupts its answers.
#[derive(Debug, Clone)]
struct CorruptGithub {
    forge: PullRequests,
    /// `None` for correct answers.
    round: Option<u64>,
    calls: Arc<AtomicUsize>,
}

impl CorruptGithub {
    fn new(round: Option<u64>) -> CorruptGithub {
        let mut pull_request = PullRequest::with_threads(3, 2);
        "_⚠️ Potential issue_ | _🟠 Major_\n\n**Clamp it.**".clone_into(&mut pull_request.threads[0].text);
        pull_request.author =
            json!({"__typename": "Bot", "login": "coderabbitai", "databaseId": 136_622_811});
        CorruptGithub { forge: PullRequests::new(vec![pull_request; 3]), round, calls: Arc::default() }
    }
}

impl Transport for CorruptGithub {
    async fn send(&self, call: &Call) -> Result<ApiReply, Error> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        assert!(number < MOST_CALLS, "the client never stops asking");
        let body = call.body().unwrap();
        let request =
            Request { method: "POST".to_owned(), path: "/graphql".to_owned(), head: String::new(), body };
        // A corrupted answer makes the client send cursors and ids that do not exist here.
        if !exist(&request.body["variables"]) {
            return Ok(ApiReply::default());
        }
        let Answer::Json(200, _, mut body) = self.forge.answer(&request) else { panic!("only answers") };
        let mut data = body["data"].take();
        if let Some(round) = self.round {
            let mut random = Dice::new(round.wrapping_mul(1_000) + number as u64);
            // Only one answer in three, so that many corrupt answers come after correct ones.
            if random.below(3) == 0 {
                corrupt(&mut data, &mut random);
            }
        }
        Ok(ApiReply { body: data, ..ApiReply::default() })
    }
}

fn exist(variables: &Value) -> bool {
    variables.as_object().into_iter().flatten().all(|(name, value)| match value.as_str() {
        Some(text) if name.to_lowercase().contains("after") => text.parse::<usize>().is_ok(),
        Some(text) if name == "id" => text.starts_with("PR"),
        _ => true,
    })
}

/// Replaces, removes or duplicates one part of a value.
fn corrupt(value: &mut Value, random: &mut Dice) {
    let goes_in = random.below(5) > 0;
    match value {
        Value::Object(fields) if goes_in && !fields.is_empty() => {
            let at = random.below(fields.len());
            let key = fields.keys().nth(at).unwrap().clone();
            if random.below(12) == 0 {
                fields.remove(&key);
            } else {
                corrupt(&mut fields[&key], random);
            }
        }
        Value::Array(items) if goes_in && !items.is_empty() => {
            let at = random.below(items.len());
            match random.below(10) {
                0 => drop(items.remove(at)),
                1 => items.push(items[at].clone()),
                _ => corrupt(&mut items[at], random),
            }
        }
        other => *other = wrong_value(random),
    }
}

fn wrong_value(random: &mut Dice) -> Value {
    let texts = [
        "",
        "\u{0}\u{1b}[2J",
        "9999-12-31T23:59:59Z",
        "-9999-01-01T00:00:00Z",
        "1970-01-01T00:00:00Z",
        "PENDING",
        "NONSENSE",
        "<!-- cloture: finding/x -->",
        "coderabbitai",
    ];
    match random.below(8) {
        0 => Value::Null,
        1 => json!(random.below(2) == 0),
        2 => json!(-1),
        3 => json!(u64::MAX),
        4 => json!(1.5e300),
        5 => json!([]),
        6 => json!({}),
        _ => json!(random.any(&texts)),
    }
}

/// A pull request read from correct answers.
pub(crate) fn snapshot() -> PullRequestSnapshot {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(Reader::new(CorruptGithub::new(None)).read(&address(1))).unwrap().snapshot
}

/// Runs everything that is computed from a snapshot.
pub(crate) fn process(snapshot: &PullRequestSnapshot, profiles: &Profiles) {
    let (policy, config) = (Policy::default(), Config::default());
    let observed = observed::observe(snapshot, &[], profiles, &policy);
    let _unowned = observed::unowned(snapshot, profiles);
    let _reviewers = observed::reviewers(snapshot, profiles);
    let _observation = observed::observation(snapshot, &observed, profiles, &config.break_glass);
    for thread in &observed.threads {
        assert!(
            u64::from(thread.thread.machine.counters.cycles) <= policy.cycles_per_thread(),
            "no text lets a thread exceed its bound"
        );
    }
    let text = serde_json::to_string(snapshot).unwrap();
    assert_eq!(
        serde_json::from_str::<PullRequestSnapshot>(&text).unwrap(),
        *snapshot,
        "storing it changes nothing"
    );
}

pub(crate) fn fuzz(profiles: &Profiles) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let rounds = std::env::var("CLOTURE_FUZZ_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    let rounds: u64 = rounds.unwrap_or(ROUNDS);
    let mut read = 0;
    for round in 0..rounds {
        let outcome = runtime.block_on(Reader::new(CorruptGithub::new(Some(round))).read(&address(1)));
        match outcome {
            Ok(found) => {
                read += 1;
                process(&found.snapshot, profiles);
            }
            Err(error) => assert!(!error.to_string().is_empty(), "round {round}"),
        }
        let mut poller =
            Poller::new(Arc::new(Reader::new(CorruptGithub::new(Some(round)))), PollSettings::default());
        for number in 1..=3 {
            poller.schedule_mut().track(address(number), Some(format!("PR{number}")));
        }
        let mut now = "2026-01-02T02:00:00Z".parse().unwrap();
        for _ in 0..3 {
            runtime.block_on(poller.poll(now, |_| {}));
            now += jiff::SignedDuration::from_mins(1);
        }
    }
    println!("answers of GitHub: {rounds} rounds, {read} of them read as a pull request, none of them bad");
    assert!(read > 0, "at least one answer is readable");
}
