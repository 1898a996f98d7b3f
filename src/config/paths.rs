//! Where the configuration is looked for, and reading it from there.

use super::{Config, ConfigError};
use directories::BaseDirs;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Where a configuration may be, first come first served. As data, so that only one function asks the
/// environment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConfigPaths {
    /// What the command line names. It must be there.
    pub explicit: Option<PathBuf>,
    /// What `CLOTURE_CONFIG` names. It must be there.
    pub env: Option<PathBuf>,
    /// The platform's own place. Where nothing is there, the defaults are in force.
    pub default: Option<PathBuf>,
}

/// The variable that names a configuration file.
const VARIABLE: &str = "CLOTURE_CONFIG";

impl ConfigPaths {
    /// The places of this process. An empty variable counts as none, as shells have no easier way to take one
    /// back.
    pub fn from_environment(explicit: Option<PathBuf>) -> ConfigPaths {
        ConfigPaths {
            explicit,
            env: env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from),
            default: BaseDirs::new().map(|base| base.config_dir().join("cloture").join("config.toml")),
        }
    }
}

/// A configuration and where it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedConfig {
    pub config: Config,
    /// None where no file was found and the defaults are in force.
    pub source: Option<PathBuf>,
}

/// Reads the first place that applies. A file that somebody named and that is not there is an error: to run
/// with the defaults instead would be to run without the limits that were asked for.
pub(super) fn load(places: &ConfigPaths) -> Result<LoadedConfig, ConfigError> {
    let named = [(&places.explicit, "the command line"), (&places.env, VARIABLE)];
    for (file, named_by) in named {
        if let Some(file) = file {
            let missing = || ConfigError::Missing { file: file.clone(), named_by };
            let config = read(file)?.ok_or_else(missing)?;
            return Ok(LoadedConfig { config, source: Some(file.clone()) });
        }
    }
    if let Some(file) = &places.default
        && let Some(config) = read(file)?
    {
        return Ok(LoadedConfig { config, source: Some(file.clone()) });
    }
    Ok(LoadedConfig { config: Config::default(), source: None })
}

/// None where there is no such file.
fn read(file: &Path) -> Result<Option<Config>, ConfigError> {
    match fs::read(file) {
        Ok(content) => Config::parse(file, &content).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        // Not every platform has its own kind of error for this.
        Err(_) if file.is_dir() => Err(ConfigError::Folder { file: file.to_owned() }),
        Err(reason) => Err(ConfigError::Unreadable { file: file.to_owned(), reason }),
    }
}

/// Where the platform wants state to be kept between runs; none where no home folder is known.
pub fn state_folder() -> Option<PathBuf> {
    let base = BaseDirs::new()?;
    Some(base.state_dir().unwrap_or_else(|| base.data_local_dir()).join("cloture"))
}
