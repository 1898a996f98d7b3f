//! Finds the thread that a command names.

use crate::domain::snapshot::ReviewThread;
use crate::domain::vocabulary::ThreadId;
use crate::failure::{Failure, FailureKind};
use crate::github::PullRequestAddress;
use crate::github::read::PullRequestRead;
use crate::supervisor::computed_state::{ComputedState, ThreadView};

/// Finds a thread by its id (the forge's or the engine's), by `PATH:LINE` or `PATH`, or by the beginning or
/// end of its id, in this order. More than one match is an error: a guess could write in the wrong place.
pub(super) fn find(
    name: &str,
    read: &PullRequestRead,
    computed: &ComputedState,
    address: &PullRequestAddress,
) -> Result<ThreadId, Failure> {
    let threads = candidates(read, computed);
    if let Some(thread) = threads.iter().find(|thread| thread.names().any(|id| id.as_str() == name)) {
        return Ok(thread.id.clone());
    }
    if let Some(gap) = read.gaps.first() {
        return Err(Failure::new(
            FailureKind::OutOfReach,
            format_args!(
                "nothing was written: {address} could be read only in part ({gap}), so `{name}` may match a \
                 thread that is missing; name the thread by its whole id, or try again"
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
                    "`{name}` matches {} threads of {address}: {}; name one by its id",
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

/// A thread that the name may match.
struct Candidate<'a> {
    id: &'a ThreadId,
    /// The engine's id, if it differs.
    also: Option<&'a ThreadId>,
    path: &'a str,
    /// The current line, or the original one if the thread is outdated.
    line: Option<u32>,
}

/// All threads on the forge, and driven reviewers' findings that are not posted.
fn candidates<'a>(read: &'a PullRequestRead, computed: &'a ComputedState) -> Vec<Candidate<'a>> {
    let shown = computed.threads();
    let engine_id = |posted: &ReviewThread| {
        let of = shown.iter().find(|shown| shown.driven && *shown.id() == posted.id);
        of.map(|shown: &ThreadView<'a>| &shown.thread.id)
    };
    let on_forge = read.snapshot.threads.iter().map(|posted| Candidate {
        id: &posted.id,
        also: engine_id(posted),
        path: posted.path.as_str(),
        line: posted.line.or(posted.original_line),
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
