//! What happens to pull requests and issues themselves: opening, pushing, labelling, merging.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{
    AccountId, CheckId, Commit, Dispatch, Issue, IssueId, LabelId, Oid, Pull, PullId, PullState, Reaction,
    ReactionId, RepositoryId, Side, SimulatedCheck, SimulatedLabel, SimulatedTimelineItem, Subject,
    TimelineEvent, Tree, World, WorldEvent, WorldEventKind, WorldRefusal, diff,
};

/// What a push does to the files.
#[derive(Debug, Clone, Default)]
pub(crate) struct TreeEdit {
    pub(crate) write: BTreeMap<String, String>,
    /// (path, text to find, what to put there)
    pub(crate) replace: Vec<(String, String, String)>,
    pub(crate) delete: Vec<String>,
    pub(crate) rename: BTreeMap<String, String>,
    /// The commit's name, where it is one of a real checkout's.
    pub(crate) sha: Option<String>,
}

#[derive(Debug)]
pub(crate) struct NewPull {
    pub(crate) repository: RepositoryId,
    pub(crate) number: i64,
    pub(crate) title: String,
    pub(crate) body: String,
    pub(crate) author: AccountId,
    pub(crate) base_ref: String,
    pub(crate) head_ref: String,
    pub(crate) draft: bool,
    pub(crate) head_repository_deleted: bool,
    pub(crate) edit: TreeEdit,
}

#[derive(Debug)]
pub(crate) struct NewCheck {
    pub(crate) name: String,
    pub(crate) conclusion: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) summary: Option<String>,
}

impl World {
    /// Records a commit and names it. The name is made from the contents, so that a scenario has the same commits
    /// in every run, unless one is given.
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

