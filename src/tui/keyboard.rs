//! What the terminal sends: keys, the mouse, and the answer to the one question that it is asked, which is how its
//! background looks.
//!
//! The answer comes in among the keys, at any time or never. Nobody waits for it, and none of it is taken for a key: a
//! reader that waited would hold up the person, and one that gave up would let a late answer type into the program.

use super::theme::Background;
use crossterm::event::{Event, EventStream, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use futures_util::StreamExt;
use std::io::{self, Write};
use std::thread;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// Events that may wait for the screen.
const QUEUE: usize = 64;

/// The reader of events, on a thread of its own until nobody wants them any more: a terminal that was taken away keeps its
/// reader busy for ever, and nobody else may wait for that.
#[derive(Debug)]
pub(super) struct Keyboard {
    events: mpsc::Receiver<io::Result<Event>>,
    ended: oneshot::Receiver<()>,
}

/// A reader that has not ended after so long never will.
const STOPPING: Duration = Duration::from_millis(100);

impl Keyboard {
    pub(super) fn read() -> io::Result<Keyboard> {
        let (sender, events) = mpsc::channel(QUEUE);
        let (end, ended) = oneshot::channel();
        let runtime = Handle::current();
        let reading = async move {
            let mut events = EventStream::new();
            loop {
                let event = tokio::select! {
                    event = events.next() => event,
                    () = sender.closed() => break,
                };
                let Some(event) = event else { break };
                if sender.send(event).await.is_err() {
                    break;
                }
            }
            drop(events);
            // Nobody may wait for it.
            let _unheard = end.send(());
        };
        thread::Builder::new().name("keyboard".to_owned()).spawn(move || runtime.block_on(reading))?;
        Ok(Keyboard { events, ended })
    }

    pub(super) async fn next(&mut self) -> Option<io::Result<Event>> {
        self.events.recv().await
    }

    /// Leaves what is typed from now on to somebody else.
    pub(super) async fn stop(self) {
        let Keyboard { events, ended } = self;
        drop(events);
        let _late = timeout(STOPPING, ended).await;
    }
}

/// Asks for the colour behind the text: OSC 11. A terminal that does not know it says nothing.
pub(super) fn ask_for_background(output: &mut impl Write) -> io::Result<()> {
    output.write_all(b"\x1b]11;?\x07")?;
    output.flush()
}

/// Whether a terminal of this name can be asked: some print what they do not understand.
pub(super) fn can_be_asked(term: Option<&str>) -> bool {
    term.is_some_and(|term| {
        !term.is_empty() && term != "dumb" && term != "linux" && !term.starts_with("screen")
    })
}

/// Takes the terminal's answer out of the keys. `ESC ] 1 1 ; r g b : … BEL` is read as alt and `]`, then characters, then
/// ctrl and `g` (or alt and `\`, or escape and `\`, where the terminal ends it so).
#[derive(Debug, Default)]
pub(super) struct BackgroundReplyParser {
    /// What may be the beginning of an answer.
    held: Vec<KeyEvent>,
    said: String,
}

/// What a key turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ParsedKey {
    /// It is not known yet.
    Nothing,
    /// No answer: these were typed.
    Keys(Vec<KeyEvent>),
    /// None where it answered something else than a colour.
    Answer(Option<Background>),
}

/// `11;rgba:` and four times four digits with what is between them.
const LONGEST_ANSWER: usize = 32;

impl BackgroundReplyParser {
    pub(super) fn hear(&mut self, key: KeyEvent) -> ParsedKey {
        let begins = is(key, ']', KeyModifiers::ALT);
        if self.held.is_empty() && !begins {
            return ParsedKey::Keys(vec![key]);
        }
        if key.kind == KeyEventKind::Release {
            return ParsedKey::Nothing;
        }
        self.held.push(key);
        if self.held.len() == 1 {
            return ParsedKey::Nothing;
        }
        let escaped = self.said.ends_with('\u{1b}');
        let ends = is(key, 'g', KeyModifiers::CONTROL)
            || is(key, '\\', KeyModifiers::ALT)
            || (escaped && key.code == KeyCode::Char('\\'));
        if ends {
            self.held.clear();
            let said = std::mem::take(&mut self.said);
            return ParsedKey::Answer(colour(said.trim_end_matches('\u{1b}')));
        }
        match key.code {
            KeyCode::Char(c) if key.modifiers.difference(KeyModifiers::SHIFT).is_empty() => self.said.push(c),
            KeyCode::Esc => self.said.push('\u{1b}'),
            _ => return self.give_up(),
        }
        if !escaped && may_be_answer(&self.said) { ParsedKey::Nothing } else { self.give_up() }
    }

