//! Reads a program's output up to a limit.

use std::collections::VecDeque;
use tokio::io::{AsyncRead, AsyncReadExt};

/// The program printed more than its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooMuch;

const BUFFER: usize = 16 * 1024;

/// Keeps everything, and fails at the first byte beyond `limit`.
pub(super) async fn keep_all(
    stream: Option<impl AsyncRead + Unpin>,
    kept: &mut Vec<u8>,
    limit: usize,
) -> Result<(), TooMuch> {
    read_all(stream, |piece| {
        let room = limit - kept.len();
        kept.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room { Err(TooMuch) } else { Ok(()) }
    })
    .await
}

/// Reads everything, and keeps the end.
pub(super) async fn keep_tail(
    stream: Option<impl AsyncRead + Unpin>,
    tail: &mut Tail,
) -> Result<(), TooMuch> {
    read_all(stream, |piece| {
        tail.push(piece);
        Ok(())
    })
    .await
}

async fn read_all(
    stream: Option<impl AsyncRead + Unpin>,
    mut take: impl FnMut(&[u8]) -> Result<(), TooMuch>,
) -> Result<(), TooMuch> {
    let Some(mut stream) = stream else { return Ok(()) };
    let mut buffer = vec![0; BUFFER];
    loop {
        // A broken pipe counts as the end; the program's status says whether that matters.
        let read = stream.read(&mut buffer).await.unwrap_or(0);
        if read == 0 {
            return Ok(());
        }
        take(&buffer[..read])?;
    }
}

/// The last bytes of a stream.
#[derive(Debug)]
pub(super) struct Tail {
    kept: VecDeque<u8>,
    limit: usize,
    cut: bool,
}

impl Tail {
    pub(super) fn of(limit: usize) -> Tail {
        Tail { kept: VecDeque::new(), limit, cut: false }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.kept.extend(bytes);
        let over = self.kept.len().saturating_sub(self.limit);
        self.cut |= over > 0;
        self.kept.drain(..over);
    }

    /// The text. If its beginning was dropped, it starts with a whole line.
    pub(super) fn text(mut self) -> String {
        let text = String::from_utf8_lossy(self.kept.make_contiguous()).into_owned();
        match text.split_once('\n') {
            Some((_, whole)) if self.cut && !whole.trim().is_empty() => format!("…\n{whole}"),
            _ => text,
        }
    }
}
