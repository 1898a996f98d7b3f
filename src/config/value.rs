//! A value as written, of any type.

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// The value of a key in TOML or JSON. Reading it never fails, so a wrong type becomes a [`super::Problem`]
/// like any other mistake.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum TypedValue {
    Boolean(bool),
    Integer(i128),
    Float(f64),
    Text(String),
    List(Vec<TypedValue>),
    /// No key takes such a table, so its content is not kept.
    Table,
    /// A `null` in a JSON list. In other places `null` counts as a key that is left out.
    Nothing,
}

/// Characters of a text that a message quotes.
const QUOTED_CHARACTERS: usize = 60;

impl fmt::Display for TypedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TypedValue::Boolean(value) => write!(f, "{value}"),
            TypedValue::Integer(value) => write!(f, "{value}"),
            TypedValue::Float(value) => write!(f, "{value:?}"),
            TypedValue::Text(text) => f.write_str(&quoted(text)),
            TypedValue::List(_) => f.write_str("a list"),
            TypedValue::Table => f.write_str("a table"),
            TypedValue::Nothing => f.write_str("nothing"),
        }
    }
}

/// Quotes a text for a message: short, on one line and without control characters.
pub(super) fn quoted(text: &str) -> String {
    match text.char_indices().nth(QUOTED_CHARACTERS) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

impl<'de> Deserialize<'de> for TypedValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TypedValueVisitor)
    }
}

struct TypedValueVisitor;

impl<'de> Visitor<'de> for TypedValueVisitor {
    type Value = TypedValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<TypedValue, E> {
        Ok(TypedValue::Boolean(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<TypedValue, E> {
        Ok(TypedValue::Integer(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<TypedValue, E> {
        Ok(TypedValue::Integer(value.into()))
    }

    fn visit_i128<E>(self, value: i128) -> Result<TypedValue, E> {
        Ok(TypedValue::Integer(value))
    }

    /// No key takes a number that large, so it may be replaced by the largest number.
    fn visit_u128<E>(self, value: u128) -> Result<TypedValue, E> {
        Ok(TypedValue::Integer(value.try_into().unwrap_or(i128::MAX)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<TypedValue, E> {
        Ok(TypedValue::Float(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<TypedValue, E> {
        Ok(TypedValue::Text(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<TypedValue, E> {
        Ok(TypedValue::Nothing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<TypedValue, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(TypedValue::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<TypedValue, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(TypedValue::Table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_json_can_be_read_as_a_value() {
        let json = r#"[true, -1, 18446744073709551615, 1.5, "t", null, {"a": {"b": 1}}, []]"#;
        let expected = vec![
            TypedValue::Boolean(true),
            TypedValue::Integer(-1),
            TypedValue::Integer(u64::MAX.into()),
            TypedValue::Float(1.5),
            TypedValue::Text("t".to_owned()),
            TypedValue::Nothing,
            TypedValue::Table,
            TypedValue::List(Vec::new()),
        ];
        assert_eq!(serde_json::from_str::<TypedValue>(json).unwrap(), TypedValue::List(expected));
    }

    #[test]
    fn a_quoted_text_stays_on_one_line_and_short() {
        assert_eq!(quoted("a\n\u{1b}[31m"), r#""a\n\u{1b}[31m""#);
        assert_eq!(quoted(&"é".repeat(61)), format!("\"{}\"…", "é".repeat(60)));
    }
}
