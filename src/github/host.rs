//! The addresses of a GitHub API: GitHub.com, an Enterprise server, a data-residency tenant, or a plain
//! address such as the simulator's.

use crate::agents::http::is_loopback;
use http::Uri;
use std::fmt;

/// One GitHub: the two addresses of its API, and its name in `gh`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    kind: HostKind,
    name: String,
    rest: String,
    graphql: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostKind {
    GitHubCom,
    /// REST below `/api/v3`, GraphQL at `/api/graphql`.
    Enterprise,
    /// `api.SUB.ghe.com`, shaped like GitHub.com.
    DataResidency,
    /// The address as given, with GraphQL at `/graphql`.
    Plain,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    #[error(
        "`{0}` is not an address; write it as https://api.github.com or https://github.example.com/api/v3"
    )]
    NotAnAddress(String),
    #[error("`{0}` would send the token unencrypted; use https, or http only towards this machine")]
    Unencrypted(String),
    #[error(
        "the address of the API must not contain a user name or password; the token comes from the \
         environment"
    )]
    Credentials,
}

impl Host {
    pub fn github_com() -> Self {
        Self {
            kind: HostKind::GitHubCom,
            name: "github.com".to_owned(),
            rest: "https://api.github.com".to_owned(),
            graphql: "https://api.github.com/graphql".to_owned(),
        }
    }

    /// A GitHub by the name in its web addresses and remotes: `github.com`, `acme.ghe.com`,
    /// `github.example.com`.
    pub fn named(name: &str) -> Result<Self, HostError> {
        Self::from_api_url(&format!("https://{name}"))
    }

    /// A GitHub by the address of its API, with or without `/api/v3`, `/graphql` or a slash at the end.
    pub fn from_api_url(url: &str) -> Result<Self, HostError> {
        let not_an_address = || HostError::NotAnAddress(url.chars().take(200).collect());
        let uri: Uri = url.trim().parse().map_err(|_| not_an_address())?;
        let authority = uri.authority().ok_or_else(not_an_address)?;
        if authority.as_str().contains('@') {
            return Err(HostError::Credentials);
        }
        let scheme = uri.scheme_str().ok_or_else(not_an_address)?;
        let name = authority.host().trim_end_matches('.').to_ascii_lowercase();
        let loopback = is_loopback(&name);
        match scheme {
            "https" => {}
            "http" if loopback => {}
            "http" => return Err(HostError::Unencrypted(url.chars().take(200).collect())),
            _ => return Err(not_an_address()),
        }
        if uri.query().is_some() || name.is_empty() {
            return Err(not_an_address());
        }

        if matches!(name.as_str(), "github.com" | "www.github.com" | "api.github.com") {
            return Ok(Self::github_com());
        }
        if let Some(tenant) = name.strip_suffix(".ghe.com") {
            let tenant = tenant.strip_prefix("api.").unwrap_or(tenant);
            let rest = format!("https://api.{tenant}.ghe.com");
            return Ok(Self {
                kind: HostKind::DataResidency,
                name: format!("{tenant}.ghe.com"),
                graphql: format!("{rest}/graphql"),
                rest,
            });
        }

        let root = format!("{scheme}://{authority}");
        let path = uri.path().trim_end_matches('/');
        let enterprise = |above: &str| Self {
            kind: HostKind::Enterprise,
            name: name.clone(),
            rest: format!("{root}{above}/api/v3"),
            graphql: format!("{root}{above}/api/graphql"),
        };
        for ending in ["/api/v3", "/api/graphql", "/api"] {
            if let Some(above) = path.strip_suffix(ending) {
                return Ok(enterprise(above));
            }
        }
        if path.is_empty() && !loopback {
            return Ok(enterprise(""));
        }
        let rest = format!("{root}{}", path.strip_suffix("/graphql").unwrap_or(path));
        Ok(Self { kind: HostKind::Plain, name, graphql: format!("{rest}/graphql"), rest })
    }

