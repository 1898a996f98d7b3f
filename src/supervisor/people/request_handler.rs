//! A person at a screen: what they order is first proposed, in sentences, and carried out only as it was agreed to.
//!
//! Everything is planned against the newest look there is and against the journal, twice: for the proposal, and again when
//! it is carried out. Where the two differ, nothing is done and the new proposal is shown instead, so that nobody agrees to
//! what they did not see.
//!
//! What is absent: nothing here asks. Whoever calls [`RequestHandler::carry_out`] has somebody's word for this very proposal.

use super::ways_out::way_out;
use super::{
    InboxNotifier, PlanOutcome, ThreadAct, ThreadPlan, ThreadRequest, Way, WayOut, WayOutMeans, WayOutQuery,
    WriteAttempt, carry_out, plan, stored, ways_out, write_out,
};
use crate::config::Config;
use crate::domain::machine::Decision;
use crate::domain::post::PostReader;
use crate::domain::snapshot::PullRequestSnapshot;
use crate::domain::vocabulary::ThreadId;
use crate::failure::Failure;
use crate::github::write::{MergeMethod, Write};
use crate::github::{Client, PullRequestAddress, Reader, WriteOutcome, Writer};
use crate::journal::{Journal, PullRequestKey};
use crate::supervisor::clock::Clock;
use crate::supervisor::computed_state::RepositoryRules;
use crate::supervisor::history::History;
use crate::supervisor::planned_writes::PlannedWrite;
use crate::supervisor::{Board, LoopCommand};
use jiff::Timestamp;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OnceCell;

/// What a person wants done.
#[derive(Debug, Clone, PartialEq)]
pub enum PersonRequest {
    /// To threads, be they of several pull requests.
    Threads {
        what: ThreadAct,
        threads: Vec<ThreadAddress>,
        /// Why; for a reply, the reply itself.
        reason: Option<String>,
    },
    PullRequest {
        address: PullRequestAddress,
        way: Way,
        reason: Option<String>,
    },
}

/// A thread, over all pull requests.
pub type ThreadAddress = (PullRequestAddress, ThreadId);

impl PersonRequest {
    #[must_use]
    pub fn because(mut self, why: String) -> PersonRequest {
        let (PersonRequest::Threads { reason, .. } | PersonRequest::PullRequest { reason, .. }) = &mut self;
        *reason = Some(why);
        self
    }

    /// What it is about.
    pub fn pull_requests(&self) -> Vec<&PullRequestAddress> {
        match self {
            PersonRequest::Threads { threads, .. } => threads.iter().map(|(address, _)| address).collect(),
            PersonRequest::PullRequest { address, .. } => vec![address],
        }
    }

    /// What is to be done, in a word or a few.
    pub fn name(&self) -> &'static str {
        match self {
            PersonRequest::Threads { what, .. } => what.name(),
            PersonRequest::PullRequest { way, .. } => way.name(),
        }
    }

    pub fn threads(&self) -> &[ThreadAddress] {
        match self {
            PersonRequest::Threads { threads, .. } => threads,
            PersonRequest::PullRequest { .. } => &[],
        }
    }
}

/// What an order comes to. Nothing is done yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    pub order: PersonRequest,
    pub steps: Vec<ProposedStep>,
    /// Why some of it cannot be done.
    pub objections: Vec<RequestProblem>,
}

/// One part of it.
#[derive(Debug, Clone, PartialEq)]
pub enum ProposedStep {
    Thread { address: PullRequestAddress, plan: ThreadPlan },
    PullRequest { address: PullRequestAddress, way_out: WayOut },
}

/// What went wrong, in a sentence, and with what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestProblem {
    pub address: PullRequestAddress,
    /// None where the whole pull request is meant.
    pub thread: Option<ThreadId>,
    pub sentence: String,
}

/// What became of an order that was agreed to.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestOutcome {
    Done(CompletedRequest),
    /// It would come to something else by now, and nothing was done.
    Changed(Proposal),
}

#[derive(Debug, Clone, PartialEq)]
pub struct CompletedRequest {
    pub order: PersonRequest,
    /// The threads that are as they were ordered to be.
    pub threads: Vec<ThreadAddress>,
    /// What is still to be told to a loop.
    pub tell: Vec<(PullRequestAddress, LoopCommand)>,
    pub troubles: Vec<RequestProblem>,
}

