//! GraphQL, executed by a real engine against our subset of GitHub's schema.
//!
//! The engine parses and validates a request, computes its cost from the parsed document, and only then executes it
//! on the world. Nothing here matches on the query's text.

mod account;
mod commit;
mod conversation;
mod cost;
mod issue;
mod mutation;
mod object;
mod page;
mod pull_request;
mod query;
mod repository;
mod search;
mod timeline;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use apollo_compiler::collections::HashMap;
use apollo_compiler::executable::{Operation, Selection};
use apollo_compiler::request::coerce_variable_values;
use apollo_compiler::resolvers::Execution;
use apollo_compiler::response::JsonMap;
use apollo_compiler::schema::Implementers;
use apollo_compiler::validation::{DiagnosticList, Valid};
use apollo_compiler::{ExecutableDocument, Name, Schema};
use serde::Deserialize;
use serde_json::{Value, json};

use super::limits::HourlyBudget;
use super::scenario::Hidden;
use super::world::{AccountId, World};
use object::{GraphqlContext, GraphqlNode, GraphqlObject};

pub(crate) use cost::Cost;

const SCHEMA: &str = include_str!("../../assets/simulator/schema.graphql");

/// The schema, and a cache of parsed documents: a client sends the same few again and again.
pub(crate) struct Engine {
    schema: Arc<Valid<Schema>>,
    implementers: HashMap<Name, Implementers>,
    documents: Mutex<BTreeMap<String, Arc<Valid<ExecutableDocument>>>>,
}

/// The size of the cache. Cloture has far fewer documents.
const MOST_DOCUMENTS: usize = 256;

impl std::fmt::Debug for Engine {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Engine").finish_non_exhaustive()
    }
}

/// A GraphQL request's body.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct GraphqlRequest {
    pub(crate) query: String,
    #[serde(default)]
    pub(crate) variables: Option<serde_json::Map<String, Value>>,
    #[serde(rename = "operationName", default)]
    pub(crate) operation_name: Option<String>,
}

/// A validated request, with its cost.
pub(crate) struct PreparedOperation {
    document: Arc<Valid<ExecutableDocument>>,
    operation_name: Option<String>,
    variables: Valid<JsonMap>,
    /// The operation's name; without one, its first field's.
    pub(crate) name: String,
    /// The top-level fields, which faults can be aimed at.
    pub(crate) fields: Vec<String>,
    pub(crate) writes: bool,
    pub(crate) cost: Cost,
}

/// The account that asks, its missing permissions and its budget.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) account: AccountId,
    pub(crate) cannot_read: Vec<Hidden>,
    pub(crate) budget: HourlyBudget,
}

impl Engine {
    /// Parses the built-in schema without validating it, to start faster: a test validates it.
    pub(crate) fn new() -> Result<Self, String> {
        static PARSED: LazyLock<Result<Arc<Valid<Schema>>, String>> = LazyLock::new(|| {
            let parsed = Schema::parse(SCHEMA, "assets/simulator/schema.graphql");
            parsed.map(Valid::assume_valid).map(Arc::new).map_err(|invalid| invalid.errors.to_string())
        });
        let schema = PARSED.clone()?;
        let implementers = schema.implementers_map();
        Ok(Self { schema, implementers, documents: Mutex::default() })
    }

    fn document(&self, query: &str) -> Result<Arc<Valid<ExecutableDocument>>, Value> {
        // A panic cannot leave a half-written entry, so a poisoned cache is still good.
        let mut documents = self.documents.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(document) = documents.get(query) {
            return Ok(Arc::clone(document));
        }
        let document = ExecutableDocument::parse_and_validate(&self.schema, query, "query")
            .map_err(|invalid| invalid_document(&invalid.errors))?;
        let document = Arc::new(document);
        if documents.len() >= MOST_DOCUMENTS {
            documents.clear();
        }
        documents.insert(query.to_owned(), Arc::clone(&document));
        Ok(document)
    }

