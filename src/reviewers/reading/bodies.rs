//! The findings inside the body of a review or a comment: those outside the diff, those held back, and those of reviewers
//! that write all of them into one post.

use super::{PostUnderReading, placed};
use crate::domain::place::LineRange;
use crate::domain::post::ReportedFinding;
use crate::domain::vocabulary::{FilePath, Severity};
use crate::reviewers::document::{ListItemKind, PostDocument, PostLine, excerpt, has_words};
use crate::reviewers::pattern::Pattern;
use crate::reviewers::profile::BodyLayout;
use std::sync::LazyLock;

type FindingPlace = (FilePath, Option<LineRange>);

/// More in one body is no review that anybody reads.
const MOST_FINDINGS: usize = 500;

pub(super) fn findings(post: &PostUnderReading<'_>) -> Vec<ReportedFinding> {
    match post.profile.body_layout {
        BodyLayout::None => Vec::new(),
        BodyLayout::FoldedFiles => folded_files(post),
        BodyLayout::FoldedPlaces => folded_places(post),
        BodyLayout::FoldedTitles => folded_titles(post),
        BodyLayout::LinkFirst => link_first(post),
        BodyLayout::LinkLast => link_last(post),
    }
}

/// A part of the body that is one finding.
struct BodyPart {
    place: Option<FindingPlace>,
    severity: Option<Severity>,
    text: String,
}

impl BodyPart {
    /// The part read as if it were a post of its own; what the body says around it fills what it leaves out.
    fn reported(self, post: &PostUnderReading<'_>) -> ReportedFinding {
        let document = PostDocument::parse(&self.text);
        let alone = PostUnderReading { document: &document, body: &self.text, ..*post };
        let mut reported = alone.reported(&self.text);
        reported.severity = reported.severity.or(self.severity);
        if let Some((path, lines)) = self.place {
            reported.path = Some(path);
            reported.lines = lines;
        }
        reported
    }
}

/// A folded section's depth and how bad it says its findings are.
struct Section {
    depth: u32,
    severity: Option<Severity>,
}

/// Follows the folded sections that hold findings.
fn section_at(post: &PostUnderReading<'_>, line: &PostLine, current: &mut Option<Section>) {
    if current.as_ref().is_some_and(|section| line.folded < section.depth) {
        *current = None;
    }
    if !line.is_summary || current.as_ref().is_some_and(|section| line.folded > section.depth) {
        return;
    }
    let text = line.text.clone();
    let mark = post.profile.body_sections.iter().find(|mark| mark.pattern.fits(&text));
    *current = mark.map(|mark| Section { depth: line.folded, severity: mark.is });
}

/// Where one part begins: its line, what is known about it, and how much of its text is not its own.
struct Beginning {
    at: usize,
    quoted: u32,
    place: Option<FindingPlace>,
    severity: Option<Severity>,
}

/// Cuts the body at its beginnings; `ends` are other places where a part cannot go on.
fn parts(
    post: &PostUnderReading<'_>,
    mut beginnings: Vec<Beginning>,
    ends: &[usize],
) -> Vec<ReportedFinding> {
    beginnings.truncate(MOST_FINDINGS + 1);
    let starts: Vec<usize> =
        beginnings.iter().map(|beginning| beginning.at).chain([post.body.len()]).collect();
    let cut = beginnings.into_iter().enumerate().map(|(index, beginning)| {
        let next = starts[index + 1];
        let first_end = ends.partition_point(|end| *end <= beginning.at);
        let end = ends.get(first_end).map_or(next, |end| next.min(*end));
        let text = excerpt(post.body, beginning.at..end.max(beginning.at), beginning.quoted);
        let text = without_closing_tags(&text).to_owned();
        BodyPart { place: beginning.place, severity: beginning.severity, text }.reported(post)
    });
    cut.take(MOST_FINDINGS).collect()
}

