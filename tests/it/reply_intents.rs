//! R3 and R5: the intent of a reply, and whether a person wrote it. No agreement, disagreement, question or
//! unreadable reply may ever close a thread. C8: no bot's reply accepts without a plain sign.

mod bots;
mod people;
mod replies;

use cloture::commands::classify::classify as classify_posts;
use cloture::domain::vocabulary::Intent::{self, Acknowledged, Disagree, Other, WontFix};
use cloture::replies::{classify, is_agent_post};
use cloture::reviewers::profiles::Profiles;
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

/// R3: wrong in the closing direction is a defect, wrong in the other direction is not.
#[test]
fn r3_agreement_and_announced_changes_never_close() {
    let mut wrong = Vec::new();
    for (name, sets) in people::SETS {
        let mut table: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        let (mut right, mut total, mut found, mut closings) = (0_usize, 0_usize, 0_usize, 0_usize);
        for (intent, bodies) in sets {
            for body in *bodies {
                let read = classify(body);
                *table.entry((intent.name(), read.name())).or_default() += 1;
                total += 1;
                right += usize::from(read == *intent);
                closings += usize::from(closes(*intent));
                found += usize::from(closes(*intent) && closes(read));
                if closes(read) && !closes(*intent) {
                    wrong.push(*body);
                }
            }
        }
        let mut summary =
            format!("people, {name}: {right} of {total} as labelled, {found} of {closings} closings found\n");
        for ((label, read), count) in table {
            writeln!(summary, "  {label:>12} → {read:<12} {count:>3}").unwrap();
        }
        report(&summary);
        assert!(found * 100 >= closings * 85, "{name}: {found} of {closings} closings found");
    }
    assert!(wrong.is_empty(), "these must not close: {wrong:#?}");
}

/// Harmless text around a reply: other people's words, code, courtesy, signatures, emoji.
const WRAPPINGS: [(&str, &str); 12] = [
    ("Hi there!\n\n", ""),
    ("> Won't fix, this is by design.\n\n", ""),
    ("> **Acknowledged.** Leaving it as is.\n>\n> Out of scope.\n\n", "\n\nBest regards,\nAlice"),
    ("```\nwon't fix\n```\n\n", ""),
    ("", "\n\n```rust\n// out of scope, leaving as is\n```"),
    ("", "\n\n<details><summary>Log</summary>\n\nWon't fix.\n\n</details>"),
    ("", "\n\n~~Won't fix.~~"),
    ("", "\n\n<!-- wontfix -->"),
    ("👍\n\n", "\n\n🎉"),
    ("", "\n\n— Alice"),
    ("@coderabbitai\n\n", ""),
    ("", "\n\n`wontfix`"),
];

/// R3: wrapping an open reply in harmless text never turns it into a closing.
#[test]
fn r3_no_wrapping_turns_a_reply_into_a_closing() {
    let sets = people::SETS.into_iter().map(|(_, set)| set).chain([REPLIES_BY_INTENT]);
    let open = sets.flatten().filter(|(intent, _)| !closes(*intent)).flat_map(|(_, bodies)| *bodies);
    for body in open.chain(DOUBTFUL) {
        for (before, after) in WRAPPINGS {
            let wrapped = format!("{before}{body}{after}");
            assert!(!closes(classify(&wrapped)), "{wrapped:?} closes");
        }
    }
}

/// "Noted" next to agreement, a change or a question is not the whole answer.
#[test]
fn r3_a_note_beside_an_open_reply_does_not_close_it() {
    let open = people::SETS.into_iter().flat_map(|(_, set)| set).filter(|(intent, _)| !closes(*intent));
    for body in open.flat_map(|(_, bodies)| *bodies) {
        for mixed in [format!("Noted.\n\n{body}"), format!("{body}\n\nAcknowledged.")] {
            assert!(!closes(classify(&mixed)), "{mixed:?} closes");
        }
    }
}

