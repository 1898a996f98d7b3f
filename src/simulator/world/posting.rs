//! Changes of the conversation: reviews, threads, replies and comments, and their later edits.

use super::{
    AccountId, CommentEdits, CommentId, Oid, PullId, ReviewComment, ReviewCommentId, ReviewId, Side,
    SimulatedAccountKind, SimulatedComment, SimulatedReview, SimulatedReviewState, SimulatedThread, Subject,
    ThreadId, TimelineEvent, World, WorldEventKind, WorldRefusal, diff,
};

/// A review to submit.
#[derive(Debug)]
pub(crate) struct NewReview {
    pub(crate) state: SimulatedReviewState,
    pub(crate) body: String,
    /// `None` means the head.
    pub(crate) commit: Option<Oid>,
    pub(crate) threads: Vec<NewSimulatedThread>,
    /// GitHub refuses a line outside the diff. Scripted reviews may point anywhere.
    pub(crate) only_in_diff: bool,
}

/// A thread to open. Without a line it is about the whole file.
#[derive(Debug, Clone)]
pub(crate) struct NewSimulatedThread {
    pub(crate) path: String,
    pub(crate) line: Option<i64>,
    pub(crate) start_line: Option<i64>,
    pub(crate) side: Side,
    pub(crate) body: String,
}

impl World {
    /// Submits a review, or keeps it as a draft if its state is pending. Returns it with the threads it opened.
    pub(crate) fn review(
        &mut self,
        pull: PullId,
        by: AccountId,
        new: NewReview,
    ) -> Result<(ReviewId, Vec<ThreadId>), WorldRefusal> {
        self.check_review(pull, by, &new)?;
        let commit = new.commit.clone().unwrap_or_else(|| self[pull].head.clone());
        let review = self.start_review(pull, by, &new.body, commit);
        let mut threads = Vec::new();
        for thread in new.threads {
            threads.push(self.open_thread(review, by, thread));
        }
        if new.state != SimulatedReviewState::Pending {
            self.submit_review(review, by, new.state, None)?;
        }
        Ok((review, threads))
    }

    fn check_review(&self, pull: PullId, by: AccountId, new: &NewReview) -> Result<(), WorldRefusal> {
        let refuse = |text: &str| Err(WorldRefusal::Unprocessable(text.to_owned()));
        if self.pending_review(pull, by).is_some() {
            return refuse("User can only have one pending review per pull request");
        }
        let own = self[pull].author == by;
        if own && matches!(new.state, SimulatedReviewState::Approved) {
            return refuse("Can not approve your own pull request");
        }
        if own && matches!(new.state, SimulatedReviewState::ChangesRequested) {
            return refuse("Can not request changes on your own pull request");
        }
        if let Some(oid) = &new.commit
            && self.commit(oid).is_none()
        {
            return refuse("The commit OID is not part of the pull request");
        }
        let empty = new.body.trim().is_empty() && new.threads.is_empty();
        if empty
            && matches!(new.state, SimulatedReviewState::Commented | SimulatedReviewState::ChangesRequested)
        {
            return refuse("Body can't be blank");
        }
        if new.only_in_diff {
            let (base, head) = (self.tree(&self[pull].base), self.tree(&self[pull].head));
            for thread in &new.threads {
                let before = base.get(&thread.path).map_or("", |text| text);
                let Some(after) = head.get(&thread.path) else {
                    return refuse("Path could not be resolved");
                };
                let shown = thread.line.is_none_or(|line| diff::shows_line(before, after, line));
                if thread.side == Side::Right && !shown {
                    return refuse("Line could not be resolved");
                }
            }
        }
        Ok(())
    }

    /// An account's draft review of a pull request. While it exists, the account's replies go into it.
    pub(crate) fn pending_review(&self, pull: PullId, by: AccountId) -> Option<ReviewId> {
        self[pull].reviews.iter().copied().find(|review| {
            let review = &self[*review];
            review.author == by && review.state == SimulatedReviewState::Pending && !review.deleted
        })
    }

    fn start_review(&mut self, pull: PullId, by: AccountId, body: &str, commit: Oid) -> ReviewId {
        let id = ReviewId(self.reviews.len());
        self.reviews.push(SimulatedReview {
            pull,
            author: by,
            state: SimulatedReviewState::Pending,
            body: body.to_owned(),
            commit,
            created_at: self.now,
            updated_at: self.now,
            submitted_at: None,
            comments: Vec::new(),
            edits: CommentEdits::default(),
            deleted: false,
        });
        self[pull].reviews.push(id);
        id
    }

