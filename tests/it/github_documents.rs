//! The contract with GitHub: every document is valid in its schema, every answer type accepts every null that
//! the schema allows, and every document costs as much as polling assumes.

use crate::support::schema;
use apollo_compiler::ExecutableDocument;
use apollo_compiler::Name;
use apollo_compiler::Node;
use apollo_compiler::Schema;
use apollo_compiler::ast::{Type, Value as Literal};
use apollo_compiler::executable::{Field, Selection, SelectionSet};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::validation::Valid;
use cloture::domain::snapshot::RepositoryName;
use cloture::github::documents::{self, GraphqlDocument};
use cloture::github::{ApiReply, Call, Error, PullRequestAddress, Reader, Transport, poll};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

fn parse(schema: &Valid<Schema>, document: &GraphqlDocument) -> Valid<ExecutableDocument> {
    ExecutableDocument::parse_and_validate(schema, document.text, document.name)
        .unwrap_or_else(|invalid| panic!("{} is not valid:\n{}", document.name, invalid.errors))
}

#[test]
#[cfg_attr(not(has_shared), ignore = "needs ../shared, which is not part of the repository")]
fn every_document_is_valid_in_githubs_schema() {
    let schema = schema::github();
    for document in documents::ALL {
        parse(schema, document);
    }
}

#[test]
fn every_graphql_file_is_used() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/graphql");
    let texts: Vec<&str> = documents::ALL.iter().map(|document| document.text).collect();
    for folder in [folder.clone(), folder.join("fragments")] {
        for file in std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
            if file.is_file() {
                let text = std::fs::read_to_string(&file).unwrap();
                assert!(texts.iter().any(|sent| sent.contains(&text)), "{} is not used", file.display());
            }
        }
    }
}

#[test]
#[cfg_attr(not(has_shared), ignore = "needs ../shared, which is not part of the repository")]
fn every_answer_accepts_every_null_that_the_schema_allows() {
    let schema = schema::github();
    let mut fed = 0;
    for document in documents::ALL {
        let parsed = parse(schema, document);
        let mut nullable = BTreeSet::new();
        for variant in 0..7 {
            let mut sample = Sample { schema, document: &parsed, variant, nullable: Vec::new() };
            let operation = parsed.operations.iter().next().unwrap();
            let answer = sample.object(&operation.selection_set, "");
            let pointers = sample.nullable;
            document
                .accepts(answer.clone())
                .unwrap_or_else(|error| panic!("{}: {error}\n{answer:#}", document.name));
            for pointer in pointers {
                let mut with_null = answer.clone();
                *with_null.pointer_mut(&pointer).unwrap() = Value::Null;
                if let Err(error) = document.accepts(with_null) {
                    panic!("{}: {pointer} may be null, but then: {error}", document.name);
                }
                nullable.insert(pointer);
            }
        }
        fed += nullable.len();
    }
    assert!(fed > 250, "only {fed} nulls were tried: the generator misses some");
}

/// Answers every document with a sample made from the schema, and one document with a null in one place.
#[derive(Clone)]
struct Samples {
    answers: Arc<BTreeMap<&'static str, Value>>,
    null: Option<String>,
}

impl Samples {
    fn new(schema: &Valid<Schema>, variant: usize) -> (Self, Vec<String>) {
        let answers =
            documents::ALL.iter().map(|document| (document.name, Self::of(schema, document, variant).0));
        let nullable = Self::of(schema, &documents::PULL_REQUEST, variant).1;
        (Self { answers: Arc::new(answers.collect()), null: None }, nullable)
    }

    fn of(schema: &Valid<Schema>, document: &GraphqlDocument, variant: usize) -> (Value, Vec<String>) {
        let parsed = parse(schema, document);
        let mut sample = Sample { schema, document: &parsed, variant, nullable: Vec::new() };
        let answer = sample.object(&parsed.operations.iter().next().unwrap().selection_set, "");
        (answer, sample.nullable)
    }
}

impl Transport for Samples {
    async fn send(&self, call: &Call) -> Result<ApiReply, Error> {
        let Call::Graphql { document, .. } = call else { panic!("{call:?}") };
        let mut body = self.answers[document.name].clone();
        if let Some(pointer) = self.null.as_ref().filter(|_| document.name == "pull_request") {
            *body.pointer_mut(pointer).unwrap() = Value::Null;
        }
        Ok(ApiReply { body, ..ApiReply::default() })
    }
}

