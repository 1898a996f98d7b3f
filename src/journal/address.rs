//! The place of the journal: a file, or a server that several machines share.

use sqlx::any::AnyConnectOptions;
use std::fmt::{self, Write};
use std::path::{Path, PathBuf};

/// The journal's address. Neither `Display` nor `Debug` shows a password.
#[derive(Clone, PartialEq, Eq)]
pub struct JournalAddress(JournalPlace);

#[derive(Clone, PartialEq, Eq)]
enum JournalPlace {
    File(PathBuf),
    Server {
        url: String,
        /// The address without the password, for people.
        shown: String,
        /// The password in its spellings, to remove it from the driver's messages.
        passwords: Vec<String>,
    },
}

/// Why a text is not the address of a server. It does not quote the text, which may contain a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JournalAddressError {
    #[error("a text that does not begin with postgres://")]
    Scheme,
    #[error("an address that cannot be read")]
    Malformed,
    #[error("an address that names no host")]
    NoHost,
    #[error("an address that names no database")]
    NoDatabase,
}

impl JournalAddress {
    /// The name of the file in the state folder.
    pub const FILE_NAME: &str = "journal.db";

    pub fn file(path: impl Into<PathBuf>) -> JournalAddress {
        JournalAddress(JournalPlace::File(path.into()))
    }

    /// `postgres://USER:PASSWORD@HOST:PORT/DATABASE?…`
    pub fn server(url: &str) -> Result<JournalAddress, JournalAddressError> {
        if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
            return Err(JournalAddressError::Scheme);
        }
        let parsed =
            url.parse::<AnyConnectOptions>().map_err(|_| JournalAddressError::Malformed)?.database_url;
        let parameter = |name: &str| {
            let mut pairs = parsed.query_pairs();
            pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
        };
        let host = parsed.host_str().filter(|host| !host.is_empty()).map(ToOwned::to_owned);
        let host = host.or_else(|| parameter("host")).ok_or(JournalAddressError::NoHost)?;
        let path = parsed.path().trim_start_matches('/').to_owned();
        let database = Some(path).filter(|path| !path.is_empty()).or_else(|| parameter("dbname"));
        let database = database.ok_or(JournalAddressError::NoDatabase)?;
        let port = parsed.port().map_or_else(String::new, |port| format!(":{port}"));
        let mut passwords: Vec<String> = parsed.password().map(ToOwned::to_owned).into_iter().collect();
        passwords.extend(passwords.first().and_then(|password| decoded(password)));
        passwords.extend(parameter("password"));
        let user = match parsed.username() {
            "" => String::new(),
            user => format!("{user}@"),
        };
        let shown = format!("postgres://{user}{host}{port}/{database}");
        Ok(JournalAddress(JournalPlace::Server { url: url.to_owned(), shown, passwords }))
    }

    /// The password in its spellings, if the journal is on a server.
    pub(crate) fn passwords(&self) -> &[String] {
        match &self.0 {
            JournalPlace::File(_) => &[],
            JournalPlace::Server { passwords, .. } => passwords,
        }
    }

    /// The path, if the journal is a file.
    pub fn path(&self) -> Option<&Path> {
        match &self.0 {
            JournalPlace::File(path) => Some(path),
            JournalPlace::Server { .. } => None,
        }
    }

    /// The URL for the driver. Every byte of a path that has a meaning in a URL is escaped. None if the path
    /// is not UTF-8.
    pub(super) fn url(&self) -> Option<String> {
        match &self.0 {
            JournalPlace::Server { url, .. } => Some(url.clone()),
            JournalPlace::File(path) => {
                let mut url = String::from("sqlite://");
                for byte in path.to_str()?.bytes() {
                    if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_') {
                        url.push(char::from(byte));
                    } else {
                        // Writing to a string does not fail.
                        let _ = write!(url, "%{byte:02X}");
                    }
                }
                Some(url + "?mode=rw")
            }
        }
    }

    /// A message of the driver with the password removed.
    pub(super) fn without_secrets(&self, text: &str) -> String {
        let passwords = match &self.0 {
            JournalPlace::File(_) => [].as_slice(),
            JournalPlace::Server { passwords, .. } => passwords,
        };
        let passwords = passwords.iter().filter(|password| password.len() > 2);
        passwords.fold(text.to_owned(), |text, password| text.replace(password, "•••"))
    }
}

/// A password as the server sees it; an error would quote it in this spelling.
fn decoded(password: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = password.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

impl fmt::Display for JournalAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            JournalPlace::File(path) => path.display().fmt(f),
            JournalPlace::Server { shown, .. } => f.write_str(shown),
        }
    }
}

impl fmt::Debug for JournalAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JournalAddress({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        for url in [
            "postgres://cloture:s3cr%65t@db.example.com:5433/reviews?sslmode=require",
            "postgresql://cloture@db.example.com:5433/reviews?password=s3cret",
        ] {
            let address = JournalAddress::server(url).unwrap();
            assert_eq!(address.to_string(), "postgres://cloture@db.example.com:5433/reviews");
            assert!(!format!("{address:?}").contains("s3cr"), "{address:?}");
            assert_eq!(address.without_secrets("bad password s3cret"), "bad password •••");
        }
        for (wrong, why) in [
            ("mysql://a:s3cret@b/c", JournalAddressError::Scheme),
            ("postgres://a:s3cret@b:port/c", JournalAddressError::Malformed),
            ("postgres://", JournalAddressError::NoHost),
            ("postgres://a:s3cret@b", JournalAddressError::NoDatabase),
        ] {
            assert_eq!(JournalAddress::server(wrong), Err(why.clone()));
            assert!(!why.to_string().contains("s3cret"));
        }
    }

    #[test]
    fn a_path_with_special_characters_reaches_the_driver_unchanged() {
        let url = JournalAddress::file("/a b/50%41?x#ü.db").url();
        assert_eq!(url.as_deref(), Some("sqlite:///a%20b/50%2541%3Fx%23%C3%BC%2Edb?mode=rw"));
    }
}