    fn give_up(&mut self) -> ParsedKey {
        self.said.clear();
        ParsedKey::Keys(std::mem::take(&mut self.held))
    }
}

fn is(key: KeyEvent, c: char, modifiers: KeyModifiers) -> bool {
    key.code == KeyCode::Char(c) && key.modifiers == modifiers
}

fn may_be_answer(said: &str) -> bool {
    const BEGINNING: &str = "11;";
    let said = said.strip_suffix('\u{1b}').unwrap_or(said);
    let begins = BEGINNING.starts_with(said) || said.starts_with(BEGINNING);
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, ';' | ':' | '/' | '#');
    begins && said.len() <= LONGEST_ANSWER && said.chars().all(fits)
}

/// `11;rgb:RR/GG/BB`, each with one to four digits, of which the first two count.
fn colour(said: &str) -> Option<Background> {
    let colour = said.strip_prefix("11;")?;
    let parts = colour.strip_prefix("rgb:").or_else(|| colour.strip_prefix("rgba:"))?;
    let mut channels = parts.split('/').map(|digits| {
        let most =
            16_u32.checked_pow(u32::try_from(digits.len()).ok()?)?.checked_sub(1).filter(|most| *most > 0)?;
        let value = u32::from_str_radix(digits, 16).ok()?;
        u8::try_from(value * 255 / most).ok()
    });
    Some(Background::of_colour(channels.next()??, channels.next()??, channels.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys as which crossterm reads bytes.
    fn keys(text: &str) -> Vec<KeyEvent> {
        let mut keys = Vec::new();
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            let (code, modifiers) = match c {
                '\u{1b}' => match rest.next_if(|c| *c != '\u{1b}') {
                    Some(c) => (KeyCode::Char(c), KeyModifiers::ALT),
                    None => (KeyCode::Esc, KeyModifiers::NONE),
                },
                '\u{7}' => (KeyCode::Char('g'), KeyModifiers::CONTROL),
                c => (KeyCode::Char(c), KeyModifiers::NONE),
            };
            keys.push(KeyEvent::new(code, modifiers));
        }
        keys
    }

    fn heard(keyed: &[KeyEvent]) -> (Vec<KeyEvent>, Vec<Option<Background>>) {
        let mut listening = BackgroundReplyParser::default();
        let (mut typed, mut answers) = (Vec::new(), Vec::new());
        for key in keyed {
            match listening.hear(*key) {
                ParsedKey::Nothing => {}
                ParsedKey::Keys(keys) => typed.extend(keys),
                ParsedKey::Answer(answer) => answers.push(answer),
            }
        }
        (typed, answers)
    }

    #[test]
    fn an_answer_is_no_key_and_no_key_is_lost() {
        let dark = Some(Background::Dark);
        let light = Some(Background::Light);
        for (text, typed, answers) in [
            ("\u{1b}]11;rgb:1e1e/1e1e/1e1e\u{7}", "", vec![dark]),
            ("jj\u{1b}]11;rgb:fdfd/f6f6/e3e3\u{1b}\\q", "jjq", vec![light]),
            ("\u{1b}]11;rgba:ff/ff/ff/ff\u{7}k", "k", vec![light]),
            ("\u{1b}]11;rgb:0/0/0\u{7}", "", vec![dark]),
            ("\u{1b}]11;nonsense\u{7}x", "x", vec![None]),
            // Not an answer, so somebody typed it.
            ("\u{1b}]12", "\u{1b}]12", vec![]),
            ("\u{1b}]jk", "\u{1b}]jk", vec![]),
            (
                "\u{1b}]11;rgb:1e1e/1e1e/1e1e1e1e1e1e1e1e1e1eq",
                "\u{1b}]11;rgb:1e1e/1e1e/1e1e1e1e1e1e1e1e1e1eq",
                vec![],
            ),
        ] {
            assert_eq!(heard(&keys(text)), (keys(typed), answers), "{text:?}");
        }
    }

    #[test]
    fn an_end_that_came_in_two_pieces_is_one() {
        let mut pieces = keys("\u{1b}]11;rgb:0/0/0");
        pieces.push(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE));
        pieces.extend(keys("\\q"));
        assert_eq!(heard(&pieces), (keys("q"), vec![Some(Background::Dark)]));
    }

    #[test]
    fn a_terminal_that_prints_what_it_does_not_know_is_not_asked() {
        for (term, asked) in [
            ("xterm-256color", true),
            ("tmux-256color", true),
            ("dumb", false),
            ("linux", false),
            ("screen.xterm", false),
            ("", false),
        ] {
            assert_eq!(can_be_asked(Some(term)), asked, "{term}");
        }
        assert!(!can_be_asked(None));
    }
}
