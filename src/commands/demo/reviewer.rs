//! The demo's driven reviewer: `cloture demo-reviewer` reads a request of the reviewer protocol and prints an answer,
//! like any program that a team would configure. It keeps no state, so the same request always gets the same answer.
//! Cloture limits, parses and checks its answers like those of every reviewer.

use super::remarks::{DemoRemark, remarks};
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::time::Duration;

/// The fields of a request that the reviewer needs.
#[derive(Debug, Clone, Deserialize)]
struct ReviewRequest {
    cycle: Cycle,
    pull_request: PullRequest,
    threads: Vec<Thread>,
    settled: Vec<Settled>,
    diff: String,
}

#[derive(Debug, Clone, Deserialize)]
struct Cycle {
    attempt: u32,
}

#[derive(Debug, Clone, Deserialize)]
struct PullRequest {
    repository: String,
    number: u64,
}

#[derive(Debug, Clone, Deserialize)]
struct Thread {
    id: String,
    title: String,
    legal: Legal,
}

#[derive(Debug, Clone, Deserialize)]
struct Legal {
    seeks_change: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
struct Settled {
    title: String,
}

/// The answer, in the protocol `actions`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Answer {
    actions: Vec<Action>,
    findings: Vec<Finding>,
    summary: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Action {
    thread: String,
    action: &'static str,
    stance: &'static str,
    body: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Finding {
    path: String,
    line: u32,
    title: String,
    body: String,
    severity: &'static str,
    category: &'static str,
}

/// Reads a request, waits for `think`, and prints the answer.
pub fn review(mut input: impl Read, mut output: impl Write, think: Duration) -> io::Result<()> {
    let mut text = String::new();
    input.read_to_string(&mut text)?;
    let request: ReviewRequest = serde_json::from_str(&text)?;
    let remarks = remarks().map_err(io::Error::other)?;
    // Blocking is fine: this process does nothing else.
    std::thread::sleep(think);
    serde_json::to_writer(&mut output, &answer(&request, &remarks))?;
    output.flush()
}

fn answer(request: &ReviewRequest, remarks: &[DemoRemark]) -> Answer {
    let PullRequest { repository, number } = &request.pull_request;
    let name = format!("{repository}#{number}");
    let own: Vec<&DemoRemark> = remarks.iter().filter(|remark| remark.on == name).collect();
    let added = added_lines(&request.diff);
    let adds = |path: &str, text: &str| {
        added.iter().find(|line| line.path == path && line.text.contains(text)).map(|line| line.number)
    };
    let actions: Vec<Action> = request
        .threads
        .iter()
        .map(|thread| {
            let remark = own.iter().find(|remark| remark.title == thread.title);
            let is_satisfied = remark.is_none_or(|remark| adds(&remark.path, &remark.satisfied_by).is_some());
            let insists = remark.is_some_and(|remark| remark.insists) && request.cycle.attempt == 1;
            action(thread, is_satisfied, insists)
        })
        .collect();
    let is_reported = |title: &str| {
        request.threads.iter().any(|thread| thread.title == title)
            || request.settled.iter().any(|settled| settled.title == title)
    };
    let new = own.iter().filter(|remark| !is_reported(&remark.title));
    let findings: Vec<Finding> =
        new.filter_map(|remark| Some(finding(remark, adds(&remark.path, &remark.sees)?))).collect();
    let resolved = actions.iter().filter(|action| action.action == "resolve").count();
    let summary = match (findings.len(), resolved, actions.len() - resolved) {
        (0, _, 0) => "Nothing is left to report.".to_owned(),
        (new, resolved, held) => format!("{new} new, {resolved} resolved, {held} still open."),
    };
    Answer { actions, findings, summary }
}

fn action(thread: &Thread, is_satisfied: bool, insists: bool) -> Action {
    let may_reply = thread.legal.seeks_change.iter().any(|action| action == "reply");
    let (action, stance, body) = match (is_satisfied, may_reply || insists) {
        (true, _) => ("resolve", "accepts", "Fixed, thank you."),
        (false, true) => ("reply", "seeks_change", "This has not changed, and I still think that it should."),
        (false, false) => ("veto", "seeks_change", "I have no new arguments. A person should decide."),
    };
    Action { thread: thread.id.clone(), action, stance, body: body.to_owned() }
}

fn finding(remark: &DemoRemark, line: u32) -> Finding {
    Finding {
        path: remark.path.clone(),
        line,
        title: remark.title.clone(),
        body: remark.body.clone(),
        severity: remark.severity.name(),
        category: remark.category.name(),
    }
}

/// A line that the diff adds, with its number in the new file.
struct AddedLine<'a> {
    path: &'a str,
    number: u32,
    text: &'a str,
}

fn added_lines(diff: &str) -> Vec<AddedLine<'_>> {
    let mut added = Vec::new();
    let mut path = "";
    let mut number = 0;
    for line in diff.lines() {
        if let Some(name) = line.strip_prefix("+++ ") {
            path = name.strip_prefix("b/").unwrap_or(name);
        } else if let Some(ranges) = line.strip_prefix("@@ ") {
            let new = ranges.split(" +").nth(1).and_then(|new| new.split([',', ' ']).next());
            number = new.and_then(|new| new.parse().ok()).unwrap_or(0);
        } else if let Some(text) = line.strip_prefix('+') {
            added.push(AddedLine { path, number, text });
            number += 1;
        } else if line.starts_with(' ') {
            number += 1;
        }
    }
    added
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "diff --git a/src/batch.py b/src/batch.py\n--- a/src/batch.py\n+++ b/src/batch.py\n\
                        @@ -1,2 +1,3 @@\n def send(messages):\n+    for at in range(0, len(messages), 50):\n     pass\n";

