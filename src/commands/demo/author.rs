//! The demo's author: `cloture demo-author` reads the task of an author round, edits the work tree that it is started
//! in, commits, and pushes with `git`, like any agent that a team would configure.
//!
//! The simulator is no `git` server: the branch lives in a bare repository in the demo's folder. After its push, the
//! author reports the commit to the simulator, which then shows it under the same name. A real author does not do that;
//! everything else, such as the limit on rounds, works as usual.

use super::remarks::{DemoRemark, remarks};
use crate::agents::http::{self, HttpAddress, HttpLimits};
use ::http::HeaderMap;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The fields of a task that the author needs.
#[derive(Debug, Deserialize)]
struct Task {
    round: u32,
    pull_request: PullRequest,
    push: Push,
    findings: Vec<Finding>,
}

#[derive(Debug, Deserialize)]
struct PullRequest {
    repository: String,
    number: u64,
    author: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Push {
    remote: Option<String>,
    branch: String,
}

#[derive(Debug, Deserialize)]
struct Finding {
    title: String,
}

/// More than enough for a server on the same machine.
const PATIENCE: HttpLimits =
    HttpLimits { connect: Duration::from_secs(5), whole: Duration::from_secs(5), answer: 64 * 1024 };

/// The committer. The fixed date gives a round's commit the same name in every demo.
const COMMITTER: [(&str, &str); 6] = [
    ("GIT_AUTHOR_NAME", "fixer"),
    ("GIT_AUTHOR_EMAIL", "fixer@example.invalid"),
    ("GIT_AUTHOR_DATE", "2026-03-02T09:00:00Z"),
    ("GIT_COMMITTER_NAME", "fixer"),
    ("GIT_COMMITTER_EMAIL", "fixer@example.invalid"),
    ("GIT_COMMITTER_DATE", "2026-03-02T09:00:00Z"),
];

/// Does one round's work in the current folder. The returned sentence goes into the journal.
pub async fn work(mut input: impl Read, simulator: &str, think: Duration) -> io::Result<String> {
    let mut text = String::new();
    input.read_to_string(&mut text)?;
    let task: Task = serde_json::from_str(&text)?;
    tokio::time::sleep(think).await;
    let PullRequest { repository, number, author } = &task.pull_request;
    let name = format!("{repository}#{number}");
    let remarks = remarks().map_err(io::Error::other)?;
    let reported = remarks.iter().filter(|remark| remark.on == name);
    let reported =
        reported.filter(|remark| task.findings.iter().any(|finding| finding.title == remark.title));
    let mut files = BTreeMap::new();
    for remark in reported {
        if let Some(fixed) = fixed(remark)? {
            fs::write(&remark.path, &fixed)?;
            files.insert(remark.path.clone(), fixed);
        }
    }
    if files.is_empty() {
        return Ok("found nothing to fix".to_owned());
    }
    let message = format!("Fix what the review of round {} found", task.round);
    git(&["add", "--all"])?;
    git(&["commit", "--quiet", "--no-gpg-sign", "--no-verify", "--message", &message])?;
    let head = git(&["rev-parse", "HEAD"])?;
    let remote = task.push.remote.as_deref().unwrap_or("origin");
    git(&["push", "--quiet", "--no-verify", remote, &format!("HEAD:refs/heads/{}", task.push.branch)])?;
    // The simulator's logins have no `[bot]` suffix.
    let by = author.as_deref().unwrap_or_default().trim_end_matches("[bot]");
    let push = json!({ "by": by, "message": message, "sha": head, "files": files });
    report_push(simulator, &json!({ "pull_request": name, "do": [{ "push": push }] })).await?;
    Ok(format!("{message}: {}", files.keys().cloned().collect::<Vec<_>>().join(", ")))
}

/// The file's text with the remark's fix; `None` if there is nothing left to fix.
fn fixed(remark: &DemoRemark) -> io::Result<Option<String>> {
    let path = Path::new(&remark.path);
    if !path.exists() {
        return Ok(None);
    }
    let before = fs::read_to_string(path)?;
    let after = remark.fix.iter().fold(before.clone(), |text, fix| text.replacen(&fix.find, &fix.with, 1));
    Ok((after != before).then_some(after))
}

/// Runs `git` in this process's group, so that killing the author also kills its `git`.
fn git(arguments: &[&str]) -> io::Result<String> {
    let output = Command::new("git").args(arguments).envs(COMMITTER).output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let (what, why) =
        (arguments.first().copied().unwrap_or_default(), String::from_utf8_lossy(&output.stderr));
    Err(io::Error::other(format!("git {what} failed: {}", why.trim())))
}

async fn report_push(simulator: &str, actions: &serde_json::Value) -> io::Result<()> {
    let address = HttpAddress::parse(&format!("{simulator}/_simulator/actions")).map_err(io::Error::other)?;
    let answer = http::post(&address, HeaderMap::new(), actions.to_string(), PATIENCE).await;
    let answer = answer.map_err(io::Error::other)?;
    if answer.status.is_success() {
        return Ok(());
    }
    let why = String::from_utf8_lossy(&answer.body).into_owned();
    Err(io::Error::other(format!("the simulator refused the push: {why}")))
}
