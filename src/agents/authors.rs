//! The author's agent: how it is sent to fix the findings of a round, and what it is given.
//!
//! It gets the [`AuthorTask`] as JSON on its standard input (a coding agent gets it inside a prompt), runs in a work tree of its
//! own at the head of the pull request's branch, and pushes by itself. Whether a round may start at all is the loop's
//! decision (L6) and not made here; what came of it is told by the branch, not by the agent's words.

mod task;
mod work_tree;

pub use task::{AuthorFindingPart, AuthorTask, PushPart, SkippedPart};
pub use work_tree::WorkTreeError;

use crate::agents::process::{NotStarted, ProgramEnding};
use crate::domain::vocabulary::Sha;
use crate::reviewers::adapters::Program;
use crate::reviewers::prompt::{Prompt, PromptError, PromptPurpose};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use work_tree::WorkTree;

/// The agent as configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorAgent {
    pub kind: AuthorAgentKind,
    pub program: Program,
    pub prompt_file: Option<PathBuf>,
    /// A local checkout of the repository, from which work trees are made.
    pub checkout: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthorAgentKind {
    /// The task as JSON on standard input.
    Program,
    Claude,
    Codex,
}

/// What came of a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorOutcome {
    pub ending: ProgramEnding,
    /// What it printed, and the end of its log. Neither is cleaned.
    pub said: String,
    pub log: String,
    pub took: Duration,
    pub head_before: Sha,
    /// Where the branch is now; none where that could not be found out.
    pub head_after: Option<Sha>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuthorError {
    #[error(transparent)]
    WorkTree(#[from] WorkTreeError),
    #[error(transparent)]
    Prompt(#[from] PromptError),
    #[error("{0}; check the author's command")]
    NotStarted(#[from] NotStarted),
    #[error("the task could not be written: {0}")]
    Unwritable(String),
}

/// What an agent may print; a summary needs far less.
const OUTPUT: usize = 1024 * 1024;

/// Sends the agent to work and waits for it. The work tree is gone afterwards, whatever happened in it.
pub async fn dispatch(agent: &AuthorAgent, mut task: AuthorTask) -> Result<AuthorOutcome, AuthorError> {
    let prompt = match agent.kind {
        AuthorAgentKind::Program => None,
        AuthorAgentKind::Claude | AuthorAgentKind::Codex => {
            Some(Prompt::load(PromptPurpose::Fix, agent.prompt_file.as_deref()).await?)
        }
    };
    let tree = WorkTree::prepare(agent, &task).await?;
    task.push.remote = Some(tree.remote().to_owned());
    let task_text =
        serde_json::to_string_pretty(&task).map_err(|error| AuthorError::Unwritable(error.to_string()))?;
    let stdin = prompt.map_or_else(|| task_text.clone(), |prompt| prompt.filled(&[("task", &task_text)]));
    let arguments = arguments(agent.kind, &tree);
    let run = agent.program.started(&arguments, Some(tree.path()), stdin.as_bytes(), OUTPUT).await;
    let head_after = tree.branch_head().await.ok();
    tree.remove().await;
    let finished = run?;
    Ok(AuthorOutcome {
        ending: finished.ending,
        said: String::from_utf8_lossy(&finished.output).into_owned(),
        log: finished.log,
        took: finished.took,
        head_before: task.head,
        head_after,
    })
}

/// What each agent is started with. Whoever wants it to be allowed more, or less, says so in its command.
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
            // A work tree keeps its commits in the checkout it was made from, and pushing needs the network.
            arguments.extend(["--add-dir".into(), tree.git_folder().into()]);
            arguments.extend(["-c", "sandbox_workspace_write.network_access=true", "-"].map(OsString::from));
            arguments
        }
    }
}

impl AuthorOutcome {
    /// Whether the branch moved, which is the only thing that counts as work.
    pub fn pushed(&self) -> bool {
        self.head_after.as_ref().is_some_and(|head| *head != self.head_before)
    }

    /// One sentence for the journal.
    pub fn sentence(&self, agent: &AuthorAgent) -> String {
        let ending = match self.ending {
            ProgramEnding::Succeeded => "the author's agent finished".to_owned(),
            other => format!("of the author's agent, {}", agent.program.described(other)),
        };
        let after = match &self.head_after {
            Some(head) if *head != self.head_before => format!("the branch is now at {head}"),
            Some(_) => "nothing was pushed".to_owned(),
            None => "where the branch is now could not be found out".to_owned(),
        };
        format!("{ending} after {} s; {after}", self.took.as_secs())
    }
}
