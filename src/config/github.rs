//! Checks `[github]` and `[[watch]]`: the GitHub host, and which pull requests to watch.

use super::check::{Checks, Problem, one_line};
use super::{GithubConfig, typed};
use crate::github::Host;
use crate::github::discover::WatchRule;
use std::path::PathBuf;

const ADDRESS: &str = "the address of an API, such as \"https://github.example.com/api/v3\"";

impl typed::TypedGithub {
    pub(super) fn validated(&self) -> Result<GithubConfig, Vec<Problem>> {
        let typed::TypedGithub { api_url, token_file } = self;
        let mut checks = Checks::of("github");
        let host = checks.read("api_url", api_url.as_ref(), || ADDRESS.to_owned(), one_line);
        let host = host.and_then(|url| match Host::from_api_url(&url) {
            Ok(host) => Some(host),
            Err(error) => {
                checks.refuse("api_url", ADDRESS, error.to_string());
                None
            }
        });
        let token_file =
            checks.read("token_file", token_file.as_ref(), || "the path of a file".to_owned(), one_line);
        checks.finish(GithubConfig { host, token_file: token_file.map(PathBuf::from) })
    }
}

pub(super) fn checked_watch(typed: &[typed::TypedWatchRule]) -> Result<Vec<WatchRule>, Vec<Problem>> {
    let mut checks = Checks::of("watch");
    let mut rules = Vec::new();
    for (index, watch) in typed.iter().enumerate() {
        let typed::TypedWatchRule { repositories, authors, review_requested, labels } = watch;
        let key = |name: &str| format!("[{index}].{name}");
        let repositories = checks.list(
            &key("repositories"),
            repositories.as_ref(),
            "a list of repositories",
            |checks, key, value| checks.repository(key, Some(value), "a repository as OWNER/NAME"),
        );
        let authors = checks.texts(&key("authors"), authors.as_ref(), "a login, or \"@me\"", is_login);
        let labels = checks.texts(&key("labels"), labels.as_ref(), "the name of a label", |_| true);
        let asked = checks.flag(&key("review_requested"), review_requested.as_ref()).unwrap_or_default();
        let review_requested = if asked { vec!["@me".to_owned()] } else { Vec::new() };
        let rule = WatchRule { repositories, authors, review_requested, labels };
        // A rule without conditions would match every pull request. A refused condition counts as one.
        if rule == WatchRule::default() && checks.is_clean() {
            checks.refuse(
                &format!("[{index}]"),
                "at least one condition (repositories, authors, review_requested or labels)",
                "none",
            );
        }
        rules.push(rule);
    }
    checks.finish(rules)
}

/// Whether a text can be a login. Anything else would change the search query.
pub(super) fn is_login(text: &str) -> bool {
    let name = text.strip_suffix("[bot]").unwrap_or(text);
    let name = if name == "@me" { "me" } else { name };
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}
