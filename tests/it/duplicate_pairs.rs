//! Precision and recall of the text similarity (D2), on real findings and on handwritten pairs. The floors
//! are just below the measured values, so that a change for the worse fails.

#![expect(clippy::print_stdout, reason = "the table is what this test is for")]

mod handwritten;
mod rewording;

use cloture::domain::similarity::{FindingWords, NEAR_IDENTICAL, SAME_FINDING, similarity};
use handwritten::{LOOKALIKES, PARAPHRASES};
use rewording::REWORDINGS;
use std::fmt::Write as _;
use std::path::Path;

/// A post of the data set that contains a finding.
struct Post {
    title: String,
    body: String,
    bot: String,
    source: String,
    path: Option<String>,
}

impl Post {
    fn words(&self) -> FindingWords {
        FindingWords::of(&self.title, &self.body)
    }
}

/// Pairs of one origin, with the similarity of each.
struct Group {
    name: String,
    same: bool,
    scores: Vec<f64>,
}

impl Group {
    fn new(name: &str, same: bool, pairs: impl IntoIterator<Item = (FindingWords, FindingWords)>) -> Group {
        let scores = pairs.into_iter().map(|(a, b)| similarity(&a, &b)).collect();
        Group { name: name.to_owned(), same, scores }
    }

    fn over(&self, threshold: f64) -> usize {
        self.scores.iter().filter(|score| **score >= threshold).count()
    }

    fn rate(&self, threshold: f64) -> f64 {
        share(self.over(threshold), self.scores.len())
    }
}

#[test]
fn handwritten_pairs_are_classified_well_enough() {
    let groups = handwritten_groups();
    show(&groups);
    assert!(precision(&groups, SAME_FINDING) >= 0.93);
    for group in &groups {
        let (floor, ceiling) = if group.same { (0.85, 1.0) } else { (0.0, 0.10) };
        assert!((floor..=ceiling).contains(&group.rate(SAME_FINDING)), "{}", group.name);
    }
    assert_eq!(
        groups.iter().filter(|group| !group.same).map(|group| group.over(NEAR_IDENTICAL)).sum::<usize>(),
        0
    );
}

#[test]
#[cfg_attr(not(has_shared), ignore = "needs ../shared, which is not part of the repository")]
fn real_findings_are_classified_well_enough() {
    let records = records();
    let posts = findings(&records);
    let mut groups = reworded_groups(&posts);
    groups.push(Group::new("posted inline and in a summary", true, posted_twice(&records, &posts)));
    groups.extend(paraphrase_groups(&posts));
    groups.extend(different_groups(&posts));
    groups.extend(handwritten_groups());
    show(&groups);
    for group in groups.iter().filter(|group| group.same && !group.name.starts_with("hand-written")) {
        assert!(group.rate(SAME_FINDING) >= 0.95, "{}", group.name);
    }
    assert!(precision(&groups, SAME_FINDING) >= 0.99);
    assert!(recall(&groups, SAME_FINDING) >= 0.985);
    assert!(precision(&groups, NEAR_IDENTICAL) >= 0.995);
    assert!(recall(&groups, NEAR_IDENTICAL) >= 0.63);
}

fn handwritten_groups() -> Vec<Group> {
    let words = |(title, body): (&str, &str)| FindingWords::of(title, body);
    let mut groups = Vec::new();
    for (half, name) in [(0, "tuned on"), (1, "held out")] {
        let reworded = PARAPHRASES.iter().skip(half).step_by(2).map(|p| (words(p.first), words(p.second)));
        groups.push(Group::new(&format!("hand-written paraphrases, {name}"), true, reworded));
        let alike = LOOKALIKES.iter().skip(half).step_by(2).map(|(a, b)| (words(*a), words(*b)));
        groups.push(Group::new(&format!("hand-written lookalikes, {name}"), false, alike));
    }
    groups
}

/// One group per rewording function, over all findings that it changes.
fn reworded_groups(posts: &[Post]) -> Vec<Group> {
    let pairs = |reword: rewording::Reword| {
        posts.iter().filter_map(move |post| {
            let (title, body) = reword(&post.title, &post.body);
            let changed = title != post.title || body != post.body;
            (changed && !post.title.is_empty()).then(|| (post.words(), FindingWords::of(&title, &body)))
        })
    };
    REWORDINGS.iter().map(|(name, reword)| Group::new(name, true, pairs(*reword))).collect()
}

