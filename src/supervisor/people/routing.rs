//! Plans a person's choice of where a finding goes at the merge (H6, H9): to a target, or nowhere. The choice
//! is recorded in the journal, not written to the forge, and takes effect when the pull request is merged.

use super::planning::{DuplicateThreads, ThreadPlanner, check, place};
use super::{PlanError, ThreadPlan};
use crate::agents::targets::kind_of;
use crate::domain::finding::{Destination, Thread};
use crate::domain::machine::Decision;
use crate::domain::snapshot::PullRequestState;
use crate::domain::vocabulary::TargetName;
use crate::supervisor::computed_state::{ComputedState, ThreadView};
use crate::supervisor::fact::Fact;
use crate::supervisor::history::RecordedActKind;

impl ThreadPlanner<'_> {
    /// Queue and target are recorded together, so that the finding cannot go to another target.
    pub(super) fn queued_for(
        &self,
        target: &TargetName,
        group: &DuplicateThreads<'_>,
    ) -> Result<ThreadPlan, PlanError> {
        self.check_target(target)?;
        let first = &group.first;
        let to = Destination::Target(target.clone());
        let (queued, routed) = (self.already(Decision::Queue, group), self.is_routed(&to, group));
        if !queued {
            check(Decision::Queue, first)?;
        }
        let thread = first.thread.id.clone();
        let mut facts = Vec::new();
        if !queued {
            facts.push(group.decided(Decision::Queue));
        }
        if !routed {
            facts.push(Fact::Routed { thread, to });
        }
        let sentence = format!(
            "Queue the finding at {} for the target \"{target}\": it is handed off there when the pull \
             request is merged.{}",
            self.at_place(first),
            self.afterword(Some(target))
        );
        Ok(self.plan(facts, queued && routed, Some(sentence), Vec::new()))
    }

    pub(super) fn routed(
        &self,
        to: &Destination,
        group: &DuplicateThreads<'_>,
    ) -> Result<ThreadPlan, PlanError> {
        if let Destination::Target(target) = to {
            self.check_target(target)?;
        }
        let already = self.is_routed(to, group);
        if !already {
            check(Decision::Queue, &group.first)?;
        }
        let fact = Fact::Routed { thread: group.first.thread.id.clone(), to: to.clone() };
        let facts = if already { Vec::new() } else { vec![fact] };
        Ok(self.plan(facts, already, Some(self.routing_sentence(to, &group.first)), Vec::new()))
    }

    /// The finding must not be handed off, whether a person queued it or it would go by itself.
    pub(super) fn removed(&self, group: &DuplicateThreads<'_>) -> Result<ThreadPlan, PlanError> {
        let first = &group.first;
        let thread = first.thread;
        let goes_by_itself = self.computed.eligibility_by_itself(thread, self.rules);
        if goes_by_itself.is_eligible() {
            return self.routed(&Destination::Nowhere, group);
        }
        if thread.queued {
            let fact = group.decided(Decision::Unqueue);
            return Ok(self.plan(vec![fact], false, Some(self.unqueueing_sentence(first)), Vec::new()));
        }
        let already = thread.routed == Destination::Nowhere;
        if !already {
            check(Decision::Queue, first)?;
        }
        let sentence =
            format!("The finding at {} is not handed off anyway: {goes_by_itself}.", self.at_place(first));
        Ok(self.plan(Vec::new(), already, Some(sentence), Vec::new()))
    }

    /// A misspelt target would leave the finding stuck at the merge, so only configured targets are allowed.
    fn check_target(&self, target: &TargetName) -> Result<(), PlanError> {
        let known = self.rules.config.handoff.known_targets();
        if known.contains(target) {
            return Ok(());
        }
        Err(PlanError::UnknownTarget { target: target.clone(), known })
    }

    /// Whether this person has already recorded this choice and it still holds. `AsConfigured` needs no
    /// record.
    fn is_routed(&self, to: &Destination, group: &DuplicateThreads<'_>) -> bool {
        let holds = group.first.thread.routed == *to;
        let is_recorded =
            || self.is_own(self.history.last_routing(&group.ids), &RecordedActKind::Routed(to.clone()));
        holds && (*to == Destination::AsConfigured || is_recorded())
    }

    // Sentences that say exactly what will happen

    pub(super) fn queueing_sentence(&self, first: &ThreadView<'_>) -> String {
        let lifted = match first.thread.routed {
            Destination::Nowhere => " although somebody took it off the list",
            Destination::AsConfigured | Destination::Target(_) => "",
        };
        let target = match &first.thread.routed {
            Destination::Target(target) => format!(" to \"{target}\""),
            Destination::AsConfigured | Destination::Nowhere => String::new(),
        };
        format!(
            "Queue the finding at {}{lifted}: it is handed off{target} when the pull request is merged.{}",
            self.at_place(first),
            self.afterword(None)
        )
    }

    pub(super) fn unqueueing_sentence(&self, first: &ThreadView<'_>) -> String {
        let by_itself = self.computed.eligibility_by_itself(first.thread, self.rules);
        let at = self.at_place(first);
        if by_itself.is_eligible() {
            return format!("Take the finding at {at} off the queue; it goes all the same: {by_itself}.");
        }
        format!("Take the finding at {at} off the queue.")
    }

    fn routing_sentence(&self, to: &Destination, first: &ThreadView<'_>) -> String {
        let thread = first.thread;
        let at = self.at_place(first);
        let before = ComputedState::target_of(thread, self.rules);
        match to {
            Destination::Nowhere => {
                let queued = if thread.queued { "is queued, and " } else { "" };
                let by_itself = self.computed.eligibility_by_itself(thread, self.rules);
                let would = if by_itself.is_eligible() {
                    format!(" It {queued}would go by itself ({by_itself}).")
                } else if thread.queued {
                    " It is queued.".to_owned()
                } else {
                    String::new()
                };
                format!(
                    "Take the finding at {at} off the list: it is not handed off unless somebody queues it \
                     again.{would}"
                )
            }
            Destination::Target(target) if thread.queued || self.goes(&with(thread, to)) => {
                let instead =
                    if before == *target { String::new() } else { format!(" and not to \"{before}\"") };
                format!(
                    "Hand the finding at {at} to the target \"{target}\"{instead} when the pull request is \
                     merged.{}",
                    self.afterword(Some(target))
                )
            }
            Destination::Target(target) => {
                let why = self.computed.eligibility(&with(thread, to), self.rules);
                format!(
                    "Send the finding at {at} to the target \"{target}\" if it is handed off; as it stands \
                     it is not: {why}.{}",
                    self.afterword(Some(target))
                )
            }
            Destination::AsConfigured => {
                let after = with(thread, to);
                let target = ComputedState::target_of(&after, self.rules);
                let why = self.computed.eligibility(&after, self.rules);
                format!("Leave the finding at {at} to the rules, which send it to \"{target}\": {why}.")
            }
        }
    }

    fn goes(&self, thread: &Thread) -> bool {
        self.computed.eligibility(thread, self.rules).is_eligible()
    }

    /// Adds why it may not happen all the same.
    fn afterword(&self, target: Option<&TargetName>) -> String {
        let ended = match self.computed.snapshot.state {
            PullRequestState::Open => String::new(),
            state => {
                format!(" The pull request is {} already, so this has no effect any more.", state.name())
            }
        };
        let targets = &self.rules.config.targets;
        let unsendable = target.and_then(|target| kind_of(targets, target).err());
        let unsendable = unsendable.map_or_else(String::new, |error| format!(" As it stands {error}."));
        format!("{unsendable}{ended}")
    }

    fn at_place(&self, first: &ThreadView<'_>) -> String {
        format!("{} of {}", place(first), self.address)
    }
}

/// The thread with another destination.
fn with(thread: &Thread, to: &Destination) -> Thread {
    Thread { routed: to.clone(), ..thread.clone() }
}
