//! Wakes the screen at a time.
//!
//! The runtime's own timers ring when one of its threads gets round to them. While all of those put pull requests together,
//! that takes longer than a person notices, so that the screen has a thread of its own which does nothing but wait.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use tokio::sync::Notify;
use tokio::time::Instant;

#[derive(Debug)]
pub(super) struct Alarm {
    /// The thread ends when this does.
    times: Sender<Instant>,
    rung: Arc<Notify>,
    set_to: Option<Instant>,
}

impl Alarm {
    pub(super) fn new() -> io::Result<Alarm> {
        let (times, set) = channel();
        let rung = Arc::new(Notify::new());
        let bell = Arc::clone(&rung);
        thread::Builder::new().name("alarm".to_owned()).spawn(move || wait(&set, &bell))?;
        Ok(Alarm { times, rung, set_to: None })
    }

    /// Completes at this time, or at once where it is over. Only the last time that was asked for counts.
    pub(super) async fn until(&mut self, at: Instant) {
        while at > Instant::now() {
            if self.set_to != Some(at) {
                self.set_to = Some(at);
                // The thread lives as long as this does.
                let _alive = self.times.send(at);
            }
            self.rung.notified().await;
        }
    }
}

fn wait(set: &Receiver<Instant>, bell: &Notify) {
    let mut next: Option<Instant> = None;
    loop {
        let heard = match next {
            Some(at) => set.recv_timeout(at.saturating_duration_since(Instant::now())),
            None => set.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match heard {
            Ok(at) => next = Some(at),
            Err(RecvTimeoutError::Timeout) => {
                next = None;
                bell.notify_one();
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn it_rings_although_the_runtime_is_busy_and_at_the_last_time_that_was_asked_for() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        // Without a driver of its own this runtime has no timers at all.
        runtime.block_on(async {
            let mut alarm = Alarm::new().unwrap();
            let began = Instant::now();
            alarm.until(began).await;
            {
                let mut later = std::pin::pin!(alarm.until(began + Duration::from_hours(1)));
                tokio::select! {
                    biased;
                    () = &mut later => panic!("it rang an hour early"),
                    () = std::future::ready(()) => {}
                }
            }
            alarm.until(began + Duration::from_millis(5)).await;
            assert!(Instant::now() >= began + Duration::from_millis(5));
        });
    }
}
