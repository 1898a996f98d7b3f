//! Reading what a program prints, never more than was agreed.

use std::collections::VecDeque;
use tokio::io::{AsyncRead, AsyncReadExt};

/// More was printed than may be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooMuch;

const PIECE: usize = 16 * 1024;

/// Reads to the end, or until one byte more than allowed has come.
pub(super) async fn keep_all(
    stream: Option<impl AsyncRead + Unpin>,
    kept: &mut Vec<u8>,
    most: usize,
) -> Result<(), TooMuch> {
    let Some(mut stream) = stream else { return Ok(()) };
    let mut piece = vec![0; PIECE];
    loop {
        // A pipe that breaks has ended; how the program ended says whether that matters.
        let read = stream.read(&mut piece).await.unwrap_or(0);
        if read == 0 {
            return Ok(());
        }
        let room = most - kept.len();
        kept.extend_from_slice(&piece[..read.min(room)]);
        if read > room {
            return Err(TooMuch);
        }
    }
}

/// Reads to the end and keeps the end.
pub(super) async fn keep_tail(
    stream: Option<impl AsyncRead + Unpin>,
    tail: &mut Tail,
) -> Result<(), TooMuch> {
    let Some(mut stream) = stream else { return Ok(()) };
    let mut piece = vec![0; PIECE];
    loop {
        let read = stream.read(&mut piece).await.unwrap_or(0);
        if read == 0 {
            return Ok(());
        }
        tail.push(&piece[..read]);
    }
}

/// The last bytes of a stream.
#[derive(Debug)]
pub(super) struct Tail {
    kept: VecDeque<u8>,
    most: usize,
    cut: bool,
}

impl Tail {
    pub(super) fn of(most: usize) -> Tail {
        Tail { kept: VecDeque::new(), most, cut: false }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.kept.extend(bytes);
        let over = self.kept.len().saturating_sub(self.most);
        self.cut |= over > 0;
        self.kept.drain(..over);
    }

    /// As text, beginning with a whole line where something before it was dropped.
    pub(super) fn text(mut self) -> String {
        let text = String::from_utf8_lossy(self.kept.make_contiguous()).into_owned();
        match text.split_once('\n') {
            Some((_, whole)) if self.cut && !whole.trim().is_empty() => format!("…\n{whole}"),
            _ => text,
        }
    }
}
