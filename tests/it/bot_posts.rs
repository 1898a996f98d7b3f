//! Reads real posts of bots and compares the results with their labels. Prints the figures, and fails if one
//! is below its promised share.

use cloture::commands::classify::classify;
use cloture::reviewers::profiles::Profiles;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Not part of the repository. The handwritten posts in `src/reviewers` are.
const POSTS: &str = "../shared/bots/dev.jsonl";

/// Bots that no profile can recognise: their posts come from a shared or unknown account without a mark.
const NOT_KNOWN: [&str; 2] = ["ai-codereviewer", "claude"];

struct Share {
    right: u32,
    of: u32,
}

/// Counts per measure and bot.
#[derive(Default)]
struct Figures {
    counts: BTreeMap<(&'static str, String), Share>,
    misses: String,
}

impl Figures {
    fn count(&mut self, measure: &'static str, row: &Row, got: &Value, expected: &Value) {
        let share = self.counts.entry((measure, row.bot())).or_insert(Share { right: 0, of: 0 });
        share.of += 1;
        if got == expected {
            share.right += 1;
        } else {
            let start: String = row.body().chars().take(90).collect();
            writeln!(self.misses, "  {measure}: {} expected {expected}, got {got}: {start:?}", row.bot())
                .unwrap();
        }
    }

    fn total(&self, measure: &str) -> (u32, u32) {
        let shares = self.counts.iter().filter(|((name, _), _)| *name == measure);
        shares.fold((0, 0), |(right, of), (_, share)| (right + share.right, of + share.of))
    }
}

struct Row {
    post: Value,
    answer: Value,
}

impl Row {
    fn bot(&self) -> String {
        if self.kind() == "human_reply" {
            "people".to_owned()
        } else {
            self.post["bot"].as_str().unwrap().to_owned()
        }
    }

    fn body(&self) -> &str {
        self.post["body"].as_str().unwrap()
    }

    fn kind(&self) -> &str {
        self.post["kind"].as_str().unwrap()
    }

    fn label(&self, key: &str) -> &Value {
        &self.post["label"][key]
    }
}

/// The input line for `classify`. The data does not say where a post is, but its kind does.
fn question(post: &Value) -> Value {
    let kind = post["kind"].as_str().unwrap();
    let has_path = post["path"].is_string();
    let place = match kind {
        "finding" if has_path => "thread_root",
        "bot_reply" | "human_reply" => "thread_reply",
        "failure" if has_path => "thread_reply",
        "review_summary" => "review",
        _ => "comment",
    };
    let is_person = kind == "human_reply" || post["login"] == "timothyfroehlich";
    json!({"author": post["login"], "is_bot": !is_person, "association": "NONE", "where": place,
        "body": post["body"]})
}

#[test]
#[cfg_attr(not(has_shared), ignore = "needs ../shared, which is not part of the repository")]
fn real_posts_are_read_as_they_are_labelled() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(POSTS);
    let text = std::fs::read_to_string(&path).unwrap();
    let posts: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(posts.len() > 200, "only {} posts", posts.len());
    let input: Vec<String> = posts.iter().map(|post| question(post).to_string()).collect();
    let input = input.join("\n");
    let mut output = Vec::new();
    classify(input.as_bytes(), &mut output, &Profiles::built_in().unwrap()).unwrap();
    let output = String::from_utf8(output).unwrap();
    let answers = output.lines().map(|line| serde_json::from_str(line).unwrap());
    let rows: Vec<Row> = posts.into_iter().zip(answers).map(|(post, answer)| Row { post, answer }).collect();

    let mut figures = Figures::default();
    let mut invented = Vec::new();
    let mut dangerous = Vec::new();
    let mut false_alarms = Vec::new();
    for row in &rows {
        let answer = &row.answer;
        let kind = match row.kind() {
            "bot_reply" | "human_reply" => "reply",
            "review_summary" => "summary",
            other => other,
        };
        figures.count("kind", row, &answer["kind"], &json!(kind));
        if kind != "failure" && answer["kind"] == "failure" {
            false_alarms.push(row.body());
        }
        if row.kind() == "human_reply" {
            let (read, label) = (&answer["intent"], row.label("reply_intent"));
            figures.count("intent", row, read, label);
            let closes = read == "wont_fix" || read == "acknowledged";
            if closes && ["disagree", "question", "other", "fixed"].iter().any(|open| label == open) {
                dangerous.push(row.body());
            }
            continue;
        }
        if !NOT_KNOWN.contains(&row.bot().as_str()) {
            figures.count("reviewer", row, &answer["reviewer"], &json!(row.bot()));
        }
        match row.kind() {
            "finding" => {
                let (read, stated) = (&answer["severity"], row.label("severity"));
                if stated.is_null() {
                    if !read.is_null() {
                        invented.push(row.body());
                    }
                } else {
                    figures.count("severity", row, read, stated);
                }
                if row.label("title_explicit") == true {
                    let title = |value: &Value| json!(value.as_str().map(|text| text.trim().to_owned()));
                    figures.count("title", row, &title(&answer["title"]), &title(row.label("title")));
                }
                figures.count("suggestion", row, &answer["suggestion"], row.label("has_suggestion"));
                figures.count("stance of findings", row, &answer["stance"], row.label("stance"));
            }
            "bot_reply" => {
                let (read, label) = (&answer["stance"], row.label("stance"));
                figures.count("stance of replies", row, read, label);
                if read == "accepts" && label != "accepts" {
                    dangerous.push(row.body());
                }
            }
            "failure" => figures.count("failure", row, &answer["kind"], &json!("failure")),
            _ => {}
        }
    }
    report(&table(&figures));
    report(&figures.misses);
    assert!(invented.is_empty(), "severities that the post does not state: {invented:#?}");
    assert!(dangerous.is_empty(), "wrongly read as the end of the discussion: {dangerous:#?}");
    assert!(false_alarms.is_empty(), "wrongly read as failures: {false_alarms:#?}");
    let promised = [
        ("reviewer", 99),
        ("kind", 95),
        ("severity", 95),
        ("title", 90),
        ("suggestion", 98),
        ("failure", 95),
        ("stance of replies", 95),
        ("intent", 85),
    ];
    for (measure, percent) in promised {
        let (right, of) = figures.total(measure);
        assert!(of > 0 && right * 100 >= of * percent, "{measure}: {right} of {of}, promised {percent} %");
    }
}

fn table(figures: &Figures) -> String {
    let measures = [
        "reviewer",
        "kind",
        "severity",
        "title",
        "suggestion",
        "failure",
        "stance of findings",
        "stance of replies",
        "intent",
    ];
    let mut bots: Vec<&String> = figures.counts.keys().map(|(_, bot)| bot).collect();
    bots.sort();
    bots.dedup();
    let mut table =
        format!("| bot | {} |\n| --- |{}\n", measures.join(" | "), " --: |".repeat(measures.len()));
    for bot in bots {
        let cells = measures.map(|measure| {
            let share = figures.counts.get(&(measure, bot.clone()));
            share.map_or_else(String::new, |share| format!("{}/{}", share.right, share.of))
        });
        writeln!(table, "| {bot} | {} |", cells.join(" | ")).unwrap();
    }
    let totals = measures.map(|measure| {
        let (right, of) = figures.total(measure);
        format!("**{right}/{of}**")
    });
    writeln!(table, "| **all** | {} |", totals.join(" | ")).unwrap();
    table
}

#[expect(clippy::print_stderr, reason = "figures are for people")]
fn report(text: &str) {
    eprintln!("{text}");
}
