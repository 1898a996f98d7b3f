//! Removes from a document what the typed structs cannot hold, and reports each removal: unknown keys, values
//! in the place of tables, and dates and huge numbers. After that, serde can read the rest, and its values
//! are checked as well.

use super::check::Problem;
use super::error::ConfigFault;
use super::typed;
use super::value::quoted;
use serde_json::Value as Shape;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// Keeps what [`typed::TypedConfig`] can hold, and returns a fault for everything else.
pub(super) fn remove_unknown(document: &mut DeTable<'_>) -> Vec<ConfigFault> {
    let known = serde_json::to_value(typed::TypedConfig::blank()).unwrap_or_default();
    let mut remover = UnknownKeyRemover { known: &known, faults: Vec::new() };
    remover.table(document, &known, "");
    remover.faults
}

/// Compares the document with a [`Shape`]: the blank configuration or a part of it. An object stands for a
/// table, a list with one item for a list of tables, null for a value.
struct UnknownKeyRemover<'a> {
    known: &'a Shape,
    faults: Vec<ConfigFault>,
}

impl UnknownKeyRemover<'_> {
    fn table(&mut self, table: &mut DeTable<'_>, shape: &Shape, path: &str) {
        let entries = std::mem::take(table).into_iter();
        *table = entries
            .filter_map(|(name, mut value)| {
                let key = full_key(path, name.get_ref());
                let Some(shape) = shape.get(name.get_ref().as_ref()) else {
                    let expected = expected_key(self.known, shape, name.get_ref());
                    self.refuse(&name.span(), &key, expected, "an unknown key");
                    return None;
                };
                let span = value.span();
                self.value(value.get_mut(), &span, shape, &key).then_some((name, value))
            })
            .collect();
    }

    /// Whether the value stays.
    fn value(&mut self, value: &mut DeValue<'_>, span: &Range<usize>, shape: &Shape, key: &str) -> bool {
        let expected = match (shape, &mut *value) {
            (Shape::Object(_), DeValue::Table(table)) => {
                self.table(table, shape, key);
                return true;
            }
            (Shape::Object(_), _) => "a table",
            (_, DeValue::Array(items)) => {
                let shape = shape.get(0).unwrap_or(shape);
                let mut all_stay = true;
                for (index, item) in items.iter_mut().enumerate() {
                    let span = item.span();
                    all_stay &= self.value(item.get_mut(), &span, shape, &format!("{key}[{index}]"));
                }
                // Removing one item would change the index of the others, so the whole list goes.
                return all_stay;
            }
            (Shape::Array(_), _) => "a list of tables",
            // The check of the value will refuse the table; its content does not matter.
            (_, DeValue::Table(table)) => {
                table.clear();
                return true;
            }
            (_, DeValue::Datetime(_)) => "a value that is not a date",
            (_, DeValue::Integer(number))
                if i128::from_str_radix(number.as_str(), number.radix()).is_err() =>
            {
                "a smaller number"
            }
            (_, DeValue::Float(number)) if overflows(number.as_str()) => "a smaller number",
            _ => return true,
        };
        self.refuse(span, key, expected.to_owned(), &described(value));
        false
    }

    fn refuse(&mut self, span: &Range<usize>, key: &str, expected: String, found: &str) {
        let problem = Problem { key: key.to_owned(), expected, found: found.to_owned() };
        self.faults.push(ConfigFault::of(span.clone(), &problem));
    }
}

/// The full name of a key. A name that needs quotes in TOML gets them.
fn full_key(path: &str, name: &str) -> String {
    let is_bare =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let name = if is_bare && name.len() <= LONGEST_KEY { name.to_owned() } else { quoted(name) };
    if path.is_empty() { name } else { format!("{path}.{name}") }
}

/// A longer key is not a typing mistake. It is not compared with the known keys and not shown in full.
const LONGEST_KEY: usize = 60;

/// The known name that the user probably meant. Letter case is no difference.
pub(super) fn nearest<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = unknown.to_lowercase();
    let known = known.into_iter().filter(|_| unknown.len() <= LONGEST_KEY);
    let (distance, name) =
        known.map(|name| (strsim::osa_distance(&name.to_lowercase(), &typed), name)).min()?;
    (distance <= (name.len() / 3).max(1)).then_some(name)
}

fn overflows(number: &str) -> bool {
    number.parse().is_ok_and(f64::is_infinite) && !number.contains("inf")
}

fn described(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => quoted(text),
        DeValue::Integer(number) => shortened(&number.to_string()),
        DeValue::Float(number) => shortened(number.as_str()),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Datetime(date) => date.to_string(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

fn shortened(digits: &str) -> String {
    match digits.char_indices().nth(LONGEST_KEY) {
        Some((end, _)) => format!("{}…", &digits[..end]),
        None => digits.to_owned(),
    }
}

/// The key that the user probably meant, in this table or in another, or else all keys of this table.
fn expected_key(known: &Shape, table: &Shape, unknown: &str) -> String {
    let here = keys(table);
    let nearest = nearest(unknown, here.iter().copied()).map(str::to_owned);
    match nearest.or_else(|| find_key(known, "", unknown)) {
        Some(likely) => format!("a known key (did you mean {likely}?)"),
        None => format!("one of the keys {}", here.join(", ")),
    }
}

/// The full name of a key of this name in any table.
fn find_key(table: &Shape, path: &str, name: &str) -> Option<String> {
    keys(table).into_iter().find_map(|key| {
        let full = full_key(path, key);
        let inner = table.get(key)?;
        if key == name { Some(full) } else { find_key(inner.get(0).unwrap_or(inner), &full, name) }
    })
}

fn keys(table: &Shape) -> Vec<&str> {
    let mut keys: Vec<&str> =
        table.as_object().into_iter().flat_map(|fields| fields.keys()).map(String::as_str).collect();
    // The order of a JSON object depends on the features of serde_json.
    keys.sort_unstable();
    keys
}
