//! Runs the author's agent, which fixes the findings of a round.
//!
//! The agent gets the [`AuthorTask`] as JSON on standard input; a coding agent gets it inside a prompt. It
//! runs in its own clone at the head of the branch, and pushes itself. The branch's new head shows the
//! result; the agent's output does not count. Whether a round may start is the loop's decision (L6), not made
//! here.

mod git;
mod leftovers;
mod task;
mod work_tree;

pub use task::{AuthorFindingPart, AuthorTask, PushPart, SkippedPart};
pub use work_tree::WorkTreeError;

use crate::agents::process::{NotStarted, ProgramEnding};
use crate::domain::vocabulary::Sha;
use crate::reviewers::adapters::Program;
use crate::reviewers::prompt::{Prompt, PromptError, PromptPurpose};
use git::Git;
use std::ffi::OsString;
use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::{Instant, timeout};
use work_tree::WorkTree;

/// The author's agent from the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorAgent {
    pub kind: AuthorAgentKind,
    pub program: Program,
    pub prompt_file: Option<PathBuf>,
    /// A local checkout of the repository, for making clones.
    pub checkout: PathBuf,
    /// Whether the agent also works on branches of forks.
    pub forks: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthorAgentKind {
    /// The task as JSON on standard input.
    Program,
    Claude,
    Codex,
}

