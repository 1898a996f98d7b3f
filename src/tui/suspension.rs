//! Stopping and continuing the process from outside: `kill -TSTP`, and the shell's `fg`. In raw mode ctrl-z is a
//! key like any other.

#[cfg(unix)]
pub(super) use unix::Suspension;

#[cfg(not(unix))]
pub(super) use elsewhere::Suspension;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SuspensionEvent {
    /// The process is asked to stop. It gives the terminal back first.
    Stop,
    /// The process continues after a stop that it could not see (SIGSTOP). The shell has used the terminal.
    Continued,
}

#[cfg(unix)]
mod unix {
    use super::SuspensionEvent;
    use rustix::process::{self, Signal as SystemSignal};
    use std::time::Duration;
    use tokio::signal::unix::{Signal, SignalKind, signal};
    use tokio::time::timeout;

    /// The two signals. None: the system's own behaviour stays.
    #[derive(Debug)]
    pub(crate) struct Suspension {
        stop: Option<Signal>,
        continued: Option<Signal>,
    }

    /// How long the signal of a continuation may take to arrive after it.
    const ARRIVAL: Duration = Duration::from_millis(500);

    impl Suspension {
        pub(crate) fn new() -> Suspension {
            let listen = |kind: SystemSignal| signal(SignalKind::from_raw(kind.as_raw())).ok();
            Suspension { stop: listen(SystemSignal::TSTP), continued: listen(SystemSignal::CONT) }
        }

        pub(crate) async fn next(&mut self) -> SuspensionEvent {
            tokio::select! {
                () = received(&mut self.stop) => SuspensionEvent::Stop,
                () = received(&mut self.continued) => SuspensionEvent::Continued,
            }
        }

        /// Stops this process until somebody continues it. The terminal must be given back before.
        pub(crate) async fn stop_process(&mut self) {
            // SIGTSTP is caught, so only SIGSTOP stops.
            if process::kill_process(process::getpid(), SystemSignal::STOP).is_ok() {
                // This continuation is expected, so it is no event of its own.
                let _unheard = timeout(ARRIVAL, received(&mut self.continued)).await;
            }
        }
    }

    async fn received(signal: &mut Option<Signal>) {
        match signal {
            Some(signal) => drop(signal.recv().await),
            None => std::future::pending().await,
        }
    }
}

#[cfg(not(unix))]
mod elsewhere {
    use super::SuspensionEvent;

    #[derive(Debug)]
    pub(crate) struct Suspension;

    impl Suspension {
        pub(crate) fn new() -> Suspension {
            Suspension
        }

        pub(crate) async fn next(&mut self) -> SuspensionEvent {
            std::future::pending().await
        }

        pub(crate) async fn stop_process(&mut self) {}
    }
}
