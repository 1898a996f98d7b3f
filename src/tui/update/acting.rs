//! What a person does to threads: an order is made from what is selected or marked, proposed by the desk, agreed to, and
//! carried out. Nothing is written from here.

use crate::domain::machine::Decision;

use crate::domain::finding::Destination;
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

/// How many acts can be undone one after the other.
const UNDOABLE: usize = 50;

/// Begins what a key means for the threads that are meant.
pub(super) fn begin(model: &mut Model, action: Action) -> Vec<Effect> {
    let threads = model.meant();
    if threads.is_empty() {
        model.notice = Some(nothing_meant(model));
        return Vec::new();
    }
    let what = match action {
        Action::Unresolve => ThreadAct::Unresolve,
        Action::Reply => ThreadAct::Reply,
        Action::Decide(decision) => ThreadAct::Decide(decision),
        Action::Queue => queueing(model, &threads),
        _ => return Vec::new(),
    };
    let (explained, long) = (explained(&what), what == ThreadAct::Reply);
    let title = format!("{} {}", capital(what.name()), about(model, &threads));
    let order = PersonRequest::Threads { what, threads, reason: None };
    match explained {
        None => propose(model, order),
        Some(sentences) => {
            let sentences = sentences.iter().map(|&sentence| sentence.to_owned()).collect();
            write(model, TextPrompt { title, sentences, long, then: TextPurpose::Order(order) });
            Vec::new()
        }
    }
}

fn nothing_meant(model: &Model) -> String {
    match model.screen {
        Screen::Watch if model.pane == Pane::PullRequests => {
            let key = model.keymap.key(Action::Right);
            format!("no thread is selected; {key} goes to the threads of this pull request")
        }
        Screen::Inbox => "this is about the whole pull request; open it to see its threads".to_owned(),
        _ => "no thread is selected".to_owned(),
    }
}

/// What goes is taken off the list, be it queued or going by itself, unless one of them does not go yet: then all are to.
fn queueing(model: &Model, threads: &[ThreadAddress]) -> ThreadAct {
    let goes = |key: &ThreadAddress| model.thread_row(key).is_some_and(ThreadRow::goes);
    if threads.iter().all(goes) { ThreadAct::Remove } else { ThreadAct::Decide(Decision::Queue) }
}

/// What is done with the text that is asked for; none where nothing is asked. T7: the difference between the verbs must be
/// plain.
fn explained(what: &ThreadAct) -> Option<&'static [&'static str]> {
    match what {
        ThreadAct::Reply => Some(&["It is posted in the thread on GitHub, under your login."]),
        ThreadAct::Decide(Decision::Veto) => Some(&[
            "The argument stops, and the thread stays with you: it waits in the inbox. Nothing is written to GitHub.",
            "Why?",
        ]),
        ThreadAct::Decide(Decision::Escalate) => Some(&[
            "The thread is addressed to the operator, with a comment and a label on GitHub and a notification.",
            "Why?",
        ]),
        ThreadAct::Decide(Decision::Dismiss) => {
            Some(&["It will not be fixed: the thread is resolved on GitHub, with this reason.", "Why not?"])
        }
        ThreadAct::Decide(Decision::Return) => Some(&[
            "The thread goes back to the loop with fresh counters: its reviewer looks again, which costs money.",
            "Why?",
        ]),
        ThreadAct::Decide(Decision::Resolve | Decision::Uphold | Decision::Queue | Decision::Unqueue)
        | ThreadAct::QueueFor(_)
        | ThreadAct::Route(_)
        | ThreadAct::Remove
        | ThreadAct::Unresolve
        | ThreadAct::Hide => None,
    }
}

/// Opens a text area for something.
pub(super) fn write(model: &mut Model, writing: TextPrompt) {
    model.text = super::writing::area(model.theme);
    model.overlay = Overlay::Write(writing);
}

