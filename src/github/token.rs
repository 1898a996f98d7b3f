//! Finds the token for GitHub, and keeps it out of every text that Cloture prints (S2).

use super::host::{Host, HostKind};
use super::process;
use crate::agents::secret::{PrivateFileError, read_private_file};
use secrecy::SecretString;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

/// Every variable in which a token for GitHub may be.
pub const VARIABLES: [&str; 4] =
    ["GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"];

/// A token and its source. Neither `Debug` nor `Display` shows the token.
#[derive(Debug, Clone)]
pub struct Token {
    secret: SecretString,
    source: TokenSource,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenSource {
    Environment(&'static str),
    GhCli,
    File(PathBuf),
}

/// The places to look for a token. The caller passes the environment, so tests can choose it.
#[derive(Debug)]
pub struct TokenSearch<'a, E> {
    pub host: &'a Host,
    pub environment: E,
    /// The `gh` program to ask, if any.
    pub gh: Option<OsString>,
    pub file: Option<&'a Path>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    #[error(
        "no token for {host} was found: set {variables}, run `gh auth login{hostname}`, or name a token file"
    )]
    None { host: String, variables: String, hostname: String },
    #[error("the token file {path} can be read by others; run `chmod 600 {path}` first")]
    FileTooOpen { path: String },
    #[error("the token file {path} could not be read: {reason}")]
    File { path: String, reason: String },
    #[error("the token from {source_name} contains characters that no token has; set it again")]
    NotAToken { source_name: String },
}

impl Token {
    /// A token that the caller already has.
    pub fn new(secret: impl Into<String>, source: TokenSource) -> Result<Self, TokenError> {
        let secret: String = secret.into();
        let secret = secret.trim();
        if secret.is_empty() || !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError::NotAToken { source_name: source.to_string() });
        }
        Ok(Self { secret: SecretString::from(secret.to_owned()), source })
    }

    pub fn source(&self) -> &TokenSource {
        &self.source
    }

    pub(super) fn secret(&self) -> &SecretString {
        &self.secret
    }
}

impl<E: Fn(&str) -> Option<String>> TokenSearch<'_, E> {
    /// The first token found: in the environment, from `gh`, or in the file.
    pub async fn find(&self) -> Result<Token, TokenError> {
        for variable in variables(self.host) {
            if let Some(value) = (self.environment)(variable).filter(|value| !value.trim().is_empty()) {
                return Token::new(value, TokenSource::Environment(variable));
            }
        }
        if let Some(token) = self.ask_gh().await {
            return Ok(token);
        }
        if let Some(path) = self.file {
            return read_file(path).await;
        }
        Err(TokenError::None {
            host: self.host.name().to_owned(),
            variables: variables(self.host).join(" or "),
            hostname: match self.host.kind() {
                HostKind::GitHubCom => String::new(),
                _ => format!(" --hostname {}", self.host.name()),
            },
        })
    }

    /// A failure of `gh` is not an error: it may be missing or logged out. A plain address never gets a token
    /// from `gh`: it would be the token of another host.
    async fn ask_gh(&self) -> Option<Token> {
        let gh = self.gh.as_deref()?;
        if self.host.kind() == HostKind::Plain || self.host.is_loopback() {
            return None;
        }
        let arguments = ["auth", "token", "--hostname", self.host.name()];
        let text = process::output(gh, &arguments, None, process::TIME_LIMIT).await.ok()?;
        Token::new(text, TokenSource::GhCli).ok()
    }
}

/// The variables that `gh` uses, with the same meaning: an Enterprise server never gets the token for
/// GitHub.com.
fn variables(host: &Host) -> &'static [&'static str] {
    match host.kind() {
        HostKind::GitHubCom | HostKind::DataResidency | HostKind::Plain => &["GH_TOKEN", "GITHUB_TOKEN"],
        HostKind::Enterprise if host.is_loopback() => {
            &["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"]
        }
        HostKind::Enterprise => &["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"],
    }
}

