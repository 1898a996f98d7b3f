//! The findings inside the body of a review or comment. Bots put findings outside the diff there, findings of
//! low confidence, or all of them.

use super::{PostUnderReading, line_range, parse_place};
use crate::domain::place::LineRange;
use crate::domain::post::ReportedFinding;
use crate::domain::vocabulary::{FilePath, Severity};
use crate::reviewers::document::{ListItemKind, PostDocument, PostLine, excerpt, has_words};
use crate::reviewers::pattern::Pattern;
use crate::reviewers::profile::BodyLayout;
use std::sync::LazyLock;

type FindingPlace = (FilePath, Option<LineRange>);

/// Findings that are read from one body; nobody reads a review with more.
const MOST_FINDINGS: usize = 500;

pub(super) fn findings(post: &PostUnderReading<'_>) -> Vec<ReportedFinding> {
    match post.profile.body_layout {
        BodyLayout::None => Vec::new(),
        BodyLayout::FoldedFiles => folded_files(post),
        BodyLayout::FoldedPlaces => folded_places(post).into_iter().chain(folded_items(post)).collect(),
        BodyLayout::FoldedTitles => folded_titles(post),
        BodyLayout::LinkFirst => link_first(post),
        BodyLayout::LinkLast => link_last(post),
    }
}

/// The part of a body that describes one finding.
struct BodyPart {
    place: Option<FindingPlace>,
    severity: Option<Severity>,
    text: String,
}

impl BodyPart {
    /// Reads the part like a post of its own. The body's place and severity fill in what the part leaves out.
    fn reported_finding(self, post: &PostUnderReading<'_>) -> ReportedFinding {
        let document = PostDocument::parse(&self.text);
        let alone = PostUnderReading { document: &document, body: &self.text, ..*post };
        let mut reported = alone.reported_finding(&self.text);
        reported.severity = reported.severity.or(self.severity);
        if let Some((path, lines)) = self.place {
            reported.path = Some(path);
            reported.lines = lines;
        }
        reported
    }
}

/// A folded section that holds findings, and the severity that its title states.
struct Section {
    depth: u32,
    severity: Option<Severity>,
}

/// Updates the current section at each line.
fn update_section(post: &PostUnderReading<'_>, line: &PostLine, current: &mut Option<Section>) {
    if current.as_ref().is_some_and(|section| line.folded < section.depth) {
        *current = None;
    }
    if !line.is_summary || current.as_ref().is_some_and(|section| line.folded > section.depth) {
        return;
    }
    let mark = post.profile.body_sections.iter().find(|mark| mark.pattern.matches(&line.text));
    *current = mark.map(|mark| Section { depth: line.folded, severity: mark.is });
}

/// Where a part begins, and what the body says about it.
struct PartStart {
    at: usize,
    quoted: u32,
    place: Option<FindingPlace>,
    severity: Option<Severity>,
}

/// Cuts the body into findings. A part ends at the next start, or earlier at one of `ends`.
fn cut_into_findings(
    post: &PostUnderReading<'_>,
    mut starts: Vec<PartStart>,
    ends: &[usize],
) -> Vec<ReportedFinding> {
    starts.truncate(MOST_FINDINGS + 1);
    let offsets: Vec<usize> = starts.iter().map(|start| start.at).chain([post.body.len()]).collect();
    let cut = starts.into_iter().enumerate().map(|(index, start)| {
        let next = offsets[index + 1];
        let first_end = ends.partition_point(|end| *end <= start.at);
        let end = ends.get(first_end).map_or(next, |end| next.min(*end));
        let text = excerpt(post.body, start.at..end.max(start.at), start.quoted);
        let text = without_closing_tags(&text).to_owned();
        BodyPart { place: start.place, severity: start.severity, text }.reported_finding(post)
    });
    cut.take(MOST_FINDINGS).collect()
}

/// Strips the tags and rules of the surrounding blocks from the end of a part.
fn without_closing_tags(text: &str) -> &str {
    let mut text = text.trim_end();
    let around = ["</blockquote>", "</details>", "<details>", "<blockquote>", "---", "</summary>"];
    while let Some(shorter) = around.iter().find_map(|tag| text.strip_suffix(tag)) {
        text = shorter.trim_end();
    }
    text
}

/// `12-14`: or `12`: before a finding in the block of its file, with or without the backticks.
static LINES: LazyLock<Pattern> =
    LazyLock::new(|| Pattern::from(r"^`?(?P<from>[0-9]+)(?:\s*[-–]\s*(?P<to>[0-9]+))?`?\s*[::]".to_owned()));
static FILE_BLOCK: LazyLock<Pattern> =
    LazyLock::new(|| Pattern::from(r"^(?P<path>\S(?:.*\S)?) \(\d+\)$".to_owned()));

