//! When a post counts as a finished review (L3): only by a positive sign.

use super::*;
use crate::domain::post::PostThreads;
use crate::domain::snapshot::ReviewState;
use crate::reviewers::profile::ProfileOverride;
use std::time::Duration;

fn threads(opened: usize) -> PostThreads {
    PostThreads { opened, others: 0 }
}

#[track_caller]
fn unreadable(reading: &ParsedPost, opened: usize) -> String {
    match reading.content_with(threads(opened), Some(ReviewState::Commented)) {
        PostContent::Unreadable(reason) => reason,
        other => panic!("{other:?}: {reading:?}"),
    }
}

#[track_caller]
fn is_complete(reading: &ParsedPost, opened: usize) {
    let content = reading.content_with(threads(opened), Some(ReviewState::Commented));
    assert_eq!(content, PostContent::Complete, "{reading:?}");
}

const BADGE: &str = "<picture><source srcset=\"dark.svg\"><img src=\"light.png\" alt=\"Medium severity\" width=\"62\"></picture>";

fn overview(verdict: &str, findings: &str, sections: &str) -> String {
    format!(
        "<!-- ccr-overview-v2 -->\n\n## Copilot review overview\n\n### {verdict}\n\nThe cache may be stale.\n\n**Review effort:** Balanced  \n**Findings:** {findings}\n\n{sections}\n\n---\n\nA footer with a [link](https://example.com)."
    )
}

fn section(title: &str, inner: &str) -> String {
    format!("<details>\n<summary><strong>{title}</strong></summary>\n\n{inner}\n</details>")
}

fn missed(title: &str, place: &str) -> String {
    format!(
        "<details>\n<summary>{BADGE} {title}</summary>\n\n`{place}`\n\nThe value is read twice. Read it once.\n</details>"
    )
}

#[test]
fn l3_copilots_overview_is_clean_only_by_its_green_verdict() {
    for verdict in ["🟢 Approval recommended", "🟢 Approved", "🟢 Looks good"] {
        let resolved =
            section("Resolved since last review (2)", "- [One](#discussion_r1)\n- [Two](#discussion_r2)");
        for body in [overview(verdict, "None", ""), overview(verdict, "None", &resolved)] {
            is_complete(&read("copilot", PostPlace::Review, &body), 0);
            is_complete(&read("copilot", PostPlace::Review, &body.replace('\n', "\r\n")), 0);
        }
    }
    for verdict in [
        "🟡 Changes recommended",
        "🔵 Needs a closer look",
        "🔴 Do not merge",
        "🟣 Something new",
        "🟢 Something new",
        "Approval",
    ] {
        let body = overview(verdict, "None", "");
        unreadable(&read("copilot", PostPlace::Review, &body), 0);
    }
    let changed = overview("🟢 Approval recommended", "several", "");
    unreadable(&read("copilot", PostPlace::Review, &changed), 0);
    let no_heading = "<!-- ccr-overview-v2 -->\n\n## Copilot review overview\n\nIt is fine.";
    unreadable(&read("copilot", PostPlace::Review, no_heading), 0);
}

#[test]
fn l3_copilots_overview_must_show_the_findings_that_it_announces() {
    let open = section(
        "Open (3)",
        "- [A](#discussion_r7) · New\n- [B](#discussion_r8) · New\n- [C](#discussion_r9)",
    );
    let findings = format!("2 {BADGE} · 1 {BADGE}");
    let body = overview("🟡 Changes recommended", &findings, &open);
    let reading = read("copilot", PostPlace::Review, &body);
    assert_eq!((reading.class, reading.stance), (PostClass::Summary, Some(Stance::SeeksChange)));
    assert_eq!(reading.claim.announced, Some(3));
    assert_eq!(reading.claim.listed_threads, ["discussion_r7", "discussion_r8", "discussion_r9"]);
    assert_eq!(unreadable(&reading, 1), "it announces 3 findings, and 1 was found");
    is_complete(&reading, 3);
    is_complete(&reading, 4);
    let listed = PostThreads { opened: 2, others: 1 };
    assert_eq!(
        reading.content_with(listed, None),
        PostContent::Complete,
        "the third is from an earlier review"
    );
    let approved = overview("🟢 Approval recommended", "1", &section("Open (1)", "- [A](#discussion_r7)"));
    unreadable(&read("copilot", PostPlace::Review, &approved), 0);
    is_complete(&read("copilot", PostPlace::Review, &approved), 1);
}

