//! Reading a TOML document: its keys are held against the known ones, its values are checked, and every
//! problem is traced back to the place in the file that it is about.

use super::error::ConfigFault;
use super::unknown_keys::weed;
use super::{Config, typed};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::ops::Range;
use std::str::Utf8Error;
use toml::de::{DeTable, DeValue};

/// Reads the text of a configuration. What is not TOML at all ends at its first fault; of everything else,
/// all faults are returned, in the order of the file.
pub(super) fn read(text: &str) -> Result<Config, Vec<ConfigFault>> {
    let mut document = DeTable::parse(text).map_err(|error| vec![not_toml(text, &error)])?;
    let mut faults = weed(document.get_mut());
    // What is left has the shape of the structs, whose values take anything, so this does not fail.
    let typed = typed::TypedConfig::deserialize(toml::Deserializer::from(document.clone()));
    let typed = typed.map_err(|error| vec![not_toml(text, &error)])?;
    let problems = match typed.validated() {
        Ok(config) if faults.is_empty() => return Ok(config),
        Ok(_) => Vec::new(),
        Err(problems) => problems,
    };
    // What was weeded out is not missing as well.
    let weeded: BTreeSet<String> = faults.iter().filter_map(|fault| fault.key.clone()).collect();
    let others = problems.iter().filter(|problem| !weeded.contains(&problem.key));
    faults.extend(others.map(|problem| ConfigFault::of(locate(document.get_ref(), &problem.key), problem)));
    faults.sort_by_key(|fault| fault.span.start);
    Err(faults)
}

/// Where bytes stop being text.
pub(super) fn not_text(content: &[u8], error: Utf8Error) -> ConfigFault {
    let start = error.valid_up_to();
    let byte = content.get(start).copied().unwrap_or_default();
    ConfigFault::unnamed(start..start + 1, format!("expected UTF-8 text, found the byte 0x{byte:02x}"))
}

fn not_toml(text: &str, error: &toml::de::Error) -> ConfigFault {
    let span = error.span().unwrap_or(text.len()..text.len());
    ConfigFault::unnamed(span, format!("not valid TOML: {}", error.message()))
}

/// Where the value of a key stands, or, of a key that is missing, the table that lacks it. Only for keys that
/// the checks name, which have neither dots nor brackets of their own.
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