    pub fn kind(&self) -> HostKind {
        self.kind
    }

    /// The name for `gh --hostname` and for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The address for GraphQL documents.
    pub fn graphql(&self) -> &str {
        &self.graphql
    }

    /// The prefix of REST paths, without a slash at the end.
    pub fn rest(&self) -> &str {
        &self.rest
    }

    /// Scheme and authority only: octocrab would add the path of its base to every path, also GraphQL's.
    pub(super) fn root(&self) -> &str {
        let beyond_scheme = self.rest.find("://").map_or(0, |at| at + 3);
        let path = self.rest[beyond_scheme..].find('/').map_or(self.rest.len(), |at| beyond_scheme + at);
        &self.rest[..path]
    }

    /// Whether the server is on this machine.
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.name)
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            HostKind::Plain => f.write_str(&self.rest),
            _ => f.write_str(&self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoints(url: &str) -> (HostKind, String, String) {
        let host = Host::from_api_url(url).unwrap();
        (host.kind(), host.rest().to_owned(), host.graphql().to_owned())
    }

    #[test]
    fn github_com_is_recognised_in_every_spelling() {
        for url in ["https://github.com", "https://api.github.com/", "https://api.github.com/graphql"] {
            assert_eq!(Host::from_api_url(url).unwrap(), Host::github_com(), "{url}");
        }
        assert_eq!(Host::github_com().name(), "github.com");
    }

    #[test]
    fn an_enterprise_server_has_two_roots() {
        for url in [
            "https://git.example.com",
            "https://git.example.com/api/v3/",
            "https://git.example.com/api",
            "https://git.example.com/api/graphql",
        ] {
            assert_eq!(
                endpoints(url),
                (
                    HostKind::Enterprise,
                    "https://git.example.com/api/v3".to_owned(),
                    "https://git.example.com/api/graphql".to_owned()
                ),
                "{url}"
            );
        }
        assert_eq!(endpoints("http://127.0.0.1:81/api/v3").2, "http://127.0.0.1:81/api/graphql");
        assert_eq!(Host::from_api_url("http://[::1]:81/x/api/v3").unwrap().root(), "http://[::1]:81");
    }

    #[test]
    fn a_data_residency_tenant_is_laid_out_like_github_com() {
        for url in ["https://acme.ghe.com", "https://api.acme.ghe.com/"] {
            let host = Host::from_api_url(url).unwrap();
            assert_eq!(host.rest(), "https://api.acme.ghe.com");
            assert_eq!(host.graphql(), "https://api.acme.ghe.com/graphql");
            assert_eq!(host.name(), "acme.ghe.com");
        }
    }

    #[test]
    fn a_plain_address_is_used_as_given() {
        let expected =
            (HostKind::Plain, "http://127.0.0.1:8080".to_owned(), "http://127.0.0.1:8080/graphql".to_owned());
        for url in ["http://127.0.0.1:8080", "http://127.0.0.1:8080/", "http://127.0.0.1:8080/graphql"] {
            assert_eq!(endpoints(url), expected, "{url}");
        }
        assert!(Host::from_api_url("http://[::1]:9").unwrap().is_loopback());
        assert!(Host::from_api_url("http://localhost:9").unwrap().is_loopback());
    }

    #[test]
    fn unencrypted_and_malformed_addresses_are_refused() {
        assert!(matches!(Host::from_api_url("http://github.example.com"), Err(HostError::Unencrypted(_))));
        assert!(matches!(Host::from_api_url("http://127.0.0.1.evil.com"), Err(HostError::Unencrypted(_))));
        assert_eq!(Host::from_api_url("https://me:secret@github.com"), Err(HostError::Credentials));
        for url in ["", "github.com", "/api/v3", "ftp://github.com", "https://", "https://a.example/?q=1"] {
            assert!(matches!(Host::from_api_url(url), Err(HostError::NotAnAddress(_))), "{url}");
        }
    }
}
