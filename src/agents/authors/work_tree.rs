//! A git work tree for one author round, made from a local checkout.

use super::leftovers::{self, RoundFolder};
use super::{AuthorAgent, AuthorTask};
use crate::agents::process::{self, Environment, ProgramEnding, ProgramLimits, ProgramRun};
use crate::domain::snapshot::RepositoryName;
use crate::domain::vocabulary::Sha;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkTreeError {
    #[error("the author's checkout {} is not a git checkout; correct `checkout` in [author]", .0.display())]
    NoCheckout(PathBuf),
    #[error("the repository of the branch {0} was deleted, so the author cannot push to it")]
    NoRepository(String),
    #[error("the branch name {0:?} has characters that a shell would act on; rename the branch")]
    OddBranch(String),
    #[error(
        "the author's checkout {} has no remote for {repository}; add one with `git remote add`",
        checkout.display()
    )]
    NoRemote { checkout: PathBuf, repository: RepositoryName },
    #[error("the branch {branch} is no longer at {expected}, so the findings may not apply to it")]
    Moved { branch: String, expected: Sha },
    #[error("`git {command}` failed in {}; run it there by hand to see why", checkout.display())]
    Git { command: String, checkout: PathBuf },
    #[error("Cloture cannot create a temporary folder for a work tree; is the disk full?")]
    NoFolder,
}

/// For one git command; fetching may be slow.
const GIT_TIME: Duration = Duration::from_mins(5);
const GIT_OUTPUT: usize = 1024 * 1024;

#[derive(Debug)]
pub(super) struct WorkTree {
    git: Git,
    remote: String,
    branch: String,
    path: PathBuf,
    git_folder: PathBuf,
    /// Dropped last.
    _folder: RoundFolder,
}

impl WorkTree {
    /// Fetches the branch and checks out its head, if the head is still the task's.
    pub(super) async fn prepare(agent: &AuthorAgent, task: &AuthorTask) -> Result<WorkTree, WorkTreeError> {
        let git = Git::of(agent);
        let checkout = git.checkout.clone();
        let git_folder = git.run(&["rev-parse", "--path-format=absolute", "--git-common-dir"]).await;
        let git_folder = PathBuf::from(git_folder.map_err(|_| WorkTreeError::NoCheckout(checkout))?);
        let branch = task.push.branch.clone();
        if !is_plain(&branch) {
            return Err(WorkTreeError::OddBranch(branch));
        }
        let repository = task.head_repository.as_ref();
        let repository = repository.ok_or_else(|| WorkTreeError::NoRepository(branch.clone()))?;
        let remote = git.remote_of(repository, &task.former_names).await?;
        leftovers::remove(&git).await;
        let folder = RoundFolder::create().map_err(|_| WorkTreeError::NoFolder)?;
        let path = folder.tree();
        let tree = WorkTree { git, remote, branch, path, git_folder, _folder: folder };
        if tree.branch_head().await? != task.head {
            let (branch, expected) = (tree.branch.clone(), task.head.clone());
            return Err(WorkTreeError::Moved { branch, expected });
        }
        let reference = tree.reference();
        tree.git.run(&["fetch", "--quiet", "--no-tags", &tree.remote, &reference]).await?;
        let place = tree.path.to_string_lossy().into_owned();
        tree.git.run(&["worktree", "add", "--quiet", "--detach", &place, task.head.as_str()]).await?;
        Ok(tree)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn remote(&self) -> &str {
        &self.remote
    }

    pub(super) fn git_folder(&self) -> &Path {
        &self.git_folder
    }

    /// The branch's head at the remote.
    pub(super) async fn branch_head(&self) -> Result<Sha, WorkTreeError> {
        let listed = self.git.run(&["ls-remote", "--refs", &self.remote, &self.reference()]).await?;
        let head = listed.split_whitespace().next().unwrap_or_default();
        Ok(head.into())
    }

    /// Removes the work tree. If that fails, the next round or the next start does it.
    pub(super) async fn remove(self) {
        let place = self.path.to_string_lossy().into_owned();
        let _removed_later = self.git.run(&["worktree", "remove", "--force", &place]).await;
    }

    /// The full name, which git cannot take for an option or a tag.
    fn reference(&self) -> String {
        format!("refs/heads/{}", self.branch)
    }
}

/// `git` in the checkout.
#[derive(Debug)]
pub(super) struct Git {
    checkout: PathBuf,
    /// The agent's variables: git has to reach the remote as well.
    env: Vec<String>,
}

impl Git {
    pub(super) fn of(agent: &AuthorAgent) -> Git {
        let checkout = std::path::absolute(&agent.checkout).unwrap_or_else(|_| agent.checkout.clone());
        Git { checkout, env: agent.program.env.clone() }
    }

