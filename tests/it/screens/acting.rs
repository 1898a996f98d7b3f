//! Decisions about threads: the requests, questions, refusals and undos that keys and the request handler's
//! answers lead to.

use super::{model, press, snapshots_of};
use cloture::domain::machine::Decision;
use cloture::domain::vocabulary::ThreadId;
use cloture::github::PullRequestAddress;
use cloture::supervisor::LoopCommand;
use cloture::supervisor::people::request_handler::{
    CompletedRequest, PersonRequest, Proposal, ProposedStep, RequestOutcome, RequestProblem,
};
use cloture::supervisor::people::{ThreadAct, ThreadPlan, ThreadRequest, Way, WayOut, WayOutMeans};
use cloture::tui::{Effect, Message, Model, Overlay, update};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

/// A terminal whose cursor is on a thread that waits for a person.
fn at_a_thread() -> (Model, PullRequestAddress, ThreadId) {
    let mut model = model();
    press(&mut model, "n");
    let address = model.selected_pull().unwrap().address.clone();
    let id = model.selected_thread().unwrap().id.clone();
    (model, address, id)
}

fn control(model: &mut Model, letter: char) -> Vec<Effect> {
    update(model, Message::Key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL)))
}

/// The only request in these effects.
fn proposed(effects: &[Effect]) -> (u32, PersonRequest) {
    let request = match effects {
        [Effect::Propose { ticket, request }] => Some((*ticket, request.clone())),
        _ => None,
    };
    request.unwrap()
}

/// The proposal for a request that writes nothing.
fn recorded(order: PersonRequest, sentence: &str) -> Box<Proposal> {
    let threads = order.threads().to_vec();
    let (what, reason) = match &order {
        PersonRequest::Threads { what, reason, .. } => Some((what.clone(), reason.clone())),
        PersonRequest::PullRequest { .. } => None,
    }
    .unwrap();
    let steps = threads.into_iter().map(|(address, thread)| {
        let act = ThreadRequest {
            thread,
            what: what.clone(),
            reason: reason.clone(),
            by: "dana".to_owned(),
            callers_key: None,
        };
        let plan = ThreadPlan {
            act,
            facts: Vec::new(),
            already: false,
            sentence: Some(sentence.to_owned()),
            writes: Vec::new(),
        };
        ProposedStep::Thread { address, plan }
    });
    Box::new(Proposal { order, steps: steps.collect(), objections: Vec::new() })
}

fn done(order: PersonRequest) -> Message {
    let threads = order.threads().to_vec();
    let done = CompletedRequest {
        order,
        recorded: threads.clone(),
        threads,
        tell: Vec::new(),
        troubles: Vec::new(),
    };
    Message::RequestFinished(Ok(Box::new(RequestOutcome::Done(done))))
}

#[test]
fn each_key_requests_its_own_decision_for_the_thread_at_the_cursor() {
    for (key, expected) in [
        ("x", ThreadAct::Decide(Decision::Resolve)),
        ("X", ThreadAct::Unresolve),
        ("U", ThreadAct::Decide(Decision::Uphold)),
        ("vwhy\n", ThreadAct::Decide(Decision::Veto)),
        ("ewhy\n", ThreadAct::Decide(Decision::Escalate)),
        ("dwhy\n", ThreadAct::Decide(Decision::Dismiss)),
        ("bwhy\n", ThreadAct::Decide(Decision::Return)),
    ] {
        let (mut model, address, id) = at_a_thread();
        let effects = press(&mut model, key);
        let (_, order) = proposed(&effects);
        let PersonRequest::Threads { what, threads, reason } = order else { panic!("{order:?}") };
        assert_eq!((what, threads), (expected, vec![(address, id)]), "{key}");
        assert_eq!(reason.as_deref(), key.contains('\n').then_some("why"), "{key}");
    }
}

