//! `cloture act`: checks an act on a thread against the computed state, gets consent, records it, and writes
//! it once.

use super::report::{self, ActReport, DecisionReport, RecordingOutcome, WriteStep, WriteStepOutcome};
use super::{ActRequest, Consent, ReasonedThreadAct, consent, find_thread, plan};
use crate::app::connection::ConnectionSettings;
use crate::app::session::{existing_journal, open_journal, pace};
use crate::failure::Failure;
use crate::github::read::PullRequestRead;
use crate::github::{Client, Writer};
use crate::journal::{Journal, KnownRepositories, NewRecord, PullRequestKey};
use crate::reviewers::profiles::Profiles;
use crate::supervisor::clock::{Clock, SystemClock};
use crate::supervisor::computed_state::RepositoryRules;
use crate::supervisor::history::History;
use crate::supervisor::people::request_handler::check_reason;
use crate::supervisor::people::{
    self, PlanError, ThreadPlan, ThreadRequest, apply_to_snapshot, carry_out, stored,
};
use crate::supervisor::secrets;
use std::path::PathBuf;
use std::sync::Arc;

/// The request and the person who made it.
pub(super) struct ThreadActArguments<'a> {
    pub(super) request: &'a ActRequest,
    pub(super) thread: &'a str,
    pub(super) verb: &'a ReasonedThreadAct,
    pub(super) by: String,
}

pub(super) async fn act(
    arguments: ThreadActArguments<'_>,
    settings: &ConnectionSettings<'_>,
    profiles: &Profiles,
    client: &Client,
    mut read: PullRequestRead,
    state_folder: Option<PathBuf>,
    consent: Consent<'_>,
) -> Result<ActReport, Failure> {
    let now = SystemClock.now();
    plan::check_head(arguments.request, &read.snapshot)?;
    let secrets = secrets::scanner(settings.config, client, settings.environment).await;
    check_reason(arguments.verb.reason.as_deref(), &secrets)?;
    let writer = Writer::new(client.clone(), pace(settings)).withholding(secrets);
    let journal = match &consent {
        // A rehearsal leaves nothing behind, not even an empty journal.
        Consent::Rehearsal => existing_journal(settings, state_folder, now).await?,
        Consent::Given | Consent::Ask(_) => Some(open_journal(settings, state_folder, now).await?.0),
    };
    let address = plan::address(&read.snapshot);
    let host = client.host().name();
    let about = match (&consent, &journal) {
        (Consent::Given | Consent::Ask(_), Some(journal)) => {
            journal.identify(host, &mut read.snapshot).await?
        }
        (_, Some(journal)) => journal.repositories().await?.recognise(host, &mut read.snapshot),
        (_, None) => KnownRepositories::default().recognise(host, &mut read.snapshot),
    };
    let names = read.snapshot.names();
    let rules = RepositoryRules::of_names(settings.config, profiles, names, false);
    let mut history = History::default();
    let mut unrecorded = Vec::new();
    if let Some(journal) = &journal {
        history = History::load(journal, &about).await?;
        let before = journal.last_snapshot(&about).await?;
        unrecorded = stored::note_transitions(before.as_ref(), &read.snapshot, &about, &mut history, &rules);
    }
    let snapshot = Arc::new(read.snapshot.clone());
    let computed = stored::compute_stored(&snapshot, &history, settings.config, profiles);
    let id = find_thread::find(arguments.thread, &read, &computed, &address)?;
    let ReasonedThreadAct { what, reason } = arguments.verb;
    let act = ThreadRequest {
        thread: id,
        what: what.clone(),
        reason: reason.clone(),
        by: arguments.by,
        callers_key: arguments.request.key.clone(),
    };
    let report_decision = |act: &ThreadRequest, sentence, recorded| {
        let ThreadRequest { thread, what, by, .. } = act.clone();
        Some(DecisionReport { thread, verb: what.name(), by, sentence, recorded })
    };
    let plan = match people::plan(&act, &computed, &history, &rules) {
        Ok(plan) => plan,
        Err(PlanError::Failed(failure)) => return Err(failure),
        Err(objection @ (PlanError::Refused { .. } | PlanError::UnknownTarget { .. })) => {
            let decision = report_decision(&act, None, RecordingOutcome::Refused(objection));
            return Ok(ActReport { pull_request: address, decision, steps: Vec::new(), trouble: None });
        }
    };
    let journal = match (consent, journal) {
        (Consent::Ask(ask), Some(journal)) => {
            consent::get_consent(ask, &plan.sentences())?;
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
            let decision = report_decision(&act, plan.sentence, recorded);
            return Ok(ActReport { pull_request: address, decision, steps, trouble: None });
        }
    };
    let keeper = SnapshotKeeper { journal: &journal, about: &about, is_whole: read.gaps.is_empty() };
    keeper.keep(&snapshot, unrecorded).await?;
    let done = carry_out(&plan, &about, &journal, &writer).await;
    let recorded = match (plan.facts.is_empty(), done.recorded) {
        (false, true) => RecordingOutcome::Now,
        (false, false) => RecordingOutcome::Failed,
        (true, _) => nothing_new(&plan),
    };
    let attempts = plan.writes.iter().map(|planned| &planned.write).zip(&done.writes);
    let mut after = read.snapshot;
    for write in attempts.filter(|(_, attempt)| attempt.is_in_effect()).map(|(write, _)| write) {
        apply_to_snapshot(write, &mut after);
    }
    // The act is done, even if the snapshot cannot be stored; the next poll brings it.
    let kept = keeper.keep(&after, Vec::new()).await;
    let trouble = done.trouble.map(Failure::from).or(kept.err());
    journal.close().await?;
    let decision = report_decision(&act, plan.sentence, recorded);
    let steps = plan.writes.into_iter().zip(done.writes);
    let steps = steps.map(|(planned, attempt)| WriteStep::new(planned, attempt));
    Ok(ActReport { pull_request: address, decision, steps: steps.collect(), trouble })
}

fn nothing_new(plan: &ThreadPlan) -> RecordingOutcome {
    if plan.already { RecordingOutcome::Before } else { RecordingOutcome::Nothing }
}

/// The exact calls that would be sent.
async fn rehearse(writer: &Writer<Client>, plan: &ThreadPlan) -> Result<Vec<WriteStep>, Failure> {
    let mut steps = Vec::new();
    for planned in &plan.writes {
        let described = writer.rehearse(&planned.write).await;
        let described = described.map_err(|error| report::nothing_written(&error))?;
        steps.push(WriteStep {
            write: planned.write.clone(),
            outcome: WriteStepOutcome::Rehearsed(described.calls),
            only_marks: planned.only_marks,
        });
    }
    Ok(steps)
}

/// Stores the snapshot that the command has read.
struct SnapshotKeeper<'a> {
    journal: &'a Journal,
    about: &'a PullRequestKey,
    /// A snapshot with gaps is not stored: it would hide the missing parts from the next reader.
    is_whole: bool,
}

impl SnapshotKeeper<'_> {
    async fn keep(
        &self,
        snapshot: &crate::domain::snapshot::PullRequestSnapshot,
        records: Vec<NewRecord>,
    ) -> Result<(), Failure> {
        if !records.is_empty() {
            self.journal.append(records).await?;
        }
        if self.is_whole {
            self.journal.save_snapshot(self.about.host.clone(), snapshot, None).await?;
        }
        Ok(())
    }
}
