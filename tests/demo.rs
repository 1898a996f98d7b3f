//! The real program in a terminal: the demo starts, is used, and leaves everything as it was.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::num::NonZero;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Longer than any machine needs for one step.
const PATIENCE: Duration = Duration::from_mins(1);

struct Played {
    screen: vt100::Parser,
    bytes: Receiver<Vec<u8>>,
    keys: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    _terminal: Box<dyn MasterPty + Send>,
    folder: tempfile::TempDir,
}

impl Played {
    fn start() -> Played {
        let size = PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_cloture"));
        command.arg("demo");
        command.env_clear();
        command.env("HOME", folder.path());
        command.env("TMPDIR", folder.path());
        command.env("TERM", "xterm-256color");
        let child = pair.slave.spawn_command(command).unwrap();
        let mut reader = pair.master.try_clone_reader().unwrap();
        let keys = pair.master.take_writer().unwrap();
        let (sender, bytes) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length) = reader.read(&mut buffer) {
                if length == 0 || sender.send(buffer[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        let screen = vt100::Parser::new(NonZero::new(40).unwrap(), NonZero::new(120).unwrap(), 0);
        Played { screen, bytes, keys, child, _terminal: pair.master, folder }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Reads until the screen is as it should be.
    fn until(&mut self, what: &str, is_so: impl Fn(&vt100::Screen) -> bool) {
        while !is_so(self.screen.screen()) {
            let bytes = self.bytes.recv_timeout(PATIENCE);
            assert!(bytes.is_ok(), "{what} never came:\n{}", self.screen.screen().contents());
            let bytes = bytes.unwrap();
            self.screen.process(&bytes);
        }
    }

    fn until_shown(&mut self, text: &str) {
        self.until(text, |screen| screen.contents().contains(text));
    }
}

#[test]
fn the_demo_plays_and_leaves_the_terminal_and_the_disk_as_they_were() {
    let mut played = Played::start();
    played.until_shown("acme/shop#12");
    assert!(played.screen.screen().alternate_screen());
    played.until_shown("Retry the payment three times");
    played.press("2");
    played.until_shown("severity pull request");
    played.press("3");
    played.until_shown("goes");
    played.press("4");
    played.until_shown("about");
    played.press("?");
    played.until_shown("Keys of this screen");
    played.press("x1");
    played.until_shown("attempt");
    played.press("q");
    played.until("the end", |screen| !screen.alternate_screen());
    assert!(!played.screen.screen().hide_cursor());
    assert_eq!(played.screen.screen().mouse_protocol_mode(), vt100::MouseProtocolMode::None);
    assert!(played.child.wait().unwrap().success());
    let left: Vec<_> = std::fs::read_dir(played.folder.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn without_a_terminal_it_says_what_to_do_instead() {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_cloture"));
    let output = command.stdin(std::process::Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("needs a terminal") && said.contains("cloture status"), "{said}");
}
