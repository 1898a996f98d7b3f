//! Which variables a program sees.

use std::collections::BTreeMap;
use std::ffi::OsString;

/// What every program may see: where programs, settings and temporary files are, who runs it, and how to speak to a
/// person. None of these carries a secret (S2).
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

/// The variables of a program: the ordinary ones of this process, those that somebody named, and those that are set for
/// it. Nothing else is handed on, tokens least of all.
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

    /// Hands on what this process has under these names, where it has something.
    #[must_use]
    pub fn passing<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Environment {
        self.passed.extend(names.into_iter().map(Into::into));
        self
    }

    /// Sets a variable, whatever this process has under that name.
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
