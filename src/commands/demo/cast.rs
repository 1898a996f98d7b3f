//! The authors of the demo's pull requests, who react to the user's decisions. Bots react through the scenario, to events
//! on the simulator. Decisions are only in the journal, so this module follows the journal.

use crate::domain::machine::Decision;
use crate::domain::snapshot::RepositoryName;
use crate::journal::{Journal, Record};
use crate::simulator::{PushAction, ScenarioAction, Simulator};
use crate::supervisor::fact::Fact;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Follows the journal until it is closed. When the user gives a thread back, its author pushes again, so that the
/// reviewer looks again. In the repository with an author's agent, the agent does that.
pub(super) async fn react(journal: Journal, simulator: Arc<Simulator>, with_agent: Option<RepositoryName>) {
    let mut follower = journal.follow(0);
    let mut pushes = 0;
    while let Ok(record) = follower.next().await {
        if let Some(name) = given_back(&record, with_agent.as_ref())
            && let Some(author) = simulator.author_of(&name)
        {
            pushes += 1;
            // A merged pull request refuses the push, which is fine.
            let _refused = simulator.perform(&name, &another_push(author, pushes));
        }
    }
}

fn given_back(record: &Record, with_agent: Option<&RepositoryName>) -> Option<String> {
    let about = record.pull_request.as_ref()?;
    let is_returned = matches!(Fact::read(record)?.fact, Fact::Decided { verb: Decision::Return, .. });
    let has_agent = with_agent == Some(&about.repository);
    (is_returned && !has_agent).then(|| format!("{}#{}", about.repository, about.number))
}

fn another_push(by: String, number: u32) -> ScenarioAction {
    let text = format!("{number} threads were given back and checked again.\n");
    ScenarioAction::Push(PushAction {
        by,
        message: "Work through the review again".to_owned(),
        files: BTreeMap::from([("REVIEW.md".to_owned(), text)]),
        replace: Vec::new(),
        delete: Vec::new(),
        rename: BTreeMap::new(),
        sha: None,
    })
}
