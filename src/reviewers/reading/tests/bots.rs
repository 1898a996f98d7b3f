//! One test for each bot's formats.

use super::*;
use Severity::{Critical, High, Low, Medium, Nit};

#[expect(clippy::unnecessary_wraps, reason = "the expected titles are options")]
fn titled(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn coderabbit_findings() {
    let body = "_⚠️ Potential issue_ | _🟠 Major_ | _⚡ Quick win_\n\n<details>\n<summary>🧩 Analysis chain</summary>\n\n🏁 Script executed:\n\n```shell\n# Look at the parser\n```\n\n**Not this**\n\n</details>\n\n**The lock is `never` released.**\n\nIt does **not** run on errors.\n\n<!-- cr-comment:v1:0123abc -->\n\n<!-- This is an auto-generated comment by CodeRabbit -->";
    assert_eq!(
        finding("coderabbit", body),
        (Some(High), Some(Category::Bug), titled("The lock is `never` released."))
    );
    let reading = read("coderabbit", PostPlace::ThreadRoot, body);
    assert_eq!(reading.findings[0].own_id.as_deref(), Some("0123abc"));
    assert_eq!(reading.stance, Some(Stance::SeeksChange));
    let edited = format!("{body}\n\n✅ Addressed in commit 0a1b2c3\n\n<!-- something hidden -->");
    assert_eq!(read("coderabbit", PostPlace::ThreadRoot, &edited).stance, Some(Stance::Accepts));

    for (line, severity, category) in [
        ("_🔒 Security & Privacy_ | _🔴 Critical_", Some(Critical), Category::Security),
        ("_🗄️ Data Integrity & Integration_ | _🟡 Minor_", Some(Low), Category::Bug),
        ("_📐 Maintainability & Code Quality_ | _🔵 Trivial_", Some(Nit), Category::Maintainability),
        ("_🧹 Nitpick (assertive)_", Some(Nit), Category::Style),
        ("_🛠️ Refactor suggestion_", None, Category::Maintainability),
        ("_⚠️ Potential issue_", None, Category::Bug),
    ] {
        let read = finding("coderabbit", &format!("{line}\n\nA plain sentence about a 🔴 light."));
        assert_eq!(read, (severity, Some(category), None), "{line}");
    }
    let outside_a_thread =
        read("coderabbit", PostPlace::Comment, "_⚠️ Potential issue_ | _🔴 Critical_\n\n**Title**\n\nText.");
    assert_eq!(outside_a_thread.class, PostClass::Finding);
}

#[test]
fn coderabbit_suggestions() {
    let committable = "_🧹 Nitpick_\n\n**Shorter.**\n\n<details>\n<summary>📝 Committable suggestion</summary>\n\n> ‼️ **IMPORTANT**\n> Review it.\n\n```suggestion\nlet a = 1;\n```\n\n</details>";
    let reading = read("coderabbit", PostPlace::ThreadRoot, committable);
    assert_eq!(reading.findings[0].suggestion.as_deref(), Some("let a = 1;\n"));
    let diff_only = "_🧹 Nitpick_\n\n**Shorter.**\n\n```diff\n-a\n+b\n```";
    assert_eq!(read("coderabbit", PostPlace::ThreadRoot, diff_only).findings[0].suggestion, None);
    let quoted = "Text\n\n`````markdown\n```suggestion\nx\n```\n`````";
    assert_eq!(
        read("greptile", PostPlace::ThreadRoot, quoted).findings[0].suggestion,
        None,
        "a suggestion inside a quoted prompt does not count"
    );
}

#[test]
fn coderabbit_bodies_hold_findings_even_with_no_actionable_comment() {
    let body = "**Actionable comments posted: 0**\n\n> [!CAUTION]\n> Some comments are outside the diff.\n>\n> <details>\n> <summary>⚠️ Outside diff range comments (1)</summary><blockquote>\n>\n> <details>\n> <summary>src/a b.rs (1)</summary><blockquote>\n>\n> `35-47`: **Close the file.**\n>\n> It stays open.\n>\n> </blockquote></details>\n>\n> </blockquote></details>\n\n<details>\n<summary>🧹 Nitpick comments (2)</summary><blockquote>\n\n<details>\n<summary>src/b.rs (2)</summary><blockquote>\n\n`3`: **Rename it.**\n\nBecause.\n\n<details>\n<summary>Proposed (1)</summary>\n\n```diff\n-x\n```\n</details>\n\n---\n\n`9-10`: _⚠️ Potential issue_ | _🟠 Major_\n\n**Check it: twice.**\n\nIt may fail.\n\n</blockquote></details>\n\n</blockquote></details>\n\n<details>\n<summary>🔇 Additional comments (1)</summary><blockquote>\n\n<details>\n<summary>src/c.rs (1)</summary><blockquote>\n\n`1-2`: **LGTM!**\n\n</blockquote></details>\n\n</blockquote></details>\n\n<details>\n<summary>📜 Review details</summary>\n\nReviewing files that changed from the base of the PR and between aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa and bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb.\n\n</details>";
    let reading = read("coderabbit", PostPlace::Review, body);
    assert_eq!((reading.class, reading.stance), (PostClass::Summary, Some(Stance::SeeksChange)));
    assert_eq!(
        places(&reading),
        [
            ("src/a b.rs".to_owned(), LineRange::new(35, 47), titled("Close the file.")),
            ("src/b.rs".to_owned(), LineRange::new(3, 3), titled("Rename it.")),
            ("src/b.rs".to_owned(), LineRange::new(9, 10), titled("Check it: twice.")),
        ]
    );
    let severities: Vec<_> = reading.findings.iter().map(|reported| reported.severity).collect();
    assert_eq!(severities, [None, Some(Nit), Some(High)]);
    assert_eq!(&*reading.findings[0].body, "**Close the file.**\n\nIt stays open.");
    assert_eq!(reading.commit, Some("b".repeat(40).as_str().into()));
    assert_eq!(reading.content, PostContent::Complete);
}

#[test]
fn coderabbit_notices() {
    let notice = |kind: &str, text: &str| {
        format!(
            "<!-- This is an auto-generated comment: summarize by coderabbit.ai -->\n<!-- This is an auto-generated comment: {kind} by coderabbit.ai -->\n\n> [!WARNING]\n> ## {text}\n\n<!-- end -->\n\n{}",
            "A long walkthrough follows. ".repeat(200)
        )
    };
    let limited =
        notice("rate limited", "Rate limit exceeded\n>\n> @you has exceeded the limit for now, please wait.");
    assert_eq!(
        failure("coderabbit", PostPlace::Comment, &limited),
        "Rate limit exceeded: @you has exceeded the limit for now, please wait."
    );
    failure(
        "coderabbit",
        PostPlace::Comment,
        &notice("failure", "Review failed\n>\n> The pull request is closed."),
    );
    failure(
        "coderabbit",
        PostPlace::Comment,
        &notice("skip review", "Review skipped\n>\n> Too many files!\n>\n> 244 files."),
    );
    failure(
        "coderabbit",
        PostPlace::ThreadReply,
        "### Rate Limit Exceeded\n\n`@you` have exceeded the limit of messages.",
    );
    failure(
        "coderabbit",
        PostPlace::Comment,
        "<details>\n<summary>⚠️ Action not completed</summary>\n\nIt is closed.\n</details>",
    );
    for just_ask in [
        notice("skip review", "Review skipped\n>\n> Auto reviews are disabled on this repository."),
        notice("skip review", "Review skipped\n>\n> Draft detected."),
    ] {
        let reading = read("coderabbit", PostPlace::Comment, &just_ask);
        assert_eq!(
            (reading.class, reading.content),
            (PostClass::Failure, PostContent::NotReady),
            "{just_ask}"
        );
    }
    let running = notice("review in progress", "Currently processing new changes in this PR.");
    let reading = read("coderabbit", PostPlace::Comment, &running);
    assert_eq!((reading.class, reading.content), (PostClass::Failure, PostContent::InProgress));
    let triggered = "<details>\n<summary>✅ Actions performed</summary>\n\nReview triggered.\n\n</details>";
    let reading = read("coderabbit", PostPlace::Comment, triggered);
    assert_eq!((reading.class, reading.content), (PostClass::Noise, PostContent::NotReady));
    let skipped = read("coderabbit", PostPlace::Comment, "Skipped: comment is from another GitHub bot.");
    assert_eq!(skipped.class, PostClass::Noise);
}

#[test]
fn a_finding_may_speak_of_limits_timeouts_and_failures() {
    for reviewer in
        ["coderabbit", "copilot", "codex", "gemini", "cursor", "greptile", "claude", "qodo", "sourcery"]
    {
        for text in [
            "The rate limit is exceeded after 503 responses, and the review failed to see it.",
            "Requests that have reached your daily quota limitation are retried without a pause.",
            "Rate limit exceeded errors are swallowed here; the quota limit has been reached silently.",
            "This handler encountered an error while parsing, and the timeout is never cleared.",
        ] {
            for place in [PostPlace::ThreadRoot, PostPlace::Review, PostPlace::Comment] {
                let class = read(reviewer, place, text).class;
                assert_ne!(class, PostClass::Failure, "{reviewer}: {text}");
            }
        }
    }
    let long =
        format!("You have reached your daily quota limit. {}", "The retry loop ignores it. ".repeat(80));
    assert_eq!(
        read("gemini", PostPlace::Review, &long).class,
        PostClass::Summary,
        "a long post is not a notice"
    );
}

#[test]
fn copilot() {
    assert_eq!(finding("copilot", "[nitpick] Could be shorter."), (Some(Nit), None, None));
    assert_eq!(finding("copilot", "P1 (xref): the link is broken.").0, Some(High));
    assert_eq!(finding("copilot", "P1 is what the other tool calls it.").0, None);
    assert_eq!(
        finding("copilot", "**Bold** words are no title, and no severity is stated."),
        (None, None, None)
    );
    for text in [
        "Copilot encountered an error and was unable to review this pull request. You can try again by re-requesting a review.",
        "Copilot was unable to review this pull request because the user who requested the review has reached their quota limit.",
        "Copilot wasn't able to review any files in this pull request.",
    ] {
        assert_eq!(failure("copilot", PostPlace::Review, text).split('.').next(), text.split('.').next());
    }
    let body = "## Pull request overview\n\nIt adds things.\n\nCopilot reviewed 3 out of 3 changed files in this pull request and generated 1 comment.\n\n<details>\n<summary>Comments suppressed due to low confidence (2)</summary>\n\n**src/a.ts:32**\n* The pattern misses `150p`.\n**src/b.ts:8-9**\n* The name is odd.\n```\ncode\n```\n</details>\n\n---\n\nA footer.";
    let reading = read("copilot", PostPlace::Review, body);
    assert_eq!((reading.class, reading.stance), (PostClass::Summary, Some(Stance::SeeksChange)));
    assert_eq!(
        places(&reading),
        [
            ("src/a.ts".to_owned(), LineRange::new(32, 32), None),
            ("src/b.ts".to_owned(), LineRange::new(8, 9), None)
        ]
    );
    assert!(
        reading.findings[0].body.contains("misses `150p`") && !reading.findings[0].body.contains("src/b.ts")
    );
    assert!(!reading.findings[1].body.contains("footer"), "{}", reading.findings[1].body);
}

#[test]
fn codex() {
    let badge = |level: &str| {
        format!(
            "**<sub><sub>![{level} Badge](https://img.example/{level})</sub></sub>  Keep `the` order**\n\nText."
        )
    };
    for (level, severity) in [("P0", Critical), ("P1", High), ("P2", Medium), ("P3", Low)] {
        assert_eq!(finding("codex", &badge(level)), (Some(severity), None, titled("Keep `the` order")));
    }
    let clean = read(
        "codex",
        PostPlace::Comment,
        "Codex Review: Didn't find any major issues. Nice!\n\n**Reviewed commit:** `4d9e8bca82`",
    );
    assert_eq!(
        (clean.class, clean.stance, clean.content),
        (PostClass::Summary, Some(Stance::Accepts), PostContent::Complete)
    );
    assert_eq!(clean.commit, Some("4d9e8bca82".into()));
    let outside = format!(
        "### 💡 Codex Review\n\nhttps://github.com/o/r/blob/0123456789abcdef0123456789abcdef01234567/src/a.rs#L3-L5\n{}\n\nhttps://github.com/o/r/blob/0123456789abcdef0123456789abcdef01234567/src/b.rs#L9\n{}\n\n**Reviewed commit:** `8116fa6661`\n\n<details> <summary>ℹ️ About Codex in GitHub</summary>\n<br/>\n\nMore.\n</details>",
        badge("P1"),
        badge("P2"),
    );
    let reading = read("codex", PostPlace::Review, &outside);
    assert_eq!(
        places(&reading),
        [
            ("src/a.rs".to_owned(), LineRange::new(3, 5), titled("Keep `the` order")),
            ("src/b.rs".to_owned(), LineRange::new(9, 9), titled("Keep `the` order")),
        ]
    );
    let severities: Vec<_> = reading.findings.iter().map(|reported| reported.severity).collect();
    assert_eq!(severities, [Some(High), Some(Medium)]);
    failure(
        "codex",
        PostPlace::Comment,
        "You have reached your Codex usage limits for code reviews. See the dashboard.",
    );
    failure(
        "codex",
        PostPlace::Comment,
        "To use Codex here, [create an environment for this repo](https://chatgpt.com/x).",
    );
}

#[test]
fn gemini() {
    let body = |level: &str| {
        format!(
            "![{level}](https://www.gstatic.com/codereviewagent/{level}-priority.svg)\n\nThe **value** is wrong.\n\n```suggestion\nx\n```"
        )
    };
    assert_eq!(finding("gemini", &body("medium")), (Some(Medium), None, None));
    assert_eq!(finding("gemini", &body("security-high")), (Some(High), Some(Category::Security), None));
    assert_eq!(finding("gemini", &body("critical")).0, Some(Critical));
    failure(
        "gemini",
        PostPlace::Comment,
        "> [!WARNING]\n> You have reached your daily quota limit. Please wait up to 24 hours.",
    );
    failure("gemini", PostPlace::Comment, "Gemini Code Assist for pull requests has been sunset. Thank you.");
    let hello = read(
        "gemini",
        PostPlace::Comment,
        "## Summary of Changes\n\nHello @you, I'm Gemini Code Assist! Here is what changed.",
    );
    assert_eq!(
        (hello.class, hello.content),
        (PostClass::Summary, PostContent::NotReady),
        "the review is still to come"
    );
    assert_eq!(stance("gemini", "As an AI, I cannot mark comments as resolved; you have to do that."), None);
}

#[test]
fn cursor() {
    let body = "### Bug: Cache is never filled\n\n<!-- **High Severity** -->\n\n<!-- DESCRIPTION START -->\nIt stays empty.\n<!-- DESCRIPTION END -->\n\n<!-- BUGBOT_BUG_ID: ref1_x -->\n\n<!-- LOCATIONS START\nsrc/cache.rs#L10-L12\nLOCATIONS END -->\n<a href=\"https://cursor.com\"><img alt=\"Fix in Cursor\" src=\"x\"></a>";
    assert_eq!(finding("cursor", body), (Some(High), Some(Category::Bug), titled("Cache is never filled")));
    let reported = &read("cursor", PostPlace::Comment, body).findings[0];
    assert_eq!(reported.own_id.as_deref(), Some("ref1_x"));
    assert_eq!(
        (reported.path.clone(), reported.lines),
        (Some("src/cache.rs".into()), LineRange::new(10, 12))
    );
    let newer = "### Retries never stop\n\n**Low Severity**\n\n<!-- DESCRIPTION START -->\nx\n<!-- DESCRIPTION END -->";
    assert_eq!(finding("cursor", newer), (Some(Low), Some(Category::Bug), titled("Retries never stop")));
    let review = read(
        "cursor",
        PostPlace::Review,
        "<!-- BUGBOT_REVIEW -->\nCursor Bugbot has reviewed your changes and found 2 potential issues.\n\n<sup>Reviewed by [Cursor Bugbot](https://cursor.com/bugbot) for commit 2218b91213dd6303e65cf14faea4af55587342e5. Configure [here](x).</sup>",
    );
    assert_eq!((review.class, review.stance), (PostClass::Summary, Some(Stance::SeeksChange)));
    assert_eq!(review.commit, Some("2218b91213dd6303e65cf14faea4af55587342e5".into()));
    failure("cursor", PostPlace::Comment, "Bugbot couldn't run - usage limit reached. Ask your admin.");
}

#[test]
fn greptile() {
    let body = "<a href=\"#\"><img alt=\"P1\" src=\"https://x/p1.svg\" align=\"top\"></a> **Barrier is dropped**\n\nText.";
    assert_eq!(finding("greptile", body), (Some(High), None, titled("Barrier is dropped")));
    let prose = "The filter removes entries.\n\n**The Problem:**\nIt matches any.";
    assert_eq!(finding("greptile", prose), (None, None, None));
    let overview = read(
        "greptile",
        PostPlace::Comment,
        "<h2>Greptile Overview</h2>\n\n### Confidence Score: 3/5\n\n- Mostly safe.",
    );
    assert_eq!(overview.class, PostClass::Summary);
}

#[test]
fn devin() {
    let body = |mark: &str, kind: &str| {
        format!(
            "<!-- devin-review-comment {{\"id\": \"{kind}_1\", \"file_path\": \"src/a.ts\", \"start_line\": 7, \"end_line\": 9, \"side\": \"RIGHT\"}} -->\n\n{mark} **Keys `collide`**\n\nText."
        )
    };
    for (mark, severity) in [("🔴", High), ("🟡", Medium), ("🚩", Low), ("📝", Nit)] {
        assert_eq!(
            finding("devin", &body(mark, "BUG")),
            (Some(severity), Some(Category::Bug), titled("Keys `collide`"))
        );
    }
    let reading = read("devin", PostPlace::ThreadRoot, &body("🚩", "ANALYSIS"));
    assert_eq!(reading.stance, None, "an informational remark asks for nothing");
    assert_eq!(reading.findings[0].own_id.as_deref(), Some("ANALYSIS_1"));
    assert_eq!(
        (reading.findings[0].path.clone(), reading.findings[0].lines),
        (Some("src/a.ts".into()), LineRange::new(7, 9))
    );
    assert_eq!(stance("devin", "✅ **Resolved**: The path was corrected."), Some(Stance::Accepts));
    assert_eq!(
        read("devin", PostPlace::Review, "**Devin Review** found 1 potential issue.").stance,
        Some(Stance::SeeksChange)
    );
}

#[test]
fn qodo_and_pr_agent() {
    let inline = "<img src=\"https://www.qodo.ai/x.svg\" height=\"20\" alt=\"Action required\">\n\n5\\. Token is logged <code>🐞 Bug</code> <code>⛨ Security</code>\n\n<pre>\nIt is written out.\n</pre>\n\n<details>\n<summary><strong>Agent Prompt</strong></summary>\n\n```\n### Issue\n```\n</details>";
    assert_eq!(finding("qodo", inline), (Some(High), Some(Category::Security), titled("Token is logged")));
    let medium = inline.replace("Action required", "Remediation recommended");
    assert_eq!(finding("qodo", &medium).0, Some(Medium));
    let body = "<h3>Code Review by Qodo</h3>\n\n<code>🐞 Bugs (1)</code>\n\n<img src=\"x\" height=\"20px\" alt=\"Action required\">\n\n<details>\n<summary>  1.  <s>Run is lost</s> <code>✓ Resolved</code> <code>🐞 Bug</code></summary>\n\n<br/>\n\n> <code>[src/a.go[R4-9]](https://github.com/o/r)</code>\n\n</details>\n\n<img src=\"x\" height=\"20px\" alt=\"Remediation recommended\">\n\n<details>\n<summary>  2.  Slow query <code>🐞 Bug</code> <code>➹ Performance</code></summary>\n\n<br/>\n\n> <code>[src/b.go[R74-79]](https://github.com/o/r)</code>\n\n</details>";
    let reading = read("qodo", PostPlace::Comment, body);
    assert_eq!(places(&reading), [("src/b.go".to_owned(), LineRange::new(74, 79), titled("Slow query"))]);
    assert_eq!(
        (reading.findings[0].severity, reading.findings[0].category),
        (Some(Medium), Some(Category::Performance))
    );
    failure(
        "qodo",
        PostPlace::Comment,
        "You have reached your Qodo monthly free-tier limit. Reviews resume next month.",
    );
    let struck = "~~5\\. Token is logged~~ <code>✓ Resolved</code>";
    assert_eq!(read("qodo", PostPlace::ThreadRoot, struck).stance, Some(Stance::Accepts));

    let suggestion = "**Suggestion:** Guard the index [possible issue, importance: 7]\n```suggestion\nx\n```\n\n<!-- manually_applied -->";
    assert_eq!(finding("pr-agent", suggestion), (None, Some(Category::Bug), titled("Guard the index")));
    assert_eq!(read("pr-agent", PostPlace::ThreadRoot, suggestion).stance, Some(Stance::Accepts));
}

#[test]
fn sourcery() {
    for (opening, severity, category) in [
        ("issue (bug_risk)", Medium, Category::Bug),
        ("suggestion (testing)", Low, Category::Tests),
        ("nitpick (typo)", Nit, Category::Docs),
        ("suggestion (code-quality)", Low, Category::Maintainability),
    ] {
        let read = finding("sourcery", &format!("**{opening}:** The index may be negative.\n\nMore."));
        assert_eq!(read, (Some(severity), Some(category), titled("The index may be negative.")));
    }
    failure(
        "sourcery",
        PostPlace::Review,
        "We have skipped reviewing this pull request. It seems to be a draft.",
    );
    let great =
        read("sourcery", PostPlace::Review, "Hey there - I've reviewed your changes and they look great!");
    assert_eq!((great.class, great.stance), (PostClass::Summary, Some(Stance::Accepts)));
}

#[test]
fn cubic_macroscope_sentry_kilo_codacy() {
    let cubic = "<!-- cubic:v=319ab0da-a160 -->\n<!-- metadata:{\"confidence\":9} -->\nP1: Anyone can delete it.\n\n<details>\n<summary>Prompt for AI agents</summary>\n\n```text\nP0: no\n```\n</details>";
    assert_eq!(finding("cubic", cubic), (Some(High), None, None));
    assert_eq!(read("cubic", PostPlace::Review, cubic).findings[0].own_id.as_deref(), Some("319ab0da-a160"));
    let run = read("cubic", PostPlace::Review, "**10 issues found** across 5 files");
    assert_eq!((run.class, run.stance), (PostClass::Summary, Some(Stance::SeeksChange)));

    let macroscope = "🟠 **High** `db/save.go:57`\n\nThe row is written twice.";
    assert_eq!(finding("macroscope", macroscope), (Some(High), None, None));
    let resolved = format!("{macroscope}\n\n✅ Resolved in 0a1b2c3");
    assert_eq!(read("macroscope", PostPlace::ThreadRoot, &resolved).stance, Some(Stance::Accepts));

    let sentry = "**Bug:** The handler drops `None`.\n<sub>Severity: CRITICAL | Confidence: High</sub>\n\n<details>\n<summary>🔍 <b>Detailed Analysis</b></summary>\nText\n</details>";
    assert_eq!(
        finding("sentry", sentry),
        (Some(Critical), Some(Category::Bug), titled("The handler drops `None`."))
    );

    for (word, severity) in [("CRITICAL", Critical), ("WARNING", Medium), ("SUGGESTION", Low)] {
        assert_eq!(finding("kilo", &format!("**{word}:** The lock is held.\n\nMore.")).0, Some(severity));
    }
    assert_eq!(
        finding("codacy", "<sub>:red_circle: HIGH RISK</sub>\n\nThe query is built from input.").0,
        Some(High)
    );
}

#[test]
fn github_states_no_severity() {
    let scanning = "## CodeQL / Clear-text logging\n\nThis logs [data](1).\n\n[Show more details](https://github.com/o/r/security/code-scanning/9)";
    assert_eq!(
        finding("github-advanced-security", scanning),
        (None, Some(Category::Security), titled("CodeQL / Clear-text logging"))
    );
    let quality = "## Unused variable\n\nHigh severity is not stated by this.";
    assert_eq!(
        finding("github-code-quality", quality),
        (None, Some(Category::Maintainability), titled("Unused variable"))
    );
    assert_eq!(read("github-code-quality", PostPlace::Comment, quality).class, PostClass::Finding);
}

#[test]
fn claude() {
    assert_eq!(finding("claude", "🔴 **Important**: the lock is lost.").0, Some(High));
    assert_eq!(finding("claude", "🟡 **Nit**: a typo.").0, Some(Nit));
    assert_eq!(finding("claude", "🟣 **Pre-existing**: it never worked.").0, Some(Low));
    let body = "### Code review\n\nFound 2 issues:\n\n1. The name has a typo\n\nhttps://github.com/o/r/blob/0123456789abcdef0123456789abcdef01234567/src/A.java#L87-L89\n\nhttps://github.com/o/r/blob/0123456789abcdef0123456789abcdef01234567/src/A.java#L100\n\n2. The check is missing\n\nhttps://github.com/o/r/blob/0123456789abcdef0123456789abcdef01234567/src/B.java#L1-L3\n\n🤖 Generated with [Claude Code](https://claude.ai/code)";
    let reading = read("claude", PostPlace::Comment, body);
    assert_eq!(
        places(&reading),
        [
            ("src/A.java".to_owned(), LineRange::new(87, 89), None),
            ("src/B.java".to_owned(), LineRange::new(1, 3), None)
        ]
    );
    let bodies: Vec<&str> = reading.findings.iter().map(|reported| &*reported.body).collect();
    assert_eq!(bodies, ["The name has a typo", "The check is missing"]);
    let working =
        read("claude", PostPlace::Comment, "Claude Code is working… <img src=\"x\" />\n\nI'll analyze this.");
    assert_eq!((working.class, working.content), (PostClass::Failure, PostContent::InProgress));
    failure(
        "claude",
        PostPlace::Comment,
        "**Claude encountered an error after 3m 2s** —— [View job](x)\n\n---\nI'll look.",
    );
    let done = read(
        "claude",
        PostPlace::Comment,
        "**Claude finished @you's task in 2m** —— [View job](x)\n\n---\n### Review\n\nFine.",
    );
    assert_eq!(done.class, PostClass::Summary);
    assert!(matches!(done.content, PostContent::Unreadable(_)), "it ended, and nobody knows how");
}

#[test]
fn replies_show_the_reviewers_stance() {
    for text in [
        "`@you`, thanks for the fix! It looks good.\n\n<!-- <review_comment_addressed> -->",
        "`@you` understood, that was my misreading.\n\n<!-- <review_comment_withdrawn> -->",
        "`@you`, you're right, the guard is in the caller. I'll withdraw this comment.",
        "`@you` confirmed: the issue is resolved in the latest commit.",
        "`@you` ご対応ありがとうございます！正しく動作するようになりました。",
        "`@you`, good point, the check happens upstream, so no change is needed here.",
        "@you Du hast recht, das wurde behoben.",
        "@you Tienes razón, gracias por aclarar.",
        "@you 您说得对，感谢修复。",
    ] {
        assert_eq!(stance("coderabbit", text), Some(Stance::Accepts), "{text}");
    }
    for text in [
        "`@you`, I checked again. I'm retaining the finding: the branch is not covered.",
        "`@you` thanks for the update, but the issue still exists on line 40.",
        "The new check is a good fix for one path, but it does not address the other callers.",
        "You're right about the first part. I still recommend closing the handle.",
        "Thanks for clarifying. However, the input can still be forged.",
        "問題が残っています。依然としてロックが解放されません。",
    ] {
        assert_eq!(stance("coderabbit", text), Some(Stance::SeeksChange), "{text}");
    }
    let quoted = "> The issue is resolved, you're right.\n\nWhich commit do you mean?";
    assert_eq!(stance("coderabbit", quoted), None, "quoted words are not the reviewer's stance");
    for text in ["`@you` could you tell me which branch you mean?", "Sure, here is how the function works."] {
        assert_eq!(stance("coderabbit", text), None, "{text}");
    }
}