    fn open_thread(&mut self, review: ReviewId, by: AccountId, new: NewSimulatedThread) -> ThreadId {
        let pull = self[review].pull;
        let (base, head) = (self.tree(&self[pull].base), self.tree(&self[review].commit));
        let before = base.get(&new.path).map_or("", |text| text);
        let after = head.get(&new.path).map_or("", |text| text);
        let hunk = match new.line {
            Some(line) => diff::hunk_ending_at(before, after, line),
            None => String::new(),
        };
        let id = ThreadId(self.threads.len());
        self.threads.push(SimulatedThread {
            pull,
            path: new.path,
            line: new.line,
            start_line: new.start_line,
            original_line: new.line,
            original_start_line: new.start_line,
            side: new.side,
            file_level: new.line.is_none(),
            outdated: false,
            resolved_by: None,
            comments: Vec::new(),
        });
        self[pull].threads.push(id);
        self.add_to_thread(id, review, by, new.body, hunk);
        id
    }

    fn add_to_thread(
        &mut self,
        thread: ThreadId,
        review: ReviewId,
        by: AccountId,
        body: String,
        hunk: String,
    ) -> ReviewCommentId {
        let id = ReviewCommentId(self.review_comments.len());
        let commit = self[review].commit.clone();
        let first = self[thread].comments.first().copied();
        let original_commit = first.map_or_else(|| commit.clone(), |root| self[root].original_commit.clone());
        self.review_comments.push(ReviewComment {
            thread,
            review,
            author: by,
            body,
            created_at: self.now,
            updated_at: self.now,
            commit,
            original_commit,
            hunk,
            reply_to: first,
            edits: CommentEdits::default(),
        });
        self[thread].comments.push(id);
        self[review].comments.push(id);
        id
    }

    /// Publishes a draft review.
    pub(crate) fn submit_review(
        &mut self,
        review: ReviewId,
        by: AccountId,
        state: SimulatedReviewState,
        body: Option<String>,
    ) -> Result<(), WorldRefusal> {
        if self[review].state != SimulatedReviewState::Pending || self[review].author != by {
            return Err(WorldRefusal::Unprocessable(
                "Could not submit a review that is not pending".to_owned(),
            ));
        }
        let now = self.now;
        let pull = self[review].pull;
        let item = &mut self[review];
        item.state = state;
        item.submitted_at = Some(now);
        item.updated_at = now;
        if let Some(body) = body {
            item.body = body;
        }
        let text = item.body.clone();
        let comments: Vec<ReviewCommentId> = item.comments.clone();
        for comment in &comments {
            self[*comment].created_at = now;
            self[*comment].updated_at = now;
        }
        // GitHub removes the request when the reviewer submits a review.
        self[pull].requested.retain(|asked| *asked != by);
        self.add_to_timeline(pull, by, TimelineEvent::Reviewed(review));
        self.record_write(by, "review", self.pull_name(pull), Self::review_node(review), &text, false);
        for comment in comments {
            let (thread, text) = (self[comment].thread, self[comment].body.clone());
            if self[comment].reply_to.is_none() {
                let on = self.pull_name(pull);
                self.record_write(by, "thread", on, Self::thread_node(thread), &text, false);
            } else {
                self.emit_event(WorldEventKind::Reply, by, pull, Some(thread), None, &text);
            }
        }
        self.emit_event(WorldEventKind::Review, by, pull, None, None, &text);
        Ok(())
    }

    /// Replies in a thread. As on GitHub, an open draft swallows the reply: the client gets an id, and nobody else
    /// sees the reply.
    pub(crate) fn reply(
        &mut self,
        thread: ThreadId,
        by: AccountId,
        body: &str,
    ) -> Result<ReviewCommentId, WorldRefusal> {
        if body.trim().is_empty() {
            return Err(WorldRefusal::Unprocessable("Body can't be blank".to_owned()));
        }
        let pull = self[thread].pull;
        let hunk = self[thread].comments.first().map_or_else(String::new, |root| self[*root].hunk.clone());
        let draft = self.pending_review(pull, by);
        let review = draft.unwrap_or_else(|| self.start_review(pull, by, "", self[pull].head.clone()));
        let comment = self.add_to_thread(thread, review, by, body.to_owned(), hunk);
        if draft.is_none() {
            let now = self.now;
            self[review].state = SimulatedReviewState::Commented;
            self[review].submitted_at = Some(now);
            self.add_to_timeline(pull, by, TimelineEvent::Reviewed(review));
            self.emit_event(WorldEventKind::Reply, by, pull, Some(thread), None, body);
        }
        let on = self.pull_name(pull);
        self.record_write(by, "reply", on, Self::review_comment_node(comment), body, draft.is_some());
        Ok(comment)
    }