/// What closes the blocks around a part is none of it.
fn without_closing_tags(text: &str) -> &str {
    let mut text = text.trim_end();
    let frames = ["</blockquote>", "</details>", "<details>", "<blockquote>", "---", "</summary>"];
    while let Some(shorter) = frames.iter().find_map(|frame| text.strip_suffix(frame)) {
        text = shorter.trim_end();
    }
    text
}

/// `12-14`: or `12`: in front of a finding in its file's block.
static LINES: LazyLock<Pattern> =
    LazyLock::new(|| Pattern::from(r"^`(?P<from>[0-9]+)(?:\s*[-–]\s*(?P<to>[0-9]+))?`\s*[::]".to_owned()));
static FILE_BLOCK: LazyLock<Pattern> =
    LazyLock::new(|| Pattern::from(r"^(?P<path>\S(?:.*\S)?) \(\d+\)$".to_owned()));

fn folded_files(post: &PostUnderReading<'_>) -> Vec<ReportedFinding> {
    let mut section = None;
    let mut file = None;
    let mut beginnings = Vec::new();
    let mut ends = Vec::new();
    for line in &post.document.lines {
        section_at(post, line, &mut section);
        let Some(Section { depth, severity }) = &section else {
            file = None;
            ends.push(line.at);
            continue;
        };
        if line.is_summary && line.folded <= depth + 1 {
            ends.push(line.at);
            let is_file = line.folded == depth + 1;
            file = if is_file { placed(&FILE_BLOCK, &line.text).map(|(path, _)| path) } else { None };
            continue;
        }
        let Some(path) = file.as_ref().filter(|_| line.folded == depth + 1) else { continue };
        let Some(groups) = LINES.groups(&line.text) else { continue };
        let number = |name| groups.named(name).and_then(|number| number.parse::<u32>().ok());
        let from = number("from").unwrap_or_default();
        let lines = LineRange::new(from, number("to").unwrap_or(from));
        beginnings.push(Beginning {
            at: line.at,
            quoted: line.quoted,
            place: Some((path.clone(), lines)),
            severity: *severity,
        });
    }
    let mut found = parts(post, beginnings, &ends);
    for reported in &mut found {
        // The line numbers are the place, and no part of what is said about it.
        if let Some((lines, rest)) = reported.body.split_once([':', ':'])
            && lines.starts_with('`')
        {
            let text = rest.trim_start().to_owned();
            let (path, lines, severity) = (reported.path.take(), reported.lines, reported.severity);
            let place = path.map(|path| (path, lines));
            *reported = BodyPart { place, severity, text }.reported(post);
        }
    }
    found
}

static PLACE: LazyLock<Pattern> =
    LazyLock::new(|| Pattern::from(r"^(?P<path>\S+?):(?P<from>\d+)(?:-(?P<to>\d+))?$".to_owned()));

fn folded_places(post: &PostUnderReading<'_>) -> Vec<ReportedFinding> {
    let mut section = None;
    let mut place: Option<FindingPlace> = None;
    let mut beginnings: Vec<Beginning> = Vec::new();
    let mut ends = Vec::new();
    let mut is_open = false;
    for line in &post.document.lines {
        section_at(post, line, &mut section);
        let Some(Section { severity, .. }) = &section else {
            place = None;
            ends.push(line.at);
            continue;
        };
        if line.is_summary {
            ends.push(line.at);
            continue;
        }
        let heading = line.opening_strong().filter(|(_, rest)| !has_words(rest));
        if let Some(found) = heading.and_then(|(strong, _)| placed(&PLACE, strong.trim_matches('`'))) {
            place = Some(found);
            is_open = false;
            ends.push(line.at);
            continue;
        }
        if place.is_some() && (!is_open || line.item.is_some()) {
            is_open = true;
            let (at, quoted) = (line.at, line.quoted);
            beginnings.push(Beginning { at, quoted, place: place.clone(), severity: *severity });
        }
    }
    parts(post, beginnings, &ends)
}

