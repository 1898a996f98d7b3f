//! Search, with the qualifiers that people use for pull requests and issues.

use jiff::Timestamp;

use super::object::GraphqlNode;
use crate::simulator::world::{AccountId, LabelId, PullId, PullState, RepositoryId, World};

/// One word of a search: a qualifier with its value, or text.
#[derive(Debug, PartialEq, Eq)]
struct Term {
    negated: bool,
    qualifier: Option<String>,
    value: String,
}

/// Splits a query at blanks outside quotes. A leading `-` negates a term.
fn terms(query: &str) -> Vec<Term> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for letter in query.chars() {
        match letter {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            letter => {
                if let Some(word) = words.last_mut() {
                    word.push(letter);
                }
            }
        }
    }
    let words = words.into_iter().filter(|word| !word.is_empty());
    words
        .map(|word| {
            let (negated, word) = match word.strip_prefix('-') {
                Some(rest) => (true, rest.to_owned()),
                None => (false, word),
            };
            match word.split_once(':').filter(|(name, _)| QUALIFIERS.contains(name)) {
                Some((name, value)) => {
                    Term { negated, qualifier: Some(name.to_owned()), value: value.to_owned() }
                }
                None => Term { negated, qualifier: None, value: word },
            }
        })
        .collect()
}

const QUALIFIERS: [&str; 22] = [
    "is",
    "state",
    "type",
    "author",
    "repo",
    "org",
    "user",
    "label",
    "review-requested",
    "user-review-requested",
    "reviewed-by",
    "involves",
    "assignee",
    "mentions",
    "head",
    "base",
    "draft",
    "updated",
    "created",
    "sort",
    "in",
    "archived",
];

pub(super) fn find(world: &World, viewer: AccountId, kind: &str, query: &str) -> Vec<GraphqlNode> {
    let terms = terms(query);
    match kind {
        "REPOSITORY" => (0..world.repositories.len())
            .map(RepositoryId)
            .filter(|id| world.may_read(viewer, *id) && world.full_name(*id).contains(query))
            .map(GraphqlNode::Repository)
            .collect(),
        "USER" => (0..world.accounts.len())
            .map(AccountId)
            .filter(|id| world[*id].type_name() == "User" && world[*id].login.contains(query))
            .map(GraphqlNode::Account)
            .collect(),
        "DISCUSSION" => Vec::new(),
        _ => {
            let pulls =
                world.pulls.iter().enumerate().map(|(index, _)| SearchItem::pull(world, PullId(index)));
            let issues = world.issues.iter().enumerate().map(|(index, issue)| SearchItem {
                node: GraphqlNode::Issue(crate::simulator::world::IssueId(index)),
                pull: None,
                repository: issue.repository,
                author: issue.author,
                labels: &issue.labels,
                assignees: &issue.assignees,
                text: format!("{}\n{}", issue.title, issue.body),
                created_at: issue.created_at,
                updated_at: issue.updated_at,
            });
            let mut found: Vec<SearchItem<'_>> = pulls
                .chain(issues)
                .filter(|item| {
                    world.may_read(viewer, item.repository)
                        && terms.iter().all(|term| item.matches(world, viewer, term) != term.negated)
                })
                .collect();
            sort(&mut found, &terms);
            found.into_iter().map(|item| item.node).collect()
        }
    }
}

