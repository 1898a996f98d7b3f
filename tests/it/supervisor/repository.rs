//! The repository of [`Shop`](super::authors::Shop). Git makes it once, and every test gets a copy: the tests
//! that kill the supervisor at every point need hundreds of them.

use super::authors::git;
use crate::support::folder;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

/// The remote `acme/shop.git` with the branch `discount`, and a checkout of its head.
struct Template {
    /// Folders come before the files in them.
    entries: Vec<(PathBuf, Option<Vec<u8>>)>,
    /// Where it was made. The checkout names its remote by this path.
    made_in: String,
    head: String,
}

/// A copy of the repository, and the head of its branch.
pub(crate) fn copy() -> (TempDir, String) {
    static TEMPLATE: OnceLock<Template> = OnceLock::new();
    let template = TEMPLATE.get_or_init(make);
    let folder = folder::temporary();
    for (path, content) in &template.entries {
        let path = folder.path().join(path);
        match content {
            None => std::fs::create_dir(path).unwrap(),
            Some(content) => std::fs::write(path, content).unwrap(),
        }
    }
    let settings = folder.path().join("checkout/.git/config");
    let text = std::fs::read_to_string(&settings).unwrap();
    let text = text.replace(&template.made_in, folder.path().to_str().unwrap());
    std::fs::write(settings, text).unwrap();
    (folder, template.head.clone())
}

fn make() -> Template {
    let folder = folder::temporary();
    let remote = folder.path().join("acme/shop.git");
    std::fs::create_dir_all(&remote).unwrap();
    // Without the example hooks, which would be most of its files.
    git(&remote, &["init", "--quiet", "--bare", "--initial-branch=main", "--template="]);
    let checkout = folder.path().join("checkout");
    let (from, to) = (remote.to_str().unwrap(), checkout.to_str().unwrap());
    git(folder.path(), &["clone", "--quiet", "--template=", from, to]);
    git(&checkout, &["switch", "--quiet", "-c", "discount"]);
    std::fs::write(checkout.join("notes.txt"), "one\n").unwrap();
    git(&checkout, &["add", "notes.txt"]);
    git(&checkout, &["commit", "--quiet", "-m", "one"]);
    git(&checkout, &["push", "--quiet", "origin", "discount"]);
    let head = git(&checkout, &["rev-parse", "HEAD"]);
    git(&checkout, &["switch", "--quiet", "--detach"]);
    let mut entries = Vec::new();
    read(folder.path(), Path::new(""), &mut entries);
    Template { entries, made_in: folder.path().to_str().unwrap().to_owned(), head }
}

fn read(folder: &Path, below: &Path, entries: &mut Vec<(PathBuf, Option<Vec<u8>>)>) {
    for entry in std::fs::read_dir(folder.join(below)).unwrap() {
        let path = below.join(entry.unwrap().file_name());
        if folder.join(&path).is_dir() {
            entries.push((path.clone(), None));
            read(folder, &path, entries);
        } else {
            let content = std::fs::read(folder.join(&path)).unwrap();
            entries.push((path, Some(content)));
        }
    }
}
