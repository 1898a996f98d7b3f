//! Runs git for author rounds, and keeps the code under review from running anything through git.
//!
//! Cloture's own git works over two configurations: that of the checkout, which no agent gets to write, and that
//! of a new clone before its agent starts.

use super::{AuthorAgent, WorkTreeError};
use crate::agents::process::{self, Environment, ProgramEnding, ProgramLimits, ProgramRun};
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// For one git command; fetching may be slow.
const GIT_TIME: Duration = Duration::from_mins(5);
const GIT_OUTPUT: usize = 1024 * 1024;

/// Settings that take effect whatever a configuration file says. Hooks may come with the code under review
/// (`core.hooksPath = .husky`), and the others name programs that git would run.
const SAFE: [(&str, &str); 5] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("protocol.ext.allow", "never"),
    ("submodule.recurse", "false"),
    ("gc.auto", "0"),
];

/// Sections of the checkout's own configuration that a clone needs to commit and to push.
const KEPT_SECTIONS: [&str; 8] =
    ["user.", "author.", "committer.", "credential.", "http.", "url.", "gpg.", "commit.gpgsign"];
const KEPT_KEYS: [&str; 2] = ["core.sshcommand", "core.gitproxy"];

/// `git` in the checkout.
#[derive(Debug)]
pub(super) struct Git {
    pub(super) checkout: PathBuf,
    /// The agent's variables: git has to reach the remote as well.
    env: Vec<String>,
}

impl Git {
    pub(super) fn of(agent: &AuthorAgent) -> Git {
        let checkout = std::path::absolute(&agent.checkout).unwrap_or_else(|_| agent.checkout.clone());
        Git { checkout, env: agent.program.env.clone() }
    }

    /// Runs git in the checkout.
    pub(super) async fn run(&self, arguments: &[&str]) -> Result<String, WorkTreeError> {
        self.run_in(&self.checkout, arguments, &safe_settings()).await
    }

    /// Runs git in a folder, with settings that come before those of every configuration file.
    pub(super) async fn run_in(
        &self,
        directory: &Path,
        arguments: &[&str],
        settings: &[Setting],
    ) -> Result<String, WorkTreeError> {
        let words: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        let environment = Environment::ordinary().passing(self.env.iter().cloned());
        let environment = with_settings(environment, settings).with("LC_ALL", "C");
        let job = ProgramRun {
            program: OsStr::new("git"),
            arguments: &words,
            directory: Some(directory),
            environment: &environment,
            stdin: b"",
            limits: ProgramLimits { time: GIT_TIME, output: GIT_OUTPUT, log: 0 },
        };
        let failed = || WorkTreeError::Git {
            command: arguments.first().copied().unwrap_or_default().to_owned(),
            checkout: directory.to_owned(),
        };
        let finished = process::run(&job).await.map_err(|_| failed())?;
        match finished.ending {
            ProgramEnding::Succeeded => Ok(String::from_utf8_lossy(&finished.output).trim().to_owned()),
            _ => Err(failed()),
        }
    }

    /// The settings of the checkout, and of the user for it.
    pub(super) async fn settings(&self, of: &[&str]) -> Vec<Setting> {
        let arguments = [&["config", "--includes"][..], of, &["-z", "--list"]].concat();
        let listed = self.run(&arguments).await.unwrap_or_default();
        let entries = listed.split('\0').filter(|entry| !entry.is_empty());
        // A key without a value means true.
        let settings = entries.map(|entry| entry.split_once('\n').unwrap_or((entry, "true")));
        settings.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    }
}

/// A key of git's configuration, and its value.
pub(super) type Setting = (String, String);