fn sort(found: &mut [SearchItem<'_>], terms: &[Term]) {
    let sort = terms.iter().find(|term| term.qualifier.as_deref() == Some("sort"));
    let sort = sort.map_or("created-desc", |term| term.value.as_str());
    if sort.starts_with("updated") {
        found.sort_by_key(|item| item.updated_at);
    } else {
        found.sort_by_key(|item| item.created_at);
    }
    if !sort.ends_with("-asc") {
        found.reverse();
    }
}

/// The parts of a pull request or issue that a search reads.
struct SearchItem<'w> {
    node: GraphqlNode,
    pull: Option<PullId>,
    repository: RepositoryId,
    author: AccountId,
    labels: &'w [LabelId],
    assignees: &'w [AccountId],
    text: String,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl<'w> SearchItem<'w> {
    fn pull(world: &'w World, id: PullId) -> Self {
        let pull = &world[id];
        Self {
            node: GraphqlNode::PullRequest(id),
            pull: Some(id),
            repository: pull.repository,
            author: pull.author,
            labels: &pull.labels,
            assignees: &pull.assignees,
            text: format!("{}\n{}", pull.title, pull.body),
            created_at: pull.created_at,
            updated_at: pull.updated_at,
        }
    }

    fn matches(&self, world: &World, viewer: AccountId, term: &Term) -> bool {
        let value = term.value.as_str();
        let Some(qualifier) = term.qualifier.as_deref() else {
            return self.text.to_lowercase().contains(&value.to_lowercase());
        };
        let account = || if value == "@me" { Some(viewer) } else { world.account(value) };
        let is = |id: AccountId| account() == Some(id);
        let pull = self.pull.map(|pull| &world[pull]);
        match qualifier {
            "is" | "state" | "type" => match value {
                "pr" => pull.is_some(),
                "issue" => pull.is_none(),
                "open" => pull.is_none_or(|pull| pull.state == PullState::Open),
                "closed" => pull.is_some_and(|pull| pull.state != PullState::Open),
                "merged" => pull.is_some_and(|pull| pull.state == PullState::Merged),
                "unmerged" => pull.is_some_and(|pull| pull.state != PullState::Merged),
                "draft" => pull.is_some_and(|pull| pull.draft),
                "public" => !world[self.repository].private,
                "private" => world[self.repository].private,
                _ => false,
            },
            "draft" => pull.is_some_and(|pull| pull.draft.to_string() == value),
            "author" => match value.strip_prefix("app/") {
                Some(app) => world.account(app) == Some(self.author),
                None => is(self.author),
            },
            "assignee" => self.assignees.iter().any(|id| is(*id)),
            "involves" => {
                is(self.author)
                    || self.assignees.iter().any(|id| is(*id))
                    || pull.is_some_and(|pull| pull.reviews.iter().any(|review| is(world[*review].author)))
            }
            "mentions" => {
                account().is_some_and(|id| crate::simulator::world::mentions(&self.text, &world[id].login))
            }
            "review-requested" | "user-review-requested" => {
                pull.is_some_and(|pull| pull.requested.iter().any(|id| is(*id)))
            }
            "reviewed-by" => {
                pull.is_some_and(|pull| pull.reviews.iter().any(|review| is(world[*review].author)))
            }
            "repo" => world.full_name(self.repository).eq_ignore_ascii_case(value),
            "org" | "user" => is(world[self.repository].owner),
            // Labels separated by commas: one of them is enough.
            "label" => value
                .split(',')
                .any(|name| self.labels.iter().any(|label| world[*label].name.eq_ignore_ascii_case(name))),
            "head" => pull.is_some_and(|pull| pull.head_ref == value),
            "base" => pull.is_some_and(|pull| pull.base_ref == value),
            "updated" => compares(self.updated_at, value),
            "created" => compares(self.created_at, value),
            // `in`, `sort` and `archived` do not filter here.
            _ => !term.negated,
        }
    }
}

/// `>2026-01-01`, `>=2026-01-01T10:00:00Z`, `<…`.
fn compares(at: Timestamp, value: &str) -> bool {
    let operator_length = value.chars().take_while(|letter| matches!(letter, '<' | '>' | '=')).count();
    let (operator, date) = value.split_at(operator_length);
    let date = if date.len() == 10 { format!("{date}T00:00:00Z") } else { date.to_owned() };
    let Ok(bound) = date.parse::<Timestamp>() else { return false };
    match operator {
        ">" => at > bound,
        ">=" => at >= bound,
        "<" => at < bound,
        "<=" => at <= bound,
        _ => at == bound,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_qualifiers_and_quotes_are_told_apart() {
        let found = terms(r#"is:pr -label:"no review" fix std::io"#);
        let term = |negated, qualifier: Option<&str>, value: &str| Term {
            negated,
            qualifier: qualifier.map(str::to_owned),
            value: value.to_owned(),
        };
        assert_eq!(
            found,
            [
                term(false, Some("is"), "pr"),
                term(true, Some("label"), "no review"),
                term(false, None, "fix"),
                term(false, None, "std::io")
            ]
        );
    }
}
