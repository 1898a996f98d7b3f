//! One write of each kind, and how often it took effect.

use crate::support::simulated::address;
use cloture::domain::snapshot::RepositoryName;
use cloture::domain::verdict::Verdict;
use cloture::github::Write;
use cloture::github::write::{MergeMethod, NewReviewThread, PullRequestTarget, ThreadTarget, WriteKey};
use cloture::simulator::{PullSnapshot, PullState, SimulatedReviewState, Simulator};
use serde_json::{Map, json};

/// A simulator, and the pull request in it that belongs to one cell of the table.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) simulator: &'a Simulator,
    pub(super) number: u64,
}

/// A write, the request that a fault must hit, and a count of its effect on the server.
pub(super) struct Case {
    pub(super) name: &'static str,
    /// The request that carries the write out.
    pub(super) aim: &'static str,
    pub(super) make: fn(Place) -> Write,
    /// How often the write took effect, by the state of the server and by its list of changes.
    pub(super) count: fn(Place) -> usize,
}

fn repository() -> RepositoryName {
    RepositoryName::new("acme", "shop").unwrap()
}

/// A state counts once if it holds and was reached in one step.
fn once_if(holds: bool, steps: usize) -> usize {
    if holds { steps } else { 0 }
}

impl Place<'_> {
    fn key(self) -> WriteKey {
        WriteKey::new(&format!("acme/shop/{}/test", self.number)).unwrap()
    }

    fn finding(self) -> WriteKey {
        WriteKey::new(&format!("acme/shop/{}/finding", self.number)).unwrap()
    }

    /// A label that the repository does not have yet.
    fn fresh_label(self) -> String {
        format!("fresh-{}", self.number)
    }

    fn pull_in(self, repository: &str) -> PullSnapshot {
        self.simulator.pull_request(&format!("{repository}#{}", self.number)).unwrap()
    }

    fn pull(self) -> PullSnapshot {
        self.pull_in("acme/shop")
    }

    fn target_in(self, repository: &str) -> PullRequestTarget {
        PullRequestTarget { address: address(repository, self.number), node_id: self.pull_in(repository).id }
    }

    fn target(self) -> PullRequestTarget {
        self.target_in("acme/shop")
    }

    fn thread(self, index: usize) -> ThreadTarget {
        let thread = self.pull().threads.swap_remove(index);
        ThreadTarget {
            pull_request: address("acme/shop", self.number),
            id: thread.id.into(),
            path: thread.path.into(),
            line: Some(1),
        }
    }

    fn review(self, verdict: Verdict) -> Write {
        let finding = NewReviewThread {
            path: "src/a.rs".into(),
            line: 2,
            start_line: Some(1),
            body: "Wrong.".to_owned(),
            key: self.finding(),
        };
        Write::Review {
            on: self.target(),
            verdict,
            head: self.pull().head.into(),
            body: "Summary.".to_owned(),
            threads: vec![finding],
            key: self.key(),
        }
    }

    /// How often the viewer changed something of this kind here. The simulator records only real changes.
    fn changes(self, what: &str) -> usize {
        let here =
            |on: &str| on.rsplit_once('#').is_some_and(|(_, number)| number == self.number.to_string());
        self.simulator.posts().iter().filter(|post| post.what == what && here(&post.on)).count()
    }

    fn reviews(self, state: SimulatedReviewState) -> usize {
        let pull = self.pull();
        let ours = |body: &str| self.key().marks(body);
        let reviews = pull.reviews.iter().filter(|it| it.state == state && ours(&it.body)).count();
        let threads = pull.threads.iter().filter(|it| self.finding().marks(&it.comments[0].body)).count();
        assert_eq!(reviews, threads, "a review comes with its threads");
        assert_eq!(reviews, self.changes("review"));
        reviews
    }
}

