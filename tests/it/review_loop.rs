//! The loop of a pull request (L1–L10), rule by rule. `tests/it/termination.rs` proves that it always ends.

use cloture::domain::policy::Policy;
use cloture::domain::re_review::BrokenGlass;
use cloture::domain::review_loop::{
    Exit, LoopEffect, LoopEvent, Observation, Phase, PostContent, PostKind, ReviewLoop, ReviewerPost,
    TimedOutOn, Transition, WaitAnchor,
};
use cloture::domain::snapshot::PullRequestState;
use cloture::domain::vocabulary::ReviewerName;
use jiff::{SignedDuration, Timestamp};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

fn observed(head: &str) -> Observation {
    Observation {
        state: PullRequestState::Open,
        anchor: WaitAnchor { head: head.into(), pushed_at: at(0) },
        posts: Vec::new(),
        broken_glass: None,
        something_to_fix: false,
        has_author: true,
        rounds_on_forge: 0,
    }
}

fn post(reviewer: &str, kind: PostKind, seconds: i64, commit: Option<&str>) -> ReviewerPost {
    ReviewerPost { reviewer: reviewer.into(), kind, at: at(seconds), commit: commit.map(Into::into) }
}

fn review(reviewer: &str, head: &str) -> ReviewerPost {
    post(reviewer, PostKind::Review(PostContent::Complete), 30, Some(head))
}

fn waiting_for(reviewers: &[&str]) -> ReviewLoop {
    ReviewLoop::new(reviewers.iter().map(|name| ReviewerName::from(*name)).collect(), 0)
}

fn polled(review_loop: &mut ReviewLoop, observation: &Observation, now: i64) -> Vec<LoopEffect> {
    match review_loop.wake(LoopEvent::Polled(observation), at(now), &Policy::default()) {
        Transition::Do(effects) => effects,
        Transition::Ignored(reason) => panic!("ignored: {reason}"),
    }
}

fn ended(effects: &[LoopEffect]) -> Option<&Exit> {
    effects.iter().find_map(|effect| match effect {
        LoopEffect::Announce(exit) => Some(exit),
        _ => None,
    })
}

/// When the next attempt is due. One deadline at most: the driver keeps no second.
fn deadline(effects: &[LoopEffect]) -> Timestamp {
    let mut found = effects.iter().filter_map(|effect| match effect {
        LoopEffect::WakeAt(at) => Some(*at),
        _ => None,
    });
    let first = found.next().unwrap();
    assert_eq!(found.next(), None);
    first
}

#[test]
fn l1_only_posts_about_this_head_count() {
    let comment = |seconds, commit| post("r", PostKind::Comment(PostContent::Complete), seconds, commit);
    let cases = [
        (review("r", "abcdef1234"), true),
        (review("r", "0000000000"), false),
        (comment(1, None), true),
        (comment(0, None), false),
        (comment(-1, None), false),
        (comment(1, Some("abcdef1234")), true),
        (comment(1, Some("abcdef1")), true),
        (comment(1, Some("abc")), false),
        (comment(1, Some("0000000")), false),
        (post("r", PostKind::Review(PostContent::NotReady), 1, Some("abcdef1234")), false),
        (review("someone-else", "abcdef1234"), false),
    ];
    for (post, counts) in cases {
        let observation = Observation { posts: vec![post.clone()], ..observed("abcdef1234") };
        let effects = polled(&mut waiting_for(&["r"]), &observation, 60);
        assert_eq!(ended(&effects) == Some(&Exit::Success), counts, "{post:?}");
    }
}

#[test]
fn l2_l4_a_wait_polls_at_the_interval_and_its_timeout_names_the_missing() {
    let mut review_loop = waiting_for(&["in", "late", "later"]);
    let observation = Observation { posts: vec![review("in", "h")], ..observed("h") };
    for attempt in 1..10 {
        let now = 60 * attempt;
        let effects = polled(&mut review_loop, &observation, now);
        assert_eq!(ended(&effects), None, "some reviews are in and clean: keep waiting");
        assert_eq!(deadline(&effects), at(now + 60));
        assert_eq!(i64::from(review_loop.attempt()), attempt);
    }
    let effects = polled(&mut review_loop, &observation, 600);
    let exit = ended(&effects).unwrap();
    assert_eq!(*exit, Exit::Timeout { missing: TimedOutOn::Reviews(vec!["late".into(), "later".into()]) });
    assert_eq!(exit.to_string(), "no review came in time from late, later");
}

