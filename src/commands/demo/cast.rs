//! The people of the demo who react to what its user does. Bots react by the scenario, to what they see on the forge; what
//! a person decides in Cloture is in the journal, so that is where the authors of pull requests learn of it.

use crate::domain::machine::Decision;

use crate::domain::snapshot::RepositoryName;
use crate::journal::{Journal, Record};
use crate::simulator::{PushAction, ScenarioAction, Simulator};
use crate::supervisor::fact::Fact;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Follows the journal until it is closed. A thread that was given back is worth another push, after which its reviewer
/// looks at it again. Where an author's agent works, that is the agent's business.
pub(super) async fn react(journal: Journal, simulator: Arc<Simulator>, with_agent: Option<RepositoryName>) {
    let mut follower = journal.follow(0);
    let mut pushes = 0;
    while let Ok(record) = follower.next().await {
        if let Some(name) = given_back(&record, with_agent.as_ref())
            && let Some(author) = simulator.author_of(&name)
        {
            pushes += 1;
            // A pull request that is over takes no push, and nobody expects one.
            let _over = simulator.perform(&name, &another_push(author, pushes));
        }
    }
}

fn given_back(record: &Record, with_agent: Option<&RepositoryName>) -> Option<String> {
    let about = record.pull_request.as_ref()?;
    let returned = matches!(Fact::read(record)?.fact, Fact::Decided { verb: Decision::Return, .. });
    let is_agents = with_agent == Some(&about.repository);
    (returned && !is_agents).then(|| format!("{}#{}", about.repository, about.number))
}

fn another_push(by: String, number: u32) -> ScenarioAction {
    let text = format!("{number} threads were given back and gone through again.\n");
    ScenarioAction::Push(PushAction {
        by,
        message: "Go through the review once more".to_owned(),
        files: BTreeMap::from([("REVIEW.md".to_owned(), text)]),
        replace: Vec::new(),
        delete: Vec::new(),
        rename: BTreeMap::new(),
        sha: None,
    })
}
