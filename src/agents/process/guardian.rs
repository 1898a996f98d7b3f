//! Ends programs whose Cloture was killed.
//!
//! A killed process cannot tidy up after itself. So a small shell runs beside Cloture and reads the numbers of the
//! process groups that are alive from a pipe. When Cloture ends in whatever way, the system closes the pipe, and the
//! shell ends the groups that are left.

use rustix::process::Pid;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// `+ N` for a new group, `- N` for one that has ended.
const SCRIPT: &str = r#"
trap '' HUP INT QUIT TERM
groups=' '
while read -r what group; do
    case $what in
        +) groups="$groups$group " ;;
        -)
            case $groups in
                *" $group "*) groups="${groups%% $group *} ${groups#* $group }" ;;
            esac ;;
    esac
done
for group in $groups; do kill -s KILL -- "-$group"; done
"#;

/// One for the whole process, from its first program on.
static GUARDIAN: Mutex<Option<Guardian>> = Mutex::new(None);

struct Guardian {
    /// Kept, so that nobody else gets its number.
    _shell: Child,
    pipe: ChildStdin,
}

/// Has the group ended if Cloture is killed.
pub(super) fn guard(group: Pid) {
    tell(&format!("+ {}\n", group.as_raw_nonzero()));
}

/// The group has ended.
pub(super) fn release(group: Pid) {
    tell(&format!("- {}\n", group.as_raw_nonzero()));
}

/// Without a shell, programs run unguarded: that is no reason not to run them.
fn tell(line: &str) {
    let mut guardian = GUARDIAN.lock().unwrap_or_else(PoisonError::into_inner);
    let told = match guardian.as_mut() {
        Some(guardian) => guardian.pipe.write_all(line.as_bytes()).is_ok(),
        None => false,
    };
    if !told {
        *guardian = start().ok();
        if let Some(guardian) = guardian.as_mut() {
            // It has only just begun to read.
            let _unguarded = guardian.pipe.write_all(line.as_bytes());
        }
    }
}

fn start() -> io::Result<Guardian> {
    let mut shell = Command::new("/bin/sh")
        .args(["-c", SCRIPT])
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // A signal to Cloture's group must not reach it.
        .process_group(0)
        .spawn()?;
    let pipe = shell.stdin.take().ok_or_else(|| io::Error::other("no pipe"))?;
    Ok(Guardian { _shell: shell, pipe })
}
