//! The author's agent: its task, its work tree, and tidying up afterwards.

#![cfg(unix)]

use crate::support::driven::{Scripts, argued, program, snapshot};
use cloture::agents::authors::{
    AuthorAgent, AuthorAgentKind, AuthorEnding, AuthorError, AuthorOutcome, AuthorTask, WorkTreeError,
    dispatch,
};
use cloture::agents::process::ProgramEnding;
use cloture::domain::policy::Policy;
use cloture::domain::snapshot::RepositoryName;
use cloture::reviewers::adapters::Program;
use serde_json::Value;
use std::future::pending;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A remote repository with a branch, and a checkout of it.
struct Place {
    scripts: Scripts,
    head: String,
}

fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

impl Place {
    fn new() -> Place {
        let scripts = Scripts::new();
        let remote = scripts.path("acme/shop.git");
        std::fs::create_dir_all(&remote).unwrap();
        git(&remote, &["init", "--quiet", "--bare", "--initial-branch=main"]);
        let checkout = scripts.path("checkout");
        git(&scripts.path(""), &["clone", "--quiet", remote.to_str().unwrap(), checkout.to_str().unwrap()]);
        git(&checkout, &["switch", "--quiet", "-c", "discount"]);
        std::fs::write(checkout.join("a.txt"), "one\n").unwrap();
        git(&checkout, &["add", "a.txt"]);
        git(&checkout, &["commit", "--quiet", "-m", "one"]);
        git(&checkout, &["push", "--quiet", "origin", "discount"]);
        let head = git(&checkout, &["rev-parse", "HEAD"]);
        git(&checkout, &["switch", "--quiet", "--detach"]);
        Place { scripts, head }
    }

    fn checkout(&self) -> PathBuf {
        self.scripts.path("checkout")
    }

    fn agent(&self, kind: AuthorAgentKind, body: &str) -> AuthorAgent {
        let program =
            Program { timeout: Duration::from_mins(1), ..program(&self.scripts.add("agent", body)) };
        AuthorAgent { kind, program, prompt_file: None, checkout: self.checkout() }
    }

    fn task(&self) -> AuthorTask {
        let mut snapshot = snapshot();
        snapshot.head.sha = self.head.as_str().into();
        let engine = argued(&Policy::default());
        let threads: Vec<_> = engine.threads().collect();
        AuthorTask::of(&snapshot, threads.into_iter(), 2)
    }

    async fn dispatch(&self, kind: AuthorAgentKind, body: &str) -> Result<AuthorOutcome, AuthorError> {
        dispatch(&self.agent(kind, body), self.task(), pending()).await
    }

    /// No work tree is left except the checkout.
    fn assert_tidy(&self) {
        let trees = git(&self.checkout(), &["worktree", "list", "--porcelain"]);
        assert_eq!(trees.matches("worktree ").count(), 1, "{trees}");
    }
}

const FIX: &str = "cat > \"$here/task\"; pwd > \"$here/folder\"\n\
    echo two >> a.txt && git -c user.name=T -c user.email=t@example.com commit --quiet -am 'fix' && \
    git push --quiet origin HEAD:discount && echo 'I fixed it'";

#[tokio::test]
async fn l7_the_agent_gets_the_findings_works_in_its_own_tree_and_pushes() {
    let place = Place::new();
    let outcome = place.dispatch(AuthorAgentKind::Program, FIX).await.unwrap();
    assert_eq!(outcome.ending, AuthorEnding::Program(ProgramEnding::Succeeded), "{outcome:?}");
    assert!(outcome.pushed());
    let task: Value = serde_json::from_str(&place.scripts.read("task")).unwrap();
    assert_eq!((&task["protocol"], &task["round"]), (&1.into(), &2.into()));
    assert_eq!(task["push"], serde_json::json!({"remote": "origin", "branch": "discount"}));
    let threads: Vec<&str> =
        task["findings"].as_array().unwrap().iter().map(|f| f["thread"].as_str().unwrap()).collect();
    assert_eq!(threads, ["G1", "T1", "T2"], "only open findings");
    assert_eq!(task["findings"][1]["title"], "Leaked file handle");
    let folder = place.scripts.read("folder");
    assert!(!folder.contains("checkout") && !Path::new(folder.trim()).exists(), "{folder}");
    place.assert_tidy();
    let sentence = outcome.sentence(&place.agent(AuthorAgentKind::Program, FIX));
    assert!(sentence.contains("finished after") && sentence.contains("the branch is now at"), "{sentence}");
}

