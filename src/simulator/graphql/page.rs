//! Connections: pages, cursors, and GitHub's refusals of pages that are too large or have no size.

use std::collections::BTreeMap;
use std::rc::Rc;

use apollo_compiler::resolvers::{ResolveInfo, ResolvedValue};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;

use super::object::{
    GraphqlContext, GraphqlNode, Resolved, count, leaf, refused, text_or_null, time, unknown,
};
use crate::simulator::world::World;

/// GitHub's largest page.
const LARGEST_PAGE: i64 = 100;

/// One page of a list.
#[derive(Debug)]
pub(super) struct GraphqlConnection {
    pub(super) type_name: String,
    /// The whole list, of which the page is `start..end`.
    all: Vec<GraphqlNode>,
    start: usize,
    end: usize,
    /// The list's length before filtering; some types show both.
    unfiltered: usize,
    updated_at: Option<Timestamp>,
}

impl GraphqlConnection {
    fn page(&self) -> &[GraphqlNode] {
        &self.all[self.start..self.end]
    }
}

/// One element with its cursor.
#[derive(Debug)]
pub(super) struct GraphqlEdge {
    pub(super) type_name: String,
    index: usize,
    node: GraphqlNode,
}

/// The requested page of a list. The connection's type is the field's type.
pub(super) fn page<'a>(
    context: &'a GraphqlContext<'a>,
    info: &'a ResolveInfo<'a>,
    items: Vec<GraphqlNode>,
) -> Resolved<'a> {
    let total = items.len();
    page_of(context, info, items, total, None)
}

pub(super) fn page_of<'a>(
    context: &'a GraphqlContext<'a>,
    info: &'a ResolveInfo<'a>,
    items: Vec<GraphqlNode>,
    unfiltered: usize,
    updated_at: Option<Timestamp>,
) -> Resolved<'a> {
    let name = info.field_name();
    let number = |argument: &str| {
        info.arguments().get(argument).and_then(apollo_compiler::response::serde_json_bytes::Value::as_i64)
    };
    let (first, last) = (number("first"), number("last"));
    if first.is_none() && last.is_none() {
        let message = format!(
            "You must provide a `first` or `last` value to properly paginate the `{name}` connection."
        );
        return Err(refused("MISSING_PAGINATION_BOUNDARIES", message));
    }
    if first.is_some() && last.is_some() {
        let message =
            format!("Passing both `first` and `last` to paginate the `{name}` connection is not supported.");
        return Err(refused("INVALID_PAGINATION_BOUNDARIES", message));
    }
    for (argument, value) in [("first", first), ("last", last)] {
        let Some(value) = value else { continue };
        if value > LARGEST_PAGE {
            let message = format!(
                "Requesting {value} records on the `{name}` connection exceeds the `{argument}` limit of \
                 {LARGEST_PAGE} records."
            );
            return Err(refused("EXCESSIVE_PAGINATION", message));
        }
        if value < 1 {
            let message = format!("`{argument}` on the `{name}` connection must be at least 1.");
            return Err(refused("ARGUMENT_LIMIT", message));
        }
    }
    let total = items.len();
    let bound = |argument: &str| -> Result<Option<usize>, _> {
        let Some(text) = info.arguments().get(argument).and_then(|value| value.as_str()) else {
            return Ok(None);
        };
        let index = index_of(text);
        index.map(Some).ok_or_else(|| {
            refused("INVALID_CURSOR_ARGUMENTS", format!("`{text}` does not appear to be a valid cursor."))
        })
    };
    let mut start = bound("after")?.map_or(0, |index| index + 1).min(total);
    let mut end = bound("before")?.unwrap_or(total).min(total).max(start);
    if let Some(first) = first {
        end = end.min(start + usize::try_from(first).unwrap_or(0));
    } else if let Some(last) = last {
        start = start.max(end.saturating_sub(usize::try_from(last).unwrap_or(0)));
    }
    let type_name = info.field_definition().ty.inner_named_type().to_string();
    let connection = GraphqlConnection { type_name, all: items, start, end, unfiltered, updated_at };
    Ok(context.object(GraphqlNode::Connection(Rc::new(connection))))
}

