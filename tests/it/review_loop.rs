//! The loop of a pull request (L1–L10), rule by rule. `tests/it/termination.rs` proves that it always ends.

use cloture::domain::policy::Policy;
use cloture::domain::re_review::BrokenGlass;
use cloture::domain::review_loop::{
    AuthorState, Exit, Judgement, LoopEffect, LoopEvent, Observation, Phase, PostContent, PostKind,
    ReviewLoop, ReviewerPost, TimedOutOn, Transition, WaitAnchor,
};
use cloture::domain::snapshot::PullRequestState;
use cloture::domain::vocabulary::ReviewerName;
use jiff::Timestamp;
use std::collections::BTreeSet;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

/// One look at a head, with `r` expected and nothing posted.
fn observed(head: &str) -> Observation {
    Observation {
        state: PullRequestState::Open,
        anchor: WaitAnchor { head: head.into(), pushed_at: at(0) },
        reopened_at: None,
        counts_from: None,
        expected: ["r".into()].into(),
        exhausted: BTreeSet::new(),
        asks_spent: BTreeSet::new(),
        expects_anybody: false,
        posts: Vec::new(),
        broken_glass: None,
        to_fix: 0,
        for_person: Vec::new(),
        author: AuthorState::Idle,
        rounds_on_forge: 0,
        rounds_recorded: 0,
        granted: 0,
    }
}

fn expecting(reviewers: &[&str], observation: Observation) -> Observation {
    Observation { expected: reviewers.iter().map(|name| ReviewerName::from(*name)).collect(), ..observation }
}

/// The review is in, and there is something to fix.
fn issues(head: &str) -> Observation {
    Observation { posts: vec![review("r", head)], to_fix: 1, ..observed(head) }
}

/// The review is in and found nothing.
fn clean(head: &str) -> Observation {
    Observation { posts: vec![review("r", head)], ..observed(head) }
}

fn post(reviewer: &str, kind: PostKind, seconds: i64, commit: Option<&str>) -> ReviewerPost {
    let commit = commit.map(Into::into);
    ReviewerPost { reviewer: reviewer.into(), kind, at: at(seconds), commit, url: None, aside: false }
}

fn review(reviewer: &str, head: &str) -> ReviewerPost {
    post(reviewer, PostKind::Review(PostContent::Complete), 30, Some(head))
}

fn posted(reviewer: &str, content: PostContent, seconds: i64) -> ReviewerPost {
    post(reviewer, PostKind::Review(content), seconds, Some("h"))
}

fn wake(review_loop: &mut ReviewLoop, event: LoopEvent<'_>) -> Vec<LoopEffect> {
    match review_loop.wake(event, &Policy::default()) {
        Transition::Do(effects) => effects,
        Transition::Ignored(_) => Vec::new(),
    }
}

fn polled(review_loop: &mut ReviewLoop, observation: &Observation) -> Vec<LoopEffect> {
    wake(review_loop, LoopEvent::Polled(observation))
}

fn after(observation: &Observation) -> ReviewLoop {
    let mut review_loop = ReviewLoop::new();
    polled(&mut review_loop, observation);
    review_loop
}

fn after_timeout(observation: &Observation) -> ReviewLoop {
    let mut review_loop = ReviewLoop::new();
    for _ in 0..Policy::default().max_attempts {
        polled(&mut review_loop, observation);
    }
    review_loop
}

fn late(missing: &[&str]) -> Exit {
    let missing = missing.iter().map(|name| ReviewerName::from(*name)).collect();
    Exit::Timeout { missing: TimedOutOn::Reviews(missing) }
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
        assert_eq!(after(&observation).exit() == Some(&Exit::Success), counts, "{post:?}");
    }
}

#[test]
fn l2_l4_a_wait_lasts_its_attempts_and_its_timeout_names_the_missing() {
    let observation = expecting(&["in", "late", "later"], observed("h"));
    let observation = Observation { posts: vec![review("in", "h")], ..observation };
    let mut review_loop = ReviewLoop::new();
    for attempt in 1..10 {
        assert_eq!(polled(&mut review_loop, &observation), [], "some reviews are in and clean: keep waiting");
        assert_eq!((review_loop.phase(), review_loop.attempt()), (&Phase::Waiting, attempt));
    }
    let exit = late(&["late", "later"]);
    assert_eq!(polled(&mut review_loop, &observation), [LoopEffect::Announce(exit.clone())]);
    assert_eq!(exit.to_string(), "no review came in time from late, later");
}

