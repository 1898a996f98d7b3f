//! What is done to a thread: held against where it stands, agreed to, recorded, and written once.

use super::report::{self, ActReport, DecisionReport, RecordingOutcome, WriteStep, WriteStepOutcome};
use super::{ActRequest, Consent, ReasonedThreadAct, consent, find_thread, plan};
use crate::app::connection::ConnectionSettings;
use crate::app::session::{existing_journal, open_journal, pace};
use crate::failure::Failure;
use crate::github::read::PullRequestRead;
use crate::github::{Client, Writer};
use crate::journal::{Journal, NewRecord, PullRequestKey};
use crate::reviewers::profiles::Profiles;
use crate::supervisor::clock::{Clock, SystemClock};
use crate::supervisor::computed_state::RepositoryRules;
use crate::supervisor::history::History;
use crate::supervisor::people::{self, PlanError, ThreadPlan, ThreadRequest, carry_out, stored, take_over};
use std::path::PathBuf;
use std::sync::Arc;

/// What was asked for, and by whom.
pub(super) struct ThreadActArguments<'a> {
    pub(super) order: &'a ActRequest,
    pub(super) thread: &'a str,
    pub(super) verb: &'a ReasonedThreadAct,
    pub(super) by: String,
}

pub(super) async fn act(
    wanted: ThreadActArguments<'_>,
    settings: &ConnectionSettings<'_>,
    profiles: &Profiles,
    client: &Client,
    read: PullRequestRead,
    state_folder: Option<PathBuf>,
    consent: Consent<'_>,
) -> Result<ActReport, Failure> {
    let now = SystemClock.now();
    plan::check_head(wanted.order, &read.snapshot)?;
    let journal = match &consent {
        // A rehearsal leaves nothing behind, not even an empty journal.
        Consent::Rehearsal => existing_journal(settings, state_folder, now).await?,
        Consent::Given | Consent::Ask(_) => Some(open_journal(settings, state_folder, now).await?.0),
    };
    let address = plan::address(&read.snapshot);
    let about = PullRequestKey {
        host: client.host().name().to_owned(),
        repository: address.repository.clone(),
        number: address.number,
    };
    let mut history = History::default();
    let mut news = Vec::new();
    if let Some(journal) = &journal {
        history = History::load(journal, &about).await?;
        let before = journal.last_snapshot(&about).await?;
        news = stored::notice(before.as_ref(), &read.snapshot, &about, &mut history, now);
    }
    let snapshot = Arc::new(read.snapshot.clone());
    let rules = RepositoryRules::of(settings.config, profiles, &address.repository, false);
    let standing = stored::stand(&snapshot, &history, settings.config, profiles);
    let id = find_thread::find(wanted.thread, &read, &standing, &address)?;
    let ReasonedThreadAct { what, reason } = wanted.verb;
    let act = ThreadRequest {
        thread: id,
        what: what.clone(),
        reason: reason.clone(),
        by: wanted.by,
        occasion: wanted.order.key.clone(),
    };
    let told = |act: &ThreadRequest, sentence, recorded| {
        let ThreadRequest { thread, what, by, .. } = act.clone();
        Some(DecisionReport { thread, verb: what.name(), by, sentence, recorded })
    };
    let plan = match people::plan(&act, &standing, &history, &rules, now) {
        Ok(plan) => plan,
        Err(PlanError::Failed(failure)) => return Err(failure),
        Err(objection @ (PlanError::Refused { .. } | PlanError::UnknownTarget { .. })) => {
            let decision = told(&act, None, RecordingOutcome::Refused(objection));
            return Ok(ActReport { pull_request: address, decision, steps: Vec::new(), trouble: None });
        }
    };
    let writer = Writer::new(client.clone(), pace(settings));
    let journal = match (consent, journal) {
        (Consent::Ask(ask), Some(journal)) => {
            consent::agreed(ask, &plan.sentences())?;
            journal
        }
        (Consent::Given, Some(journal)) => journal,
        (_, journal) => {
            let steps = rehearse(&writer, &plan).await?;
            if let Some(journal) = journal {
                journal.close().await?;
            }
            let recorded =
                if plan.facts.is_empty() { nothing_new(&plan) } else { RecordingOutcome::Rehearsed };
            let decision = told(&act, plan.sentence, recorded);
            return Ok(ActReport { pull_request: address, decision, steps, trouble: None });
        }
    };
    let desk = SnapshotKeeper { journal: &journal, about: &about, is_whole: read.gaps.is_empty() };
    desk.keep(&snapshot, news).await?;
    let done = carry_out(&plan, &about, &journal, &writer).await;
    let recorded = match (plan.facts.is_empty(), done.recorded) {
        (false, true) => RecordingOutcome::Now,
        (false, false) => RecordingOutcome::Failed,
        (true, _) => nothing_new(&plan),
    };
    let tried = plan.deeds.iter().map(|deed| &deed.write).zip(&done.deeds);
    let mut after = read.snapshot;
    for write in tried.filter(|(_, tried)| tried.is_in_effect()).map(|(write, _)| write) {
        take_over(write, &mut after);
    }
    // It was done, whatever becomes of the copy: the next look brings it.
    let kept = desk.keep(&after, Vec::new()).await;
    let trouble = done.trouble.map(Failure::from).or(kept.err());
    journal.close().await?;
    let decision = told(&act, plan.sentence, recorded);
    let steps = plan.deeds.into_iter().zip(done.deeds);
    let steps = steps.map(|(deed, tried)| WriteStep { write: deed.write, became: tried.into() });
    Ok(ActReport { pull_request: address, decision, steps: steps.collect(), trouble })
}

fn nothing_new(plan: &ThreadPlan) -> RecordingOutcome {
    if plan.already { RecordingOutcome::Before } else { RecordingOutcome::Nothing }
}

/// Exactly what would be sent.
async fn rehearse(writer: &Writer<Client>, plan: &ThreadPlan) -> Result<Vec<WriteStep>, Failure> {
    let mut steps = Vec::new();
    for deed in &plan.deeds {
        let described = writer.rehearse(&deed.write).await;
        let described = described.map_err(|error| report::nothing_written(&error))?;
        steps.push(WriteStep {
            write: deed.write.clone(),
            became: WriteStepOutcome::Rehearsed(described.calls),
        });
    }
    Ok(steps)
}

/// Where what was read is kept.
struct SnapshotKeeper<'a> {
    journal: &'a Journal,
    about: &'a PullRequestKey,
    /// What was read in part only would hide the rest from whoever looks next.
    is_whole: bool,
}

impl SnapshotKeeper<'_> {
    async fn keep(
        &self,
        snapshot: &crate::domain::snapshot::PullRequestSnapshot,
        news: Vec<NewRecord>,
    ) -> Result<(), Failure> {
        if !news.is_empty() {
            self.journal.append(news).await?;
        }
        if self.is_whole {
            self.journal.save_snapshot(self.about.host.clone(), snapshot, None).await?;
        }
        Ok(())
    }
}
