//! Builds the world that a scenario starts with, including its history.

use std::sync::Arc;

use jiff::SignedDuration;

use crate::simulator::scenario::{PullRequestEntry, RepositoryEntry, Scenario};
use crate::simulator::world::{
    AccountId, NewPull, RepositoryId, SimulatedAccount, SimulatedAccountKind, SimulatedRepository, Subject,
    Tree, TreeEdit, World,
};

use super::Script;

/// Accounts without an `id` in the scenario are numbered from here.
const FIRST_ACCOUNT_ID: i64 = 1_000;

/// Builds the world and plays every step that the scenario dates before its start.
pub(crate) fn build(scenario: &Scenario) -> (World, Script) {
    let created = scenario.pull_requests.iter().map(|entry| entry.get_ref().created);
    let dated = scenario.steps.iter().filter_map(|step| step.get_ref().at);
    let earliest = created.chain(dated).min().unwrap_or_default().min(SignedDuration::ZERO);
    let before = earliest.saturating_sub(SignedDuration::from_hours(24));

    let mut world = World::new(scenario.start.saturating_add(before).unwrap_or(scenario.start));
    add_accounts(&mut world, scenario);
    for repository in &scenario.repositories {
        add_repository(&mut world, repository.get_ref());
    }
    let mut script = Script::new(scenario);
    script.schedule_fixed(scenario);
    script.play_until(&mut world, scenario.start);
    for entry in scenario.accounts.iter().filter(|entry| entry.get_ref().deleted) {
        if let Some(account) = world.account(&entry.get_ref().login) {
            world[account].deleted = true;
        }
    }
    (world, script)
}

fn add_accounts(world: &mut World, scenario: &Scenario) {
    let mut next = FIRST_ACCOUNT_ID;
    for entry in &scenario.accounts {
        let entry = entry.get_ref();
        next += 1;
        world.accounts.push(SimulatedAccount {
            login: entry.login.clone(),
            kind: entry.kind,
            name: entry.name.clone(),
            database_id: entry.id.unwrap_or(next),
            has_given_id: entry.id.is_some(),
            deleted: false,
        });
    }
    for repository in &scenario.repositories {
        let owner = repository.get_ref().name.split('/').next().unwrap_or_default();
        if world.account(owner).is_none() {
            next += 1;
            world.accounts.push(SimulatedAccount {
                login: owner.to_owned(),
                kind: SimulatedAccountKind::Organization,
                name: None,
                database_id: next,
                has_given_id: false,
                deleted: false,
            });
        }
    }
}

fn add_repository(world: &mut World, entry: &RepositoryEntry) {
    let Some((owner, name)) = entry.name.split_once('/') else { return };
    let Some(owner) = world.account(owner) else { return };
    let id = RepositoryId(world.repositories.len());
    let associations =
        entry.members.iter().filter_map(|(login, what)| Some((world.account(login)?, *what))).collect();
    let now = world.now;
    world.repositories.push(SimulatedRepository {
        owner,
        name: name.to_owned(),
        former_names: Vec::new(),
        description: entry.description.clone(),
        private: entry.private,
        archived: entry.archived,
        default_branch: entry.default_branch.clone(),
        branches: std::collections::BTreeMap::new(),
        associations,
        labels: Vec::new(),
        pulls: Vec::new(),
        issues: Vec::new(),
        created_at: now,
        pushed_at: now,
        updated_at: now,
    });
    let tree: Tree =
        entry.files.iter().map(|(path, text)| (path.clone(), Arc::from(text.as_str()))).collect();
    let root = world.add_commit(id, Vec::new(), tree, owner, "Initial commit", None);
    world[id].branches.insert(entry.default_branch.clone(), root);
    for label in &entry.labels {
        world.ensure_label(id, label);
    }
}

/// Opens one of an entry's pull requests.
pub(super) fn open_pull(world: &mut World, entry: &PullRequestEntry, n: u32) -> Result<(), String> {
    let count = |text: &str| text.replace("{n}", &n.to_string());
    let missing = |what: &str| format!("there is no `{what}`");
    let repository = world.repository_named(&entry.repository).ok_or_else(|| missing(&entry.repository))?;
    let author = world.account(&entry.author).ok_or_else(|| missing(&entry.author))?;
    let number = entry.number + i64::from(n) - 1;
    let branch = entry.branch.as_deref().map_or_else(|| format!("change-{number}"), count);
    let base = entry.base.clone().unwrap_or_else(|| world[repository].default_branch.clone());
    let edit = TreeEdit {
        write: entry.files.iter().map(|(path, text)| (count(path), count(text))).collect(),
        replace: entry
            .replace
            .iter()
            .map(|change| (change.path.clone(), change.find.clone(), count(&change.with)))
            .collect(),
        delete: entry.delete.clone(),
        rename: entry.rename.clone(),
        sha: entry.sha.clone(),
    };
    let pull = world
        .open_pull(NewPull {
            repository,
            number,
            title: count(&entry.title),
            body: count(&entry.body),
            author,
            base_ref: base,
            head_ref: branch,
            draft: entry.draft,
            head_repository_deleted: entry.head_repository_deleted,
            edit,
        })
        .map_err(|refusal| refusal.to_string())?;
    for name in &entry.labels {
        let label = world.ensure_label(repository, name);
        world.add_label(Subject::Pull(pull), author, label);
    }
    let reviewers: Vec<AccountId> =
        entry.review_requests.iter().filter_map(|login| world.account(login)).collect();
    for of in reviewers {
        world.request_review(pull, author, of);
    }
    Ok(())
}
