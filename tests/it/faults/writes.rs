//! Every kind of write, as a person's act with an intent record before it and an outcome record after it.

use super::Operation;
use super::journal::{Disk, PAGES, set_aside};
use super::state::forge;
use super::table::Told;
use super::trouble::{NOBODY, Trouble, struck};
use crate::support::folder;
use crate::support::program::TOKEN;
use crate::support::simulated::{self, address};
use crate::support::verbs;
use cloture::domain::verdict::Verdict;
use cloture::domain::vocabulary::Sha;
use cloture::github::write::{
    MergeMethod, NewReviewThread, PullRequestTarget, ThreadTarget, Write, WriteKey,
};
use cloture::github::writer::WritePace;
use cloture::github::{WriteOutcome, Writer};
use cloture::journal::{Journal, JournalAddress, JournalOptions, PullRequestKey};
use cloture::simulator::Simulator;
use cloture::supervisor::perform::{WriteResult, perform};
use cloture::supervisor::planned_writes::PlannedWrite;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// A kind of write: its name, the request that faults strike, and the write.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    aim: &'static str,
    write: fn(&Simulator) -> Write,
}

const REVIEW: &str = "addPullRequestReview";
const OUTSIDE: &str = "review (a line outside)";
const REQUEST: &str = "POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers";
const ISSUE: &str = "POST /repos/{owner}/{repo}/issues";
const EVENT: &str = "POST /repos/{owner}/{repo}/dispatches";

const KINDS: [Kind; 17] = [
    Kind {
        name: "reply",
        aim: "addPullRequestReviewThreadReply",
        write: |it| Write::Reply { thread: thread(it, 0), body: "No.".to_owned(), key: key("reply") },
    },
    Kind {
        name: "resolve",
        aim: "resolveReviewThread",
        write: |it| Write::Resolve { thread: thread(it, 0) },
    },
    Kind {
        name: "unresolve",
        aim: "unresolveReviewThread",
        write: |it| Write::Unresolve { thread: thread(it, 1) },
    },
    Kind {
        name: "comment",
        aim: "addComment",
        write: |it| Write::Comment { on: target(it, 1), body: "Hello.".to_owned(), key: key("comment") },
    },
    Kind { name: "review", aim: REVIEW, write: |it| review(it, Verdict::RequestChanges) },
    Kind { name: OUTSIDE, aim: REVIEW, write: partly_outside },
    Kind { name: "approve", aim: REVIEW, write: |it| review(it, Verdict::Approve) },
    Kind {
        name: "request review",
        aim: REQUEST,
        write: |it| Write::RequestReview { on: target(it, 1), reviewer: "copilot".into(), is_bot: true },
    },
    Kind {
        name: "label",
        aim: "addLabelsToLabelable",
        write: |it| Write::AddLabel { on: target(it, 1), label: "stuck".to_owned() },
    },
    Kind {
        name: "label (made first)",
        aim: "createLabel",
        write: |it| Write::AddLabel { on: target(it, 1), label: "fresh".to_owned() },
    },
    Kind {
        name: "unlabel",
        aim: "removeLabelsFromLabelable",
        write: |it| Write::RemoveLabel { on: target(it, 1), label: "old".to_owned() },
    },
    Kind { name: "close", aim: "closePullRequest", write: |it| Write::Close { on: target(it, 1) } },
    Kind { name: "reopen", aim: "reopenPullRequest", write: |it| Write::Reopen { on: target(it, 2) } },
    Kind {
        name: "merge",
        aim: "mergePullRequest",
        write: |it| Write::Merge { on: target(it, 1), head: head(it), method: MergeMethod::Squash },
    },
    Kind {
        name: "hide",
        aim: "minimizeComment",
        write: |it| Write::Minimize {
            on: address("acme/shop", 1),
            comment: verbs::pull(it).threads[0].comments[0].id.clone(),
        },
    },
    Kind {
        name: "issue",
        aim: ISSUE,
        write: |_| Write::OpenIssue {
            repository: address("acme/shop", 1).repository,
            title: "Fix it".to_owned(),
            body: "Please.".to_owned(),
            labels: vec!["stuck".to_owned()],
            assignees: vec!["erin".to_owned()],
            key: key("issue"),
        },
    },
    Kind {
        name: "event",
        aim: EVENT,
        write: |_| Write::Dispatch {
            repository: address("acme/shop", 1).repository,
            event_type: "fix".to_owned(),
            payload: [("round".to_owned(), json!(1))].into_iter().collect(),
            key: key("event"),
        },
    },
];

