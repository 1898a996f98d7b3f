//! Checks how to run driven reviewers and the author's agent. A key that a kind does not use is refused,
//! because it would have no effect.

use super::check::{Checks, one_line};
use super::{TypedValue, typed};
use crate::agents::authors::{AuthorAgent, AuthorAgentKind};
use crate::reviewers::adapters::{Adapter, ApiKey, Endpoint, Program, ReviewerAgent};
use http::Uri;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TypedReviewerKind {
    Program,
    Claude,
    Codex,
    OpenAi,
}

const REVIEWER_KINDS: [(&str, TypedReviewerKind); 4] = [
    ("program", TypedReviewerKind::Program),
    ("claude", TypedReviewerKind::Claude),
    ("codex", TypedReviewerKind::Codex),
    ("openai", TypedReviewerKind::OpenAi),
];
const AUTHOR_KINDS: [(&str, AuthorAgentKind); 3] = [
    ("program", AuthorAgentKind::Program),
    ("claude", AuthorAgentKind::Claude),
    ("codex", AuthorAgentKind::Codex),
];

const TIMEOUT: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_hours(24);
const REVIEWER_TIMEOUT: Duration = Duration::from_mins(10);
const AUTHOR_TIMEOUT: Duration = Duration::from_mins(30);

const COMMAND: &str = "a list of texts: a program and its arguments";
const BASE_URL: &str = "the address of an endpoint, such as \"http://127.0.0.1:11434/v1\"";

/// How to ask a reviewer. None: it has no kind, or something is wrong.
pub(super) fn checked_adapter(
    checks: &mut Checks,
    table: &str,
    typed: &typed::TypedReviewer,
) -> Option<Adapter> {
    let typed::TypedReviewer {
        name: _,
        protocol: _,
        context_window: _,
        price_per_call: _,
        kind,
        command,
        env,
        timeout,
        model,
        base_url,
        api_key_env,
        api_key_file,
        prompt_file,
        sign_in,
    } = typed;
    let mut keys = DriverKeys { checks, table };
    let chosen = keys.kind(kind.as_ref(), &REVIEWER_KINDS);
    // With a wrong kind the other keys cannot be checked.
    if kind.is_some() && chosen.is_none() {
        return None;
    }
    let is_any = |kinds: &[TypedReviewerKind]| chosen.is_some_and(|kind| kinds.contains(&kind));
    let programs = [TypedReviewerKind::Program, TypedReviewerKind::Claude, TypedReviewerKind::Codex];
    let agents = [TypedReviewerKind::Claude, TypedReviewerKind::Codex];
    for (name, value, belongs) in [
        ("command", command, is_any(&programs)),
        ("env", env, is_any(&programs)),
        ("timeout", timeout, chosen.is_some()),
        ("model", model, is_any(&agents) || is_any(&[TypedReviewerKind::OpenAi])),
        ("base_url", base_url, is_any(&[TypedReviewerKind::OpenAi])),
        ("api_key_env", api_key_env, is_any(&[TypedReviewerKind::OpenAi])),
        ("api_key_file", api_key_file, is_any(&[TypedReviewerKind::OpenAi])),
        ("sign_in", sign_in, is_any(&agents)),
        ("prompt_file", prompt_file, is_any(&agents) || is_any(&[TypedReviewerKind::OpenAi])),
    ] {
        keys.refuse_unless(belongs, name, value.as_ref(), kind.as_ref());
    }
    let timeout = keys.timeout(timeout.as_ref(), REVIEWER_TIMEOUT);
    let model_name = keys.text("model", model.as_ref(), "the name of a model");
    let prompt_file = keys.path("prompt_file", prompt_file.as_ref());
    let sign_in = keys.files("sign_in", sign_in.as_ref());
    let kind = chosen?;
    if kind == TypedReviewerKind::OpenAi {
        let file = keys.path("api_key_file", api_key_file.as_ref()).map(ApiKey::File);
        let variable = keys.variable("api_key_env", api_key_env.as_ref()).map(ApiKey::Variable);
        if let (Some(_), Some(typed)) = (&variable, api_key_file) {
            keys.refuse("api_key_file", "no such key beside api_key_env", typed.to_string());
        }
        let api_key = variable.or(file);
        let base_url = keys.base_url(base_url.as_ref(), api_key.is_some());
        if model.is_none() {
            keys.refuse("model", "the name of a model", "nothing");
        }
        let (base_url, model) = (base_url?, model_name?);
        return Some(Adapter::OpenAi(Endpoint { base_url, model, api_key, timeout, prompt_file }));
    }
    let default = match kind {
        TypedReviewerKind::Claude => Some("claude"),
        TypedReviewerKind::Codex => Some("codex"),
        TypedReviewerKind::Program | TypedReviewerKind::OpenAi => None,
    };
    let command = keys.command(command.as_ref(), default);
    let env = keys.variables(env.as_ref());
    let program = Program { command: command?, env, timeout };
    let agent = |program| ReviewerAgent { program, model: model_name, prompt_file, sign_in };
    Some(match kind {
        TypedReviewerKind::Claude => Adapter::Claude(agent(program)),
        TypedReviewerKind::Codex => Adapter::Codex(agent(program)),
        TypedReviewerKind::Program | TypedReviewerKind::OpenAi => Adapter::Program(program),
    })
}