#[tokio::test]
#[cfg_attr(not(has_shared), ignore = "needs ../shared, which is not part of the repository")]
async fn a_pull_request_is_read_with_a_null_in_any_place() {
    let schema = schema::github();
    let repository = RepositoryName::new("o", "r").unwrap();
    let address = PullRequestAddress { repository, number: 1 };
    for variant in 0..3 {
        let (samples, nullable) = Samples::new(schema, variant);
        for pointer in nullable {
            let reader = Reader::new(Samples { null: Some(pointer.clone()), ..samples.clone() });
            let outcome = reader.read(&address).await;
            let whole = matches!(pointer.as_str(), "/repository" | "/repository/pullRequest");
            match outcome {
                Ok(_) if !whole => {}
                Err(Error::Gone { .. }) if whole => {}
                other => panic!("{pointer} is null: {other:?}"),
            }
        }
    }
}

#[test]
#[cfg_attr(not(has_shared), ignore = "needs ../shared, which is not part of the repository")]
fn the_documents_cost_as_much_as_polling_assumes() {
    let schema = schema::github();
    let ids = |count: usize| vec!["id"; count];
    let price = |document: &GraphqlDocument, variables: Value| {
        let parsed = parse(schema, document);
        let operation = parsed.operations.iter().next().unwrap();
        let cost = Cost { document: &parsed, variables: &variables };
        // GitHub's formula: the requests for each connection, divided by a hundred, and at least one point.
        let requests = cost.requests(&operation.selection_set, 1);
        (requests, ((requests + 50) / 100).max(1))
    };
    let light = |count, checks| price(&documents::LIGHT, json!({"ids": ids(count), "withChecks": checks}));
    assert_eq!(light(poll::BATCH_WITH_CHECKS, true), (148, 1));
    assert_eq!(light(poll::BATCH, false), (120, 1));
    assert_eq!(light(poll::BATCH_WITH_CHECKS + 1, true).1, 2, "the batch is as large as one point allows");

    let full = |requests, checks| {
        let variables =
            json!({"threads": 100, "threadComments": 100, "withRequests": requests, "withChecks": checks});
        price(&documents::PULL_REQUEST, variables)
    };
    assert_eq!(full(true, true), (110, 1));
    assert_eq!(full(false, false), (106, 1));
    let pages = json!({
        "threads": 100, "threadComments": 100, "withLabels": true, "withReviews": true, "withComments": true,
        "withThreads": true, "withTimeline": true,
    });
    assert_eq!(price(&documents::PULL_REQUEST_PAGES, pages), (105, 1));
    for document in documents::ALL {
        if document.name != "light" && !document.name.starts_with("pull_request") && !document.writes() {
            assert_eq!(price(document, json!({})).1, 1, "{}", document.name);
        }
    }
}

/// Makes an answer to a document from the schema alone, and remembers each place where a null is legal.
struct Sample<'a> {
    schema: &'a Valid<Schema>,
    document: &'a Valid<ExecutableDocument>,
    /// Selects one of the possible types of a union or interface.
    variant: usize,
    nullable: Vec<String>,
}

