//! Finds records by name, and names them: logins, addresses, node ids. Also the access rules.

use std::sync::Arc;

use super::{
    AccountId, CommentId, Commit, IssueId, LabelId, PullId, RepositoryId, ReviewCommentId, ReviewId,
    SimulatedAccount, SimulatedAccountKind, SimulatedAssociation, SimulatedRepository, Subject, ThreadId,
    Tree, World, WorldRefusal, diff,
};

impl World {
    /// Finds an account by login; case and the suffix `[bot]` do not matter.
    pub(crate) fn account(&self, login: &str) -> Option<AccountId> {
        let bare = login.strip_suffix("[bot]").unwrap_or(login);
        self.accounts.iter().position(|account| account.login.eq_ignore_ascii_case(bare)).map(AccountId)
    }

    /// Finds a repository by its present name, or else by a former one; case does not matter.
    pub(crate) fn repository(&self, owner: &str, name: &str) -> Option<RepositoryId> {
        let full = format!("{owner}/{name}");
        let had_name = |repository: &SimulatedRepository| {
            repository.former_names.iter().any(|former| former.eq_ignore_ascii_case(&full))
        };
        let former = || self.repositories.iter().rposition(had_name).map(RepositoryId);
        self.repository_now(owner, name).or_else(former)
    }

    /// Finds a repository by its present name only.
    pub(crate) fn repository_now(&self, owner: &str, name: &str) -> Option<RepositoryId> {
        self.repositories
            .iter()
            .position(|repository| {
                repository.name.eq_ignore_ascii_case(name)
                    && self[repository.owner].login.eq_ignore_ascii_case(owner)
            })
            .map(RepositoryId)
    }

    pub(crate) fn repository_named(&self, full: &str) -> Option<RepositoryId> {
        let (owner, name) = full.split_once('/')?;
        self.repository(owner, name)
    }

    pub(crate) fn pull(&self, repository: RepositoryId, number: i64) -> Option<PullId> {
        self[repository].pulls.iter().copied().find(|pull| self[*pull].number == number)
    }

    /// Finds a pull request by `owner/name#number`.
    pub(crate) fn pull_named(&self, reference: &str) -> Option<PullId> {
        let (repository, number) = reference.split_once('#')?;
        self.pull(self.repository_named(repository)?, number.parse().ok()?)
    }

    pub(crate) fn issue(&self, repository: RepositoryId, number: i64) -> Option<IssueId> {
        self[repository].issues.iter().copied().find(|issue| self[*issue].number == number)
    }

    pub(crate) fn label(&self, repository: RepositoryId, name: &str) -> Option<LabelId> {
        self[repository].labels.iter().copied().find(|label| self[*label].name.eq_ignore_ascii_case(name))
    }

    pub(crate) fn full_name(&self, repository: RepositoryId) -> String {
        format!("{}/{}", self[self[repository].owner].login, self[repository].name)
    }

    pub(crate) fn pull_name(&self, pull: PullId) -> String {
        format!("{}#{}", self.full_name(self[pull].repository), self[pull].number)
    }

    pub(crate) fn issue_name(&self, issue: IssueId) -> String {
        format!("{}#{}", self.full_name(self[issue].repository), self[issue].number)
    }

    pub(crate) fn subject_name(&self, subject: Subject) -> String {
        match subject {
            Subject::Pull(pull) => self.pull_name(pull),
            Subject::Issue(issue) => self.issue_name(issue),
        }
    }

    pub(crate) fn repository_of(&self, subject: Subject) -> RepositoryId {
        match subject {
            Subject::Pull(pull) => self[pull].repository,
            Subject::Issue(issue) => self[issue].repository,
        }
    }

    pub(crate) fn pull_url(&self, pull: PullId) -> String {
        let name = self.full_name(self[pull].repository);
        format!("{}/{name}/pull/{}", self.base_url, self[pull].number)
    }

    pub(crate) fn association(&self, account: AccountId, repository: RepositoryId) -> SimulatedAssociation {
        if self[repository].owner == account {
            return SimulatedAssociation::Owner;
        }
        self[repository].associations.get(&account).copied().unwrap_or(SimulatedAssociation::None)
    }

