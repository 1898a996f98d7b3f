//! The JSON Schema of a cycle's answer. It permits only the legal stances and actions of each thread, so a
//! model with structured output cannot write an illegal one.

mod strict;

pub use strict::{from_strict, strict_schema};

use crate::domain::cycle::{FrozenCycle, Protocol};
use crate::domain::vocabulary::{Category, ReviewerAction, Severity, Stance};
use serde_json::{Value, json};

pub fn answer_schema(frozen: &FrozenCycle, protocol: Protocol) -> Value {
    let mut properties =
        json!({ "findings": { "type": "array", "items": finding() }, "summary": text_or_null() });
    let mut required = Vec::new();
    if protocol == Protocol::Actions {
        properties["actions"] = actions(frozen);
        // Without open threads there are no actions, and the list may be left out.
        if !frozen.threads.is_empty() {
            required.push("actions");
        }
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// Exactly one entry for each thread. The schema spells out each thread's entry for both stances.
fn actions(frozen: &FrozenCycle) -> Value {
    let permitted = frozen.threads.iter().flat_map(|(thread, asked)| {
        Stance::ALL.into_iter().map(move |stance| {
            let legal: Vec<_> = asked.legal.for_stance(stance).iter().map(ReviewerAction::name).collect();
            json!({
                "type": "object",
                "properties": {
                    "thread": { "const": thread.as_str() },
                    "stance": { "const": stance.name() },
                    "action": { "enum": legal },
                    "body": text_or_null(),
                },
                "required": ["thread", "stance", "action"],
                "additionalProperties": false,
            })
        })
    });
    let permitted: Vec<Value> = permitted.collect();
    if permitted.is_empty() {
        return json!({ "type": "array", "maxItems": 0 });
    }
    let once_each: Vec<Value> = frozen
        .threads
        .keys()
        .map(|thread| {
            json!({
                "contains": {
                    "type": "object",
                    "properties": { "thread": { "const": thread.as_str() } },
                    "required": ["thread"],
                },
                "minContains": 1,
                "maxContains": 1,
            })
        })
        .collect();
    json!({ "type": "array", "items": { "anyOf": permitted }, "allOf": once_each })
}

fn finding() -> Value {
    let named = Category::ALL.map(|category| Some(category.name()));
    let categories: Vec<Option<&str>> = named.into_iter().chain([None]).collect();
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "line": { "type": ["integer", "null"], "minimum": 1, "maximum": u32::MAX },
            "end_line": { "type": ["integer", "null"], "minimum": 1, "maximum": u32::MAX },
            "title": { "type": "string" },
            "body": text_or_null(),
            "severity": { "enum": Severity::ALL.map(Severity::name) },
            "category": { "enum": categories },
            "suggestion": text_or_null(),
        },
        "required": ["path", "title", "severity"],
        "additionalProperties": false,
    })
}

fn text_or_null() -> Value {
    json!({ "type": ["string", "null"] })
}
