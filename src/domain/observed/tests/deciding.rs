//! People's decisions and their echo from GitHub (T6).

use super::*;

fn event(minute: i64, thread: &str, what: ThreadEventKind) -> ThreadEvent {
    ThreadEvent { at: at(minute), thread: thread.into(), what }
}

/// A decision, made while GitHub showed the thread unresolved.
fn decided(minute: i64, decision: Decision) -> [ThreadEvent; 2] {
    [event(minute, "t", ThreadEventKind::Unresolved), event(minute, "t", ThreadEventKind::Act(decision))]
}

fn machine(snapshot: &PullRequestSnapshot, events: &[ThreadEvent]) -> ThreadMachine {
    with_decisions(snapshot, events).threads[0].thread.machine
}

/// A thread that the round limit escalated: silent at two heads, or argued about in one.
fn escalated() -> [PullRequestSnapshot; 2] {
    let silent = snapshot(3, vec![thread_of(&[(1, bot(), "Look.")])]);
    let argued = [
        (1, bot(), "Look."),
        (2, person("dana"), "Why?"),
        (3, bot(), "Still."),
        (4, person("dana"), "But why?"),
        (5, bot(), "Still."),
    ];
    [silent, snapshot(1, vec![thread_of(&argued)])]
}

fn resolved_by(login: &str, snapshot: &PullRequestSnapshot) -> PullRequestSnapshot {
    let mut resolved = snapshot.clone();
    resolved.threads[0].resolved = true;
    resolved.threads[0].resolved_by = Some(person(login));
    resolved
}

#[test]
fn t6_a_dismissal_survives_the_echo_of_its_resolution_with_its_counters() {
    for before in escalated() {
        let waiting = machine(&before, &[]);
        assert_eq!((waiting.status.name(), waiting.status.cause()), ("escalated", Some("round_limit")));
        let events = decided(30, Decision::Dismiss);
        let dismissed = ThreadMachine { status: ThreadStatus::Dismissed, ..waiting };
        assert_eq!(machine(&before, &events), dismissed, "before GitHub shows it");
        let echo = resolved_by("dana", &before);
        assert_eq!(machine(&echo, &events), dismissed, "and after");
        let returned = machine(&before, &[events, decided(31, Decision::Return)].concat());
        assert_eq!((returned.status.name(), returned.returns), ("open", 1), "a return still fits");
    }
}

#[test]
fn t6_undo_puts_the_thread_back_with_its_counters() {
    for before in escalated() {
        let waiting = machine(&before, &[]);
        let undone = [event(31, "t", ThreadEventKind::Undone)];
        for decision in [Decision::Dismiss, Decision::Uphold, Decision::Resolve, Decision::Return] {
            let events = [&decided(30, decision)[..], &undone].concat();
            assert_eq!(machine(&before, &events), waiting, "{decision:?}");
        }
        // Two decisions are undone one after the other.
        let twice = [
            &decided(30, Decision::Uphold)[..],
            &decided(31, Decision::Dismiss),
            &[event(32, "t", ThreadEventKind::Undone)],
        ]
        .concat();
        assert_eq!(machine(&before, &twice).status, ThreadStatus::Upheld);
        let both = [&twice[..], &[event(33, "t", ThreadEventKind::Undone)]].concat();
        assert_eq!(machine(&before, &both), waiting);
        let more = [&both[..], &[event(34, "t", ThreadEventKind::Undone)]].concat();
        assert_eq!(machine(&before, &more), waiting, "there is nothing left to undo");
    }
    let open = snapshot(2, vec![thread_of(&[(1, bot(), "Look.")])]);
    for decision in [Decision::Veto, Decision::Escalate, Decision::Resolve] {
        let events = [&decided(30, decision)[..], &[event(31, "t", ThreadEventKind::Undone)]].concat();
        assert_eq!(machine(&open, &events), machine(&open, &[]), "{decision:?}");
    }
}

#[test]
fn t6_undo_takes_back_queueing_and_the_choice_of_a_target() {
    let fetched = snapshot(1, vec![thread_of(&[(1, bot(), "Look.")])]);
    let queued = event(5, "t", ThreadEventKind::Act(Decision::Queue));
    let withheld = event(6, "t", ThreadEventKind::Routed(Destination::Nowhere));
    let undone = |minute| event(minute, "t", ThreadEventKind::Undone);
    let wish = |events: &[ThreadEvent]| {
        let thread = with_decisions(&fetched, events).threads[0].thread.clone();
        (thread.queued, thread.routed)
    };
    assert_eq!(wish(&[queued.clone(), undone(7)]), (false, Destination::AsConfigured));
    assert_eq!(wish(&[queued.clone(), withheld.clone(), undone(7)]), (true, Destination::AsConfigured));
    let both = [queued.clone(), withheld, undone(7), undone(8)];
    assert_eq!(wish(&both), (false, Destination::AsConfigured));
    let unqueued = event(6, "t", ThreadEventKind::Act(Decision::Unqueue));
    assert_eq!(wish(&[queued.clone(), unqueued, undone(7)]), (true, Destination::AsConfigured));
    // H1: the end of the pull request empties the queue, and nobody's undo fills it again.
    let ended = event(6, "t", ThreadEventKind::QueueDiscarded);
    assert_eq!(wish(&[queued, ended, undone(7)]), (false, Destination::AsConfigured));
}

