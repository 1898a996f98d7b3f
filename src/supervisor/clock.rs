//! The supervisor's clock. It is passed in, so that tests and the demo have clocks of their own.

use jiff::Timestamp;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

pub trait Clock: fmt::Debug + Send + Sync {
    fn now(&self) -> Timestamp;

    /// Returns at that time, or soon after.
    fn sleep_until(&self, at: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;

    /// Whether time passes only while the supervisor sleeps. Then it finishes all work first, so that results
    /// do not depend on the machine's speed.
    fn waits_for_work(&self) -> bool {
        false
    }
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one caller")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn sleep_until(&self, at: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        let left = Duration::try_from(at.duration_since(self.now())).unwrap_or(Duration::ZERO);
        Box::pin(tokio::time::sleep(left))
    }
}

/// Counts the work under way.
#[derive(Debug, Clone)]
pub(super) struct WorkCounter(Arc<watch::Sender<usize>>);

impl WorkCounter {
    pub(super) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }

    /// Busy until this is dropped.
    pub(super) fn begin(&self) -> WorkGuard {
        self.0.send_modify(|count| *count += 1);
        WorkGuard(self.clone())
    }

    pub(super) async fn until_idle(&self) {
        // The sender lives in `self`, so the wait ends only when the count does.
        let mut count = self.0.subscribe();
        let _always = count.wait_for(|count| *count == 0).await.is_ok();
    }
}

#[derive(Debug)]
pub(super) struct WorkGuard(WorkCounter);

impl Drop for WorkGuard {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}
