//! The person's decisions about threads. A key makes a request from the selected or marked threads; the
//! request handler proposes what it would do; the person agrees; the request handler carries it out. Nothing
//! here writes to GitHub.

use crate::domain::finding::Destination;
use crate::domain::machine::Decision;
use crate::supervisor::people::request_handler::{
    CompletedRequest, PersonRequest, Proposal, RequestOutcome, ThreadAddress,
};
use crate::supervisor::people::{ThreadAct, Way};
use crate::tui::action::Action;
use crate::tui::dialog::{Confirmation, ConfirmedAction, Overlay, TextPrompt, TextPurpose};
use crate::tui::message::Effect;
use crate::tui::model::{Model, Pane, Screen};
use crate::tui::rows;
use crate::tui::rows::thread::ThreadRow;
use crate::tui::text::count;

/// How many requests can be undone, one after the other.
const UNDOABLE: usize = 50;

/// Starts a request about the marked or selected threads.
pub(super) fn begin(model: &mut Model, action: Action) -> Vec<Effect> {
    let threads = model.marked_or_selected();
    if threads.is_empty() {
        model.notice = Some(no_thread_selected(model));
        return Vec::new();
    }
    let what = match action {
        Action::Unresolve => ThreadAct::Unresolve,
        Action::Reply => ThreadAct::Reply,
        Action::Decide(decision) => ThreadAct::Decide(decision),
        Action::Queue => queueing(model, &threads),
        _ => return Vec::new(),
    };
    let (sentences, long) = (prompt_sentences(&what), what == ThreadAct::Reply);
    let title = format!("{} {}", capital(what.name()), about(model, &threads));
    let request = PersonRequest::Threads { what, threads, reason: None };
    match sentences {
        None => propose(model, request),
        Some(sentences) => {
            let sentences = sentences.iter().map(|&sentence| sentence.to_owned()).collect();
            write(model, TextPrompt { title, sentences, long, then: TextPurpose::Reason(request) });
            Vec::new()
        }
    }
}

fn no_thread_selected(model: &Model) -> String {
    match model.screen {
        Screen::Watch if model.lists.pane == Pane::PullRequests => {
            let key = model.keymap.key(Action::Right);
            format!("No thread is selected. {key} goes to the threads of this pull request.")
        }
        Screen::Inbox => "This row is about the whole pull request. Open it to see its threads.".to_owned(),
        _ => "No thread is selected.".to_owned(),
    }
}

/// The queue key removes the threads if all of them would be handed off, and queues all of them otherwise.
fn queueing(model: &Model, threads: &[ThreadAddress]) -> ThreadAct {
    let is_going = |key: &ThreadAddress| model.thread_row(key).is_some_and(ThreadRow::will_be_handed_off);
    if threads.iter().all(is_going) { ThreadAct::Remove } else { ThreadAct::Decide(Decision::Queue) }
}

/// What happens with the text that the prompt asks for; none if the request needs no text. T7: people must
/// see the difference between the decisions.
fn prompt_sentences(what: &ThreadAct) -> Option<&'static [&'static str]> {
    match what {
        ThreadAct::Reply => Some(&["Cloture posts this text in the thread on GitHub, under your login."]),
        ThreadAct::Decide(Decision::Veto) => Some(&[
            "The argument stops, and the thread waits in your inbox.",
            "Nothing is written to GitHub. Why?",
        ]),
        ThreadAct::Decide(Decision::Escalate) => Some(&[
            "Cloture addresses the thread to the operator: a comment and a label on GitHub, and a notification.",
            "Why?",
        ]),
        ThreadAct::Decide(Decision::Dismiss) => Some(&[
            "The finding will not be fixed. Cloture resolves the thread on GitHub with this reason.",
            "Why not?",
        ]),
        ThreadAct::Decide(Decision::Return) => Some(&[
            "The thread goes back to the loop with fresh counters. Its reviewer looks again, which costs money.",
            "Why?",
        ]),
        ThreadAct::Decide(Decision::Resolve | Decision::Uphold | Decision::Queue | Decision::Unqueue)
        | ThreadAct::QueueFor(_)
        | ThreadAct::Route(_)
        | ThreadAct::Remove
        | ThreadAct::Undo
        | ThreadAct::Unresolve
        | ThreadAct::Hide => None,
    }
}

/// Opens a text prompt.
pub(super) fn write(model: &mut Model, writing: TextPrompt) {
    model.dialog.text = super::writing::empty_text_area(model.theme);
    model.dialog.overlay = Overlay::Write(writing);
}

/// Asks the request handler what a request would do.
pub(super) fn propose(model: &mut Model, request: PersonRequest) -> Vec<Effect> {
    model.requests.ticket = model.requests.ticket.wrapping_add(1);
    model.dialog.overlay = Overlay::Working { what: format!("{}…", capital(request.name())) };
    vec![Effect::Propose { ticket: model.requests.ticket, request }]
}

