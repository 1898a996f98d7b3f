//! A person at a screen: what they order is first proposed, in sentences, and carried out only as it was agreed to.
//!
//! Everything is planned against the newest look there is and against the journal, twice: for the proposal, and again when
//! it is carried out. Where the two differ, nothing is done and the new proposal is shown instead, so that nobody agrees to
//! what they did not see.
//!
//! What is absent: nothing here asks. Whoever calls [`Desk::carry_out`] has somebody's word for this very proposal.

use super::{Act, CarriedOut, Past, Plan, Tried, What, carry_out, known, plan};
use crate::config::Config;
use crate::domain::post::Reads;
use crate::domain::snapshot::PullRequestSnapshot;
use crate::domain::vocabulary::ThreadId;
use crate::failure::Failure;
use crate::github::write::Write;
use crate::github::{Client, Outcome, PullRequestAddress, Reader, Writer};
use crate::journal::{Journal, PullRequestKey};
use crate::supervisor::clock::Clock;
use crate::supervisor::fact::Verb;
use crate::supervisor::standing::Rules;
use crate::supervisor::view::Board;
use jiff::Timestamp;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OnceCell;

/// What a person wants done to threads, be they of several pull requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    pub what: What,
    pub threads: Vec<(PullRequestAddress, ThreadId)>,
    /// Why; for a reply, the reply itself.
    pub reason: Option<String>,
}

/// What an order comes to. Nothing is done yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    pub order: Order,
    pub plans: Vec<(PullRequestAddress, Plan)>,
    /// Why some of it cannot be done, each with the thread it is about.
    pub objections: Vec<Trouble>,
}

/// What went wrong with one thread, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    pub address: PullRequestAddress,
    pub thread: ThreadId,
    pub sentence: String,
}

/// What became of an order that was agreed to.
#[derive(Debug, Clone, PartialEq)]
pub enum Became {
    Done(Done),
    /// It would come to something else by now, and nothing was done.
    Changed(Proposal),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    pub order: Order,
    /// The threads that are as they were ordered to be.
    pub done: Vec<(PullRequestAddress, ThreadId)>,
    pub troubles: Vec<Trouble>,
}

impl Proposal {
    pub fn is_empty(&self) -> bool {
        self.plans.is_empty()
    }

    /// What whoever is to agree gets to see (U3): every record and every write, and what is posted to the letter.
    pub fn sentences(&self) -> Vec<String> {
        self.plans.iter().flat_map(|(_, plan)| plan.sentences()).collect()
    }

    /// The texts that would be posted, each once.
    pub fn texts(&self) -> Vec<&str> {
        let mut texts: Vec<&str> = Vec::new();
        for deed in self.plans.iter().flat_map(|(_, plan)| &plan.deeds) {
            if let Write::Reply { body, .. } | Write::Comment { body, .. } = &deed.write
                && !texts.contains(&body.as_str())
            {
                texts.push(body);
            }
        }
        texts
    }

    /// Whether anything is written to the forge.
    pub fn writes(&self) -> bool {
        self.plans.iter().any(|(_, plan)| !plan.deeds.is_empty())
    }

    /// Whether somebody is sent to work again for it, which costs money.
    pub fn spends(&self) -> bool {
        self.order.what == What::Decide(Verb::Return)
    }
}

