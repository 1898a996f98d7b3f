//! A program's process group: the program and its descendants, except those that left the group.

#[cfg(unix)]
use super::guardian;
use tokio::process::Child;

/// Ends the group on drop, also when the caller stops waiting for the program.
#[derive(Debug)]
pub(super) struct ProcessGroup {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

#[cfg(unix)]
impl ProcessGroup {
    pub(super) fn of_leader(child: &Child) -> ProcessGroup {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        let leader = id.and_then(rustix::process::Pid::from_raw);
        if let Some(leader) = leader {
            guardian::guard(leader);
        }
        ProcessGroup { leader }
    }

    /// Sends SIGTERM, so that the program can tidy up.
    pub(super) fn ask_to_end(&self) {
        self.send(rustix::process::Signal::TERM);
    }

    /// Sends SIGKILL.
    pub(super) fn end(&self) {
        self.send(rustix::process::Signal::KILL);
    }

    fn send(&self, signal: rustix::process::Signal) {
        if let Some(leader) = self.leader {
            // The kernel reuses the number only after the last member has ended, so the signal cannot hit
            // another group while this one exists.
            let _gone = rustix::process::kill_process_group(leader, signal);
        }
    }
}

#[cfg(unix)]
impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.end();
        if let Some(leader) = self.leader {
            guardian::release(leader);
        }
    }
}

/// On other systems `kill_on_drop` ends the program alone.
#[cfg(not(unix))]
impl ProcessGroup {
    pub(super) fn of_leader(_: &Child) -> ProcessGroup {
        ProcessGroup {}
    }

    pub(super) fn ask_to_end(&self) {}

    pub(super) fn end(&self) {}
}
