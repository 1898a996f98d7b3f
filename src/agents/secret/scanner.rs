//! Finds secrets in texts that are about to leave Cloture.
//!
//! A reviewer's model reads hostile text and may print a secret that it got hold of. So every text that Cloture
//! posts, sends or records is held against the secrets that Cloture knows, and against the forms of common
//! keys. The scanner does not find a secret that somebody encoded.

use regex_automata::meta::{self, Regex};
use regex_automata::util::syntax;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The known secrets. Clones share them, and debug output does not show them.
#[derive(Clone, Default)]
pub struct SecretScanner {
    known: Arc<Vec<KnownSecret>>,
    /// A secret that may be found only after the start, such as the token.
    later: Option<(&'static str, Arc<LaterSecret>)>,
}

type LaterSecret = dyn Fn() -> Option<SecretString> + Send + Sync;

impl fmt::Debug for SecretScanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretScanner").field("known", &self.known).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone)]
struct KnownSecret {
    /// The name for people, such as "the value of the variable `API_KEY`".
    name: String,
    value: SecretString,
}

/// Which secret a text contains. It never shows the secret itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretFound(Cow<'static, str>);

impl fmt::Display for SecretFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The shortest known secret, in bytes. A shorter value would turn up in ordinary text.
const SHORTEST: usize = 8;
/// The same for one line of a secret that has several.
const SHORTEST_LINE: usize = 20;

/// The forms of common keys. The engine takes linear time for each.
const FORMS: [(&str, &str); 10] = [
    ("a text that looks like a GitHub token", r"gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{40}"),
    ("a text that looks like an AWS access key", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    // With the beginning of its body: reviewers may quote the header alone.
    (
        "a text that looks like a private key",
        r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\sA-Za-z0-9+/=:,\\-]{40}",
    ),
    ("a text that looks like a Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{20}"),
    (
        "a text that looks like a Slack webhook",
        r"hooks\.slack\.com/services/T[A-Z0-9]{6,16}/B[A-Z0-9]{6,16}/[A-Za-z0-9]{20}",
    ),
    ("a text that looks like an Anthropic API key", r"\bsk-ant-[A-Za-z0-9_-]{32}"),
    ("a text that looks like an OpenAI API key", r"\bsk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{32}"),
    ("a text that looks like an OpenAI API key", r"\bsk-[A-Za-z0-9]{32}"),
    ("a text that looks like a Google API key", r"\bAIza[0-9A-Za-z_-]{35}"),
    (
        "a text that looks like a JSON web token",
        r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{16}",
    ),
];

impl SecretScanner {
    /// Adds a secret. Values that are too short to be told from ordinary text are left out.
    #[must_use]
    pub fn knowing(mut self, name: impl Into<String>, value: &str) -> SecretScanner {
        let (name, value) = (name.into(), value.trim());
        let shortest = if value.contains('\n') { SHORTEST_LINE } else { SHORTEST };
        let lines = value.lines().map(str::trim).filter(|line| line.len() >= shortest);
        let secrets = lines
            .map(|line| KnownSecret { name: name.clone(), value: SecretString::from(line.to_owned()) })
            .collect::<Vec<_>>();
        if !secrets.is_empty() {
            Arc::make_mut(&mut self.known).extend(secrets);
        }
        self
    }

    /// Adds the one secret that may be found only after the start.
    #[must_use]
    pub fn knowing_later(
        self,
        name: &'static str,
        secret: impl Fn() -> Option<SecretString> + Send + Sync + 'static,
    ) -> SecretScanner {
        SecretScanner { later: Some((name, Arc::new(secret))), ..self }
    }

    /// Adds the value of a variable that the configuration passes to a program, unless the value is plainly no
    /// secret: a path, an address, a word, a model's name.
    #[must_use]
    pub fn knowing_variable(self, name: &str, value: &str) -> SecretScanner {
        if is_secret_variable(name, value.trim()) {
            self.knowing(format!("the value of the variable {name}"), value)
        } else {
            self
        }
    }

