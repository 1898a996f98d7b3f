//! Where Cloture looks for the configuration. The paths are data, so no test changes the environment.

use cloture::config::{Config, ConfigPaths, LoadedConfig};
use std::fs;
use std::path::PathBuf;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path
    }
}

fn message(paths: &ConfigPaths) -> String {
    Config::load(paths).unwrap_err().to_string()
}

#[test]
fn the_command_line_comes_first_then_the_variable_then_the_platform() {
    let folder = Folder::new();
    let explicit = Some(folder.file("explicit.toml", "policy.repeat_limit = 11"));
    let env = Some(folder.file("env.toml", "policy.repeat_limit = 12"));
    let default = Some(folder.file("default.toml", "policy.repeat_limit = 13"));
    for (paths, limit, source) in [
        (
            ConfigPaths { explicit: explicit.clone(), env: env.clone(), default: default.clone() },
            11,
            &explicit,
        ),
        (ConfigPaths { explicit: None, env: env.clone(), default: default.clone() }, 12, &env),
        (ConfigPaths { explicit: None, env: None, default: default.clone() }, 13, &default),
        (ConfigPaths { explicit: None, env: None, default: Some(folder.path("absent.toml")) }, 2, &None),
        (ConfigPaths::default(), 2, &None),
    ] {
        let LoadedConfig { config, source: read } = Config::load(&paths).unwrap();
        assert_eq!((config.policy.repeat_limit, &read), (limit, source));
    }
}

#[test]
fn a_named_file_must_exist() {
    let folder = Folder::new();
    let absent = folder.path("absent.toml");
    let fallback = Some(folder.file("default.toml", ""));
    assert_eq!(
        message(&ConfigPaths { explicit: Some(absent.clone()), env: None, default: fallback.clone() }),
        format!(
            "{}: this configuration file, which the command line names, does not exist",
            absent.display()
        )
    );
    assert_eq!(
        message(&ConfigPaths { explicit: None, env: Some(absent.clone()), default: fallback }),
        format!("{}: this configuration file, which CLOTURE_CONFIG names, does not exist", absent.display())
    );
}

#[test]
fn a_folder_is_refused() {
    let folder = Folder::new();
    let path = folder.0.path().to_owned();
    let expected =
        format!("{}: this is a folder, not a configuration file; name the file in it", path.display());
    assert_eq!(message(&ConfigPaths { explicit: Some(path.clone()), ..ConfigPaths::default() }), expected);
    assert_eq!(message(&ConfigPaths { default: Some(path), ..ConfigPaths::default() }), expected);
}

#[test]
fn an_unreadable_file_is_refused_with_the_reason() {
    let folder = Folder::new();
    let path = folder.file("file", "").join("config.toml");
    let refused = message(&ConfigPaths { explicit: Some(path.clone()), ..ConfigPaths::default() });
    let start = format!("{}: Cloture cannot read the configuration: ", path.display());
    assert!(refused.starts_with(&start) && refused.len() > start.len(), "{refused}");
}

#[test]
fn mistakes_are_shown_with_the_path_of_the_file() {
    let folder = Folder::new();
    let path = folder.file("config.toml", b"[policy]\nrepeat_limit = 1 # \xff\n");
    assert_eq!(
        message(&ConfigPaths { default: Some(path.clone()), ..ConfigPaths::default() }),
        format!(
            "{}:2:20: expected UTF-8 text, found the byte 0xff\n  |\n2 | repeat_limit = 1 # \u{fffd}\n  |                    ^",
            path.display()
        )
    );
}

#[test]
fn the_default_path_has_the_programs_name() {
    let paths = ConfigPaths::from_environment(Some("named.toml".into()));
    assert_eq!(paths.explicit, Some("named.toml".into()));
    if let Some(default) = paths.default {
        assert!(default.ends_with("cloture/config.toml"), "{}", default.display());
    }
}
