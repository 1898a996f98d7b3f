//! Reads keys, the mouse, and the terminal's reply to the question about its background colour.
//!
//! The reply arrives among the keys, at any time or never. Nothing waits for it, because that would delay the
//! person, and no part of it counts as a key, however late it is.

use super::theme::Background;
use crossterm::event::{Event, EventStream, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use futures_util::StreamExt;
use std::io::{self, Write};
use std::thread;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// Capacity of the event queue; the reader waits when it is full.
const QUEUE: usize = 64;

/// Reads events on its own thread, because reading from a terminal that is gone never ends.
#[derive(Debug)]
pub(super) struct Keyboard {
    events: mpsc::Receiver<io::Result<Event>>,
    ended: oneshot::Receiver<()>,
}

/// A reader that takes longer than this to end never will.
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
            // Fails if nobody waits for the end.
            let _unheard = end.send(());
        };
        thread::Builder::new().name("keyboard".to_owned()).spawn(move || runtime.block_on(reading))?;
        Ok(Keyboard { events, ended })
    }

    pub(super) async fn next(&mut self) -> Option<io::Result<Event>> {
        self.events.recv().await
    }

    /// Stops reading, so that another program can.
    pub(super) async fn stop(self) {
        let Keyboard { events, ended } = self;
        drop(events);
        let _late = timeout(STOPPING, ended).await;
    }
}

/// Asks for the background colour (OSC 11). A terminal that does not know the question sends no reply.
pub(super) fn ask_for_background(output: &mut impl Write) -> io::Result<()> {
    output.write_all(b"\x1b]11;?\x07")?;
    output.flush()
}

/// Whether to ask a terminal of this name; some print the question.
pub(super) fn can_be_asked(term: Option<&str>) -> bool {
    term.is_some_and(|term| {
        !term.is_empty() && term != "dumb" && term != "linux" && !term.starts_with("screen")
    })
}

/// Separates the terminal's reply from the keys. `ESC ] 1 1 ; r g b : … BEL` arrives as alt-`]`, then
/// characters, then ctrl-`g`. Some terminals end it with alt-`\`, or with escape and `\`.
#[derive(Debug, Default)]
pub(super) struct BackgroundReplyParser {
    /// Keys that may be the start of a reply.
    held: Vec<KeyEvent>,
    reply: String,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum ParsedKey {
    /// The key may belong to a reply.
    Nothing,
    /// The person typed these.
    Keys(Vec<KeyEvent>),
    /// None if the reply is not a colour.
    Answer(Option<Background>),
}

/// `11;rgba:` and four times four digits with separators.
const LONGEST_REPLY: usize = 32;

impl BackgroundReplyParser {
    pub(super) fn parse(&mut self, key: KeyEvent) -> ParsedKey {
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
        let escaped = self.reply.ends_with('\u{1b}');
        let ends = is(key, 'g', KeyModifiers::CONTROL)
            || is(key, '\\', KeyModifiers::ALT)
            || (escaped && key.code == KeyCode::Char('\\'));
        if ends {
            self.held.clear();
            let reply = std::mem::take(&mut self.reply);
            return ParsedKey::Answer(colour(reply.trim_end_matches('\u{1b}')));
        }
        match key.code {
            KeyCode::Char(c) if key.modifiers.difference(KeyModifiers::SHIFT).is_empty() => {
                self.reply.push(c);
            }
            KeyCode::Esc => self.reply.push('\u{1b}'),
            _ => return self.give_up(),
        }
        if !escaped && may_be_reply(&self.reply) { ParsedKey::Nothing } else { self.give_up() }
    }

    fn give_up(&mut self) -> ParsedKey {
        self.reply.clear();
        ParsedKey::Keys(std::mem::take(&mut self.held))
    }
}

fn is(key: KeyEvent, c: char, modifiers: KeyModifiers) -> bool {
    key.code == KeyCode::Char(c) && key.modifiers == modifiers
}

fn may_be_reply(reply: &str) -> bool {
    const BEGINNING: &str = "11;";
    let reply = reply.strip_suffix('\u{1b}').unwrap_or(reply);
    let begins = BEGINNING.starts_with(reply) || reply.starts_with(BEGINNING);
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, ';' | ':' | '/' | '#');
    begins && reply.len() <= LONGEST_REPLY && reply.chars().all(fits)
}

/// Reads `11;rgb:RR/GG/BB`, each channel with one to four hexadecimal digits.
fn colour(reply: &str) -> Option<Background> {
    let colour = reply.strip_prefix("11;")?;
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

    /// The keys that crossterm makes of these bytes.
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

    fn parsed(keyed: &[KeyEvent]) -> (Vec<KeyEvent>, Vec<Option<Background>>) {
        let mut parser = BackgroundReplyParser::default();
        let (mut typed, mut answers) = (Vec::new(), Vec::new());
        for key in keyed {
            match parser.parse(*key) {
                ParsedKey::Nothing => {}
                ParsedKey::Keys(keys) => typed.extend(keys),
                ParsedKey::Answer(answer) => answers.push(answer),
            }
        }
        (typed, answers)
    }

    #[test]
    fn a_reply_is_no_key_and_no_key_is_lost() {
        let dark = Some(Background::Dark);
        let light = Some(Background::Light);
        for (text, typed, answers) in [
            ("\u{1b}]11;rgb:1e1e/1e1e/1e1e\u{7}", "", vec![dark]),
            ("jj\u{1b}]11;rgb:fdfd/f6f6/e3e3\u{1b}\\q", "jjq", vec![light]),
            ("\u{1b}]11;rgba:ff/ff/ff/ff\u{7}k", "k", vec![light]),
            ("\u{1b}]11;rgb:0/0/0\u{7}", "", vec![dark]),
            ("\u{1b}]11;nonsense\u{7}x", "x", vec![None]),
            // Not a reply, so the person typed it.
            ("\u{1b}]12", "\u{1b}]12", vec![]),
            ("\u{1b}]jk", "\u{1b}]jk", vec![]),
            (
                "\u{1b}]11;rgb:1e1e/1e1e/1e1e1e1e1e1e1e1e1e1eq",
                "\u{1b}]11;rgb:1e1e/1e1e/1e1e1e1e1e1e1e1e1e1eq",
                vec![],
            ),
        ] {
            assert_eq!(parsed(&keys(text)), (keys(typed), answers), "{text:?}");
        }
    }

    #[test]
    fn a_reply_may_end_in_two_pieces() {
        let mut pieces = keys("\u{1b}]11;rgb:0/0/0");
        pieces.push(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE));
        pieces.extend(keys("\\q"));
        assert_eq!(parsed(&pieces), (keys("q"), vec![Some(Background::Dark)]));
    }

    #[test]
    fn a_terminal_that_would_print_the_question_is_not_asked() {
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