    pub(crate) fn comment(
        &mut self,
        subject: Subject,
        by: AccountId,
        body: &str,
    ) -> Result<CommentId, WorldRefusal> {
        if body.trim().is_empty() {
            return Err(WorldRefusal::Unprocessable("Body can't be blank".to_owned()));
        }
        let id = CommentId(self.comments.len());
        self.comments.push(SimulatedComment {
            subject,
            author: by,
            body: body.to_owned(),
            created_at: self.now,
            updated_at: self.now,
            edits: CommentEdits::default(),
            deleted: false,
        });
        let now = self.now;
        match subject {
            Subject::Pull(pull) => {
                self[pull].comments.push(id);
                self.add_to_timeline(pull, by, TimelineEvent::Commented(id));
                self.emit_event(WorldEventKind::Comment, by, pull, None, None, body);
            }
            Subject::Issue(issue) => {
                self[issue].comments.push(id);
                self[issue].updated_at = now;
            }
        }
        self.record_write(by, "comment", self.subject_name(subject), Self::comment_node(id), body, false);
        Ok(id)
    }

    /// As on GitHub, an edit changes only the comment's own `updatedAt`.
    pub(crate) fn edit_comment(&mut self, comment: CommentId, by: AccountId, body: &str) {
        let now = self.now;
        let on = self.subject_name(self[comment].subject);
        let item = &mut self[comment];
        body.clone_into(&mut item.body);
        item.updated_at = now;
        item.edits.edited_at = Some(now);
        item.edits.edited_by = Some(by);
        self.record_write(by, "edit", on, Self::comment_node(comment), body, false);
    }

    pub(crate) fn edit_review_comment(&mut self, comment: ReviewCommentId, by: AccountId, body: &str) {
        let now = self.now;
        let on = self.pull_name(self[self[comment].thread].pull);
        let item = &mut self[comment];
        body.clone_into(&mut item.body);
        item.updated_at = now;
        item.edits.edited_at = Some(now);
        item.edits.edited_by = Some(by);
        self.record_write(by, "edit", on, Self::review_comment_node(comment), body, false);
    }

    pub(crate) fn delete_comment(&mut self, comment: CommentId, by: AccountId) {
        self[comment].deleted = true;
        let on = self.subject_name(self[comment].subject);
        self.record_write(by, "delete", on, Self::comment_node(comment), "", false);
    }

    /// As on GitHub, resolving does not change `PullRequest.updatedAt`, so polling by that date misses it.
    pub(crate) fn resolve(&mut self, thread: ThreadId, by: AccountId) -> Result<(), WorldRefusal> {
        self.require_resolve(thread, by, "ResolveReviewThread")?;
        if self[thread].resolved_by.is_none() {
            let pull = self[thread].pull;
            self[thread].resolved_by = Some(by);
            self.emit_event(WorldEventKind::Resolved, by, pull, Some(thread), None, "");
            self.record_write(by, "resolve", self.pull_name(pull), Self::thread_node(thread), "", false);
        }
        Ok(())
    }

    pub(crate) fn unresolve(&mut self, thread: ThreadId, by: AccountId) -> Result<(), WorldRefusal> {
        self.require_resolve(thread, by, "UnresolveReviewThread")?;
        if self[thread].resolved_by.is_some() {
            let pull = self[thread].pull;
            self[thread].resolved_by = None;
            self.emit_event(WorldEventKind::Unresolved, by, pull, Some(thread), None, "");
            self.record_write(by, "unresolve", self.pull_name(pull), Self::thread_node(thread), "", false);
        }
        Ok(())
    }

    fn require_resolve(&self, thread: ThreadId, by: AccountId, what: &str) -> Result<(), WorldRefusal> {
        // GitHub Apps have their own permissions; here a bot may resolve the threads it opened.
        let opened = self[thread].comments.first().is_some_and(|root| self[*root].author == by);
        if self.may_resolve(by, thread) || (self[by].kind == SimulatedAccountKind::Bot && opened) {
            return Ok(());
        }
        self.require_write(by, self[self[thread].pull].repository, what)
    }

    /// Whether the comment is in another account's draft, and so invisible to this reader.
    pub(crate) fn hidden_from(&self, comment: ReviewCommentId, reader: AccountId) -> bool {
        let review = &self[self[comment].review];
        review.deleted || (review.state == SimulatedReviewState::Pending && review.author != reader)
    }

    /// The threads with at least one comment that the reader can see.
    pub(crate) fn threads_for(&self, pull: PullId, reader: AccountId) -> Vec<ThreadId> {
        let is_visible =
            |thread: &ThreadId| self[*thread].comments.iter().any(|c| !self.hidden_from(*c, reader));
        self[pull].threads.iter().copied().filter(is_visible).collect()
    }
}