    fn edited(&self, from: &Oid, edit: &TreeEdit) -> Result<Tree, WorldRefusal> {
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
                return Err(WorldRefusal::Unprocessable(format!("{path} has no text `{find}` to replace")));
            }
            let replaced = contents.replacen(find.as_str(), with, 1);
            tree.insert(path.clone(), Arc::from(replaced));
        }
        for path in &edit.delete {
            tree.remove(path).ok_or_else(|| no_file(path))?;
        }
        Ok(tree)
    }

    pub(crate) fn open_pull(&mut self, new: NewPull) -> Result<PullId, WorldRefusal> {
        let base = self[new.repository].branches.get(&new.base_ref).cloned().ok_or_else(|| {
            WorldRefusal::Unprocessable(format!("there is no base branch `{}`", new.base_ref))
        })?;
        let tree = self.edited(&base, &new.edit)?;
        let sha = new.edit.sha.as_deref();
        let head = self.add_commit(new.repository, vec![base.clone()], tree, new.author, &new.title, sha);
        let id = PullId(self.pulls.len());
        self[new.repository].branches.insert(new.head_ref.clone(), head.clone());
        self[new.repository].pulls.push(id);
        let now = self.now;
        self.pulls.push(Pull {
            repository: new.repository,
            number: new.number,
            title: new.title,
            body: new.body,
            author: new.author,
            state: PullState::Open,
            draft: new.draft,
            created_at: now,
            updated_at: now,
            closed_at: None,
            merged_at: None,
            merged_by: None,
            merge_commit: None,
            base_ref: new.base_ref,
            base,
            head_ref: new.head_ref,
            head: head.clone(),
            head_repository_deleted: new.head_repository_deleted,
            commits: vec![head.clone()],
            labels: Vec::new(),
            assignees: Vec::new(),
            requested: Vec::new(),
            threads: Vec::new(),
            reviews: Vec::new(),
            comments: Vec::new(),
            timeline: vec![SimulatedTimelineItem {
                at: now,
                actor: new.author,
                what: TimelineEvent::Commit(head),
            }],
        });
        self.happen(WorldEventKind::Opened, new.author, id, None, None, "");
        Ok(id)
    }

    /// Moves the head and every thread with it: a line that moved is followed, one that changed makes its thread
    /// outdated. A force push replaces the pull request's commits by one.
    pub(crate) fn push(
        &mut self,
        pull: PullId,
        by: AccountId,
        message: &str,
        edit: &TreeEdit,
        force: bool,
    ) -> Result<Oid, WorldRefusal> {
        if self[pull].state == PullState::Merged {
            return Err(WorldRefusal::Unprocessable("the pull request is merged".to_owned()));
        }
        let before = self[pull].head.clone();
        let tree = self.edited(&before, edit)?;
        let parent = if force { self[pull].base.clone() } else { before.clone() };
        let repository = self[pull].repository;
        let after = self.add_commit(repository, vec![parent], tree, by, message, edit.sha.as_deref());
        let now = self.now;
        self.move_threads(pull, &before, &after);
        let head_ref = self[pull].head_ref.clone();
        self[repository].branches.insert(head_ref, after.clone());
        self[repository].pushed_at = now;
        let item = &mut self[pull];
        item.head = after.clone();
        if force {
            item.commits = vec![after.clone()];
            item.timeline.retain(|item| !matches!(item.what, TimelineEvent::Commit(_)));
        } else {
            item.commits.push(after.clone());
        }
        let commit = TimelineEvent::Commit(after.clone());
        item.timeline.push(SimulatedTimelineItem { at: now, actor: by, what: commit });
        if force {
            let what = TimelineEvent::ForcePushed { before, after: after.clone() };
            item.timeline.push(SimulatedTimelineItem { at: now, actor: by, what });
        }
        self.touch(pull);
        self.happen(WorldEventKind::Push, by, pull, None, None, message);
        Ok(after)
    }

    fn move_threads(&mut self, pull: PullId, before: &Oid, after: &Oid) {
        let (old, new) = (self.tree(before), self.tree(after));
        for id in self[pull].threads.clone() {
            let thread = &mut self[id];
            let Some(line) = thread.line else { continue };
            if thread.side == Side::Left {
                continue;
            }
            let old_text = old.get(&thread.path).map_or("", |text| text);
            let new_text = new.get(&thread.path).map_or("", |text| text);
            let place = |line| diff::line_now(old_text, new_text, line);
            thread.start_line = thread.start_line.and_then(place);
            thread.line = place(line);
            thread.outdated = thread.line.is_none();
            if thread.outdated {
                thread.start_line = None;
            } else {
                for comment in self[id].comments.clone() {
                    self[comment].commit = after.clone();
                }
            }
        }
    }

    pub(crate) fn close(&mut self, pull: PullId, by: AccountId) -> Result<(), WorldRefusal> {
        self.require_state(pull, PullState::Open, "Could not close the pull request.")?;
        let now = self.now;
        self[pull].state = PullState::Closed;
        self[pull].closed_at = Some(now);
        self.record(pull, by, TimelineEvent::Closed, WorldEventKind::Closed, "close");
        Ok(())
    }

    pub(crate) fn reopen(&mut self, pull: PullId, by: AccountId) -> Result<(), WorldRefusal> {
        self.require_state(pull, PullState::Closed, "Could not open the pull request.")?;
        self[pull].state = PullState::Open;
        self[pull].closed_at = None;
        self.record(pull, by, TimelineEvent::Reopened, WorldEventKind::Reopened, "reopen");
        Ok(())
    }

    pub(crate) fn merge(&mut self, pull: PullId, by: AccountId) -> Result<Oid, WorldRefusal> {
        self.require_state(pull, PullState::Open, "Pull Request is not mergeable")?;
        if self[pull].draft {
            return Err(WorldRefusal::Unprocessable("Pull Request is still a draft".to_owned()));
        }
        let (repository, base, head) =
            (self[pull].repository, self[pull].base_ref.clone(), self[pull].head.clone());
        let onto = self[repository].branches.get(&base).cloned().unwrap_or_else(|| self[pull].base.clone());
        // What the pull request changed is laid over what the base has become meanwhile.
        let mut tree = (*self.tree(&onto)).clone();
        let (was, is) = (self.tree(&self[pull].base), self.tree(&head));
        for change in diff::changes(&was, &is) {
            if let Some(old) = &change.previous_path {
                tree.remove(old);
            }
            match is.get(&change.path) {
                Some(contents) => tree.insert(change.path, Arc::clone(contents)),
                None => tree.remove(&change.path),
            };
        }
        let message = format!("Merge pull request #{} from {}", self[pull].number, self[pull].head_ref);
        let merged = self.add_commit(repository, vec![onto, head], tree, by, &message, None);
        self[repository].branches.insert(base, merged.clone());
        let now = self.now;
        let item = &mut self[pull];
        item.state = PullState::Merged;
        item.merged_at = Some(now);
        item.closed_at = Some(now);
        item.merged_by = Some(by);
        item.merge_commit = Some(merged.clone());
        self.record(pull, by, TimelineEvent::Merged(merged.clone()), WorldEventKind::Merged, "merge");
        Ok(merged)
    }

    pub(crate) fn set_draft(&mut self, pull: PullId, by: AccountId, draft: bool) {
        if self[pull].draft == draft {
            return;
        }
        self[pull].draft = draft;
        let now = self.now;
        let what = if draft { TimelineEvent::ConvertedToDraft } else { TimelineEvent::ReadyForReview };
        self[pull].timeline.push(SimulatedTimelineItem { at: now, actor: by, what });
        self.touch(pull);
        if !draft {
            self.happen(WorldEventKind::Ready, by, pull, None, None, "");
        }
        self.note(by, "draft", self.pull_name(pull), Self::pull_node(pull), &draft.to_string(), false);
    }

    fn require_state(&self, pull: PullId, state: PullState, otherwise: &str) -> Result<(), WorldRefusal> {
        if self[pull].state == state {
            Ok(())
        } else {
            Err(WorldRefusal::Unprocessable(otherwise.to_owned()))
        }
    }

    fn record(
        &mut self,
        pull: PullId,
        by: AccountId,
        what: TimelineEvent,
        event: WorldEventKind,
        noted: &str,
    ) {
        let now = self.now;
        self[pull].timeline.push(SimulatedTimelineItem { at: now, actor: by, what });
        self.touch(pull);
        self.happen(event, by, pull, None, None, "");
        self.note(by, noted, self.pull_name(pull), Self::pull_node(pull), "", false);
    }

    pub(crate) fn request_review(&mut self, pull: PullId, by: AccountId, of: AccountId) {
        if !self[pull].requested.contains(&of) {
            self[pull].requested.push(of);
        }
        let now = self.now;
        let what = TimelineEvent::ReviewRequested(of);
        self[pull].timeline.push(SimulatedTimelineItem { at: now, actor: by, what });
        self.touch(pull);
        self.happen(WorldEventKind::ReviewRequested, by, pull, None, Some(of), "");
        let login = self[of].login.clone();
        self.note(by, "request_review", self.pull_name(pull), Self::pull_node(pull), &login, false);
    }

    pub(crate) fn unrequest_review(&mut self, pull: PullId, by: AccountId, of: AccountId) {
        self[pull].requested.retain(|asked| *asked != of);
        let now = self.now;
        let what = TimelineEvent::ReviewRequestRemoved(of);
        self[pull].timeline.push(SimulatedTimelineItem { at: now, actor: by, what });
        self.touch(pull);
        let login = self[of].login.clone();
        self.note(by, "unrequest_review", self.pull_name(pull), Self::pull_node(pull), &login, false);
    }

    /// The label of that name, made if the repository has none.
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
        let now = self.now;
        let name = self[label].name.clone();
        let labels = self.labels_of(subject);
        if labels.contains(&label) {
            return;
        }
        labels.push(label);
        if let Subject::Pull(pull) = subject {
            let what = TimelineEvent::Labeled(label);
            self[pull].timeline.push(SimulatedTimelineItem { at: now, actor: by, what });
            self.touch(pull);
            self.happen(WorldEventKind::Labeled, by, pull, None, None, &name);
        }
        self.note(by, "label", self.subject_name(subject), Self::subject_node(subject), &name, false);
    }

    pub(crate) fn remove_label(&mut self, subject: Subject, by: AccountId, label: LabelId) {
        let now = self.now;
        let name = self[label].name.clone();
        let labels = self.labels_of(subject);
        if !labels.contains(&label) {
            return;
        }
        labels.retain(|there| *there != label);
        if let Subject::Pull(pull) = subject {
            let what = TimelineEvent::Unlabeled(label);
            self[pull].timeline.push(SimulatedTimelineItem { at: now, actor: by, what });
            self.touch(pull);
            self.happen(WorldEventKind::Unlabeled, by, pull, None, None, &name);
        }
        self.note(by, "unlabel", self.subject_name(subject), Self::subject_node(subject), &name, false);
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
        self.note(by, "assign", self.subject_name(subject), Self::subject_node(subject), &text, false);
    }

    /// Starts a check run on the head, or brings the one of that name and app up to date.
    pub(crate) fn check_run(&mut self, pull: PullId, app: AccountId, new: NewCheck) -> CheckId {
        let oid = self[pull].head.clone();
        let now = self.now;
        let known = self.commits.get(&oid).and_then(|commit| {
            commit.checks.iter().copied().find(|c| self[*c].name == new.name && self[*c].app == app)
        });
        let completed_at = new.conclusion.is_some().then_some(now);
        if let Some(id) = known {
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
        let happening = WorldEvent {
            event: WorldEventKind::Issue,
            by,
            repository,
            pull: None,
            thread: None,
            of: None,
            text: text.clone(),
        };
        self.happenings.push(happening);
        self.note(by, "issue", self.issue_name(id), Self::issue_node(id), &text, false);
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
        self.happenings.push(WorldEvent {
            event: WorldEventKind::Dispatch,
            by,
            repository,
            pull: None,
            thread: None,
            of: None,
            text: event_type.to_owned(),
        });
        self.note(by, "dispatch", name, Self::repository_node(repository), event_type, false);
    }

    pub(crate) fn react(&mut self, by: AccountId, content: &str, on: &str) -> ReactionId {
        let id = ReactionId(self.reactions.len());
        self.reactions.push(Reaction { by, content: content.to_owned(), at: self.now });
        self.note(by, "reaction", String::new(), on.to_owned(), content, false);
        id
    }

    pub(crate) fn pull_node(pull: PullId) -> String {
        format!("PR_{}", pull.0 + 1)
    }

    pub(crate) fn issue_node(issue: IssueId) -> String {
        format!("I_{}", issue.0 + 1)
    }

    pub(crate) fn repository_node(repository: RepositoryId) -> String {
        format!("R_{}", repository.0 + 1)
    }

    pub(crate) fn subject_node(subject: Subject) -> String {
        match subject {
            Subject::Pull(pull) => Self::pull_node(pull),
            Subject::Issue(issue) => Self::issue_node(issue),
        }
    }
}

fn no_file(path: &str) -> WorldRefusal {
    WorldRefusal::Unprocessable(format!("there is no file `{path}`"))
}
