//! The simulator's schema is a subset of GitHub's, and every field of it has a resolver.

use std::path::Path;

use apollo_compiler::Schema;
use apollo_compiler::ast::{FieldDefinition, InputValueDefinition, Type};
use apollo_compiler::schema::ExtendedType;
use serde_json::{Value, json};

use super::client::{Client, start};

const OURS: &str = include_str!("../../../assets/simulator/schema.graphql");

#[test]
#[cfg_attr(not(has_shared), ignore = "needs ../shared, which is not part of the repository")]
fn the_simulators_schema_is_a_subset_of_githubs() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/github/schema.graphql");
    let text = std::fs::read_to_string(&file).unwrap();
    // GitHub's file declares one field twice; the rest of it is valid.
    let theirs = Schema::parse(text, "github.graphql").unwrap_or_else(|error| error.partial);
    let ours = Schema::parse_and_validate(OURS, "ours.graphql").unwrap();
    let mut wrong = Vec::new();
    let mut compared = 0;
    for (name, definition) in ours.types.iter().filter(|(_, definition)| !definition.is_built_in()) {
        let Some(real) = theirs.types.get(name) else {
            wrong.push(format!("{name}: GitHub has no such type"));
            continue;
        };
        compared += 1;
        compare(name, definition, real, &mut wrong);
    }
    assert!(compared > 100, "only {compared} types were compared");
    assert_eq!(wrong, [""; 0]);
}

fn compare(name: &str, ours: &ExtendedType, theirs: &ExtendedType, wrong: &mut Vec<String>) {
    match (ours, theirs) {
        (ExtendedType::Scalar(_), ExtendedType::Scalar(_)) => {}
        (ExtendedType::Object(ours), ExtendedType::Object(theirs)) => {
            for interface in &ours.implements_interfaces {
                if !theirs.implements_interfaces.contains(interface) {
                    wrong.push(format!("{name} does not implement {interface}"));
                }
            }
            for (field, definition) in &ours.fields {
                compare_field(name, definition, theirs.fields.get(field).map(|f| &***f), wrong);
            }
        }
        (ExtendedType::Interface(ours), ExtendedType::Interface(theirs)) => {
            for (field, definition) in &ours.fields {
                compare_field(name, definition, theirs.fields.get(field).map(|f| &***f), wrong);
            }
        }
        (ExtendedType::Union(ours), ExtendedType::Union(theirs)) => {
            for member in ours.members.iter().filter(|member| !theirs.members.contains(*member)) {
                wrong.push(format!("{name} has no member {member}"));
            }
        }
        (ExtendedType::Enum(ours), ExtendedType::Enum(theirs)) => {
            for value in ours.values.keys().filter(|value| !theirs.values.contains_key(*value)) {
                wrong.push(format!("{name} has no value {value}"));
            }
        }
        (ExtendedType::InputObject(ours), ExtendedType::InputObject(theirs)) => {
            for (field, definition) in &ours.fields {
                let real = theirs.fields.get(field).map(|f| &***f);
                compare_input(&format!("{name}.{field}"), definition, real, wrong);
            }
            let needed = theirs.fields.iter().filter(|(_, field)| required(field));
            for (field, _) in needed.filter(|(field, _)| !ours.fields.contains_key(*field)) {
                wrong.push(format!("{name}.{field} is required and missing"));
            }
        }
        _ => wrong.push(format!("{name} is of another kind")),
    }
}

fn compare_field(
    name: &str,
    ours: &FieldDefinition,
    theirs: Option<&FieldDefinition>,
    wrong: &mut Vec<String>,
) {
    let place = format!("{name}.{}", ours.name);
    let Some(theirs) = theirs else {
        wrong.push(format!("{place}: GitHub has no such field"));
        return;
    };
    same_type(&place, &ours.ty, &theirs.ty, wrong);
    for argument in &ours.arguments {
        let real = theirs.arguments.iter().find(|real| real.name == argument.name);
        compare_input(&format!("{place}({})", argument.name), argument, real.map(|real| &**real), wrong);
    }
    for argument in theirs.arguments.iter().filter(|argument| required(argument)) {
        if !ours.arguments.iter().any(|ours| ours.name == argument.name) {
            wrong.push(format!("{place}({}) is required and missing", argument.name));
        }
    }
}

fn compare_input(
    place: &str,
    ours: &InputValueDefinition,
    theirs: Option<&InputValueDefinition>,
    wrong: &mut Vec<String>,
) {
    let Some(theirs) = theirs else {
        wrong.push(format!("{place}: GitHub has no such input"));
        return;
    };
    same_type(place, &ours.ty, &theirs.ty, wrong);
    let text = |value: &InputValueDefinition| value.default_value.as_ref().map(ToString::to_string);
    if text(ours) != text(theirs) {
        wrong.push(format!("{place}: the default is {:?}, GitHub's {:?}", text(ours), text(theirs)));
    }
}