async fn read_file(path: &Path) -> Result<Token, TokenError> {
    let name = || path.display().to_string();
    let text = read_private_file(path).await.map_err(|error| match error {
        PrivateFileError::TooOpen => TokenError::FileTooOpen { path: name() },
        PrivateFileError::Unreadable(reason) => TokenError::File { path: name(), reason },
    })?;
    Token::new(text, TokenSource::File(path.to_owned()))
}

impl fmt::Display for TokenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TokenSource::Environment(name) => f.write_str(name),
            TokenSource::GhCli => f.write_str("`gh auth token`"),
            TokenSource::File(path) => write!(f, "the file {}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::secret::scrub;
    use secrecy::ExposeSecret;

    async fn find(host: &str, pairs: &[(&str, &str)], file: Option<&Path>) -> Result<Token, TokenError> {
        let environment =
            |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        let host = Host::from_api_url(host).unwrap();
        TokenSearch { host: &host, environment, gh: None, file }.find().await
    }

    #[tokio::test]
    async fn the_environment_is_searched_in_order() {
        let both = [("GITHUB_TOKEN", "second"), ("GH_TOKEN", "first"), ("GH_ENTERPRISE_TOKEN", "third")];
        let token = find("https://github.com", &both, None).await.unwrap();
        assert_eq!(token.secret().expose_secret(), "first");
        let token = find("https://github.com", &[("GH_TOKEN", " "), ("GITHUB_TOKEN", "x\n")], None).await;
        assert_eq!(token.unwrap().source(), &TokenSource::Environment("GITHUB_TOKEN"));
        let token = find("https://git.example.com", &both, None).await.unwrap();
        assert_eq!(token.source(), &TokenSource::Environment("GH_ENTERPRISE_TOKEN"));
        let missing = find("https://git.example.com", &[("GH_TOKEN", "x")], None).await.unwrap_err();
        assert_eq!(
            missing.to_string(),
            "no token for git.example.com was found: set GH_ENTERPRISE_TOKEN or GITHUB_ENTERPRISE_TOKEN, \
             run `gh auth login --hostname git.example.com`, or name a token file"
        );
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_file_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        std::fs::write(&path, "ghp_sesame\n").unwrap();
        for (mode, accepted) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false)] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let found = find("https://github.com", &[], Some(&path)).await;
            assert_eq!(found.is_ok(), accepted, "{mode:o}");
            if let Err(error) = found {
                assert!(error.to_string().contains("chmod 600"), "{error}");
                assert!(!error.to_string().contains("sesame"));
            }
        }
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn gh_is_asked_except_for_a_plain_address() {
        // `printf` stands in for `gh`: it prints its first argument, "auth".
        let gh = || Some(OsString::from("printf"));
        let enterprise = Host::from_api_url("https://git.example.com").unwrap();
        let search = TokenSearch { host: &enterprise, environment: |_: &str| None, gh: gh(), file: None };
        let token = search.find().await.unwrap();
        assert_eq!(token.source(), &TokenSource::GhCli);
        assert_eq!(token.secret().expose_secret(), "auth");
        let plain = Host::from_api_url("http://127.0.0.1:1").unwrap();
        let search = TokenSearch { host: &plain, environment: |_: &str| None, gh: gh(), file: None };
        assert!(matches!(search.find().await, Err(TokenError::None { .. })));
    }

    #[test]
    fn s2_no_text_shows_the_token() {
        let token = Token::new("ghp_sesame", TokenSource::GhCli).unwrap();
        assert!(!format!("{token:?} {token:#?}").contains("sesame"));
        let refused = Token::new("ghp_ses\u{7}ame", TokenSource::GhCli).unwrap_err();
        assert!(!format!("{refused:?} {refused}").contains("ame\""));
        assert_eq!(scrub("bad ghp_sesame!", Some(token.secret())), "bad [token]!");
    }
}
