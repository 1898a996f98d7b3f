//! How far the tasks that a merge decided have come, as the journal alone tells it: for whoever looks without driving.

use super::actor::handing::{read_outcome, try_key};
use super::fact::Fact;
use super::history::History;
use super::view::{Handoff, HandoffState};
use crate::config::Targets;
use crate::domain::handoff::Task;
use crate::domain::snapshot::PullRequestSnapshot;
use crate::targets::{self, Backoff, Next, Outcome};
use jiff::Timestamp;
use serde_json::Value;

/// Every task of the merge. `outcome` tells what became of a try, by its name in the journal, and when.
pub fn handoffs<'a>(
    history: &History,
    snapshot: &PullRequestSnapshot,
    targets: &Targets,
    outcome: impl Fn(&str) -> Option<&'a (Timestamp, Value)>,
) -> Vec<Handoff> {
    let merged = history.facts().iter().find_map(|dated| match &dated.fact {
        Fact::Merged { tasks } => Some((dated.at, tasks)),
        _ => None,
    });
    let Some((merged_at, tasks)) = merged else { return Vec::new() };
    let handoff = |fact: &super::fact::TaskFact| {
        let (reason, task): (String, Task) = (fact.reason.clone(), fact.clone().into());
        let key = targets::key(&task, &snapshot.repository, snapshot.number);
        let (mut made, mut last) = (0, None);
        while let Some((at, body)) = outcome(&try_key(&key, made + 1)) {
            made += 1;
            last = Some((*at, read_outcome(body)));
        }
        let state = match last {
            None => match targets::kind_of(targets, &task.target) {
                Ok(_) => HandoffState::Waiting { until: merged_at },
                Err(error) => HandoffState::Stuck(error.to_string()),
            },
            Some((at, outcome)) => match (Backoff::default().after(made, &outcome), outcome) {
                (Next::Done, Outcome::Taken { url }) => HandoffState::Sent { url },
                (Next::Done, _) => HandoffState::Sent { url: None },
                (Next::Stuck(why), _) => HandoffState::Stuck(why),
                (Next::Again(wait), _) => {
                    HandoffState::Waiting { until: at.checked_add(wait).unwrap_or(Timestamp::MAX) }
                }
            },
        };
        Handoff { key, task, reason, state }
    };
    tasks.iter().map(handoff).collect()
}
