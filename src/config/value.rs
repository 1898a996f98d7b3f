//! A value as it was typed, whatever the key wanted.

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// What stands behind a key. It reads from TOML and from JSON and never fails to, so that a wrong type is a
/// [`super::Problem`] with a key and an expectation like any other, and not the end of the parse.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    Boolean(bool),
    Integer(i128),
    Float(f64),
    Text(String),
    List(Vec<Value>),
    /// No key takes a table whose keys are not known, so its content is not kept.
    Table,
    /// A `null` inside a JSON list. Elsewhere `null` is a key that was left out.
    Nothing,
}

/// As much of a text as a message quotes.
const QUOTED_CHARACTERS: usize = 60;

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Boolean(value) => write!(f, "{value}"),
            Value::Integer(value) => write!(f, "{value}"),
            Value::Float(value) => write!(f, "{value:?}"),
            Value::Text(text) => f.write_str(&quoted(text)),
            Value::List(_) => f.write_str("a list"),
            Value::Table => f.write_str("a table"),
            Value::Nothing => f.write_str("nothing"),
        }
    }
}

/// Quotes a text for a message: on one line, with nothing in it that a terminal would obey, and not endless.
pub(super) fn quoted(text: &str) -> String {
    match text.char_indices().nth(QUOTED_CHARACTERS) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Anything)
    }
}

struct Anything;

impl<'de> Visitor<'de> for Anything {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Boolean(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Integer(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Integer(value.into()))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Value, E> {
        Ok(Value::Integer(value))
    }

    /// No key takes a number that large, so the largest that can be kept is refused as well as the real one.
    fn visit_u128<E>(self, value: u128) -> Result<Value, E> {
        Ok(Value::Integer(value.try_into().unwrap_or(i128::MAX)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Nothing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value::Table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_json_is_a_value() {
        let json = r#"[true, -1, 18446744073709551615, 1.5, "t", null, {"a": {"b": 1}}, []]"#;
        let expected = vec![
            Value::Boolean(true),
            Value::Integer(-1),
            Value::Integer(u64::MAX.into()),
            Value::Float(1.5),
            Value::Text("t".to_owned()),
            Value::Nothing,
            Value::Table,
            Value::List(Vec::new()),
        ];
        assert_eq!(serde_json::from_str::<Value>(json).unwrap(), Value::List(expected));
    }

    #[test]
    fn a_quoted_text_stays_on_one_line_and_short() {
        assert_eq!(quoted("a\n\u{1b}[31m"), r#""a\n\u{1b}[31m""#);
        assert_eq!(quoted(&"é".repeat(61)), format!("\"{}\"…", "é".repeat(60)));
    }
}