/// Has the desk work out what an order comes to.
pub(super) fn propose(model: &mut Model, order: PersonRequest) -> Vec<Effect> {
    model.ticket = model.ticket.wrapping_add(1);
    model.overlay = Overlay::Working { what: format!("{}…", capital(order.name())) };
    vec![Effect::Propose { ticket: model.ticket, order }]
}

/// The desk says what it comes to. What neither writes nor spends and is about one thread is done at once; everything else
/// is asked about.
pub(super) fn proposed(
    model: &mut Model,
    ticket: u32,
    proposal: Result<Box<Proposal>, String>,
) -> Vec<Effect> {
    // Somebody has gone on to something else since.
    if ticket != model.ticket || !matches!(model.overlay, Overlay::Working { .. }) {
        return Vec::new();
    }
    model.overlay = Overlay::None;
    let proposal = match proposal {
        Ok(proposal) => proposal,
        Err(why) => {
            model.notice = Some(rows::line(&why));
            return Vec::new();
        }
    };
    if proposal.is_empty() {
        let why = proposal.objections.first().map_or("nothing is to be done", |first| &first.sentence);
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
    let about = about_order(model, &proposal.order);
    let mut sentences: Vec<String> = first.map(str::to_owned).into_iter().collect();
    sentences.extend(proposal.sentences().iter().map(|sentence| rows::line(sentence)));
    let objections = proposal.objections.iter();
    sentences.extend(objections.map(|trouble| rows::line(&format!("Not done: {}.", trouble.sentence))));
    let texts = proposal.texts().into_iter().map(crate::output::sanitize::block).collect();
    model.overlay = Overlay::Ask(Confirmation {
        title: format!("{} {about}?", capital(proposal.order.name())),
        sentences,
        texts,
        scroll: 0,
        then: ConfirmedAction::Proposal(proposal),
    });
}

/// Does what was agreed to, or what needs no agreement.
pub(super) fn carry_out(model: &mut Model, proposal: Box<Proposal>) -> Vec<Effect> {
    model.under_way += 1;
    model.notice = Some(format!("{}…", capital(proposal.order.name())));
    vec![Effect::CarryOut(proposal)]
}

/// The desk says what became of it.
pub(super) fn became(model: &mut Model, became: Result<Box<RequestOutcome>, String>) -> Vec<Effect> {
    model.under_way = model.under_way.saturating_sub(1);
    match became.map(|became| *became) {
        Err(why) => model.notice = Some(rows::line(&why)),
        Ok(RequestOutcome::Changed(proposal)) if proposal.is_empty() => {
            let why = proposal.objections.first().map_or("it is not to be done any more", |it| &it.sentence);
            model.notice = Some(rows::line(why));
        }
        Ok(RequestOutcome::Changed(proposal)) if model.overlay == Overlay::None => {
            let first = "Something changed in between, and nothing was done. By now it comes to this:";
            ask(model, Box::new(proposal), Some(first));
        }
        Ok(RequestOutcome::Changed(_)) => {
            model.notice =
                Some("something changed in between, and nothing was done; do it again to see it".to_owned());
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
        model.marked.remove(key);
        model.troubles.remove(key);
    }
    if let PersonRequest::PullRequest { address, .. } = &done.order {
        model.pull_troubles.remove(address);
    }
    for trouble in &done.troubles {
        let sentence = rows::line(&trouble.sentence);
        match &trouble.thread {
            Some(thread) => {
                model.troubles.insert((trouble.address.clone(), thread.clone()), sentence);
            }
            None => {
                model.pull_troubles.insert(trouble.address.clone(), sentence);
            }
        }
    }
    let undo = inverse(done);
    let told = match &done.order {
        PersonRequest::Threads { what, .. } => format!("{} {}", about(model, &done.threads), told(what)),
        PersonRequest::PullRequest { address, way, .. } => format!("{address}: done ({})", way.name()),
    };
    let nothing = done.threads.is_empty() && matches!(done.order, PersonRequest::Threads { .. });
    model.notice = Some(match done.troubles.first() {
        Some(trouble) if nothing || matches!(done.order, PersonRequest::PullRequest { .. }) => {
            rows::line(&trouble.sentence)
        }
        Some(trouble) => format!("{told}; but {}", rows::line(&trouble.sentence)),
        None if undo.is_some() => format!("{told}; {} undoes it", model.keymap.key(Action::Undo)),
        None => told,
    });
    if let Some(undo) = undo {
        model.undoable.push(undo);
        if model.undoable.len() > UNDOABLE {
            model.undoable.remove(0);
        }
    }
}

fn told(what: &ThreadAct) -> &'static str {
    match what {
        ThreadAct::Decide(Decision::Veto) => "waits in the inbox: the argument is stopped",
        ThreadAct::Decide(Decision::Escalate) => "is escalated to the operator",
        ThreadAct::Decide(Decision::Resolve) => "is resolved",
        ThreadAct::Decide(Decision::Uphold) => "is upheld",
        ThreadAct::Decide(Decision::Dismiss) => "is dismissed",
        ThreadAct::Decide(Decision::Return) => "is back in the loop",
        ThreadAct::Decide(Decision::Queue) | ThreadAct::QueueFor(_) => "is queued: it is handed off at merge",
        ThreadAct::Decide(Decision::Unqueue) => "is off the queue",
        ThreadAct::Route(Destination::Nowhere) | ThreadAct::Remove => "is off the list: it is not handed off",
        ThreadAct::Route(Destination::Target(_) | Destination::AsConfigured) => "goes elsewhere now",
        ThreadAct::Unresolve => "is open again",
        ThreadAct::Reply => "has your reply",
        ThreadAct::Hide => "is hidden",
    }
}

/// What undoes it; none where the forge has no way back. A decision about the argument is undone by giving the thread back.
fn inverse(done: &CompletedRequest) -> Option<PersonRequest> {
    let (what, threads) = match &done.order {
        PersonRequest::Threads { what, .. } => (what, done.threads.clone()),
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
    let back = match what {
        ThreadAct::Decide(Decision::Queue) | ThreadAct::QueueFor(_) => ThreadAct::Remove,
        ThreadAct::Decide(Decision::Unqueue) | ThreadAct::Remove | ThreadAct::Route(Destination::Nowhere) => {
            ThreadAct::Decide(Decision::Queue)
        }
        ThreadAct::Route(_) => ThreadAct::Route(Destination::AsConfigured),
        ThreadAct::Decide(Decision::Resolve) => ThreadAct::Unresolve,
        ThreadAct::Unresolve => ThreadAct::Decide(Decision::Resolve),
        ThreadAct::Decide(Decision::Veto | Decision::Escalate | Decision::Uphold | Decision::Dismiss) => {
            ThreadAct::Decide(Decision::Return)
        }
        ThreadAct::Decide(Decision::Return) | ThreadAct::Reply | ThreadAct::Hide => return None,
    };
    let reason = (back == ThreadAct::Decide(Decision::Return)).then(|| format!("{} was undone", what.name()));
    (!threads.is_empty()).then_some(PersonRequest::Threads { what: back, threads, reason })
}

pub(super) fn undo(model: &mut Model) -> Vec<Effect> {
    let Some(order) = model.undoable.pop() else {
        model.notice = Some("there is nothing that could be undone".to_owned());
        return Vec::new();
    };
    propose(model, order)
}

/// One thread by its place, several by their number.
fn about(model: &Model, threads: &[ThreadAddress]) -> String {
    match threads {
        [key] => model.thread_row(key).map_or_else(|| "the thread".to_owned(), |row| row.place.clone()),
        several => count(several.len(), "thread", "threads"),
    }
}

fn about_order(model: &Model, order: &PersonRequest) -> String {
    match order {
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
    for key in model.pointed_at() {
        if !model.marked.remove(&key) {
            model.marked.insert(key);
        }
    }
    super::moving::step(model, 1);
}

/// All threads of the list that could still be decided about; none where all of them are marked.
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
    if all.iter().all(|key| model.marked.contains(key)) {
        model.marked.clear();
    } else {
        model.marked.extend(all);
    }
}
