//! Duplicates (D1, D2, D6): recognises a finding that was reported before.
//!
//! The index sorts findings by file and line. A report is compared only with findings near it, so the cost of
//! a comparison does not grow with the number of threads. The rules for a recognised repetition are in
//! [`super::repeats`].

use super::finding::{Finding, Thread};
use super::place::{Anchor, LineRange};
use super::policy::Policy;
use super::similarity::{FindingWords, NEAR_IDENTICAL, opening_words, similarity};
use super::vocabulary::{FilePath, ReviewerName, ThreadId};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// Earlier findings, each under a key of the caller's choice. Answers which of them a report overlaps (D2).
#[derive(Debug)]
pub struct DuplicateIndex<'a, K> {
    policy: &'a Policy,
    entries: Vec<IndexedFinding<'a, K>>,
    by_own_id: BTreeMap<&'a str, Vec<usize>>,
    files: BTreeMap<&'a FilePath, FileIndex>,
}

#[derive(Debug)]
struct IndexedFinding<'a, K> {
    key: K,
    text: FindingText<'a>,
    lines: Option<LineRange>,
    /// The code that it was about is gone.
    gone: bool,
}

/// How near a report is to the last known place of a finding that it overlaps. Nearer is less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Nearness {
    /// The reviewer's own id says that it is the same finding.
    SameId,
    /// Within `line_slack` lines: this many.
    Here(u32),
    /// Further away, in the same file: this many lines. The finding's own code is gone, and the words are the
    /// same.
    Elsewhere(u32),
}

/// A finding that a report overlaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlap<K> {
    pub key: K,
    pub nearness: Nearness,
}

/// A finding's text. It is parsed at the first comparison, because most findings are never compared.
#[derive(Debug)]
struct FindingText<'a> {
    finding: &'a Finding,
    words: OnceCell<FindingWords>,
    opening: OnceCell<String>,
}

impl<'a> FindingText<'a> {
    fn of(finding: &'a Finding) -> Self {
        Self { finding, words: OnceCell::new(), opening: OnceCell::new() }
    }

    fn words(&self) -> &FindingWords {
        self.words.get_or_init(|| FindingWords::of(&self.finding.title, &self.finding.body))
    }

    fn opening(&self) -> &str {
        self.opening.get_or_init(|| opening_words(&self.finding.title, &self.finding.body))
    }
}

/// One file's entries.
#[derive(Debug, Default)]
struct FileIndex {
    by_first_line: BTreeMap<u32, Vec<usize>>,
    /// How many lines the longest range spans beyond its first line. A look-up has to start this far back.
    longest: u32,
    whole_file: Vec<usize>,
    any_gone: bool,
    /// Entries by the rarest word of their title. Computed at first use.
    by_rarest_word: OnceCell<BTreeMap<String, Vec<usize>>>,
}

/// With more findings than this at one place, the place no longer tells them apart. Only those that share
/// their rarest title word with the report are then compared.
const CROWD: usize = 64;

impl<'a, K: Copy> DuplicateIndex<'a, K> {
    pub fn new(policy: &'a Policy) -> Self {
        Self { policy, entries: Vec::new(), by_own_id: BTreeMap::new(), files: BTreeMap::new() }
    }

    /// Adds a finding whose code is now at `anchor`.
    pub fn add_thread(&mut self, key: K, finding: &'a Finding, anchor: &'a Anchor) {
        self.add(key, finding, &anchor.path, anchor.lines, anchor.gone);
    }

    /// Adds a finding whose code is at its own path and lines.
    pub fn add_report(&mut self, key: K, finding: &'a Finding) {
        self.add(key, finding, &finding.path, finding.lines, false);
    }

    fn add(
        &mut self,
        key: K,
        finding: &'a Finding,
        path: &'a FilePath,
        lines: Option<LineRange>,
        gone: bool,
    ) {
        let index = self.entries.len();
        self.entries.push(IndexedFinding { key, text: FindingText::of(finding), lines, gone });
        if let Some(own_id) = &finding.own_id {
            self.by_own_id.entry(own_id).or_default().push(index);
        }
        let file = self.files.entry(path).or_default();
        match lines {
            Some(lines) => {
                file.by_first_line.entry(lines.first()).or_default().push(index);
                file.longest = file.longest.max(lines.last() - lines.first());
            }
            None => file.whole_file.push(index),
        }
        file.any_gone |= gone;
        file.by_rarest_word.take();
    }

    /// All findings that the report overlaps, the nearest first; equally near ones in the order in which they
    /// were added.
    pub fn overlaps(&self, report: &Finding) -> Vec<Overlap<K>> {
        self.overlaps_among(report, |_| true)
    }

    /// The same, restricted to the keys that `counts` accepts. Other entries' texts are not parsed.
    pub fn overlaps_among(&self, report: &Finding, counts: impl Fn(K) -> bool) -> Vec<Overlap<K>> {
        let counts = |index: &usize| counts(self.entries[*index].key);
        let mut found = BTreeMap::new();
        if let Some(same_id) = report.own_id.as_ref().and_then(|id| self.by_own_id.get(&**id)) {
            found.extend(same_id.iter().copied().filter(counts).map(|index| (index, Nearness::SameId)));
        }
        if let Some(file) = self.files.get(&report.path) {
            let text = FindingText::of(report);
            let nearby = self.nearby(file, report.lines).filter(counts);
            let mut near: Vec<usize> = nearby.take(CROWD + 1).collect();
            if near.len() > CROWD {
                near = self
                    .worded_alike(file, text.words())
                    .filter(|&i| self.is_near(i, report.lines))
                    .collect();
            }
            for index in near.into_iter().filter(counts) {
                if !found.contains_key(&index) && self.same_text_here(index, &text) {
                    found.insert(index, self.nearness(index, report.lines));
                }
            }
            if file.any_gone {
                // The code was moved or rewritten, so only the text can identify the finding.
                let gone = self.worded_alike(file, text.words());
                let gone = gone.filter(|index| counts(index) && self.entries[*index].gone);
                for index in gone.filter(|&i| similarity(self.words(i), text.words()) >= NEAR_IDENTICAL) {
                    found.entry(index).or_insert_with(|| self.nearness(index, report.lines));
                }
            }
        }
        let mut found: Vec<(Nearness, usize)> =
            found.into_iter().map(|(index, near)| (near, index)).collect();
        found.sort_unstable();
        let overlap =
            |(nearness, index): (Nearness, usize)| Overlap { key: self.entries[index].key, nearness };
        found.into_iter().map(overlap).collect()
    }