/// How to run the author's agent. None: it has no kind, or something is wrong.
pub(super) fn checked_agent(checks: &mut Checks, typed: &typed::TypedAuthor) -> Option<AuthorAgent> {
    let typed::TypedAuthor { price_per_call: _, kind, command, env, timeout, prompt_file, checkout, forks } =
        typed;
    let mut keys = DriverKeys { checks, table: "" };
    let chosen = keys.kind(kind.as_ref(), &AUTHOR_KINDS);
    if kind.is_some() && chosen.is_none() {
        return None;
    }
    let has_prompt = chosen.is_some_and(|kind| kind != AuthorAgentKind::Program);
    for (name, value, belongs) in [
        ("command", command, chosen.is_some()),
        ("env", env, chosen.is_some()),
        ("timeout", timeout, chosen.is_some()),
        ("checkout", checkout, chosen.is_some()),
        ("forks", forks, chosen.is_some()),
        ("prompt_file", prompt_file, has_prompt),
    ] {
        keys.refuse_unless(belongs, name, value.as_ref(), kind.as_ref());
    }
    let timeout = keys.timeout(timeout.as_ref(), AUTHOR_TIMEOUT);
    let prompt_file = keys.path("prompt_file", prompt_file.as_ref());
    let kind = chosen?;
    let default = match kind {
        AuthorAgentKind::Program => None,
        AuthorAgentKind::Claude => Some("claude"),
        AuthorAgentKind::Codex => Some("codex"),
    };
    let command = keys.command(command.as_ref(), default);
    let env = keys.variables(env.as_ref());
    if checkout.is_none() {
        keys.refuse("checkout", "the path of a local checkout of the repository", "nothing");
    }
    let checkout = keys.path("checkout", checkout.as_ref());
    let forks = keys.checks.flag("forks", forks.as_ref()).unwrap_or(false);
    let program = Program { command: command?, env, timeout };
    Some(AuthorAgent { kind, program, prompt_file, checkout: checkout?, forks })
}

/// Checks the keys of one table.
pub(super) struct DriverKeys<'c, 't> {
    pub(super) checks: &'c mut Checks,
    pub(super) table: &'t str,
}

impl DriverKeys<'_, '_> {
    pub(super) fn full_key(&self, key: &str) -> String {
        if self.table.is_empty() { key.to_owned() } else { format!("{}.{key}", self.table) }
    }

    pub(super) fn refuse(&mut self, key: &str, expected: &str, found: impl Into<String>) {
        let key = self.full_key(key);
        self.checks.refuse(&key, expected, found);
    }

    pub(super) fn kind<K: Copy>(&mut self, typed: Option<&TypedValue>, kinds: &[(&str, K)]) -> Option<K> {
        let key = self.full_key("kind");
        self.checks.choice(&key, typed, kinds)
    }

