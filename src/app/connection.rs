//! Which GitHub a command talks to, and as whom: what the command line and the configuration say together.

use crate::config::Config;
use crate::failure::Failure;
use crate::github::token::TokenSearch;
use crate::github::{Client, Credentials, Host, Timeouts, Token, TokenSource};
use std::path::Path;

/// What a command is run with. The environment and the folder are passed in, so that a test decides them.
pub struct ConnectionSettings<'a> {
    pub config: &'a Config,
    /// The command line's.
    pub api_url: Option<&'a str>,
    pub environment: &'a (dyn Fn(&str) -> Option<String> + Sync),
    pub directory: &'a Path,
    /// Where programs that outlive a borrow look for their keys.
    pub environment_of_programs: fn(&str) -> Option<String>,
}

impl std::fmt::Debug for ConnectionSettings<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ConnectionSettings { config: _, api_url, environment: _, directory, environment_of_programs: _ } =
            self;
        f.debug_struct("Settings")
            .field("api_url", api_url)
            .field("directory", directory)
            .finish_non_exhaustive()
    }
}

/// A connection, and where its token was found.
#[derive(Debug)]
pub struct ForgeConnection {
    pub client: Client,
    pub token: TokenSource,
}

impl ConnectionSettings<'_> {
    /// The GitHub that is meant: only the command line and the configuration can name another than GitHub.com. A
    /// checkout's remote cannot, or whoever made the checkout would choose where the token goes.
    pub fn host(&self) -> Result<Host, Failure> {
        match self.api_url {
            Some(url) => Ok(Host::from_api_url(url)?),
            None => Ok(self.config.github.host.clone().unwrap_or_else(Host::github_com)),
        }
    }

    /// Finds a token.
    pub async fn token(&self, host: &Host) -> Result<Token, Failure> {
        let file = self.config.github.token_file.as_deref();
        let search = TokenSearch { host, environment: self.environment, gh: Some("gh".into()), file };
        Ok(search.find().await?)
    }

    /// Finds a token and makes the client. Nothing is sent yet.
    pub async fn connect(&self, host: Host) -> Result<ForgeConnection, Failure> {
        let token = self.token(&host).await?;
        let source = token.source().clone();
        let client = Client::new(host, &Credentials::Token(token), Timeouts::default())?;
        Ok(ForgeConnection { client, token: source })
    }
}