    /// The first secret in the text.
    pub fn find(&self, text: &str) -> Option<SecretFound> {
        self.find_known(text).or_else(|| find_form(text))
    }

    /// The first secret in a JSON text: as it is written, and in its decoded strings.
    pub fn find_in_json(&self, text: &str) -> Option<SecretFound> {
        let decoded = || self.find_in_value(&serde_json::from_str(text).ok()?);
        self.find(text).or_else(decoded)
    }

    /// The first secret in the strings and names of a JSON value.
    pub fn find_in_value(&self, value: &Value) -> Option<SecretFound> {
        match value {
            Value::String(text) => self.find(text),
            Value::Array(values) => values.iter().find_map(|value| self.find_in_value(value)),
            Value::Object(fields) => {
                fields.iter().find_map(|(name, value)| self.find(name).or_else(|| self.find_in_value(value)))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }

    /// The text, or a sentence in its place that says which secret it contains.
    pub fn redacted<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.find(text) {
            None => Cow::Borrowed(text),
            Some(found) => Cow::Owned(format!("Cloture withheld this text, because it contains {found}")),
        }
    }

    fn find_known(&self, text: &str) -> Option<SecretFound> {
        let later = self.later.as_ref().and_then(|(name, secret)| Some((*name, secret()?)));
        let later = later.as_ref().map(|(name, secret)| (*name, secret));
        let later = later.filter(|(_, secret)| secret.expose_secret().len() >= SHORTEST);
        // Also without the line breaks and spaces that a model may have put between.
        let joined: String = text.chars().filter(char::is_ascii_graphic).collect();
        let known = self.known.iter().map(|known| (known.name.as_str(), &known.value));
        let (name, _) = known.chain(later).find(|(_, secret)| {
            let secret = secret.expose_secret();
            text.contains(secret) || joined.contains(secret)
        })?;
        Some(SecretFound(Cow::Owned(name.to_owned())))
    }
}

fn find_form(text: &str) -> Option<SecretFound> {
    static COMPILED: OnceLock<Option<Regex>> = OnceLock::new();
    let compiled = COMPILED.get_or_init(|| {
        // The lazy DFA would be quicker, and take far more memory.
        let config = meta::Config::new().hybrid(false);
        let syntax = syntax::Config::new().unicode(false).utf8(false);
        let patterns = FORMS.map(|(_, pattern)| pattern);
        // A test compiles it.
        Regex::builder().configure(config).syntax(syntax).build_many(&patterns).ok()
    });
    let found = compiled.as_ref()?.find(text)?;
    let (name, _) = FORMS.get(found.pattern().as_usize())?;
    Some(SecretFound(Cow::Borrowed(name)))
}

/// Parts of names whose values are secrets, whatever they look like.
const SECRET_NAMES: [&str; 7] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL"];
/// Ends of names whose values are none.
const PLAIN_NAMES: [&str; 13] = [
    "MODEL", "HOST", "PORT", "PATH", "DIR", "HOME", "NAME", "EMAIL", "SOCK", "REGION", "LEVEL", "VERSION",
    "DATE",
];

fn is_secret_variable(name: &str, value: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let is_path = value.starts_with(['/', '~', '.']);
    let is_open_address = value.contains("://") && !value.contains('@');
    if is_path || is_open_address {
        return false;
    }
    if SECRET_NAMES.iter().any(|part| name.contains(part)) {
        return true;
    }
    let has = |test: fn(&char) -> bool| value.chars().any(|c| test(&c));
    let is_one_word = !value.contains(char::is_whitespace);
    let looks_made = has(char::is_ascii_digit) && has(char::is_ascii_alphabetic);
    !PLAIN_NAMES.iter().any(|end| name.ends_with(end)) && is_one_word && looks_made
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(scanner: &SecretScanner, text: &str) -> String {
        scanner.find(text).map(|found| found.to_string()).unwrap_or_default()
    }

    #[test]
    fn s2_the_forms_of_common_keys_are_found_and_ordinary_text_is_not() {
        let scanner = SecretScanner::default();
        let letters = |count| "aB3dE".repeat(20)[..count].to_owned();
        for (text, kind) in [
            (format!("see ghp_{} there", letters(36)), "GitHub token"),
            (format!("github_pat_{}", letters(82)), "GitHub token"),
            (format!("key=AKIA{}", "ABCDEFGH12345678"), "AWS access key"),
            (format!("-----BEGIN RSA PRIVATE KEY-----\n{}", letters(64)), "private key"),
            (format!("xoxb-{}", letters(40)), "Slack token"),
            (
                format!("https://hooks.slack.com/services/T0000AAAA/B0000AAAA/{}", letters(24)),
                "Slack webhook",
            ),
            (format!("sk-ant-api03-{}", letters(40)), "Anthropic API key"),
            (format!("sk-proj-{}", letters(48)), "OpenAI API key"),
            (format!("sk-{}", letters(48)), "OpenAI API key"),
            (format!("AIza{}", letters(35)), "Google API key"),
            (format!("eyJ{0}.eyJ{0}.{0}", letters(30)), "JSON web token"),
        ] {
            assert!(found(&scanner, &text).contains(kind), "{text}: {}", found(&scanner, &text));
            assert!(!found(&scanner, &text).contains(&letters(10)), "the secret itself is never shown");
        }
        for text in [
            "Tokens begin with ghp_ or github_pat_; AKIA is AWS's prefix.",
            "-----BEGIN PRIVATE KEY----- must not be committed.",
            "class=\"sk-fading-circle sk-circle\"",
            "0123456789abcdef0123456789abcdef01234567",
            "The head is eyJhbGciOi and nothing else.",
        ] {
            assert_eq!(found(&scanner, text), "", "{text}");
        }
    }

    #[test]
    fn s2_a_known_secret_is_found_also_when_it_is_wrapped_or_escaped() {
        let scanner = SecretScanner::default().knowing("Cloture's GitHub token", "open\"sesame-17");
        assert_eq!(found(&scanner, "It is open\"sesame-17."), "Cloture's GitHub token");
        assert_eq!(found(&scanner, "It is open\"ses\n  ame-17."), "Cloture's GitHub token");
        assert_eq!(found(&scanner, "Open sesame."), "");
        let json = r#"{"findings": [{"title": "open\"sesame\u002d17"}]}"#;
        assert!(scanner.find(json).is_none() && scanner.find_in_json(json).is_some());
        assert!(!format!("{scanner:?}").contains("sesame"));
        let redacted = scanner.redacted("open\"sesame-17").into_owned();
        assert_eq!(redacted, "Cloture withheld this text, because it contains Cloture's GitHub token");
    }

    #[test]
    fn s2_a_passed_variable_is_a_secret_unless_it_is_plainly_none() {
        let is_secret = |name, value: &str| {
            SecretScanner::default().knowing_variable(name, value).find(&format!("<{value}>")).is_some()
        };
        for (name, value) in [
            ("API_KEY", "correct-horse"),
            ("DB_PASSWORD", "correct horse battery"),
            ("SERVICE", "s3cr3t-value"),
            ("HTTPS_PROXY", "http://me:pass1word@proxy:8080"),
        ] {
            assert!(is_secret(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("API_KEY", "short"),
            ("SSH_AUTH_SOCK", "/tmp/ssh-1234/agent.99"),
            ("SSL_CERT_FILE", "/etc/ssl/certs/ca2.pem"),
            ("NODE_ENV", "production"),
            ("ANTHROPIC_MODEL", "claude-large-4-5"),
            ("HTTPS_PROXY", "http://proxy1.example.com:8080"),
            ("GIT_AUTHOR_NAME", "Cloture 2 Bot"),
        ] {
            assert!(!is_secret(name, value), "{name}={value}");
        }
    }

    #[test]
    fn a_megabyte_is_scanned_in_linear_time() {
        let scanner = SecretScanner::default().knowing("a", "open-sesame-17");
        let text = "sk-ant-eyJ-----BEGIN ".repeat(50_000);
        let began = tokio::time::Instant::now();
        assert!(scanner.find(&text).is_none());
        assert!(began.elapsed() < std::time::Duration::from_secs(20));
    }
}
