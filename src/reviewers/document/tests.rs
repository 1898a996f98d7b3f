use super::*;
use proptest::prelude::*;

fn open(source: &str) -> Vec<String> {
    PostDocument::parse(source).open_lines().map(|line| line.text.clone()).collect()
}

#[test]
fn visible_lines_are_kept_apart_from_folded_fenced_and_hidden_text() {
    let source = "<!-- a mark -->\n_Label_ | _More_\n\n<details>\n<summary>Fold</summary>\n\n**Inside**\n\n```sh\n# not a title\n```\n\n</details>\n\n**Title.** Rest\n\n```rust\nlet x = 1;\n```\n";
    let document = PostDocument::parse(source);
    assert_eq!(open(source), ["Label | More", "Title. Rest"]);
    assert_eq!(document.comments, [" a mark "]);
    let folded: Vec<&str> =
        document.lines.iter().filter(|line| line.folded > 0).map(|line| line.text.as_str()).collect();
    assert_eq!(folded, ["Fold", "Inside"]);
    let languages: Vec<&str> = document.fences.iter().map(|fence| fence.language.as_str()).collect();
    assert_eq!(languages, ["sh", "rust"]);
    assert!(document.lines[0].is_wholly(|style| style.emphasis) && !document.lines[0].is_summary);
}

#[test]
fn markup_inside_code_is_plain_text() {
    let document =
        PostDocument::parse("```html\n<!-- x -->\n<details>\n```\n\nUse `<!-- y -->` and `<s>z</s>`.\n");
    assert_eq!(document.comments, [""; 0]);
    assert_eq!(document.lines.len(), 1);
    assert_eq!(
        (document.lines[0].folded, document.lines[0].text.as_str()),
        (0, "Use `<!-- y -->` and `<s>z</s>`.")
    );
}

#[test]
fn only_images_before_the_first_words_are_badges() {
    let badges = |source: &str| PostDocument::parse(source).badges().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(badges("![high](h.svg)\n\nWords.\n\n![later](l.svg)"), ["high"]);
    assert_eq!(badges("<a href=\"#\"><img alt=\"P1\" src=\"x\"></a> **Title**"), ["P1"]);
    assert_eq!(badges("**<sub><sub>![P2 Badge](x)</sub></sub>  Title**"), ["P2 Badge"]);
    assert_eq!(badges("<img src=\"a.svg\" alt=\"Action required\">\n\n1\\. Title"), ["Action required"]);
    assert_eq!(badges("Words.\n\n![P0](x)"), [""; 0]);
}

#[test]
fn an_unclosed_html_tag_ends_with_its_block() {
    let document = PostDocument::parse(
        "<s>Gone\n\nStays\n\n> <details>\n> <summary>In a quote</summary>\n>\n> Inside\n\nOutside",
    );
    let struck = |text: &str| {
        let line = document.lines.iter().find(|line| line.text == text).unwrap();
        (line.is_wholly(|style| style.struck), line.folded)
    };
    assert_eq!(struck("Gone"), (true, 0));
    assert_eq!(struck("Stays"), (false, 0));
    assert_eq!(struck("Inside"), (false, 1));
    assert_eq!(struck("Outside"), (false, 0));
}

#[test]
fn only_symbols_may_come_before_opening_bold_text() {
    let opening = |source: &str| PostDocument::parse(source).lines[0].opening_strong();
    assert_eq!(opening("🔴 **A `b` c** and more"), Some(("A `b` c".into(), "and more".into())));
    assert_eq!(opening("It does **not** work"), None);
    assert_eq!(opening("<b>Bold</b> rest"), Some(("Bold".into(), "rest".into())));
}

#[test]
fn an_excerpt_leaves_out_the_quote_marks() {
    let source = "> a\n> > b\n> c";
    assert_eq!(excerpt(source, 0..source.len(), 1), "a\n> b\nc");
    assert_eq!(excerpt(source, 5..usize::MAX, 1), "");
}

proptest! {
    #[test]
    fn any_text_can_be_parsed(text in any::<String>()) {
        PostDocument::parse(&text);
    }

    #[test]
    fn any_mix_of_markup_can_be_parsed(parts in prop::collection::vec(
        prop::sample::select(vec![
            "<details>", "</details>", "<summary>", "</summary>", "**", "_", "`", "```\n", "> ", "\n", "- ", "1. ", "<!--",
            "-->", "<s>", "</s>", "![", "](", ")", "word", "| a | b |\n|---|---|\n", "# ", "<img alt='x'", ">", "&lt;",
        ]),
        0..60,
    )) {
        let source: String = parts.concat();
        let document = PostDocument::parse(&source);
        prop_assert!(document.lines.iter().all(|line| line.at <= source.len()));
    }
}
