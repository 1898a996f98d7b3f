//! Handles a person's requests from the terminal: first a proposal in sentences, then, once the person
//! agrees, the act.
//!
//! Each request is planned twice against the newest snapshot and the journal: for the proposal, and again
//! before it is carried out. If the two plans differ, nothing is done and the person gets the new proposal.
//!
//! What is absent: nothing here asks for consent. The caller of [`RequestHandler::carry_out`] has asked for
//! this proposal.

use super::ways_out::way_out;
use super::{
    InboxNotifier, PlanOutcome, ThreadAct, ThreadPlan, ThreadRequest, Way, WayOut, WayOutMeans, WayOutQuery,
    WriteAttempt, carry_out, plan, stored, ways_out, write_out,
};
use crate::agents::secret::SecretScanner;
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

/// A person's request.
#[derive(Debug, Clone, PartialEq)]
pub enum PersonRequest {
    /// About threads, of one or several pull requests.
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

/// A thread of any pull request.
pub type ThreadAddress = (PullRequestAddress, ThreadId);

impl PersonRequest {
    #[must_use]
    pub fn with_reason(mut self, why: String) -> PersonRequest {
        let (PersonRequest::Threads { reason, .. } | PersonRequest::PullRequest { reason, .. }) = &mut self;
        *reason = Some(why);
        self
    }

    pub fn pull_requests(&self) -> Vec<&PullRequestAddress> {
        match self {
            PersonRequest::Threads { threads, .. } => threads.iter().map(|(address, _)| address).collect(),
            PersonRequest::PullRequest { address, .. } => vec![address],
        }
    }

    /// A few words for a menu or a heading.
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

/// The plan for a request. Nothing is done yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    pub order: PersonRequest,
    pub steps: Vec<ProposedStep>,
    /// The parts that cannot be done, and why.
    pub objections: Vec<RequestProblem>,
}

/// One part of a proposal.
#[derive(Debug, Clone, PartialEq)]
pub enum ProposedStep {
    Thread { address: PullRequestAddress, plan: ThreadPlan },
    PullRequest { address: PullRequestAddress, way_out: WayOut },
}

/// A problem in a sentence, and what it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestProblem {
    pub address: PullRequestAddress,
    /// None for a problem with the whole pull request.
    pub thread: Option<ThreadId>,
    pub sentence: String,
}

/// The result of a request that the person agreed to.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestOutcome {
    Done(CompletedRequest),
    /// Nothing was done, because the plan has changed. This is the new one.
    Changed(Proposal),
}

#[derive(Debug, Clone, PartialEq)]
pub struct CompletedRequest {
    pub order: PersonRequest,
    /// The threads whose part was done completely.
    pub threads: Vec<ThreadAddress>,
    /// Those of them whose part was recorded now, so that it can be undone.
    pub recorded: Vec<ThreadAddress>,
    /// Commands that the caller still has to pass to the supervisor.
    pub tell: Vec<(PullRequestAddress, LoopCommand)>,
    pub troubles: Vec<RequestProblem>,
}

