//! Checks that serde cannot do: references to missing names, and steps that could never run.

use std::collections::BTreeSet;
use std::ops::Range;

use super::{Scenario, ScenarioAction, ScenarioError, ScenarioStep, StepTrigger};

/// References to threads that need no name.
const UNNAMED_THREADS: [&str; 3] = ["it", "own", "all"];

impl Scenario {
    pub(super) fn validate(&self) -> Result<(), ScenarioError> {
        let names = Names::of(self);
        let at = |span: Range<usize>| move |message| self.source.error(span, message);
        names.account(&self.viewer).map_err(at(0..0))?;
        for token in &self.tokens {
            names.account(&token.login).map_err(at(0..0))?;
        }
        let mut logins = BTreeSet::new();
        for entry in &self.accounts {
            if entry.get_ref().login.ends_with("[bot]") {
                let message = "write the login without `[bot]`, and `kind = \"bot\"`".to_owned();
                return Err(self.source.error(entry.span(), message));
            }
            if !logins.insert(entry.get_ref().login.to_ascii_lowercase()) {
                let message = format!("the account `{}` is defined twice", entry.get_ref().login);
                return Err(self.source.error(entry.span(), message));
            }
        }
        for entry in &self.repositories {
            let repository = entry.get_ref();
            if repository.name.split('/').filter(|part| !part.is_empty()).count() != 2 {
                let message = format!("a repository's name must be `owner/name`, not `{}`", repository.name);
                return Err(self.source.error(entry.span(), message));
            }
            for login in repository.members.keys() {
                names.account(login).map_err(at(entry.span()))?;
            }
        }
        for entry in &self.pull_requests {
            let pull = entry.get_ref();
            names.repository(&pull.repository).map_err(at(entry.span()))?;
            for login in std::iter::once(&pull.author).chain(&pull.review_requests) {
                names.account(login).map_err(at(entry.span()))?;
            }
            if let Some(trigger) = &pull.on {
                names.trigger(trigger).map_err(at(entry.span()))?;
            }
        }
        for step in &self.steps {
            names.step(step.get_ref()).map_err(at(step.span()))?;
        }
        Ok(())
    }
}

/// All names that a scenario declares.
struct Names {
    accounts: BTreeSet<String>,
    repositories: BTreeSet<String>,
    pulls: BTreeSet<String>,
    /// Thread names as written. `{n}` in a name matches any text.
    threads: BTreeSet<String>,
    comments: BTreeSet<String>,
}

impl Names {
    fn of(scenario: &Scenario) -> Self {
        let mut threads = BTreeSet::new();
        let mut comments = BTreeSet::new();
        for action in scenario.steps.iter().flat_map(|step| &step.get_ref().actions) {
            match action {
                ScenarioAction::Review(review) => {
                    threads.extend(review.threads.iter().filter_map(|thread| thread.name.clone()));
                }
                ScenarioAction::Comment(comment) => comments.extend(comment.name.clone()),
                ScenarioAction::Reply(reply) => comments.extend(reply.name.clone()),
                _ => {}
            }
        }
        let pulls = scenario.pull_requests.iter().flat_map(|entry| {
            let pull = entry.get_ref();
            (0..i64::from(pull.repeat)).map(move |n| format!("{}#{}", pull.repository, pull.number + n))
        });
        let repositories: BTreeSet<String> =
            scenario.repositories.iter().map(|entry| entry.get_ref().name.clone()).collect();
        let owners = repositories.iter().filter_map(|name| name.split('/').next());
        Self {
            accounts: scenario
                .accounts
                .iter()
                .map(|entry| entry.get_ref().login.as_str())
                .chain(owners)
                .map(str::to_ascii_lowercase)
                .collect(),
            pulls: pulls.collect(),
            repositories,
            threads,
            comments,
        }
    }

    fn account(&self, login: &str) -> Result<(), String> {
        if self.accounts.contains(&login.to_ascii_lowercase()) {
            return Ok(());
        }
        Err(format!("there is no account `{login}`"))
    }