impl Sample<'_> {
    fn object(&mut self, selections: &SelectionSet, pointer: &str) -> Value {
        let concrete = self.concrete_type(selections);
        let mut fields = Vec::new();
        self.collect(selections, &concrete, &mut fields);
        let mut object = Map::new();
        for field in fields {
            let key = field.response_key().to_string();
            let pointer = format!("{pointer}/{key}");
            let value = if field.name == "__typename" {
                json!(concrete)
            } else {
                self.value(field.ty(), &field, &pointer)
            };
            object.insert(key, value);
        }
        Value::Object(object)
    }

    fn value(&mut self, ty: &Type, field: &Field, pointer: &str) -> Value {
        if !ty.is_non_null() {
            self.nullable.push(pointer.to_owned());
        }
        if ty.is_list() {
            return json!([self.value(ty.item_type(), field, &format!("{pointer}/0"))]);
        }
        if !field.selection_set.selections.is_empty() {
            return self.object(&field.selection_set, pointer);
        }
        let name = ty.inner_named_type();
        match name.as_str() {
            "Int" => json!(1),
            "Boolean" => json!(false),
            "DateTime" => json!("2026-01-02T03:04:05Z"),
            "String" | "ID" | "URI" | "GitObjectID" => json!("text"),
            other => match self.schema.types.get(other) {
                Some(ExtendedType::Enum(words)) => json!(words.values.keys().next().unwrap()),
                _ => panic!("the generator does not know the type {other}"),
            },
        }
    }

    /// One of the types that the document distinguishes, or one that it does not mention.
    fn concrete_type(&self, selections: &SelectionSet) -> Name {
        if self.schema.types.get(&selections.ty).is_some_and(ExtendedType::is_object) {
            return selections.ty.clone();
        }
        let mut mentioned = Vec::new();
        self.conditions(selections, &mut mentioned);
        let possible: Vec<Name> = self
            .schema
            .types
            .iter()
            .filter(|(name, ty)| ty.is_object() && self.schema.is_subtype(&selections.ty, name))
            .map(|(name, _)| name.clone())
            .collect();
        let mut choices: Vec<Name> =
            possible.iter().filter(|name| mentioned.contains(*name)).cloned().collect();
        choices.extend(possible.iter().find(|name| !mentioned.contains(*name)).cloned());
        choices[self.variant % choices.len()].clone()
    }

    fn conditions(&self, selections: &SelectionSet, mentioned: &mut Vec<Name>) {
        for selection in &selections.selections {
            match selection {
                Selection::Field(_) => {}
                Selection::InlineFragment(inline) => {
                    mentioned.extend(inline.type_condition.clone());
                    self.conditions(&inline.selection_set, mentioned);
                }
                Selection::FragmentSpread(spread) => {
                    let fragment = &self.document.fragments[&spread.fragment_name];
                    mentioned.push(fragment.type_condition().clone());
                    self.conditions(&fragment.selection_set, mentioned);
                }
            }
        }
    }

    fn collect(&self, selections: &SelectionSet, concrete: &Name, fields: &mut Vec<Node<Field>>) {
        let applies = |condition: &Name| condition == concrete || self.schema.is_subtype(condition, concrete);
        for selection in &selections.selections {
            match selection {
                Selection::Field(field) => fields.push(field.clone()),
                Selection::InlineFragment(inline) => {
                    if inline.type_condition.as_ref().is_none_or(applies) {
                        self.collect(&inline.selection_set, concrete, fields);
                    }
                }
                Selection::FragmentSpread(spread) => {
                    let fragment = &self.document.fragments[&spread.fragment_name];
                    if applies(fragment.type_condition()) {
                        self.collect(&fragment.selection_set, concrete, fields);
                    }
                }
            }
        }
    }
}

/// Counts the requests that GitHub charges for: one per connection and parent, with every page full.
struct Cost<'a> {
    document: &'a Valid<ExecutableDocument>,
    variables: &'a Value,
}

impl Cost<'_> {
    fn requests(&self, selections: &SelectionSet, parents: u64) -> u64 {
        let mut sum = 0;
        for selection in &selections.selections {
            sum += match selection {
                Selection::Field(field) if self.included(&field.directives) => self.field(field, parents),
                Selection::InlineFragment(inline) if self.included(&inline.directives) => {
                    self.requests(&inline.selection_set, parents)
                }
                Selection::FragmentSpread(spread) if self.included(&spread.directives) => {
                    self.requests(&self.document.fragments[&spread.fragment_name].selection_set, parents)
                }
                _ => 0,
            };
        }
        sum
    }

    fn field(&self, field: &Field, parents: u64) -> u64 {
        let argument = |name: &str| field.arguments.iter().find(|argument| argument.name == name);
        if let Some(ids) = argument("ids") {
            let Literal::Variable(name) = &*ids.value else { panic!("ids are a variable") };
            let count = self.variables[name.as_str()].as_array().unwrap().len() as u64;
            return self.requests(&field.selection_set, parents * count);
        }
        if !field.ty().inner_named_type().ends_with("Connection") {
            return self.requests(&field.selection_set, parents);
        }
        let size = argument("first").or_else(|| argument("last")).expect("every connection is bounded");
        let size = match &*size.value {
            Literal::Int(size) => u64::try_from(size.try_to_i32().unwrap()).unwrap(),
            Literal::Variable(name) => self.variables[name.as_str()].as_u64().unwrap(),
            other => panic!("{other}"),
        };
        parents + self.requests(&field.selection_set, parents * size)
    }

    fn included(&self, directives: &apollo_compiler::ast::DirectiveList) -> bool {
        let Some(include) = directives.get("include") else { return true };
        let Literal::Variable(name) = &*include.arguments[0].value else { return true };
        self.variables[name.as_str()].as_bool().unwrap_or(true)
    }
}