#[test]
fn l4_findings_that_arrived_before_a_timeout_start_a_round() {
    let policy = Policy { max_attempts: 1, ..Policy::default() };
    let observation = Observation { posts: vec![review("in", "h")], something_to_fix: true, ..observed("h") };
    let mut review_loop = waiting_for(&["in", "late"]);
    let Transition::Do(effects) = review_loop.wake(LoopEvent::Polled(&observation), at(60), &policy) else {
        panic!()
    };
    assert_eq!(effects[0], LoopEffect::DispatchAuthor { round: 1 });
    let without_author = Observation { has_author: false, ..observation };
    let Transition::Do(effects) =
        waiting_for(&["in", "late"]).wake(LoopEvent::Polled(&without_author), at(60), &policy)
    else {
        panic!()
    };
    assert_eq!(ended(&effects), Some(&Exit::Timeout { missing: TimedOutOn::Reviews(vec!["late".into()]) }));
}

#[test]
fn l4_a_failed_workflow_ends_the_wait_unless_the_review_arrived() {
    let failure = post("r", PostKind::Comment(PostContent::Failure("out of quota".to_owned())), 5, None);
    let check = post("r", PostKind::CheckRunFailed("timed out".to_owned()), 5, Some("h"));
    let old = post("r", PostKind::Comment(PostContent::Failure("out of quota".to_owned())), -5, None);
    for (posts, expected) in [
        (vec![failure.clone()], Some("the review by r failed: out of quota")),
        (vec![check.clone()], Some("the review by r failed: timed out")),
        (vec![old], None),
        (vec![failure, review("r", "h")], Some("every expected review is in, and nothing is left to act on")),
    ] {
        let effects = polled(&mut waiting_for(&["r"]), &Observation { posts, ..observed("h") }, 60);
        assert_eq!(ended(&effects).map(ToString::to_string).as_deref(), expected);
    }
}

#[test]
fn l5_a_moved_head_starts_the_attempts_again_and_waits_for_its_reviews() {
    let mut review_loop = waiting_for(&["r"]);
    let waits_for_r = |review_loop: &ReviewLoop, seen: &Observation| {
        assert_eq!((review_loop.phase(), review_loop.anchor()), (&Phase::Waiting, Some(&seen.anchor)));
        assert_eq!(seen.arrivals(review_loop.expected()).missing, vec![ReviewerName::from("r")]);
    };
    polled(&mut review_loop, &observed("h1"), 60);
    waits_for_r(&review_loop, &observed("h1"));
    let second = polled(&mut review_loop, &observed("h1"), 120);
    assert_eq!((second.len(), review_loop.attempt()), (1, 2), "the same head is the same wait");
    polled(&mut review_loop, &observed("h2"), 180);
    waits_for_r(&review_loop, &observed("h2"));
    assert_eq!(review_loop.attempt(), 1);
    let mut pushed_again = observed("h2");
    pushed_again.anchor.pushed_at = at(200);
    polled(&mut review_loop, &pushed_again, 240);
    assert_eq!(review_loop.attempt(), 1, "the same commit pushed again is a new wait");
}

