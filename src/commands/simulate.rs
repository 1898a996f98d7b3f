//! `cloture simulate`: replays a trace of one pull request through the production engine and prints the
//! result of every event, without network and journal. Teams try a policy with it; tests check the engine.

mod report;
mod run;
mod trace;

pub use run::run;

use crate::agents::bounded_file;
use crate::domain::cycle::Violation;
use crate::domain::driven::{CycleOutcome, DrivenPullRequest, Refusal};
use crate::domain::handoff::{HandoffRules, HandoffTask};
use crate::domain::policy::Policy;
use crate::domain::re_review::{ClassifiedReply, PostedWords};
use crate::domain::verdict::Verdict;
use crate::domain::vocabulary::ThreadId;
use crate::replies::PhraseTables;
use crate::reviewers::answer::read_traced;
use crate::reviewers::object::Object;
use report::Reporter;
use std::io::{self, BufRead, Write};
use thiserror::Error;
use trace::{CycleEvent, Header, PersonEvent, ReopenEvent, ReplyEvent, TraceEvent};

/// Why a replay stopped. The lines before that are printed.
#[derive(Debug, Error)]
pub enum SimulateError {
    #[error("line {line} of the trace: {problem}")]
    Trace { line: u64, problem: String },
    #[error("cannot read the trace")]
    Read(#[source] io::Error),
    #[error("cannot write the report")]
    Write(#[source] io::Error),
}

/// Replays a trace, printing one line per event.
pub fn simulate(trace: impl BufRead, output: impl Write) -> Result<(), SimulateError> {
    let mut reporter = Reporter::new(output);
    let played = play_all(trace, &mut reporter);
    // The results before a bad line are printed even if the line ends the replay.
    reporter.flush().map_err(SimulateError::Write)?;
    played
}

fn play_all<W: Write>(trace: impl BufRead, reporter: &mut Reporter<W>) -> Result<(), SimulateError> {
    let mut lines = TraceLines { trace, number: 0 };
    let header = lines.next()?.unwrap_or_default();
    let Header { policy, handoff, author_is_bot } =
        trace::header(&header).map_err(|problem| lines.problem(problem))?;
    let mut replay = Replay { policy, handoff, pull_request: DrivenPullRequest::new(author_is_bot) };
    let mut number = 0;
    while let Some(line) = lines.next()? {
        let event = trace::event(&line).map_err(|problem| lines.problem(problem))?;
        number += 1;
        let outcome = replay.play(event);
        reporter
            .print(number, &outcome, &replay.pull_request, &replay.policy)
            .map_err(SimulateError::Write)?;
    }
    Ok(())
}

/// The results of one event besides the new state.
#[derive(Debug, Default)]
struct TraceOutcome {
    refused: Vec<Refused>,
    skipped: Option<&'static str>,
    verdict: Option<Verdict>,
    tasks: Vec<HandoffTask>,
}

/// Something that the engine refused: a reviewer's answer, or a person's act.
#[derive(Debug)]
enum Refused {
    Answer(Violation),
    Act(ThreadId, Refusal),
}

struct Replay {
    policy: Policy,
    handoff: HandoffRules,
    pull_request: DrivenPullRequest,
}

impl Replay {
    fn play(&mut self, event: TraceEvent) -> TraceOutcome {
        match event {
            TraceEvent::Push(Object(push)) => {
                let (head, changes) = push.into_changes();
                self.pull_request.push(head, &changes);
                TraceOutcome::default()
            }
            TraceEvent::Cycle(Object(cycle)) => self.cycle(cycle),
            TraceEvent::Reply(Object(reply)) => self.reply(&reply),
            TraceEvent::Person(Object(PersonEvent { act, thread, .. })) => {
                refusable(&thread, self.pull_request.decide(&thread, act).map(|_| ()))
            }
            TraceEvent::Merge(_) => {
                TraceOutcome { tasks: self.pull_request.merge(&self.handoff), ..TraceOutcome::default() }
            }
            TraceEvent::Close(_) => {
                self.pull_request.close();
                TraceOutcome::default()
            }
            TraceEvent::Reopen(Object(ReopenEvent { association })) => {
                self.pull_request.reopen(association.may_override());
                TraceOutcome::default()
            }
        }
    }

    /// One line contains the answer, so the cycle begins and ends here.
    fn cycle(&mut self, event: CycleEvent) -> TraceOutcome {
        let CycleEvent { reviewer, protocol, actions, findings, trigger, .. } = event;
        let frozen = match self.pull_request.begin_cycle(&reviewer, trigger.into(), &self.policy) {
            Ok(frozen) => frozen,
            Err(skip) => return TraceOutcome { skipped: Some(skip.name()), ..TraceOutcome::default() },
        };
        let answer = read_traced(protocol.into(), actions, findings);
        match self.pull_request.answer(&frozen, answer, &self.policy) {
            CycleOutcome::Completed { verdict, .. } => {
                TraceOutcome { verdict: Some(verdict), ..TraceOutcome::default() }
            }
            CycleOutcome::Failed { violations, .. } => TraceOutcome {
                refused: violations.into_iter().map(Refused::Answer).collect(),
                ..TraceOutcome::default()
            },
            // Cannot happen: no event comes between the request and its answer.
            CycleOutcome::Overtaken => TraceOutcome::default(),
        }
    }

    fn reply(&mut self, event: &ReplyEvent) -> TraceOutcome {
        let words = PostedWords {
            by_person: !event.by.as_str().ends_with("[bot]"),
            posted_by_cloture: false,
            association: event.association,
            body: &event.body,
        };
        let reply = ClassifiedReply::read(&PhraseTables, words, event.intent);
        refusable(&event.thread, self.pull_request.reply(&event.thread, &reply).map(|_settled| ()))
    }
}

fn refusable(thread: &ThreadId, result: Result<(), Refusal>) -> TraceOutcome {
    let refused = result.err().map(|refusal| Refused::Act(thread.clone(), refusal));
    TraceOutcome { refused: refused.into_iter().collect(), ..TraceOutcome::default() }
}

/// A line holds one answer of a reviewer, of which `max_answer_bytes` are taken.
const LONGEST_LINE: usize = 64 * 1024 * 1024;

/// A trace's lines, counted. An empty line is an error, except at the end, where editors leave them.
struct TraceLines<R> {
    trace: R,
    number: u64,
}

impl<R: BufRead> TraceLines<R> {
    fn next(&mut self) -> Result<Option<Vec<u8>>, SimulateError> {
        let mut blank = None;
        loop {
            let line = bounded_file::read_line(&mut self.trace, LONGEST_LINE).map_err(SimulateError::Read)?;
            let Some(line) = line else { return Ok(None) };
            if let Some(blank) = blank {
                if line.iter().all(u8::is_ascii_whitespace) {
                    continue;
                }
                return Err(SimulateError::Trace { line: blank, problem: "the line is empty".to_owned() });
            }
            self.number += 1;
            if !line.iter().all(u8::is_ascii_whitespace) {
                return Ok(Some(line));
            }
            blank = Some(self.number);
        }
    }

    fn problem(&self, problem: String) -> SimulateError {
        SimulateError::Trace { line: self.number.max(1), problem }
    }
}