/// Shows a proposal and asks for confirmation. A proposal about one thread that neither writes nor spends
/// needs none.
pub(super) fn proposed(
    model: &mut Model,
    ticket: u32,
    proposal: Result<Box<Proposal>, String>,
) -> Vec<Effect> {
    // The person has cancelled it or asked for something else since.
    if ticket != model.requests.ticket || !matches!(model.dialog.overlay, Overlay::Working { .. }) {
        return Vec::new();
    }
    model.dialog.overlay = Overlay::None;
    let proposal = match proposal {
        Ok(proposal) => proposal,
        Err(why) => {
            model.notice = Some(rows::line(&why));
            return Vec::new();
        }
    };
    if proposal.is_empty() {
        let why = proposal.objections.first().map_or("There is nothing to do.", |first| &first.sentence);
        model.notice = Some(rows::line(why));
        return Vec::new();
    }
    if proposal.needs_no_question() {
        return carry_out(model, proposal);
    }
    ask(model, proposal, None);
    Vec::new()
}

fn ask(model: &mut Model, proposal: Box<Proposal>, first: Option<&str>) {
    let about = about_request(model, &proposal.order);
    let mut sentences: Vec<String> = first.map(str::to_owned).into_iter().collect();
    sentences.extend(proposal.sentences().iter().map(|sentence| rows::line(sentence)));
    let objections = proposal.objections.iter();
    sentences.extend(objections.map(|problem| rows::line(&format!("Not done: {}.", problem.sentence))));
    let texts = proposal.texts().into_iter().map(crate::output::sanitize::block).collect();
    model.dialog.overlay = Overlay::Ask(Confirmation {
        title: format!("{} {about}?", capital(proposal.order.name())),
        sentences,
        texts,
        scroll: 0,
        then: ConfirmedAction::Proposal(proposal),
    });
}

/// Carries out a proposal that was confirmed or needs no confirmation.
pub(super) fn carry_out(model: &mut Model, proposal: Box<Proposal>) -> Vec<Effect> {
    model.requests.under_way += 1;
    model.notice = Some(format!("{}…", capital(proposal.order.name())));
    vec![Effect::CarryOut(proposal)]
}

pub(super) fn request_finished(
    model: &mut Model,
    outcome: Result<Box<RequestOutcome>, String>,
) -> Vec<Effect> {
    model.requests.under_way = model.requests.under_way.saturating_sub(1);
    match outcome.map(|outcome| *outcome) {
        Err(why) => model.notice = Some(rows::line(&why)),
        Ok(RequestOutcome::Changed(proposal)) if proposal.is_empty() => {
            let why = proposal.objections.first().map_or("There is nothing left to do.", |it| &it.sentence);
            model.notice = Some(rows::line(why));
        }
        Ok(RequestOutcome::Changed(proposal)) if model.dialog.overlay == Overlay::None => {
            let first =
                "Something changed in the meantime, and nothing was done. This is what Cloture would do now:";
            ask(model, Box::new(proposal), Some(first));
        }
        Ok(RequestOutcome::Changed(_)) => {
            model.notice =
                Some("Something changed in the meantime, and nothing was done. Try again to see what it would do now.".to_owned());
        }
        Ok(RequestOutcome::Done(done)) => {
            finished(model, &done);
            return done.tell.into_iter().map(|(address, command)| Effect::Tell(address, command)).collect();
        }
    }
    Vec::new()
}

fn finished(model: &mut Model, done: &CompletedRequest) {
    for key in &done.threads {
        model.marks.marked.remove(key);
        model.marks.problems.remove(key);
    }
    if let PersonRequest::PullRequest { address, .. } = &done.order {
        model.marks.pull_problems.remove(address);
    }
    for problem in &done.troubles {
        let sentence = rows::line(&problem.sentence);
        match &problem.thread {
            Some(thread) => {
                model.marks.problems.insert((problem.address.clone(), thread.clone()), sentence);
            }
            None => {
                model.marks.pull_problems.insert(problem.address.clone(), sentence);
            }
        }
    }
    let undo = inverse(done);
    let result = match &done.order {
        PersonRequest::Threads { what, .. } => {
            let result = agreeing(result_of(what), done.threads.len());
            format!("{} {result}", about(model, &done.threads))
        }
        PersonRequest::PullRequest { address, way, .. } => format!("{address}: done ({})", way.name()),
    };
    let nothing = done.threads.is_empty() && matches!(done.order, PersonRequest::Threads { .. });
    model.notice = Some(match done.troubles.first() {
        Some(problem) if nothing || matches!(done.order, PersonRequest::PullRequest { .. }) => {
            rows::line(&problem.sentence)
        }
        Some(problem) => format!("{result}; but {}", rows::line(&problem.sentence)),
        None if undo.is_some() => format!("{result}; {} undoes it", model.keymap.key(Action::Undo)),
        None => result,
    });
    if let Some(undo) = undo {
        model.requests.undoable.push(undo);
        if model.requests.undoable.len() > UNDOABLE {
            model.requests.undoable.remove(0);
        }
    }
}

