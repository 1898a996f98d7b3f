//! The answer schema in the dialect of the vendors' structured-output modes.
//!
//! These modes require every property and a type for every value, and do not know `contains`, `allOf` and
//! ranges. So the list of actions becomes an object with one key for each thread; [`from_strict`] turns the
//! answer back into the protocol's form.

use super::{actions, finding, text_or_null};
use crate::domain::cycle::{FrozenCycle, Protocol};
use serde_json::{Map, Value, json};

pub fn strict_schema(frozen: &FrozenCycle, protocol: Protocol) -> Value {
    let mut properties = Map::new();
    // Some modes refuse an object without keys.
    if protocol == Protocol::Actions && !frozen.threads.is_empty() {
        properties.insert("actions".to_owned(), keyed_actions(frozen));
    }
    properties.insert("findings".to_owned(), json!({ "type": "array", "items": finding() }));
    properties.insert("summary".to_owned(), text_or_null());
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    make_strict(&mut schema);
    schema
}

/// Turns an answer to the strict schema into the protocol's form. An answer of another shape stays as it is;
/// the reader refuses it.
pub fn from_strict(mut answer: Value) -> Value {
    if let Some(Value::Object(keyed)) = answer.get_mut("actions").map(Value::take) {
        answer["actions"] = keyed.into_iter().map(|(_, action)| action).collect();
    }
    answer
}

/// One key for each thread. The keys are numbered, because vendors refuse some characters of thread ids in
/// keys. The entry names the thread.
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

/// Requires every property and adds a type to every value, at all levels.
fn make_strict(schema: &mut Value) {
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
                // Not every mode knows `const`.
                fields.insert("enum".to_owned(), json!([value]));
                fields.insert("type".to_owned(), json!("string"));
            }
            for (name, inner) in fields.iter_mut() {
                if name == "properties" {
                    inner
                        .as_object_mut()
                        .into_iter()
                        .flatten()
                        .for_each(|(_, property)| make_strict(property));
                } else {
                    make_strict(inner);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(make_strict),
        _ => {}
    }
}
