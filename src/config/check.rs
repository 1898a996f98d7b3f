//! Checks values one key at a time and collects the problems.

use super::TypedValue;
use crate::domain::snapshot::RepositoryName;
use jiff::fmt::friendly::SpanParser;
use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

/// A key with an invalid value. It displays as one sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The full name of the key, such as `policy.repeat_limit` or `handoff.routes[0].target`.
    pub key: String,
    pub expected: String,
    pub found: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}, found {}", self.key, self.expected, self.found)
    }
}

impl std::error::Error for Problem {}

/// The problems of one table. Each method reads one key and returns `None` for a missing or a wrong value. A
/// wrong value is recorded, so the caller can continue with a default.
#[derive(Debug)]
pub(super) struct Checks {
    table: &'static str,
    problems: Vec<Problem>,
}

impl Checks {
    pub(super) fn of(table: &'static str) -> Checks {
        Checks { table, problems: Vec::new() }
    }

    /// The valid value, if nothing was refused.
    pub(super) fn finish<T>(self, valid: T) -> Result<T, Vec<Problem>> {
        if self.problems.is_empty() { Ok(valid) } else { Err(self.problems) }
    }

    pub(super) fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    pub(super) fn refuse(&mut self, key: &str, expected: impl Into<String>, found: impl Into<String>) {
        let separator = if key.is_empty() || key.starts_with('[') { "" } else { "." };
        let key = format!("{}{separator}{key}", self.table);
        self.problems.push(Problem { key, expected: expected.into(), found: found.into() });
    }

    pub(super) fn read<T>(
        &mut self,
        key: &str,
        typed: Option<&TypedValue>,
        expected: impl FnOnce() -> String,
        accept: impl FnOnce(&TypedValue) -> Option<T>,
    ) -> Option<T> {
        let value = typed?;
        let accepted = accept(value);
        if accepted.is_none() {
            self.refuse(key, expected(), value.to_string());
        }
        accepted
    }

    pub(super) fn whole<T>(
        &mut self,
        key: &str,
        typed: Option<&TypedValue>,
        range: &RangeInclusive<T>,
    ) -> Option<T>
    where
        T: TryFrom<i128> + PartialOrd + fmt::Display,
    {
        let expected = || format!("a whole number from {} to {}", range.start(), range.end());
        self.read(key, typed, expected, |value| match value {
            TypedValue::Integer(number) => T::try_from(*number).ok().filter(|number| range.contains(number)),
            _ => None,
        })
    }

    pub(super) fn number(
        &mut self,
        key: &str,
        typed: Option<&TypedValue>,
        range: &RangeInclusive<f64>,
    ) -> Option<f64> {
        let expected = || format!("a number from {} to {}", range.start(), range.end());
        self.read(key, typed, expected, |value| {
            let number = match value {
                TypedValue::Float(number) => *number,
                TypedValue::Integer(number) => i32::try_from(*number).ok()?.into(),
                _ => return None,
            };
            range.contains(&number).then_some(number)
        })
    }

    pub(super) fn duration(
        &mut self,
        key: &str,
        typed: Option<&TypedValue>,
        range: &RangeInclusive<Duration>,
    ) -> Option<Duration> {
        let expected = || {
            let (least, most) = (in_words(*range.start()), in_words(*range.end()));
            format!("a time from {least} to {most}, in seconds or as \"90s\", \"5m\", \"1h 30m\"")
        };
        self.read(key, typed, expected, |value| {
            let duration = match value {
                TypedValue::Integer(seconds) => Duration::from_secs(u64::try_from(*seconds).ok()?),
                TypedValue::Text(text) => SpanParser::new().parse_unsigned_duration(text).ok()?,
                _ => return None,
            };
            range.contains(&duration).then_some(duration)
        })
    }

    /// One line of text that is not blank and that `fits`.
    pub(super) fn text(
        &mut self,
        key: &str,
        typed: Option<&TypedValue>,
        expected: &str,
        fits: impl FnOnce(&str) -> bool,
    ) -> Option<String> {
        let accept = |value: &TypedValue| one_line(value).filter(|text| fits(text));
        self.read(key, typed, || expected.to_owned(), accept)
    }

