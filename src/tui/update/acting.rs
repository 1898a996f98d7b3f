//! What a person does to threads: an order is made from what is selected or marked, proposed by the desk, agreed to, and
//! carried out. Nothing is written from here.

use crate::domain::machine::Decision;

use crate::domain::finding::Destination;
use crate::supervisor::people::desk::{Became, Done, Order, Proposal, ThreadKey};
use crate::supervisor::people::{Way, What};
use crate::tui::action::Action;
use crate::tui::dialog::{Agreed, Overlay, Question, Writing, Written};
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
        Action::Unresolve => What::Unresolve,
        Action::Reply => What::Reply,
        Action::Decide(decision) => What::Decide(decision),
        Action::Queue => queueing(model, &threads),
        _ => return Vec::new(),
    };
    let (explained, long) = (explained(&what), what == What::Reply);
    let title = format!("{} {}", capital(what.name()), about(model, &threads));
    let order = Order::Threads { what, threads, reason: None };
    match explained {
        None => propose(model, order),
        Some(sentences) => {
            let sentences = sentences.iter().map(|&sentence| sentence.to_owned()).collect();
            write(model, Writing { title, sentences, long, then: Written::Order(order) });
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
fn queueing(model: &Model, threads: &[ThreadKey]) -> What {
    let goes = |key: &ThreadKey| model.thread_row(key).is_some_and(ThreadRow::goes);
    if threads.iter().all(goes) { What::Remove } else { What::Decide(Decision::Queue) }
}

/// What is done with the text that is asked for; none where nothing is asked. T7: the difference between the verbs must be
/// plain.
fn explained(what: &What) -> Option<&'static [&'static str]> {
    match what {
        What::Reply => Some(&["It is posted in the thread on GitHub, under your login."]),
        What::Decide(Decision::Veto) => Some(&[
            "The argument stops, and the thread stays with you: it waits in the inbox. Nothing is written to GitHub.",
            "Why?",
        ]),
        What::Decide(Decision::Escalate) => Some(&[
            "The thread is addressed to the operator, with a comment and a label on GitHub and a notification.",
            "Why?",
        ]),
        What::Decide(Decision::Dismiss) => {
            Some(&["It will not be fixed: the thread is resolved on GitHub, with this reason.", "Why not?"])
        }
        What::Decide(Decision::Return) => Some(&[
            "The thread goes back to the loop with fresh counters: its reviewer looks again, which costs money.",
            "Why?",
        ]),
        What::Decide(Decision::Resolve | Decision::Uphold | Decision::Queue | Decision::Unqueue)
        | What::QueueFor(_)
        | What::Route(_)
        | What::Remove
        | What::Unresolve
        | What::Hide => None,
    }
}

/// Opens a text area for something.
pub(super) fn write(model: &mut Model, writing: Writing) {
    model.text = super::writing::area(model.theme);
    model.overlay = Overlay::Write(writing);
}

/// Has the desk work out what an order comes to.
pub(super) fn propose(model: &mut Model, order: Order) -> Vec<Effect> {
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
    model.overlay = Overlay::Ask(Question {
        title: format!("{} {about}?", capital(proposal.order.name())),
        sentences,
        texts,
        scroll: 0,
        then: Agreed::Proposal(proposal),
    });
}

/// Does what was agreed to, or what needs no agreement.
pub(super) fn carry_out(model: &mut Model, proposal: Box<Proposal>) -> Vec<Effect> {
    model.under_way += 1;
    model.notice = Some(format!("{}…", capital(proposal.order.name())));
    vec![Effect::CarryOut(proposal)]
}

/// The desk says what became of it.
pub(super) fn became(model: &mut Model, became: Result<Box<Became>, String>) -> Vec<Effect> {
    model.under_way = model.under_way.saturating_sub(1);
    match became.map(|became| *became) {
        Err(why) => model.notice = Some(rows::line(&why)),
        Ok(Became::Changed(proposal)) if proposal.is_empty() => {
            let why = proposal.objections.first().map_or("it is not to be done any more", |it| &it.sentence);
            model.notice = Some(rows::line(why));
        }
        Ok(Became::Changed(proposal)) if model.overlay == Overlay::None => {
            let first = "Something changed in between, and nothing was done. By now it comes to this:";
            ask(model, Box::new(proposal), Some(first));
        }
        Ok(Became::Changed(_)) => {
            model.notice =
                Some("something changed in between, and nothing was done; do it again to see it".to_owned());
        }
        Ok(Became::Done(done)) => {
            finished(model, &done);
            return done.tell.into_iter().map(|(address, command)| Effect::Tell(address, command)).collect();
        }
    }
    Vec::new()
}

fn finished(model: &mut Model, done: &Done) {
    for key in &done.threads {
        model.marked.remove(key);
        model.troubles.remove(key);
    }
    if let Order::PullRequest { address, .. } = &done.order {
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
        Order::Threads { what, .. } => format!("{} {}", about(model, &done.threads), told(what)),
        Order::PullRequest { address, way, .. } => format!("{address}: done ({})", way.name()),
    };
    let nothing = done.threads.is_empty() && matches!(done.order, Order::Threads { .. });
    model.notice = Some(match done.troubles.first() {
        Some(trouble) if nothing || matches!(done.order, Order::PullRequest { .. }) => {
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

fn told(what: &What) -> &'static str {
    match what {
        What::Decide(Decision::Veto) => "waits in the inbox: the argument is stopped",
        What::Decide(Decision::Escalate) => "is escalated to the operator",
        What::Decide(Decision::Resolve) => "is resolved",
        What::Decide(Decision::Uphold) => "is upheld",
        What::Decide(Decision::Dismiss) => "is dismissed",
        What::Decide(Decision::Return) => "is back in the loop",
        What::Decide(Decision::Queue) | What::QueueFor(_) => "is queued: it is handed off at merge",
        What::Decide(Decision::Unqueue) => "is off the queue",
        What::Route(Destination::Nowhere) | What::Remove => "is off the list: it is not handed off",
        What::Route(Destination::Target(_) | Destination::AsConfigured) => "goes elsewhere now",
        What::Unresolve => "is open again",
        What::Reply => "has your reply",
        What::Hide => "is hidden",
    }
}

/// What undoes it; none where the forge has no way back. A decision about the argument is undone by giving the thread back.
fn inverse(done: &Done) -> Option<Order> {
    let (what, threads) = match &done.order {
        Order::Threads { what, .. } => (what, done.threads.clone()),
        Order::PullRequest { address, way, .. } if done.troubles.is_empty() => {
            let way = match way {
                Way::BreakGlass => Way::MendGlass,
                Way::MendGlass => Way::BreakGlass,
                _ => return None,
            };
            return Some(Order::PullRequest { address: address.clone(), way, reason: None });
        }
        Order::PullRequest { .. } => return None,
    };
    let back = match what {
        What::Decide(Decision::Queue) | What::QueueFor(_) => What::Remove,
        What::Decide(Decision::Unqueue) | What::Remove | What::Route(Destination::Nowhere) => {
            What::Decide(Decision::Queue)
        }
        What::Route(_) => What::Route(Destination::AsConfigured),
        What::Decide(Decision::Resolve) => What::Unresolve,
        What::Unresolve => What::Decide(Decision::Resolve),
        What::Decide(Decision::Veto | Decision::Escalate | Decision::Uphold | Decision::Dismiss) => {
            What::Decide(Decision::Return)
        }
        What::Decide(Decision::Return) | What::Reply | What::Hide => return None,
    };
    let reason = (back == What::Decide(Decision::Return)).then(|| format!("{} was undone", what.name()));
    (!threads.is_empty()).then_some(Order::Threads { what: back, threads, reason })
}

pub(super) fn undo(model: &mut Model) -> Vec<Effect> {
    let Some(order) = model.undoable.pop() else {
        model.notice = Some("there is nothing that could be undone".to_owned());
        return Vec::new();
    };
    propose(model, order)
}

/// One thread by its place, several by their number.
fn about(model: &Model, threads: &[ThreadKey]) -> String {
    match threads {
        [key] => model.thread_row(key).map_or_else(|| "the thread".to_owned(), |row| row.place.clone()),
        several => count(several.len(), "thread", "threads"),
    }
}

fn about_order(model: &Model, order: &Order) -> String {
    match order {
        Order::Threads { threads, .. } => about(model, threads),
        Order::PullRequest { address, .. } => address.to_string(),
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
    let all: Vec<ThreadKey> = match model.screen {
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