#[test]
fn l10_a_look_outside_the_schedule_costs_no_attempt_and_still_sees_the_review() {
    let mut review_loop = after(&observed("h"));
    for _ in 0..50 {
        wake(&mut review_loop, LoopEvent::Learned(&observed("h")));
    }
    assert_eq!((review_loop.phase(), review_loop.attempt()), (&Phase::Waiting, 1));
    wake(&mut review_loop, LoopEvent::Learned(&clean("h")));
    assert_eq!(review_loop.exit(), Some(&Exit::Success));
}

#[test]
fn l4_findings_that_arrived_before_a_timeout_start_a_round() {
    let observation = expecting(&["in", "late"], observed("h"));
    let observation = Observation { posts: vec![review("in", "h")], to_fix: 1, ..observation };
    assert_eq!(*after_timeout(&observation).phase(), Phase::WithAuthor);
    let without_author = Observation { author: AuthorState::Absent, ..observation };
    assert_eq!(after_timeout(&without_author).exit(), Some(&late(&["late"])));
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
        let review_loop = after(&Observation { posts, ..observed("h") });
        assert_eq!(review_loop.exit().map(ToString::to_string).as_deref(), expected);
    }
}

#[test]
fn l3_nothing_that_runs_or_cannot_be_read_is_clean() {
    use PostContent::{Complete, Failure, InProgress, NotReady, Unreadable};
    let unreadable = || Unreadable("no known mark".to_owned());
    let failed = || Failure("out of quota".to_owned());
    for (posts, expected) in [
        (vec![(Complete, 1), (InProgress, 2)], "missing"),
        (vec![(InProgress, 1), (Complete, 2)], "missing"),
        (vec![(Complete, 1), (unreadable(), 2)], "unreadable"),
        (vec![(unreadable(), 1), (Complete, 2)], "arrived"),
        (vec![(Complete, 1), (unreadable(), 2), (failed(), 3)], "unreadable"),
        (vec![(Complete, 1), (failed(), 2)], "arrived"),
        (vec![(failed(), 1), (InProgress, 2)], "missing"),
        (vec![(Complete, 1), (NotReady, 2)], "arrived"),
        (vec![(unreadable(), 1), (NotReady, 2)], "unreadable"),
        (vec![(NotReady, 1)], "missing"),
    ] {
        let described = format!("{posts:?}");
        let posts = posts.into_iter().map(|(content, second)| posted("r", content, second)).rev().collect();
        let arrivals = Observation { posts, ..observed("h") }.arrivals();
        let found = [
            ("arrived", arrivals.arrived.len()),
            ("missing", arrivals.missing.len()),
            ("unreadable", arrivals.unreadable.len()),
            ("failed", arrivals.failed.len()),
        ];
        let found: Vec<_> = found.iter().filter(|(_, count)| *count > 0).map(|(name, _)| *name).collect();
        assert_eq!(found, [expected], "{described}");
    }
}

#[test]
fn l3_l4_an_unreadable_review_is_waited_for_and_then_ends_the_loop_with_a_link() {
    let mut strange =
        posted("r", PostContent::Unreadable("it announces 2 findings, and 1 was found".to_owned()), 5);
    strange.url = Some("https://github.com/acme/shop/pull/7#r1".to_owned());
    let observation = Observation { posts: vec![strange], ..observed("h") };
    assert_eq!(*after(&observation).phase(), Phase::Waiting);
    let review_loop = after_timeout(&observation);
    let exit = review_loop.exit().unwrap();
    assert_eq!(exit.name(), "workflow_failure");
    assert_eq!(
        exit.to_string(),
        "the review by r cannot be read: it announces 2 findings, and 1 was found; read it at \
         https://github.com/acme/shop/pull/7#r1"
    );
}

#[test]
fn l4_threads_that_wait_for_a_person_are_no_success() {
    let labels = |count: usize| (1..=count).map(|n| format!("src/a.rs:{n} \"Bug {n}\"")).collect::<Vec<_>>();
    for (count, sentence) in [
        (1, "1 thread waits for a person: src/a.rs:1 \"Bug 1\""),
        (
            5,
            "5 threads wait for a person: src/a.rs:1 \"Bug 1\", src/a.rs:2 \"Bug 2\", src/a.rs:3 \"Bug 3\" \
             and 2 more",
        ),
    ] {
        let waiting = Observation { for_person: labels(count), ..clean("h") };
        let mut review_loop = after(&waiting);
        let exit = review_loop.exit().unwrap();
        assert_eq!((exit.name(), exit.to_string().as_str()), ("needs_person", sentence));
        // A person decides, and the journal says so before the next poll.
        wake(&mut review_loop, LoopEvent::Learned(&clean("h")));
        assert_eq!(review_loop.exit(), Some(&Exit::Success));
    }
    let both = Observation { for_person: labels(1), author: AuthorState::Absent, ..issues("h") };
    assert_eq!(after(&both).exit().map(Exit::name), Some("issues_found"), "the author can act first");
}