/// Gives a sentence the verb for several threads: "is resolved" becomes "are resolved".
fn agreeing(sentence: &str, threads: usize) -> String {
    let (verb, rest) = sentence.split_once(' ').unwrap_or((sentence, ""));
    let verb = match verb {
        _ if threads == 1 => verb,
        "is" => "are",
        "has" => "have",
        "goes" => "go",
        "waits" => "wait",
        other => other,
    };
    format!("{verb} {rest}")
}

fn result_of(what: &ThreadAct) -> &'static str {
    match what {
        ThreadAct::Decide(Decision::Veto) => "waits in your inbox: the argument is stopped",
        ThreadAct::Decide(Decision::Escalate) => "is escalated to the operator",
        ThreadAct::Decide(Decision::Resolve) => "is resolved",
        ThreadAct::Decide(Decision::Uphold) => "is upheld",
        ThreadAct::Decide(Decision::Dismiss) => "is dismissed",
        ThreadAct::Decide(Decision::Return) => "is back in the loop",
        ThreadAct::Decide(Decision::Queue) | ThreadAct::QueueFor(_) => {
            "is queued for a coding agent at merge"
        }
        ThreadAct::Decide(Decision::Unqueue) => "is no longer queued",
        ThreadAct::Route(Destination::Nowhere) | ThreadAct::Remove => {
            "is off the list and will not be handed off"
        }
        ThreadAct::Route(Destination::Target(_) | Destination::AsConfigured) => "goes to another target now",
        ThreadAct::Undo => "is as it was before your last decision",
        ThreadAct::Unresolve => "is open again",
        ThreadAct::Reply => "has your reply",
        ThreadAct::Hide => "is hidden",
    }
}

/// The request that undoes this one; none if it recorded nothing, or if GitHub cannot undo it.
fn inverse(done: &CompletedRequest) -> Option<PersonRequest> {
    let what = match &done.order {
        PersonRequest::Threads { what, .. } => what,
        PersonRequest::PullRequest { address, way, .. } if done.troubles.is_empty() => {
            let way = match way {
                Way::BreakGlass => Way::MendGlass,
                Way::MendGlass => Way::BreakGlass,
                _ => return None,
            };
            return Some(PersonRequest::PullRequest { address: address.clone(), way, reason: None });
        }
        PersonRequest::PullRequest { .. } => return None,
    };
    let (back, threads) = match what {
        ThreadAct::Decide(_) | ThreadAct::QueueFor(_) | ThreadAct::Remove | ThreadAct::Route(_) => {
            (ThreadAct::Undo, &done.recorded)
        }
        ThreadAct::Unresolve => (ThreadAct::Decide(Decision::Resolve), &done.threads),
        ThreadAct::Undo | ThreadAct::Reply | ThreadAct::Hide => return None,
    };
    let threads = threads.clone();
    (!threads.is_empty()).then_some(PersonRequest::Threads { what: back, threads, reason: None })
}

pub(super) fn undo(model: &mut Model) -> Vec<Effect> {
    let Some(request) = model.requests.undoable.pop() else {
        model.notice = Some("There is nothing to undo.".to_owned());
        return Vec::new();
    };
    propose(model, request)
}

/// One thread by its place, several by their number.
fn about(model: &Model, threads: &[ThreadAddress]) -> String {
    match threads {
        [key] => model.thread_row(key).map_or_else(|| "the thread".to_owned(), |row| row.place.clone()),
        several => count(several.len(), "thread", "threads"),
    }
}

fn about_request(model: &Model, request: &PersonRequest) -> String {
    match request {
        PersonRequest::Threads { threads, .. } => about(model, threads),
        PersonRequest::PullRequest { address, .. } => address.to_string(),
    }
}

pub(super) fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

// Marks

pub(super) fn mark(model: &mut Model) {
    for key in model.threads_at_cursor() {
        if !model.marks.marked.remove(&key) {
            model.marks.marked.insert(key);
        }
    }
    super::moving::step(model, 1);
}

/// Marks every thread of the list that a person can still decide about, or unmarks them if all are marked.
pub(super) fn mark_all(model: &mut Model) {
    let all: Vec<ThreadAddress> = match model.screen {
        Screen::Watch => {
            let Some(pull) = model.selected_pull() else { return };
            let unsettled = pull.threads.iter().filter(|row| !row.repeats && !row.status.is_settled());
            unsettled.map(|row| (pull.address.clone(), row.id.clone())).collect()
        }
        Screen::Inbox => {
            let rows = model.visible_inbox();
            rows.iter().filter_map(|row| Some((row.address.clone(), row.thread.clone()?))).collect()
        }
        _ => return,
    };
    if all.iter().all(|key| model.marks.marked.contains(key)) {
        model.marks.marked.clear();
    } else {
        model.marks.marked.extend(all);
    }
}
