//! A throw-away clone for one author round, made from a local checkout.

use super::git::{self, Git, Setting, configuration, settings_in_clone};
use super::leftovers::{self, RoundFolder};
use super::{AuthorAgent, AuthorTask};
use crate::agents::process::Environment;
use crate::domain::snapshot::RepositoryName;
use crate::domain::vocabulary::Sha;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkTreeError {
    #[error("the author's checkout {} is not a git checkout; correct `checkout` in [author]", .0.display())]
    NoCheckout(PathBuf),
    #[error("the repository of the branch {0} was deleted, so the author cannot push to it")]
    NoRepository(String),
    #[error(
        "the branch is in the fork {0}, and the author's agent works only on branches of the repository itself; \
         `forks = true` in [author] changes that"
    )]
    Fork(RepositoryName),
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

#[derive(Debug)]
pub(super) struct WorkTree {
    git: Git,
    remote: String,
    /// The remote's address. After the round, Cloture asks by the address, so no setting of a remote takes part.
    address: String,
    branch: String,
    /// For git in the clone.
    settings: Vec<Setting>,
    folder: RoundFolder,
}

impl WorkTree {
    /// Fetches the branch, and checks out its head in a clone of its own, if the head is still the task's.
    pub(super) async fn prepare(agent: &AuthorAgent, task: &AuthorTask) -> Result<WorkTree, WorkTreeError> {
        let git = Git::of(agent);
        let checkout = git.checkout.clone();
        let asked = ["rev-parse", "--path-format=absolute", "--git-common-dir", "--show-object-format"];
        let answer = git.run(&asked).await.map_err(|_| WorkTreeError::NoCheckout(checkout))?;
        let (git_folder, format) = answer.rsplit_once('\n').unwrap_or((&answer, "sha1"));
        let branch = task.push.branch.clone();
        if !is_plain(&branch) {
            return Err(WorkTreeError::OddBranch(branch));
        }
        let repository = task.head_repository.as_ref();
        let repository = repository.ok_or_else(|| WorkTreeError::NoRepository(branch.clone()))?;
        if task.is_fork() && !agent.forks {
            return Err(WorkTreeError::Fork(repository.clone()));
        }
        let (remote, address) = git.remote_of(repository, &task.former_names).await?;
        leftovers::remove(&git).await;
        let folder = RoundFolder::create().map_err(|_| WorkTreeError::NoFolder)?;
        let settings = settings_in_clone(&git.settings(&[]).await, &remote);
        let tree = WorkTree { git, remote, address, branch, settings, folder };
        if tree.branch_head().await? != task.head {
            let (branch, expected) = (tree.branch.clone(), task.head.clone());
            return Err(WorkTreeError::Moved { branch, expected });
        }
        let reference = tree.reference();
        let fetch = ["fetch", "--quiet", "--no-tags", UPLOAD_PACK, &tree.address, &reference];
        tree.git.run(&fetch).await?;
        tree.clone_from(Path::new(git_folder), format, &task.head).await?;
        Ok(tree)
    }

    /// A linked work tree would share the checkout's git folder: an agent that may commit there may also
    /// write its configuration, and Cloture's own git would obey it. The clone borrows only the objects.
    async fn clone_from(&self, git_folder: &Path, format: &str, head: &Sha) -> Result<(), WorkTreeError> {
        let (path, own) = (self.folder.tree(), self.folder.git_folder());
        let place = path.to_string_lossy().into_owned();
        let separate = format!("--separate-git-dir={}", own.display());
        let format = format!("--object-format={format}");
        let init = ["init", "--quiet", "--template=", &format, &separate, &place];
        self.git.run_in(self.folder.path(), &init, &self.settings).await?;
        let of_checkout = self.git.settings(&["--local"]).await;
        let written = || -> io::Result<()> {
            let objects = own.join("objects/info");
            fs::create_dir_all(&objects)?;
            fs::write(objects.join("alternates"), format!("{}\n", git_folder.join("objects").display()))?;
            match fs::copy(git_folder.join("shallow"), own.join("shallow")) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut config = fs::OpenOptions::new().append(true).open(own.join("config"))?;
            config.write_all(configuration(&of_checkout, &self.remote, &self.address).as_bytes())
        };
        written().map_err(|_| WorkTreeError::NoFolder)?;
        let checkout = ["checkout", "--quiet", "--detach", head.as_str()];
        self.git.run_in(&path, &checkout, &self.settings).await?;
        Ok(())
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.tree()
    }

    pub(super) fn remote(&self) -> &str {
        &self.remote
    }

    pub(super) fn branch(&self) -> &str {
        &self.branch
    }

    /// The clone's own git folder.
    pub(super) fn git_folder(&self) -> PathBuf {
        self.folder.git_folder()
    }

    /// The variables that keep git from running what comes with the code.
    pub(super) fn variables(&self) -> Vec<(String, String)> {
        git::variables(&self.settings)
    }

    /// The agent's environment.
    pub(super) fn environment(&self, of_agent: Environment) -> Environment {
        let environment = git::with_settings(of_agent, &self.settings);
        // Its own folder for temporary files, so that it need not write to the one with other rounds in it.
        let temporary = self.folder.temporary();
        ["TMPDIR", "TMP", "TEMP"].iter().fold(environment, |it, name| it.with(name, &temporary))
    }

    /// The branch's head at the remote. Git runs in the checkout, over a configuration that the agent did not
    /// get to write.
    pub(super) async fn branch_head(&self) -> Result<Sha, WorkTreeError> {
        let reference = self.reference();
        let listed = self.git.run(&["ls-remote", "--refs", UPLOAD_PACK, &self.address, &reference]).await?;
        let head = listed.split_whitespace().next().unwrap_or_default();
        Ok(head.into())
    }

    /// Removes the clone. If that fails, the next round or the next start does it.
    pub(super) async fn remove(self) {
        let _removed_later = tokio::fs::remove_dir_all(self.folder.tree()).await;
    }

    /// The full name, which git cannot take for an option or a tag.
    fn reference(&self) -> String {
        format!("refs/heads/{}", self.branch)
    }
}

/// The program at the remote's end, whatever a configuration says.
const UPLOAD_PACK: &str = "--upload-pack=git-upload-pack";

impl Git {
    /// The remote whose address ends with this repository's name, or with a former one, and that address.
    async fn remote_of(
        &self,
        repository: &RepositoryName,
        former: &[RepositoryName],
    ) -> Result<(String, String), WorkTreeError> {
        for remote in self.run(&["remote"]).await?.lines() {
            let address = self.run(&["remote", "get-url", "--push", remote]).await.unwrap_or_default();
            if std::iter::once(repository).chain(former).any(|name| is_address_of(&address, name)) {
                // A path counts from the checkout, and the clone is elsewhere.
                let is_path = !address.contains(':') && Path::new(&address).is_relative();
                let path = self.checkout.join(&address);
                let address = if is_path { path.to_string_lossy().into_owned() } else { address };
                return Ok((remote.to_owned(), address));
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
