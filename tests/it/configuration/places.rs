//! Where the configuration is looked for. The environment is never touched: places are data.

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

fn message(places: &ConfigPaths) -> String {
    Config::load(places).unwrap_err().to_string()
}

#[test]
fn the_command_line_comes_first_then_the_variable_then_the_platform() {
    let folder = Folder::new();
    let explicit = Some(folder.file("explicit.toml", "policy.repeat_limit = 11"));
    let env = Some(folder.file("env.toml", "policy.repeat_limit = 12"));
    let default = Some(folder.file("default.toml", "policy.repeat_limit = 13"));
    for (places, limit, source) in [
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
        let LoadedConfig { config, source: read } = Config::load(&places).unwrap();
        assert_eq!((config.policy.repeat_limit, &read), (limit, source));
    }
}

#[test]
fn a_file_that_somebody_named_must_be_there() {
    let folder = Folder::new();
    let absent = folder.path("absent.toml");
    let fallback = Some(folder.file("default.toml", ""));
    assert_eq!(
        message(&ConfigPaths { explicit: Some(absent.clone()), env: None, default: fallback.clone() }),
        format!(
            "{}: there is no such file, but the command line names it as the configuration",
            absent.display()
        )
    );
    assert_eq!(
        message(&ConfigPaths { explicit: None, env: Some(absent.clone()), default: fallback }),
        format!(
            "{}: there is no such file, but CLOTURE_CONFIG names it as the configuration",
            absent.display()
        )
    );
}

#[test]
fn a_folder_is_not_a_file_wherever_it_was_named() {
    let folder = Folder::new();
    let path = folder.0.path().to_owned();
    let expected = format!("{}: this is a folder, not a configuration file", path.display());
    assert_eq!(message(&ConfigPaths { explicit: Some(path.clone()), ..ConfigPaths::default() }), expected);
    assert_eq!(message(&ConfigPaths { default: Some(path), ..ConfigPaths::default() }), expected);
}

#[test]
fn a_file_that_cannot_be_read_says_why() {
    let folder = Folder::new();
    let path = folder.file("file", "").join("config.toml");
    let refused = message(&ConfigPaths { explicit: Some(path.clone()), ..ConfigPaths::default() });
    let start = format!("{}: the configuration cannot be read: ", path.display());
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
fn the_platforms_place_is_named_after_the_program() {
    let places = ConfigPaths::from_environment(Some("named.toml".into()));
    assert_eq!(places.explicit, Some("named.toml".into()));
    if let Some(default) = places.default {
        assert!(default.ends_with("cloture/config.toml"), "{}", default.display());
    }
}