#[expect(clippy::too_many_lines, reason = "a list of every write there is")]
pub(super) fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "reply",
            aim: "addPullRequestReviewThreadReply",
            make: |it| Write::Reply { thread: it.thread(0), body: "Done.".to_owned(), key: it.key() },
            count: |it| {
                let comments = &it.pull().threads[0].comments;
                let count =
                    comments.iter().filter(|said| !said.pending && it.key().marks(&said.body)).count();
                assert_eq!(count, it.changes("reply"));
                count
            },
        },
        Case {
            name: "resolve",
            aim: "resolveReviewThread",
            make: |it| Write::Resolve { thread: it.thread(0) },
            count: |it| once_if(it.pull().threads[0].resolved, it.changes("resolve")),
        },
        Case {
            name: "unresolve",
            aim: "unresolveReviewThread",
            make: |it| Write::Unresolve { thread: it.thread(1) },
            count: |it| once_if(!it.pull().threads[1].resolved, it.changes("unresolve")),
        },
        Case {
            name: "comment",
            aim: "addComment",
            make: |it| Write::Comment { on: it.target(), body: "Hello.".to_owned(), key: it.key() },
            count: |it| {
                let count = it.pull().comments.iter().filter(|said| it.key().marks(&said.body)).count();
                assert_eq!(count, it.changes("comment"));
                count
            },
        },
        Case {
            name: "review: approve",
            aim: "addPullRequestReview",
            make: |it| it.review(Verdict::Approve),
            count: |it| it.reviews(SimulatedReviewState::Approved),
        },
        Case {
            name: "review: request changes",
            aim: "addPullRequestReview",
            make: |it| it.review(Verdict::RequestChanges),
            count: |it| it.reviews(SimulatedReviewState::ChangesRequested),
        },
        Case {
            name: "review: comment",
            aim: "addPullRequestReview",
            make: |it| it.review(Verdict::Comment),
            count: |it| it.reviews(SimulatedReviewState::Commented),
        },
        Case {
            name: "request review",
            aim: "POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers",
            make: |it| Write::RequestReview {
                on: it.target(),
                reviewer: "coderabbitai".into(),
                is_bot: true,
            },
            count: |it| {
                let asked = it.pull().requested_reviewers == ["coderabbitai"];
                once_if(asked, it.changes("request_review"))
            },
        },
        Case {
            name: "add label",
            aim: "addLabelsToLabelable",
            make: |it| Write::AddLabel { on: it.target(), label: "stuck".to_owned() },
            count: |it| once_if(it.pull().labels == ["old", "stuck"], it.changes("label")),
        },
        Case {
            name: "add label that is new",
            aim: "addLabelsToLabelable",
            make: |it| Write::AddLabel { on: it.target(), label: it.fresh_label() },
            count: |it| once_if(it.pull().labels == ["old", &it.fresh_label()], it.changes("label")),
        },
        Case {
            name: "create label, then add it",
            aim: "createLabel",
            make: |it| Write::AddLabel { on: it.target(), label: it.fresh_label() },
            count: |it| once_if(it.pull().labels == ["old", &it.fresh_label()], it.changes("label")),
        },
        Case {
            name: "remove label",
            aim: "removeLabelsFromLabelable",
            make: |it| Write::RemoveLabel { on: it.target(), label: "old".to_owned() },
            count: |it| once_if(it.pull().labels.is_empty(), it.changes("unlabel")),
        },
        Case {
            name: "close",
            aim: "closePullRequest",
            make: |it| Write::Close { on: it.target() },
            count: |it| once_if(it.pull().state == PullState::Closed, it.changes("close")),
        },
        Case {
            name: "reopen",
            aim: "reopenPullRequest",
            make: |it| Write::Reopen { on: it.target_in("acme/closed") },
            count: |it| once_if(it.pull_in("acme/closed").state == PullState::Open, it.changes("reopen")),
        },
        Case {
            name: "merge",
            aim: "mergePullRequest",
            make: |it| Write::Merge {
                on: it.target(),
                head: it.pull().head.into(),
                method: MergeMethod::Squash,
            },
            count: |it| once_if(it.pull().state == PullState::Merged, it.changes("merge")),
        },
        Case {
            name: "minimise",
            aim: "minimizeComment",
            make: |it| Write::Minimize {
                on: address("acme/shop", it.number),
                comment: it.pull().comments[0].id.clone(),
            },
            count: |it| {
                let hidden = it.pull().comments[0].minimized.as_deref() == Some("duplicate");
                once_if(hidden, it.changes("minimize"))
            },
        },
        Case {
            name: "open issue",
            aim: "POST /repos/{owner}/{repo}/issues",
            make: |it| Write::OpenIssue {
                repository: repository(),
                title: "Fix it".to_owned(),
                body: "Please.".to_owned(),
                labels: vec!["stuck".to_owned()],
                assignees: vec!["erin".to_owned()],
                key: it.key(),
            },
            count: |it| {
                let issues = it.simulator.issues();
                issues.iter().filter(|issue| it.key().marks(&issue.body)).count()
            },
        },
        Case {
            name: "dispatch",
            aim: "POST /repos/{owner}/{repo}/dispatches",
            make: |it| Write::Dispatch {
                repository: repository(),
                event_type: "fix".to_owned(),
                payload: Map::from_iter([("round".to_owned(), json!(1))]),
                key: it.key(),
            },
            count: |it| {
                let sent = it.simulator.dispatches();
                sent.iter().filter(|sent| sent.client_payload["cloture_key"] == it.key().as_str()).count()
            },
        },
    ]
}