    /// A private repository is readable for its owner and for accounts with an association.
    pub(crate) fn may_read(&self, account: AccountId, repository: RepositoryId) -> bool {
        let repository = &self[repository];
        !repository.private || repository.owner == account || repository.associations.contains_key(&account)
    }

    pub(crate) fn require_write(
        &self,
        by: AccountId,
        repository: RepositoryId,
        what: &str,
    ) -> Result<(), WorldRefusal> {
        if self.association(by, repository).may_write() {
            return Ok(());
        }
        let login = &self[by].login;
        Err(WorldRefusal::Forbidden(format!(
            "{login} does not have the correct permissions to execute `{what}`"
        )))
    }

    pub(crate) fn may_resolve(&self, account: AccountId, thread: ThreadId) -> bool {
        let pull = &self[self[thread].pull];
        pull.author == account || self.association(account, pull.repository).may_write()
    }

    /// The files that a pull request changes.
    pub(crate) fn changed_files(&self, pull: PullId) -> Vec<diff::SimulatedFileChange> {
        diff::changes(&self.tree(&self[pull].base), &self.tree(&self[pull].head))
    }

    pub(crate) fn commit(&self, oid: &str) -> Option<&Commit> {
        self.commits.get(oid)
    }

    /// The tree at a commit; empty for an unknown commit.
    pub(crate) fn tree(&self, oid: &str) -> Arc<Tree> {
        self.commits.get(oid).map(|commit| Arc::clone(&commit.tree)).unwrap_or_default()
    }

    /// A commit by full name, by a prefix of at least seven digits, or by a branch of the repository.
    pub(crate) fn commit_named(&self, repository: RepositoryId, name: &str) -> Option<&Commit> {
        let name = name.strip_prefix("refs/heads/").unwrap_or(name);
        if let Some(oid) = self[repository].branches.get(name) {
            return self.commit(oid);
        }
        self.commits
            .values()
            .find(|commit| commit.repository == repository && name.len() >= 7 && commit.oid.starts_with(name))
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

    pub(crate) fn thread_node(thread: ThreadId) -> String {
        format!("PRRT_{}", thread.0 + 1)
    }

    pub(crate) fn review_node(review: ReviewId) -> String {
        format!("PRR_{}", review.0 + 1)
    }

    pub(crate) fn review_comment_node(comment: ReviewCommentId) -> String {
        format!("PRRC_{}", comment.0 + 1)
    }

    pub(crate) fn comment_node(comment: CommentId) -> String {
        format!("IC_{}", comment.0 + 1)
    }
}

impl SimulatedAccount {
    /// REST's spelling of the login: a bot's ends in `[bot]`.
    pub(crate) fn rest_login(&self) -> String {
        match self.kind {
            SimulatedAccountKind::Bot => format!("{}[bot]", self.login),
            _ => self.login.clone(),
        }
    }

    pub(crate) fn type_name(&self) -> &'static str {
        match self.kind {
            SimulatedAccountKind::User => "User",
            SimulatedAccountKind::Bot => "Bot",
            SimulatedAccountKind::Organization => "Organization",
            SimulatedAccountKind::Mannequin => "Mannequin",
            SimulatedAccountKind::Team => "Team",
        }
    }
}

/// Whether a text contains `@login`, and not only the start of a longer login.
pub(crate) fn mentions(text: &str, login: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let needle = format!("@{}", login.to_ascii_lowercase());
    text.match_indices(&needle).any(|(at, _)| {
        let after = text[at + needle.len()..].chars().next();
        !after.is_some_and(|next| next.is_ascii_alphanumeric() || next == '-' || next == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::mentions;

    #[test]
    fn a_mention_ends_where_the_login_ends() {
        assert!(mentions("please, @Codex review", "codex"));
        assert!(!mentions("@codex-evil review", "codex"));
        assert!(!mentions("codex review", "codex"));
    }
}
