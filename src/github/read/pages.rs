//! Lists that GitHub delivers page by page.

use super::super::call::Call;
use super::super::error::Error;
use super::super::wire;

/// A list that is being read.
#[derive(Debug)]
pub(super) struct Pages<T> {
    pub(super) items: Vec<T>,
    /// The cursor of the next page; none after the last.
    pub(super) next: Option<String>,
    trail: wire::CursorTrail,
}

impl<T> Default for Pages<T> {
    fn default() -> Self {
        Self { items: Vec::new(), next: None, trail: wire::CursorTrail::default() }
    }
}

impl<T> Pages<T> {
    pub(super) fn take(connection: &mut wire::WireConnection<T>) -> Self {
        let (next, mut trail) = (connection.next(), wire::CursorTrail::default());
        // The first cursor of a list repeats nothing.
        let next = trail.follow(next, "").unwrap_or_default();
        Self { items: connection.nodes.take().into_iter().flatten().flatten().collect(), next, trail }
    }

    /// Adds a page and moves to the next. A cursor that leads back is an error: it would loop for ever.
    pub(super) fn append(&mut self, page: Option<wire::WireConnection<T>>, call: &Call) -> Result<(), Error> {
        self.next = None;
        let Some(page) = page else { return Ok(()) };
        self.next = self.trail.follow(page.next(), call.purpose())?;
        self.items.extend(page.into_items());
        Ok(())
    }
}

/// The lists on a pull request itself.
pub(super) struct PullRequestLists {
    pub(super) labels: Pages<wire::WireLabel>,
    pub(super) reviews: Pages<wire::WireReview>,
    pub(super) comments: Pages<wire::WireComment>,
    pub(super) threads: Pages<wire::WireThread>,
    pub(super) timeline: Pages<wire::WireTimelineItem>,
}

impl PullRequestLists {
    pub(super) fn take(pull_request: &mut wire::WirePullRequest) -> Self {
        Self {
            labels: pull_request.labels.as_mut().map(Pages::take).unwrap_or_default(),
            reviews: pull_request.reviews.as_mut().map(Pages::take).unwrap_or_default(),
            comments: Pages::take(&mut pull_request.comments),
            threads: Pages::take(&mut pull_request.review_threads),
            timeline: Pages::take(&mut pull_request.timeline_items),
        }
    }

    pub(super) fn unfinished(&self) -> bool {
        self.labels.next.is_some()
            || self.reviews.next.is_some()
            || self.comments.next.is_some()
            || self.threads.next.is_some()
            || self.timeline.next.is_some()
    }
}