    fn request(attempt: u32, diff: &str, threads: &[(&str, &[&str])], settled: &[&str]) -> ReviewRequest {
        let threads = threads.iter().enumerate().map(|(index, (title, legal))| Thread {
            id: format!("T{index}"),
            title: (*title).to_owned(),
            legal: Legal { seeks_change: legal.iter().map(|&action| action.to_owned()).collect() },
        });
        ReviewRequest {
            cycle: Cycle { attempt },
            pull_request: PullRequest { repository: "acme/mail".to_owned(), number: 53 },
            threads: threads.collect(),
            settled: settled.iter().map(|&title| Settled { title: title.to_owned() }).collect(),
            diff: diff.to_owned(),
        }
    }

    fn answered(request: &ReviewRequest) -> Answer {
        answer(request, &remarks().unwrap())
    }

    const UNNAMED: &str = "Fifty has no name";
    const ALL: &[&str] = &["resolve", "reply", "veto", "escalate"];
    const NO_REPLY: &[&str] = &["resolve", "veto", "escalate"];

    #[test]
    fn it_reports_a_finding_once_at_the_added_line() {
        let findings = answered(&request(1, DIFF, &[], &[])).findings;
        assert_eq!(findings.len(), 1);
        assert_eq!((findings[0].title.as_str(), findings[0].line), (UNNAMED, 2));
        assert!(answered(&request(1, DIFF, &[(UNNAMED, ALL)], &[])).findings.is_empty());
        assert!(answered(&request(1, DIFF, &[], &[UNNAMED])).findings.is_empty());
        assert!(answered(&request(1, "", &[], &[])).findings.is_empty());
    }

    #[test]
    fn it_replies_while_it_may_insists_once_and_then_vetoes() {
        let action = |attempt, diff, legal| {
            answered(&request(attempt, diff, &[(UNNAMED, legal)], &[])).actions[0].action
        };
        assert_eq!(action(1, "", ALL), "reply");
        assert_eq!(action(1, "", NO_REPLY), "reply", "it insists, which the rules do not allow");
        assert_eq!(action(2, "", NO_REPLY), "veto", "after the refusal it yields");
        assert_eq!(action(1, &DIFF.replace("50", "BATCH_SIZE"), NO_REPLY), "resolve");
    }

    #[test]
    fn it_resolves_a_thread_that_it_does_not_know() {
        let answer = answered(&request(1, "", &[("Somebody else's", ALL)], &[]));
        assert_eq!(answer.actions[0].action, "resolve");
    }

    #[test]
    fn every_fix_satisfies_its_remark() {
        for remark in remarks().unwrap().iter().filter(|remark| !remark.fix.is_empty()) {
            assert!(
                remark.fix.iter().any(|fix| fix.with.contains(&remark.satisfied_by)),
                "the fix of \"{}\" does not satisfy it",
                remark.title
            );
        }
    }
}