/// The real text of a finding, paired with both handwritten wordings.
fn paraphrase_groups(posts: &[Post]) -> Vec<Group> {
    let against_real = |p: &handwritten::Paraphrase| {
        let post = &posts[p.of];
        [p.first, p.second].map(|(title, body)| (post.words(), FindingWords::of(title, body)))
    };
    [(0, "tuned on"), (1, "held out")]
        .map(|(half, name)| {
            let pairs = PARAPHRASES.iter().skip(half).step_by(2).flat_map(against_real);
            Group::new(&format!("real text and its paraphrase, {name}"), true, pairs)
        })
        .into()
}

/// Some bots post a finding inline and once more in the review's body.
fn posted_twice(records: &[serde_json::Value], posts: &[Post]) -> Vec<(FindingWords, FindingWords)> {
    let summaries = || records.iter().filter(|r| r["kind"] == "review_summary");
    let mut pairs = Vec::new();
    for post in posts.iter().filter(|post| post.title.len() > 15) {
        for summary in summaries().filter_map(|r| r["body"].as_str()) {
            if let Some(at) = summary.find(&post.title) {
                let again: String = summary[at..].chars().take(600).collect();
                pairs.push((post.words(), FindingWords::of("", &again)));
            }
        }
    }
    pairs
}

/// Pairs of different findings. Every pair counts once, in the closest group that it belongs to.
fn different_groups(posts: &[Post]) -> Vec<Group> {
    let words: Vec<FindingWords> = posts.iter().map(Post::words).collect();
    let mut by_kin: [Vec<(FindingWords, FindingWords)>; 4] = Default::default();
    for (i, a) in posts.iter().enumerate() {
        for (j, b) in posts.iter().enumerate().skip(i + 1) {
            let same_file = a.source == b.source && a.path.is_some() && a.path == b.path;
            let kin = match (same_file, a.source == b.source, a.bot == b.bot) {
                (true, ..) => 0,
                (_, true, _) => 1,
                (.., true) => 2,
                _ => 3,
            };
            by_kin[kin].push((words[i].clone(), words[j].clone()));
        }
    }
    let names = [
        "different, same file",
        "different, same pull request",
        "different, same bot",
        "different, all others",
    ];
    names.into_iter().zip(by_kin).map(|(name, pairs)| Group::new(name, false, pairs)).collect()
}

fn precision(groups: &[Group], threshold: f64) -> f64 {
    let over = |same| groups.iter().filter(|g| g.same == same).map(|g| g.over(threshold)).sum::<usize>();
    share(over(true), over(true) + over(false))
}

fn recall(groups: &[Group], threshold: f64) -> f64 {
    let positive = || groups.iter().filter(|g| g.same);
    share(positive().map(|g| g.over(threshold)).sum(), positive().map(|g| g.scores.len()).sum())
}

fn share(part: usize, whole: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a few thousand pairs")]
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// The table of `BENCHMARKS.md`.
fn show(groups: &[Group]) {
    let mut table =
        format!("| pairs | n | at {SAME_FINDING} | at {NEAR_IDENTICAL} |\n| --- | --: | --: | --: |\n");
    for group in groups {
        let kind = if group.same { "recognised" } else { "confused" };
        let (same, near) = (100.0 * group.rate(SAME_FINDING), 100.0 * group.rate(NEAR_IDENTICAL));
        let _ =
            writeln!(table, "| {} | {} | {same:.1} % {kind} | {near:.1} % |", group.name, group.scores.len());
    }
    for (name, measure) in [("precision", precision as fn(&[Group], f64) -> f64), ("recall", recall)] {
        let (same, near) = (measure(groups, SAME_FINDING), measure(groups, NEAR_IDENTICAL));
        let _ = writeln!(table, "| **{name}** | | {same:.3} | {near:.3} |");
    }
    println!("{table}");
}

fn records() -> Vec<serde_json::Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/bots/dev.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).expect("a record per line")).collect()
}

fn findings(records: &[serde_json::Value]) -> Vec<Post> {
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let post = |r: &serde_json::Value| Post {
        title: text(&r["label"]["title"]),
        body: text(&r["body"]),
        bot: text(&r["bot"]),
        source: text(&r["source"]),
        path: r["path"].as_str().map(str::to_owned),
    };
    records.iter().filter(|r| r["kind"] == "finding").map(post).collect()
}
