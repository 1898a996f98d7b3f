//! Runs a program in a pseudo-terminal and records when it painted what.

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::num::NonZero;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

const ROWS: u16 = 50;
const COLUMNS: u16 = 160;

/// Longer than anything takes in a working program.
const PATIENCE: Duration = Duration::from_mins(3);

pub(crate) struct Pty {
    started: Instant,
    screen: vt100::Parser,
    chunks: Receiver<(Instant, Vec<u8>)>,
    received: usize,
    keys: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    _terminal: Box<dyn MasterPty + Send>,
}

impl Pty {
    pub(crate) fn start(program: &str, arguments: &[&str], home: &Path, environment: &[(&str, &str)]) -> Pty {
        let size = PtySize { rows: ROWS, cols: COLUMNS, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(program);
        command.args(arguments);
        command.env_clear();
        command.env("HOME", home);
        command.env("TMPDIR", home);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("TERM", "xterm-256color");
        for (name, value) in environment {
            command.env(name, value);
        }
        command.cwd(home);
        let mut reader = pair.master.try_clone_reader().unwrap();
        let keys = pair.master.take_writer().unwrap();
        let (sender, chunks) = channel();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(length) = reader.read(&mut buffer) {
                let at = Instant::now();
                if length == 0 || sender.send((at, buffer[..length].to_vec())).is_err() {
                    return;
                }
            }
        });
        let screen = vt100::Parser::new(NonZero::new(ROWS).unwrap(), NonZero::new(COLUMNS).unwrap(), 0);
        let started = Instant::now();
        let child = pair.slave.spawn_command(command).unwrap();
        Pty { started, screen, chunks, received: 0, keys, child, _terminal: pair.master }
    }

    /// Reads until the screen satisfies the condition, and returns the milliseconds since the start.
    pub(crate) fn until(&mut self, what: &str, is_so: impl Fn(&vt100::Screen) -> bool) -> f64 {
        let mut at = Instant::now();
        while !is_so(self.screen.screen()) {
            let came = self.chunks.recv_timeout(PATIENCE);
            assert!(came.is_ok(), "{what} never came:\n{}", self.screen.screen().contents());
            let (when, bytes) = came.unwrap();
            at = when;
            self.take(&bytes);
        }
        milliseconds(at - self.started)
    }

    /// Presses a key that moves the cursor of a list, and returns the milliseconds until the move is painted.
    pub(crate) fn painted(&mut self, key: &str) -> f64 {
        let before = self.cursor();
        let pressed = Instant::now();
        self.keys.write_all(key.as_bytes()).unwrap();
        self.keys.flush().unwrap();
        loop {
            let (at, bytes) = self.chunks.recv_timeout(PATIENCE).unwrap();
            self.take(&bytes);
            if self.cursor() != before {
                return milliseconds(at - pressed);
            }
        }
    }

    /// The number and text of the row with the cursor; the text matters, because a list scrolls under its
    /// cursor.
    fn cursor(&self) -> Option<(usize, String)> {
        let rows = self.screen.screen().rows(0, 24);
        rows.enumerate().find(|(_, row)| row.starts_with('›'))
    }

    pub(crate) fn read_for(&mut self, time: Duration) {
        let until = Instant::now() + time;
        loop {
            match self.chunks.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok((_, bytes)) => self.take(&bytes),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.received += bytes.len();
        self.screen.process(bytes);
    }

    pub(crate) fn received(&self) -> usize {
        self.received
    }

    /// Resident memory in megabytes.
    pub(crate) fn resident(&self) -> f64 {
        self.megabytes("VmRSS:")
    }

    pub(crate) fn most_resident(&self) -> f64 {
        self.megabytes("VmHWM:")
    }

    fn megabytes(&self, of: &str) -> f64 {
        let status = self.proc("status");
        let line = status.lines().find_map(|line| line.strip_prefix(of)).unwrap();
        let kilobytes: f64 = line.trim().trim_end_matches(" kB").trim().parse().unwrap();
        kilobytes * 1024.0 / 1e6
    }

    /// Seconds of processor time so far, over all threads.
    pub(crate) fn processor_time(&self) -> f64 {
        let stat = self.proc("stat");
        let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
        let ticks: f64 = fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap();
        ticks / 100.0
    }

    fn proc(&self, file: &str) -> String {
        let id = self.child.process_id().unwrap();
        std::fs::read_to_string(format!("/proc/{id}/{file}")).unwrap()
    }

    /// Quits with `q`, as a person does.
    pub(crate) fn quit(mut self) {
        self.keys.write_all(b"q").unwrap();
        self.keys.flush().unwrap();
        self.until("the end", |screen| !screen.alternate_screen());
        self.child.wait().unwrap();
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
