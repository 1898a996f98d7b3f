//! Which thread is meant.

use crate::domain::snapshot::Thread;
use crate::failure::{Failure, Kind};
use crate::github::PullRequestAddress;
use crate::github::read::Read;

/// A thread by its id, by `PATH:LINE` or `PATH`, or by the beginning or the end of its id: in this order, and only where
/// one thread fits. A guess between two would write in the wrong place.
pub(super) fn find<'a>(
    name: &str,
    read: &'a Read,
    address: &PullRequestAddress,
) -> Result<&'a Thread, Failure> {
    let threads = &read.snapshot.threads;
    if let Some(thread) = threads.iter().find(|thread| thread.id.as_str() == name) {
        return Ok(thread);
    }
    if let Some(gap) = read.gaps.first() {
        return Err(Failure::new(
            Kind::OutOfReach,
            format_args!(
                "{address} was read in part only ({gap}), so it is not certain which thread `{name}` is; nothing was \
                 written, name it by its whole id or try again"
            ),
        ));
    }
    let ways: [&dyn Fn(&Thread) -> bool; 2] = [&|thread| is_at(thread, name), &|thread| {
        let id = thread.id.as_str();
        !name.is_empty() && (id.starts_with(name) || id.ends_with(name))
    }];
    for way in ways {
        let fitting: Vec<&Thread> = threads.iter().filter(|thread| way(thread)).collect();
        match fitting.as_slice() {
            [] => {}
            [thread] => return Ok(thread),
            several => {
                return Err(Failure::usage(format_args!(
                    "`{name}` fits {} threads of {address}: {}; name one by its id",
                    several.len(),
                    listed(several)
                )));
            }
        }
    }
    let all: Vec<&Thread> = threads.iter().collect();
    Err(match all.as_slice() {
        [] => Failure::usage(format_args!("{address} has no thread `{name}`: it has no threads at all")),
        some => Failure::usage(format_args!("{address} has no thread `{name}`; it has {}", listed(some))),
    })
}

/// Where the thread is now, or where it was before its code changed.
fn is_at(thread: &Thread, name: &str) -> bool {
    let path = thread.path.as_str();
    let line = thread.line.or(thread.original_line);
    name == path || line.is_some_and(|line| name.strip_prefix(path) == Some(format!(":{line}").as_str()))
}

/// The first few, with their places.
fn listed(threads: &[&Thread]) -> String {
    const SHOWN: usize = 8;
    let mut names: Vec<String> = threads
        .iter()
        .take(SHOWN)
        .map(|thread| match thread.line.or(thread.original_line) {
            Some(line) => format!("{} ({}:{line})", thread.id, thread.path),
            None => format!("{} ({})", thread.id, thread.path),
        })
        .collect();
    if threads.len() > SHOWN {
        names.push(format!("and {} more", threads.len() - SHOWN));
    }
    names.join(", ")
}
