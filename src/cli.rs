//! The command line, as types only.

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
    /// The configuration file to use instead of the one in the platform's configuration folder.
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// The address of GitHub's API, for an Enterprise server or the simulator.
    #[arg(long, global = true, value_name = "URL")]
    pub api_url: Option<String>,

    /// Refuse whatever would write to GitHub.
    #[arg(long, global = true)]
    pub read_only: bool,
    /// The folder for what is kept between runs, instead of the platform's.
    #[arg(long, global = true, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,

    /// Append a log of what the program does to this file, for a bug report. `CLOTURE_LOG` sets the level, such as
    /// `debug`; the log never holds a token.
    #[arg(long, global = true, value_name = "FILE")]
    pub log: Option<PathBuf>,

    /// Without one: the terminal, with the current branch's pull request or those that the configuration watches.
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Replay a script of one pull request through the engine and print what became of it, a JSON line per event.
    Simulate {
        /// The script, as JSON Lines; `-` reads standard input.
        trace: PathBuf,
    },
    /// Look once at pull requests and print where their loops and threads stand.
    Status {
        /// As one JSON object.
        #[arg(long)]
        json: bool,
        /// OWNER/REPO#N or web addresses. Without any: the current branch's, else those the configuration watches.
        #[arg(value_name = "OWNER/REPO#N")]
        pull_requests: Vec<String>,
    },
    /// Ask one driven reviewer about a pull request and print what would be posted, without posting it
    Review {
        /// The reviewer, by its name in the configuration.
        #[arg(long, value_name = "NAME")]
        reviewer: String,
        /// As one JSON object.
        #[arg(long)]
        json: bool,
        /// OWNER/REPO#N or a web address.
        #[arg(value_name = "OWNER/REPO#N")]
        pull_request: String,
    },
    /// Check the token, the permissions, the budget and the configuration, and say what to fix.
    Doctor {
        /// The pull requests to look at. Without any: the current branch's, else those the configuration watches.
        #[arg(value_name = "OWNER/REPO#N")]
        pull_requests: Vec<String>,
    },
    /// Do something to a review thread: decide about it, queue it, resolve it, open it again, reply, or hide it.
    Act(ActArgs),
    /// What is queued for handoff, and what goes where when its pull request is merged.
    Queue {
        #[command(subcommand)]
        queue: QueueCommand,
    },
    /// The threads that wait for a person, worst and oldest first.
    Inbox {
        /// As one JSON object.
        #[arg(long)]
        json: bool,
        /// Look at GitHub first, instead of at what was last seen.
        #[arg(long)]
        fresh: bool,
        /// Also those of pull requests that are merged or closed.
        #[arg(long)]
        all: bool,
        /// OWNER/REPO#N or web addresses. Without any: all that the journal knows.
        #[arg(value_name = "OWNER/REPO#N")]
        pull_requests: Vec<String>,
    },
    /// Write on a pull request: comment, label, review, ask for a review, close, merge, open an issue, send an event.
    Pr(PrArgs),
    /// Follow one pull request's loop until it ends, and exit with a code that says how.
    Watch {
        /// As JSON, a line each.
        #[arg(long)]
        json: bool,
        /// Look once, say where it stands, and exit.
        #[arg(long)]
        once: bool,
        /// Give up after so long: seconds, or a text such as "90s", "5m" or "1h 30m".
        #[arg(long, value_name = "TIME", value_parser = time)]
        timeout: Option<std::time::Duration>,
        #[arg(value_name = "OWNER/REPO#N")]
        pull_request: String,
    },
    /// Print what happened: every decision, by whom and why.
    Journal {
        /// As JSON, a line each.
        #[arg(long)]
        json: bool,
        /// Go on with what is recorded by anybody, until interrupted.
        #[arg(long)]
        follow: bool,
        /// Only what is about this pull request.
        #[arg(value_name = "OWNER/REPO#N")]
        pull_request: Option<String>,
        /// Only records of this kind.
        #[arg(long, value_name = "K")]
        kind: Option<String>,
        /// Only records in which this text stands, in whatever case.
        #[arg(long, value_name = "TEXT")]
        search: Option<String>,
        /// Only the newest so many.
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
    },
    /// Play with the real terminal over a GitHub inside the program; no account, token or network is needed.
    Demo,
    /// The demo's driven reviewer: a request on standard input, an answer on standard output.
    #[command(hide = true)]
    DemoReviewer {
        /// How long it thinks, in milliseconds.
        #[arg(long, default_value_t = 0)]
        think: u64,
    },
    /// The demo's author: a task on standard input, a push to the simulator at this address.
    #[command(hide = true)]
    DemoAuthor {
        #[arg(long, value_name = "URL")]
        simulator: String,
        /// How long it thinks, in milliseconds.
        #[arg(long, default_value_t = 0)]
        think: u64,
    },
    /// Run a GitHub on this machine that plays a scenario, until interrupted.
    Simulator {
        /// The port on loopback; 0 takes any free one.
        #[arg(long, default_value_t = 0)]
        port: u16,
        /// A scenario file, or the name of one that the program carries.
        #[arg(long, value_name = "FILE|NAME")]
        scenario: String,
        /// Virtual seconds a real one, instead of the scenario's own speed.
        #[arg(long, value_name = "X", value_parser = speed)]
        speed: Option<f64>,
    },
    /// Read posts as JSON Lines from standard input and print what each is, a JSON line per post.
    Classify,
    /// List the reviewers that are known, and where each one's profile came from.
    Reviewers {
        /// As one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Print the worst case that the configuration in force allows.
    Bound {
        /// As one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Print a script that lets a shell complete commands and options.
    Completions { shell: Shell },
    /// Print the manual page, or write one for every command.
    Man {
        /// An existing folder for the pages, such as `~/.local/share/man/man1`.
        #[arg(long, value_name = "DIR")]
        into: Option<PathBuf>,
    },
}

/// `cloture queue`
#[derive(Debug, Subcommand)]
pub enum QueueCommand {
    /// Print what goes where and why not the rest, as the journal last saw it.
    #[command(after_long_help = LIST)]
    List {
        /// As one JSON object.
        #[arg(long)]
        json: bool,
        /// OWNER/REPO#N or web addresses. Without any: all that the journal knows.
        #[arg(value_name = "OWNER/REPO#N")]
        pull_requests: Vec<String>,
    },
    /// Hand a finding off when its pull request is merged, whatever the rules say: `act … queue`, with a target.
    Add(QueueAddArgs),
    /// Do not hand it off: what was queued is taken off the queue, and what would go by itself is withheld until somebody
    /// queues it again.
    Remove(QueueThreadArgs),
    /// Send a finding to another target than the routes choose. Whether it goes is decided as before.
    Retarget(QueueRetargetArgs),
    /// Print every task that a merge decided, newest first, and what became of it, from the journal alone.
    #[command(after_long_help = HISTORY)]
    History {
        /// As one JSON object.
        #[arg(long)]
        json: bool,
        /// Only the newest so many.
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
        /// Only those of this pull request.
        #[arg(value_name = "OWNER/REPO#N")]
        pull_request: Option<String>,
    },
}

const LIST: &str = "With --json: {\"pull_requests\": [{\"repository\", \"number\", \"title\", \"url\", \"state\", \"age_seconds\", \
\"tasks\", \"handoffs\", \"findings\"}]}. `tasks` are what a merge would send now: \"target\", \"path\", \"findings\", \"stuck\" (why \
nothing can be sent there, or null). `handoffs` are what its merge decided: \"target\", \"path\", \"findings\", \"reason\", \
\"state\" (sent, waiting, stuck), \"url\", \"until\", \"message\". `findings` are all there are: \"thread\", \"path\", \"line\", \
\"title\", \"severity\", \"status\", \"queued\", \"target\" (where it goes if it goes), \"retargeted\" (a person chose that \
target), \"withheld\" (a person took it off the list), \"goes\", \"why\".";

const HISTORY: &str = "With --json: {\"tasks\": [{\"host\", \"repository\", \"number\", \"decided_at\", \"target\", \"path\", \
\"findings\", \"titles\", \"reason\", \"state\", \"url\", \"until\", \"message\", \"tries\", \"tried_at\", \"by\", \"key\"}]}. \
`state` is sent, waiting (tried again at `until`), stuck (`message` says why) or unknown (nobody knows whether the target has \
it). `by` is the instance that sent it last, at `tried_at`.";

/// Whole seconds, or what people write for a time.
fn time(text: &str) -> Result<std::time::Duration, String> {
    if let Ok(seconds) = text.parse() {
        return Ok(std::time::Duration::from_secs(seconds));
    }
    let span: jiff::SignedDuration =
        text.parse().map_err(|_| "it must be a time such as 90s, 5m or 1h".to_owned())?;
    span.try_into().map_err(|_| "it must not be negative".to_owned())
}

/// Time that stands still or runs backwards plays nothing.
fn speed(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(speed) if speed > 0.0 && f64::is_finite(speed) => Ok(speed),
        _ => Err("it must be a number above 0".to_owned()),
    }
}
