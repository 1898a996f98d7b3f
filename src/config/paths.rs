//! Finds the configuration file and reads it.

use super::{Config, ConfigError};
use crate::agents::bounded_file;
use directories::BaseDirs;
use std::path::{Path, PathBuf};
use std::{env, io};

/// The paths of the configuration file, in the order of priority. Only [`ConfigPaths::from_environment`]
/// reads the environment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConfigPaths {
    /// From the command line. The file must exist.
    pub explicit: Option<PathBuf>,
    /// From `CLOTURE_CONFIG`. The file must exist.
    pub env: Option<PathBuf>,
    /// The platform's default. If there is no file, Cloture uses the default values.
    pub default: Option<PathBuf>,
}

/// Hundreds of times the example with every key. A larger file is another file.
const LARGEST: usize = 4 * 1024 * 1024;

const VARIABLE: &str = "CLOTURE_CONFIG";

impl ConfigPaths {
    /// The paths of this process. An empty variable counts as unset.
    pub fn from_environment(explicit: Option<PathBuf>) -> ConfigPaths {
        ConfigPaths {
            explicit,
            env: env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from),
            default: BaseDirs::new().map(|base| base.config_dir().join("cloture").join("config.toml")),
        }
    }
}

/// A configuration and its file.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedConfig {
    pub config: Config,
    /// None: there is no file, and the values are the defaults.
    pub source: Option<PathBuf>,
}

/// Reads the first file. A missing file that the user named is an error, because the defaults lack the user's
/// limits.
pub(super) fn load(paths: &ConfigPaths) -> Result<LoadedConfig, ConfigError> {
    let named = [(&paths.explicit, "the command line"), (&paths.env, VARIABLE)];
    for (file, named_by) in named {
        if let Some(file) = file {
            let missing = || ConfigError::Missing { file: file.clone(), named_by };
            let config = read(file)?.ok_or_else(missing)?;
            return Ok(LoadedConfig { config, source: Some(file.clone()) });
        }
    }
    if let Some(file) = &paths.default
        && let Some(config) = read(file)?
    {
        return Ok(LoadedConfig { config, source: Some(file.clone()) });
    }
    Ok(LoadedConfig { config: Config::default(), source: None })
}

/// None: there is no such file.
fn read(file: &Path) -> Result<Option<Config>, ConfigError> {
    match bounded_file::read(file, LARGEST) {
        Ok(content) => Config::parse(file, &content).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        // Platforms differ in the error for a folder.
        Err(_) if file.is_dir() => Err(ConfigError::Folder { file: file.to_owned() }),
        Err(reason) => Err(ConfigError::Unreadable { file: file.to_owned(), reason }),
    }
}

/// The platform's folder for state. None: there is no home folder.
pub fn state_folder() -> Option<PathBuf> {
    let base = BaseDirs::new()?;
    Some(base.state_dir().unwrap_or_else(|| base.data_local_dir()).join("cloture"))
}