pub(super) fn connection<'a>(
    context: &'a GraphqlContext<'a>,
    connection: &Rc<GraphqlConnection>,
    info: &ResolveInfo<'_>,
) -> ResolvedValue<'a> {
    match info.field_name() {
        "nodes" => context.list(connection.page().iter().cloned().map(Some).collect()),
        "edges" => {
            let type_name = info.field_definition().ty.inner_named_type().to_string();
            let edges = connection.page().iter().enumerate().map(|(offset, node)| {
                let index = connection.start + offset;
                Some(GraphqlNode::Edge(Rc::new(GraphqlEdge {
                    type_name: type_name.clone(),
                    index,
                    node: node.clone(),
                })))
            });
            context.list(edges.collect())
        }
        "pageInfo" => context.object(GraphqlNode::PageInfo(Rc::clone(connection))),
        "totalCount" => count(connection.unfiltered),
        "filteredCount" | "issueCount" | "checkRunCount" => count(connection.all.len()),
        "pageCount" => count(connection.page().len()),
        "checkRunCountsByState" => {
            let counts = check_states(&context.world(), &connection.all).into_iter();
            context.list(counts.map(|(state, count)| Some(GraphqlNode::StateCount(state, count))).collect())
        }
        // The simulator has check runs, but no commit statuses.
        "statusContextCountsByState" => context.list(Vec::new()),
        "statusContextCount" | "repositoryCount" | "userCount" => leaf(0),
        "updatedAt" => time(connection.updated_at.unwrap_or(Timestamp::UNIX_EPOCH)),
        _ => unknown(),
    }
}

pub(super) fn edge<'a>(
    context: &'a GraphqlContext<'a>,
    edge: &GraphqlEdge,
    info: &ResolveInfo<'_>,
) -> ResolvedValue<'a> {
    match info.field_name() {
        "cursor" => leaf(cursor(edge.index)),
        "node" => context.object(edge.node.clone()),
        _ => unknown(),
    }
}

/// An edge outside a connection: mutations return new records this way.
pub(super) fn lone_edge(type_name: &str, index: usize, node: GraphqlNode) -> GraphqlNode {
    GraphqlNode::Edge(Rc::new(GraphqlEdge { type_name: type_name.to_owned(), index, node }))
}

pub(super) fn page_info<'a>(connection: &GraphqlConnection, info: &ResolveInfo<'_>) -> ResolvedValue<'a> {
    let end = connection.end;
    let at = |index: usize| (!connection.page().is_empty()).then(|| cursor(index));
    match info.field_name() {
        "hasNextPage" => leaf(end < connection.all.len()),
        "hasPreviousPage" => leaf(connection.start > 0),
        "startCursor" => text_or_null(at(connection.start).as_deref()),
        "endCursor" => text_or_null(at(end.saturating_sub(1)).as_deref()),
        _ => unknown(),
    }
}

fn cursor(index: usize) -> String {
    STANDARD.encode(format!("cursor:v2:{index}"))
}

fn index_of(cursor: &str) -> Option<usize> {
    let bytes = STANDARD.decode(cursor).ok()?;
    String::from_utf8(bytes).ok()?.strip_prefix("cursor:v2:")?.parse().ok()
}

/// The number of check runs in each state, over all pages.
fn check_states(world: &World, nodes: &[GraphqlNode]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for node in nodes {
        if let GraphqlNode::Check(id) = node {
            let state = world[*id].conclusion.clone().unwrap_or_else(|| "IN_PROGRESS".to_owned());
            *counts.entry(state).or_insert(0) += 1;
        }
    }
    counts
}
