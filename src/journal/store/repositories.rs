//! The statements for repositories and their names.

use super::{Store, StoreRequest, commit};
use crate::domain::snapshot::RepositoryName;
use crate::journal::error::StorageFault;
use crate::journal::repositories::{KnownRepositories, KnownRepository};
use sqlx::Row;
use std::collections::BTreeMap;

/// Loads every known repository with its names.
#[derive(Debug)]
pub(in crate::journal) struct LoadRepositories;

impl StoreRequest for LoadRepositories {
    type Answer = KnownRepositories;
    const CHANGES: bool = false;

    async fn perform(&self, store: &mut Store) -> Result<KnownRepositories, StorageFault> {
        let rows =
            sqlx::query("SELECT host, filed_as, node_id, name FROM repositories ORDER BY host, filed_as")
                .fetch_all(&mut store.connection)
                .await?;
        let mut repositories = Vec::with_capacity(rows.len());
        for row in rows {
            repositories.push(KnownRepository {
                host: row.try_get(0)?,
                filed_as: parsed(row.try_get(1)?)?,
                node_id: row.try_get(2)?,
                name: parsed(row.try_get(3)?)?,
            });
        }
        let rows = sqlx::query("SELECT host, name, filed_as FROM repository_names")
            .fetch_all(&mut store.connection)
            .await?;
        let mut names = BTreeMap::new();
        for row in rows {
            names.insert((row.try_get(0)?, parsed(row.try_get(1)?)?), parsed(row.try_get(2)?)?);
        }
        Ok(KnownRepositories::new(repositories, names))
    }
}

fn parsed(name: String) -> Result<RepositoryName, sqlx::Error> {
    RepositoryName::try_from(name).map_err(|error| sqlx::Error::Decode(error.into()))
}

/// Stores a repository's id and present name, and gives it these names. If another instance has filed it at
/// the same moment, that filing stays.
#[derive(Debug)]
pub(in crate::journal) struct LearnRepository {
    pub(in crate::journal) repository: KnownRepository,
    pub(in crate::journal) names: Vec<RepositoryName>,
}

impl StoreRequest for LearnRepository {
    type Answer = ();
    const CHANGES: bool = true;

    async fn perform(&self, store: &mut Store) -> Result<(), StorageFault> {
        let KnownRepository { host, filed_as, node_id, name } = &self.repository;
        let mut transaction = store.begin().await?;
        sqlx::query(
            "INSERT INTO repositories (host, filed_as, node_id, name) VALUES ($1, $2, $3, $4) \
             ON CONFLICT DO NOTHING",
        )
        .bind(host.clone())
        .bind(filed_as.to_string())
        .bind(node_id.clone())
        .bind(name.to_string())
        .execute(&mut *transaction)
        .await?;
        let filed_as: Option<String> = sqlx::query_scalar(
            "UPDATE repositories SET name = $1 WHERE host = $2 AND node_id = $3 RETURNING filed_as",
        )
        .bind(name.to_string())
        .bind(host.clone())
        .bind(node_id.clone())
        .fetch_optional(&mut *transaction)
        .await?;
        // Without a row, another repository took the filing name at this moment; the caller looks again.
        if let Some(filed_as) = filed_as {
            for name in &self.names {
                sqlx::query(
                    "INSERT INTO repository_names (host, name, filed_as) VALUES ($1, $2, $3) \
                     ON CONFLICT (host, name) DO UPDATE SET filed_as = excluded.filed_as",
                )
                .bind(host.clone())
                .bind(name.folded())
                .bind(filed_as.clone())
                .execute(&mut *transaction)
                .await?;
            }
        }
        commit(transaction).await
    }
}

/// Finds the spelling under which records of a repository were first filed, if there are any.
#[derive(Debug)]
pub(in crate::journal) struct FirstFiling {
    pub(in crate::journal) host: String,
    pub(in crate::journal) name: RepositoryName,
}

impl StoreRequest for FirstFiling {
    type Answer = Option<RepositoryName>;
    const CHANGES: bool = false;

    async fn perform(&self, store: &mut Store) -> Result<Option<RepositoryName>, StorageFault> {
        let mut found = None;
        for statement in [
            "SELECT repository FROM records WHERE lower(repository) = $1 AND lower(host) = $2 \
             ORDER BY seq LIMIT 1",
            "SELECT repository FROM snapshots WHERE lower(repository) = $1 AND lower(host) = $2 \
             ORDER BY number LIMIT 1",
        ] {
            if found.is_none() {
                let name: Option<String> = sqlx::query_scalar(statement)
                    .bind(self.name.folded())
                    .bind(self.host.to_ascii_lowercase())
                    .fetch_optional(&mut store.connection)
                    .await?;
                found = name.map(parsed).transpose()?;
            }
        }
        Ok(found)
    }
}