#[test]
fn l3_copilots_missed_findings_stand_in_the_body() {
    let inner = format!(
        "In code that hasn't changed since last review\n\n{}\n\n{}",
        missed("Read the value once", "src/lib/view.ts:41"),
        missed("Close the file", "src/a b.rs:3-9")
    );
    let resolved = section("Resolved since last review (1)", "- [Old](#discussion_r1)");
    let body = overview(
        "🔵 Needs a closer look",
        "None",
        &format!("{resolved}\n\n{}", section("Previously missed (2)", &inner)),
    );
    for body in [body.clone(), body.replace('\n', "\r\n")] {
        let reading = read("copilot", PostPlace::Review, &body);
        is_complete(&reading, 0);
        let titled = |text: &str| Some(text.to_owned());
        assert_eq!(
            places(&reading),
            [
                ("src/lib/view.ts".to_owned(), LineRange::new(41, 41), titled("Read the value once")),
                ("src/a b.rs".to_owned(), LineRange::new(3, 9), titled("Close the file")),
            ]
        );
        assert_eq!(reading.findings[0].severity, Some(Severity::Medium));
        assert_eq!(&*reading.findings[0].body, "The value is read twice. Read it once.");
    }
    let lost = body.replace("Previously missed (2)", "Previously missed (3)");
    let reading = read("copilot", PostPlace::Review, &lost);
    assert_eq!(unreadable(&reading, 0), "its sections announce 3 findings, and 2 were found");
    assert_eq!(reading.findings.len(), 2, "what can be read is read");
}

#[test]
fn l3_an_unknown_section_with_a_number_or_a_missing_end_is_never_clean() {
    let unknown = overview("🟢 Approval recommended", "None", &section("Hidden issues (2)", "- One\n- Two"));
    assert_eq!(
        unreadable(&read("copilot", PostPlace::Review, &unknown), 0),
        "its section \"Hidden issues (2)\" is unknown to the profile"
    );
    let zero = format!("**Actionable comments posted: 0**\n\n{}", section("🔬 Deeper findings (1)", "Text."));
    unreadable(&read("coderabbit", PostPlace::Review, &zero), 0);
    let harmless = format!(
        "**Actionable comments posted: 0**\n\n{}\n\n{}\n\n{}",
        section("🔇 Additional comments (3)", "LGTM"),
        section("📒 Files selected for processing (5)", "* `src/issues.rs`"),
        section("src/issues/list.rs (2)", "x"),
    );
    is_complete(&read("coderabbit", PostPlace::Review, &harmless), 0);
    let cut = "**Actionable comments posted: 0**\n\n<details>\n<summary>🧹 Nitpick comments (9)</summary><blockquote>\n\nText that just";
    assert_eq!(unreadable(&read("coderabbit", PostPlace::Review, cut), 0), "its end is missing");
}

#[test]
fn l3_a_count_must_agree_with_the_findings() {
    for (reviewer, text) in [
        ("coderabbit", "**Actionable comments posted: 3**"),
        (
            "copilot",
            "## Pull request overview\n\nCopilot reviewed 3 out of 3 changed files in this pull request and generated 3 comments.",
        ),
        ("cursor", "Cursor Bugbot has reviewed your changes and found 3 potential issues."),
        ("greptile", "<sub>4 files reviewed, 3 comments</sub>"),
        ("devin", "**Devin Review** found 3 potential issues."),
        ("cubic", "**3 issues found** across 5 files"),
        ("augment", "Review completed. 3 suggestions posted."),
        ("kilo", "**Status:** 3 Issues Found"),
        ("claude", "### Code review\n\nFound 3 issues:\n\n1. No link"),
    ] {
        let reading = read(reviewer, PostPlace::Review, text);
        assert_eq!(unreadable(&reading, 1), "it announces 3 findings, and 1 was found", "{reviewer}");
        is_complete(&reading, 3);
        is_complete(&reading, 5);
    }
    is_complete(&read("coderabbit", PostPlace::Review, "**Actionable comments posted: 0**"), 0);
}

