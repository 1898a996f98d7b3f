//! The command line as clap types, and the completions and manual pages generated from them.

pub mod manual;
mod writing;

pub use writing::{ActArgs, PrArgs, QueueAddArgs, QueueRetargetArgs, QueueThreadArgs, WriteArgs};

use clap::{Parser, Subcommand};
use clap_complete::Shell;
use std::path::PathBuf;

/// Supervises AI review loops on pull requests, inside bounds that are proved.
#[derive(Debug, Parser)]
#[command(name = "cloture", version, propagate_version = true)]
pub struct Cli {
    /// Read this configuration file instead of the one in the platform's configuration folder.
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Use this GitHub API, of an Enterprise server or of the simulator.
    #[arg(long, global = true, value_name = "URL")]
    pub api_url: Option<String>,

    /// Refuse every write to GitHub.
    #[arg(long, global = true)]
    pub read_only: bool,

    /// Keep the journal in this folder instead of the platform's state folder.
    #[arg(long, global = true, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,

    /// Append a log to this file, for a bug report. `CLOTURE_LOG` sets the level, such as `debug`. The log
    /// never holds a token.
    #[arg(long, global = true, value_name = "FILE")]
    pub log: Option<PathBuf>,

    /// Without a command, Cloture opens the terminal on the current branch's pull request, or on those that
    /// the configuration watches.
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Poll pull requests once, and print the state of their loops and threads.
    Status {
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
        /// OWNER/REPO#N or web addresses. Default: the current branch's pull request, else those the
        /// configuration watches.
        #[arg(value_name = "OWNER/REPO#N")]
        pull_requests: Vec<String>,
    },
    /// Follow one pull request's loop until it ends. The exit code says how it ended.
    Watch {
        /// Print JSON, one line per event.
        #[arg(long)]
        json: bool,
        /// Poll once, print the state, and exit.
        #[arg(long)]
        once: bool,
        /// Give up after this time: seconds, or a text such as "90s", "5m" or "1h 30m".
        #[arg(long, value_name = "TIME", value_parser = time)]
        timeout: Option<std::time::Duration>,
        /// OWNER/REPO#N or a web address.
        #[arg(value_name = "OWNER/REPO#N")]
        pull_request: String,
    },
    /// List the threads that wait for a person, worst and oldest first.
    Inbox {
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
        /// Poll GitHub first. Without it, the list shows the last poll in the journal.
        #[arg(long)]
        fresh: bool,
        /// Include merged and closed pull requests.
        #[arg(long)]
        all: bool,
        /// OWNER/REPO#N or web addresses. Default: every pull request in the journal.
        #[arg(value_name = "OWNER/REPO#N")]
        pull_requests: Vec<String>,
    },
    /// Act on a review thread: decide about it, queue it, resolve or reopen it, reply, or hide it.
    Act(ActArgs),
    /// Show or change what is handed to a coding agent when a pull request is merged.
    Queue {
        #[command(subcommand)]
        queue: QueueCommand,
    },
    /// Write on a pull request: comment, label, review, request a review, close, merge, open an issue, send
    /// an event.
    Pr(PrArgs),
    /// Print the journal: every decision, who made it and why.
    Journal {
        /// Print JSON, one line per record.
        #[arg(long)]
        json: bool,
        /// Keep printing new records, from every instance, until interrupted.
        #[arg(long)]
        follow: bool,
        /// Only records about this pull request.
        #[arg(value_name = "OWNER/REPO#N")]
        pull_request: Option<String>,
        /// Only records of this kind.
        #[arg(long, value_name = "K")]
        kind: Option<String>,
        /// Only records that contain this text, in any letter case.
        #[arg(long, value_name = "TEXT")]
        search: Option<String>,
        /// Only the newest N records.
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
    },
    /// Check the token, the permissions, the rate limit and the configuration, and say what to fix.
    Doctor {
        /// The pull requests to check. Default: the current branch's, else those the configuration watches.
        #[arg(value_name = "OWNER/REPO#N")]
        pull_requests: Vec<String>,
    },
    /// Try the terminal on a GitHub inside the program. It needs no account, token or network.
    Demo,
    /// The demo's driven reviewer: reads a request from standard input and prints an answer.
    #[command(hide = true)]
    DemoReviewer {
        /// How long it pretends to think, in milliseconds.
        #[arg(long, default_value_t = 0)]
        think: u64,
    },
    /// The demo's author: reads a task from standard input and pushes to the simulator at this address.
    #[command(hide = true)]
    DemoAuthor {
        #[arg(long, value_name = "URL")]
        simulator: String,
        /// How long it pretends to think, in milliseconds.
        #[arg(long, default_value_t = 0)]
        think: u64,
    },
    /// Run one driven reviewer on a pull request and print what it would post. Nothing is posted.
    Review {
        /// The reviewer's name in the configuration.
        #[arg(long, value_name = "NAME")]
        reviewer: String,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
        /// OWNER/REPO#N or a web address.
        #[arg(value_name = "OWNER/REPO#N")]
        pull_request: String,
    },
    /// List the reviewers that Cloture recognises, and where each profile comes from.
    Reviewers {
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Read posts as JSON Lines from standard input, and print what Cloture makes of each.
    Classify,
    /// Print the worst case that the configuration allows: cycles, calls, rounds, money.
    Bound {
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Replay a script of one pull request through the engine, and print one JSON line per event.
    Simulate {
        /// The script, as JSON Lines; `-` reads standard input.
        trace: PathBuf,
    },
    /// Run a simulated GitHub on this machine that plays a scenario, until interrupted.
    Simulator {
        /// The loopback port; 0 takes any free one.
        #[arg(long, default_value_t = 0)]
        port: u16,
        /// A scenario file, or the name of a built-in scenario.
        #[arg(long, value_name = "FILE|NAME")]
        scenario: String,
        /// How many simulated seconds pass per real second. Default: the scenario's own speed.
        #[arg(long, value_name = "X", value_parser = speed)]
        speed: Option<f64>,
    },
    /// Print a completion script for a shell.
    Completions { shell: Shell },
    /// Print the manual page, or write one page per command.
    Man {
        /// Write the pages into this existing folder, such as `~/.local/share/man/man1`.
        #[arg(long, value_name = "DIR")]
        into: Option<PathBuf>,
    },
}

/// `cloture queue`
#[derive(Debug, Subcommand)]
pub enum QueueCommand {
    /// Print which findings a merge hands off and to which target, and why the others stay.
    #[command(after_long_help = LIST)]
    List {
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
        /// OWNER/REPO#N or web addresses. Default: every pull request in the journal.
        #[arg(value_name = "OWNER/REPO#N")]
        pull_requests: Vec<String>,
    },
    /// Hand a finding off when its pull request is merged, whatever the rules say. Like `act … queue`, with a
    /// target.
    Add(QueueAddArgs),
    /// Do not hand a finding off: take it off the queue, and keep automatic handoff from sending it, until
    /// somebody queues it again.
    Remove(QueueThreadArgs),
    /// Send a finding to another target than the routes choose. This does not change whether it is handed
    /// off.
    Retarget(QueueRetargetArgs),
    /// Print every task that a merge started, newest first, and its state, from the journal alone.
    #[command(after_long_help = HISTORY)]
    History {
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
        /// Only the newest N tasks.
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
        /// Only tasks of this pull request.
        #[arg(value_name = "OWNER/REPO#N")]
        pull_request: Option<String>,
    },
}

const LIST: &str = "With --json: {\"pull_requests\": [{\"repository\", \"number\", \"title\", \"url\", \
\"state\", \"age_seconds\", \"tasks\", \"handoffs\", \"findings\"}]}. `tasks` lists what a merge would \
send now: \"target\", \"path\", \"findings\", \"stuck\" (why nothing can be sent there, or null). \
`handoffs` lists the tasks that the merge started: \"target\", \"path\", \"findings\", \"reason\", \
\"state\" (sent, waiting, stuck), \"url\", \"until\", \"message\". `findings` lists every finding: \
\"thread\", \"path\", \"line\", \"title\", \"severity\", \"status\", \"queued\", \"target\" (its target \
if it is handed off), \"retargeted\" (a person chose that target), \"withheld\" (a person keeps it from \
being handed off), \"goes\", \"why\".";

const HISTORY: &str = "With --json: {\"tasks\": [{\"host\", \"repository\", \"number\", \"decided_at\", \
\"target\", \"path\", \"findings\", \"titles\", \"reason\", \"state\", \"url\", \"until\", \"message\", \
\"tries\", \"tried_at\", \"by\", \"key\"}]}. `state` is sent, waiting (tried again at `until`), stuck \
(`message` says why) or unknown (the answer was lost, and the target may have it). `by` is the instance \
that sent it last, at `tried_at`.";

/// Reads whole seconds, or a time as people write it.
fn time(text: &str) -> Result<std::time::Duration, String> {
    if let Ok(seconds) = text.parse() {
        return Ok(std::time::Duration::from_secs(seconds));
    }
    let span: jiff::SignedDuration =
        text.parse().map_err(|_| "it must be a time such as 90s, 5m or 1h".to_owned())?;
    span.try_into().map_err(|_| "it must not be negative".to_owned())
}

/// The simulated clock must run forwards.
fn speed(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(speed) if speed > 0.0 && f64::is_finite(speed) => Ok(speed),
        _ => Err("it must be a number above 0".to_owned()),
    }
}
