//! How a finding's text changes between two rounds. Each function takes the title and the body, and returns
//! them as a later post of the same finding could have them.

pub(crate) type Reword = fn(&str, &str) -> (String, String);

pub(crate) const REWORDINGS: &[(&str, Reword)] = &[
    ("posted again: other badge and footer", other_badge),
    ("posted again: lines moved", lines_moved),
    ("posted again: patches and folded blocks gone", |title, body| (title.to_owned(), prose(body))),
    ("title kept, no body", |title, _| (title.to_owned(), String::new())),
    ("title kept, first half of the body", |title, body| (title.to_owned(), first_half(body))),
    ("title kept, sentences in reverse order", |title, body| (title.to_owned(), reversed(body))),
    ("title kept, two sentences of five dropped", |title, body| (title.to_owned(), thinned(body))),
    ("title lost, two sentences of five dropped", |_, body| (String::new(), thinned(body))),
    ("title reworded", |title, body| (reworded(title), body.to_owned())),
    ("title reworded, two sentences of five dropped", |title, body| (reworded(title), thinned(body))),
    ("title reworded, body reworded and thinned", |title, body| (reworded(title), reworded(&thinned(body)))),
];

/// Both directions are used, so each pair of words is listed once.
const SYNONYMS: &[(&str, &str)] = &[
    ("missing", "absent"),
    ("remove", "delete"),
    ("error", "failure"),
    ("errors", "failures"),
    ("duplicate", "repeated"),
    ("consider", "think about"),
    ("unnecessary", "superfluous"),
    ("causes", "leads to"),
    ("cause", "lead to"),
    ("prevent", "avoid"),
    ("prevents", "stops"),
    ("allowing", "which permits"),
    ("wrong", "incorrect"),
    ("potential", "possible"),
    ("hardcoded", "hard-coded"),
    ("directly", "straight"),
    ("checks", "verifies"),
    ("check", "verification"),
    ("ignored", "not honoured"),
    ("never", "not"),
    ("break", "cause trouble in"),
    ("method", "function"),
    ("crashes", "dies"),
    ("significant", "considerable"),
    ("simplified", "made simpler"),
    ("replace", "swap out"),
    ("ensure", "make sure of"),
    ("currently", "at present"),
    ("incomplete", "partial"),
    ("because", "since"),
    ("will", "would"),
    ("should", "ought to"),
];

fn other_badge(title: &str, body: &str) -> (String, String) {
    let body = format!(
        "<!-- run:7f3a -->\n![P0 Badge](https://img.example/p0.svg)\n_⚠️ Potential issue_ | _🔴 Critical_\n\n\
         {}\n\nUseful? React with 👍 / 👎.\n\n\
         <details>\n<summary>Prompt for agents</summary>\nVerify and fix.\n</details>",
        body.replace("🟠 Major", "🔵 Trivial").replace("High Severity", "Low Severity")
    );
    (title.to_owned(), body)
}

/// Every number after "line" or a file name's colon grows by 17.
fn lines_moved(title: &str, body: &str) -> (String, String) {
    let moved = |text: &str| {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
            let (before, tail) = rest.split_at(at);
            let end = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
            let lower = before.to_lowercase();
            let is_line =
                ["line ", "lines ", "#l", "ts:", "py:", "rs:", "-l"].iter().any(|w| lower.ends_with(w));
            out.push_str(before);
            match tail[..end].parse::<u32>() {
                Ok(line) if is_line => out.push_str(&(line.saturating_add(17)).to_string()),
                _ => out.push_str(&tail[..end]),
            }
            rest = &tail[end..];
        }
        out + rest
    };
    (moved(title), moved(body))
}

/// The body without fences, folded blocks and comments.
fn prose(body: &str) -> String {
    let body = without(body, "```", "```");
    let body = without(&body, "<details>", "</details>");
    without(&body, "<!--", "-->")
}

fn without(text: &str, open: &str, close: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once(open) {
        out.push_str(before);
        rest = tail.split_once(close).map_or("", |(_, after)| after);
    }
    out + rest
}

fn sentences(body: &str) -> Vec<String> {
    prose(body).split_inclusive(". ").flat_map(|s| s.split("\n\n")).map(str::to_owned).collect()
}

fn first_half(body: &str) -> String {
    let sentences = sentences(body);
    sentences[..sentences.len().div_ceil(2)].join("\n")
}

fn reversed(body: &str) -> String {
    sentences(body).into_iter().rev().collect::<Vec<_>>().join("\n")
}

fn thinned(body: &str) -> String {
    let kept = sentences(body).into_iter().enumerate().filter(|(at, _)| !matches!(at % 5, 2 | 4));
    kept.map(|(_, sentence)| sentence).collect::<Vec<_>>().join("\n")
}

/// Uses synonyms, writes names as prose (`getUser` to "get user"), and puts the second part of a sentence
/// first.
fn reworded(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(reworded_word).collect();
    let cut = words
        .iter()
        .position(|word| ["—", "-", "while", "but", "in", "for", "because"].contains(&word.as_str()));
    let (head, tail) = words.split_at(cut.unwrap_or(0));
    [tail, head].concat().join(" ")
}

fn reworded_word(word: &str) -> String {
    let lower = word.to_lowercase();
    let bare = lower.trim_matches(|c: char| !c.is_alphanumeric());
    for (one, other) in SYNONYMS {
        if bare == *one {
            return (*other).to_owned();
        }
    }
    let mut out = String::new();
    for c in word.chars().filter(|c| *c != '`') {
        if c.is_uppercase() && out.ends_with(|last: char| last.is_lowercase()) {
            out.push(' ');
        }
        out.push(if c == '_' { ' ' } else { c });
    }
    out.to_lowercase()
}