#[tokio::test]
async fn a_coding_agent_gets_the_task_in_a_prompt() {
    let place = Place::new();
    let keep = "printf '%s\\n' \"$@\" > \"$here/arguments\"; cat > \"$here/prompt\"";
    for (kind, first) in [(AuthorAgentKind::Claude, "--print"), (AuthorAgentKind::Codex, "exec")] {
        let outcome = place.dispatch(kind, keep).await.unwrap();
        assert!(outcome.ending == AuthorEnding::Program(ProgramEnding::Succeeded) && !outcome.pushed());
        let prompt = place.scripts.read("prompt");
        assert!(prompt.contains("Never force-push") && prompt.contains("\"thread\": \"T1\""), "{prompt}");
        assert_eq!(place.scripts.read("arguments").lines().next(), Some(first));
    }
    place.assert_tidy();
}

#[tokio::test]
async fn after_an_agent_that_fails_or_hangs_nothing_is_left() {
    let place = Place::new();
    let failed = place.dispatch(AuthorAgentKind::Program, "echo oops >&2; exit 4").await.unwrap();
    assert_eq!((&failed.ending, failed.pushed()), (&AuthorEnding::Program(ProgramEnding::Failed(4)), false));
    let mut hanging = place.agent(AuthorAgentKind::Program, "exec sleep 600");
    hanging.program.timeout = Duration::from_millis(300);
    let hung = dispatch(&hanging, place.task(), pending()).await.unwrap();
    assert_eq!(hung.ending, AuthorEnding::Program(ProgramEnding::TooSlow));
    assert!(hung.sentence(&hanging).contains("nothing was pushed"), "{}", hung.sentence(&hanging));
    let mut missing = hanging;
    missing.program.command = vec!["/nowhere/fixer".to_owned()];
    let refused = dispatch(&missing, place.task(), pending()).await.unwrap_err();
    assert!(matches!(refused, AuthorError::NotStarted(_)), "{refused}");
    place.assert_tidy();
}

/// R7: also while git still prepares the work tree.
#[tokio::test]
async fn a_stopped_agent_leaves_nothing_and_its_outcome_says_why() {
    let place = Place::new();
    let agent = place.agent(AuthorAgentKind::Program, "echo begun > \"$here/begun\"; exec sleep 600");
    let begun = async {
        while !place.scripts.path("begun").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        "somebody broke the glass".to_owned()
    };
    let stopped = dispatch(&agent, place.task(), begun).await.unwrap();
    let sentence = stopped.sentence(&agent);
    assert!(sentence.contains(" s, because somebody broke the glass; nothing was pushed"), "{sentence}");
    place.assert_tidy();
    let at_once = async { "somebody broke the glass".to_owned() };
    let stopped = dispatch(&agent, place.task(), at_once).await.unwrap();
    assert_eq!(
        stopped.sentence(&agent).replace("after 1 s", "after 0 s"),
        sentence.replace("after 1 s", "after 0 s")
    );
}

#[tokio::test]
async fn git_hooks_from_the_reviewed_code_do_not_run() {
    let place = Place::new();
    let checkout = place.checkout();
    git(&checkout, &["config", "core.hooksPath", "."]);
    let hook = checkout.join("post-checkout");
    std::fs::write(&hook, format!("#!/bin/sh\ntouch '{}'\n", place.scripts.path("hooked").display()))
        .unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    place.dispatch(AuthorAgentKind::Program, "true").await.unwrap();
    assert!(!place.scripts.path("hooked").exists());
}

#[tokio::test]
async fn the_agent_does_not_start_if_it_could_not_push() {
    let place = Place::new();
    let agent = place.agent(AuthorAgentKind::Program, "touch \"$here/started\"");
    let refused = async |agent: &AuthorAgent, task: AuthorTask| match dispatch(agent, task, pending()).await {
        Err(AuthorError::WorkTree(error)) => error,
        other => panic!("{other:?}"),
    };
    let moved = AuthorTask { head: "0".repeat(40).into(), ..place.task() };
    assert!(matches!(refused(&agent, moved).await, WorkTreeError::Moved { .. }));
    let forked = AuthorTask { head_repository: RepositoryName::new("mallory", "shop"), ..place.task() };
    assert!(matches!(refused(&agent, forked).await, WorkTreeError::NoRemote { .. }));
    let deleted = AuthorTask { head_repository: None, ..place.task() };
    assert!(matches!(refused(&agent, deleted).await, WorkTreeError::NoRepository(_)));
    let nowhere = AuthorAgent { checkout: place.scripts.path("nowhere"), ..agent };
    assert!(matches!(refused(&nowhere, place.task()).await, WorkTreeError::NoCheckout(_)));
    assert!(!place.scripts.path("started").exists());
}
