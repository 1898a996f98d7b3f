//! The repository that the demo's author works on: a real `git` repository in the demo's folder, with a branch for each
//! of the scenario's pull requests.

use super::Scenario;
use crate::agents::process::{self, Environment, ProgramEnding, ProgramLimits, ProgramRun};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The checkout, and the branches of its repository.
#[derive(Debug)]
pub(super) struct DemoCheckout {
    pub(super) checkout: PathBuf,
    /// Branch name to head commit.
    heads: BTreeMap<String, String>,
}

const LIMITS: ProgramLimits = ProgramLimits { time: Duration::from_secs(20), output: 64 * 1024, log: 0 };

/// The committer of the history before the demo begins.
const COMMITTER: &str = "committer Erin <erin@example.invalid> 1772442000 +0000";

/// Creates the repository and a checkout of it. Returns `None` if `git` is missing or fails.
pub(super) async fn make(folder: &Path, repository: &str, scenario: &Scenario) -> Option<DemoCheckout> {
    // The path must end in the repository's name: Cloture recognises the remote by it.
    let bare = folder.join(format!("{repository}.git"));
    let checkout = folder.join("checkout");
    fs::create_dir_all(&bare).ok()?;
    fs::create_dir_all(&checkout).ok()?;
    let address = bare.to_str()?;
    git(&bare, &["init", "--quiet", "--bare", "."], b"").await?;
    git(&bare, &["--git-dir", ".", "fast-import", "--quiet"], history(repository, scenario).as_bytes())
        .await?;
    git(&checkout, &["init", "--quiet", "."], b"").await?;
    git(&checkout, &["remote", "add", "origin", address], b"").await?;
    let format = "--format=%(refname:strip=2) %(objectname)";
    let listed = git(&bare, &["--git-dir", ".", "for-each-ref", format, "refs/heads/"], b"").await?;
    let heads = listed.lines().filter_map(|line| line.split_once(' '));
    let heads = heads.map(|(branch, head)| (branch.to_owned(), head.to_owned())).collect();
    Some(DemoCheckout { checkout, heads })
}

impl DemoCheckout {
    /// Gives the scenario's pull requests the commit names that `git` made.
    pub(super) fn name_heads(&self, repository: &str, scenario: &mut Scenario) {
        let entries = scenario.pull_requests.iter_mut().map(toml::Spanned::get_mut);
        for entry in entries.filter(|entry| entry.repository == repository) {
            entry.sha = entry.branch.as_ref().and_then(|branch| self.heads.get(branch)).cloned();
        }
    }
}

/// The input for `git fast-import`: the default branch, and one commit on top of it per pull request.
fn history(repository: &str, scenario: &Scenario) -> String {
    let mut stream = String::new();
    let mut commit = |branch: &str, from: Option<&str>, message: &str, files: &BTreeMap<String, String>| {
        let _infallible =
            write!(stream, "commit refs/heads/{branch}\n{COMMITTER}\ndata {}\n{message}\n", message.len());
        if let Some(from) = from {
            let _infallible = writeln!(stream, "from refs/heads/{from}");
        }
        for (path, text) in files {
            let _infallible = write!(stream, "M 100644 inline {path}\ndata {}\n{text}\n", text.len());
        }
        stream.push('\n');
    };
    let entry =
        scenario.repositories.iter().map(toml::Spanned::get_ref).find(|entry| entry.name == repository);
    let Some(entry) = entry else { return stream };
    commit(&entry.default_branch, None, "Initial commit", &entry.files);
    let pulls = scenario.pull_requests.iter().map(toml::Spanned::get_ref);
    for pull in pulls.filter(|pull| pull.repository == repository) {
        if let Some(branch) = &pull.branch {
            commit(branch, Some(&entry.default_branch), &pull.title, &pull.files);
        }
    }
    stream
}

async fn git(directory: &Path, arguments: &[&str], stdin: &[u8]) -> Option<String> {
    let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
    let environment = Environment::ordinary().with("GIT_TERMINAL_PROMPT", "0").with("LC_ALL", "C");
    let job = ProgramRun {
        program: OsStr::new("git"),
        arguments: &arguments,
        directory: Some(directory),
        environment: &environment,
        stdin,
        limits: LIMITS,
    };
    let finished = process::run(&job).await.ok()?;
    (finished.ending == ProgramEnding::Succeeded)
        .then(|| String::from_utf8_lossy(&finished.output).trim().to_owned())
}
