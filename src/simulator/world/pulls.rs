//! Changes of a pull request itself: opening, pushing, merging, requests for reviews.

use std::sync::Arc;

use super::{
    AccountId, Oid, Pull, PullId, PullState, RepositoryId, Side, SimulatedTimelineItem, TimelineEvent,
    TreeEdit, World, WorldEventKind, WorldRefusal, diff,
};

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

impl World {
    pub(crate) fn open_pull(&mut self, new: NewPull) -> Result<PullId, WorldRefusal> {
        let base = self[new.repository].branches.get(&new.base_ref).cloned().ok_or_else(|| {
            WorldRefusal::Unprocessable(format!("there is no base branch `{}`", new.base_ref))
        })?;
        let tree = self.edited_tree(&base, &new.edit)?;
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
            reactions: Vec::new(),
            threads: Vec::new(),
            reviews: Vec::new(),
            comments: Vec::new(),
            timeline: vec![SimulatedTimelineItem {
                at: now,
                actor: new.author,
                what: TimelineEvent::Commit(head),
            }],
        });
        self.emit_event(WorldEventKind::Opened, new.author, id, None, None, "");
        Ok(id)
    }

    /// Moves the head. A thread follows its line when the line moves, and becomes outdated when the line
    /// changes. A force push replaces all commits of the pull request by one.
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
        let tree = self.edited_tree(&before, edit)?;
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
        self.add_to_timeline(pull, by, TimelineEvent::Commit(after.clone()));
        if force {
            self.add_to_timeline(pull, by, TimelineEvent::ForcePushed { before, after: after.clone() });
        }
        self.emit_event(WorldEventKind::Push, by, pull, None, None, message);
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
        self.state_changed(pull, by, TimelineEvent::Closed, WorldEventKind::Closed, "close");
        Ok(())
    }

    pub(crate) fn reopen(&mut self, pull: PullId, by: AccountId) -> Result<(), WorldRefusal> {
        self.require_state(pull, PullState::Closed, "Could not open the pull request.")?;
        self[pull].state = PullState::Open;
        self[pull].closed_at = None;
        self.state_changed(pull, by, TimelineEvent::Reopened, WorldEventKind::Reopened, "reopen");
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
        // The merge applies the pull request's changes to the base branch as it is now.
        let mut tree = (*self.tree(&onto)).clone();
        let (old, new) = (self.tree(&self[pull].base), self.tree(&head));
        for change in diff::changes(&old, &new) {
            if let Some(path) = &change.previous_path {
                tree.remove(path);
            }
            match new.get(&change.path) {
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
        self.state_changed(pull, by, TimelineEvent::Merged(merged.clone()), WorldEventKind::Merged, "merge");
        Ok(merged)
    }

    pub(crate) fn set_draft(&mut self, pull: PullId, by: AccountId, draft: bool) {
        if self[pull].draft == draft {
            return;
        }
        self[pull].draft = draft;
        let what = if draft { TimelineEvent::ConvertedToDraft } else { TimelineEvent::ReadyForReview };
        self.add_to_timeline(pull, by, what);
        if !draft {
            self.emit_event(WorldEventKind::Ready, by, pull, None, None, "");
        }
        self.record_write(
            by,
            "draft",
            self.pull_name(pull),
            Self::pull_node(pull),
            &draft.to_string(),
            false,
        );
    }

    fn require_state(&self, pull: PullId, state: PullState, otherwise: &str) -> Result<(), WorldRefusal> {
        if self[pull].state == state {
            Ok(())
        } else {
            Err(WorldRefusal::Unprocessable(otherwise.to_owned()))
        }
    }

    /// Reports a changed state everywhere: timeline, script, recorded writes.
    fn state_changed(
        &mut self,
        pull: PullId,
        by: AccountId,
        what: TimelineEvent,
        event: WorldEventKind,
        write: &str,
    ) {
        self.add_to_timeline(pull, by, what);
        self.emit_event(event, by, pull, None, None, "");
        self.record_write(by, write, self.pull_name(pull), Self::pull_node(pull), "", false);
    }

    pub(crate) fn request_review(&mut self, pull: PullId, by: AccountId, of: AccountId) {
        if !self[pull].requested.contains(&of) {
            self[pull].requested.push(of);
        }
        self.add_to_timeline(pull, by, TimelineEvent::ReviewRequested(of));
        self.emit_event(WorldEventKind::ReviewRequested, by, pull, None, Some(of), "");
        let login = self[of].login.clone();
        self.record_write(by, "request_review", self.pull_name(pull), Self::pull_node(pull), &login, false);
    }

    pub(crate) fn unrequest_review(&mut self, pull: PullId, by: AccountId, of: AccountId) {
        self[pull].requested.retain(|asked| *asked != of);
        self.add_to_timeline(pull, by, TimelineEvent::ReviewRequestRemoved(of));
        let login = self[of].login.clone();
        self.record_write(by, "unrequest_review", self.pull_name(pull), Self::pull_node(pull), &login, false);
    }
}
