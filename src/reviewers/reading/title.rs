//! The title that a reviewer gave a finding.

use crate::reviewers::document::{PostDocument, has_words};
use crate::reviewers::profile::{Profile, TitleFrom};

/// Characters of a title. A longer one is prose and is cut after its first sentence.
const LONGEST_TITLE: usize = 300;
/// Words of a label such as "Suggestion:" or "issue (testing):". A longer text with a colon is a title.
const LONGEST_LABEL: usize = 3;

pub(super) fn title(profile: &Profile, document: &PostDocument) -> Option<String> {
    let title = match profile.title {
        TitleFrom::None => None,
        TitleFrom::Heading => first_usable(
            profile,
            document.open_lines().filter(|line| line.heading > 0).map(|line| line.text.clone()),
        ),
        TitleFrom::Strong => first_usable(profile, opening(document)),
        TitleFrom::AnyStrong => {
            first_usable(profile, opening(document)).or_else(|| first_usable(profile, strong_lines(document)))
        }
        TitleFrom::Line => first_usable(
            profile,
            document
                .open_lines()
                .filter(|line| !line.is_wholly(|style| style.code))
                .map(|line| line.text.clone()),
        ),
    }?;
    Some(shortened(title))
}

/// The first candidate that the profile does not skip and that has words after stripping.
fn first_usable(profile: &Profile, mut candidates: impl Iterator<Item = String>) -> Option<String> {
    candidates.find_map(|candidate| {
        if profile.title_skip.iter().any(|pattern| pattern.matches(&candidate)) {
            return None;
        }
        let mut title = candidate;
        for pattern in &profile.title_strip {
            title = String::from(pattern.removed_from(&title).trim());
        }
        has_words(&title).then_some(title)
    })
}

/// The headings and bold texts before the first line of prose. Labels and badges are not prose.
fn opening(document: &PostDocument) -> impl Iterator<Item = String> {
    let mut in_prose = false;
    document.open_lines().filter_map(move |line| {
        if in_prose || !line.has_words() || line.quoted > 0 {
            return None;
        }
        if line.heading > 0 {
            return Some(line.text.clone());
        }
        let title = if line.item.is_none() { line.opening_strong().map(without_label) } else { None };
        let is_label = line.is_wholly(|style| style.emphasis || style.small || style.code);
        in_prose = title.is_none() && !is_label;
        title
    })
}

/// The text after a label, or the bold text itself if it is no label.
fn without_label((strong, rest): (String, String)) -> String {
    let is_label = strong.ends_with([':', '：']) || rest.starts_with([':', '：']);
    let rest = rest.trim_start_matches([':', '：']).trim();
    if is_label && has_words(rest) && strong.split_whitespace().count() <= LONGEST_LABEL {
        rest.to_owned()
    } else {
        strong
    }
}

fn strong_lines(document: &PostDocument) -> impl Iterator<Item = String> {
    let lines = document.open_lines().filter(|line| line.quoted == 0 && line.item.is_none());
    lines.filter(|line| line.is_wholly(|style| style.strong)).map(|line| line.text.clone())
}

fn shortened(title: String) -> String {
    if title.chars().count() <= LONGEST_TITLE {
        return title;
    }
    let sentence = title.find(". ").map_or(title.len(), |end| end + 1);
    let end = title.char_indices().nth(LONGEST_TITLE).map_or(title.len(), |(end, _)| end);
    if sentence <= end { title[..sentence].to_owned() } else { format!("{}…", title[..end].trim_end()) }
}
