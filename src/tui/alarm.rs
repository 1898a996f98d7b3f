//! Wakes the screen at a given time.
//!
//! Tokio's timers are late while all of its threads compute, and a late frame is visible. So the screen has
//! its own thread that only waits.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use tokio::sync::Notify;
use tokio::time::Instant;

#[derive(Debug)]
pub(super) struct Alarm {
    /// The thread ends when this is dropped.
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

    /// Completes at this time, or at once if it is past. Only the latest call counts.
    pub(super) async fn until(&mut self, at: Instant) {
        while at > Instant::now() {
            if self.set_to != Some(at) {
                self.set_to = Some(at);
                // Cannot fail: the thread lives as long as `self.times`.
                let _alive = self.times.send(at);
            }
            self.rung.notified().await;
        }
    }
}

fn wait(set: &Receiver<Instant>, bell: &Notify) {
    let mut next: Option<Instant> = None;
    loop {
        let received = match next {
            Some(at) => set.recv_timeout(at.saturating_duration_since(Instant::now())),
            None => set.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match received {
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
    fn it_rings_without_runtime_timers_and_at_the_latest_time() {
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
