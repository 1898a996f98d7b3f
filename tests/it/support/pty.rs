//! The real program in a pseudo-terminal, with a terminal emulator that reads its screen.

use super::coverage;
use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::num::NonZero;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;
use tokio::time::Instant;

/// A timeout for one step, long enough for a slow machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// The interval between checks of a condition outside the terminal.
const LOOK: Duration = Duration::from_millis(20);

/// Runs the arguments with a file size limit of zero, as on a full disk.
pub(crate) const WITHOUT_ROOM: &str = "trap '' XFSZ; ulimit -f 0; exec \"$@\"";

pub(crate) struct Played {
    pub(crate) screen: vt100::Parser,
    /// Everything that the program wrote to the terminal.
    pub(crate) raw: Vec<u8>,
    pub(crate) child: Box<dyn Child + Send + Sync>,
    /// The beginning of a frame without its end. A terminal does not show it either.
    unshown: Vec<u8>,
    bytes: Receiver<Vec<u8>>,
    keys: Box<dyn Write + Send>,
    terminal: Box<dyn MasterPty + Send>,
}

impl Played {
    /// Starts the program with only a home and the given variables in its environment.
    pub(crate) fn start(
        home: &Path,
        size: (u16, u16),
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Played {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_cloture"));
        command.args(arguments);
        Self::start_as(command, home, size, environment)
    }

    /// The same, as a job of a shell with job control. The shell says when it has the terminal back, and brings
    /// the job back after a line of input.
    pub(crate) fn start_as_job(
        home: &Path,
        size: (u16, u16),
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Played {
        let mut command = CommandBuilder::new("/bin/sh");
        let job = "\"$@\"; echo the shell is back; read line; fg > /dev/null; echo the job ended with $?";
        command.args(["-m", "-c", job, "sh", env!("CARGO_BIN_EXE_cloture")]);
        command.args(arguments);
        Self::start_as(command, home, size, environment)
    }

    /// The same, with a full disk.
    pub(crate) fn start_without_room(
        home: &Path,
        size: (u16, u16),
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Played {
        let mut command = CommandBuilder::new("/bin/sh");
        command.args(["-c", WITHOUT_ROOM, "sh", env!("CARGO_BIN_EXE_cloture")]);
        command.args(arguments);
        Self::start_as(command, home, size, environment)
    }

    fn start_as(
        mut command: CommandBuilder,
        home: &Path,
        (columns, rows): (u16, u16),
        environment: &[(&str, &str)],
    ) -> Played {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        command.env_clear();
        if let Some((name, value)) = coverage::variable() {
            command.env(name, value);
        }
        command.cwd(home);
        command.env("HOME", home);
        command.env("TMPDIR", home);
        command.env("TERM", "xterm-256color");
        for (name, value) in environment {
            command.env(name, value);
        }
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
        let screen = vt100::Parser::new(NonZero::new(rows).unwrap(), NonZero::new(columns).unwrap(), 0);
        Played { screen, raw: Vec::new(), child, unshown: Vec::new(), bytes, keys, terminal: pair.master }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    pub(crate) fn contents(&self) -> String {
        self.screen.screen().contents()
    }

    /// Reads until the screen fulfils the condition.
    pub(crate) fn until(&mut self, what: &str, is_so: impl Fn(&vt100::Screen) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_so(self.screen.screen()) {
            // Frame by frame, also if several came at once.
            if self.show_next() {
                continue;
            }
            assert!(Instant::now() < deadline, "{what} never came:\n{}", self.contents());
            self.receive(PATIENCE);
        }
    }

    pub(crate) fn until_shown(&mut self, text: &str) {
        self.until(text, |screen| screen.contents().contains(text));
    }

    pub(crate) fn until_gone(&mut self, text: &str) {
        self.until(text, |screen| !screen.contents().contains(text));
    }

    /// Reads until the program sent this sequence, which no screen shows.
    pub(crate) fn until_sent(&mut self, text: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !String::from_utf8_lossy(&self.raw).contains(text) {
            assert!(Instant::now() < deadline, "{text:?} was never sent:\n{}", self.contents());
            self.receive(LOOK);
        }
    }

    /// Reads on until a condition outside the terminal holds.
    pub(crate) fn until_so(&mut self, what: &str, is_so: impl Fn() -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_so() {
            assert!(Instant::now() < deadline, "{what} never came:\n{}", self.contents());
            self.receive(LOOK);
            while self.show_next() {}
        }
    }

    /// Reads the output that comes within this time.
    fn receive(&mut self, within: Duration) {
        match self.bytes.recv_timeout(within) {
            Ok(bytes) => {
                self.raw.extend_from_slice(&bytes);
                self.unshown.extend_from_slice(&bytes);
            }
            Err(RecvTimeoutError::Timeout) => {}
            // The program has ended, so nothing more will come.
            Err(RecvTimeoutError::Disconnected) => std::thread::yield_now(),
        }
    }

    /// Shows one frame, or the output before it. False if no whole frame is left.
    fn show_next(&mut self) -> bool {
        let whole = next_frame(&self.unshown);
        self.screen.process(&self.unshown[..whole]);
        self.unshown.drain(..whole);
        whole > 0
    }

    /// The row of the cursor.
    pub(crate) fn selected(&self) -> String {
        let screen = self.screen.screen();
        let rows = screen.rows(0, screen.size().1.get());
        rows.into_iter().filter(|row| row.trim_start().starts_with('›')).last().unwrap_or_default()
    }

    /// Whether the terminal passes every key on at once and unshown, as the program needs it.
    pub(crate) fn is_raw(&self) -> bool {
        let name = self.terminal.tty_name().unwrap();
        let mut stty = std::process::Command::new("stty");
        let output = stty.arg("-a").stdin(std::fs::File::open(name).unwrap()).output().unwrap();
        let modes = String::from_utf8(output.stdout).unwrap();
        assert!(modes.contains("icanon"), "{modes}");
        modes.contains("-icanon") && modes.contains("-echo ")
    }

    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        self.terminal.resize(PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }).unwrap();
        self.screen.screen_mut().set_size(NonZero::new(rows).unwrap(), NonZero::new(columns).unwrap());
    }

    /// Closes the terminal under the program.
    pub(crate) fn close(self) -> Box<dyn Child + Send + Sync> {
        let Played { child, .. } = self;
        child
    }

    /// Waits for the program's end, and checks that the terminal is restored.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        self.until("the end", |screen| !screen.alternate_screen());
        let status = self.child.wait().unwrap();
        // The last output may still be in the pipe.
        while let Ok(bytes) = self.bytes.recv_timeout(PATIENCE) {
            self.raw.extend_from_slice(&bytes);
            self.unshown.extend_from_slice(&bytes);
        }
        while self.show_next() {}
        let screen = self.screen.screen();
        assert!(!screen.hide_cursor(), "the cursor is visible again");
        assert!(!screen.bracketed_paste());
        assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
        status
    }
}

/// The length of the first whole frame, or of the output before it.
fn next_frame(bytes: &[u8]) -> usize {
    const BEGIN: &[u8] = b"\x1b[?2026h";
    const END: &[u8] = b"\x1b[?2026l";
    let first = |sequence: &[u8]| bytes.windows(sequence.len()).position(|window| window == sequence);
    match (first(BEGIN), first(END)) {
        (Some(0), Some(end)) => end + END.len(),
        (Some(begin), _) => begin,
        // The end may be the beginning of a sequence, so it waits for the rest.
        (None, _) => {
            let opening = (1..BEGIN.len()).rev().find(|length| bytes.ends_with(&BEGIN[..*length]));
            bytes.len() - opening.unwrap_or(0)
        }
    }
}