    fn repository(&self, name: &str) -> Result<(), String> {
        if self.repositories.contains(name) {
            return Ok(());
        }
        Err(format!("there is no repository `{name}`"))
    }

    fn pull(&self, reference: &str) -> Result<(), String> {
        if let Some(repository) = reference.strip_suffix("#*") {
            return self.repository(repository);
        }
        if self.pulls.contains(reference) {
            return Ok(());
        }
        Err(format!("there is no pull request `{reference}` (written `owner/name#7` or `owner/name#*`)"))
    }

    fn step(&self, step: &ScenarioStep) -> Result<(), String> {
        match (&step.at, &step.on) {
            (Some(_), Some(_)) => return Err("`at` and `on` cannot be used together".to_owned()),
            (None, None) => return Err("a step needs `at` or `on`".to_owned()),
            (Some(_), None) if step.pull_request.is_none() => {
                return Err("a step with `at` needs `pull_request`".to_owned());
            }
            (Some(_), None) if step.times.is_some() || !step.only.is_empty() => {
                return Err("`times` and `only` count events, so they need `on`".to_owned());
            }
            _ => {}
        }
        if step.actions.is_empty() {
            return Err("a step needs at least one action in `do`".to_owned());
        }
        if let Some(reference) = &step.pull_request {
            self.pull(reference)?;
        }
        if let Some(trigger) = &step.on {
            self.trigger(trigger)?;
        }
        step.actions.iter().try_for_each(|action| self.action(action))
    }

    fn trigger(&self, trigger: &StepTrigger) -> Result<(), String> {
        for login in [&trigger.by, &trigger.of].into_iter().flatten() {
            self.account(login)?;
        }
        if let Some(reference) = &trigger.pull_request {
            self.pull(reference)?;
        }
        if let Some(repository) = &trigger.repository {
            self.repository(repository)?;
        }
        trigger.thread.as_deref().map_or(Ok(()), |thread| self.thread(thread))
    }

    fn thread(&self, name: &str) -> Result<(), String> {
        let declared = self.threads.iter().any(|declared| {
            declared == name
                || declared
                    .split_once("{n}")
                    .is_some_and(|(before, after)| name.starts_with(before) && name.ends_with(after))
        });
        if declared || UNNAMED_THREADS.contains(&name) {
            return Ok(());
        }
        Err(format!("no review opens a thread named `{name}`"))
    }

    fn action(&self, action: &ScenarioAction) -> Result<(), String> {
        if let Some(by) = action.by() {
            self.account(by)?;
        }
        match action {
            ScenarioAction::Reply(reply) => self.thread(&reply.thread),
            ScenarioAction::Resolve(on) | ScenarioAction::Unresolve(on) => self.thread(&on.thread),
            ScenarioAction::Edit(edit) => self.target(edit.comment.as_deref(), edit.thread.as_deref()),
            ScenarioAction::Minimise(hide) => self.target(hide.comment.as_deref(), hide.thread.as_deref()),
            ScenarioAction::RequestReview(request) | ScenarioAction::UnrequestReview(request) => {
                self.account(&request.of)
            }
            ScenarioAction::DeleteAccount(delete) => self.account(&delete.login),
            ScenarioAction::Rename(rename) => match rename.to.split_once('/') {
                Some((owner, name)) if !name.is_empty() => self.account(owner),
                _ => Err(format!("`{}` is not a name like `owner/name`", rename.to)),
            },
            _ => Ok(()),
        }
    }

    fn target(&self, comment: Option<&str>, thread: Option<&str>) -> Result<(), String> {
        match (comment, thread) {
            (Some(name), None) if self.comments.contains(name) => Ok(()),
            (Some(name), None) => Err(format!("no comment is named `{name}`")),
            (None, Some(name)) => self.thread(name),
            _ => Err("name either a `comment` or a `thread`".to_owned()),
        }
    }
}