fn folded_files(post: &PostUnderReading<'_>) -> Vec<ReportedFinding> {
    let mut section = None;
    let mut file = None;
    let mut starts = Vec::new();
    let mut ends = Vec::new();
    for line in &post.document.lines {
        update_section(post, line, &mut section);
        let Some(Section { depth, severity }) = &section else {
            file = None;
            ends.push(line.at);
            continue;
        };
        if line.is_summary && line.folded <= depth + 1 {
            ends.push(line.at);
            let is_file = line.folded == depth + 1;
            file = if is_file { parse_place(&FILE_BLOCK, &line.text).map(|(path, _)| path) } else { None };
            continue;
        }
        let Some(path) = file.as_ref().filter(|_| line.folded == depth + 1) else { continue };
        let Some(groups) = LINES.groups(&line.text) else { continue };
        let lines = line_range(&groups);
        starts.push(PartStart {
            at: line.at,
            quoted: line.quoted,
            place: Some((path.clone(), lines)),
            severity: *severity,
        });
    }
    let mut findings = cut_into_findings(post, starts, &ends);
    for reported in &mut findings {
        // The line numbers say where the finding is and do not belong to its text.
        if let Some((lines, rest)) = reported.body.split_once([':', ':'])
            && lines.starts_with(|c: char| c == '`' || c.is_ascii_digit())
        {
            let text = rest.trim_start().to_owned();
            let (path, lines, severity) = (reported.path.take(), reported.lines, reported.severity);
            let place = path.map(|path| (path, lines));
            *reported = BodyPart { place, severity, text }.reported_finding(post);
        }
    }
    findings
}

static PLACE: LazyLock<Pattern> =
    LazyLock::new(|| Pattern::from(r"^(?P<path>\S+?):(?P<from>\d+)(?:-(?P<to>\d+))?$".to_owned()));

fn folded_places(post: &PostUnderReading<'_>) -> Vec<ReportedFinding> {
    let mut section = None;
    let mut place: Option<FindingPlace> = None;
    let mut starts: Vec<PartStart> = Vec::new();
    let mut ends = Vec::new();
    let mut is_open = false;
    for line in &post.document.lines {
        update_section(post, line, &mut section);
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
        if let Some(found) = heading.and_then(|(strong, _)| parse_place(&PLACE, strong.trim_matches('`'))) {
            place = Some(found);
            is_open = false;
            ends.push(line.at);
            continue;
        }
        if place.is_some() && (!is_open || line.item.is_some()) {
            is_open = true;
            let (at, quoted) = (line.at, line.quoted);
            starts.push(PartStart { at, quoted, place: place.clone(), severity: *severity });
        }
    }
    cut_into_findings(post, starts, &ends)
}

/// Alone on its line, so the path may have spaces.
static ITEM_PLACE: LazyLock<Pattern> =
    LazyLock::new(|| Pattern::from(r"^(?P<path>.+?):(?P<from>\d+)(?:-L?(?P<to>\d+))?$".to_owned()));

/// A folded block for each finding: its title is the block's summary, with the severity as a badge; then come
/// its place as code, and its text.
fn folded_items(post: &PostUnderReading<'_>) -> Vec<ReportedFinding> {
    let mut section = None;
    let mut items: Vec<FoldedItem> = Vec::new();
    let mut is_open = false;
    for line in &post.document.lines {
        update_section(post, line, &mut section);
        let inside = section.as_ref().filter(|section| line.folded > section.depth);
        if let Some(Section { depth, severity }) = inside
            && line.is_summary
            && line.folded == depth + 1
        {
            let severity = severity.or_else(|| badge_severity(post, line));
            close(&mut items, is_open, line.at);
            items.push(FoldedItem { title: line.text.clone(), severity, place: None, text: None, end: None });
            is_open = true;
        } else if inside.is_none() {
            close(&mut items, is_open, line.at);
            is_open = false;
        } else if is_open && let Some(item) = items.last_mut() {
            let place = line.is_wholly(|style| style.code).then(|| line.text.trim_matches('`'));
            match place.and_then(|place| parse_place(&ITEM_PLACE, place)) {
                Some(place) if item.place.is_none() && item.text.is_none() => item.place = Some(place),
                _ => {
                    item.text.get_or_insert((line.at, line.quoted));
                }
            }
        }
    }
    let found = items.into_iter().take(MOST_FINDINGS).map(|item| {
        let (at, quoted) = item.text.unwrap_or((0, 0));
        let end = item.end.unwrap_or(post.body.len());
        let text =
            if item.text.is_some() { excerpt(post.body, at..end.max(at), quoted) } else { String::new() };
        let text = without_closing_tags(&text);
        let text = if text.is_empty() { item.title.clone() } else { text.to_owned() };
        let part = BodyPart { place: item.place, severity: item.severity, text };
        ReportedFinding { title: Some(item.title.into()), ..part.reported_finding(post) }
    });
    found.collect()
}

