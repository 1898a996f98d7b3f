//! Reads a git checkout: its host, its repository and its branch.

use super::super::process::{self, ProcessError};
use crate::agents::bounded_file;
use crate::domain::snapshot::RepositoryName;
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The part of a checkout that leads to its pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    pub host: String,
    /// The repository that the branch is pushed to; it may be a fork.
    pub repository: RepositoryName,
    pub branch: String,
    /// Set if the branch tracks a pull request, as `gh pr checkout` does for forks.
    pub pull_request: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckoutError {
    #[error("this folder is no git checkout; name a pull request as OWNER/REPO#NUMBER")]
    NotACheckout,
    #[error("no branch is checked out here; name a pull request as OWNER/REPO#NUMBER")]
    Detached,
    #[error("the checkout has no remote on a GitHub; name a pull request as OWNER/REPO#NUMBER")]
    NoRemote,
    #[error(transparent)]
    Process(#[from] ProcessError),
}

impl Checkout {
    /// Runs `git` at most once in the usual case, because a person waits for the first screen.
    pub async fn read(directory: &Path) -> Result<Self, CheckoutError> {
        let git_dir_is_set = std::env::var_os("GIT_DIR").is_some();
        if !git_dir_is_set && git_folder(directory).await.is_none() {
            return Err(CheckoutError::NotACheckout);
        }
        let (branch, settings) =
            tokio::join!(branch(directory, git_dir_is_set), git(directory, &["config", "--null", "--list"]));
        let branch = branch?;
        let settings = settings?;
        let settings = GitSettings::read(&settings);
        let setting = |key: String| settings.last(&key);
        let merge = setting(format!("branch.{branch}.merge"));
        let pull_request = merge
            .and_then(|merge| merge.strip_prefix("refs/pull/")?.strip_suffix("/head")?.parse::<u64>().ok())
            .filter(|number| *number <= super::HIGHEST_NUMBER);
        let fetched_from = setting(format!("branch.{branch}.remote"));
        let mut remotes: Vec<&str> = if pull_request.is_some() {
            // The number belongs to the repository that the branch is fetched from, not to the fork.
            fetched_from.into_iter().collect()
        } else {
            let pushed_to =
                [setting(format!("branch.{branch}.pushremote")), setting("remote.pushdefault".to_owned())];
            pushed_to.into_iter().flatten().chain(fetched_from).collect()
        };
        remotes.extend(["origin", "upstream"]);
        for remote in remotes {
            // git allows an address in place of a remote's name.
            let address = settings.address(remote).unwrap_or_else(|| remote.to_owned());
            if let Some((host, repository)) = parse_remote(&address) {
                let tracked = merge.and_then(|merge| merge.strip_prefix("refs/heads/"));
                let branch = tracked.map_or_else(|| branch.clone(), str::to_owned);
                return Ok(Self { host, repository, branch, pull_request });
            }
        }
        Err(CheckoutError::NoRemote)
    }
}

/// The output of `git config --null --list`: name, line break, value. Section and key are in lower case.
struct GitSettings<'a>(Vec<(&'a str, &'a str)>);

impl<'a> GitSettings<'a> {
    fn read(listed: &'a str) -> GitSettings<'a> {
        GitSettings(listed.split('\0').filter_map(|entry| entry.split_once('\n')).collect())
    }

    /// The last value of a key: it overrides earlier ones.
    fn last(&self, key: &str) -> Option<&'a str> {
        let found = self.0.iter().rfind(|(name, value)| *name == key && !value.is_empty());
        found.map(|(_, value)| *value)
    }

    /// The address of a named remote. As in git, the longest `insteadOf` prefix is replaced.
    fn address(&self, remote: &str) -> Option<String> {
        let url = format!("remote.{remote}.url");
        let address = self.0.iter().find(|(name, _)| *name == url).map(|(_, value)| *value)?;
        let replaced = self.0.iter().filter_map(|(name, from)| {
            let to = name.strip_prefix("url.")?.strip_suffix(".insteadof")?;
            Some((from.len(), format!("{to}{}", address.strip_prefix(from)?)))
        });
        let longest = replaced.max_by_key(|(length, _)| *length).map(|(_, address)| address);
        Some(longest.unwrap_or_else(|| address.to_owned()))
    }
}

/// The branch that is checked out.
async fn branch(directory: &Path, git_dir_is_set: bool) -> Result<String, CheckoutError> {
    if !git_dir_is_set && let Some(folder) = git_folder(directory).await {
        let head = match read(folder.join("HEAD")).await {
            Ok(head) => head,
            // git would read a device to its end, which never comes.
            Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::FileTooLarge) => {
                return Err(CheckoutError::NotACheckout);
            }
            Err(_) => String::new(),
        };
        let branch = head.trim().strip_prefix("ref: refs/heads/").filter(|branch| *branch != ".invalid");
        if let Some(branch) = branch {
            return Ok(branch.to_owned());
        }
    }
    // For anything else, ask git.
    match git(directory, &["rev-parse", "--is-inside-work-tree"]).await {
        Err(ProcessError::Failed(_)) => return Err(CheckoutError::NotACheckout),
        other => drop(other?),
    }
    let branch = git(directory, &["symbolic-ref", "--quiet", "--short", "HEAD"]).await;
    branch.map_err(|_| CheckoutError::Detached)
}

/// The folder with the checkout's `HEAD`: `.git` here or further up, or the folder that a `.git` file names,
/// as in a work tree or a submodule.
async fn git_folder(directory: &Path) -> Option<PathBuf> {
    for folder in directory.ancestors() {
        let place = folder.join(".git");
        let Ok(metadata) = tokio::fs::metadata(&place).await else { continue };
        if metadata.is_dir() {
            return Some(place);
        }
        let text = read(place).await.ok()?;
        return Some(folder.join(text.trim().strip_prefix("gitdir: ")?));
    }
    None
}

