//! Parses the header lines of a diff: names and numbers.

/// The name git gives to the missing side of an added or deleted file.
pub(super) const NOWHERE: &str = "/dev/null";

/// The two ranges in a hunk's header such as `-10,4 +10,5 @@ fn f()`: start and count of each side.
pub(super) fn ranges(text: &str) -> Option<((u32, u32), (u32, u32))> {
    let mut words = text.split(' ');
    let old = range(words.next()?.strip_prefix('-')?)?;
    let new = range(words.next()?.strip_prefix('+')?)?;
    words.next()?.starts_with("@@").then_some((old, new))
}

fn range(text: &str) -> Option<(u32, u32)> {
    match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

/// The name without git's quotes, or without the timestamp after a tab.
pub(super) fn unquoted(name: &str) -> String {
    match name.strip_prefix('"') {
        Some(rest) => unescaped(rest).0,
        None => name.split('\t').next().unwrap_or_default().to_owned(),
    }
}

/// The text before the closing quote, unescaped, and the text after it. Git escapes bytes as octal numbers.
fn unescaped(quoted: &str) -> (String, &str) {
    let mut bytes = Vec::new();
    let source = quoted.as_bytes();
    let mut at = 0;
    while let Some(&byte) = source.get(at) {
        at += 1;
        match byte {
            b'"' => break,
            b'\\' => {
                let escape = source.get(at).copied().unwrap_or(b'\\');
                let octal = source.get(at..at + 3).and_then(octal);
                at += if octal.is_some() { 3 } else { 1 };
                bytes.push(octal.unwrap_or(match escape {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    b'a' => 7,
                    b'b' => 8,
                    b'v' => 11,
                    b'f' => 12,
                    other => other,
                }));
            }
            other => bytes.push(other),
        }
    }
    (String::from_utf8_lossy(&bytes).into_owned(), quoted.get(at..).unwrap_or_default())
}

fn octal(digits: &[u8]) -> Option<u8> {
    digits.iter().try_fold(0_u8, |sum, digit| match digit {
        b'0'..=b'7' => sum.checked_mul(8)?.checked_add(digit - b'0'),
        _ => None,
    })
}

pub(super) fn without_prefix(name: &str, prefix: &str) -> String {
    name.strip_prefix(prefix).unwrap_or(name).to_owned()
}

/// The file in a `diff --git` line. Needed only if no other line names the file (a changed mode, an empty or
/// binary file), and then both names are equal.
pub(super) fn path_of_both(names: &str) -> Option<String> {
    if let Some(rest) = names.strip_prefix('"') {
        return Some(without_prefix(&unescaped(rest).0, "a/"));
    }
    let middle = names.len() / 2;
    let (old, new) = (names.get(..middle)?, names.get(middle + 1..)?);
    if without_prefix(old, "a/") == without_prefix(new, "b/") && names.as_bytes().get(middle) == Some(&b' ') {
        return Some(without_prefix(new, "b/"));
    }
    names.rsplit_once(" b/").map(|(_, new)| new.to_owned())
}