#[test]
fn t6_what_happened_since_is_not_undone() {
    let again = thread("u", vec![comment(22, bot(), "Look. critical")]);
    let mut fetched = snapshot(3, vec![thread_of(&[(1, bot(), "Look. low")]), again]);
    fetched.threads[1].comments[0].original_commit = Some("h20".into());
    let events = [&decided(5, Decision::Veto)[..], &[event(30, "t", ThreadEventKind::Undone)]].concat();
    let status = machine(&fetched, &events).status;
    assert_eq!(status.cause(), Some("worsened"), "the finding got worse after the veto");
}

#[test]
fn t6_a_thread_that_was_decided_about_waited_even_if_the_reason_is_gone() {
    // The bot deleted the replies that had escalated the thread.
    let fetched = snapshot(1, vec![thread_of(&[(1, bot(), "Look.")])]);
    let dismissed = machine(&fetched, &decided(30, Decision::Dismiss));
    assert_eq!(dismissed.status, ThreadStatus::Dismissed);
    let echo = resolved_by("dana", &fetched);
    assert_eq!(machine(&echo, &decided(30, Decision::Dismiss)), dismissed);
}

#[test]
fn t6_an_upheld_finding_is_something_to_fix_whatever_it_is() {
    let nit = snapshot(1, vec![thread_of(&[(1, bot(), "Consider a better name. nit")])]);
    assert_eq!(observed(&nit).0.to_fix, 0);
    let fix = |events: &[ThreadEvent]| {
        let observed = with_decisions(&nit, events);
        observation(&nit, &observed, &Rabbit, &BreakGlassRules::default()).to_fix > 0
    };
    let upheld = [decided(5, Decision::Veto), decided(6, Decision::Uphold)].concat();
    assert!(fix(&upheld));
    let sent = [&upheld[..], &[event(7, "t", ThreadEventKind::HandedOff)]].concat();
    assert!(!fix(&sent), "it was handed off");
    assert!(!fix(&[upheld, decided(7, Decision::Resolve).to_vec()].concat()));
}

/// GitHub names Cloture's own account as the person who resolved a thread.
#[test]
fn c8_cloture_resolving_for_the_reviewer_is_not_a_persons_decision() {
    let mut changed = thread_of(&[(1, bot(), "Look.")]);
    (changed.outdated, changed.line) = (true, None);
    let fetched = resolved_by("dana", &snapshot(2, vec![changed]));
    assert_eq!(machine(&fetched, &[]).status, ThreadStatus::Resolved(ResolvedBy::Person));
    let ours = event(12, "t", ThreadEventKind::ResolvedByEngine);
    let let_go = machine(&fetched, std::slice::from_ref(&ours)).status;
    assert_eq!(let_go, ThreadStatus::Resolved(ResolvedBy::Reviewer), "so D5 applies if it comes back");
    let reopened = event(13, "t", ThreadEventKind::Reopened);
    let by_person = machine(&fetched, &[ours, reopened]).status;
    assert_eq!(
        by_person,
        ThreadStatus::Resolved(ResolvedBy::Person),
        "a person opened and resolved it since"
    );
}

/// D2, D3: two threads with the same words, both rewritten since. The report is at the second one's old line.
#[test]
fn d2_the_nearest_last_known_place_decides_which_thread_a_bot_repeats() {
    let at_line = |id: &str, line: u32, minute: i64, outdated: bool| {
        let mut thread = thread(id, vec![comment(minute, bot(), "The handle is leaked here.")]);
        (thread.line, thread.start_line) = ((!outdated).then_some(line), None);
        (thread.original_line, thread.original_start_line) = (Some(line), None);
        thread.outdated = outdated;
        thread
    };
    let threads = vec![at_line("a", 10, 1, true), at_line("b", 50, 1, true), at_line("c", 50, 12, false)];
    let observed = threads_in(&snapshot(2, threads));
    let repeats = observed.iter().find(|observed| observed.thread.id == "c".into()).unwrap().repeats.clone();
    assert_eq!(repeats, Some("b".into()));
}
