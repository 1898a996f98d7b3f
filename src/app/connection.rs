//! Which GitHub a command talks to, and with which token, from the command line and the configuration.

use crate::config::Config;
use crate::failure::Failure;
use crate::github::token::TokenSearch;
use crate::github::{Client, Credentials, Host, Timeouts, Token, TokenSource};
use std::path::Path;

/// The inputs of a connection. The environment and the folder are passed in, so that a test can choose them.
pub struct ConnectionSettings<'a> {
    pub config: &'a Config,
    /// `--api-url`
    pub api_url: Option<&'a str>,
    pub environment: &'a (dyn Fn(&str) -> Option<String> + Sync),
    pub directory: &'a Path,
    /// The same environment as a plain function, for programs and tasks that outlive the borrow.
    pub environment_of_programs: fn(&str) -> Option<String>,
}

impl std::fmt::Debug for ConnectionSettings<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ConnectionSettings { config: _, api_url, environment: _, directory, environment_of_programs: _ } =
            self;
        f.debug_struct("ConnectionSettings")
            .field("api_url", api_url)
            .field("directory", directory)
            .finish_non_exhaustive()
    }
}

/// A client, and the source of its token.
#[derive(Debug)]
pub struct ForgeConnection {
    pub client: Client,
    pub token: TokenSource,
}

impl ConnectionSettings<'_> {
    /// The GitHub to talk to. Only the command line and the configuration can name another than GitHub.com. A
    /// checkout's remote cannot, or the person who made the checkout would choose where the token goes.
    pub fn host(&self) -> Result<Host, Failure> {
        match self.api_url {
            Some(url) => Ok(Host::from_api_url(url)?),
            None => Ok(self.config.github.host.clone().unwrap_or_else(Host::github_com)),
        }
    }

    pub async fn token(&self, host: &Host) -> Result<Token, Failure> {
        let file = self.config.github.token_file.as_deref();
        let search = TokenSearch { host, environment: self.environment, gh: Some("gh".into()), file };
        Ok(search.find().await?)
    }

    /// Finds a token and makes the client. This sends nothing yet.
    pub async fn connect(&self, host: Host) -> Result<ForgeConnection, Failure> {
        let token = self.token(&host).await?;
        let source = token.source().clone();
        let client = Client::new(host, &Credentials::Token(token), Timeouts::default())?;
        Ok(ForgeConnection { client, token: source })
    }
}

/// Where a token was found, in words. Never the token itself.
pub fn found_where(source: &TokenSource) -> String {
    match source {
        TokenSource::Environment(variable) => format!("in {variable}"),
        TokenSource::GhCli => "by running `gh auth token`".to_owned(),
        TokenSource::File(path) => format!("in {}", path.display()),
    }
}
