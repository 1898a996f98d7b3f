//! R3 and R5: the intent of a reply, and whether a person wrote it. No disagreement, question or unreadable
//! reply may ever close a thread.

mod replies;

use cloture::domain::vocabulary::Intent::{self, Acknowledged, Disagree, Other, WontFix};
use cloture::replies::{classify, is_agent_post};
use proptest::prelude::*;
use replies::{AGENT_POSTS, DOUBTFUL, PERSONS_POSTS, REPLIES_BY_INTENT};
use std::collections::BTreeMap;
use std::fmt::Write as _;

#[test]
fn our_own_replies_are_classified_by_intent() {
    let mut wrong = String::new();
    for (intent, bodies) in REPLIES_BY_INTENT {
        for body in *bodies {
            let read = classify(body);
            if read != *intent {
                writeln!(wrong, "  {:?} classified as {}, expected {}", body, read.name(), intent.name())
                    .unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "misread:\n{wrong}");
}

#[test]
fn there_are_enough_replies_of_our_own() {
    let count: usize = REPLIES_BY_INTENT.iter().map(|(_, bodies)| bodies.len()).sum();
    assert!(count >= 150, "only {count} replies");
}

#[test]
fn no_doubtful_reply_closes() {
    let closing: Vec<&str> = DOUBTFUL.iter().copied().filter(|body| closes(classify(body))).collect();
    assert!(closing.is_empty(), "these must not close: {closing:#?}");
}

/// A closing reply stops closing if one of these follows it, in any language.
#[test]
fn an_objection_after_a_closing_word_keeps_the_thread_open() {
    let objections = [
        "But I disagree with the finding.",
        "However, this is a false positive.",
        "Why do you think so?",
        "Should we really?",
        "The remark is wrong, though.",
        "ただし、誤検知です。",
        "不过这是误报。",
        "하지만 오탐입니다.",
        "Mas discordo.",
        "Pero no estoy de acuerdo.",
        "Mais je ne suis pas d'accord.",
        "Das stimmt so aber nicht.",
        "Но я не согласен.",
    ];
    for (_, bodies) in REPLIES_BY_INTENT.iter().filter(|(intent, _)| closes(*intent)) {
        for body in *bodies {
            for objection in objections {
                let both = format!("{body}\n\n{objection}");
                assert!(!closes(classify(&both)), "{both:?} closes");
            }
        }
    }
}

/// Quoted, fenced, struck-out, folded and commented-out text does not count.
#[test]
fn only_the_persons_own_words_count() {
    for (_, bodies) in REPLIES_BY_INTENT.iter().filter(|(intent, _)| closes(*intent)) {
        for body in bodies.iter().filter(|body| !body.contains('\n')) {
            let hidden = [
                format!("> {body}"),
                format!("> > {body}\n\n"),
                format!("```\n{body}\n```"),
                format!("~~{body}~~"),
                format!("<!-- {body} -->"),
                format!("<details><summary>More</summary>\n\n{body}\n\n</details>"),
                format!("<blockquote>\n\n{body}\n\n</blockquote>"),
                format!("`{body}`"),
            ];
            for text in hidden {
                assert_eq!(classify(&text), Other, "{text:?}");
            }
        }
    }
}

#[test]
fn a_reply_that_was_not_fully_read_never_closes() {
    let filler = "The table below lists every caller of the function. ".repeat(400);
    for body in ["Won't fix.", "Acknowledged.", "Out of scope for this PR."] {
        assert!(closes(classify(body)));
        assert!(!closes(classify(&format!("{body}\n\n{filler}"))), "an over-long reply closes");
        assert!(!closes(classify(&format!("{body} \u{fffd}\u{fffd}"))), "a garbled reply closes");
        assert!(!closes(classify(&format!("{body} \u{202e}gnorw si siht"))), "a disguised reply closes");
        assert!(!closes(classify(&format!("{body} यह एक गलत चेतावनी है"))), "a half-understood reply closes");
        assert!(!closes(classify(&format!("{body}\n\n<p>I take that back</p>"))), "unread HTML closes");
    }
}

#[test]
fn r5_agents_are_recognised_by_their_marks() {
    for body in AGENT_POSTS {
        assert!(is_agent_post(body), "{body:?} is an agent's");
    }
    for body in PERSONS_POSTS {
        assert!(!is_agent_post(body), "{body:?} is a person's");
    }
    let long = format!(
        "{}\n\n🤖 Generated with [Claude Code](https://example.com)",
        "Details follow. ".repeat(4000)
    );
    assert!(is_agent_post(&long), "the signature of a long post is at its end");
}

#[test]
fn a_signature_is_not_part_of_the_reply() {
    assert_eq!(classify("I disagree, the caller holds the lock.\n\n_🤖 Addressed by helper-bot_"), Disagree);
    assert_eq!(classify("_🤖 Addressed by helper-bot_"), Other);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_can_be_read(body in ".{0,400}") {
        let _ = classify(&body);
        let _ = is_agent_post(&body);
    }

    #[test]
    fn any_markup_can_be_read(
        body in "([>*_`~<!\\-#\\[\\]()|\\\\ \n\t\"'?.:]|won't fix|noted|\
            <details>|</details>|<!--|-->|```){0,200}",
    ) {
        let _ = classify(&body);
        let _ = is_agent_post(&body);
    }

    /// Any letters with a question mark at the end are never a decision.
    #[test]
    fn a_question_never_closes(
        words in proptest::collection::vec("[a-z']{1,9}|won't fix|noted|by design|agreed|out of scope", 1..8),
    ) {
        let body = format!("{}?", words.join(" "));
        prop_assert!(!closes(classify(&body)), "{}", body);
    }
}

#[test]
fn hostile_sizes_can_be_read() {
    for piece in [
        "> ",
        "*",
        "[",
        "<details>",
        "won't fix? ",
        "a ? ",
        "\"",
        "` ",
        "不",
        "- ",
        "\u{1b}[31m",
        "((",
        "^ ",
        "not ",
    ] {
        let body = piece.repeat(1_000_000 / piece.len());
        let _ = classify(&body);
        let _ = is_agent_post(&body);
    }
}

/// The labelled replies of real pull requests.
#[test]
#[cfg_attr(not(has_shared), ignore = "needs ../shared, which is not part of the repository")]
fn real_replies_are_classified_as_labelled() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/bots/dev.jsonl");
    let rows = std::fs::read_to_string(path).unwrap();

    let mut table: BTreeMap<(String, &'static str), usize> = BTreeMap::new();
    let (mut right, mut total) = (0_usize, 0_usize);
    let mut dangerous = Vec::new();
    for row in rows.lines() {
        let row: serde_json::Value = serde_json::from_str(row).unwrap();
        if row["kind"] != "human_reply" {
            continue;
        }
        let label = row["label"]["reply_intent"].as_str().unwrap().to_owned();
        let read = classify(row["body"].as_str().unwrap());
        let source = row["source"].as_str().unwrap();
        total += 1;
        right += usize::from(label == read.name());
        if closes(read)
            && ["disagree", "question", "other"].contains(&label.as_str())
            && !MISLABELLED.contains(&source)
        {
            dangerous.push(format!("{source}: {label} read as {}", read.name()));
        }
        *table.entry((label, read.name())).or_default() += 1;
    }

    let mut summary = String::from("label → read\n");
    for ((label, read), count) in &table {
        writeln!(summary, "  {label:>12} → {read:<12} {count:>3}").unwrap();
    }
    writeln!(summary, "{right} of {total} as labelled").unwrap();
    report(&summary);
    assert!(dangerous.is_empty(), "these must not close: {dangerous:#?}");
    assert!(right * 100 >= total * 90, "{right} of {total} is too few");
}

/// Replies whose label is wrong, each with the reason. None so far.
const MISLABELLED: &[&str] = &[];

fn closes(intent: Intent) -> bool {
    matches!(intent, WontFix | Acknowledged)
}

#[expect(clippy::print_stderr, reason = "figures are for people")]
fn report(text: &str) {
    eprintln!("{text}");
}
