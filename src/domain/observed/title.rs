//! Derives a title from a comment, for a finding without one.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// A longer first line is cut. Lists show no more of it.
const LONGEST: usize = 200;

/// The first line with visible text, without Markdown and HTML. Hidden comments, badges and bare markup are
/// skipped.
pub fn title(body: &str) -> String {
    let mut line = String::new();
    let mut images = 0_u32;
    for event in Parser::new_ext(body, Options::ENABLE_STRIKETHROUGH) {
        match event {
            Event::Start(Tag::Image { .. }) => images += 1,
            Event::End(TagEnd::Image) => images = images.saturating_sub(1),
            Event::Text(text) | Event::Code(text) if images == 0 => {
                // The text of a code block contains its line breaks.
                for (index, part) in text.split('\n').enumerate() {
                    if index > 0 && !line.trim().is_empty() {
                        return shortened(&line);
                    }
                    line.push_str(part);
                }
            }
            Event::SoftBreak | Event::HardBreak | Event::End(_) if !is_inline(&event) => {
                if !line.trim().is_empty() {
                    return shortened(&line);
                }
                line.clear();
            }
            _ => {}
        }
    }
    if line.trim().is_empty() { "(no text)".to_owned() } else { shortened(&line) }
}

/// Whether the event ends an inline element, which does not end the line.
fn is_inline(event: &Event<'_>) -> bool {
    matches!(
        event,
        Event::End(TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image)
    )
}

fn shortened(line: &str) -> String {
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_stripped_and_lines_without_text_are_skipped() {
        for (body, expected) in [
            ("Plain words.\nMore.", "Plain words."),
            ("_⚠️ Potential issue_ | _🟠 Major_\n\n**A title.**", "⚠️ Potential issue | 🟠 Major"),
            ("<!-- hidden -->\n\n### `foo` is [wrong](https://x)\n", "foo is wrong"),
            (
                "**<sub><sub>![P1 Badge](https://x/p1)</sub></sub>  Guard the index**\n\nText",
                "Guard the index",
            ),
            ("![high](https://x/high.svg)\n\nCheck the length.", "Check the length."),
            ("<details>\n<summary>x</summary>\n\nInside\n\n</details>", "Inside"),
            ("```rust\n\nlet a = 1;\nlet b = 2;\n```", "let a = 1;"),
            ("- one\n- two", "one"),
            ("", "(no text)"),
            ("<!-- only this -->", "(no text)"),
        ] {
            assert_eq!(title(body), expected, "{body}");
        }
        assert_eq!(title(&"é".repeat(300)).chars().count(), 201);
    }
}