fn safe_settings() -> Vec<Setting> {
    SAFE.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// The settings for git in a clone of the code under review: also without the filters that the user has
/// configured, which `.gitattributes` would run, and with git's own programs at the remote.
pub(super) fn settings_in_clone(configured: &[Setting], remote: &str) -> Vec<Setting> {
    let mut settings = safe_settings();
    for (end, program) in [("uploadpack", "git-upload-pack"), ("receivepack", "git-receive-pack")] {
        settings.push((format!("remote.{remote}.{end}"), program.to_owned()));
    }
    let filters = configured.iter().filter_map(|(key, _)| key.strip_prefix("filter.")?.rsplit_once('.'));
    let mut filters: Vec<&str> = filters.map(|(name, _)| name).collect();
    filters.sort_unstable();
    filters.dedup();
    for name in filters {
        for end in ["clean", "smudge", "process"] {
            settings.push((format!("filter.{name}.{end}"), String::new()));
        }
        settings.push((format!("filter.{name}.required"), "false".to_owned()));
    }
    settings
}

/// The settings as environment variables. They come before every configuration file, also before those that
/// an agent or a package's install script writes.
pub(super) fn variables(settings: &[Setting]) -> Vec<(String, String)> {
    let mut variables = vec![
        ("GIT_CONFIG_COUNT".to_owned(), settings.len().to_string()),
        ("GIT_TERMINAL_PROMPT".to_owned(), "0".to_owned()),
        // An agent has nobody who could use an editor.
        ("GIT_EDITOR".to_owned(), "true".to_owned()),
    ];
    for (number, (key, value)) in settings.iter().enumerate() {
        variables.push((format!("GIT_CONFIG_KEY_{number}"), key.clone()));
        variables.push((format!("GIT_CONFIG_VALUE_{number}"), value.clone()));
    }
    variables
}

pub(super) fn with_settings(environment: Environment, settings: &[Setting]) -> Environment {
    variables(settings).iter().fold(environment, |environment, (name, value)| environment.with(name, value))
}

/// A configuration file for a clone: its remote, and what the checkout says about the user and the way to the
/// remote.
pub(super) fn configuration(of_checkout: &[Setting], remote: &str, address: &str) -> String {
    let is_kept =
        |key: &str| KEPT_SECTIONS.iter().any(|section| key.starts_with(section)) || KEPT_KEYS.contains(&key);
    let kept = of_checkout.iter().filter(|(key, _)| is_kept(key)).cloned();
    let own = [
        (format!("remote.{remote}.url"), address.to_owned()),
        (format!("remote.{remote}.fetch"), format!("+refs/heads/*:refs/remotes/{remote}/*")),
    ];
    let mut text = String::new();
    for (key, value) in own.into_iter().chain(safe_settings()).chain(kept) {
        let (Some((section, rest)), value) = (key.split_once('.'), quoted(&value)) else { continue };
        let (heading, name) = match rest.rsplit_once('.') {
            Some((subsection, name)) => (format!("{section} {}", quoted(subsection)), name),
            None => (section.to_owned(), rest),
        };
        // Cannot fail: a String takes everything.
        let _infallible = writeln!(text, "[{heading}]\n\t{name} = {value}");
    }
    text
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_keeps_the_users_name_and_way_to_the_remote_and_nothing_that_runs_code_of_the_tree() {
        let setting = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let of_checkout = [
            setting("user.name", "Ann \"A\" B\\C"),
            setting("credential.https://example.com.helper", "store"),
            setting("core.sshcommand", "ssh -i key"),
            setting("core.hookspath", ".husky"),
            setting("remote.origin.uploadpack", "evil"),
            setting("filter.lfs.smudge", "evil"),
            setting("alias.push", "!evil"),
        ];
        let text = configuration(&of_checkout, "origin", "https://example.com/acme/shop.git");
        assert!(!text.contains("evil") && !text.contains(".husky"), "{text}");
        for line in [
            "[user]\n\tname = \"Ann \\\"A\\\" B\\\\C\"\n",
            "[credential \"https://example.com\"]\n\thelper = \"store\"\n",
            "[core]\n\tsshcommand = \"ssh -i key\"\n",
            "[remote \"origin\"]\n\turl = \"https://example.com/acme/shop.git\"\n",
            "[core]\n\thooksPath = \"/dev/null\"\n",
        ] {
            assert!(text.contains(line), "{line} is not in {text}");
        }
        let settings = settings_in_clone(&of_checkout, "origin");
        assert!(settings.contains(&setting("filter.lfs.smudge", "")));
        assert!(settings.contains(&setting("remote.origin.receivepack", "git-receive-pack")));
        let variables = variables(&settings);
        assert!(variables.contains(&setting("GIT_CONFIG_COUNT", &settings.len().to_string())));
        assert!(variables.contains(&setting("GIT_CONFIG_KEY_0", "core.hooksPath")));
    }
}