impl ProposedStep {
    fn deeds(&self) -> &[PlannedWrite] {
        match self {
            ProposedStep::Thread { plan, .. } => &plan.deeds,
            ProposedStep::PullRequest {
                way_out: WayOut { means: WayOutMeans::Write(deeds), .. }, ..
            } => deeds,
            ProposedStep::PullRequest { .. } => &[],
        }
    }

    fn sentences(&self) -> Vec<String> {
        match self {
            ProposedStep::Thread { plan, .. } => plan.sentences(),
            ProposedStep::PullRequest { way_out, .. } => way_out.sentences.clone(),
        }
    }
}

impl Proposal {
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// What whoever is to agree gets to see (U3): every record and every write.
    pub fn sentences(&self) -> Vec<String> {
        self.steps.iter().flat_map(ProposedStep::sentences).collect()
    }

    /// What would be posted, to the letter, each text once.
    pub fn texts(&self) -> Vec<&str> {
        let mut texts: Vec<&str> = Vec::new();
        for deed in self.steps.iter().flat_map(ProposedStep::deeds) {
            if let Write::Reply { body, .. } | Write::Comment { body, .. } | Write::Review { body, .. } =
                &deed.write
                && !body.is_empty()
                && !texts.contains(&body.as_str())
            {
                texts.push(body);
            }
        }
        texts
    }

    /// Whether it may be done without a question: nothing is written, nobody is sent to work for money, and it is about one
    /// thread only.
    pub fn needs_no_question(&self) -> bool {
        let is_harmless = |step: &ProposedStep| match step {
            ProposedStep::Thread { plan, .. } => {
                plan.deeds.is_empty() && plan.act.what != ThreadAct::Decide(Decision::Return)
            }
            ProposedStep::PullRequest { .. } => false,
        };
        self.steps.len() < 2 && self.objections.is_empty() && self.steps.iter().all(is_harmless)
    }
}

/// Where a person's orders are planned and carried out.
#[derive(Debug)]
pub struct RequestHandler {
    config: Arc<Config>,
    reads: Arc<dyn PostReader>,
    journal: Journal,
    reader: Reader<Client>,
    writer: Arc<Writer<Client>>,
    clock: Arc<dyn Clock>,
    /// Who sits here, where the forge cannot be asked whose token it is.
    local: String,
    login: OnceCell<String>,
    /// Nothing is done, whoever agrees to it.
    read_only: bool,
    /// What was written here and may not have been seen by a poll yet.
    written: Mutex<Vec<(Timestamp, PullRequestAddress, Write)>>,
}

/// What a desk is set up with.
#[derive(Debug)]
pub struct RequestHandlerSetup {
    pub config: Arc<Config>,
    pub reads: Arc<dyn PostReader>,
    pub journal: Journal,
    pub client: Client,
    /// The one that everything in this process writes with.
    pub writer: Arc<Writer<Client>>,
    pub clock: Arc<dyn Clock>,
    /// A name for the journal, where the forge cannot be asked whose token it is.
    pub by: String,
    pub read_only: bool,
}

/// Which of them a repository allows is not known, so that all are offered; the forge refuses the others.
const METHODS: [MergeMethod; 3] = [MergeMethod::Merge, MergeMethod::Squash, MergeMethod::Rebase];

impl RequestHandler {
    pub fn new(setup: RequestHandlerSetup) -> RequestHandler {
        let RequestHandlerSetup { config, reads, journal, client, writer, clock, by, read_only } = setup;
        RequestHandler {
            config,
            reads,
            journal,
            reader: Reader::new(client),
            writer,
            clock,
            local: by,
            login: OnceCell::new(),
            read_only,
            written: Mutex::default(),
        }
    }