#[test]
fn l3_codexs_status_comment_is_never_a_finding_and_never_clean() {
    let table = |code: &str, security: &str| {
        format!(
            "<!-- codex-pull-request-review-summary -->\n## Codex Review Summary\n\nThis comment shows the latest reviews.\n\n| Review | Status | Commit | Review trigger |\n| --- | --- | --- | --- |\n| 📝 **Code Review** | {code} | Pull request opened |\n| 🛡️ **Security Review** | {security} | Manual request |\n"
        )
    };
    let running = "🔄 **Running** <relative-time datetime=\"x\">now</relative-time> | `aaaaaaa`";
    let completed = "✅ **Completed** <relative-time datetime=\"x\">now</relative-time> | `aaaaaaa`";
    let rows = |body: &str| -> Vec<(PostContent, Option<String>)> {
        let reading = read("codex", PostPlace::Comment, body);
        assert!(reading.findings.is_empty());
        let rows = reading.status.into_iter();
        rows.map(|row| (row.content, row.commit.map(|commit| commit.to_string()))).collect()
    };
    let named = || Some("aaaaaaa".to_owned());
    assert_eq!(
        rows(&table(running, &completed.replace('a', "b"))),
        [(PostContent::InProgress, named()), (PostContent::NotReady, Some("bbbbbbb".to_owned()))]
    );
    let done = table(completed, completed);
    assert_eq!(rows(&done), [(PostContent::NotReady, named()), (PostContent::NotReady, named())]);
    let reading = read("codex", PostPlace::Comment, &done);
    assert_eq!((reading.class, reading.content), (PostClass::Summary, PostContent::NotReady));
    let failed = table(completed, "❌ **Failed** | `aaaaaaa`");
    assert!(matches!(rows(&failed)[1].0, PostContent::Failure(_)));
    let unknown = table(completed, "🌀 **Pondering** | `aaaaaaa`");
    assert!(matches!(rows(&unknown)[1].0, PostContent::Unreadable(_)));
    let head = "a".repeat(40);
    let hidden = format!(
        "{}\n<!-- codex-security-review:v1 {{\"headSha\":\"{head}\",\"status\":\"running\"}} -->",
        table(completed, completed)
    );
    assert_eq!(rows(&hidden)[0], (PostContent::InProgress, Some(head)));
}

#[test]
fn l4_coderabbits_free_plan_and_limits_are_failures() {
    let free = "<!-- This is an auto-generated comment: summarize by coderabbit.ai -->\n<!-- walkthrough_start -->\n\n## Walkthrough\n\nIt renames a field.\n\n<!-- walkthrough_end -->\n\n> [!NOTE]\n> <details>\n> <summary>🎁 Summarized by CodeRabbit Free</summary>\n>\n> Your organization is on the Free plan. Only a summary is made for each pull request. For a full review, please upgrade your subscription to CodeRabbit Pro.\n>\n> </details>";
    let reason = failure("coderabbit", PostPlace::Comment, free);
    assert!(reason.starts_with("Your organization is on the Free plan."), "{reason}");
    failure(
        "coderabbit",
        PostPlace::Comment,
        "Please upgrade to CodeRabbit Pro to get reviews on this repository.",
    );
    let limited = |wait: &str| {
        format!(
            "<!-- This is an auto-generated comment: rate limited by coderabbit.ai -->\n\n> [!WARNING]\n> ## Review limit reached\n>\n> `@you`, you've reached your PR review limit, so we couldn't start this review.\n>\n> **Next review available in:** **{wait}**\n"
        )
    };
    for (wait, seconds) in [
        ("53 minutes", 53 * 60),
        ("2 hours and 5 minutes", 2 * 3600 + 5 * 60),
        ("14 minutes and 32 seconds", 14 * 60 + 32),
        ("1 hour", 3600),
    ] {
        let reading = read("coderabbit", PostPlace::Comment, &limited(wait));
        assert_eq!(reading.class, PostClass::Failure);
        assert_eq!(reading.retry_after, Some(Duration::from_secs(seconds)), "{wait}");
    }
    assert_eq!(read("coderabbit", PostPlace::Comment, &limited("some time")).retry_after, None);
}

#[test]
fn known_posts_without_a_result_are_not_ready() {
    for (reviewer, text) in [
        (
            "coderabbit",
            "<!-- This is an auto-generated comment: summarize by coderabbit.ai -->\n<!-- walkthrough_start -->\n\n## Walkthrough\n\nIt adds a cache.",
        ),
        ("augment", "**🤖 Augment PR Summary**\n\nIt adds a cache."),
        ("graphite", "### Merge activity\n\n* **Oct 7, 2:10 AM UTC**: queued"),
        ("codeant", "CodeAnt AI is reviewing your PR."),
        ("codeant", "CodeAnt AI finished reviewing your PR."),
        ("amazon-q", "⏳ I'm reviewing this pull request for problems. I'll be back."),
        (
            "kodus",
            "## Code Review Completed! 🔥\n\nThe code review was completed based on your configurations.",
        ),
        ("gitar", "On it!"),
        (
            "coderabbit",
            "`@you` that function is called by the loader.\n\n<!-- This is an auto-generated reply by CodeRabbit -->",
        ),
        ("codex", "@you The cache is filled by the loader, see above."),
    ] {
        let content = read(reviewer, PostPlace::Comment, text).content;
        assert_eq!(content, PostContent::NotReady, "{reviewer}: {text}");
    }
    let clean_walkthrough = "<!-- This is an auto-generated comment: summarize by coderabbit.ai -->\nNo actionable comments were generated in the recent review. 🎉\n\n<!-- walkthrough_start -->\n\n## Walkthrough\n\nIt adds a cache.";
    assert_eq!(read("coderabbit", PostPlace::Comment, clean_walkthrough).content, PostContent::Complete);
    let answer_with_list = "@you I looked again:\n\n- The lock is lost.\n- The file stays open.";
    unreadable(&read("codex", PostPlace::Comment, answer_with_list), 0);
}