/// The result of a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorOutcome {
    pub ending: AuthorEnding,
    pub took: Duration,
    pub head_before: Sha,
    /// The branch's head after the round. None: git could not tell.
    pub head_after: Option<Sha>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthorEnding {
    Program(ProgramEnding),
    /// Cloture stopped the agent, for this reason.
    Stopped(String),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuthorError {
    #[error(transparent)]
    WorkTree(#[from] WorkTreeError),
    #[error(transparent)]
    Prompt(#[from] PromptError),
    #[error("{0}; check the author's command")]
    NotStarted(#[from] NotStarted),
    #[error("the author's task cannot be written as JSON: {0}")]
    Unwritable(String),
}

/// Bytes that an agent may print.
const OUTPUT: usize = 1024 * 1024;

/// How long git may take to tell where the branch is after a stop, which has to be quick.
const LAST_LOOK: Duration = Duration::from_secs(5);

/// Runs the agent on a task and waits for it, or until `stopped` completes with a reason: then the agent's whole
/// process group ends at once. The work tree is removed afterwards.
pub async fn dispatch(
    agent: &AuthorAgent,
    mut task: AuthorTask,
    stopped: impl Future<Output = String>,
) -> Result<AuthorOutcome, AuthorError> {
    let began = Instant::now();
    let mut stopped = std::pin::pin!(stopped);
    let stopped_before_start = |why: String, head: Sha| AuthorOutcome {
        ending: AuthorEnding::Stopped(why),
        took: began.elapsed(),
        head_after: Some(head.clone()),
        head_before: head,
    };
    let prompt = match agent.kind {
        AuthorAgentKind::Program => None,
        AuthorAgentKind::Claude | AuthorAgentKind::Codex => {
            Some(Prompt::load(PromptPurpose::Fix, agent.prompt_file.as_deref()).await?)
        }
    };
    let tree = tokio::select! {
        tree = WorkTree::prepare(agent, &task) => tree?,
        why = &mut stopped => return Ok(stopped_before_start(why, task.head)),
    };
    task.push.remote = Some(tree.remote().to_owned());
    let task_text =
        serde_json::to_string_pretty(&task).map_err(|error| AuthorError::Unwritable(error.to_string()))?;
    let stdin = prompt.map_or_else(|| task_text.clone(), |prompt| prompt.fill_in(&[("task", &task_text)]));
    let arguments = arguments(agent.kind, &tree);
    let (environment, path) = (tree.environment(agent.program.environment()), tree.path());
    let run = tokio::select! {
        run = agent.program.run_to_end(&environment, &arguments, Some(&path), stdin.as_bytes(), OUTPUT) => {
            run.map(|finished| (AuthorEnding::Program(finished.ending), finished.took))
        }
        // Dropping the run ends the agent and its group.
        why = &mut stopped => Ok((AuthorEnding::Stopped(why), began.elapsed())),
    };
    let head_after = match run {
        Ok((AuthorEnding::Stopped(_), _)) => {
            timeout(LAST_LOOK, tree.branch_head()).await.ok().and_then(Result::ok)
        }
        _ => tree.branch_head().await.ok(),
    };
    tree.remove().await;
    let (ending, took) = run?;
    Ok(AuthorOutcome { ending, took, head_before: task.head, head_after })
}

/// Removes the work trees of rounds that were killed together with Cloture, unless somebody still uses them.
pub async fn remove_leftovers(agent: &AuthorAgent) {
    leftovers::remove(&Git::of(agent)).await;
}

/// The arguments of each kind of agent. The configured `command` can add others.
fn arguments(kind: AuthorAgentKind, tree: &WorkTree) -> Vec<OsString> {
    match kind {
        AuthorAgentKind::Program => Vec::new(),
        AuthorAgentKind::Claude => {
            // The project's settings can name hooks and servers, and the pull request can change them.
            let mut arguments: Vec<OsString> =
                ["--print", "--setting-sources", "user", "--strict-mcp-config"].map(OsString::from).into();
            arguments.extend(["--tools", "Bash,Edit,Glob,Grep,Read,Write"].map(OsString::from));
            arguments.extend(["--permission-mode", "acceptEdits", "--allowedTools"].map(OsString::from));
            arguments.push(allowed_commands(tree).join(",").into());
            arguments
        }
        AuthorAgentKind::Codex => {
            let mut arguments: Vec<OsString> =
                ["exec", "--sandbox", "workspace-write", "--color", "never"].map(OsString::from).into();
            // Commits go into the clone's git folder, and pushing needs the network.
            arguments.extend(["--add-dir".into(), tree.git_folder().into()]);
            for setting in codex_settings(tree) {
                arguments.extend(["-c".into(), setting.into()]);
            }
            arguments.push("-".into());
            arguments
        }
    }
}

/// The commands that Claude Code runs without asking; nobody is there to ask. A rule without `:*` is an exact
/// command. The rest of a push could name a program (`--receive-pack`), and that of a diff a file to write
/// (`--output`), so only the message of a commit is free.
fn allowed_commands(tree: &WorkTree) -> Vec<String> {
    let (remote, branch) = (tree.remote(), tree.branch());
    let commands = [
        "git status".to_owned(),
        "git diff".to_owned(),
        "git diff --staged".to_owned(),
        "git log --oneline -20".to_owned(),
        "git add -A".to_owned(),
        "git add .".to_owned(),
        "git commit -m:*".to_owned(),
        format!("git push {remote} HEAD:{branch}"),
        format!("git push {remote} HEAD:refs/heads/{branch}"),
    ];
    commands.iter().map(|command| format!("Bash({command})")).collect()
}

/// Settings of Codex, as TOML. A project that is not trusted brings no settings, hooks or rules of its own, and
/// without project documents `AGENTS.md` of the branch gives no instructions.
fn codex_settings(tree: &WorkTree) -> Vec<String> {
    let path = tree.path();
    let path = path.to_string_lossy();
    // Codex may take variables with KEY in their name out of the environment of its commands. Those that it is
    // told to set stay.
    let variables = tree.variables();
    let variables = variables.iter().map(|(name, value)| format!("{name} = {}", toml_text(value)));
    vec![
        "sandbox_workspace_write.network_access=true".to_owned(),
        // Other rounds have their folders there.
        "sandbox_workspace_write.exclude_slash_tmp=true".to_owned(),
        format!("projects={{ {} = {{ trust_level = \"untrusted\" }} }}", toml_text(&path)),
        "project_doc_max_bytes=0".to_owned(),
        format!("shell_environment_policy.set={{ {} }}", variables.collect::<Vec<_>>().join(", ")),
    ]
}

/// A TOML string: JSON's escapes are also TOML's.
fn toml_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl AuthorOutcome {
    /// Whether the branch moved.
    pub fn pushed(&self) -> bool {
        self.head_after.as_ref().is_some_and(|head| *head != self.head_before)
    }

    /// One sentence for the journal.
    pub fn sentence(&self, agent: &AuthorAgent) -> String {
        let took = self.took.as_secs();
        let ending = match &self.ending {
            AuthorEnding::Program(ProgramEnding::Succeeded) => {
                format!("the author's agent finished after {took} s")
            }
            AuthorEnding::Program(other) => {
                format!("the author's agent failed ({}) after {took} s", agent.program.describe(*other))
            }
            AuthorEnding::Stopped(why) => {
                format!("the author's agent was stopped after {took} s, because {why}")
            }
        };
        let after = match &self.head_after {
            Some(head) if *head != self.head_before => format!("the branch is now at {head}"),
            Some(_) => "nothing was pushed".to_owned(),
            None => "git could not tell where the branch is now".to_owned(),
        };
        format!("{ending}; {after}")
    }
}
