//! Following the journal: what anybody appends, each record once and in order.

use super::error::JournalError;
use super::record::{Record, RecordFilter};
use super::store::records::ReadPage;
use super::{Journal, PAGE, PendingAnswer};
use std::collections::VecDeque;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Reads on from a record. It asks for more only when what it has was taken, so a slow reader holds up nobody.
#[derive(Debug)]
pub struct Follower {
    journal: Journal,
    news: watch::Receiver<()>,
    /// The last record that was fetched.
    after: u64,
    fetched: VecDeque<Record>,
    /// What was asked and is not answered yet. It is kept over an interruption, as is the time of the next look: a
    /// reader that is interrupted all the time gets on all the same.
    asked: Option<PendingAnswer<ReadPage>>,
    /// Unless there is news before.
    next_look: Option<Instant>,
}

impl Follower {
    pub(super) fn new(journal: Journal, after: u64) -> Self {
        let news = journal.news.subscribe();
        Self { journal, news, after, fetched: VecDeque::new(), asked: None, next_look: None }
    }

    /// The next record, as soon as there is one. After an error it can be asked again and goes on where it was; only a
    /// closed journal is the end. Nothing is lost if it is dropped while it waits.
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
                    // It does not fail, as the journal of this follower can always send.
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
