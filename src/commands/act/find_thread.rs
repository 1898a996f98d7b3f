//! Which thread is meant.

use crate::domain::snapshot::ReviewThread;
use crate::domain::vocabulary::ThreadId;
use crate::failure::{Failure, FailureKind};
use crate::github::PullRequestAddress;
use crate::github::read::PullRequestRead;
use crate::supervisor::computed_state::{ComputedState, ThreadView};

/// A thread by its id, the forge's or the engine's, by `PATH:LINE` or `PATH`, or by the beginning or the end of its id: in
/// this order, and only where one thread fits. A guess between two would write in the wrong place.
pub(super) fn find(
    name: &str,
    read: &PullRequestRead,
    standing: &ComputedState,
    address: &PullRequestAddress,
) -> Result<ThreadId, Failure> {
    let threads = candidates(read, standing);
    if let Some(thread) = threads.iter().find(|thread| thread.names().any(|id| id.as_str() == name)) {
        return Ok(thread.id.clone());
    }
    if let Some(gap) = read.gaps.first() {
        return Err(Failure::new(
            FailureKind::OutOfReach,
            format_args!(
                "{address} was read in part only ({gap}), so it is not certain which thread `{name}` is; nothing was \
                 written, name it by its whole id or try again"
            ),
        ));
    }
    let ways: [&dyn Fn(&Candidate<'_>) -> bool; 2] = [&|thread| thread.is_at(name), &|thread| {
        let is_end = |id: &ThreadId| id.as_str().starts_with(name) || id.as_str().ends_with(name);
        !name.is_empty() && thread.names().any(is_end)
    }];
    for way in ways {
        let fitting: Vec<&Candidate<'_>> = threads.iter().filter(|thread| way(thread)).collect();
        match fitting.as_slice() {
            [] => {}
            [thread] => return Ok(thread.id.clone()),
            several => {
                return Err(Failure::usage(format_args!(
                    "`{name}` fits {} threads of {address}: {}; name one by its id",
                    several.len(),
                    listed(several)
                )));
            }
        }
    }
    let all: Vec<&Candidate<'_>> = threads.iter().collect();
    Err(match all.as_slice() {
        [] => Failure::usage(format_args!("{address} has no thread `{name}`: it has no threads at all")),
        some => Failure::usage(format_args!("{address} has no thread `{name}`; it has {}", listed(some))),
    })
}

/// A thread that may be meant.
struct Candidate<'a> {
    id: &'a ThreadId,
    /// The engine's own, where it has another.
    also: Option<&'a ThreadId>,
    path: &'a str,
    /// Where the thread is now, or where it was before its code changed.
    line: Option<u32>,
}

/// Everything on the forge, and what driven reviewers found and is not posted there.
fn candidates<'a>(read: &'a PullRequestRead, standing: &'a ComputedState) -> Vec<Candidate<'a>> {
    let shown = standing.threads();
    let engine_id = |seen: &ReviewThread| {
        let of = shown.iter().find(|shown| shown.driven && *shown.id() == seen.id);
        of.map(|shown: &ThreadView<'a>| &shown.thread.id)
    };
    let on_forge = read.snapshot.threads.iter().map(|seen| Candidate {
        id: &seen.id,
        also: engine_id(seen),
        path: seen.path.as_str(),
        line: seen.line.or(seen.original_line),
    });
    let elsewhere = shown.iter().filter(|shown| shown.on_forge.is_none()).map(|shown| Candidate {
        id: &shown.thread.id,
        also: None,
        path: shown.thread.anchor.path.as_str(),
        line: shown.line(),
    });
    on_forge.chain(elsewhere).collect()
}

impl Candidate<'_> {
    fn names(&self) -> impl Iterator<Item = &ThreadId> {
        [self.id].into_iter().chain(self.also)
    }

    fn is_at(&self, name: &str) -> bool {
        let is_line = |line: u32| name.strip_prefix(self.path) == Some(format!(":{line}").as_str());
        name == self.path || self.line.is_some_and(is_line)
    }
}

/// The first few, with their places.
fn listed(threads: &[&Candidate<'_>]) -> String {
    const SHOWN: usize = 8;
    let mut names: Vec<String> = threads
        .iter()
        .take(SHOWN)
        .map(|thread| match thread.line {
            Some(line) => format!("{} ({}:{line})", thread.id, thread.path),
            None => format!("{} ({})", thread.id, thread.path),
        })
        .collect();
    if threads.len() > SHOWN {
        names.push(format!("and {} more", threads.len() - SHOWN));
    }
    names.join(", ")
}
