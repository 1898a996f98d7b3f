//! The surroundings of a coding agent that reviews: an empty home folder with nothing but the sign-in files, and
//! an empty folder to work in.
//!
//! The agent's prompt has hostile text in it. Its tools are switched off, so that the model has nothing to read
//! files with. If that fails, `HOME` and the agent's own variables lead nowhere either. This is no sandbox: the
//! program itself can still open any path that the user can.

use super::ReviewerAgent;
use crate::agents::process::Environment;
use std::path::{Path, PathBuf};
use std::{env, fs, io};
use tempfile::TempDir;

/// Where a kind of agent keeps its settings.
pub(super) struct AgentFolder {
    /// Below the home folder.
    pub(super) name: &'static str,
    /// The variable that names another folder.
    pub(super) variable: &'static str,
    /// The file in that folder by which the agent signs in.
    pub(super) sign_in: &'static str,
}

pub(super) struct Confinement {
    folder: TempDir,
    environment: Environment,
}

impl Confinement {
    pub(super) fn of(agent: &ReviewerAgent, settings: &AgentFolder) -> Result<Confinement, String> {
        let failed = |error: io::Error| {
            format!(
                "Cloture cannot create a temporary folder to run the agent in ({error}); is the disk full?"
            )
        };
        let folder = tempfile::Builder::new().prefix("cloture-review-").tempdir().map_err(failed)?;
        let home = folder.path().join("home");
        let own = home.join(settings.name);
        for place in [&own, &folder.path().join(WORK), &folder.path().join(TEMPORARY)] {
            fs::create_dir_all(place).map_err(failed)?;
        }
        for file in sign_in_files(agent, settings) {
            let name = file.file_name().unwrap_or_default();
            link(&file, &own.join(name)).map_err(|error| {
                format!("the sign-in file {} cannot be used: {error}; correct `sign_in`", file.display())
            })?;
        }
        let mut environment = agent.program.environment().with(settings.variable, &own);
        for name in ["HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"] {
            environment = environment.with(name, &home);
        }
        for (name, place) in [
            ("XDG_CONFIG_HOME", ".config"),
            ("XDG_DATA_HOME", ".local/share"),
            ("XDG_STATE_HOME", ".local/state"),
            ("XDG_CACHE_HOME", ".cache"),
            ("XDG_RUNTIME_DIR", ".run"),
        ] {
            environment = environment.with(name, home.join(place));
        }
        for name in ["TMPDIR", "TMP", "TEMP"] {
            environment = environment.with(name, folder.path().join(TEMPORARY));
        }
        Ok(Confinement { folder, environment })
    }

    /// The empty folder to run in.
    pub(super) fn work(&self) -> PathBuf {
        self.folder.path().join(WORK)
    }

    /// A path for a file that the agent's arguments name. It is not in the folder that the agent runs in.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn environment(&self) -> &Environment {
        &self.environment
    }
}

const WORK: &str = "work";
const TEMPORARY: &str = "tmp";

/// The files that the configuration names, or the agent's usual one if it is there.
pub(super) fn sign_in_files(agent: &ReviewerAgent, settings: &AgentFolder) -> Vec<PathBuf> {
    let home = || env::var_os("HOME").or_else(|| env::var_os("USERPROFILE")).map(PathBuf::from);
    let Some(files) = &agent.sign_in else {
        let folder = env::var_os(settings.variable).map(PathBuf::from);
        let folder = folder.or_else(|| Some(home()?.join(settings.name)));
        let file = folder.map(|folder| folder.join(settings.sign_in));
        return file.into_iter().filter(|file| file.is_file()).collect();
    };
    let place = |file: &PathBuf| match (file.strip_prefix("~"), home()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => file.clone(),
    };
    files.iter().map(place).collect()
}

/// A link, because agents renew their sign-in now and then: a copy would keep the new one and lose it.
#[cfg(unix)]
fn link(file: &Path, place: &Path) -> io::Result<()> {
    let file = fs::canonicalize(file)?;
    std::os::unix::fs::symlink(file, place)
}

#[cfg(not(unix))]
fn link(file: &Path, place: &Path) -> io::Result<()> {
    fs::copy(file, place).map(|_| ())
}