#[test]
fn a_reason_is_required() {
    let (mut model, ..) = at_a_thread();
    assert_eq!(press(&mut model, "v\n  \n"), []);
    assert!(matches!(model.dialog.overlay, Overlay::Write(_)), "the prompt stays open");
    assert_eq!(press(&mut model, "\u{1b}"), []);
    assert_eq!(model.dialog.overlay, Overlay::None);
}

#[test]
fn in_a_reply_return_starts_a_line_and_only_submit_ends_it() {
    let (mut model, ..) = at_a_thread();
    assert_eq!(press(&mut model, "aone\ntwo"), []);
    let (_, order) = proposed(&control(&mut model, 's'));
    let PersonRequest::Threads { what, reason, .. } = order else { panic!("{order:?}") };
    assert_eq!((what, reason.as_deref()), (ThreadAct::Reply, Some("one\ntwo")));
}

#[test]
fn s1_pasted_and_edited_text_is_cleaned() {
    let (mut model, ..) = at_a_thread();
    press(&mut model, "a");
    update(&mut model, Message::Pasted("a\u{1b}[31mb\u{202e}\nc".to_owned()));
    assert_eq!(model.dialog.text.lines(), ["a[31mb", "c"]);
    assert_eq!(control(&mut model, 'o'), [Effect::Edit("a[31mb\nc".to_owned())]);
    update(&mut model, Message::Edited(Ok("x\u{7}\ny\n".to_owned())));
    assert_eq!(model.dialog.text.lines(), ["x", "y"]);
    update(
        &mut model,
        Message::Edited(Err("The editor `vi` ended with 1. The text is unchanged.".to_owned())),
    );
    assert_eq!(model.dialog.text.lines(), ["x", "y"]);
}

#[test]
fn u3_a_decision_that_only_records_needs_no_question_and_one_that_spends_does() {
    let (mut model, ..) = at_a_thread();
    let (ticket, order) = proposed(&press(&mut model, "U"));
    let proposal = recorded(order.clone(), "Uphold it.");
    let effects = update(&mut model, Message::Proposed { ticket, proposal: Ok(proposal.clone()) });
    assert_eq!(effects, [Effect::CarryOut(proposal)]);
    assert_eq!(model.requests.under_way, 1);
    update(&mut model, done(order));
    assert_eq!((model.requests.under_way, model.requests.undoable.len()), (0, 1));

    let (ticket, order) = proposed(&press(&mut model, "bwhy\n"));
    let proposal = recorded(order, "Return it.");
    let effects = update(&mut model, Message::Proposed { ticket, proposal: Ok(proposal.clone()) });
    assert_eq!(effects, [], "the reviewer looks again, which costs money");
    // No other key means yes.
    assert_eq!(press(&mut model, "\nxq"), []);
    assert_eq!(press(&mut model, "y"), [Effect::CarryOut(proposal)]);
}

#[test]
fn a_stale_proposal_is_ignored() {
    let (mut model, ..) = at_a_thread();
    let (ticket, order) = proposed(&press(&mut model, "U"));
    press(&mut model, "\u{1b}");
    let proposal = recorded(order.clone(), "Uphold it.");
    assert_eq!(update(&mut model, Message::Proposed { ticket, proposal: Ok(proposal.clone()) }), []);
    // The answer to an earlier request is not taken for the answer to a later one.
    let (later, _) = proposed(&press(&mut model, "x"));
    assert_ne!(later, ticket);
    assert_eq!(update(&mut model, Message::Proposed { ticket, proposal: Ok(proposal) }), []);
    assert!(matches!(model.dialog.overlay, Overlay::Working { .. }));
}

#[test]
fn a_changed_proposal_is_shown_and_asked_again() {
    let (mut model, ..) = at_a_thread();
    let (ticket, order) = proposed(&press(&mut model, "bwhy\n"));
    let proposal = recorded(order.clone(), "Return it.");
    update(&mut model, Message::Proposed { ticket, proposal: Ok(proposal) });
    press(&mut model, "y");
    let other = recorded(order, "Return it, which also opens it again.");
    update(&mut model, Message::RequestFinished(Ok(Box::new(RequestOutcome::Changed((*other).clone())))));
    let Overlay::Ask(question) = &model.dialog.overlay else { panic!("{:?}", model.dialog.overlay) };
    assert!(question.sentences[0].contains("nothing was done"), "{question:?}");
    assert_eq!(press(&mut model, "y"), [Effect::CarryOut(other)]);
}

