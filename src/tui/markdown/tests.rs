use super::code::CODE_ROWS;
use super::*;
use crate::config;
use proptest::prelude::*;

const WIDE: usize = 30;

fn laid(markdown: &str, unfolded: bool, columns: usize) -> MarkdownLines {
    let theme = Theme::new(config::ThemeName::Dark, false);
    let replaced = ["let a = 1;".to_owned()];
    render(markdown, &MarkdownOptions { columns, theme, unfolded, path: "src/a.rs", replaced: &replaced })
}

fn rendered(markdown: &str, unfolded: bool) -> Vec<String> {
    laid(markdown, unfolded, WIDE).lines.iter().map(ToString::to_string).collect()
}

#[test]
fn hidden_comments_are_left_out_and_folds_are_folded() {
    let post = "Fix **this**.\n\n<!-- secret -->\n<details>\n<summary>Prompt</summary>\n\nlong text\n\n</details>\n\nEnd.";
    assert_eq!(rendered(post, false), ["Fix this.", "", "▸ Prompt (1 line folded)", "", "End."]);
    assert_eq!(laid(post, false, WIDE).folded, 2);
    let all = rendered(post, true);
    assert!(all.contains(&"▾ Prompt".to_owned()) && all.contains(&"long text".to_owned()), "{all:?}");
    assert!(all.contains(&"<!-- secret -->".to_owned()), "{all:?}");
}

#[test]
fn folds_in_folds_and_in_quotations_are_one_line() {
    let post = "<details><summary>A</summary>\n\none\n\n<details><summary>B</summary>\n\ntwo\n\n</details>\n\n</details>\n\nEnd.";
    assert_eq!(rendered(post, false), ["▸ A (2 lines folded)", "", "End."]);
    let quoted = "> <details>\n> <summary>Q</summary>\n>\n> one\n\nEnd.";
    assert_eq!(rendered(quoted, false), ["│ ▸ Q (1 line folded)", "", "End."]);
}

#[test]
fn what_looks_like_a_fold_in_code_is_code() {
    let post = "```html\n<details>\n<!-- x -->\n```\n\nEnd.";
    assert_eq!(rendered(post, false), ["  <details>", "  <!-- x -->", "", "End."]);
}

#[test]
fn footers_and_analysis_chains_are_folded_and_counted() {
    let post =
        "🧩 Analysis chain\n\n```shell\nrg x\n```\n\n---\n\nBroken.\n\n---\n\nUseful? React with 👍 / 👎.";
    assert_eq!(rendered(post, false), ["Broken."]);
    assert_eq!(laid(post, false, WIDE).folded, 3);
    assert!(rendered(post, true).contains(&"  rg x".to_owned()));
    let about = "The footer says:\n\n> Useful? or not, it is about time to look at what this text really says, since it is \
                 meant for people and not for programs.";
    assert_eq!(laid(about, false, WIDE).folded, 0);
}

#[test]
fn lists_quotes_and_code_keep_their_shape() {
    let post = "- one\n- two words that are long enough to be broken\n  1. inner\n\n> said\n> > deeper\n\n```diff\n-a\n+b\n```";
    assert_eq!(
        rendered(post, false),
        [
            "• one",
            "• two words that are long",
            "  enough to be broken",
            "  1. inner",
            "",
            "│ said",
            "│ ",
            "│ │ deeper",
            "",
            "  -a",
            "  +b"
        ]
    );
    let paragraphs = "1. first\n\n   more of it\n2. second";
    assert_eq!(rendered(paragraphs, false), ["1. first", "   ", "   more of it", "2. second"]);
}

#[test]
fn tasks_links_and_pictures_are_words() {
    let post = "- [x] done\n- [ ] open\n\nSee [the docs](https://example.com/a) and <https://b.example>.\n\n![P1 Badge](x.svg) [![b](y)](z)";
    assert_eq!(
        rendered(post, false),
        [
            "☑ done",
            "☐ open",
            "",
            "See the docs",
            "<https://example.com/a> and",
            "https://b.example.",
            "",
            "[P1 Badge] [b]"
        ]
    );
}

#[test]
fn a_suggestion_is_shown_as_what_it_changes() {
    let lines = rendered("```suggestion\nlet a = 2;\n```", false);
    assert_eq!(lines, ["suggested change", "  -let a = 1;", "  +let a = 2;"]);
}

#[test]
fn code_has_colours_and_a_sign_where_it_is_a_diff() {
    let laid = laid("```rust\nlet a = \"x\";\n```", false, WIDE);
    let keyword = Theme::new(config::ThemeName::Dark, false).style(TextMeaning::Keyword);
    assert!(
        laid.lines[0].spans.iter().any(|span| span.content == "let" && span.style == keyword),
        "{laid:?}"
    );
}

#[test]
fn tables_fit_and_become_lists_where_they_cannot() {
    let post = "| name | what it does |\n|---|---|\n| a | something that is too long for its column |";
    assert_eq!(
        rendered(post, false),
        [
            "name │ what it does           ",
            "─────┼────────────────────────",
            "a    │ something that is too  ",
            "     │ long for its column    "
        ]
    );
    let narrow: Vec<String> = laid(post, false, 12).lines.iter().map(ToString::to_string).collect();
    assert_eq!(narrow[0], "• name: a");
}

#[test]
fn html_keeps_its_meaning_and_hides_nothing() {
    assert_eq!(rendered("<p>one<br>two <b>three</b> &amp; four</p>", false), ["one", "two three & four"]);
    assert_eq!(
        rendered("<img alt=\"high\" src=\"x\"> <a href=\"https://e.x/\">e</a>", false),
        ["[high] e <https://e.x/>"]
    );
    assert_eq!(rendered("a &#27;[31m b &#x202e; c", false), ["a [31m b  c"]);
}

#[test]
fn what_is_never_closed_does_no_harm() {
    for post in [
        "<details>",
        "<!--",
        "<details><summary>x",
        "</details>x",
        "a <b",
        "```",
        "</summary>",
        "> <details>\n\nx",
    ] {
        for unfolded in [false, true] {
            let _ = rendered(post, unfolded);
        }
    }
    assert_eq!(rendered("x <!-- a -->", false), ["x"]);
}

#[test]
fn a_megabyte_and_a_hundred_quotations_are_laid_out() {
    let nested = format!("{}deep", "> ".repeat(200));
    assert!(rendered(&nested, false).iter().any(|line| line.contains("deep")));
    let long = "x".repeat(1 << 20);
    assert!(rendered(&format!("```\n{long}\n```"), false).len() <= CODE_ROWS);
}

proptest! {
    #[test]
    fn no_line_is_too_wide(
        post in "([a-z日🎉 ]{0,12}|\n|\n\n|- |> |\\*\\*|`|```\n|<details>|</details>|<b>|\\| a \\| b \\|\n\\|---\\|---\\|\n|# ){0,30}",
        columns in 24usize..60,
        unfolded: bool,
    ) {
        for line in laid(&post, unfolded, columns).lines {
            let text = line.to_string();
            prop_assert!(width(&text) <= columns, "{text:?}");
        }
    }
}