    /// Says what an order would come to. An error is about all of it.
    pub async fn propose(&self, order: PersonRequest, board: &Board) -> Result<Proposal, Failure> {
        if self.read_only {
            return Err(Failure::usage(
                "nothing is done with --read-only; start without it to decide things",
            ));
        }
        let by = self.by().await;
        let mut proposal = Proposal { order: order.clone(), steps: Vec::new(), objections: Vec::new() };
        match order {
            PersonRequest::Threads { what, threads, reason } => {
                let mut histories: Vec<(PullRequestAddress, History)> = Vec::new();
                for (address, thread) in threads {
                    let trouble = |sentence| RequestProblem {
                        address: address.clone(),
                        thread: Some(thread.clone()),
                        sentence,
                    };
                    let Some(snapshot) = self.snapshot(&address, board) else {
                        proposal.objections.push(trouble(unread(&address)));
                        continue;
                    };
                    if !histories.iter().any(|(known, _)| *known == address) {
                        histories.push((
                            address.clone(),
                            History::load(&self.journal, &self.about(&address)).await?,
                        ));
                    }
                    let Some((_, history)) = histories.iter().find(|(known, _)| *known == address) else {
                        continue;
                    };
                    let (what, reason, by) = (what.clone(), reason.clone(), by.clone());
                    let act = ThreadRequest { thread: thread.clone(), what, reason, by, occasion: None };
                    let standing = stored::stand(&snapshot, history, &self.config, &*self.reads);
                    match plan(&act, &standing, history, &self.rules(&address), self.clock.now()) {
                        Ok(plan) => proposal.steps.push(ProposedStep::Thread { address, plan }),
                        Err(objection) => proposal.objections.push(trouble(objection.to_string())),
                    }
                }
                once_each(&mut proposal.steps);
            }
            PersonRequest::PullRequest { address, way, reason } => {
                let trouble = |sentence| RequestProblem { address: address.clone(), thread: None, sentence };
                let Some(snapshot) = self.snapshot(&address, board) else {
                    proposal.objections.push(trouble(unread(&address)));
                    return Ok(proposal);
                };
                let history = History::load(&self.journal, &self.about(&address)).await?;
                let standing = stored::stand(&snapshot, &history, &self.config, &*self.reads);
                let asked = WayOutQuery {
                    standing: &standing,
                    history: &history,
                    rules: &self.rules(&address),
                    exit: board.pull_requests.get(&address).and_then(|view| view.exit()),
                    methods: &METHODS,
                    by: &by,
                    reason: reason.as_deref(),
                };
                let found = way_out(way, &asked)?;
                match &found.means {
                    WayOutMeans::Not(why) => proposal.objections.push(trouble(format!("{address}: {why}"))),
                    WayOutMeans::Write(_) | WayOutMeans::Tell(_) | WayOutMeans::ByHand => {
                        proposal.steps.push(ProposedStep::PullRequest { address, way_out: found });
                    }
                }
            }
        }
        Ok(proposal)
    }

    /// Everything that can be done about a whole pull request, and why not the rest.
    pub async fn ways_out(
        &self,
        address: &PullRequestAddress,
        board: &Board,
    ) -> Result<Vec<WayOut>, Failure> {
        let Some(snapshot) = self.snapshot(address, board) else {
            return Err(Failure::usage(unread(address)));
        };
        let history = History::load(&self.journal, &self.about(address)).await?;
        let standing = stored::stand(&snapshot, &history, &self.config, &*self.reads);
        ways_out(&WayOutQuery {
            standing: &standing,
            history: &history,
            rules: &self.rules(address),
            exit: board.pull_requests.get(address).and_then(|view| view.exit()),
            methods: &METHODS,
            by: &self.by().await,
            reason: None,
        })
    }