fn same_type(place: &str, ours: &Type, theirs: &Type, wrong: &mut Vec<String>) {
    if ours.to_string() != theirs.to_string() {
        wrong.push(format!("{place} is {ours}, GitHub's {theirs}"));
    }
}

fn required(input: &InputValueDefinition) -> bool {
    input.ty.is_non_null() && input.default_value.is_none()
}

/// Queries every field of the schema, so that a missing resolver fails here and not at the first client that needs it.
#[tokio::test]
async fn every_field_of_the_schema_has_a_resolver() {
    let (_simulator, client) = start("nulls").await;
    let schema = Schema::parse_and_validate(OURS, "ours.graphql").unwrap();
    let roots = [
        ("Repository", "repository(owner: \"acme\", name: \"shop\")"),
        ("PullRequest", "repository(owner: \"acme\", name: \"shop\") { pullRequest(number: 3)"),
        ("RateLimit", "rateLimit"),
        ("User", "viewer"),
    ];
    let mut words = 0;
    for (name, root) in roots {
        let selection = select(&schema, name, 2);
        let close = "}".repeat(root.matches('{').count());
        let answer = client.query(&format!("{{ {root} {selection} {close} }}"), json!({})).await;
        let errors = answer["errors"].as_array().cloned().unwrap_or_default();
        let gaps: Vec<Value> = errors.into_iter().filter(|error| error["type"] != "NOT_FOUND").collect();
        assert_eq!(gaps, Vec::<Value>::new(), "{name}");
        words += selection.matches(' ').count();
    }
    assert!(words > 500, "only {words} words were queried");
    all_kinds_of_nodes(&client, &schema).await;
}

/// Types that a query reaches by node id.
async fn all_kinds_of_nodes(client: &Client, schema: &Schema) {
    for (name, id) in [
        ("PullRequestReviewThread", "PRRT_1"),
        ("PullRequestReviewComment", "PRRC_1"),
        ("PullRequestReview", "PRR_1"),
        ("IssueComment", "IC_1"),
        ("CheckRun", "CR_1"),
        ("Bot", "BOT_5"),
        ("Mannequin", "M_8"),
        ("Team", "T_9"),
        ("Label", "LA_1"),
    ] {
        let query =
            format!("{{ node(id: \"{id}\") {{ __typename ... on {name} {} }} }}", select(schema, name, 2));
        let answer = client.query(&query, json!({})).await;
        assert_eq!(answer["data"]["node"]["__typename"], name);
        assert_eq!(answer.get("errors"), None, "{name}: {answer:#}");
    }
}

/// Selects all fields of a type, down to a depth, that need no argument except a page size.
fn select(schema: &Schema, name: &str, depth: usize) -> String {
    let mut words = vec!["{ __typename".to_owned()];
    let fields = match schema.types.get(name) {
        Some(ExtendedType::Object(object)) => &object.fields,
        Some(ExtendedType::Interface(interface)) => &interface.fields,
        Some(ExtendedType::Union(union)) => {
            // The same field may differ in nullability between types, so each gets an alias.
            for member in &union.members {
                let fields = schema
                    .get_object(member)
                    .unwrap()
                    .fields
                    .iter()
                    .filter(|(_, field)| field.arguments.is_empty() && is_leaf(schema, field));
                let fields: Vec<_> = fields.map(|(field, _)| format!("{member}_{field}: {field}")).collect();
                words.push(format!("... on {member} {{ {} }}", fields.join(" ")));
            }
            words.push("}".to_owned());
            return words.join(" ");
        }
        _ => return String::new(),
    };
    for (field, definition) in fields {
        let needs = definition.arguments.iter().any(|argument| required(argument));
        if needs {
            continue;
        }
        let connection = definition.arguments.iter().any(|argument| argument.name == "first");
        let arguments = if connection { "(first: 3)" } else { "" };
        if is_leaf(schema, definition) {
            words.push(format!("{field}{arguments}"));
        } else if depth > 0 {
            let inner = definition.ty.inner_named_type();
            words.push(format!("{field}{arguments} {}", select(schema, inner, depth - 1)));
        }
    }
    words.push("}".to_owned());
    words.join(" ")
}

fn is_leaf(schema: &Schema, field: &FieldDefinition) -> bool {
    let definition = schema.types.get(field.ty.inner_named_type());
    matches!(definition, Some(ExtendedType::Scalar(_) | ExtendedType::Enum(_)))
}
