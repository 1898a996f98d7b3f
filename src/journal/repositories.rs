//! Which repository a name means (L13). The forge's id identifies a repository; its name is for people.
//!
//! The journal files everything about a repository under the first name that it knew, and that name never
//! changes: records, leases, snapshots and keys stay valid when the repository is renamed or transferred.
//! [`KnownRepositories`] leads from any name to that filing name and back.

use super::record::{PullRequestKey, Record};
use crate::domain::snapshot::{KnownNames, PullRequestSnapshot, RepositoryName};
use std::collections::BTreeMap;

/// Every repository whose id the journal knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownRepositories {
    repositories: Vec<KnownRepository>,
    /// By host and name: the filing name of the repository that answered last.
    names: BTreeMap<(String, RepositoryName), RepositoryName>,
}

/// One repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownRepository {
    pub host: String,
    pub filed_as: RepositoryName,
    /// The forge's id.
    pub node_id: String,
    /// The forge's present name.
    pub name: RepositoryName,
}

impl KnownRepositories {
    pub(super) fn new(
        repositories: Vec<KnownRepository>,
        names: BTreeMap<(String, RepositoryName), RepositoryName>,
    ) -> Self {
        Self { repositories, names }
    }

    /// The key of a pull request that somebody names. A name that the journal does not know is filed under
    /// itself.
    pub fn key_of(&self, host: &str, repository: &RepositoryName, number: u64) -> PullRequestKey {
        let filed_as = self.names.get(&(host.to_owned(), repository.clone())).unwrap_or(repository);
        PullRequestKey { host: host.to_owned(), repository: filed_as.clone(), number }
    }

    /// The key of a pull request that was read, and the repository's names for its snapshot. The id decides:
    /// a repository that took over another's former name is another one.
    pub fn recognise(&self, host: &str, snapshot: &mut PullRequestSnapshot) -> PullRequestKey {
        let filed_as = match self.with_id(host, &snapshot.repository_id) {
            Some(known) => known.filed_as.clone(),
            // A snapshot of an older version has no id.
            None if snapshot.repository_id.is_empty() => {
                self.key_of(host, &snapshot.repository, snapshot.number).repository
            }
            None => self.unused_name(host, &snapshot.repository),
        };
        let key = PullRequestKey { host: host.to_owned(), repository: filed_as, number: snapshot.number };
        let asked = std::mem::take(&mut snapshot.known_as.others);
        snapshot.known_as = self.names_of(&key, &snapshot.repository);
        let others = &mut snapshot.known_as.others;
        others.extend(asked.into_iter().filter(|name| !others.contains(name)).collect::<Vec<_>>());
        key
    }

    /// The repository's names besides its present one.
    pub fn names_of(&self, key: &PullRequestKey, present: &RepositoryName) -> KnownNames {
        let is_other = |(host, name): &(String, RepositoryName), filed_as: &RepositoryName| {
            *host == key.host && *filed_as == key.repository && name != present
        };
        let others = self.names.iter().filter(|(name, filed_as)| is_other(name, filed_as));
        let others = others.map(|((_, name), _)| name.clone()).collect();
        let is_spelled_so = key.repository.to_string() == present.to_string();
        KnownNames { filed_as: (!is_spelled_so).then(|| key.repository.clone()), others }
    }

    /// The pull request's address for people: with the forge's present name.
    pub fn present_name<'a>(&'a self, key: &'a PullRequestKey) -> &'a RepositoryName {
        self.filed(&key.host, &key.repository).map_or(&key.repository, |known| &known.name)
    }

    /// A record for people to read, with the forge's present name.
    #[must_use]
    pub fn shown(&self, mut record: Record) -> Record {
        if let Some(about) = &mut record.pull_request {
            about.repository = self.present_name(about).clone();
        }
        record
    }

    /// The filing name of a repository that somebody names without its host.
    pub fn filed_anywhere(&self, name: &RepositoryName) -> RepositoryName {
        let mut filed = self.names.iter().filter(|((_, known), _)| known == name).map(|(_, filed)| filed);
        match (filed.next(), filed.next()) {
            (Some(only), None) => only.clone(),
            _ => name.clone(),
        }
    }

    pub(super) fn with_id(&self, host: &str, node_id: &str) -> Option<&KnownRepository> {
        self.repositories.iter().find(|known| known.host == host && known.node_id == node_id)
    }

    pub(super) fn filed(&self, host: &str, filed_as: &RepositoryName) -> Option<&KnownRepository> {
        self.repositories.iter().find(|known| known.host == host && known.filed_as == *filed_as)
    }

    pub(super) fn is_known_as(&self, host: &str, name: &RepositoryName, filed_as: &RepositoryName) -> bool {
        self.names.get(&(host.to_owned(), name.clone())) == Some(filed_as)
    }

    /// This name, or with a number behind it if another repository is filed under it.
    pub(super) fn unused_name(&self, host: &str, name: &RepositoryName) -> RepositoryName {
        let numbered = (2..u32::MAX).filter_map(|number| {
            let start: String = name.name().chars().take(LONGEST_START).collect();
            RepositoryName::new(name.owner(), &format!("{start}.{number}"))
        });
        let mut candidates = std::iter::once(name.clone()).chain(numbered);
        candidates.find(|name| self.filed(host, name).is_none()).unwrap_or_else(|| name.clone())
    }
}

/// A repository's name has at most 100 characters, and the number needs some.
const LONGEST_START: usize = 88;

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> RepositoryName {
        RepositoryName::parse(text).unwrap()
    }

    fn known() -> KnownRepositories {
        let host = "github.com".to_owned();
        let repository = KnownRepository {
            host: host.clone(),
            filed_as: name("Acme/shop"),
            node_id: "R_1".to_owned(),
            name: name("acme/store"),
        };
        let names = ["acme/shop", "acme/store"];
        let names = names.map(|one| ((host.clone(), name(one)), name("Acme/shop")));
        KnownRepositories::new(vec![repository], names.into_iter().collect())
    }

    #[test]
    fn l13_every_name_of_a_repository_leads_to_one_key_in_one_spelling() {
        for named in ["ACME/Shop", "acme/shop", "acme/STORE"] {
            let key = known().key_of("github.com", &name(named), 7);
            assert_eq!(key.to_string(), "Acme/shop#7", "{named}");
            assert_eq!(known().present_name(&key).to_string(), "acme/store", "{named}");
        }
        assert_eq!(known().key_of("github.com", &name("acme/desk"), 7).to_string(), "acme/desk#7");
        assert_eq!(known().key_of("elsewhere", &name("acme/store"), 7).to_string(), "acme/store#7");
    }

    #[test]
    fn l13_a_taken_name_is_not_used_for_another_repository() {
        assert_eq!(known().unused_name("github.com", &name("acme/shop")), name("acme/shop.2"));
        assert_eq!(known().unused_name("elsewhere", &name("acme/shop")), name("acme/shop"));
        let longest = name(&format!("acme/{}", "s".repeat(100)));
        assert_eq!(known().unused_name("github.com", &longest), longest);
    }
}
