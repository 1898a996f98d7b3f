//! Commits: their file trees, and their names.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{AccountId, Commit, Oid, RepositoryId, Tree, World, WorldRefusal};

/// A push's changes to the files.
#[derive(Debug, Clone, Default)]
pub(crate) struct TreeEdit {
    pub(crate) write: BTreeMap<String, String>,
    /// (path, text to find, replacement)
    pub(crate) replace: Vec<(String, String, String)>,
    pub(crate) delete: Vec<String>,
    pub(crate) rename: BTreeMap<String, String>,
    /// The commit's name when the commit also exists in a real checkout.
    pub(crate) sha: Option<String>,
}

impl World {
    /// Records a commit. Without a given name, its contents make the name, so a scenario has the same commits in
    /// every run.
    pub(crate) fn add_commit(
        &mut self,
        repository: RepositoryId,
        parents: Vec<Oid>,
        tree: Tree,
        author: AccountId,
        message: &str,
        sha: Option<&str>,
    ) -> Oid {
        let oid = sha.map_or_else(|| self.name_commit(&parents, &tree, message), Arc::from);
        let commit = Commit {
            oid: oid.clone(),
            repository,
            parents,
            tree: Arc::new(tree),
            author,
            message: message.to_owned(),
            at: self.now,
            checks: Vec::new(),
        };
        self.commits.insert(oid.clone(), commit);
        oid
    }

    fn name_commit(&self, parents: &[Oid], tree: &Tree, message: &str) -> Oid {
        let mut words = [0xcbf2_9ce4_8422_2325_u64, 0x9ae1_6a3b_2f90_404f, 0xc2b2_ae3d_27d4_eb4f];
        let mut feed = |bytes: &[u8]| {
            for byte in bytes.iter().chain(&[0]) {
                for word in &mut words {
                    *word = (*word ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(5);
                }
            }
        };
        feed(&self.commits.len().to_le_bytes());
        feed(message.as_bytes());
        for parent in parents {
            feed(parent.as_bytes());
        }
        for (path, contents) in tree {
            feed(path.as_bytes());
            feed(contents.as_bytes());
        }
        let [first, second, third] = words;
        let mut name = format!("{first:016x}{second:016x}{third:016x}");
        name.truncate(40);
        Arc::from(name)
    }

    pub(super) fn edited_tree(&self, from: &Oid, edit: &TreeEdit) -> Result<Tree, WorldRefusal> {
        let mut tree = (*self.tree(from)).clone();
        for (old, new) in &edit.rename {
            let contents = tree.remove(old).ok_or_else(|| no_file(old))?;
            tree.insert(new.clone(), contents);
        }
        for (path, contents) in &edit.write {
            tree.insert(path.clone(), Arc::from(contents.as_str()));
        }
        for (path, find, with) in &edit.replace {
            let contents = tree.get(path).ok_or_else(|| no_file(path))?;
            if !contents.contains(find.as_str()) {
                return Err(WorldRefusal::Unprocessable(format!(
                    "{path} does not contain `{find}`, which a push was to replace"
                )));
            }
            let replaced = contents.replacen(find.as_str(), with, 1);
            tree.insert(path.clone(), Arc::from(replaced));
        }
        for path in &edit.delete {
            tree.remove(path).ok_or_else(|| no_file(path))?;
        }
        Ok(tree)
    }
}

fn no_file(path: &str) -> WorldRefusal {
    WorldRefusal::Unprocessable(format!("there is no file `{path}`"))
}
