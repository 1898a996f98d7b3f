//! A rule that selects pull requests, and the queries that carry it out.

use crate::domain::snapshot::{Account, PullRequestSnapshot, RepositoryName};

/// Selects open pull requests. A pull request must meet every kind of condition: all of the labels, and one
/// entry of each of the other lists that are not empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WatchRule {
    /// Empty means every repository that the token can see.
    pub repositories: Vec<RepositoryName>,
    /// Logins. `@me` is the token's account; a bot's login ends in `[bot]`.
    pub authors: Vec<String>,
    /// Logins of requested reviewers, or `@me`.
    pub review_requested: Vec<String>,
    pub labels: Vec<String>,
}

/// One query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// Lists the open pull requests of a repository. Always up to date.
    OpenIn(RepositoryName),
    /// Asks the search index, which may lag behind by minutes.
    Search(String),
}

/// GitHub refuses longer search texts.
const LONGEST_SEARCH: usize = 256;

impl WatchRule {
    /// The queries. A rule without conditions has none, because it would select all of GitHub.
    pub fn lookups(&self) -> Vec<Lookup> {
        let people = !self.authors.is_empty() || !self.review_requested.is_empty();
        if !people && self.labels.is_empty() {
            return self.repositories.iter().cloned().map(Lookup::OpenIn).collect();
        }
        let mut common = "is:pr is:open archived:false".to_owned();
        for label in &self.labels {
            // The search language cannot escape a quotation mark.
            common = format!("{common} label:\"{}\"", label.replace(['"', '\n'], " "));
        }
        let mut lookups = Vec::new();
        for author in alternatives(&self.authors) {
            for reviewer in alternatives(&self.review_requested) {
                let mut query = common.clone();
                if let Some(author) = author {
                    query = format!("{query} author:{}", searchable(author));
                }
                if let Some(reviewer) = reviewer {
                    query = format!("{query} review-requested:{}", searchable(reviewer));
                }
                self.with_repositories(&query, &mut lookups);
            }
        }
        lookups
    }

    /// Whether a stored pull request may still match. Only GitHub knows who `@me` is and which reviews are
    /// requested now, so these conditions count as met.
    pub fn may_fit(&self, snapshot: &PullRequestSnapshot) -> bool {
        let WatchRule { repositories, authors, review_requested, labels } = self;
        if repositories.is_empty() && authors.is_empty() && review_requested.is_empty() && labels.is_empty() {
            return false;
        }
        let by = snapshot.author.as_ref().map(Account::spelled);
        let in_repository = repositories.is_empty() || repositories.iter().any(|name| snapshot.is_in(name));
        let by_author = authors.is_empty()
            || authors.iter().any(|author| {
                author == "@me" || by.as_ref().is_some_and(|by| by.eq_ignore_ascii_case(author))
            });
        let has = |label: &String| snapshot.labels.iter().any(|own| own.eq_ignore_ascii_case(label));
        in_repository && by_author && labels.iter().all(has)
    }

    /// Several `repo:` qualifiers mean any of them. Each search gets as many as fit.
    fn with_repositories(&self, query: &str, lookups: &mut Vec<Lookup>) {
        let mut current = query.to_owned();
        for repository in &self.repositories {
            let qualifier = format!(" repo:{repository}");
            if current.len() > query.len() && current.len() + qualifier.len() > LONGEST_SEARCH {
                lookups.push(Lookup::Search(std::mem::replace(&mut current, query.to_owned())));
            }
            current.push_str(&qualifier);
        }
        lookups.push(Lookup::Search(current));
    }
}

fn alternatives(entries: &[String]) -> Vec<Option<&String>> {
    if entries.is_empty() { vec![None] } else { entries.iter().map(Some).collect() }
}

