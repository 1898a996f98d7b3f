//! The same schema in the dialect that vendors' structured-output modes take.
//!
//! They want every property required and every value typed, and know neither `contains` nor `allOf` nor ranges. A list
//! in which each thread stands exactly once cannot be said that way, but an object with one key per thread can, and it
//! makes a missing or second action as impossible to write as an illegal one. The answer is turned back into the
//! protocol's form before it is read.

use super::{actions, finding, text_or_null};
use crate::domain::cycle::{FrozenCycle, Protocol};
use serde_json::{Map, Value, json};

pub fn strict_schema(frozen: &FrozenCycle, protocol: Protocol) -> Value {
    let mut properties = Map::new();
    // Without open threads there is nothing to act on, and an object without keys is more than some modes take.
    if protocol == Protocol::Actions && !frozen.threads.is_empty() {
        properties.insert("actions".to_owned(), keyed_actions(frozen));
    }
    properties.insert("findings".to_owned(), json!({ "type": "array", "items": finding() }));
    properties.insert("summary".to_owned(), text_or_null());
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    tighten(&mut schema);
    schema
}

/// Turns an answer to the strict schema into the protocol's form. What has another shape is left as it is, for the
/// reader to complain about.
pub fn from_strict(mut answer: Value) -> Value {
    if let Some(Value::Object(keyed)) = answer.get_mut("actions").map(Value::take) {
        answer["actions"] = keyed.into_iter().map(|(_, action)| action).collect();
    }
    answer
}

/// One key per thread. The keys are plain numbers, because an id may have characters that a vendor refuses in a key;
/// which thread it is, the entry itself is made to say.
fn keyed_actions(frozen: &FrozenCycle) -> Value {
    let permitted = actions(frozen)["items"]["anyOf"].take();
    let permitted = permitted.as_array().map(Vec::as_slice).unwrap_or_default();
    let of_thread = |thread: &str| -> Vec<&Value> {
        permitted.iter().filter(|entry| entry["properties"]["thread"]["const"] == thread).collect()
    };
    let keyed: Map<String, Value> = (1..)
        .zip(frozen.threads.keys())
        .map(|(number, thread)| (format!("thread_{number}"), json!({ "anyOf": of_thread(thread.as_str()) })))
        .collect();
    json!({ "type": "object", "properties": keyed, "additionalProperties": false })
}

/// Requires every property and types every value, all the way down.
fn tighten(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            for range in ["minimum", "maximum"] {
                fields.remove(range);
            }
            if let Some(Value::Object(properties)) = fields.get("properties") {
                let names: Vec<Value> = properties.keys().cloned().map(Value::from).collect();
                fields.insert("required".to_owned(), names.into());
            }
            let values = fields.get("enum").and_then(Value::as_array);
            if let Some(values) = values {
                let with_null = values.contains(&Value::Null);
                let kind = if with_null { json!(["string", "null"]) } else { json!("string") };
                fields.insert("type".to_owned(), kind);
            }
            if let Some(value) = fields.remove("const") {
                // Every mode knows `enum`; `const` came later to some.
                fields.insert("enum".to_owned(), json!([value]));
                fields.insert("type".to_owned(), json!("string"));
            }
            for (name, inner) in fields.iter_mut() {
                if name == "properties" {
                    inner.as_object_mut().into_iter().flatten().for_each(|(_, property)| tighten(property));
                } else {
                    tighten(inner);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(tighten),
        _ => {}
    }
}
