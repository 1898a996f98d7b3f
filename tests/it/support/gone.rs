//! Whether a process has ended.

use rustix::process::{Pid, test_kill_process};
use std::time::Duration;

/// Waits until a process has ended. The system needs a moment to carry out a signal.
pub(crate) async fn assert_gone(pid: &str) {
    let gone = async {
        while is_alive(pid) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    assert!(tokio::time::timeout(Duration::from_secs(20), gone).await.is_ok(), "{pid} is still there");
}

/// A zombie has ended: it only waits for its parent to read its exit status.
fn is_alive(pid: &str) -> bool {
    let number = pid.trim().parse().ok().and_then(Pid::from_raw).unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest);
    let has_ended = state.is_some_and(|state| state.starts_with(['Z', 'X']));
    test_kill_process(number).is_ok() && !has_ended
}