impl ProposedStep {
    fn planned_writes(&self) -> &[PlannedWrite] {
        match self {
            ProposedStep::Thread { plan, .. } => &plan.writes,
            ProposedStep::PullRequest {
                way_out: WayOut { means: WayOutMeans::Write(writes), .. }, ..
            } => writes,
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

    /// The sentences that the person agrees to (U3): every record and every write.
    pub fn sentences(&self) -> Vec<String> {
        self.steps.iter().flat_map(ProposedStep::sentences).collect()
    }

    /// The exact texts that would be posted, each once.
    pub fn texts(&self) -> Vec<&str> {
        let mut texts: Vec<&str> = Vec::new();
        for planned in self.steps.iter().flat_map(ProposedStep::planned_writes) {
            if let Write::Reply { body, .. } | Write::Comment { body, .. } | Write::Review { body, .. } =
                &planned.write
                && !body.is_empty()
                && !texts.contains(&body.as_str())
            {
                texts.push(body);
            }
        }
        texts
    }

    /// Whether the request needs no confirmation: it concerns one thread, writes nothing and starts no paid
    /// work.
    pub fn needs_no_question(&self) -> bool {
        let is_harmless = |step: &ProposedStep| match step {
            ProposedStep::Thread { plan, .. } => {
                plan.writes.is_empty() && plan.act.what != ThreadAct::Decide(Decision::Return)
            }
            ProposedStep::PullRequest { .. } => false,
        };
        self.steps.len() < 2 && self.objections.is_empty() && self.steps.iter().all(is_harmless)
    }
}

/// Plans and carries out a person's requests.
#[derive(Debug)]
pub struct RequestHandler {
    config: Arc<Config>,
    reads: Arc<dyn PostReader>,
    journal: Journal,
    reader: Reader<Client>,
    writer: Arc<Writer<Client>>,
    clock: Arc<dyn Clock>,
    /// The name for records if GitHub does not tell whose token it is.
    local: String,
    login: OnceCell<String>,
    /// Refuse all requests.
    read_only: bool,
    /// Writes that no poll has confirmed yet.
    written: Mutex<Vec<(Timestamp, PullRequestAddress, Write)>>,
}

/// The inputs of a request handler.
#[derive(Debug)]
pub struct RequestHandlerSetup {
    pub config: Arc<Config>,
    pub reads: Arc<dyn PostReader>,
    pub journal: Journal,
    pub client: Client,
    /// The one writer of this process.
    pub writer: Arc<Writer<Client>>,
    pub clock: Arc<dyn Clock>,
    /// The name for records if GitHub does not tell whose token it is.
    pub by: String,
    pub read_only: bool,
}

/// Which methods the repository allows is not known here, so all are offered. GitHub refuses the others.
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

    /// Plans a request. An error concerns the whole request.
    pub async fn propose(&self, request: PersonRequest, board: &Board) -> Result<Proposal, Failure> {
        if self.read_only {
            return Err(Failure::usage("nothing is done with --read-only; start Cloture without it to act"));
        }
        let (PersonRequest::Threads { reason, .. } | PersonRequest::PullRequest { reason, .. }) = &request;
        check_reason(reason.as_deref(), self.writer.secrets())?;
        let by = self.by().await;
        let mut proposal = Proposal { order: request.clone(), steps: Vec::new(), objections: Vec::new() };
        match request {
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
                    if !histories.iter().any(|(loaded, _)| *loaded == address) {
                        histories.push((
                            address.clone(),
                            History::load(&self.journal, &self.about(&snapshot)).await?,
                        ));
                    }
                    let Some((_, history)) = histories.iter().find(|(loaded, _)| *loaded == address) else {
                        continue;
                    };
                    let (what, reason, by) = (what.clone(), reason.clone(), by.clone());
                    let act = ThreadRequest { thread: thread.clone(), what, reason, by, callers_key: None };
                    let computed = stored::compute_stored(&snapshot, history, &self.config, &*self.reads);
                    match plan(&act, &computed, history, &self.rules(&snapshot)) {
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
                let history = History::load(&self.journal, &self.about(&snapshot)).await?;
                let computed = stored::compute_stored(&snapshot, &history, &self.config, &*self.reads);
                let query = WayOutQuery {
                    computed: &computed,
                    history: &history,
                    rules: &self.rules(&snapshot),
                    exit: board.get(&address).and_then(|view| view.exit()),
                    methods: &METHODS,
                    by: &by,
                    reason: reason.as_deref(),
                };
                let found = way_out(way, &query)?;
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

    /// The ways out of one pull request, also those that are not possible now.
    pub async fn ways_out(
        &self,
        address: &PullRequestAddress,
        board: &Board,
    ) -> Result<Vec<WayOut>, Failure> {
        let Some(snapshot) = self.snapshot(address, board) else {
            return Err(Failure::usage(unread(address)));
        };
        let history = History::load(&self.journal, &self.about(&snapshot)).await?;
        let computed = stored::compute_stored(&snapshot, &history, &self.config, &*self.reads);
        ways_out(&WayOutQuery {
            computed: &computed,
            history: &history,
            rules: &self.rules(&snapshot),
            exit: board.get(address).and_then(|view| view.exit()),
            methods: &METHODS,
            by: &self.by().await,
            reason: None,
        })
    }

    /// Carries out a proposal that the person agreed to, unless the plan has changed.
    pub async fn carry_out(&self, agreed: Proposal, board: &Board) -> Result<RequestOutcome, Failure> {
        let now = self.propose(agreed.order.clone(), board).await?;
        if agreed.sentences() != now.sentences() || agreed.texts() != now.texts() {
            return Ok(RequestOutcome::Changed(now));
        }
        let mut completed = CompletedRequest {
            order: now.order,
            threads: Vec::new(),
            recorded: Vec::new(),
            tell: Vec::new(),
            troubles: now.objections,
        };
        for step in now.steps {
            match step {
                ProposedStep::Thread { address, plan } => {
                    let about = self.key(&address, board);
                    let outcome = carry_out(&plan, &about, &self.journal, &self.writer).await;
                    self.remember(&address, &plan.writes, &outcome);
                    let (done, sentence) = (is_done(&plan.writes, &outcome), trouble(&outcome));
                    let thread = plan.act.thread;
                    if done {
                        completed.threads.push((address.clone(), thread.clone()));
                    }
                    if outcome.recorded {
                        completed.recorded.push((address.clone(), thread.clone()));
                    }
                    completed.troubles.extend(sentence.map(|sentence| RequestProblem {
                        address,
                        thread: Some(thread),
                        sentence,
                    }));
                }
                ProposedStep::PullRequest { address, way_out } => match &way_out.means {
                    WayOutMeans::Write(writes) => {
                        let (by, about) = (self.by().await, self.key(&address, board));
                        let outcome = write_out(writes, &by, &about, &self.journal, &self.writer).await;
                        self.remember(&address, writes, &outcome);
                        if let Some(sentence) = way_out.trouble(&outcome) {
                            completed.troubles.push(RequestProblem { address, thread: None, sentence });
                        }
                    }
                    WayOutMeans::Tell(command) => completed.tell.push((address, command.clone())),
                    WayOutMeans::ByHand | WayOutMeans::Not(_) => {}
                },
            }
        }
        Ok(RequestOutcome::Done(completed))
    }

    /// The login of the token's account; GitHub is asked for it once.
    async fn by(&self) -> String {
        let login = self.login.get_or_try_init(async || {
            let (account, _) = self.reader.viewer().await?;
            Ok::<_, crate::github::Error>(account.spelled())
        });
        login.await.cloned().unwrap_or_else(|_| self.local.clone())
    }

    /// A notifier for threads that start to wait for a person.
    pub fn notifier(&self) -> InboxNotifier {
        InboxNotifier::new(&self.config)
    }

    fn host(&self) -> String {
        self.reader.transport().host().name().to_owned()
    }

    fn key(&self, address: &PullRequestAddress, board: &Board) -> PullRequestKey {
        let snapshot = board.get(address).and_then(|view| view.snapshot());
        let filed_as = snapshot.map_or(&address.repository, PullRequestSnapshot::filed_as);
        PullRequestKey { host: self.host(), repository: filed_as.clone(), number: address.number }
    }

    fn about(&self, snapshot: &PullRequestSnapshot) -> PullRequestKey {
        let (repository, number) = (snapshot.filed_as().clone(), snapshot.number);
        PullRequestKey { host: self.host(), repository, number }
    }

    fn rules(&self, snapshot: &PullRequestSnapshot) -> RepositoryRules<'_> {
        RepositoryRules::of_names(&self.config, &*self.reads, snapshot.names(), false)
    }

    /// The latest snapshot, with the writes since.
    fn snapshot(&self, address: &PullRequestAddress, board: &Board) -> Option<Arc<PullRequestSnapshot>> {
        let view = board.get(address)?;
        let mut snapshot = Arc::clone(&view.computed.as_ref()?.snapshot);
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.retain(|(at, of, _)| of != address || view.seen_at.is_none_or(|polled| polled <= *at));
        for (_, _, write) in written.iter().filter(|(_, of, _)| of == address) {
            super::apply_to_snapshot(write, Arc::make_mut(&mut snapshot));
        }
        Some(snapshot)
    }

    fn remember(&self, address: &PullRequestAddress, writes: &[PlannedWrite], outcome: &PlanOutcome) {
        let at = self.clock.now();
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        for (planned, _) in writes.iter().zip(&outcome.writes).filter(|(_, attempt)| attempt.is_in_effect()) {
            written.push((at, address.clone(), planned.write.clone()));
        }
    }
}

/// S2: the reason is recorded, and often posted.
pub fn check_reason(reason: Option<&str>, secrets: &SecretScanner) -> Result<(), Failure> {
    match reason.and_then(|reason| secrets.find(reason)) {
        None => Ok(()),
        Some(secret) => Err(Failure::usage(format_args!(
            "the text contains {secret}; Cloture posts and records no secrets, so nothing was done. Remove it \
             from the text"
        ))),
    }
}

fn unread(address: &PullRequestAddress) -> String {
    format!("{address} was not read yet; wait for the next poll")
}

/// Two threads that report one finding share their writes. Each write is kept once.
fn once_each(steps: &mut [ProposedStep]) {
    let mut seen: Vec<(PullRequestAddress, String)> = Vec::new();
    for step in steps {
        let ProposedStep::Thread { address, plan } = step else { continue };
        plan.writes.retain(|planned| {
            let name = (address.clone(), planned.name.clone());
            let is_new = !seen.contains(&name);
            seen.push(name);
            is_new
        });
    }
}

/// Whether everything is in effect, apart from writes that only mark.
fn is_done(writes: &[PlannedWrite], outcome: &PlanOutcome) -> bool {
    let mut attempts = writes.iter().zip(&outcome.writes);
    outcome.trouble.is_none() && attempts.all(|(write, tried)| write.only_marks || tried.is_in_effect())
}

/// The first problem, in a sentence that says what to do.
fn trouble(outcome: &PlanOutcome) -> Option<String> {
    if let Some(error) = &outcome.trouble {
        return Some(format!("it could not be recorded, so nothing more was done: {error}"));
    }
    outcome.writes.iter().find_map(|attempt| match attempt {
        WriteAttempt::Outcome(WriteOutcome::Done(_) | WriteOutcome::AlreadyThere(_))
        | WriteAttempt::NotTried => None,
        WriteAttempt::Outcome(outcome) => Some(outcome.sentence()),
        WriteAttempt::NotDone(error) => {
            Some(format!("GitHub did not accept it: {error}; repeat the request to continue"))
        }
    })
}
