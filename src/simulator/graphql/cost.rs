//! A query's cost, by GitHub's documented formula, from the parsed document alone.
//!
//! The formula counts the requests that would fill every connection: one per possible parent. The cost is their sum
//! divided by a hundred, rounded, and at least one. `nodes(ids:)` has as many parents as ids.

use std::collections::BTreeSet;

use apollo_compiler::ExecutableDocument;
use apollo_compiler::ast::Value;
use apollo_compiler::executable::{Field, Operation, Selection, SelectionSet};
use apollo_compiler::response::JsonMap;
use apollo_compiler::validation::Valid;

use super::switched_off;

/// The points of a query and the number of nodes it could return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Cost {
    pub(crate) points: i64,
    pub(crate) nodes: u64,
}

pub(super) fn measure(
    document: &Valid<ExecutableDocument>,
    operation: &Operation,
    variables: &Valid<JsonMap>,
) -> Cost {
    let mut meter = Meter { document, variables, requests: 0, nodes: 0, counted: BTreeSet::new() };
    meter.walk(&operation.selection_set, 1, "");
    let points = i64::try_from((meter.requests + 50) / 100).unwrap_or(i64::MAX).max(1);
    Cost { points, nodes: meter.nodes }
}

struct Meter<'a> {
    document: &'a Valid<ExecutableDocument>,
    variables: &'a Valid<JsonMap>,
    requests: u64,
    nodes: u64,
    /// A connection that is selected twice at one path counts once.
    counted: BTreeSet<String>,
}

impl Meter<'_> {
    fn walk(&mut self, set: &SelectionSet, parents: u64, path: &str) {
        for selection in &set.selections {
            if switched_off(selection, self.variables) {
                continue;
            }
            match selection {
                Selection::Field(field) => self.field(set, field, parents, path),
                Selection::InlineFragment(inline) => self.walk(&inline.selection_set, parents, path),
                Selection::FragmentSpread(spread) => {
                    if let Some(fragment) = spread.fragment_def(self.document) {
                        self.walk(&fragment.selection_set, parents, path);
                    }
                }
            }
        }
    }

    fn field(&mut self, set: &SelectionSet, field: &Field, parents: u64, path: &str) {
        let path = format!("{path}/{}", field.response_key());
        let mut below = parents;
        let returns = field.ty().inner_named_type();
        if returns.ends_with("Connection") {
            let page = self.number(field, "first").or_else(|| self.number(field, "last")).unwrap_or(1);
            below = parents.saturating_mul(page.max(1));
            if self.counted.insert(path.clone()) {
                self.requests = self.requests.saturating_add(parents);
                self.nodes = self.nodes.saturating_add(below);
            }
        } else if set.ty == "Query" && field.name == "nodes" {
            below = parents.saturating_mul(self.length(field, "ids").max(1));
            if self.counted.insert(path.clone()) {
                self.nodes = self.nodes.saturating_add(below);
            }
        }
        self.walk(&field.selection_set, below, &path);
    }

    fn number(&self, field: &Field, argument: &str) -> Option<u64> {
        match field.specified_argument_by_name(argument)?.as_ref() {
            Value::Int(value) => value.try_to_i32().ok().and_then(|value| u64::try_from(value).ok()),
            Value::Variable(name) => self.variables.get(name.as_str())?.as_u64(),
            _ => None,
        }
    }

    fn length(&self, field: &Field, argument: &str) -> u64 {
        let length = match field.specified_argument_by_name(argument).map(AsRef::as_ref) {
            Some(Value::List(items)) => items.len(),
            Some(Value::Variable(name)) => {
                self.variables.get(name.as_str()).and_then(|value| value.as_array()).map_or(1, Vec::len)
            }
            _ => 1,
        };
        u64::try_from(length).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Engine, GraphqlRequest};
    use super::Cost;

    fn cost(query: &str) -> Cost {
        let request = GraphqlRequest { query: query.to_owned(), variables: None, operation_name: None };
        Engine::new().unwrap().prepare(&request).map(|prepared| prepared.cost).unwrap()
    }

    #[test]
    fn the_example_of_githubs_documentation_costs_51_points() {
        // 100 parents with 50 children each, and 60 grandchildren per child: 1 + 100 + 5,000 requests.
        let query = "{ repository(owner: \"o\", name: \"r\") { pullRequests(first: 100) { nodes {
            reviewThreads(first: 50) { nodes { comments(first: 60) { nodes { id } } } } } } } }";
        assert_eq!(cost(query), Cost { points: 51, nodes: 100 + 5_000 + 300_000 });
    }

    #[test]
    fn a_flat_batch_costs_1_point_and_a_nested_batch_101() {
        let ids = |count: usize| (0..count).map(|n| format!("\"PR_{n}\"")).collect::<Vec<_>>().join(",");
        let light = format!(
            "{{ nodes(ids: [{}]) {{ ... on PullRequest {{ reviewThreads(first: 100) {{ nodes {{ id }} }}
                reviews(last: 1) {{ nodes {{ id }} }} comments(last: 1) {{ nodes {{ id }} }} }} }} }}",
            ids(40)
        );
        assert_eq!(cost(&light).points, 1);
        let nested = format!(
            "{{ nodes(ids: [{}]) {{ ... on PullRequest {{ reviewThreads(first: 100) {{ nodes {{
                comments(last: 1) {{ nodes {{ id }} }} }} }} }} }} }}",
            ids(100)
        );
        assert_eq!(cost(&nested).points, 101);
    }

    #[test]
    fn a_connection_in_two_fragments_counts_once() {
        let query = "{ repository(owner: \"o\", name: \"r\") { ...a ...b } }
            fragment a on Repository { pullRequests(first: 100) { nodes { reviews(first: 1) { totalCount } } } }
            fragment b on Repository { pullRequests(first: 100) { nodes { reviews(first: 1) { totalCount } } } }";
        assert_eq!(cost(query), Cost { points: 1, nodes: 200 });
    }
}