    /// Refuses a key that the chosen kind does not use.
    pub(super) fn refuse_unless(
        &mut self,
        belongs: bool,
        key: &str,
        typed: Option<&TypedValue>,
        kind: Option<&TypedValue>,
    ) {
        if let Some(found) = typed
            && !belongs
        {
            let expected = match kind {
                Some(kind) => format!("no such key for the kind {kind}"),
                None => "a kind in the same table".to_owned(),
            };
            let found = if kind.is_some() { found.to_string() } else { "none".to_owned() };
            self.refuse(key, &expected, found);
        }
    }

    fn text(&mut self, key: &str, typed: Option<&TypedValue>, expected: &str) -> Option<String> {
        let key = self.full_key(key);
        self.checks.read(&key, typed, || expected.to_owned(), one_line)
    }

    pub(super) fn path(&mut self, key: &str, typed: Option<&TypedValue>) -> Option<PathBuf> {
        self.text(key, typed, "a path").map(PathBuf::from)
    }

    /// A list of paths. None: the key is missing, which is not the same as an empty list.
    fn files(&mut self, key: &str, typed: Option<&TypedValue>) -> Option<Vec<PathBuf>> {
        let key = self.full_key(key);
        let files = self.checks.list(&key, typed, "a list of paths", |checks, key, value| {
            checks.read(key, Some(value), || "a path".to_owned(), one_line).map(PathBuf::from)
        });
        typed.map(|_| files)
    }

    pub(super) fn timeout(&mut self, typed: Option<&TypedValue>, default: Duration) -> Duration {
        let key = self.full_key("timeout");
        self.checks.duration(&key, typed, &TIMEOUT).unwrap_or(default)
    }

    pub(super) fn variable(&mut self, key: &str, typed: Option<&TypedValue>) -> Option<String> {
        let key = self.full_key(key);
        self.checks.read(&key, typed, || "the name of an environment variable".to_owned(), variable)
    }

    pub(super) fn variables(&mut self, typed: Option<&TypedValue>) -> Vec<String> {
        let key = self.full_key("env");
        self.checks.list(&key, typed, "a list of names of environment variables", |checks, key, value| {
            checks.read(key, Some(value), || "the name of an environment variable".to_owned(), variable)
        })
    }

    /// The program and its arguments. Only an argument may be empty or have several lines.
    pub(super) fn command(
        &mut self,
        typed: Option<&TypedValue>,
        default: Option<&str>,
    ) -> Option<Vec<String>> {
        let key = self.full_key("command");
        let Some(value) = typed else {
            if default.is_none() {
                self.refuse("command", COMMAND, "nothing");
            }
            return default.map(|program| vec![program.to_owned()]);
        };
        self.checks.read(
            &key,
            Some(value),
            || COMMAND.to_owned(),
            |value| {
                let TypedValue::List(words) = value else { return None };
                let words: Option<Vec<String>> = words
                    .iter()
                    .map(|word| match word {
                        TypedValue::Text(text) if !text.contains('\0') => Some(text.clone()),
                        _ => None,
                    })
                    .collect();
                words.filter(|words| words.first().is_some_and(|program| !program.trim().is_empty()))
            },
        )
    }

    /// With an API key the address must be encrypted or local.
    fn base_url(&mut self, typed: Option<&TypedValue>, with_key: bool) -> Option<Uri> {
        if typed.is_none() {
            self.refuse("base_url", BASE_URL, "nothing");
        }
        let key = self.full_key("base_url");
        let url = self.checks.read(
            &key,
            typed,
            || BASE_URL.to_owned(),
            |value| {
                let url: Uri = one_line(value)?.parse().ok()?;
                let fits = matches!(url.scheme_str(), Some("http" | "https"))
                    && url.host().is_some_and(|host| !host.is_empty())
                    && url.query().is_none()
                    && !url.authority().is_some_and(|authority| authority.as_str().contains('@'));
                fits.then_some(url)
            },
        )?;
        let is_local = matches!(url.host(), Some("localhost" | "127.0.0.1" | "[::1]"));
        if with_key && url.scheme_str() == Some("http") && !is_local {
            let expected = "an https address, because Cloture sends the API key there";
            self.refuse("base_url", expected, format!("{:?}", url.to_string()));
            return None;
        }
        Some(url)
    }
}

fn variable(value: &TypedValue) -> Option<String> {
    one_line(value).filter(|name| {
        !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}
