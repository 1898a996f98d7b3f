//! How commands run asynchronous work to its end, and how they learn that somebody wants the process to stop.

use std::future::Future;
use std::io;
use std::time::Duration;

/// Runs work with a thread per core.
pub fn block_on<T>(work: impl Future<Output = T>) -> io::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    Ok(runtime.block_on(work))
}

/// Runs the terminal. When it ends, the process waits for no task that hangs.
pub fn block_on_screen<T>(work: impl Future<Output = T>) -> io::Result<T> {
    // Computing one pull request's state takes milliseconds. The short interval lets timers and input run in
    // between.
    let runtime = tokio::runtime::Builder::new_multi_thread().event_interval(2).enable_all().build()?;
    let done = runtime.block_on(work);
    runtime.shutdown_background();
    Ok(done)
}

/// Runs the demo with one worker thread, because every further thread costs memory and the demo needs none.
/// At the end its tasks get a moment to stop the programs that they started.
pub fn block_on_one_worker<T>(work: impl Future<Output = T>) -> io::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let done = runtime.block_on(work);
    runtime.shutdown_timeout(Duration::from_millis(300));
    Ok(done)
}

/// Completes when the process is asked to stop: by Ctrl-C, by a signal, or because its terminal was closed.
pub async fn interrupted() {
    #[cfg(unix)]
    let terminated = async {
        use tokio::signal::unix::{SignalKind, signal};
        let received = async |kind| match signal(kind) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        };
        tokio::select! {
            () = received(SignalKind::terminate()) => {}
            // The terminal was closed.
            () = received(SignalKind::hangup()) => {}
        }
    };
    #[cfg(not(unix))]
    let terminated = std::future::pending::<()>();
    let ctrl_c = async {
        // If no handler can be installed, Ctrl-C itself ends the process.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        () = terminated => {}
        () = ctrl_c => {}
    }
}