fn key(name: &str) -> WriteKey {
    WriteKey::new(&format!("faults/{name}")).unwrap()
}

fn target(simulator: &Simulator, number: u64) -> PullRequestTarget {
    let pull = simulator.pull_request(&format!("acme/shop#{number}")).unwrap();
    PullRequestTarget { address: address("acme/shop", number), node_id: pull.id }
}

fn head(simulator: &Simulator) -> Sha {
    verbs::pull(simulator).head.as_str().into()
}

fn thread(simulator: &Simulator, index: usize) -> ThreadTarget {
    let thread = &verbs::pull(simulator).threads[index];
    let (id, path) = (thread.id.as_str().into(), thread.path.as_str().into());
    ThreadTarget { pull_request: address("acme/shop", 1), id, path, line: None }
}

fn review(simulator: &Simulator, verdict: Verdict) -> Write {
    let opened = NewReviewThread {
        path: "src/a.rs".into(),
        line: 1,
        start_line: None,
        body: "Here.".to_owned(),
        key: key("finding"),
    };
    Write::Review {
        on: target(simulator, 1),
        verdict,
        head: head(simulator),
        body: "Look.".to_owned(),
        threads: vec![opened],
        key: key("review"),
    }
}

/// A driven reviewer's review with a finding that GitHub takes only in the review's text.
fn partly_outside(simulator: &Simulator) -> Write {
    let mut write = review(simulator, Verdict::RequestChanges);
    if let Write::Review { threads, key, .. } = &mut write {
        *key = WriteKey::new("review/orange/1").unwrap();
        threads.push(NewReviewThread {
            line: 3000,
            key: WriteKey::new("finding/outside").unwrap(),
            ..threads[0].clone()
        });
    }
    write
}

/// Every kind of write. The compiler reports a new kind here.
fn kind_of(write: &Write) -> &'static str {
    match write {
        Write::Reply { .. } => "reply",
        Write::Resolve { .. } => "resolve",
        Write::Unresolve { .. } => "unresolve",
        Write::Comment { .. } => "comment",
        Write::Review { .. } => "review",
        Write::RequestReview { .. } => "request review",
        Write::AddLabel { .. } => "label",
        Write::RemoveLabel { .. } => "unlabel",
        Write::Close { .. } => "close",
        Write::Reopen { .. } => "reopen",
        Write::Merge { .. } => "merge",
        Write::Minimize { .. } => "hide",
        Write::OpenIssue { .. } => "issue",
        Write::Dispatch { .. } => "event",
    }
}

/// The number of kinds that [`kind_of`] tells apart.
const WRITES: usize = 14;

pub(crate) async fn operations() -> Vec<Operation> {
    let mut covered = BTreeSet::new();
    let mut operations = Vec::new();
    for kind in KINDS {
        let (wanted, told) = history(kind, None, None).await;
        assert_eq!(told.broken, [""; 0], "{} without a fault", kind.name);
        covered.insert(kind_of(&(kind.write)(&verbs::start().await)));
        let wanted: Arc<[String]> = wanted.into();
        operations.push(Operation {
            name: format!("write: {}", kind.name),
            runs_programs: false,
            under: Box::new(move |trouble| {
                if trouble.jump().is_some() {
                    return Err("a write asks no clock: its pace is counted, and the database dates it");
                }
                if trouble == Trouble::PartialData && kind.aim.starts_with("POST ") {
                    return Err("it is sent over REST, where no data is partial");
                }
                let wanted = Arc::clone(&wanted);
                Ok(Box::pin(async move { history(kind, Some(trouble), Some(wanted)).await.1 }))
            }),
        });
    }
    assert_eq!(covered.len(), WRITES, "every write has a row: {covered:?}");
    operations
}

/// A person with a journal and a client.
struct Desk {
    journal: Journal,
    writer: Writer<cloture::github::Client>,
}

impl Desk {
    async fn open(place: &JournalAddress, url: &str, trouble: Option<Trouble>, now: jiff::Timestamp) -> Desk {
        let waits = matches!(trouble, Some(Trouble::SlowLoris | Trouble::Hangs));
        let patience = if waits { Duration::from_secs(2) } else { simulated::PATIENT };
        let mut options = JournalOptions::new(now);
        options.patience = Duration::from_millis(100);
        options.page_limit = Some(PAGES);
        let journal = Journal::open(place, options).await.unwrap().journal;
        let at_once = WritePace { between: Duration::ZERO, looks: vec![Duration::ZERO; 2], attempts: 3 };
        Desk { journal, writer: Writer::new(simulated::client(url, TOKEN, patience), at_once) }
    }
}

