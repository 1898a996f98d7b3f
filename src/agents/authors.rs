//! Runs the author's agent, which fixes the findings of a round.
//!
//! The agent gets the [`AuthorTask`] as JSON on standard input; a coding agent gets it inside a prompt. It
//! runs in its own work tree at the head of the branch, and pushes itself. The branch's new head shows the
//! result; the agent's output does not count. Whether a round may start is the loop's decision (L6), not made
//! here.

mod leftovers;
mod task;
mod work_tree;

pub use task::{AuthorFindingPart, AuthorTask, PushPart, SkippedPart};
pub use work_tree::WorkTreeError;

use crate::agents::process::{NotStarted, ProgramEnding};
use crate::domain::vocabulary::Sha;
use crate::reviewers::adapters::Program;
use crate::reviewers::prompt::{Prompt, PromptError, PromptPurpose};
use std::ffi::OsString;
use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::{Instant, timeout};
use work_tree::{Git, WorkTree};

/// The author's agent from the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorAgent {
    pub kind: AuthorAgentKind,
    pub program: Program,
    pub prompt_file: Option<PathBuf>,
    /// A local checkout of the repository, for making work trees.
    pub checkout: PathBuf,
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
    let environment = agent.program.environment();
    let run = tokio::select! {
        run = agent.program.run_to_end(&environment, &arguments, Some(tree.path()), stdin.as_bytes(), OUTPUT) => {
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
            let allowed =
                "Bash(git add:*),Bash(git commit:*),Bash(git push:*),Bash(git diff:*),Bash(git log:*)";
            ["--print", "--permission-mode", "acceptEdits", "--allowedTools", allowed]
                .map(OsString::from)
                .into()
        }
        AuthorAgentKind::Codex => {
            let mut arguments: Vec<OsString> =
                ["exec", "--sandbox", "workspace-write", "--color", "never"].map(OsString::from).into();
            // Commits go into the checkout's git folder, and pushing needs the network.
            arguments.extend(["--add-dir".into(), tree.git_folder().into()]);
            arguments.extend(["-c", "sandbox_workspace_write.network_access=true", "-"].map(OsString::from));
            arguments
        }
    }
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