#[test]
fn undo_requests_the_opposite_once() {
    for (what, opposite) in [
        (ThreadAct::Decide(Decision::Queue), Some(ThreadAct::Undo)),
        (ThreadAct::Decide(Decision::Resolve), Some(ThreadAct::Undo)),
        (ThreadAct::Unresolve, Some(ThreadAct::Decide(Decision::Resolve))),
        (ThreadAct::Decide(Decision::Dismiss), Some(ThreadAct::Undo)),
        (ThreadAct::Remove, Some(ThreadAct::Undo)),
        (ThreadAct::Undo, None),
        (ThreadAct::Reply, None),
    ] {
        let (mut model, address, id) = at_a_thread();
        let order = PersonRequest::Threads { what: what.clone(), threads: vec![(address, id)], reason: None };
        update(&mut model, done(order));
        let effects = control(&mut model, 'z');
        match opposite {
            None => assert_eq!(effects, [], "{what:?} cannot be undone"),
            Some(opposite) => {
                let (_, order) = proposed(&effects);
                assert!(
                    matches!(&order, PersonRequest::Threads { what, .. } if *what == opposite),
                    "{order:?}"
                );
                press(&mut model, "\u{1b}");
                assert_eq!(control(&mut model, 'z'), [], "it was undone once");
            }
        }
    }
}

#[test]
fn a_request_works_on_all_marked_threads_and_clears_the_marks() {
    let mut model = model();
    press(&mut model, "/fleet21\nl");
    let all = model.selected_pull().unwrap().threads.len();
    assert!(all >= 3, "{all}");
    press(&mut model, "g  ");
    assert_eq!(model.marks.marked.len(), 2);
    let (_, order) = proposed(&press(&mut model, "x"));
    assert_eq!(order.threads().len(), 2);
    update(&mut model, done(order));
    assert!(model.marks.marked.is_empty());
    press(&mut model, "\u{1b}g ");
    assert_eq!(model.marks.marked.len(), 1);
    press(&mut model, "\u{1b}");
    assert!(model.marks.marked.is_empty());
    control(&mut model, 'a');
    assert_eq!(model.marks.marked.len(), model.selected_pull().unwrap().open());
    control(&mut model, 'a');
    assert!(model.marks.marked.is_empty());
}

#[test]
fn a_problem_stays_with_its_thread_until_it_was_read() {
    let (mut model, address, id) = at_a_thread();
    let order = PersonRequest::Threads {
        what: ThreadAct::Decide(Decision::Resolve),
        threads: vec![(address.clone(), id.clone())],
        reason: None,
    };
    let trouble = RequestProblem {
        address: address.clone(),
        thread: Some(id.clone()),
        sentence: "GitHub did not take it: the token may not write here; do the same again to go on"
            .to_owned(),
    };
    let failed = CompletedRequest {
        order,
        threads: Vec::new(),
        recorded: Vec::new(),
        tell: Vec::new(),
        troubles: vec![trouble],
    };
    update(&mut model, Message::RequestFinished(Ok(Box::new(RequestOutcome::Done(failed)))));
    let key = (address, id);
    assert!(model.marks.problems.contains_key(&key));
    assert!(model.requests.undoable.is_empty(), "nothing was done that could be undone");
    snapshots_of("trouble", &mut model);
    press(&mut model, "jk");
    assert!(model.marks.problems.contains_key(&key), "moving the cursor does not clear it");
    press(&mut model, "\n\u{1b}");
    assert!(!model.marks.problems.contains_key(&key), "the page showed it");
}

