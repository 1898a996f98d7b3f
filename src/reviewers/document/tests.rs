use super::*;
use proptest::prelude::*;

fn open(source: &str) -> Vec<String> {
    PostDocument::parse(source).open_lines().map(|line| line.text.clone()).collect()
}

#[test]
fn what_a_reader_sees_is_told_from_what_is_folded_fenced_or_hidden() {
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
fn a_mark_inside_code_is_no_mark() {
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
fn badges_open_a_post_and_pictures_do_not() {
    let badges = |source: &str| PostDocument::parse(source).badges().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(badges("![high](h.svg)\n\nWords.\n\n![later](l.svg)"), ["high"]);
    assert_eq!(badges("<a href=\"#\"><img alt=\"P1\" src=\"x\"></a> **Title**"), ["P1"]);
    assert_eq!(badges("**<sub><sub>![P2 Badge](x)</sub></sub>  Title**"), ["P2 Badge"]);
    assert_eq!(badges("<img src=\"a.svg\" alt=\"Action required\">\n\n1\\. Title"), ["Action required"]);
    assert_eq!(badges("Words.\n\n![P0](x)"), [""; 0]);
}

#[test]
fn html_that_is_never_closed_ends_with_its_block() {
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
fn the_bold_text_that_opens_a_line_is_found_behind_symbols_only() {
    let opening = |source: &str| PostDocument::parse(source).lines[0].opening_strong();
    assert_eq!(opening("🔴 **A `b` c** and more"), Some(("A `b` c".into(), "and more".into())));
    assert_eq!(opening("It does **not** work"), None);
    assert_eq!(opening("<b>Bold</b> rest"), Some(("Bold".into(), "rest".into())));
}

#[test]
fn an_excerpt_leaves_the_quotation_marks_out() {
    let source = "> a\n> > b\n> c";
    assert_eq!(excerpt(source, 0..source.len(), 1), "a\n> b\nc");
    assert_eq!(excerpt(source, 5..usize::MAX, 1), "");
}

proptest! {
    #[test]
    fn any_text_is_a_document(text in any::<String>()) {
        PostDocument::parse(&text);
    }

    #[test]
    fn any_mix_of_markup_is_a_document(parts in prop::collection::vec(
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
