//! Following the journal: what anybody appends, each record once and in order.

use super::error::JournalError;
use super::record::{Filter, Record};
use super::{Journal, PAGE};
use std::collections::VecDeque;
use tokio::sync::watch;
use tokio::time::sleep;

/// Reads on from a record. It asks for more only when what it has was taken, so a slow reader holds up nobody.
#[derive(Debug)]
pub struct Follower {
    journal: Journal,
    news: watch::Receiver<()>,
    /// The last record that was fetched.
    after: u64,
    fetched: VecDeque<Record>,
    /// After an error, the next question waits for its turn.
    rests: bool,
}

impl Follower {
    pub(super) fn new(journal: Journal, after: u64) -> Self {
        let news = journal.news.subscribe();
        Self { journal, news, after, fetched: VecDeque::new(), rests: false }
    }

    /// The next record, as soon as there is one. After an error it can be asked again and goes on where it was; only a
    /// closed journal is the end. Nothing is lost if it is dropped while it waits.
    pub async fn next(&mut self) -> Result<Record, JournalError> {
        loop {
            if let Some(record) = self.fetched.pop_front() {
                return Ok(record);
            }
            if self.rests {
                self.rest().await;
            }
            self.news.mark_unchanged();
            let page = self.journal.page(Filter::default(), Some(self.after), PAGE).await;
            self.rests = page.as_ref().map_or(true, Vec::is_empty);
            for record in page? {
                self.after = record.seq;
                self.fetched.push_back(record);
            }
        }
    }

    /// Until this instance appended something, or it is time to see whether another did.
    async fn rest(&mut self) {
        tokio::select! {
            changed = self.news.changed() => {
                // The owner is gone; asking will say so.
                if changed.is_err() {}
            }
            () = sleep(self.journal.follow_every) => {}
        }
    }
}
