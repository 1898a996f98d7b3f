//! Follows the journal: every record of every instance, once and in order.

use super::error::JournalError;
use super::record::{Record, RecordFilter};
use super::store::records::ReadPage;
use super::{Journal, PAGE, PendingAnswer};
use std::collections::VecDeque;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Reads the records after a given one. It fetches a page only when the last one is used up, so a slow reader
/// blocks nobody.
#[derive(Debug)]
pub struct Follower {
    journal: Journal,
    news: watch::Receiver<()>,
    /// The last record that was fetched.
    after: u64,
    fetched: VecDeque<Record>,
    /// The pending request. It survives when `next` is dropped, as does the time of the next look, so a
    /// reader that is interrupted again and again still makes progress.
    asked: Option<PendingAnswer<ReadPage>>,
    /// The time of the next look, unless there is news before.
    next_look: Option<Instant>,
}

impl Follower {
    pub(super) fn new(journal: Journal, after: u64) -> Self {
        let news = journal.news.subscribe();
        Self { journal, news, after, fetched: VecDeque::new(), asked: None, next_look: None }
    }

    /// Waits for the next record. After an error the caller can ask again and continues at the same place;
    /// only a closed journal ends the follower. Dropping this future loses nothing.
    pub async fn next(&mut self) -> Result<Record, JournalError> {
        loop {
            if let Some(record) = self.fetched.pop_front() {
                return Ok(record);
            }
            let page = self.fetch().await;
            if page.as_ref().map_or(true, Vec::is_empty) {
                self.next_look = Some(Instant::now() + self.journal.follow_every);
            }
            for record in page? {
                self.after = record.seq;
                self.fetched.push_back(record);
            }
        }
    }

    async fn fetch(&mut self) -> Result<Vec<Record>, JournalError> {
        if self.asked.is_none() {
            if let Some(time) = self.next_look {
                tokio::select! {
                    // It cannot fail, because this follower holds a sender.
                    _ = self.news.changed() => {}
                    () = sleep_until(time) => {}
                }
                self.next_look = None;
            }
            self.news.mark_unchanged();
            let page = ReadPage { filter: RecordFilter::default(), beyond: Some(self.after), limit: PAGE };
            self.asked = Some(self.journal.submit(page).await?);
        }
        let answer = match &mut self.asked {
            Some(asked) => asked.await,
            None => return Ok(Vec::new()),
        };
        self.asked = None;
        answer.unwrap_or(Err(JournalError::Closed))
    }
}