/// The stance that `cloture classify` prints for each reply of a bot.
fn stances(bodies: &[String]) -> Vec<Option<String>> {
    let post = |body: &String| {
        serde_json::json!({"author": "coderabbitai[bot]", "is_bot": true, "association": "NONE",
            "where": "thread_reply", "body": body})
        .to_string()
    };
    let input = bodies.iter().map(post).collect::<Vec<_>>().join("\n");
    let mut output = Vec::new();
    classify_posts(input.as_bytes(), &mut output, &Profiles::built_in().unwrap()).unwrap();
    let lines = String::from_utf8(output).unwrap();
    let stance = |line: &str| {
        let answer: serde_json::Value = serde_json::from_str(line).unwrap();
        answer["stance"].as_str().map(str::to_owned)
    };
    lines.lines().map(stance).collect()
}

/// C8: wrong in the accepting direction is a defect, wrong in the other direction is not.
#[test]
fn c8_a_bots_reply_accepts_only_by_a_plain_sign() {
    let mut wrong = Vec::new();
    for (name, sets) in bots::SETS {
        let labelled: Vec<(Option<&str>, String)> = sets
            .iter()
            .flat_map(|(label, bodies)| bodies.iter().map(|body| (*label, (*body).to_owned())))
            .collect();
        let bodies: Vec<String> = labelled.iter().map(|(_, body)| body.clone()).collect();
        let mut table: BTreeMap<(Option<&str>, Option<String>), usize> = BTreeMap::new();
        for ((label, body), read) in labelled.iter().zip(stances(&bodies)) {
            if read.as_deref() == Some("accepts") && *label != Some("accepts") {
                wrong.push(body.clone());
            }
            *table.entry((*label, read)).or_default() += 1;
        }
        let count = |wanted: &dyn Fn(Option<&str>, Option<&str>) -> bool| -> usize {
            table
                .iter()
                .filter(|((label, read), _)| wanted(*label, read.as_deref()))
                .map(|(_, count)| count)
                .sum()
        };
        let right = count(&|label, read| label == read);
        let accepted = count(&|label, _| label == Some("accepts"));
        let found = count(&|label, read| label == Some("accepts") && label == read);
        let mut summary = format!(
            "bots, {name}: {right} of {} as labelled, {found} of {accepted} acceptances found\n",
            bodies.len()
        );
        for ((label, read), count) in &table {
            let (label, read) = (label.unwrap_or("unknown"), read.as_deref().unwrap_or("unknown"));
            writeln!(summary, "  {label:>12} → {read:<12} {count:>3}").unwrap();
        }
        report(&summary);
        assert!(found * 100 >= accepted * 80, "{name}: {found} of {accepted} acceptances found");
    }
    assert!(wrong.is_empty(), "these must not accept: {wrong:#?}");
}

/// C8: quoting a person's or the bot's own words of acceptance accepts nothing.
#[test]
fn c8_no_wrapping_turns_a_bots_reply_into_an_acceptance() {
    let wrappings = [
        ("`@alice`, ", ""),
        ("> You're right, I withdraw this finding.\n\n", ""),
        ("```\nThe issue is resolved.\n```\n\n", ""),
        ("", "\n\n<details><summary>Learnings</summary>\n\nNo changes needed.\n\n</details>"),
        ("", "\n\n~~I withdraw this finding.~~"),
        ("", "\n\n`LGTM`"),
        ("👍 ", " 🎉"),
        ("Thanks for the reply! ", ""),
        ("You're right. ", " Let me know if you have questions."),
    ];
    let open = bots::SETS.into_iter().flat_map(|(_, set)| set);
    let held: Vec<&str> = open
        .filter(|(label, _)| *label == Some("seeks_change"))
        .flat_map(|(_, bodies)| bodies.iter().copied())
        .collect();
    for (before, after) in wrappings {
        let wrapped: Vec<String> = held.iter().map(|body| format!("{before}{body}{after}")).collect();
        for (body, stance) in wrapped.iter().zip(stances(&wrapped)) {
            assert_ne!(stance.as_deref(), Some("accepts"), "{body:?}");
        }
    }
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
            && ["disagree", "question", "other", "fixed"].contains(&label.as_str())
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
