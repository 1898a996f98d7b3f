//! Junk, in large amounts.

use super::*;
use proptest::prelude::*;

const PLACES: [PostPlace; 4] =
    [PostPlace::ThreadRoot, PostPlace::ThreadReply, PostPlace::Review, PostPlace::Comment];

#[test]
fn an_empty_post_is_noise() {
    for body in ["", " \n\t", "<!-- only hidden -->", "---", "> \n> "] {
        for place in PLACES {
            let reading = read("coderabbit", place, body);
            assert_eq!(
                (reading.class, reading.content),
                (PostClass::Noise, PostContent::NotReady),
                "{body:?}"
            );
        }
    }
}

/// A megabyte of each text that parsers stumble over. Reading must be linear: a quadratic parser would take
/// hours here.
#[test]
fn a_megabyte_of_junk_is_read_in_linear_time() {
    let profiles = &*PROFILES;
    let nested = "<details>\n<summary>🧹 Nitpick comments (1)</summary><blockquote>\n\n";
    let item = "<details>\n<summary>src/a.rs (1)</summary><blockquote>\n\n`1-2`: **A.**\n\nB.\n\n</blockquote></details>\n\n";
    let readers =
        [("coderabbit", PostPlace::Review), ("codex", PostPlace::Comment), ("qodo", PostPlace::ThreadReply)];
    let pieces = [
        "a",
        "**",
        "[",
        "![",
        "<",
        "<s>",
        "<!--",
        "> ",
        ">",
        "`",
        "```\n",
        "- ",
        "\n",
        "| a ",
        "<details>",
        "&amp;",
        "_a ",
        "~~",
        "\\",
        "1. x\n",
        nested,
        item,
        "https://github.com/o/r/blob/0123456789ab/a.rs#L1\n**a**\n\n",
        "✅ ",
        "\u{202e}é",
    ];
    for (piece, (reviewer, place)) in pieces.into_iter().zip(readers.into_iter().cycle()) {
        let body = piece.repeat((1 << 20) / piece.len());
        let reading = profiles.read(&reviewer.into(), place, &body);
        assert!(reading.findings.len() <= 500, "{piece:?}");
    }
    for (reviewer, body) in [
        ("coderabbit", format!("{nested}{}", item.repeat(2_000))),
        ("codex", "https://github.com/o/r/blob/0123456789ab/a.rs#L1\n**a**\n\n".repeat(2_000)),
    ] {
        let found = profiles.read(&reviewer.into(), PostPlace::Review, &body).findings;
        assert_eq!(found.len(), 500, "{reviewer}");
    }
}

proptest! {
    #[test]
    fn any_text_by_any_bot_can_be_read(text in any::<String>(), place in 0_usize..4, bot in 0_usize..60) {
        let profiles = &*PROFILES;
        let bot = bot % profiles.iter().count();
        let name = profiles.iter().nth(bot).map(|known| known.name.clone()).unwrap();
        let reading = profiles.read(&name, PLACES[place], &text);
        prop_assert!(reading.class == PostClass::Finding || reading.findings.len() <= 500);
    }

    /// L3: random text has no positive sign, so it is never a finished and clean review.
    #[test]
    fn l3_random_text_by_any_bot_is_never_a_clean_review(
        text in "(\\PC{0,40}\n|[#>*|`<-]{1,3} ?[A-Za-z0-9 ().:/]{0,30}\n){1,12}",
        is_review in any::<bool>(),
        bot in 0_usize..60,
    ) {
        let profiles = &*PROFILES;
        let bot = bot % profiles.iter().count();
        let name = profiles.iter().nth(bot).map(|known| known.name.clone()).unwrap();
        let place = if is_review { PostPlace::Review } else { PostPlace::Comment };
        let reading = profiles.read(&name, place, &text);
        let is_clean = reading.content == PostContent::Complete && reading.findings.is_empty();
        prop_assert!(!is_clean, "{name}: {text:?}");
    }
}
