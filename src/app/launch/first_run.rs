//! The configuration that is proposed to whoever has none, and how it is written.

use crate::config::Config;
use crate::domain::snapshot::RepositoryName;
use crate::tui::startup::ConfigProposal;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// What would be written: the repository here, or, elsewhere, what is the person's own.
pub(super) fn proposal(place: &Path, repository: Option<&RepositoryName>) -> ConfigProposal {
    let watch = match repository {
        Some(repository) => format!(
            "# Every open pull request of this repository is watched.\n\
             [[watch]]\n\
             repositories = [\"{repository}\"]\n"
        ),
        None => "# Your own pull requests are watched, wherever they are.\n\
                 [[watch]]\n\
                 authors = [\"@me\"]\n"
            .to_owned(),
    };
    let drive = repository.map_or_else(|| "OWNER/REPO".to_owned(), ToString::to_string);
    let text = format!(
        "{watch}\n\
         # Only watched: nothing is written there until this is switched on.\n\
         #[[repositories]]\n\
         #name = \"{drive}\"\n\
         #drive = true\n"
    );
    ConfigProposal { path: place.display().to_string(), text }
}

/// Writes a new file, and never over an old one. Returns what it says.
pub(super) fn write(place: &Path, text: &str) -> Result<Config, String> {
    let config = Config::parse(place, text.as_bytes()).map_err(|error| error.to_string())?;
    let shown = place.display();
    written(place, text).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            format!("{shown} is there by now and was left as it is; start again to use it")
        }
        _ => format!("{shown} cannot be written: {error}"),
    })?;
    Ok(config)
}

fn written(place: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = place.parent() {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(place)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_proposed_is_valid_and_only_watches() {
        let place = Path::new("/x/config.toml");
        let repository = RepositoryName::new("acme", "shop").unwrap();
        let here = Config::parse(place, proposal(place, Some(&repository)).text.as_bytes()).unwrap();
        assert_eq!(here.watch[0].repositories, std::slice::from_ref(&repository));
        assert!(!here.may_drive(&repository));
        let anywhere = Config::parse(place, proposal(place, None).text.as_bytes()).unwrap();
        assert_eq!(anywhere.watch[0].authors, ["@me"]);
        assert_eq!(anywhere.repositories, []);
        let switched_on =
            proposal(place, Some(&repository)).text.replace("\n#", "\n").replace("\n Only", "\n# Only");
        assert!(
            Config::parse(place, switched_on.as_bytes()).unwrap().may_drive(&repository),
            "{switched_on}"
        );
    }

    #[test]
    fn what_is_there_is_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("a/b/config.toml");
        let text = proposal(&place, None).text;
        assert_eq!(write(&place, &text).unwrap().watch.len(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(
                (mode(&place), mode(place.parent().unwrap())),
                (0o600, 0o700),
                "nobody else's to read"
            );
        }
        std::fs::write(&place, "# mine\n").unwrap();
        let refused = write(&place, &text).unwrap_err();
        assert!(refused.contains("left as it is"), "{refused}");
        assert_eq!(std::fs::read_to_string(&place).unwrap(), "# mine\n");
    }
}