#[test]
fn clean_reviews_of_more_bots() {
    for (reviewer, text) in [
        ("augment", "Review completed. No suggestions at this time."),
        ("amazon-q", "✅ I finished the code review, and didn't find any security or code quality issues."),
        (
            "kodus",
            "# Kody Review Complete\n**Great news!** 🎉\nNo issues were found based on your review configurations.",
        ),
        ("korbit", "I've completed my review and didn't find any issues."),
        ("gitar", "<details>\n<summary><b>Code Review</b> ✅ Approved</summary>\n\nText.\n</details>"),
        ("bito", "## Code Review Agent Run #1a2b3c\n\nActionable Suggestions - 0"),
        ("mesa", "**2** files reviewed | **0** comments"),
        ("greptile", "### Confidence Score: 5/5"),
    ] {
        assert_eq!(read(reviewer, PostPlace::Comment, text).content, PostContent::Complete, "{reviewer}");
    }
    for (reviewer, text) in [
        ("amazon-q", "✅ I finished the code review, and left comments with the issues I found."),
        (
            "gitar",
            "<details>\n<summary><b>Code Review</b> ⚠️ Changes requested <kbd>0 resolved / 2 findings</kbd></summary>\n\nText.\n</details>",
        ),
        ("greptile", "### Confidence Score: 3/5\n\n- The cache may be stale."),
        (
            "sourcery",
            "Hey there - I've reviewed your changes and they look great!\n\n<details>\n<summary>Prompt for AI Agents</summary>\n\n```\n### Comment 1\n```\n\n</details>",
        ),
    ] {
        unreadable(&read(reviewer, PostPlace::Comment, text), 0);
    }
}

#[test]
fn findings_of_more_bots() {
    let kodus = "![kody code-review](https://img.example/a) ![Security](https://img.example/b) ![high](https://img.example/c)\n\n**The token is logged**\n\nIt leaks.";
    assert_eq!(
        finding("kodus", kodus),
        (Some(Severity::High), Some(Category::Security), Some("The token is logged".to_owned()))
    );
    assert_eq!(
        finding("augment", "The lock is lost.\n\n**Severity: medium**\n\n🤖 Was this useful?").0,
        Some(Severity::Medium)
    );
    let codeant = "**Suggestion:** The index may be negative. [logic error]\n\n<details>\n<summary><b>Severity Level:</b> Critical 🚨</summary>\n\nText\n</details>";
    assert_eq!(finding("codeant", codeant).0, Some(Severity::Critical));
    assert_eq!(
        finding("gitar", "⚠️ **Bug:** The filter never matches\n\nText.").2.as_deref(),
        Some("The filter never matches")
    );
}

/// A profile with only a login tells nothing about the format: only threads and GitHub's states can be read.
#[test]
fn l3_of_a_bot_without_marks_only_threads_and_states_can_be_read() {
    let own = ProfileOverride {
        name: "ours".to_owned(),
        logins: Some(vec!["our-bot".to_owned()]),
        ..ProfileOverride::default()
    };
    let profiles = Profiles::with_overrides(&[own]).unwrap();
    for text in
        ["LGTM", "No issues found.", "## Review\n\n0 issues", "All good 👍", "Actionable comments posted: 0"]
    {
        for place in [PostPlace::Review, PostPlace::Comment] {
            let reading = profiles.read(&"ours".into(), place, text);
            unreadable(&reading, 0);
            is_complete(&reading, 1);
            let approved = reading.content_with(threads(0), Some(ReviewState::Approved));
            assert_eq!(approved, PostContent::Complete);
            let changes = reading.content_with(threads(0), Some(ReviewState::ChangesRequested));
            assert!(matches!(changes, PostContent::Unreadable(_)), "changes without a finding are not clean");
        }
    }
}

#[test]
fn l3_invented_formats_are_never_finished() {
    for text in [
        "# Review report\n\nStatus: finished\n\n| file | remark |\n| --- | --- |\n| a.rs | off by one |",
        "All 4 agents agree: ship it after fixing the lock.",
        "{\"verdict\": \"pass\", \"findings\": []}",
        "✅ Done. See the dashboard for the 3 problems.",
        "No problems? Not quite: the lock is lost in `src/a.rs:4`.",
        "<table><tr><td>Blocker</td><td>src/a.rs</td></tr></table>",
        "审查完成，没有发现问题。",
        "Score: 100/100",
    ] {
        for known in PROFILES.iter() {
            for place in [PostPlace::Review, PostPlace::Comment] {
                let reading = PROFILES.read(&known.name, place, text);
                let is_clean = reading.content == PostContent::Complete && reading.findings.is_empty();
                assert!(!is_clean, "{}: {text}", known.name);
            }
        }
    }
}