    /// A list of such lines.
    pub(super) fn texts(
        &mut self,
        key: &str,
        typed: Option<&TypedValue>,
        what: &str,
        fits: impl Fn(&str) -> bool,
    ) -> Vec<String> {
        self.list(key, typed, &format!("a list, each {what}"), |checks, key, value| {
            checks.text(key, Some(value), what, &fits)
        })
    }

    pub(super) fn repository(
        &mut self,
        key: &str,
        typed: Option<&TypedValue>,
        expected: &str,
    ) -> Option<RepositoryName> {
        let accept = |value: &TypedValue| RepositoryName::parse(&one_line(value)?);
        self.read(key, typed, || expected.to_owned(), accept)
    }

    pub(super) fn flag(&mut self, key: &str, typed: Option<&TypedValue>) -> Option<bool> {
        self.read(
            key,
            typed,
            || "true or false".to_owned(),
            |value| match value {
                TypedValue::Boolean(flag) => Some(*flag),
                _ => None,
            },
        )
    }

    pub(super) fn choice<T: Copy>(
        &mut self,
        key: &str,
        typed: Option<&TypedValue>,
        choices: &[(&str, T)],
    ) -> Option<T> {
        self.read(
            key,
            typed,
            || one_of(choices),
            |value| match value {
                TypedValue::Text(text) => {
                    choices.iter().find(|(name, _)| name == text).map(|(_, choice)| *choice)
                }
                _ => None,
            },
        )
    }

    /// A list. `item` reads each item as a key of its own.
    pub(super) fn list<T>(
        &mut self,
        key: &str,
        typed: Option<&TypedValue>,
        expected: &str,
        mut item: impl FnMut(&mut Checks, &str, &TypedValue) -> Option<T>,
    ) -> Vec<T> {
        let items = self.read(
            key,
            typed,
            || expected.to_owned(),
            |value| match value {
                TypedValue::List(items) => Some(items.clone()),
                _ => None,
            },
        );
        let numbered = items.iter().flatten().enumerate();
        numbered.filter_map(|(index, value)| item(self, &format!("{key}[{index}]"), value)).collect()
    }

    /// One line of text that is not blank. The key is required.
    pub(super) fn required_name(
        &mut self,
        table: &str,
        key: &str,
        typed: Option<&TypedValue>,
        expected: &str,
    ) -> Option<String> {
        let key = format!("{table}.{key}");
        if typed.is_none() {
            self.refuse(&key, expected, "nothing");
        }
        self.read(
            &key,
            typed,
            || expected.to_owned(),
            |value| match value {
                TypedValue::Text(text) if is_one_line(text) && !text.trim().is_empty() => Some(text.clone()),
                _ => None,
            },
        )
    }
}

/// Whether a text has no control characters.
pub(super) fn is_one_line(text: &str) -> bool {
    !text.chars().any(char::is_control)
}

/// A text of one line that is not blank, trimmed.
pub(super) fn one_line(value: &TypedValue) -> Option<String> {
    match value {
        TypedValue::Text(text) if is_one_line(text) && !text.trim().is_empty() => {
            Some(text.trim().to_owned())
        }
        _ => None,
    }
}

/// A text of one line that is empty or not blank.
pub(super) fn one_line_or_empty(value: &TypedValue) -> Option<String> {
    match value {
        TypedValue::Text(text) if text.is_empty() => Some(String::new()),
        TypedValue::Text(text) if is_one_line(text) && !text.trim().is_empty() => Some(text.clone()),
        _ => None,
    }
}

/// A duration in whole days or in seconds.
fn in_words(duration: Duration) -> String {
    const DAY: u64 = 24 * 60 * 60;
    let (count, unit) = match duration.as_secs() {
        seconds if seconds >= DAY && seconds % DAY == 0 => (seconds / DAY, "day"),
        seconds => (seconds, "second"),
    };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

/// The choices as an expectation.
pub(super) fn one_of<T>(choices: &[(&str, T)]) -> String {
    let names: Vec<String> = choices.iter().map(|(name, _)| format!("{name:?}")).collect();
    format!("one of {}", names.join(", "))
}
