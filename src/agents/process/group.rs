//! A program's process group: the program and whatever it started that did not leave.

use tokio::process::Child;

/// Ends the group when it goes out of scope, which is also what happens when nobody waits for the program any more.
#[derive(Debug)]
pub(super) struct ProcessGroup {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

#[cfg(unix)]
impl ProcessGroup {
    pub(super) fn led_by(child: &Child) -> ProcessGroup {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        ProcessGroup { leader: id.and_then(rustix::process::Pid::from_raw) }
    }

    /// The signal that a program may answer by tidying up.
    pub(super) fn ask_to_end(&self) {
        self.send(rustix::process::Signal::TERM);
    }

    /// The signal that no program can refuse.
    pub(super) fn end(&self) {
        self.send(rustix::process::Signal::KILL);
    }

    fn send(&self, signal: rustix::process::Signal) {
        if let Some(leader) = self.leader {
            // A group that is not there any more needs no ending. Its number stays taken for as long as one member
            // lives, so that nobody else is hit while there is somebody to hit.
            let _gone = rustix::process::kill_process_group(leader, signal);
        }
    }
}

#[cfg(unix)]
impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.end();
    }
}

/// Elsewhere only the program itself can be ended, which its handle sees to.
#[cfg(not(unix))]
impl ProcessGroup {
    pub(super) fn led_by(_: &Child) -> ProcessGroup {
        ProcessGroup {}
    }

    pub(super) fn ask_to_end(&self) {}

    pub(super) fn end(&self) {}
}
