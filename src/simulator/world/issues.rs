//! Changes beside the conversation: labels, assignees, check runs, issues, dispatches and reactions.

use super::{
    AccountId, CheckId, Dispatch, Issue, IssueId, LabelId, PullId, Reaction, ReactionId, RepositoryId,
    SimulatedCheck, SimulatedLabel, Subject, TimelineEvent, World, WorldEventKind,
};

#[derive(Debug)]
pub(crate) struct NewCheck {
    pub(crate) name: String,
    pub(crate) conclusion: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) summary: Option<String>,
}

impl World {
    /// Renames a repository, or transfers it to another owner. Its ids stay.
    pub(crate) fn rename(&mut self, repository: RepositoryId, owner: AccountId, name: &str) {
        let former = self.full_name(repository);
        let renamed = &mut self[repository];
        renamed.former_names.push(former);
        renamed.owner = owner;
        name.clone_into(&mut renamed.name);
    }

    /// The label of that name; a missing one is created, as GitHub's REST API does.
    pub(crate) fn ensure_label(&mut self, repository: RepositoryId, name: &str) -> LabelId {
        if let Some(label) = self.label(repository, name) {
            return label;
        }
        let id = LabelId(self.labels.len());
        self.labels.push(SimulatedLabel {
            repository,
            name: name.to_owned(),
            color: "ededed".to_owned(),
            description: None,
            created_at: self.now,
        });
        self[repository].labels.push(id);
        id
    }

    pub(crate) fn add_label(&mut self, subject: Subject, by: AccountId, label: LabelId) {
        let labels = self.labels_of(subject);
        if !labels.contains(&label) {
            labels.push(label);
            let what = TimelineEvent::Labeled(label);
            self.label_changed(subject, by, label, what, WorldEventKind::Labeled, "label");
        }
    }

    pub(crate) fn remove_label(&mut self, subject: Subject, by: AccountId, label: LabelId) {
        let labels = self.labels_of(subject);
        if labels.contains(&label) {
            labels.retain(|other| *other != label);
            let what = TimelineEvent::Unlabeled(label);
            self.label_changed(subject, by, label, what, WorldEventKind::Unlabeled, "unlabel");
        }
    }

    /// Reports a changed label everywhere: timeline, script, recorded writes.
    fn label_changed(
        &mut self,
        subject: Subject,
        by: AccountId,
        label: LabelId,
        what: TimelineEvent,
        event: WorldEventKind,
        write: &str,
    ) {
        let name = self[label].name.clone();
        if let Subject::Pull(pull) = subject {
            self.add_to_timeline(pull, by, what);
            self.emit_event(event, by, pull, None, None, &name);
        }
        self.record_write(by, write, self.subject_name(subject), Self::subject_node(subject), &name, false);
    }

    fn labels_of(&mut self, subject: Subject) -> &mut Vec<LabelId> {
        match subject {
            Subject::Pull(pull) => &mut self[pull].labels,
            Subject::Issue(issue) => &mut self[issue].labels,
        }
    }

    pub(crate) fn set_assignees(&mut self, subject: Subject, by: AccountId, assignees: Vec<AccountId>) {
        let logins: Vec<&str> = assignees.iter().map(|account| self[*account].login.as_str()).collect();
        let text = logins.join(", ");
        match subject {
            Subject::Pull(pull) => {
                self[pull].assignees = assignees;
                self.touch(pull);
            }
            Subject::Issue(issue) => {
                self[issue].assignees = assignees;
                self[issue].updated_at = self.now;
            }
        }
        self.record_write(
            by,
            "assign",
            self.subject_name(subject),
            Self::subject_node(subject),
            &text,
            false,
        );
    }

    /// Starts a check run on the head commit, or updates the one that this app already has under this name.
    pub(crate) fn check_run(&mut self, pull: PullId, app: AccountId, new: NewCheck) -> CheckId {
        let oid = self[pull].head.clone();
        let now = self.now;
        let existing = self.commits.get(&oid).and_then(|commit| {
            commit.checks.iter().copied().find(|c| self[*c].name == new.name && self[*c].app == app)
        });
        let completed_at = new.conclusion.is_some().then_some(now);
        if let Some(id) = existing {
            let check = &mut self[id];
            check.conclusion = new.conclusion;
            check.title = new.title;
            check.summary = new.summary;
            check.completed_at = completed_at;
            return id;
        }
        let id = CheckId(self.checks.len());
        self.checks.push(SimulatedCheck {
            commit: oid.clone(),
            app,
            name: new.name,
            conclusion: new.conclusion,
            title: new.title,
            summary: new.summary,
            started_at: now,
            completed_at,
        });
        if let Some(commit) = self.commits.get_mut(&oid) {
            commit.checks.push(id);
        }
        id
    }

    pub(crate) fn create_issue(
        &mut self,
        repository: RepositoryId,
        by: AccountId,
        title: &str,
        body: &str,
        labels: Vec<LabelId>,
        assignees: Vec<AccountId>,
    ) -> IssueId {
        let id = IssueId(self.issues.len());
        let number = self.next_number(repository);
        self.issues.push(Issue {
            repository,
            number,
            title: title.to_owned(),
            body: body.to_owned(),
            author: by,
            labels,
            assignees,
            comments: Vec::new(),
            created_at: self.now,
            updated_at: self.now,
        });
        self[repository].issues.push(id);
        let text = format!("{title}\n{body}");
        self.emit_repository_event(WorldEventKind::Issue, by, repository, &text);
        self.record_write(by, "issue", self.issue_name(id), Self::issue_node(id), &text, false);
        id
    }

    fn next_number(&self, repository: RepositoryId) -> i64 {
        let pulls = self[repository].pulls.iter().map(|pull| self[*pull].number);
        let issues = self[repository].issues.iter().map(|issue| self[*issue].number);
        pulls.chain(issues).max().unwrap_or(0) + 1
    }

    pub(crate) fn dispatch(
        &mut self,
        repository: RepositoryId,
        by: AccountId,
        event_type: &str,
        client_payload: serde_json::Value,
    ) {
        let name = self.full_name(repository);
        self.dispatches.push(Dispatch {
            at: self.now,
            repository: name.clone(),
            by: self[by].login.clone(),
            event_type: event_type.to_owned(),
            client_payload,
        });
        self.emit_repository_event(WorldEventKind::Dispatch, by, repository, event_type);
        self.record_write(by, "dispatch", name, Self::repository_node(repository), event_type, false);
    }

    /// Reacts to the body of a pull request, in REST's words. As on GitHub, this is no update of it.
    pub(crate) fn react_to_pull(&mut self, pull: PullId, by: AccountId, content: &str) {
        let id = ReactionId(self.reactions.len());
        self.reactions.push(Reaction { by, content: content.to_owned(), at: self.now });
        self[pull].reactions.push(id);
    }

    /// Takes a reaction back.
    pub(crate) fn unreact_to_pull(&mut self, pull: PullId, by: AccountId, content: &str) {
        let mut kept = std::mem::take(&mut self[pull].reactions);
        kept.retain(|id| self[*id].by != by || self[*id].content != content);
        self[pull].reactions = kept;
    }

    pub(crate) fn react(&mut self, by: AccountId, content: &str, on: &str) -> ReactionId {
        let id = ReactionId(self.reactions.len());
        self.reactions.push(Reaction { by, content: content.to_owned(), at: self.now });
        self.record_write(by, "reaction", String::new(), on.to_owned(), content, false);
        id
    }
}