    pub(super) async fn run(&self, arguments: &[&str]) -> Result<String, WorkTreeError> {
        // Hooks could come with the code under review, so none run.
        let own = ["-c", "core.hooksPath=/dev/null"];
        let words: Vec<OsString> = own.iter().chain(arguments).map(OsString::from).collect();
        let environment = Environment::ordinary()
            .passing(self.env.iter().cloned())
            .with("GIT_TERMINAL_PROMPT", "0")
            .with("LC_ALL", "C");
        let job = ProgramRun {
            program: OsStr::new("git"),
            arguments: &words,
            directory: Some(&self.checkout),
            environment: &environment,
            stdin: b"",
            limits: ProgramLimits { time: GIT_TIME, output: GIT_OUTPUT, log: 0 },
        };
        let failed = || WorkTreeError::Git {
            command: arguments.first().copied().unwrap_or_default().to_owned(),
            checkout: self.checkout.clone(),
        };
        let finished = process::run(&job).await.map_err(|_| failed())?;
        match finished.ending {
            ProgramEnding::Succeeded => Ok(String::from_utf8_lossy(&finished.output).trim().to_owned()),
            _ => Err(failed()),
        }
    }

    /// The remote whose address ends with this repository's name, or with a former one.
    async fn remote_of(
        &self,
        repository: &RepositoryName,
        former: &[RepositoryName],
    ) -> Result<String, WorkTreeError> {
        for remote in self.run(&["remote"]).await?.lines() {
            let address = self.run(&["remote", "get-url", "--push", remote]).await.unwrap_or_default();
            if std::iter::once(repository).chain(former).any(|name| is_address_of(&address, name)) {
                return Ok(remote.to_owned());
            }
        }
        Err(WorkTreeError::NoRemote { checkout: self.checkout.clone(), repository: repository.clone() })
    }
}

/// S1: agents put the name into shell commands, and the author of the pull request chose it.
fn is_plain(branch: &str) -> bool {
    !branch.starts_with('-')
        && branch
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '+' | '@' | '#' | '='))
}

fn is_address_of(address: &str, repository: &RepositoryName) -> bool {
    let address = address.trim_end_matches('/');
    let address = address.strip_suffix(".git").unwrap_or(address);
    let mut parts = address.rsplit(['/', ':', '\\']);
    let (name, owner) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    RepositoryName::new(owner, name).as_ref() == Some(repository)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s1_a_branch_name_that_a_shell_would_act_on_is_not_plain() {
        for branch in ["main", "feature/über-2.0", "renovate/serde@1.x", "issue#7"] {
            assert!(is_plain(branch), "{branch}");
        }
        for branch in ["x;id", "$(id)", "`id`", "a b", "-f", "a|b", "a&b", "a'b", "a\"b", "a>b", "a\nb"] {
            assert!(!is_plain(branch), "{branch}");
        }
    }

    #[test]
    fn a_remote_is_recognised_by_the_end_of_its_address() {
        let repository = RepositoryName::new("acme", "shop").unwrap();
        for address in [
            "git@github.com:acme/shop.git",
            "https://github.com/Acme/Shop",
            "ssh://git@host:22/acme/shop/",
            "/srv/acme/shop.git",
        ] {
            assert!(is_address_of(address, &repository), "{address}");
        }
        for address in ["", "https://github.com/acme/shop-two", "https://github.com/evil-acme/shop", "shop"] {
            assert!(!is_address_of(address, &repository), "{address}");
        }
    }
}
