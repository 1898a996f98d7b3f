//! Reads a TOML document: compares its keys with the known ones, checks its values, and finds the place of
//! each problem in the file.

use super::error::ConfigFault;
use super::unknown_keys::remove_unknown;
use super::{Config, typed};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::ops::Range;
use std::str::Utf8Error;
use toml::de::{DeTable, DeValue};

/// Reads the text of a configuration. Returns all faults in the order of the file, or only the first if the
/// text is not TOML.
pub(super) fn read(text: &str) -> Result<Config, Vec<ConfigFault>> {
    let mut document = DeTable::parse(text).map_err(|error| vec![not_toml(text, &error)])?;
    let mut faults = remove_unknown(document.get_mut());
    // This does not fail: the rest has the shape of the structs, and their values take anything.
    let typed = typed::TypedConfig::deserialize(toml::Deserializer::from(document.clone()));
    let typed = typed.map_err(|error| vec![not_toml(text, &error)])?;
    let problems = match typed.validated() {
        Ok(config) if faults.is_empty() => return Ok(config),
        Ok(_) => Vec::new(),
        Err(problems) => problems,
    };
    // A key that was removed would be reported again as missing.
    let removed: BTreeSet<String> = faults.iter().filter_map(|fault| fault.key.clone()).collect();
    let others = problems.iter().filter(|problem| !removed.contains(&problem.key));
    faults.extend(others.map(|problem| ConfigFault::of(locate(document.get_ref(), &problem.key), problem)));
    faults.sort_by_key(|fault| fault.span.start);
    Err(faults)
}

/// The first byte that is not UTF-8.
pub(super) fn not_text(content: &[u8], error: Utf8Error) -> ConfigFault {
    let start = error.valid_up_to();
    let byte = content.get(start).copied().unwrap_or_default();
    ConfigFault::unnamed(start..start + 1, format!("expected UTF-8 text, found the byte 0x{byte:02x}"))
}

fn not_toml(text: &str, error: &toml::de::Error) -> ConfigFault {
    let span = error.span().unwrap_or(text.len()..text.len());
    ConfigFault::unnamed(span, format!("not valid TOML: {}", error.message()))
}

/// The place of a key's value, or of the table that lacks the key. For keys that the checks name, which
/// contain no dots or brackets.
fn locate(document: &DeTable<'_>, key: &str) -> Range<usize> {
    let mut place = None;
    for step in key.split(['.', '[']) {
        let next = match (place.map(toml::Spanned::get_ref), step.strip_suffix(']')) {
            (None, None) => document.get(step),
            (Some(DeValue::Table(table)), None) => table.get(step),
            (Some(DeValue::Array(items)), Some(index)) => {
                index.parse().ok().and_then(|index: usize| items.get(index))
            }
            _ => None,
        };
        let Some(next) = next else { break };
        place = Some(next);
    }
    place.map_or(0..0, toml::Spanned::span)
}