/// More than any path or branch has. A checkout of somebody else may hold links to anything.
const LARGEST: usize = 16 * 1024;

/// A small text file of the checkout.
async fn read(path: PathBuf) -> io::Result<String> {
    let reading = tokio::task::spawn_blocking(move || bounded_file::read_regular(&path, LARGEST));
    let content = reading.await.map_err(io::Error::other)??;
    String::from_utf8(content).map_err(io::Error::other)
}

async fn git(directory: &Path, arguments: &[&str]) -> Result<String, ProcessError> {
    process::output(OsStr::new("git"), arguments, Some(directory), process::TIME_LIMIT).await
}

/// The host and the repository of a remote's address, in any of git's spellings.
fn parse_remote(address: &str) -> Option<(String, RepositoryName)> {
    let (authority, path) = match address.split_once("://") {
        Some(("https" | "http" | "ssh" | "git" | "git+ssh", rest)) => rest.split_once('/')?,
        Some(_) => return None,
        None => address.split_once(':').filter(|(host, _)| !host.contains('/'))?,
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = host.split_once(':').map_or(host, |(host, _)| host).to_ascii_lowercase();
    let host = if host == "ssh.github.com" { "github.com".to_owned() } else { host };
    let path = path.trim_matches('/');
    let repository = RepositoryName::parse(path.strip_suffix(".git").unwrap_or(path))?;
    (!host.is_empty()).then_some((host, repository))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_remote_is_parsed() {
        let expected = |host: &str| Some((host.to_owned(), RepositoryName::new("o", "r").unwrap()));
        for address in [
            "https://github.com/o/r.git",
            "https://user:secret@github.com/o/r/",
            "git@github.com:o/r.git",
            "ssh://git@github.com/o/r.git",
            "ssh://git@ssh.github.com:443/o/r.git",
        ] {
            assert_eq!(parse_remote(address), expected("github.com"), "{address}");
        }
        assert_eq!(parse_remote("git@git.example.com:o/r"), expected("git.example.com"));
        for address in ["/srv/r.git", "../r", "file:///srv/o/r", "https://github.com/o", "C:\\o\\r", ""] {
            assert_eq!(parse_remote(address), None, "{address}");
        }
    }

    async fn run(directory: &Path, arguments: &[&str]) {
        git(directory, arguments).await.unwrap();
    }

    #[tokio::test]
    async fn a_checkout_has_its_branch_and_remote() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        run(path, &["init", "--quiet", "--initial-branch", "topic"]).await;
        assert_eq!(Checkout::read(path).await, Err(CheckoutError::NoRemote));
        run(path, &["remote", "add", "origin", "git@github.com:o/r.git"]).await;
        let mut expected = Checkout {
            host: "github.com".to_owned(),
            repository: RepositoryName::new("o", "r").unwrap(),
            branch: "topic".to_owned(),
            pull_request: None,
        };
        assert_eq!(Checkout::read(path).await.unwrap(), expected);

        run(path, &["remote", "add", "fork", "https://github.com/me/r"]).await;
        run(path, &["config", "branch.topic.remote", "fork"]).await;
        run(path, &["config", "branch.topic.merge", "refs/heads/theirs"]).await;
        expected.repository = RepositoryName::new("me", "r").unwrap();
        expected.branch = "theirs".to_owned();
        assert_eq!(Checkout::read(path).await.unwrap(), expected);

        run(path, &["config", "branch.topic.remote", "origin"]).await;
        run(path, &["config", "branch.topic.merge", "refs/pull/12/head"]).await;
        assert_eq!(Checkout::read(path).await.unwrap().pull_request, Some(12));
    }

    #[tokio::test]
    async fn instead_of_replaces_an_address_as_in_git() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        run(path, &["init", "--quiet", "--initial-branch", "Topic/A.b"]).await;
        run(path, &["remote", "add", "origin", "gh:o/r"]).await;
        assert_eq!(Checkout::read(path).await.map(|found| found.host), Ok("gh".to_owned()));
        run(path, &["config", "url.https://github.com/.insteadOf", "gh:"]).await;
        run(path, &["config", "url.https://elsewhere.example.com/.insteadOf", "g"]).await;
        let found = Checkout::read(path).await.unwrap();
        assert_eq!((found.host.as_str(), found.branch.as_str()), ("github.com", "Topic/A.b"));
    }

    #[tokio::test]
    async fn a_work_tree_has_its_own_branch_and_a_detached_head_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("main");
        std::fs::create_dir(&path).unwrap();
        let commit =
            ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "-m", "x"];
        run(&path, &["init", "--quiet", "--initial-branch", "main"]).await;
        run(&path, &["remote", "add", "origin", "git@github.com:o/r.git"]).await;
        run(&path, &commit).await;
        run(&path, &["worktree", "add", "--quiet", "-b", "side/way", "../tree"]).await;
        let inside = folder.path().join("tree/a/b");
        std::fs::create_dir_all(&inside).unwrap();
        assert_eq!(Checkout::read(&inside).await.unwrap().branch, "side/way");
        assert_eq!(Checkout::read(&path).await.unwrap().branch, "main");
        run(&path, &["checkout", "--quiet", "--detach"]).await;
        assert_eq!(Checkout::read(&path).await, Err(CheckoutError::Detached));
    }

    #[tokio::test]
    async fn a_plain_folder_is_not_a_checkout() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Checkout::read(folder.path()).await, Err(CheckoutError::NotACheckout));
    }
}
