//! The author's agent: its task, its work tree, and tidying up afterwards.

#![cfg(unix)]

use crate::support::driven::{Scripts, argued, program, snapshot};
use crate::support::harness::{parsed, profiles};
use cloture::agents::authors::{
    AuthorAgent, AuthorAgentKind, AuthorEnding, AuthorError, AuthorOutcome, AuthorTask, WorkTreeError,
    dispatch,
};
use cloture::agents::process::ProgramEnding;
use cloture::domain::policy::Policy;
use cloture::domain::review_loop::AuthorState;
use cloture::domain::snapshot::RepositoryName;
use cloture::reviewers::adapters::Program;
use cloture::supervisor::computed_state::{ComputedState, RepositoryRules};
use cloture::supervisor::history::History;
use serde_json::Value;
use std::future::pending;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
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
        AuthorAgent { kind, program, prompt_file: None, checkout: self.checkout(), forks: false }
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

/// A program of the attacker. It leaves a file if somebody runs it.
fn trap(place: &Place, at: &Path) -> PathBuf {
    let sprung = place.scripts.path("sprung");
    std::fs::create_dir_all(at.parent().unwrap()).unwrap();
    std::fs::write(at, format!("#!/bin/sh\ntouch '{}'\nexec git-upload-pack \"$@\"\n", sprung.display()))
        .unwrap();
    std::fs::set_permissions(at, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    sprung
}

#[tokio::test]
async fn git_hooks_from_the_reviewed_code_do_not_run() {
    let place = Place::new();
    let checkout = place.checkout();
    git(&checkout, &["config", "core.hooksPath", "."]);
    let sprung = trap(&place, &checkout.join("post-checkout"));
    place.dispatch(AuthorAgentKind::Program, "true").await.unwrap();
    assert!(!sprung.exists());
}

/// As with husky: the user's checkout has a relative `core.hooksPath`, and the pull request has the hooks.
#[tokio::test]
async fn hooks_and_filters_of_the_pull_request_do_not_run_when_the_agent_uses_git() {
    let mut place = Place::new();
    let checkout = place.checkout();
    let sprung = place.scripts.path("sprung");
    git(&checkout, &["switch", "--quiet", "discount"]);
    for hook in ["pre-commit", "commit-msg", "pre-push", "post-checkout", "post-index-change"] {
        trap(&place, &checkout.join(".husky").join(hook));
    }
    trap(&place, &checkout.join("filter"));
    std::fs::write(checkout.join(".gitattributes"), "*.txt filter=theirs\n").unwrap();
    git(&checkout, &["add", "-A"]);
    git(&checkout, &["commit", "--quiet", "-m", "hooks"]);
    git(&checkout, &["push", "--quiet", "origin", "discount"]);
    place.head = git(&checkout, &["rev-parse", "HEAD"]);
    git(&checkout, &["switch", "--quiet", "--detach"]);
    for (key, value) in [
        ("core.hooksPath", ".husky"),
        ("core.fsmonitor", "./filter"),
        ("filter.theirs.clean", "./filter"),
        ("filter.theirs.smudge", "./filter"),
        ("filter.theirs.required", "true"),
    ] {
        git(&checkout, &["config", key, value]);
    }
    // An install script sets it again, as husky's does.
    let agent = format!("git config core.hooksPath .husky; git status --short\n{FIX}");
    let outcome = place.dispatch(AuthorAgentKind::Program, &agent).await.unwrap();
    assert!(outcome.pushed(), "{outcome:?}");
    assert!(!sprung.exists(), "code of the pull request ran");
}

/// The agent plants a program into every configuration that it finds. Cloture's own git runs afterwards.
#[tokio::test]
async fn cloture_runs_no_git_over_a_configuration_that_the_agent_could_write() {
    let place = Place::new();
    let sprung = trap(&place, &place.scripts.path("evil"));
    let plant = "cat > /dev/null; evil=\"$here/evil\"\n\
        for key in remote.origin.uploadpack core.sshCommand core.fsmonitor core.hooksPath uploadpack.packObjectsHook; do\n\
        git config \"$key\" \"$evil\"; done; git config --list --show-origin > \"$here/listed\"\n\
        git rev-parse --path-format=absolute --git-common-dir > \"$here/common\"; git worktree list > \"$here/trees\"";
    let before = std::fs::read_to_string(place.checkout().join(".git/config")).unwrap();
    for kind in [AuthorAgentKind::Program, AuthorAgentKind::Codex] {
        let outcome = place.dispatch(kind, plant).await.unwrap();
        assert_eq!(
            outcome.head_after.as_ref().map(|head| head.as_str().to_owned()),
            Some(place.head.clone())
        );
        place.dispatch(kind, "true").await.unwrap();
        assert!(!sprung.exists(), "a planted program ran");
        let common = place.scripts.read("common");
        assert!(!common.contains("checkout"), "the agent's git folder is the checkout's: {common}");
        assert_eq!(place.scripts.read("trees").lines().count(), 1);
    }
    assert_eq!(std::fs::read_to_string(place.checkout().join(".git/config")).unwrap(), before);
}

/// The checkout's own settings, which may have been planted earlier, name no program at the remote either.
#[tokio::test]
async fn a_planted_upload_pack_in_the_checkout_does_not_run() {
    let place = Place::new();
    let sprung = trap(&place, &place.scripts.path("evil"));
    let evil = place.scripts.path("evil");
    git(&place.checkout(), &["config", "remote.origin.uploadpack", evil.to_str().unwrap()]);
    git(&place.checkout(), &["config", "remote.origin.receivepack", evil.to_str().unwrap()]);
    assert!(place.dispatch(AuthorAgentKind::Program, FIX).await.unwrap().pushed());
    assert!(!sprung.exists());
}

#[tokio::test]
async fn claude_gets_no_project_settings_and_exact_commands_only() {
    let place = Place::new();
    let keep = "printf '%s\\n' \"$@\" > \"$here/arguments\"; cat > /dev/null";
    place.dispatch(AuthorAgentKind::Claude, keep).await.unwrap();
    let kept = place.scripts.read("arguments");
    let arguments: Vec<&str> = kept.lines().collect();
    assert!(arguments.windows(2).any(|pair| pair == ["--setting-sources", "user"]), "{kept}");
    assert!(arguments.contains(&"--strict-mcp-config"), "{kept}");
    let at = arguments.iter().position(|argument| *argument == "--allowedTools").unwrap();
    let allowed: Vec<&str> = arguments[at + 1].split(',').collect();
    assert!(allowed.contains(&"Bash(git push origin HEAD:discount)"), "{allowed:?}");
    let open: Vec<&&str> = allowed.iter().filter(|rule| rule.contains('*')).collect();
    assert_eq!(open, [&"Bash(git commit -m:*)"], "only a message is free");
}

#[tokio::test]
async fn codex_treats_the_clone_as_untrusted_and_writes_only_to_it() {
    let place = Place::new();
    let keep = "printf '%s\\n' \"$@\" > \"$here/arguments\"; pwd > \"$here/folder\"; cat > /dev/null; \
                printf %s \"$TMPDIR\" > \"$here/tmp\"";
    place.dispatch(AuthorAgentKind::Codex, keep).await.unwrap();
    let kept = place.scripts.read("arguments");
    let settings: Vec<&str> = kept.lines().filter(|line| line.contains('=')).collect();
    let read = |key: &str| {
        let value = settings.iter().find_map(|line| line.strip_prefix(&format!("{key}=")));
        let value = value.unwrap_or_else(|| panic!("{key} is not set: {kept}"));
        toml::from_str::<toml::Value>(&format!("value = {value}")).unwrap()["value"].clone()
    };
    let folder = place.scripts.read("folder").trim().to_owned();
    assert_eq!(read("projects")[folder.as_str()]["trust_level"].as_str(), Some("untrusted"));
    assert_eq!(read("project_doc_max_bytes").as_integer(), Some(0));
    assert_eq!(read("sandbox_workspace_write.exclude_slash_tmp").as_bool(), Some(true));
    let variables = read("shell_environment_policy.set");
    assert_eq!(variables["GIT_CONFIG_KEY_0"].as_str(), Some("core.hooksPath"));
    assert_eq!(variables["GIT_CONFIG_VALUE_0"].as_str(), Some("/dev/null"));
    let round = Path::new(&folder).parent().unwrap();
    let arguments: Vec<&str> = kept.lines().collect();
    let at = arguments.iter().position(|argument| *argument == "--add-dir").unwrap();
    assert_eq!(Path::new(arguments[at + 1]).parent(), Some(round), "its own git folder");
    assert_eq!(Path::new(&place.scripts.read("tmp")).parent(), Some(round));
}

/// Anybody can open a pull request from a fork, and the agent may run what is in it.
#[tokio::test]
async fn the_agent_works_on_a_fork_only_if_the_configuration_says_so() {
    let place = Place::new();
    let fork = place.scripts.path("mallory/shop.git");
    std::fs::create_dir_all(fork.parent().unwrap()).unwrap();
    let (from, to) = (place.scripts.path("acme/shop.git"), fork.to_str().unwrap());
    git(&place.scripts.path(""), &["clone", "--quiet", "--bare", from.to_str().unwrap(), to]);
    git(&place.checkout(), &["remote", "add", "mallory", to]);
    let forked = || AuthorTask { head_repository: RepositoryName::new("mallory", "shop"), ..place.task() };
    let mut agent = place.agent(AuthorAgentKind::Program, "touch \"$here/started\"");
    let refused = dispatch(&agent, forked(), pending()).await.unwrap_err();
    assert!(matches!(refused, AuthorError::WorkTree(WorkTreeError::Fork(_))), "{refused}");
    assert!(refused.to_string().contains("`forks = true` in [author]"), "{refused}");
    assert!(!place.scripts.path("started").exists());
    agent.forks = true;
    dispatch(&agent, forked(), pending()).await.unwrap();
    assert!(place.scripts.path("started").exists());
}

/// A round that is refused would still be spent.
#[test]
fn l6_no_round_is_planned_for_a_fork_unless_the_configuration_says_so() {
    let author = |forks: &str, owner: &str| {
        let config = parsed(&format!(
            "[[repositories]]\nname = 'acme/shop'\ndrive = true\n\
             [author]\nkind = 'claude'\ncheckout = '/src/shop'\n{forks}"
        ));
        let mut snapshot = snapshot();
        snapshot.repository = RepositoryName::new("acme", "shop").unwrap();
        snapshot.head_repository = RepositoryName::new(owner, "shop");
        let names = [snapshot.repository.clone()];
        let reads = profiles(&config);
        let rules = RepositoryRules::of_names(&config, &*reads, &names, false);
        ComputedState::of(Arc::new(snapshot), &History::default(), &rules).seen.author
    };
    assert_eq!(author("", "acme"), AuthorState::Idle);
    assert_eq!(author("", "mallory"), AuthorState::Absent);
    assert_eq!(author("forks = true", "mallory"), AuthorState::Idle);
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
    let with_forks = AuthorAgent { forks: true, ..agent.clone() };
    assert!(matches!(refused(&with_forks, forked).await, WorkTreeError::NoRemote { .. }));
    let deleted = AuthorTask { head_repository: None, ..place.task() };
    assert!(matches!(refused(&agent, deleted).await, WorkTreeError::NoRepository(_)));
    let nowhere = AuthorAgent { checkout: place.scripts.path("nowhere"), ..agent };
    assert!(matches!(refused(&nowhere, place.task()).await, WorkTreeError::NoCheckout(_)));
    assert!(!place.scripts.path("started").exists());
}
