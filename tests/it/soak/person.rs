//! Random acts of people at the screen: on threads, on loops, on whole pull requests.

use super::lives::Life;
use crate::support::dice::Dice;
use cloture::domain::machine::Decision;
use cloture::github::write::MergeMethod;
use cloture::supervisor::people::request_handler::PersonRequest;
use cloture::supervisor::people::{ThreadAct, Way};
use cloture::supervisor::view::HandoffState;
use cloture::supervisor::{LoopCommand, PullRequestView};
use std::sync::Arc;

const VERBS: [(usize, Decision); 8] = [
    (14, Decision::Uphold),
    (12, Decision::Dismiss),
    (16, Decision::Return),
    (16, Decision::Queue),
    (6, Decision::Unqueue),
    (8, Decision::Veto),
    (8, Decision::Escalate),
    (10, Decision::Resolve),
];

/// A person acts. Returns the act's name if it did anything.
pub(crate) async fn act(life: &Life, dice: &mut Dice) -> Option<&'static str> {
    let board = life.run.board();
    let views: Vec<&Arc<PullRequestView>> = board.pull_requests.values().collect();
    let view = *dice.one(&views)?;
    let address = view.address.clone();
    match dice.below(100) {
        0..=69 => {
            let threads = view.computed.as_ref()?.threads();
            // The inbox shows the threads that wait for a person first.
            let waiting: Vec<_> = threads.iter().filter(|t| t.thread.status().is_with_a_person()).collect();
            let all: Vec<_> = threads.iter().collect();
            let any = waiting.is_empty() || dice.is_in(300);
            let thread = *dice.one(if any { &all } else { &waiting })?;
            let what = match dice.below(20) {
                0 => ThreadAct::Reply,
                1 => ThreadAct::Unresolve,
                2 => ThreadAct::Hide,
                3 => ThreadAct::QueueFor("agent".into()),
                4 => ThreadAct::Remove,
                _ => ThreadAct::Decide(dice.weighed(&VERBS)),
            };
            let name = what.name();
            let reason = Some(format!("Because of {}.", dice.below(1000)));
            let order =
                PersonRequest::Threads { what, threads: vec![(address, thread.id().clone())], reason };
            life.order(order).await.then_some(name)
        }
        70..=81 => {
            let (command, name) = match dice.below(10) {
                0..=3 => (LoopCommand::Pause, "pause"),
                4..=7 => (LoopCommand::Resume, "resume"),
                8 => (LoopCommand::PollNow, "poll now"),
                _ => (LoopCommand::Stop, "stop"),
            };
            life.tell(address, command).await;
            Some(name)
        }
        82..=89 => {
            let at_cap = views.iter().find(|view| view.exit().is_some_and(|exit| exit.name() == "round_cap"));
            let address = at_cap?.address.clone();
            let way = *dice.one(&[
                Way::GrantRound,
                Way::GrantRound,
                Way::Approve,
                Way::CloseAndReopen,
                Way::PushByHand,
                Way::Merge(MergeMethod::Squash),
            ])?;
            ordered(life, PersonRequest::PullRequest { address, way, reason: Some("Enough.".to_owned()) })
                .await
        }
        90..=95 => {
            // A person checks whether a task in doubt arrived before sending it again.
            let is_refused = |state: &HandoffState| matches!(state, HandoffState::Stuck(why) if why.starts_with("Cloture tried"));
            let refused = |view: &PullRequestView| {
                let handoff = view.handoffs.iter().find(|handoff| is_refused(&handoff.state));
                handoff.map(|handoff| handoff.key.clone())
            };
            let (view, key) = views.iter().find_map(|view| Some((view, refused(view)?)))?;
            life.tell(view.address.clone(), LoopCommand::RetryTask { key }).await;
            Some("retry task")
        }
        _ => {
            let way = *dice.one(&[Way::BreakGlass, Way::MendGlass, Way::MendGlass, Way::Approve])?;
            ordered(
                life,
                PersonRequest::PullRequest { address, way, reason: Some("I know better.".to_owned()) },
            )
            .await
        }
    }
}

async fn ordered(life: &Life, order: PersonRequest) -> Option<&'static str> {
    let name = order.name();
    life.order(order).await.then_some(name)
}