#[test]
fn l6_rounds_are_capped_by_githubs_count_and_by_the_loops_own() {
    for (on_forge, earlier, dispatches) in [(0, 0, 3), (2, 0, 1), (3, 0, 0), (0, 3, 0), (0, 2, 1)] {
        let mut review_loop = ReviewLoop::new(["r".into()].into(), earlier);
        let mut dispatched = 0;
        for push in 0.. {
            let head = format!("h{push}");
            let observation = Observation {
                posts: vec![review("r", &head)],
                something_to_fix: true,
                rounds_on_forge: on_forge + dispatched,
                ..observed(&head)
            };
            let effects = polled(&mut review_loop, &observation, 60);
            match &effects[0] {
                LoopEffect::DispatchAuthor { round } => {
                    dispatched += 1;
                    assert_eq!(*round, (on_forge + dispatched).max(earlier + dispatched));
                    assert_eq!(deadline(&effects), at(120), "the author's push is watched for");
                }
                LoopEffect::Announce(exit @ Exit::RoundCap { .. }) => {
                    assert_eq!(review_loop.phase(), &Phase::Ended(exit.clone()));
                    assert_eq!(effects.len(), 1, "the end is announced once");
                    break;
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(dispatched, dispatches, "{on_forge} on the forge, {earlier} by earlier loops");
    }
}

#[test]
fn l6_a_person_can_grant_one_more_round_and_only_at_the_cap() {
    let mut review_loop = ReviewLoop::new(["r".into()].into(), 3);
    let policy = Policy::default();
    assert!(matches!(review_loop.wake(LoopEvent::GrantRound, at(0), &policy), Transition::Ignored(_)));
    let issues = Observation { posts: vec![review("r", "h")], something_to_fix: true, ..observed("h") };
    assert!(ended(&polled(&mut review_loop, &issues, 60)).is_some());
    assert_eq!(
        review_loop.wake(LoopEvent::GrantRound, at(60), &policy),
        Transition::Do(vec![LoopEffect::Poll])
    );
    let effects = polled(&mut review_loop, &issues, 61);
    assert!(matches!(effects[0], LoopEffect::DispatchAuthor { round: 4 }));
}

#[test]
fn l8_a_network_failure_costs_an_attempt_and_a_rate_limit_none() {
    let policy = Policy { max_attempts: 3, ..Policy::default() };
    let mut review_loop = waiting_for(&["r"]);
    let until = at(0).checked_add(SignedDuration::from_mins(20)).unwrap();
    let Transition::Do(effects) = review_loop.wake(LoopEvent::RateLimited { until }, at(0), &policy) else {
        panic!()
    };
    assert_eq!((deadline(&effects), review_loop.attempt()), (until, 0));
    for _ in 0..2 {
        let transition = review_loop.wake(LoopEvent::Unreachable, at(0), &policy);
        assert!(matches!(transition, Transition::Do(effects) if ended(&effects).is_none()));
    }
    let Transition::Do(effects) = review_loop.wake(LoopEvent::Unreachable, at(0), &policy) else { panic!() };
    assert_eq!(ended(&effects), Some(&Exit::OutOfReach));
    let mut reached_once = waiting_for(&["r"]);
    reached_once.wake(LoopEvent::Polled(&observed("h")), at(0), &policy);
    reached_once.wake(LoopEvent::Unreachable, at(0), &policy);
    let Transition::Do(effects) = reached_once.wake(LoopEvent::Unreachable, at(0), &policy) else { panic!() };
    assert_eq!(ended(&effects), Some(&Exit::Timeout { missing: TimedOutOn::Unknown }));
}

#[test]
fn l10_people_pause_resume_stop_and_poll_at_once() {
    let policy = Policy::default();
    let mut review_loop = waiting_for(&["r"]);
    assert_eq!(deadline(&polled(&mut review_loop, &observed("h"), 0)), at(60));
    review_loop.wake(LoopEvent::Pause, at(1), &policy);
    assert!(matches!(
        review_loop.wake(LoopEvent::Polled(&observed("h")), at(60), &policy),
        Transition::Ignored(_)
    ));
    assert_eq!(review_loop.wake(LoopEvent::Resume, at(70), &policy), Transition::Do(vec![LoopEffect::Poll]));
    assert_eq!(deadline(&polled(&mut review_loop, &observed("h"), 71)), at(131));
    let attempts = review_loop.attempt();
    assert_eq!(review_loop.wake(LoopEvent::PollNow, at(72), &policy), Transition::Do(vec![LoopEffect::Poll]));
    assert_eq!(review_loop.attempt(), attempts, "asking for a poll costs no attempt of its own");
    review_loop.wake(LoopEvent::Stop, at(132), &policy);
    assert_eq!(*review_loop.phase(), Phase::Ended(Exit::Stopped));
    assert!(matches!(
        review_loop.wake(LoopEvent::Polled(&observed("h")), at(133), &policy),
        Transition::Ignored(_)
    ));
}

#[test]
fn the_end_of_the_pull_request_and_break_glass_come_first() {
    let issues = Observation { posts: vec![review("r", "h")], something_to_fix: true, ..observed("h") };
    let glass = BrokenGlass::Phrase { by: "bob".into() };
    for (observation, sentence) in [
        (Observation { state: PullRequestState::Merged, ..issues.clone() }, "the pull request was merged"),
        (
            Observation { state: PullRequestState::Closed, ..issues.clone() },
            "the pull request was closed without merging",
        ),
        (Observation { broken_glass: Some(glass), ..issues.clone() }, "bob broke the glass with a comment"),
        (
            Observation { has_author: false, ..issues },
            "the reviews found something to fix, and no author is configured to fix it",
        ),
    ] {
        let effects = polled(&mut waiting_for(&["r"]), &observation, 60);
        assert_eq!(ended(&effects).unwrap().to_string(), sentence);
    }
}

#[test]
fn an_author_that_does_not_push_ends_in_a_timeout_or_gives_up() {
    let issues = Observation { posts: vec![review("r", "h")], something_to_fix: true, ..observed("h") };
    let mut review_loop = waiting_for(&["r"]);
    polled(&mut review_loop, &issues, 0);
    let mut given_up = review_loop.clone();
    let exit = (1..=10).find_map(|poll| ended(&polled(&mut review_loop, &issues, 60 * poll)).cloned());
    assert_eq!(exit, Some(Exit::Timeout { missing: TimedOutOn::Push }));
    let Transition::Do(effects) = given_up.wake(LoopEvent::AuthorGaveUp, at(5), &Policy::default()) else {
        panic!()
    };
    assert_eq!(ended(&effects), Some(&Exit::IssuesFound { author_gave_up: true }));
}

#[test]
fn l3_a_loop_without_reviewers_ends_at_its_head_and_keeps_its_budget() {
    let anchor = observed("h").anchor;
    let ended = ReviewLoop::ended_without_reviewers(anchor.clone(), 10, 2, 1);
    assert_eq!(*ended.phase(), Phase::Ended(Exit::Timeout { missing: TimedOutOn::Anybody }));
    assert_eq!((ended.anchor(), ended.attempt()), (Some(&anchor), 10), "a push is recognised by the anchor");
    assert_eq!((ended.dispatched(), ended.granted()), (2, 1), "a new loop gets no new budget");
    let named = waiting_for(&["r", "s"]);
    assert_eq!(named.expected().iter().map(ReviewerName::as_str).collect::<Vec<_>>(), ["r", "s"]);
    assert_eq!((named.anchor(), named.granted()), (None, 0), "no poll and no grant yet");
}

#[test]
fn a_resumed_loop_counts_the_rounds_and_grants_of_earlier_ones() {
    let policy = Policy { max_rounds: 1, max_restarts: 1, ..Policy::default() };
    let issues = Observation { posts: vec![review("r", "h")], something_to_fix: true, ..observed("h") };
    let act =
        |review_loop: &mut ReviewLoop| match review_loop.wake(LoopEvent::Polled(&issues), at(60), &policy) {
            Transition::Do(effects) => effects[0].clone(),
            Transition::Ignored(reason) => panic!("ignored: {reason}"),
        };
    let mut spent = ReviewLoop::resumed(["r".into()].into(), 1, 0, None);
    assert_eq!(act(&mut spent), LoopEffect::Announce(Exit::RoundCap { rounds: 1 }));
    let mut granted = ReviewLoop::resumed(["r".into()].into(), 1, 1, None);
    assert_eq!(act(&mut granted), LoopEffect::DispatchAuthor { round: 2 });
    assert_eq!((granted.dispatched(), granted.granted()), (2, 1));

    // The author is at work on this head: no other round starts, and this one counts for the loop.
    let mut at_work = ReviewLoop::resumed(["r".into()].into(), 0, 0, Some(issues.anchor.clone()));
    assert_eq!(*at_work.phase(), Phase::WithAuthor);
    assert!(matches!(act(&mut at_work), LoopEffect::WakeAt(_)));
    let pushed = Observation { posts: vec![review("r", "h2")], something_to_fix: true, ..observed("h2") };
    let Transition::Do(effects) = at_work.wake(LoopEvent::Polled(&pushed), at(120), &policy) else {
        panic!()
    };
    assert!(matches!(effects[0], LoopEffect::Announce(Exit::RoundCap { .. })), "{effects:?}");
}

#[test]
fn l10_a_pause_ignores_polls_and_goes_back_to_the_phase_that_it_interrupted() {
    let policy = Policy::default();
    let issues = Observation { posts: vec![review("r", "h")], something_to_fix: true, ..observed("h") };
    for (observation, before) in [(&observed("h"), Phase::Waiting), (&issues, Phase::WithAuthor)] {
        let mut review_loop = waiting_for(&["r"]);
        polled(&mut review_loop, observation, 0);
        assert_eq!(*review_loop.phase(), before);
        review_loop.wake(LoopEvent::Pause, at(1), &policy);
        let ignored = review_loop.wake(LoopEvent::Polled(observation), at(2), &policy);
        assert_eq!(ignored, Transition::Ignored("the loop is paused"), "a deadline from before the pause");
        let resumed = review_loop.wake(LoopEvent::Resume, at(3), &policy);
        assert_eq!(resumed, Transition::Do(vec![LoopEffect::Poll]), "which replaces the old deadline");
        assert_eq!(*review_loop.phase(), before);
        assert_eq!(deadline(&polled(&mut review_loop, &observed("h"), 61)), at(121));
    }
}

#[test]
fn l2_each_poll_sets_the_one_deadline_of_the_next() {
    let policy = Policy::default();
    let mut review_loop = waiting_for(&["r"]);
    assert_eq!(deadline(&polled(&mut review_loop, &observed("h"), 0)), at(60));
    assert_eq!(deadline(&polled(&mut review_loop, &observed("h"), 60)), at(120));
    assert_eq!(review_loop.wake(LoopEvent::PollNow, at(62), &policy), Transition::Do(vec![LoopEffect::Poll]));
    assert_eq!(deadline(&polled(&mut review_loop, &observed("h"), 62)), at(122), "from the last poll on");
}

#[test]
fn l6_max_restarts_caps_one_loop_even_if_the_pull_request_has_rounds_left() {
    let policy = Policy { max_rounds: 9, max_restarts: 2, ..Policy::default() };
    let mut review_loop = waiting_for(&["r"]);
    let mut started = 0;
    for push in 0..5 {
        let head = format!("h{push}");
        let issues =
            Observation { posts: vec![review("r", &head)], something_to_fix: true, ..observed(&head) };
        if let Transition::Do(effects) = review_loop.wake(LoopEvent::Polled(&issues), at(60), &policy) {
            started += effects.iter().filter(|e| matches!(e, LoopEffect::DispatchAuthor { .. })).count();
        }
    }
    assert_eq!(started, 2);
}

#[test]
fn l4_every_exit_has_a_name_a_sentence_and_whether_it_is_provisional() {
    let failed = Exit::WorkflowFailure { reviewer: "r".into(), reason: "out of quota".to_owned() };
    let late = |missing| Exit::Timeout { missing };
    let cap = "3 author rounds did not settle it: merge as it is, force-approve, close and reopen, or push \
         the last fix by hand";
    for (exit, name, provisional, sentence) in [
        (Exit::Success, "success", true, "every expected review is in, and nothing is left to act on"),
        (
            Exit::IssuesFound { author_gave_up: true },
            "issues_found",
            true,
            "the reviews found something to fix, and the author ended without a push",
        ),
        (
            late(TimedOutOn::Anybody),
            "timeout",
            true,
            "no reviewer posted in time; name the expected reviewers in the configuration",
        ),
        (late(TimedOutOn::Push), "timeout", true, "the author did not push in time"),
        (
            late(TimedOutOn::Unknown),
            "timeout",
            true,
            "the attempts ran out, and the last of them did not reach GitHub",
        ),
        (failed, "workflow_failure", true, "the review by r failed: out of quota"),
        (Exit::OutOfReach, "out_of_reach", true, "GitHub could not be reached in any attempt"),
        (Exit::RoundCap { rounds: 3 }, "round_cap", false, cap),
        (Exit::PrMerged, "pr_merged", false, "the pull request was merged"),
        (Exit::PrClosed, "pr_closed", false, "the pull request was closed without merging"),
        (
            Exit::BreakGlass(BrokenGlass::Label("stop".to_owned())),
            "break_glass",
            false,
            "the label stop ended the loop",
        ),
        (Exit::Stopped, "stopped", false, "a person stopped the loop"),
    ] {
        assert_eq!((exit.name(), exit.is_provisional()), (name, provisional));
        assert_eq!(exit.to_string(), sentence);
    }
}