/// A finding in a folded block of its own.
struct FoldedItem {
    title: String,
    severity: Option<Severity>,
    place: Option<FindingPlace>,
    /// Where its text begins, and in how many quotes.
    text: Option<(usize, u32)>,
    end: Option<usize>,
}

fn close(items: &mut [FoldedItem], is_open: bool, at: usize) {
    if is_open && let Some(item) = items.last_mut() {
        item.end.get_or_insert(at);
    }
}

fn badge_severity(post: &PostUnderReading<'_>, line: &PostLine) -> Option<Severity> {
    let mut badges = line.badges.iter();
    badges.find_map(|badge| {
        let mut marks = post.profile.severity.iter();
        marks.find(|mark| mark.pattern.matches(badge)).map(|mark| mark.is)
    })
}

static NUMBERED: LazyLock<Pattern> = LazyLock::new(|| Pattern::from(r"^\d+\.\s*\S".to_owned()));
static BRACKETED: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::from(r"(?P<path>[\w@+./-]+\.\w+)\[R?(?P<from>\d+)(?:-R?(?P<to>\d+))?\]".to_owned())
});

/// Each folded block is one finding with a numbered title. A struck title is settled. The badge above the
/// blocks states their severity.
fn folded_titles(post: &PostUnderReading<'_>) -> Vec<ReportedFinding> {
    let mut severity = None;
    let mut findings: Vec<ReportedFinding> = Vec::new();
    let mut open = false;
    for line in &post.document.lines {
        for badge in &line.badges {
            let mut marks = post.profile.severity.iter();
            severity = marks.find(|mark| mark.pattern.matches(badge)).map_or(severity, |mark| Some(mark.is));
        }
        let text = line.text.clone();
        if line.is_summary && line.folded <= 1 && NUMBERED.matches(&text) {
            let is_settled = line.runs.iter().any(|run| run.style.struck) || has_accepted_mark(post, &text);
            open = !is_settled && findings.len() < MOST_FINDINGS;
            if open {
                let part = BodyPart { place: None, severity, text };
                findings.push(part.reported_finding(post));
            }
        } else if line.is_summary && line.folded <= 1 {
            open = false;
        } else if open
            && let Some(reported) = findings.last_mut()
            && reported.path.is_none()
            && let Some((path, lines)) = parse_place(&BRACKETED, &text)
        {
            reported.path = Some(path);
            reported.lines = lines;
        }
    }
    findings
}

fn has_accepted_mark(post: &PostUnderReading<'_>, text: &str) -> bool {
    let marks = post.profile.accepted.iter().chain(&post.common.accepted);
    marks.into_iter().any(|mark| mark.pattern.matches(text))
}

/// A link to lines of a file at a commit.
static PERMALINK: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::from(r"/blob/[0-9a-f]{7,40}/(?P<path>[^#?\s)]+)#L(?P<from>\d+)(?:-L(?P<to>\d+))?".to_owned())
});

fn linked_place(line: &PostLine) -> Option<FindingPlace> {
    line.links
        .iter()
        .find_map(|link| parse_place(&PERMALINK, link))
        .or_else(|| parse_place(&PERMALINK, &line.text))
}

/// A line with only a link to code; the finding follows it.
fn link_first(post: &PostUnderReading<'_>) -> Vec<ReportedFinding> {
    let mut starts = Vec::new();
    let mut ends = Vec::new();
    let mut place = None;
    for line in &post.document.lines {
        if line.folded > 0 || line.is_summary {
            ends.push(line.at);
        } else if let Some(found) = linked_place(line).filter(|_| line.text.split_whitespace().count() == 1) {
            place = Some(found);
            ends.push(line.at);
        } else if place.is_some() && line.opening_strong().is_some() {
            starts.push(PartStart { at: line.at, quoted: line.quoted, place: place.take(), severity: None });
        }
    }
    cut_into_findings(post, starts, &ends)
}

/// A numbered list of findings. The first link to code after a number is the place.
fn link_last(post: &PostUnderReading<'_>) -> Vec<ReportedFinding> {
    let mut starts: Vec<PartStart> = Vec::new();
    let mut ends = Vec::new();
    for line in post.document.open_lines() {
        let place = linked_place(line);
        if line.item == Some(ListItemKind::Numbered) {
            starts.push(PartStart { at: line.at, quoted: line.quoted, place, severity: None });
        } else if let Some(place) = place {
            ends.push(line.at);
            if let Some(last) = starts.last_mut() {
                last.place.get_or_insert(place);
            }
        }
    }
    // An item without a link to code is not a finding.
    starts.retain(|start| start.place.is_some());
    let mut findings = cut_into_findings(post, starts, &ends);
    for reported in &mut findings {
        reported.body = reported
            .body
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .trim_start_matches('.')
            .trim()
            .into();
    }
    findings
}