/// Where a person's orders are planned and carried out.
#[derive(Debug)]
pub struct Desk {
    config: Arc<Config>,
    reads: Arc<dyn Reads>,
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
pub struct Setup {
    pub config: Arc<Config>,
    pub reads: Arc<dyn Reads>,
    pub journal: Journal,
    pub client: Client,
    /// The one that everything in this process writes with.
    pub writer: Arc<Writer<Client>>,
    pub clock: Arc<dyn Clock>,
    /// A name for the journal, where the forge cannot be asked whose token it is.
    pub by: String,
    pub read_only: bool,
}

impl Desk {
    pub fn new(setup: Setup) -> Desk {
        let Setup { config, reads, journal, client, writer, clock, by, read_only } = setup;
        Desk {
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
    pub async fn propose(&self, order: Order, board: &Board) -> Result<Proposal, Failure> {
        if self.read_only {
            return Err(Failure::usage(
                "nothing is done with --read-only; start without it to decide things",
            ));
        }
        let by = self.by().await;
        let (mut plans, mut objections) = (Vec::new(), Vec::new());
        let mut pasts: Vec<(PullRequestAddress, Past)> = Vec::new();
        for (address, thread) in &order.threads {
            let trouble =
                |sentence: String| Trouble { address: address.clone(), thread: thread.clone(), sentence };
            let Some(snapshot) = self.snapshot(address, board) else {
                objections.push(trouble(format!("{address} was not read yet; wait for the next look")));
                continue;
            };
            if !pasts.iter().any(|(known, _)| known == address) {
                pasts.push((address.clone(), Past::load(&self.journal, &self.about(address)).await?));
            }
            let Some((_, past)) = pasts.iter().find(|(known, _)| known == address) else { continue };
            let act = Act {
                thread: thread.clone(),
                what: order.what,
                reason: order.reason.clone(),
                by: by.clone(),
                occasion: None,
            };
            let standing = known::stand(&snapshot, past, &self.config, &*self.reads);
            let rules = Rules::of(&self.config, &*self.reads, &address.repository, false);
            match plan(&act, &standing, past, &rules, self.clock.now()) {
                Ok(plan) => plans.push((address.clone(), plan)),
                Err(objection) => objections.push(trouble(objection.to_string())),
            }
        }
        // Two threads that report one finding are settled by the same writes.
        let mut seen = Vec::new();
        for (address, plan) in &mut plans {
            plan.deeds.retain(|deed| {
                let name = (address.clone(), deed.name.clone());
                let is_new = !seen.contains(&name);
                seen.push(name);
                is_new
            });
        }
        Ok(Proposal { order, plans, objections })
    }

    /// Does what was agreed to, if it still comes to the same.
    pub async fn carry_out(&self, agreed: Proposal, board: &Board) -> Result<Became, Failure> {
        let now = self.propose(agreed.order.clone(), board).await?;
        let (was, is) = (agreed.sentences(), now.sentences());
        if was != is || agreed.texts() != now.texts() {
            return Ok(Became::Changed(now));
        }
        let mut told = Done { order: now.order, done: Vec::new(), troubles: now.objections };
        for (address, plan) in now.plans {
            let carried = carry_out(&plan, &self.about(&address), &self.journal, &self.writer).await;
            self.remember(&address, &plan, &carried);
            let thread = plan.act.thread.clone();
            match trouble(&carried) {
                None => told.done.push((address, thread)),
                Some(sentence) => told.troubles.push(Trouble { address, thread, sentence }),
            }
        }
        Ok(Became::Done(told))
    }

    /// The login that the token speaks for, which is asked for once.
    async fn by(&self) -> String {
        let asked = self.login.get_or_try_init(async || {
            let (account, _) = self.reader.viewer().await?;
            Ok::<_, crate::github::Error>(account.spelled())
        });
        asked.await.cloned().unwrap_or_else(|_| self.local.clone())
    }

    fn about(&self, address: &PullRequestAddress) -> PullRequestKey {
        PullRequestKey {
            host: self.reader.transport().host().name().to_owned(),
            repository: address.repository.clone(),
            number: address.number,
        }
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

    fn remember(&self, address: &PullRequestAddress, plan: &Plan, carried: &CarriedOut) {
        let at = self.clock.now();
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        for (deed, _) in plan.deeds.iter().zip(&carried.deeds).filter(|(_, tried)| tried.is_in_effect()) {
            written.push((at, address.clone(), deed.write.clone()));
        }
    }
}

/// Why not all of it is in effect, in a sentence that says what to do.
fn trouble(carried: &CarriedOut) -> Option<String> {
    if let Some(error) = &carried.trouble {
        return Some(format!("it could not be recorded, so nothing more was done: {error}"));
    }
    carried.deeds.iter().find_map(|tried| match tried {
        Tried::Told(Outcome::Done(_) | Outcome::AlreadyThere(_)) | Tried::NotTried => None,
        Tried::Told(outcome) => Some(outcome.sentence()),
        Tried::NotDone(error) => Some(format!("GitHub did not take it: {error}; do the same again to go on")),
    })
}
