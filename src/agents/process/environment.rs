//! The environment variables of a program.

use std::collections::BTreeMap;
use std::ffi::OsString;

/// Variables that every program gets: paths, user, locale and terminal. None of them is a secret (S2).
const ORDINARY: [&str; 22] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TERM",
    "TZ",
    "TMPDIR",
    "TMP",
    "TEMP",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "SYSTEMROOT",
];

/// The variables of a program: the ordinary ones, those named in the configuration, and those that Cloture
/// sets. A program gets no others, so it gets no tokens.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Environment {
    passed: Vec<String>,
    set: BTreeMap<String, OsString>,
}

impl Environment {
    /// The ordinary variables only.
    pub fn ordinary() -> Environment {
        Environment::default()
    }

    /// Passes on the variables of this process with these names, if they are set.
    #[must_use]
    pub fn passing<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Environment {
        self.passed.extend(names.into_iter().map(Into::into));
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<OsString>) -> Environment {
        self.set.insert(name.to_owned(), value.into());
        self
    }

    pub(super) fn resolved(&self) -> BTreeMap<String, OsString> {
        let names = ORDINARY.iter().copied().chain(self.passed.iter().map(String::as_str));
        let mut variables: BTreeMap<String, OsString> =
            names.filter_map(|name| Some((name.to_owned(), std::env::var_os(name)?))).collect();
        variables.extend(self.set.clone());
        variables
    }
}