    fn nearness(&self, index: usize, lines: Option<LineRange>) -> Nearness {
        match lines.zip(self.entries[index].lines).map(|(here, there)| here.distance(there)) {
            Some(distance) if distance > self.policy.line_slack => Nearness::Elsewhere(distance),
            Some(distance) => Nearness::Here(distance),
            // A finding about the whole file is near every line, and every exact place is nearer.
            None => Nearness::Here(self.policy.line_slack),
        }
    }

    /// The entries within `line_slack` lines of the report. A finding about a whole file is near every line
    /// of it.
    fn nearby(&self, file: &FileIndex, lines: Option<LineRange>) -> impl Iterator<Item = usize> {
        let slack = self.policy.line_slack;
        let (earliest, latest) = match lines {
            Some(lines) => (
                lines.first().saturating_sub(slack).saturating_sub(file.longest),
                lines.last().saturating_add(slack),
            ),
            None => (0, u32::MAX),
        };
        let in_range = file.by_first_line.range(earliest..=latest).flat_map(|(_, indices)| indices);
        in_range.chain(&file.whole_file).copied().filter(move |&index| self.is_near(index, lines))
    }

    fn is_near(&self, index: usize, lines: Option<LineRange>) -> bool {
        match (lines, self.entries[index].lines) {
            (Some(here), Some(there)) => here.distance(there) <= self.policy.line_slack,
            _ => true,
        }
    }

    fn same_text_here(&self, index: usize, report: &FindingText<'_>) -> bool {
        let entry = &self.entries[index];
        let same_line = entry.lines.map(LineRange::first) == report.finding.lines.map(LineRange::first);
        similarity(entry.text.words(), report.words()) >= self.policy.similarity_threshold
            || same_line && entry.text.opening() == report.opening()
    }

    /// The entries whose rarest title word is also in the report's title. Nearly equal texts share that word,
    /// so this finds candidates where the place does not help.
    fn worded_alike(&self, file: &FileIndex, words: &FindingWords) -> impl Iterator<Item = usize> {
        let by_rarest_word = file.by_rarest_word.get_or_init(|| self.rarest_words(file));
        words.title_tokens().filter_map(|token| by_rarest_word.get(token)).flatten().copied()
    }

    fn rarest_words(&self, file: &FileIndex) -> BTreeMap<String, Vec<usize>> {
        let in_file = || file.by_first_line.values().flatten().chain(&file.whole_file).copied();
        let mut frequency: BTreeMap<&str, u32> = BTreeMap::new();
        for token in in_file().flat_map(|index| self.words(index).title_tokens()) {
            *frequency.entry(token).or_default() += 1;
        }
        let mut by_rarest: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for index in in_file() {
            let rarest = self.words(index).title_tokens().min_by_key(|token| frequency.get(token));
            if let Some(token) = rarest {
                by_rarest.entry(token.to_owned()).or_default().push(index);
            }
        }
        by_rarest
    }

    fn words(&self, index: usize) -> &FindingWords {
        self.entries[index].text.words()
    }
}

/// One problem, with every thread that reports it (D6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuplicateGroup {
    /// Sorted by id; the first one represents the group.
    pub threads: Vec<ThreadId>,
    pub reviewers: BTreeSet<ReviewerName>,
}

/// Groups threads of *different* reviewers that report the same problem, so that it counts and shows once
/// (D6). Threads of one reviewer stay apart: D1 already keeps them distinct.
pub fn group_duplicates<'a>(
    threads: impl Iterator<Item = &'a Thread>,
    policy: &Policy,
) -> Vec<DuplicateGroup> {
    let threads: Vec<&Thread> = threads.collect();
    let mut index_of_all = DuplicateIndex::new(policy);
    for (index, thread) in threads.iter().enumerate() {
        index_of_all.add_thread(index, &thread.finding, &thread.anchor);
    }
    let mut groups: Vec<DuplicateGroup> = Vec::new();
    let mut group_of: Vec<usize> = Vec::with_capacity(threads.len());
    for (index, thread) in threads.into_iter().enumerate() {
        // Reviewers do not share ids, so only place and text decide.
        let here = Finding {
            path: thread.anchor.path.clone(),
            lines: thread.anchor.lines,
            own_id: None,
            ..thread.finding.clone()
        };
        let mut earlier = index_of_all
            .overlaps_among(&here, |earlier| earlier < index)
            .into_iter()
            .map(|overlap| group_of[overlap.key]);
        let group = earlier.find(|&group| !groups[group].reviewers.contains(&thread.reviewer));
        let group = group.unwrap_or_else(|| {
            groups.push(DuplicateGroup { threads: Vec::new(), reviewers: BTreeSet::new() });
            groups.len() - 1
        });
        groups[group].threads.push(thread.id.clone());
        groups[group].reviewers.insert(thread.reviewer.clone());
        group_of.push(group);
    }
    groups
}
