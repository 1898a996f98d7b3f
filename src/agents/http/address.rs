//! Where a request goes. An address may carry a password, and its path is often a secret by itself, so that only scheme
//! and host of it are ever shown.

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

/// Why a text is no address. It does not repeat the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpAddressError {
    #[error("something that is no web address")]
    NotAnAddress,
    #[error("an address that would be asked unencrypted")]
    Unencrypted,
}

impl HttpAddress {
    /// An address that is only ever asked encrypted, unless it is this machine's own.
    pub fn parse(text: &str) -> Result<HttpAddress, HttpAddressError> {
        let address = Self::of(text.parse().map_err(|_| HttpAddressError::NotAnAddress)?)?;
        if address.is_encrypted() || is_loopback(address.authority.host()) {
            Ok(address)
        } else {
            Err(HttpAddressError::Unencrypted)
        }
    }

    /// An address, encrypted or not: whoever takes one that is not has decided that nothing secret goes there.
    pub fn of(uri: Uri) -> Result<HttpAddress, HttpAddressError> {
        let mut parts = uri.into_parts();
        let whole = parts.authority.take().ok_or(HttpAddressError::NotAnAddress)?;
        let (userinfo, place) = match whole.as_str().rsplit_once('@') {
            Some((userinfo, place)) => (Some(userinfo), place),
            None => (None, whole.as_str()),
        };
        let authority: Authority = place.parse().map_err(|_| HttpAddressError::NotAnAddress)?;
        let scheme = parts.scheme.as_ref().map(http::uri::Scheme::as_str);
        if authority.host().is_empty() || !matches!(scheme, Some("http" | "https")) {
            return Err(HttpAddressError::NotAnAddress);
        }
        let authorization = userinfo.map(basic).transpose()?;
        parts.authority = Some(authority.clone());
        let uri = Uri::from_parts(parts).map_err(|_| HttpAddressError::NotAnAddress)?;
        Ok(HttpAddress { uri, authority, authorization })
    }

    /// Without user name and password.
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

/// Scheme and host only.
impl fmt::Display for HttpAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.uri.scheme_str().unwrap_or_default(), self.authority)
    }
}

impl fmt::Debug for HttpAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self}, …)")
    }
}

/// Whether nothing sent to this host leaves this machine.
pub fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// `user:password` as the header that carries them.
fn basic(userinfo: &str) -> Result<HeaderValue, HttpAddressError> {
    let (user, password) = userinfo.split_once(':').unwrap_or((userinfo, ""));
    let mut plain = decoded(user).ok_or(HttpAddressError::NotAnAddress)?;
    plain.push(b':');
    plain.extend(decoded(password).ok_or(HttpAddressError::NotAnAddress)?);
    let value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(plain)));
    let mut value = value.map_err(|_| HttpAddressError::NotAnAddress)?;
    value.set_sensitive(true);
    Ok(value)
}

/// Undoes percent-encoding.
fn decoded(text: &str) -> Option<Vec<u8>> {
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
    fn only_the_host_of_an_address_is_ever_shown() {
        let address =
            HttpAddress::parse("https://me:p%40ss@hooks.example.com:8443/services/T0/SECRET?key=SECRET2");
        let address = address.unwrap();
        let shown = format!("{address} {address:?} {:?}", address.authorization());
        assert!(shown.starts_with("https://hooks.example.com:8443 Address("), "{shown}");
        for secret in ["SECRET", "p@ss", "p%40ss", "me:"] {
            assert!(!shown.contains(secret), "{shown}");
        }
        assert_eq!(address.path_and_query(), "/services/T0/SECRET?key=SECRET2");
        assert_eq!(address.authority(), "hooks.example.com:8443");
        assert_eq!(address.authorization().unwrap(), "Basic bWU6cEBzcw==");
    }

    #[test]
    fn what_is_no_address_is_refused_without_being_repeated() {
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
