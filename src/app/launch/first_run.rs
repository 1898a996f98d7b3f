//! The configuration that the first-run page suggests, and how it is written.

use crate::config::Config;
use crate::domain::snapshot::RepositoryName;
use crate::tui::startup::ConfigProposal;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Suggests to watch the checkout's repository or, outside a checkout, the person's own pull requests.
pub(super) fn proposal(path: &Path, repository: Option<&RepositoryName>) -> ConfigProposal {
    let watch = match repository {
        Some(repository) => format!(
            "# Watch every open pull request of this repository.\n\
             [[watch]]\n\
             repositories = [\"{repository}\"]\n"
        ),
        None => "# Watch your own pull requests in every repository.\n\
                 [[watch]]\n\
                 authors = [\"@me\"]\n"
            .to_owned(),
    };
    let drive = repository.map_or_else(|| "OWNER/REPO".to_owned(), ToString::to_string);
    let text = format!(
        "{watch}\n\
         # Cloture only watches until you switch this on. Then it also writes there.\n\
         #[[repositories]]\n\
         #name = \"{drive}\"\n\
         #drive = true\n"
    );
    ConfigProposal { path: path.display().to_string(), text }
}

/// Writes a new file, never over an old one, and returns the configuration in it.
pub(super) fn write(path: &Path, text: &str) -> Result<Config, String> {
    let config = Config::parse(path, text.as_bytes()).map_err(|error| error.to_string())?;
    let shown = path.display();
    write_new(path, text).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            format!("{shown} exists by now and was left as it is; start Cloture again to use it")
        }
        _ => format!("cannot write {shown}: {error}"),
    })?;
    Ok(config)
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
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
    let mut file = options.open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proposal_is_valid_and_only_watches() {
        let path = Path::new("/x/config.toml");
        let repository = RepositoryName::new("acme", "shop").unwrap();
        let here = Config::parse(path, proposal(path, Some(&repository)).text.as_bytes()).unwrap();
        assert_eq!(here.watch[0].repositories, std::slice::from_ref(&repository));
        assert!(!here.may_drive(&repository));
        let anywhere = Config::parse(path, proposal(path, None).text.as_bytes()).unwrap();
        assert_eq!(anywhere.watch[0].authors, ["@me"]);
        assert_eq!(anywhere.repositories, []);
        let switched_on =
            proposal(path, Some(&repository)).text.replace("\n#", "\n").replace("\n Cloture", "\n# Cloture");
        assert!(Config::parse(path, switched_on.as_bytes()).unwrap().may_drive(&repository), "{switched_on}");
    }

    #[test]
    fn an_existing_file_is_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/config.toml");
        let text = proposal(&path, None).text;
        assert_eq!(write(&path, &text).unwrap().watch.len(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(
                (mode(&path), mode(path.parent().unwrap())),
                (0o600, 0o700),
                "only the owner can read them"
            );
        }
        std::fs::write(&path, "# mine\n").unwrap();
        let refused = write(&path, &text).unwrap_err();
        assert!(refused.contains("left as it is"), "{refused}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "# mine\n");
    }
}