    /// Validates a request and computes its cost. The error is the response's body, as GitHub sends it.
    pub(crate) fn prepare(&self, request: &GraphqlRequest) -> Result<PreparedOperation, Value> {
        let document = self.document(&request.query)?;
        let given = request.operation_name.as_deref();
        let operation = document.operations.get(given).map_err(|_| {
            failure("No operation has the requested name, or there are several and none is named")
        })?;
        let raw: JsonMap = request
            .variables
            .iter()
            .flatten()
            .map(|(key, value)| (key.as_str().into(), value.clone().into()))
            .collect();
        let variables = coerce_variable_values(&self.schema, operation, &raw)
            .map_err(|error| failure(error.message()))?;
        let fields = top_fields(operation, &document);
        let name = operation.name.as_ref().map(Name::to_string).or_else(|| fields.first().cloned());
        Ok(PreparedOperation {
            name: name.unwrap_or_default(),
            writes: operation.is_mutation(),
            cost: cost::measure(&document, operation, &variables),
            fields,
            operation_name: request.operation_name.clone(),
            variables,
            document: Arc::clone(&document),
        })
    }

    /// Executes a prepared request. The response may contain both data and errors.
    pub(crate) fn execute(
        &self,
        prepared: &PreparedOperation,
        world: &RefCell<World>,
        caller: Caller,
    ) -> Value {
        let context = GraphqlContext::new(world, caller, prepared.cost);
        let root = GraphqlObject::new(
            &context,
            if prepared.writes { GraphqlNode::Mutation } else { GraphqlNode::Query },
        );
        let execution = Execution::new(&self.schema, &prepared.document)
            .implementers_map(&self.implementers)
            .coerced_variable_values(&prepared.variables)
            .enable_schema_introspection(true);
        let response = execution
            .operation_name(prepared.operation_name.as_deref())
            .and_then(|execution| execution.execute_sync(&root));
        match response {
            Ok(response) => {
                let mut errors: Vec<Value> =
                    response.errors.iter().filter_map(|error| serde_json::to_value(error).ok()).collect();
                errors.iter_mut().for_each(object::restore_kind);
                errors.extend(context.into_errors());
                let data = serde_json::to_value(&response.data).unwrap_or(Value::Null);
                if errors.is_empty() {
                    json!({ "data": data })
                } else {
                    json!({ "data": data, "errors": errors })
                }
            }
            Err(error) => failure(error.message()),
        }
    }
}

fn top_fields(operation: &Operation, document: &ExecutableDocument) -> Vec<String> {
    operation.root_fields(document).map(|field| field.name.to_string()).collect()
}

fn failure(message: impl std::fmt::Display) -> Value {
    json!({ "errors": [{ "message": message.to_string() }] })
}

/// GitHub answers an invalid query with status 200, errors and no data.
fn invalid_document(errors: &DiagnosticList) -> Value {
    let errors: Vec<Value> = errors
        .iter()
        .map(|diagnostic| {
            let mut error = serde_json::to_value(diagnostic.to_json()).unwrap_or(Value::Null);
            if let Some(error) = error.as_object_mut() {
                error.insert("extensions".to_owned(), json!({ "code": "invalidDocument" }));
            }
            error
        })
        .collect();
    json!({ "errors": errors })
}

/// Whether `@skip` or `@include` removes a selection.
fn switched_off(selection: &Selection, variables: &Valid<JsonMap>) -> bool {
    let condition = |directive: &str| {
        let value = selection.directives().get(directive)?.specified_argument_by_name("if")?;
        match value.as_ref() {
            apollo_compiler::ast::Value::Boolean(value) => Some(*value),
            apollo_compiler::ast::Value::Variable(name) => variables.get(name.as_str())?.as_bool(),
            _ => None,
        }
    };
    condition("skip").unwrap_or(false) || !condition("include").unwrap_or(true)
}
