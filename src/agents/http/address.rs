//! The address of a request. It may have a password, and its path may be a secret, so only scheme and host
//! are shown.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::uri::Authority;
use http::{HeaderValue, Uri};
use std::fmt;
use std::net::IpAddr;

#[derive(Clone, PartialEq, Eq)]
pub struct HttpAddress {
    uri: Uri,
    authority: Authority,
    authorization: Option<HeaderValue>,
}

/// Why a text is not an address. The message does not repeat the text, which may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpAddressError {
    #[error("a text that is not a web address")]
    NotAnAddress,
    #[error("an unencrypted address (http) of another machine")]
    Unencrypted,
}

impl HttpAddress {
    /// Accepts https addresses, and http addresses of this machine.
    pub fn parse(text: &str) -> Result<HttpAddress, HttpAddressError> {
        let address = Self::of(text.parse().map_err(|_| HttpAddressError::NotAnAddress)?)?;
        if address.is_encrypted() || is_loopback(address.authority.host()) {
            Ok(address)
        } else {
            Err(HttpAddressError::Unencrypted)
        }
    }

    /// Accepts https and http addresses. The caller makes sure that no secret goes to an http address.
    pub fn of(uri: Uri) -> Result<HttpAddress, HttpAddressError> {
        let mut parts = uri.into_parts();
        let authority = parts.authority.take().ok_or(HttpAddressError::NotAnAddress)?;
        let (userinfo, host) = match authority.as_str().rsplit_once('@') {
            Some((userinfo, host)) => (Some(userinfo), host),
            None => (None, authority.as_str()),
        };
        let authority: Authority = host.parse().map_err(|_| HttpAddressError::NotAnAddress)?;
        let scheme = parts.scheme.as_ref().map(http::uri::Scheme::as_str);
        if authority.host().is_empty() || !matches!(scheme, Some("http" | "https")) {
            return Err(HttpAddressError::NotAnAddress);
        }
        let authorization = userinfo.map(basic_authorization).transpose()?;
        parts.authority = Some(authority.clone());
        let uri = Uri::from_parts(parts).map_err(|_| HttpAddressError::NotAnAddress)?;
        Ok(HttpAddress { uri, authority, authorization })
    }

    /// The address without user name and password.
    pub(super) fn uri(&self) -> &Uri {
        &self.uri
    }

    pub(super) fn authority(&self) -> &str {
        self.authority.as_str()
    }

    pub(super) fn path_and_query(&self) -> &str {
        self.uri.path_and_query().map_or("/", |path| path.as_str())
    }

    pub(super) fn authorization(&self) -> Option<&HeaderValue> {
        self.authorization.as_ref()
    }

    pub fn is_encrypted(&self) -> bool {
        self.uri.scheme_str() == Some("https")
    }
}

/// Shows scheme and host only.
impl fmt::Display for HttpAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.uri.scheme_str().unwrap_or_default(), self.authority)
    }
}

impl fmt::Debug for HttpAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HttpAddress({self}, …)")
    }
}

/// Whether the host is this machine.
pub fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The `Authorization` header for `user:password`.
fn basic_authorization(userinfo: &str) -> Result<HeaderValue, HttpAddressError> {
    let (user, password) = userinfo.split_once(':').unwrap_or((userinfo, ""));
    let mut plain = percent_decoded(user).ok_or(HttpAddressError::NotAnAddress)?;
    plain.push(b':');
    plain.extend(percent_decoded(password).ok_or(HttpAddressError::NotAnAddress)?);
    let value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(plain)));
    let mut value = value.map_err(|_| HttpAddressError::NotAnAddress)?;
    value.set_sensitive(true);
    Ok(value)
}

fn percent_decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(after.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = after.get(2..)?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_scheme_and_host_of_an_address_are_shown() {
        let address =
            HttpAddress::parse("https://me:p%40ss@hooks.example.com:8443/services/T0/SECRET?key=SECRET2");
        let address = address.unwrap();
        let shown = format!("{address} {address:?} {:?}", address.authorization());
        assert!(shown.starts_with("https://hooks.example.com:8443 HttpAddress("), "{shown}");
        for secret in ["SECRET", "p@ss", "p%40ss", "me:"] {
            assert!(!shown.contains(secret), "{shown}");
        }
        assert_eq!(address.path_and_query(), "/services/T0/SECRET?key=SECRET2");
        assert_eq!(address.authority(), "hooks.example.com:8443");
        assert_eq!(address.authorization().unwrap(), "Basic bWU6cEBzcw==");
    }

    #[test]
    fn a_text_that_is_not_an_address_is_refused_and_not_repeated() {
        for text in [
            "",
            "hooks.example.com",
            "/x",
            "ftp://a.example",
            "https://",
            "https://a b",
            "https://u:%zz@a.example",
        ] {
            assert_eq!(HttpAddress::parse(text), Err(HttpAddressError::NotAnAddress), "{text}");
        }
        for text in ["http://a.example/x", "http://127.0.0.1.evil.com", "http://localhost@evil.com/"] {
            assert_eq!(HttpAddress::parse(text), Err(HttpAddressError::Unencrypted), "{text}");
        }
        for text in ["http://127.0.0.1:1/x", "http://localhost", "http://[::1]:8080/", "HTTPS://a.example"] {
            assert!(HttpAddress::parse(text).is_ok(), "{text}");
        }
    }
}