/// How often a client may give up before its request reaches the fault.
const MOST_EARLY: u32 = 20;

/// A person acts, reads the result, and acts again after the fault.
async fn history(kind: Kind, trouble: Option<Trouble>, wanted: Option<Arc<[String]>>) -> (Vec<String>, Told) {
    let simulator = verbs::start().await;
    let folder = folder::temporary();
    let place = JournalAddress::file(folder.path().join(JournalAddress::FILE_NAME));
    let mut told = Told::default();
    let url = if trouble == Some(Trouble::NoSuchHost) { NOBODY.to_owned() } else { simulator.url() };
    let mut desk = Desk::open(&place, &url, trouble, simulator.now()).await;
    let mut file = Disk::of(place.path().unwrap());
    if let Some(trouble) = trouble {
        let aim = if trouble.is_everywhere() { "*" } else { kind.aim };
        trouble.begin(&simulator, aim, kind.aim);
        file.strike(trouble, Some(&desk.journal)).await;
    }
    let about = PullRequestKey {
        host: "127.0.0.1".to_owned(),
        repository: address("acme/shop", 1).repository,
        number: 1,
    };
    let write = (kind.write)(&simulator);
    let mut done = false;
    let mut is_faulty = trouble.is_some();
    let (mut early, mut after) = (0, 0);
    while early < MOST_EARLY && after < 2 {
        let name = format!("faults/{}", kind.name);
        let deed = PlannedWrite {
            name,
            write: write.clone(),
            why: "somebody wants it".to_owned(),
            only_marks: false,
        };
        match perform(&deed, &"h".into(), &about, "dana", None, &desk.journal, &desk.writer).await {
            Ok(WriteResult::Concluded(outcome @ WriteOutcome::Unknown { .. }, _)) => {
                told.show(outcome.sentence());
                // The person looks as asked, and sends it again only if it is missing.
                done = simulator.dispatches().len() == 1;
            }
            Ok(WriteResult::Concluded(..)) => done = true,
            Ok(WriteResult::Refused(_, why)) => {
                told.expect(false, || format!("it is given up for good: {why}"));
                told.show(why);
            }
            Ok(WriteResult::NotAllowed(why) | WriteResult::Later(why) | WriteResult::Limited(_, why)) => {
                told.show(why);
            }
            Err(error) => told.show(error.to_string()),
        }
        if done {
            break;
        }
        let Some(trouble) = trouble.filter(|_| is_faulty) else {
            after += 1;
            continue;
        };
        // On a busy machine the client may give up before its request reaches the fault.
        if trouble.on_forge("").is_some() && struck(&simulator) == 0 {
            early += 1;
            continue;
        }
        is_faulty = false;
        simulator.clear_faults();
        simulator.advance(Duration::from_hours(1));
        file.end(trouble).await;
        if matches!(trouble, Trouble::JournalDamaged | Trouble::NoSuchHost) {
            let _damaged = desk.journal.close().await;
            set_aside(&place, simulator.now()).await;
            desk = Desk::open(&place, &simulator.url(), Some(trouble), simulator.now()).await;
        }
        told.expect(!told.shown.is_empty(), || "nobody was told".to_owned());
    }
    told.expect(done, || "it was never done".to_owned());
    let is_on_forge = trouble.is_some_and(|trouble| trouble.on_forge("").is_some());
    told.expect(!is_on_forge || struck(&simulator) > 0, || "it never struck".to_owned());
    let sent = simulator.requests().into_iter();
    let sent = sent.filter(|request| {
        request.writes
            && (request.operation == kind.aim || request.fields.iter().any(|field| field == kind.aim))
    });
    let tries = sent.count();
    told.tries = tries;
    // GitHub refuses the whole review first, because of the line outside the diff.
    let most = if kind.name == OUTSIDE { 5 } else { 4 };
    told.expect(tries <= most, || format!("it was sent {tries} times"));
    let found = forge(&simulator);
    if let Some(wanted) = wanted {
        told.compare(&found, &wanted);
    }
    let _damaged = desk.journal.close().await;
    (found, told)
}