#[test]
fn l5_a_moved_head_starts_the_attempts_again_and_waits_for_its_reviews() {
    let mut review_loop = after(&observed("h1"));
    polled(&mut review_loop, &observed("h1"));
    assert_eq!(review_loop.attempt(), 2, "the same head is the same wait");
    polled(&mut review_loop, &observed("h2"));
    assert_eq!((review_loop.attempt(), review_loop.anchor()), (1, Some(&observed("h2").anchor)));
    let mut pushed_again = observed("h2");
    pushed_again.anchor.pushed_at = at(200);
    polled(&mut review_loop, &pushed_again);
    assert_eq!(review_loop.attempt(), 1, "the same commit pushed again is a new wait");
}

#[test]
fn l6_rounds_are_capped_by_githubs_count_and_by_the_journals() {
    for (on_forge, recorded, dispatches) in [(0, 0, 3), (2, 0, 1), (3, 0, 0), (0, 3, 0), (0, 2, 1)] {
        let mut review_loop = ReviewLoop::new();
        let mut dispatched = 0;
        for push in 0.. {
            let observation = Observation {
                rounds_on_forge: on_forge + dispatched,
                rounds_recorded: recorded + dispatched,
                ..issues(&format!("h{push}"))
            };
            match polled(&mut review_loop, &observation).as_slice() {
                [LoopEffect::DispatchAuthor { round }] => {
                    dispatched += 1;
                    assert_eq!(*round, on_forge.max(recorded) + dispatched);
                }
                [LoopEffect::Announce(exit @ Exit::RoundCap { .. })] => {
                    assert_eq!(review_loop.exit(), Some(exit));
                    assert_eq!(polled(&mut review_loop, &observation), [], "the end is announced once");
                    break;
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(dispatched, dispatches, "{on_forge} on the forge, {recorded} in the journal");
    }
}

#[test]
fn l6_a_grant_continues_a_loop_at_the_cap_without_a_push() {
    let at_cap = Observation { rounds_recorded: 3, ..issues("h") };
    let mut review_loop = after(&at_cap);
    assert_eq!(review_loop.exit(), Some(&Exit::RoundCap { rounds: 3, author_gave_up: false }));
    let granted = Observation { granted: 1, ..at_cap };
    let effects = wake(&mut review_loop, LoopEvent::Learned(&granted));
    assert_eq!(effects, [LoopEffect::DispatchAuthor { round: 4 }]);
}

#[test]
fn l6_max_restarts_caps_the_rounds_that_the_journal_counts() {
    let policy = Policy { max_rounds: 9, max_restarts: 2, ..Policy::default() };
    for (recorded, starts) in [(1, true), (2, false)] {
        let observation = Observation { rounds_recorded: recorded, ..issues("h") };
        let mut review_loop = ReviewLoop::new();
        review_loop.wake(LoopEvent::Polled(&observation), &policy);
        assert_eq!(*review_loop.phase() == Phase::WithAuthor, starts, "{recorded} rounds recorded");
    }
}

#[test]
fn l6_a_reopening_starts_a_new_wait() {
    let mut review_loop = after(&clean("h"));
    let closed = Observation { state: PullRequestState::Closed, ..clean("h") };
    polled(&mut review_loop, &closed);
    assert_eq!(review_loop.exit(), Some(&Exit::PrClosed));
    let reopened = Observation { reopened_at: Some(at(100)), ..observed("h") };
    polled(&mut review_loop, &reopened);
    assert_eq!((review_loop.phase(), review_loop.attempt()), (&Phase::Waiting, 1));

    // Closed and reopened between two polls.
    let mut spent = after_timeout(&observed("h"));
    polled(&mut spent, &reopened);
    assert_eq!((spent.phase(), spent.attempt()), (&Phase::Waiting, 1));
    polled(&mut spent, &reopened);
    assert_eq!(spent.attempt(), 2, "one reopening starts one wait");
}

#[test]
fn l8_a_network_failure_costs_an_attempt() {
    let policy = Policy { max_attempts: 3, ..Policy::default() };
    let fail = |review_loop: &mut ReviewLoop, times: usize| {
        (0..times).for_each(|_| drop(review_loop.wake(LoopEvent::Unreachable, &policy)));
    };
    let mut review_loop = ReviewLoop::new();
    fail(&mut review_loop, 2);
    assert_eq!(*review_loop.phase(), Phase::Waiting);
    fail(&mut review_loop, 1);
    assert_eq!(review_loop.exit(), Some(&Exit::OutOfReach));
    review_loop.wake(LoopEvent::Polled(&observed("h")), &policy);
    assert_eq!((review_loop.phase(), review_loop.attempt()), (&Phase::Waiting, 1), "GitHub is back");
    fail(&mut review_loop, 2);
    assert_eq!(review_loop.exit(), Some(&Exit::Timeout { missing: TimedOutOn::Unknown }));
}

#[test]
fn l10_people_pause_resume_stop_and_restart() {
    let policy = Policy::default();
    for (observation, before) in [(observed("h"), Phase::Waiting), (issues("h"), Phase::WithAuthor)] {
        let mut review_loop = after(&observation);
        assert_eq!(*review_loop.phase(), before);
        wake(&mut review_loop, LoopEvent::Pause);
        let paused = review_loop.clone();
        let ignored = review_loop.wake(LoopEvent::Polled(&observation), &policy);
        assert_eq!(ignored, Transition::Ignored("the loop is paused"));
        assert_eq!(review_loop, paused, "a pause costs no attempts");
        wake(&mut review_loop, LoopEvent::Resume);
        assert_eq!(*review_loop.phase(), before);
        wake(&mut review_loop, LoopEvent::Stop);
        assert_eq!(review_loop.exit(), Some(&Exit::Stopped));
        assert_eq!(polled(&mut review_loop, &observed("h2")), [], "not even a push starts it again");
        wake(&mut review_loop, LoopEvent::Restart);
        polled(&mut review_loop, &observed("h2"));
        assert_eq!((review_loop.phase(), review_loop.attempt()), (&Phase::Waiting, 1));
    }
}

#[test]
fn l10_a_stop_after_an_end_keeps_news_from_starting_the_loop_again() {
    let mut review_loop = after_timeout(&observed("h"));
    wake(&mut review_loop, LoopEvent::Stop);
    polled(&mut review_loop, &clean("h"));
    assert_eq!(review_loop.exit(), Some(&Exit::Stopped));
}

#[test]
fn the_end_of_the_pull_request_and_break_glass_come_first() {
    let glass = BrokenGlass::Phrase { by: "bob".into() };
    for (observation, sentence) in [
        (Observation { state: PullRequestState::Merged, ..issues("h") }, "the pull request was merged"),
        (
            Observation { state: PullRequestState::Closed, ..issues("h") },
            "the pull request was closed without merging",
        ),
        (Observation { broken_glass: Some(glass), ..issues("h") }, "bob broke the glass with a comment"),
        (
            Observation { author: AuthorState::Absent, ..issues("h") },
            "the reviews found something to fix, and no author is configured to fix it",
        ),
    ] {
        assert_eq!(after(&observation).exit().unwrap().to_string(), sentence);
    }
    for ended in [Exit::PrMerged, Exit::PrClosed] {
        let state = if ended == Exit::PrMerged { PullRequestState::Merged } else { PullRequestState::Closed };
        for command in [LoopEvent::Pause, LoopEvent::Stop] {
            let mut review_loop = after(&observed("h"));
            wake(&mut review_loop, command);
            polled(&mut review_loop, &Observation { state, ..observed("h") });
            assert_eq!(review_loop.exit(), Some(&ended), "the pull request's own end is the last word");
        }
    }
}

#[test]
fn an_author_that_does_not_push_ends_in_a_timeout() {
    let mut review_loop = after(&issues("h"));
    let at_work = Observation { author: AuthorState::AtWork, rounds_recorded: 1, ..issues("h") };
    let mut patient = review_loop.clone();
    for _ in 0..30 {
        polled(&mut review_loop, &at_work);
    }
    assert_eq!(review_loop.exit(), Some(&Exit::Timeout { missing: TimedOutOn::Push }));
    let pushed = Observation { author: AuthorState::Pushed, ..at_work };
    wake(&mut patient, LoopEvent::Learned(&pushed));
    assert_eq!(*patient.phase(), Phase::WithAuthor, "the new head is not to be seen yet");
}

#[test]
fn l6_a_round_without_a_push_is_spent_and_the_next_one_starts_at_once() {
    let at_work = Observation { author: AuthorState::AtWork, rounds_recorded: 1, ..issues("h") };
    let given_up =
        |rounds_recorded| Observation { author: AuthorState::GaveUp, rounds_recorded, ..issues("h") };
    let mut timed_out = after(&issues("h"));
    for _ in 0..30 {
        polled(&mut timed_out, &at_work);
    }
    // A loop that waits, one whose time was up, and one that starts anew after a crash.
    for before in [after(&issues("h")), timed_out, ReviewLoop::new()] {
        let described = format!("{before:?}");
        let mut review_loop = before;
        let effects = wake(&mut review_loop, LoopEvent::Learned(&given_up(1)));
        assert_eq!(effects, [LoopEffect::DispatchAuthor { round: 2 }], "{described}");
        assert_eq!(*review_loop.phase(), Phase::WithAuthor);
        let cap = Exit::RoundCap { rounds: 3, author_gave_up: true };
        let effects = wake(&mut review_loop, LoopEvent::Learned(&given_up(3)));
        assert_eq!(effects, [LoopEffect::Announce(cap)], "{described}");
        assert_eq!(wake(&mut review_loop, LoopEvent::Learned(&given_up(3))), [], "it is said once");
    }
}

#[test]
fn c6_a_review_that_cloture_does_not_ask_for_is_not_waited_for() {
    let exhausted = Observation { exhausted: ["r".into()].into(), ..observed("h") };
    let exit = Exit::Timeout { missing: TimedOutOn::ExhaustedReviewers(vec!["r".into()]) };
    let mut review_loop = after(&exhausted);
    assert_eq!((review_loop.exit(), review_loop.attempt()), (Some(&exit), 1), "at the first look");
    assert_eq!(polled(&mut review_loop, &exhausted), [], "and once");
    // The next head ends at once, too.
    let next = Observation { exhausted: ["r".into()].into(), ..observed("h2") };
    assert_eq!(polled(&mut review_loop, &next), [LoopEffect::Announce(exit.clone())]);
    // Another reviewer is still waited for, and then both are named.
    let both = expecting(&["r", "s"], exhausted.clone());
    assert_eq!(*after(&both).phase(), Phase::Waiting);
    assert_eq!(after_timeout(&both).exit(), Some(&late(&["s", "r"])));
    let other_is_in = Observation { posts: vec![review("s", "h")], ..both };
    assert_eq!(after(&other_is_in).exit(), Some(&exit), "a head without a review is never clean");
    // Findings of the other one still start a round.
    let findings = Observation { to_fix: 1, ..other_is_in };
    assert_eq!(polled(&mut ReviewLoop::new(), &findings), [LoopEffect::DispatchAuthor { round: 1 }]);
    // Its review of this head came in before.
    let reviewed = Observation { exhausted: ["r".into()].into(), ..clean("h") };
    assert_eq!(after(&reviewed).exit(), Some(&Exit::Success));
}

#[test]
fn a_restarted_process_waits_for_the_author_that_is_at_work() {
    let at_work = Observation { author: AuthorState::AtWork, rounds_recorded: 1, ..issues("h") };
    let mut review_loop = ReviewLoop::new();
    assert_eq!(polled(&mut review_loop, &at_work), [], "no second round starts");
    assert_eq!(*review_loop.phase(), Phase::WithAuthor);
}

#[test]
fn l3_without_known_reviewers_the_loop_waits_for_any_and_begins_again_when_one_comes() {
    let nobody = Observation { expects_anybody: true, ..expecting(&[], observed("h")) };
    assert_eq!(*after(&nobody).phase(), Phase::Waiting, "no review is missing, and still it is not clean");
    let mut review_loop = after_timeout(&nobody);
    assert_eq!(review_loop.exit(), Some(&Exit::Timeout { missing: TimedOutOn::Anybody }));
    polled(&mut review_loop, &observed("h"));
    assert_eq!((review_loop.phase(), review_loop.attempt()), (&Phase::Waiting, 1));
    let explicit = Observation { expects_anybody: false, ..nobody };
    assert_eq!(after(&explicit).exit(), Some(&Exit::Success), "the configuration expects nobody");
}

#[test]
fn t8_news_after_an_end_changes_the_end() {
    let running = Observation { posts: vec![posted("r", PostContent::InProgress, 40)], ..observed("h") };
    let absent = |observation| Observation { author: AuthorState::Absent, ..observation };
    for (before, news, phase, attempt) in [
        // The missing review came after all.
        (after_timeout(&observed("h")), clean("h"), Phase::Ended(Exit::Success), 10),
        // A review runs again: the loop waits for it afresh.
        (after(&clean("h")), running.clone(), Phase::Waiting, 1),
        // The time for this reviewer was up, and it is still not in.
        (after_timeout(&observed("h")), running, Phase::Ended(late(&["r"])), 10),
        (after(&clean("h")), absent(issues("h")), Phase::Ended(Exit::IssuesFound {}), 1),
        (after(&absent(issues("h"))), clean("h"), Phase::Ended(Exit::Success), 1),
        // Another reviewer showed itself.
        (after_timeout(&observed("h")), expecting(&["r", "s"], observed("h")), Phase::Waiting, 1),
        (after_timeout(&observed("h")), observed("h2"), Phase::Waiting, 1),
    ] {
        let described = format!("{before:?}");
        let mut review_loop = before;
        polled(&mut review_loop, &news);
        assert_eq!((review_loop.phase(), review_loop.attempt()), (&phase, attempt), "{described}");
    }
}

#[test]
fn l4_one_judgement_says_the_same_everywhere() {
    let unreadable = posted("r", PostContent::Unreadable("no known mark".to_owned()), 5);
    for (observation, sentence) in [
        (observed("h"), "the review by r is missing"),
        (
            Observation { posts: vec![unreadable], ..observed("h") },
            "the review by r cannot be read: no known mark",
        ),
        (
            Observation { expects_anybody: true, ..expecting(&[], observed("h")) },
            "no reviewer has posted yet",
        ),
        (issues("h"), "1 finding is left to fix"),
        (Observation { to_fix: 2, ..issues("h") }, "2 findings are left to fix"),
        (Observation { for_person: vec!["a".to_owned()], ..clean("h") }, "1 thread waits for a person"),
        (clean("h"), "every expected review is in, and nothing is left to act on"),
    ] {
        assert_eq!(observation.judge().to_string(), sentence);
    }
    assert_eq!(clean("h").judge(), Judgement::Clean);
}

#[test]
fn l4_every_exit_has_a_name_and_a_sentence() {
    let failed = Exit::WorkflowFailure { reviewer: "r".into(), reason: "out of quota".to_owned() };
    let timeout = |missing| Exit::Timeout { missing };
    let cap = "3 author rounds did not settle it: merge as it is, force-approve, close and reopen, or push \
         the last fix by hand";
    for (exit, name, sentence) in [
        (Exit::Success, "success", "every expected review is in, and nothing is left to act on"),
        (
            Exit::IssuesFound {},
            "issues_found",
            "the reviews found something to fix, and no author is configured to fix it",
        ),
        (
            timeout(TimedOutOn::Anybody),
            "timeout",
            "no reviewer posted in time; name the expected reviewers in the configuration",
        ),
        (timeout(TimedOutOn::Push), "timeout", "the author did not push in time"),
        (
            timeout(TimedOutOn::Unknown),
            "timeout",
            "the attempts ran out, and the last of them did not reach GitHub",
        ),
        (failed, "workflow_failure", "the review by r failed: out of quota"),
        (Exit::OutOfReach, "out_of_reach", "GitHub could not be reached in any attempt"),
        (Exit::RoundCap { rounds: 3, author_gave_up: false }, "round_cap", cap),
        (
            Exit::RoundCap { rounds: 1, author_gave_up: true },
            "round_cap",
            "1 author round did not settle it, and the last one ended without a push: merge as it is, \
             force-approve, close and reopen, or push the last fix by hand",
        ),
        (
            timeout(TimedOutOn::ExhaustedReviewers(vec!["r".into()])),
            "timeout",
            "r has used all reviews of this pull request, so this head stays without one: a person has to \
             review it",
        ),
        (Exit::PrMerged, "pr_merged", "the pull request was merged"),
        (Exit::PrClosed, "pr_closed", "the pull request was closed without merging"),
        (
            Exit::BreakGlass(BrokenGlass::Label("stop".to_owned())),
            "break_glass",
            "the label stop ended the loop",
        ),
        (Exit::Stopped, "stopped", "a person stopped the loop"),
    ] {
        assert_eq!(exit.name(), name);
        assert_eq!(exit.to_string(), sentence);
    }
}