    /// Does what was agreed to, if it still comes to the same.
    pub async fn carry_out(&self, agreed: Proposal, board: &Board) -> Result<RequestOutcome, Failure> {
        let now = self.propose(agreed.order.clone(), board).await?;
        if agreed.sentences() != now.sentences() || agreed.texts() != now.texts() {
            return Ok(RequestOutcome::Changed(now));
        }
        let mut told = CompletedRequest {
            order: now.order,
            threads: Vec::new(),
            tell: Vec::new(),
            troubles: now.objections,
        };
        for step in now.steps {
            match step {
                ProposedStep::Thread { address, plan } => {
                    let about = self.about(&address);
                    let carried = carry_out(&plan, &about, &self.journal, &self.writer).await;
                    self.remember(&address, &plan.deeds, &carried);
                    let thread = plan.act.thread;
                    match trouble(&carried) {
                        None => told.threads.push((address, thread)),
                        Some(sentence) => {
                            told.troubles.push(RequestProblem { address, thread: Some(thread), sentence });
                        }
                    }
                }
                ProposedStep::PullRequest { address, way_out } => match &way_out.means {
                    WayOutMeans::Write(deeds) => {
                        let (by, about) = (self.by().await, self.about(&address));
                        let carried = write_out(deeds, &by, &about, &self.journal, &self.writer).await;
                        self.remember(&address, deeds, &carried);
                        if let Some(sentence) = way_out.trouble(&carried) {
                            told.troubles.push(RequestProblem { address, thread: None, sentence });
                        }
                    }
                    WayOutMeans::Tell(command) => told.tell.push((address, command.clone())),
                    WayOutMeans::ByHand | WayOutMeans::Not(_) => {}
                },
            }
        }
        Ok(RequestOutcome::Done(told))
    }

    /// The login that the token speaks for, which is asked for once.
    async fn by(&self) -> String {
        let asked = self.login.get_or_try_init(async || {
            let (account, _) = self.reader.viewer().await?;
            Ok::<_, crate::github::Error>(account.spelled())
        });
        asked.await.cloned().unwrap_or_else(|_| self.local.clone())
    }

    /// Who tells the person when a thread starts to wait.
    pub fn teller(&self) -> InboxNotifier {
        InboxNotifier::new(&self.config, self.journal.clone(), self.host())
    }

    fn host(&self) -> String {
        self.reader.transport().host().name().to_owned()
    }

    fn about(&self, address: &PullRequestAddress) -> PullRequestKey {
        PullRequestKey { host: self.host(), repository: address.repository.clone(), number: address.number }
    }

    fn rules(&self, address: &PullRequestAddress) -> RepositoryRules<'_> {
        RepositoryRules::of(&self.config, &*self.reads, &address.repository, false)
    }

    /// The last look, with what was written here since.
    fn snapshot(&self, address: &PullRequestAddress, board: &Board) -> Option<Arc<PullRequestSnapshot>> {
        let view = board.pull_requests.get(address)?;
        let mut snapshot = Arc::clone(&view.standing.as_ref()?.snapshot);
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.retain(|(at, of, _)| of != address || view.seen_at.is_none_or(|seen| seen <= *at));
        for (_, _, write) in written.iter().filter(|(_, of, _)| of == address) {
            super::take_over(write, Arc::make_mut(&mut snapshot));
        }
        Some(snapshot)
    }

    fn remember(&self, address: &PullRequestAddress, deeds: &[PlannedWrite], carried: &PlanOutcome) {
        let at = self.clock.now();
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        for (deed, _) in deeds.iter().zip(&carried.deeds).filter(|(_, tried)| tried.is_in_effect()) {
            written.push((at, address.clone(), deed.write.clone()));
        }
    }
}

fn unread(address: &PullRequestAddress) -> String {
    format!("{address} was not read yet; wait for the next look")
}

/// Two threads that report one finding are settled by the same writes.
fn once_each(steps: &mut [ProposedStep]) {
    let mut seen: Vec<(PullRequestAddress, String)> = Vec::new();
    for step in steps {
        let ProposedStep::Thread { address, plan } = step else { continue };
        plan.deeds.retain(|deed| {
            let name = (address.clone(), deed.name.clone());
            let is_new = !seen.contains(&name);
            seen.push(name);
            is_new
        });
    }
}

/// Why not all of it is in effect, in a sentence that says what to do.
fn trouble(carried: &PlanOutcome) -> Option<String> {
    if let Some(error) = &carried.trouble {
        return Some(format!("it could not be recorded, so nothing more was done: {error}"));
    }
    carried.deeds.iter().find_map(|tried| match tried {
        WriteAttempt::Told(WriteOutcome::Done(_) | WriteOutcome::AlreadyThere(_))
        | WriteAttempt::NotTried => None,
        WriteAttempt::Told(outcome) => Some(outcome.sentence()),
        WriteAttempt::NotDone(error) => {
            Some(format!("GitHub did not take it: {error}; do the same again to go on"))
        }
    })
}