static NUMBERED: LazyLock<Pattern> = LazyLock::new(|| Pattern::from(r"^\d+\.\s*\S".to_owned()));
static BRACKETED: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::from(r"(?P<path>[\w@+./-]+\.\w+)\[R?(?P<from>\d+)(?:-R?(?P<to>\d+))?\]".to_owned())
});

/// A title behind a number in what a folded block shows; struck ones are settled. The badge above them says how bad
/// they are.
fn folded_titles(post: &PostUnderReading<'_>) -> Vec<ReportedFinding> {
    let mut severity = None;
    let mut found: Vec<ReportedFinding> = Vec::new();
    let mut open = false;
    for line in &post.document.lines {
        for badge in &line.badges {
            let mut marks = post.profile.severity.iter();
            severity = marks.find(|mark| mark.pattern.fits(badge)).map_or(severity, |mark| Some(mark.is));
        }
        let text = line.text.clone();
        if line.is_summary && line.folded <= 1 && NUMBERED.fits(&text) {
            let is_settled = line.runs.iter().any(|run| run.style.struck) || settled(post, &text);
            open = !is_settled && found.len() < MOST_FINDINGS;
            if open {
                let part = BodyPart { place: None, severity, text };
                found.push(part.reported(post));
            }
        } else if line.is_summary && line.folded <= 1 {
            open = false;
        } else if open
            && let Some(reported) = found.last_mut()
            && reported.path.is_none()
            && let Some((path, lines)) = placed(&BRACKETED, &text)
        {
            reported.path = Some(path);
            reported.lines = lines;
        }
    }
    found
}

fn settled(post: &PostUnderReading<'_>, text: &str) -> bool {
    let marks = post.profile.accepted.iter().chain(&post.common.accepted);
    marks.into_iter().any(|mark| mark.pattern.fits(text))
}

/// A link to lines of a file at a commit.
static PERMALINK: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::from(r"/blob/[0-9a-f]{7,40}/(?P<path>[^#?\s)]+)#L(?P<from>\d+)(?:-L(?P<to>\d+))?".to_owned())
});

fn linked(line: &PostLine) -> Option<FindingPlace> {
    line.links.iter().find_map(|link| placed(&PERMALINK, link)).or_else(|| placed(&PERMALINK, &line.text))
}

/// A line that is nothing but a link to code; the finding follows it.
fn link_first(post: &PostUnderReading<'_>) -> Vec<ReportedFinding> {
    let mut beginnings = Vec::new();
    let mut ends = Vec::new();
    let mut place = None;
    for line in &post.document.lines {
        if line.folded > 0 || line.is_summary {
            ends.push(line.at);
        } else if let Some(found) = linked(line).filter(|_| line.text.split_whitespace().count() == 1) {
            place = Some(found);
            ends.push(line.at);
        } else if place.is_some() && line.opening_strong().is_some() {
            beginnings.push(Beginning {
                at: line.at,
                quoted: line.quoted,
                place: place.take(),
                severity: None,
            });
        }
    }
    parts(post, beginnings, &ends)
}

/// A numbered finding; the first link to code behind it says where it is.
fn link_last(post: &PostUnderReading<'_>) -> Vec<ReportedFinding> {
    let mut beginnings: Vec<Beginning> = Vec::new();
    let mut ends = Vec::new();
    for line in post.document.open_lines() {
        let place = linked(line);
        if line.item == Some(ListItemKind::Numbered) {
            beginnings.push(Beginning { at: line.at, quoted: line.quoted, place, severity: None });
        } else if let Some(place) = place {
            ends.push(line.at);
            if let Some(last) = beginnings.last_mut() {
                last.place.get_or_insert(place);
            }
        }
    }
    // A numbered list without a single link is a list of something else.
    beginnings.retain(|beginning| beginning.place.is_some());
    let mut found = parts(post, beginnings, &ends);
    for reported in &mut found {
        reported.body = reported
            .body
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .trim_start_matches('.')
            .trim()
            .into();
    }
    found
}
