//! A finding's title, where its reviewer gave one.

use crate::reviewers::document::{PostDocument, has_words};
use crate::reviewers::profile::{Profile, TitleFrom};

/// What is longer is prose, and its first sentence has to do.
const LONGEST_TITLE: usize = 300;
/// "Suggestion:" and "issue (testing):" are labels of what follows them; a longer text with a colon is a title.
const LONGEST_LABEL: usize = 3;

pub(super) fn title(profile: &Profile, document: &PostDocument) -> Option<String> {
    let title = match profile.title {
        TitleFrom::None => None,
        TitleFrom::Heading => accepted(
            profile,
            document.open_lines().filter(|line| line.heading > 0).map(|line| line.text.clone()),
        ),
        TitleFrom::Strong => accepted(profile, opening(document)),
        TitleFrom::AnyStrong => {
            accepted(profile, opening(document)).or_else(|| accepted(profile, strong_lines(document)))
        }
        TitleFrom::Line => accepted(
            profile,
            document
                .open_lines()
                .filter(|line| !line.is_wholly(|style| style.code))
                .map(|line| line.text.clone()),
        ),
    }?;
    Some(shortened(title))
}

/// The first candidate that is left when the profile has had its say.
fn accepted(profile: &Profile, mut candidates: impl Iterator<Item = String>) -> Option<String> {
    candidates.find_map(|candidate| {
        if profile.title_skip.iter().any(|pattern| pattern.fits(&candidate)) {
            return None;
        }
        let mut title = candidate;
        for pattern in &profile.title_strip {
            let shorter = pattern.taken_from(&title);
            title = String::from(shorter.trim());
        }
        has_words(&title).then_some(title)
    })
}

/// The headings and bold texts before the prose begins. Labels and badges do not begin it.
fn opening(document: &PostDocument) -> impl Iterator<Item = String> {
    let mut prose = false;
    document.open_lines().filter_map(move |line| {
        if prose || !line.has_words() || line.quoted > 0 {
            return None;
        }
        if line.heading > 0 {
            return Some(line.text.clone());
        }
        let title = if line.item.is_none() { line.opening_strong().map(labelled) } else { None };
        let is_label = line.is_wholly(|style| style.emphasis || style.small || style.code);
        prose = title.is_none() && !is_label;
        title
    })
}

/// What a label labels, or the bold text itself.
fn labelled((strong, rest): (String, String)) -> String {
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