/// A login in the search language, where an app is `app/name`. Other characters are removed, because they
/// could start another qualifier.
fn searchable(login: &str) -> String {
    let (prefix, login) = match login.strip_suffix("[bot]") {
        Some(app) => ("app/", app),
        None => ("", login),
    };
    let kept = login.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '@' | '/'));
    format!("{prefix}{}", kept.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository(text: &str) -> RepositoryName {
        RepositoryName::parse(text).unwrap()
    }

    #[test]
    fn a_repository_is_listed_and_conditions_on_people_are_searched() {
        let mut rule =
            WatchRule { repositories: vec![repository("o/r"), repository("o/s")], ..WatchRule::default() };
        assert_eq!(rule.lookups(), [Lookup::OpenIn(repository("o/r")), Lookup::OpenIn(repository("o/s"))]);
        rule.authors = vec!["@me".to_owned(), "fixer[bot]".to_owned()];
        rule.labels = vec!["needs \"x\"".to_owned()];
        let search = |text: &str| Lookup::Search(text.to_owned());
        assert_eq!(
            rule.lookups(),
            [
                search("is:pr is:open archived:false label:\"needs  x \" author:@me repo:o/r repo:o/s"),
                search("is:pr is:open archived:false label:\"needs  x \" author:app/fixer repo:o/r repo:o/s"),
            ]
        );
        let asked = WatchRule { review_requested: vec!["@me".to_owned()], ..WatchRule::default() };
        assert_eq!(asked.lookups(), [search("is:pr is:open archived:false review-requested:@me")]);
        assert_eq!(WatchRule::default().lookups(), []);
    }

    #[test]
    fn a_stored_pull_request_may_fit_a_rule() {
        let snapshot: PullRequestSnapshot = serde_json::from_value(serde_json::json!({
            "repository": "Acme/Shop", "number": 7, "node_id": "PR_7", "title": "", "body": "", "url": "",
            "author": {"login": "fixer", "kind": "bot", "database_id": null}, "author_association": "NONE",
            "written_by_us": false, "state": "open", "draft": false, "base": {"name": "main", "sha": "a"},
            "head": {"name": "topic", "sha": "b"}, "head_repository": null,
            "pushed": {"at": "2026-01-01T00:00:00Z", "evidence": "opened"},
            "created_at": "2026-01-01T00:00:00Z",
            "updated_at": "2026-01-01T00:00:00Z", "merged_at": null, "closed_at": null, "reopened_at": null,
            "labels": ["AI"], "reviews": [], "comments": [], "threads": [], "force_pushes": [],
            "review_requests": {"seen": []}, "checks": {"seen": []}
        }))
        .unwrap();
        let rule = |repositories: &[&str], authors: &[&str], labels: &[&str]| WatchRule {
            repositories: repositories.iter().map(|name| repository(name)).collect(),
            authors: authors.iter().map(|&author| author.to_owned()).collect(),
            review_requested: Vec::new(),
            labels: labels.iter().map(|&label| label.to_owned()).collect(),
        };
        for (fits, rule) in [
            (true, rule(&["acme/shop"], &[], &[])),
            (false, rule(&["acme/desk"], &[], &[])),
            (true, rule(&[], &["fixer[bot]"], &["ai"])),
            (false, rule(&[], &["fixer"], &[])),
            (true, rule(&["acme/shop", "acme/desk"], &["@me"], &[])),
            (false, rule(&["acme/shop"], &[], &["ai", "other"])),
            (false, WatchRule::default()),
        ] {
            assert_eq!(rule.may_fit(&snapshot), fits, "{rule:?}");
        }
    }

    #[test]
    fn many_repositories_are_split_over_several_searches() {
        let repositories: Vec<_> =
            (0..100).map(|n| repository(&format!("organisation/repository-{n}"))).collect();
        let rule = WatchRule { repositories, authors: vec!["a b:c".to_owned()], ..WatchRule::default() };
        let lookups = rule.lookups();
        let mut mentioned = 0;
        for lookup in &lookups {
            let Lookup::Search(text) = lookup else { panic!("{lookup:?}") };
            assert!(text.len() <= LONGEST_SEARCH && text.contains("author:abc"), "{text}");
            mentioned += text.matches("repo:").count();
        }
        assert_eq!(mentioned, 100);
    }
}
