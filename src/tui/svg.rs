//! Draws a screen as an SVG picture for the documentation, with real text in it.
//!
//! The same cells always give the same file. Every run of cells has a fixed place and length, so columns line
//! up in any font.

use ratatui::buffer::{Buffer, Cell, CellWidth};
use ratatui::style::{Color, Modifier};
use std::fmt::Write;

/// The size of a cell in the picture's units.
const WIDE: u32 = 8;
const HIGH: u32 = 17;

/// The space around the text, and the height of the title bar.
const MARGIN: u32 = 12;
const BAR: u32 = 30;

const BACKGROUND: &str = "#1b1e26";
const FOREGROUND: &str = "#d5d8df";

const FONTS: &str =
    "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace";

/// The sixteen terminal colours, as a dark terminal shows them.
const SIXTEEN: [&str; 16] = [
    "#1b1e26", "#e06c75", "#8cc570", "#e0b45c", "#6aa9f0", "#c586d9", "#56b6c2", "#b9bec9", "#5c6370",
    "#f28b93", "#a5d98b", "#f0cd80", "#8cc0ff", "#dca4ee", "#7fd3de", "#ffffff",
];

/// The screen in a plain window with this title.
pub fn svg(screen: &Buffer, title: &str) -> String {
    let (columns, rows) = (u32::from(screen.area.width), u32::from(screen.area.height));
    let (width, height) = (columns * WIDE + 2 * MARGIN, rows * HIGH + 2 * MARGIN + BAR);
    let mut picture = Picture(String::new());
    picture.line(format_args!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{}">"#,
        escaped(title)
    ));
    picture.line(format_args!("<title>{}</title>", escaped(title)));
    picture.line(format_args!(
        r##"<rect width="{width}" height="{height}" rx="9" fill="{BACKGROUND}"/><path d="M0 {BAR}V9a9 9 0 0 1 9-9H{}a9 9 0 0 1 9 9V{BAR}Z" fill="#2a2f3a"/>"##,
        width - 9
    ));
    for (index, colour) in ["#e06c75", "#e0b45c", "#8cc570"].into_iter().enumerate() {
        let x = 18 + 18 * index;
        picture.line(format_args!(r#"<circle cx="{x}" cy="{}" r="5.5" fill="{colour}"/>"#, BAR / 2));
    }
    picture.line(format_args!(
        r##"<text x="{}" y="{}" text-anchor="middle" font-family="{FONTS}" font-size="12" fill="#8b93a3">{}</text>"##,
        width / 2,
        BAR / 2 + 4,
        escaped(title)
    ));
    picture.line(format_args!(
        r#"<g font-family="{FONTS}" font-size="13.3" fill="{FOREGROUND}" xml:space="preserve" style="white-space:pre">"#
    ));
    for row in 0..screen.area.height {
        for run in runs(screen, row) {
            picture.run(&run, u32::from(row));
        }
    }
    picture.line(format_args!("</g>\n</svg>"));
    picture.0
}

/// Neighbouring cells in the same style.
struct CellRun {
    from: u32,
    cells: u32,
    text: String,
    look: CellStyle,
}

#[derive(PartialEq, Eq, Clone)]
struct CellStyle {
    front: String,
    back: Option<String>,
    modifier: Modifier,
}

fn look(cell: &Cell) -> CellStyle {
    let modifier = cell.modifier;
    let (mut front, mut back) = (colour(cell.fg), colour(cell.bg));
    if modifier.contains(Modifier::REVERSED) {
        (front, back) = (
            Some(back.unwrap_or_else(|| BACKGROUND.to_owned())),
            Some(front.unwrap_or_else(|| FOREGROUND.to_owned())),
        );
    }
    CellStyle { front: front.unwrap_or_else(|| FOREGROUND.to_owned()), back, modifier }
}

fn runs(screen: &Buffer, row: u16) -> Vec<CellRun> {
    let mut runs: Vec<CellRun> = Vec::new();
    let mut column = 0;
    while column < screen.area.width {
        let cell = &screen[(column, row)];
        let cells = u32::from(cell.cell_width().max(1));
        let look = look(cell);
        // A wide or rare character gets its own run, so that its neighbours keep their places.
        let is_plain = |text: &str| text.is_ascii();
        match runs.last_mut() {
            Some(run) if run.look == look && is_plain(cell.symbol()) && is_plain(&run.text) => {
                run.cells += cells;
                run.text.push_str(cell.symbol());
            }
            Some(run) if run.look == look && cell.symbol() == "─" && run.text.ends_with('─') => {
                run.cells += cells;
                run.text.push('─');
            }
            _ => runs.push(CellRun { from: u32::from(column), cells, text: cell.symbol().to_owned(), look }),
        }
        column = column.saturating_add(u16::try_from(cells).unwrap_or(1));
    }
    runs
}

struct Picture(String);

impl Picture {
    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "{text}");
    }

    fn run(&mut self, run: &CellRun, row: u32) {
        let CellRun { from, cells, text, look } = run;
        let (x, top) = (MARGIN + from * WIDE, BAR + MARGIN + row * HIGH);
        let wide = cells * WIDE;
        if let Some(back) = &look.back {
            self.line(format_args!(
                r#"<rect x="{x}" y="{top}" width="{wide}" height="{HIGH}" fill="{back}"/>"#
            ));
        }
        let lined = Modifier::UNDERLINED | Modifier::CROSSED_OUT;
        if text.trim().is_empty() && !look.modifier.intersects(lined) {
            return;
        }
        // Leave out blanks around the text: they only make the file larger.
        let lead = if look.modifier.intersects(lined) { 0 } else { text.len() - text.trim_start().len() };
        let shown = if look.modifier.intersects(lined) { text.as_str() } else { text.trim() };
        let lead = u32::try_from(lead).unwrap_or(0);
        let shown_cells = if text.is_ascii() { u32::try_from(shown.len()).unwrap_or(*cells) } else { *cells };
        let mut style = String::new();
        if look.front != FOREGROUND {
            let _ = write!(style, r#" fill="{}""#, look.front);
        }
        if look.modifier.contains(Modifier::BOLD) {
            style.push_str(r#" font-weight="bold""#);
        }
        if look.modifier.contains(Modifier::ITALIC) {
            style.push_str(r#" font-style="italic""#);
        }
        if look.modifier.contains(Modifier::DIM) {
            style.push_str(r#" opacity="0.65""#);
        }
        let decorations: Vec<&str> =
            [(Modifier::UNDERLINED, "underline"), (Modifier::CROSSED_OUT, "line-through")]
                .into_iter()
                .filter(|(modifier, _)| look.modifier.contains(*modifier))
                .map(|(_, name)| name)
                .collect();
        if !decorations.is_empty() {
            let _ = write!(style, r#" text-decoration="{}""#, decorations.join(" "));
        }
        self.line(format_args!(
            r#"<text x="{}" y="{}" textLength="{}" lengthAdjust="spacingAndGlyphs"{style}>{}</text>"#,
            x + lead * WIDE,
            top + 13,
            shown_cells * WIDE,
            escaped(shown)
        ));
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// None for the terminal's default colour.
fn colour(colour: Color) -> Option<String> {
    let named = |number: usize| SIXTEEN.get(number).map(|&hex| hex.to_owned());
    match colour {
        Color::Reset => None,
        Color::Black => named(0),
        Color::Red => named(1),
        Color::Green => named(2),
        Color::Yellow => named(3),
        Color::Blue => named(4),
        Color::Magenta => named(5),
        Color::Cyan => named(6),
        Color::Gray => named(7),
        Color::DarkGray => named(8),
        Color::LightRed => named(9),
        Color::LightGreen => named(10),
        Color::LightYellow => named(11),
        Color::LightBlue => named(12),
        Color::LightMagenta => named(13),
        Color::LightCyan => named(14),
        Color::White => named(15),
        Color::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
        Color::Indexed(number @ 0..16) => named(usize::from(number)),
        Color::Indexed(number @ 16..232) => {
            let level = |index: u8| [0u8, 95, 135, 175, 215, 255][usize::from(index % 6)];
            let cube = number - 16;
            Some(format!("#{:02x}{:02x}{:02x}", level(cube / 36), level(cube / 6), level(cube)))
        }
        Color::Indexed(number) => {
            let grey = 8 + 10 * (number - 232);
            Some(format!("#{grey:02x}{grey:02x}{grey:02x}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    fn drawn(text: &str, style: Style) -> String {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 12, 1));
        buffer.set_string(0, 0, text, style);
        svg(&buffer, "a <title>")
    }

    #[test]
    fn text_stays_text_in_its_columns() {
        let picture = drawn("  a<b & 日x", Style::default());
        assert!(picture.contains(">a&lt;b &amp;</text>"), "{picture}");
        let wide = format!(r#"<text x="{}" y="55" textLength="16""#, MARGIN + 8 * WIDE);
        assert!(picture.contains(&wide), "{picture}");
        assert!(picture.contains("a &lt;title&gt;"), "{picture}");
    }

    #[test]
    fn colours_and_weights_are_kept() {
        let style = Style::new().fg(Color::Indexed(245)).add_modifier(Modifier::BOLD | Modifier::CROSSED_OUT);
        let picture = drawn("x", style);
        assert!(
            picture.contains(r##"fill="#8a8a8a" font-weight="bold" text-decoration="line-through""##),
            "{picture}"
        );
        let picture = drawn("x", Style::new().add_modifier(Modifier::REVERSED));
        assert!(picture.contains(&format!(r#"height="17" fill="{FOREGROUND}""#)), "{picture}");
    }
}