fn ways(model: &mut Model) -> Vec<WayOut> {
    let by = model.by.clone();
    vec![
        WayOut {
            way: Way::CloseAndReopen,
            sentences: vec!["Close it. Reopen it.".to_owned()],
            means: WayOutMeans::Write(Vec::new()),
        },
        WayOut {
            way: Way::PushByHand,
            sentences: vec!["Push the fix yourself.".to_owned()],
            means: WayOutMeans::ByHand,
        },
        WayOut {
            way: Way::GrantRound,
            sentences: vec!["Send the author to work once more, which may cost money.".to_owned()],
            means: WayOutMeans::Tell(LoopCommand::GrantRound { by, why: String::new() }),
        },
        WayOut {
            way: Way::MendGlass,
            sentences: Vec::new(),
            means: WayOutMeans::Not("the glass is not broken".to_owned()),
        },
    ]
}

#[test]
fn l6_the_ways_out_are_a_menu_with_explanations() {
    let (mut model, address, _) = at_a_thread();
    let effects = press(&mut model, "w");
    let [Effect::FindWaysOut { ticket, .. }] = effects.as_slice() else { panic!("{effects:?}") };
    let found = Message::WaysOut { ticket: *ticket, address: address.clone(), ways: Ok(ways(&mut model)) };
    update(&mut model, found.clone());
    snapshots_of("ways_out", &mut model);
    let (_, order) = proposed(&press(&mut model, "1"));
    assert_eq!(
        order,
        PersonRequest::PullRequest { address: address.clone(), way: Way::CloseAndReopen, reason: None }
    );

    for (key, is_written) in [("2", false), ("4", false), ("3", true)] {
        let (mut model, ..) = at_a_thread();
        press(&mut model, "w");
        update(&mut model, found.clone());
        assert_eq!(press(&mut model, key), [], "{key}");
        assert_eq!(matches!(model.dialog.overlay, Overlay::Write(_)), is_written, "{key}");
        if is_written {
            let granted = LoopCommand::GrantRound { by: "dana".to_owned(), why: "nearly there".to_owned() };
            assert_eq!(press(&mut model, "nearly there\n"), [Effect::Tell(address.clone(), granted)]);
        }
    }
}

#[test]
fn a_text_a_question_and_marks_are_drawn_at_every_size() {
    let (mut model, ..) = at_a_thread();
    press(&mut model, "aIt is tested\nin the other crate.");
    snapshots_of("writing", &mut model);
    let (mut model, ..) = at_a_thread();
    press(&mut model, "v");
    snapshots_of("reason", &mut model);
    let (ticket, order) = proposed(&press(&mut model, "enough of this\n"));
    snapshots_of("working", &mut model);
    let mut proposal = recorded(order, "Stop the argument: it waits in the inbox for dana.");
    proposal.steps.extend(proposal.steps.clone());
    update(&mut model, Message::Proposed { ticket, proposal: Ok(proposal) });
    snapshots_of("asked", &mut model);
    let mut model = super::model();
    press(&mut model, "/fleet21\nl ");
    snapshots_of("marked", &mut model);
}

#[test]
fn the_mouse_drags_the_line_between_the_panes() {
    let mut model = model();
    super::drawn(&mut model, (200, 60));
    let mouse = |model: &mut Model, kind, column, row| {
        update(model, Message::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }));
    };
    let bar = |screen: &str| screen.lines().nth(5).unwrap().chars().position(|c| c == '│').unwrap();
    let before = bar(&super::drawn(&mut model, (200, 60)));
    // A drawn line starts with a quotation mark.
    let at = u16::try_from(before - 1).unwrap();
    mouse(&mut model, MouseEventKind::Down(MouseButton::Left), at, 5);
    mouse(&mut model, MouseEventKind::Drag(MouseButton::Left), at + 10, 5);
    mouse(&mut model, MouseEventKind::Up(MouseButton::Left), at + 10, 5);
    assert_eq!(bar(&super::drawn(&mut model, (200, 60))), before + 10);
    mouse(&mut model, MouseEventKind::Drag(MouseButton::Left), at + 20, 5);
    assert_eq!(bar(&super::drawn(&mut model, (200, 60))), before + 10, "the button was released");
}
