//! What is done to a thread: held against where it stands, agreed to, recorded, and written once.

use super::report::{self, Became, Decision, Recorded, Report, Step};
use super::{Consent, Order, ThreadVerb, consent, plan, thread};
use crate::app::connection::Settings;
use crate::app::session::{existing_journal, open_journal, pace};
use crate::failure::Failure;
use crate::github::read::Read;
use crate::github::{Client, Writer};
use crate::journal::{Journal, NewRecord, PullRequestKey};
use crate::reviewers::profiles::Profiles;
use crate::supervisor::clock::{Clock, SystemClock};
use crate::supervisor::people::{self, Act, Objection, Past, Plan, carry_out, known, take_over};
use crate::supervisor::standing::Rules;
use std::path::PathBuf;
use std::sync::Arc;

/// What was asked for, and by whom.
pub(super) struct Wanted<'a> {
    pub(super) order: &'a Order,
    pub(super) thread: &'a str,
    pub(super) verb: &'a ThreadVerb,
    pub(super) by: String,
}

pub(super) async fn act(
    wanted: Wanted<'_>,
    settings: &Settings<'_>,
    profiles: &Profiles,
    client: &Client,
    read: Read,
    state_folder: Option<PathBuf>,
    consent: Consent<'_>,
) -> Result<Report, Failure> {
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
    let mut past = Past::default();
    let mut news = Vec::new();
    if let Some(journal) = &journal {
        past = Past::load(journal, &about).await?;
        let before = journal.last_snapshot(&about).await?;
        news = known::notice(before.as_ref(), &read.snapshot, &about, &mut past, now);
    }
    let snapshot = Arc::new(read.snapshot.clone());
    let rules = Rules::of(settings.config, profiles, &address.repository, false);
    let standing = known::stand(&snapshot, &past, settings.config, profiles);
    let id = thread::find(wanted.thread, &read, &standing, &address)?;
    let ThreadVerb { what, reason } = wanted.verb;
    let act = Act {
        thread: id,
        what: what.clone(),
        reason: reason.clone(),
        by: wanted.by,
        occasion: wanted.order.key.clone(),
    };
    let told = |act: &Act, sentence, recorded| {
        let Act { thread, what, by, .. } = act.clone();
        Some(Decision { thread, verb: what.name(), by, sentence, recorded })
    };
    let plan = match people::plan(&act, &standing, &past, &rules, now) {
        Ok(plan) => plan,
        Err(Objection::Failed(failure)) => return Err(failure),
        Err(objection @ (Objection::Refused { .. } | Objection::UnknownTarget { .. })) => {
            let decision = told(&act, None, Recorded::Refused(objection));
            return Ok(Report { pull_request: address, decision, steps: Vec::new(), trouble: None });
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
            let recorded = if plan.facts.is_empty() { nothing_new(&plan) } else { Recorded::Rehearsed };
            let decision = told(&act, plan.sentence, recorded);
            return Ok(Report { pull_request: address, decision, steps, trouble: None });
        }
    };
    let desk = Desk { journal: &journal, about: &about, is_whole: read.gaps.is_empty() };
    desk.keep(&snapshot, news).await?;
    let done = carry_out(&plan, &about, &journal, &writer).await;
    let recorded = match (plan.facts.is_empty(), done.recorded) {
        (false, true) => Recorded::Now,
        (false, false) => Recorded::Failed,
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
    let steps = steps.map(|(deed, tried)| Step { write: deed.write, became: tried.into() });
    Ok(Report { pull_request: address, decision, steps: steps.collect(), trouble })
}

fn nothing_new(plan: &Plan) -> Recorded {
    if plan.already { Recorded::Before } else { Recorded::Nothing }
}

/// Exactly what would be sent.
async fn rehearse(writer: &Writer<Client>, plan: &Plan) -> Result<Vec<Step>, Failure> {
    let mut steps = Vec::new();
    for deed in &plan.deeds {
        let described = writer.rehearse(&deed.write).await;
        let described = described.map_err(|error| report::nothing_written(&error))?;
        steps.push(Step { write: deed.write.clone(), became: Became::Rehearsed(described.calls) });
    }
    Ok(steps)
}

/// Where what was read is kept.
struct Desk<'a> {
    journal: &'a Journal,
    about: &'a PullRequestKey,
    /// What was read in part only would hide the rest from whoever looks next.
    is_whole: bool,
}

impl Desk<'_> {
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
