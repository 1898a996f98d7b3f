use super::*;
use crate::domain::machine::{Decision, ThreadMachine};
use crate::domain::place::LineRange;
use crate::domain::post::{ParsedPost, PostPlace, ReportedFinding};
use crate::domain::re_review::{BreakGlassRules, ReadsReplies};
use crate::domain::review_loop::{Observation, ReviewArrivals};
use crate::domain::snapshot::{
    AccountKind, Branch, Check, CheckOutcome, Comment, DiffSide, KnownNames, PullRequestState, PushEvidence,
    PushTime, RepositoryName, Review, ReviewState, ThreadComment, ThreadSubject, Visible,
};
use crate::domain::vocabulary::{Association, Intent, Severity, Stance};
use crate::replies::PhraseTables;
use jiff::Timestamp;
use proptest::prelude::*;

mod deciding;

fn at(minute: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + minute * 60).unwrap()
}

fn account(login: &str, kind: AccountKind) -> Account {
    Account { login: login.into(), kind, database_id: None }
}

fn bot() -> Account {
    account("rabbit", AccountKind::Bot)
}

fn person(login: &str) -> Account {
    account(login, AccountKind::User)
}

/// A reader that goes by the first words of a post.
#[derive(Debug)]
struct Rabbit;

impl ReadsReplies for Rabbit {
    fn intent(&self, body: &str) -> Intent {
        PhraseTables.intent(body)
    }

    fn is_agent_post(&self, body: &str) -> bool {
        PhraseTables.is_agent_post(body)
    }

    fn own_lines<'a>(&self, body: &'a str) -> Vec<&'a str> {
        PhraseTables.own_lines(body)
    }
}

impl PostReader for Rabbit {
    fn reviewer(&self, by: &Account, _body: &str) -> Option<ReviewerName> {
        (by.kind == AccountKind::Bot && by.login.as_str() == "rabbit").then(|| "rabbit".into())
    }

    fn read(&self, _reviewer: &ReviewerName, place: PostPlace, body: &str) -> ParsedPost {
        let class = match place {
            _ if body.starts_with("Review in progress") || body.starts_with("Triggered") => PostClass::Noise,
            _ if body.starts_with("Error") => PostClass::Failure,
            _ if body.starts_with("You are welcome") || body.starts_with("Sorry") => PostClass::Reply,
            PostPlace::ThreadRoot => PostClass::Finding,
            PostPlace::ThreadReply => PostClass::Reply,
            PostPlace::Review | PostPlace::Comment => PostClass::Summary,
        };
        let content = match class {
            PostClass::Noise => PostContent::NotReady,
            PostClass::Failure => PostContent::Failure("it failed".to_owned()),
            PostClass::Reply if body.starts_with("Sorry") => PostContent::Failure("it is sorry".to_owned()),
            _ => PostContent::Complete,
        };
        let accepts =
            ["Thank you", "Agreed"].iter().any(|word| body.starts_with(word)) || body.ends_with("✅");
        let stance = match class {
            PostClass::Reply | PostClass::Finding if accepts => Some(Stance::Accepts),
            PostClass::Reply if body.starts_with("Still") => Some(Stance::SeeksChange),
            _ => None,
        };
        let severity = Severity::ALL.into_iter().find(|severity| body.contains(severity.name()));
        let report = |text: &str| {
            let report = ReportedFinding { severity, ..ReportedFinding::without_details(text) };
            // Some bots name the place of a finding in the body.
            match text.strip_prefix("src/a.rs:10 ") {
                Some(title) => {
                    let lines = LineRange::new(10, 10);
                    ReportedFinding {
                        path: Some("src/a.rs".into()),
                        lines,
                        title: Some(title.into()),
                        ..report
                    }
                }
                None => report,
            }
        };
        let findings = match place {
            PostPlace::ThreadRoot => vec![report(body)],
            PostPlace::Review => body.lines().skip(1).map(report).collect(),
            PostPlace::ThreadReply | PostPlace::Comment => Vec::new(),
        };
        ParsedPost { findings, stance, ..ParsedPost::without_result(class, content) }
    }
}

fn comment(minute: i64, author: Account, body: &str) -> ThreadComment {
    ThreadComment {
        id: format!("c{minute:03}"),
        author: Some(author),
        association: Association::Owner,
        written_by_us: false,
        body: body.to_owned(),
        diff_hunk: String::new(),
        created_at: at(minute),
        updated_at: at(minute),
        edited_at: None,
        commit: None,
        original_commit: None,
        reply_to: None,
        review: None,
        minimized: None,
        pending: false,
        url: format!("https://forge/c{minute}"),
    }
}

fn thread(id: &str, comments: Vec<ThreadComment>) -> ReviewThread {
    ReviewThread {
        id: id.into(),
        path: "src/a.rs".into(),
        line: Some(10),
        start_line: Some(8),
        original_line: Some(10),
        original_start_line: Some(8),
        side: DiffSide::Right,
        subject: ThreadSubject::Line,
        outdated: false,
        resolved: false,
        resolved_by: None,
        viewer_can_reply: true,
        viewer_can_resolve: true,
        viewer_can_unresolve: false,
        comments,
    }
}

fn review(minute: i64, head: &str) -> Review {
    Review {
        id: format!("r{minute}"),
        author: Some(bot()),
        association: Association::None,
        written_by_us: false,
        state: ReviewState::Commented,
        body: "Found something.".to_owned(),
        submitted_at: Some(at(minute)),
        created_at: at(minute),
        updated_at: at(minute),
        edited_at: None,
        commit: Some(head.into()),
        minimized: false,
        url: String::new(),
    }
}

/// A comment on the pull request itself.
fn remark(minute: i64, author: Account, body: &str) -> Comment {
    Comment {
        id: format!("ic{minute}"),
        author: Some(author),
        association: Association::None,
        written_by_us: false,
        body: body.to_owned(),
        created_at: at(minute),
        updated_at: at(minute),
        edited_at: None,
        minimized: None,
        url: String::new(),
    }
}

/// Heads `h0`, `h10`, `h20` … were pushed at those minutes and reviewed one minute later. The last one is the
/// head.
fn snapshot(pushes: i64, threads: Vec<ReviewThread>) -> PullRequestSnapshot {
    let last = (pushes - 1) * 10;
    PullRequestSnapshot {
        repository: RepositoryName::new("o", "r").unwrap(),
        repository_id: "R_1".to_owned(),
        known_as: KnownNames::default(),
        number: 7,
        node_id: "PR_7".to_owned(),
        title: "A change".to_owned(),
        body: String::new(),
        url: String::new(),
        author: Some(person("erin")),
        author_association: Association::Member,
        written_by_us: false,
        state: PullRequestState::Open,
        draft: false,
        base: Branch { name: "main".to_owned(), sha: "base".into() },
        head: Branch { name: "topic".to_owned(), sha: format!("h{last}").into() },
        head_repository: None,
        pushed: PushTime { at: at(last), evidence: PushEvidence::CheckSuite },
        created_at: at(0),
        updated_at: at(last),
        merged_at: None,
        closed_at: None,
        reactions: Vec::new(),
        reopened_at: None,
        counts_from: None,
        labels: Vec::new(),
        reviews: (0..pushes).map(|n| review(n * 10 + 1, &format!("h{}", n * 10))).collect(),
        comments: Vec::new(),
        threads,
        force_pushes: Vec::new(),
        review_requests: Visible::Seen(Vec::new()),
        checks: Visible::Seen(Vec::new()),
    }
}

fn threads_in(snapshot: &PullRequestSnapshot) -> Vec<ObservedThread> {
    with_decisions(snapshot, &[]).threads
}

fn with_decisions(snapshot: &PullRequestSnapshot, events: &[ThreadEvent]) -> ObservedPullRequest {
    observe(snapshot, events, &Rabbit, &Policy::default())
}

/// Status, cause, rounds, flips and cycles of the only thread.
fn only_thread(snapshot: &PullRequestSnapshot) -> (&'static str, Option<&'static str>, u32, u32, u32) {
    let observed = threads_in(snapshot);
    assert_eq!(observed.len(), 1);
    let ThreadMachine { status, counters, .. } = observed[0].thread.machine;
    (status.name(), status.cause(), counters.round_count, counters.flips, counters.cycles)
}

fn thread_of(bodies: &[(i64, Account, &str)]) -> ReviewThread {
    thread("t", bodies.iter().map(|(minute, author, body)| comment(*minute, author.clone(), body)).collect())
}

#[test]
fn a_thread_belongs_to_its_first_writer_and_peoples_threads_are_left_out() {
    let people = thread("p", vec![comment(1, person("dana"), "Hm."), comment(12, bot(), "Indeed.")]);
    let lookalike = thread("e", vec![comment(1, person("rabbit"), "I am a bot.")]);
    let mut draft = thread("d", vec![comment(1, bot(), "Not sent.")]);
    draft.comments[0].pending = true;
    let mut ghost = thread("g", vec![comment(1, bot(), "Gone.")]);
    ghost.comments[0].author = None;
    let own = thread_of(&[(1, bot(), "**Unchecked index.**\nMore.")]);
    let observed =
        threads_in(&snapshot(1, vec![people, lookalike, draft, ghost, own, thread("x", Vec::new())]));
    assert_eq!(observed.len(), 1);
    let ObservedThread { thread, line, url, outdated, .. } = &observed[0];
    assert_eq!((thread.id.as_str(), thread.reviewer.as_str()), ("t", "rabbit"));
    assert_eq!((*line, url.as_str(), *outdated), (Some(10), "https://forge/c1", false));
    assert_eq!((&*thread.finding.title, thread.finding.severity), ("Unchecked index.", None));
}

#[test]
fn a_comment_after_a_push_or_a_reply_is_a_round_and_the_limit_escalates() {
    let opened = [(1, bot(), "Look."), (5, bot(), "And nobody had said anything: no round.")];
    assert_eq!(only_thread(&snapshot(1, vec![thread_of(&opened)])), ("open", None, 0, 0, 1));
    let argued =
        [(1, bot(), "Look."), (2, person("dana"), "Why?"), (3, bot(), "Still."), (4, bot(), "Still.")];
    assert_eq!(only_thread(&snapshot(1, vec![thread_of(&argued)])), ("open", None, 1, 0, 2));
    let again = [(1, bot(), "Look."), (12, bot(), "Still."), (13, bot(), "The same look.")];
    assert_eq!(only_thread(&snapshot(2, vec![thread_of(&again)])), ("open", None, 1, 0, 2));
    let too_often = [(1, bot(), "Look."), (12, bot(), "Still."), (22, bot(), "Still and still.")];
    let escalated = ("escalated", Some("round_limit"), 2, 0, 3);
    assert_eq!(only_thread(&snapshot(3, vec![thread_of(&too_often)])), escalated);
    let and_on = [(1, bot(), "Look."), (12, bot(), "Still."), (22, bot(), "Still."), (32, bot(), "Still.")];
    assert_eq!(only_thread(&snapshot(4, vec![thread_of(&and_on)])), escalated);
    let alternating: Vec<_> = (0..8)
        .flat_map(|n| {
            let words = if n % 2 == 0 { "Still." } else { "Agreed, but." };
            [(10 + 2 * n, person("dana"), "Why?"), (11 + 2 * n, bot(), words)]
        })
        .collect();
    let alternating: Vec<_> = [(1, bot(), "Look.")].into_iter().chain(alternating).collect();
    let (status, cause, _, flips, cycles) = only_thread(&snapshot(1, vec![thread_of(&alternating)]));
    assert_eq!((status, cause, flips), ("escalated", Some("round_limit"), 1));
    assert!(u64::from(cycles) <= Policy::default().cycles_per_thread());
}

#[test]
fn noise_in_a_thread_is_no_turn() {
    let noise = [(1, bot(), "Look."), (2, person("dana"), "Why?"), (3, bot(), "Triggered a review.")];
    assert_eq!(only_thread(&snapshot(1, vec![thread_of(&noise)])), ("open", None, 0, 0, 1));
}

#[test]
fn c8_silence_holds_if_the_code_is_unchanged_and_proposes_to_resolve_if_it_changed() {
    let opened = || thread_of(&[(1, bot(), "Look.")]);
    assert_eq!(only_thread(&snapshot(2, vec![opened()])), ("open", None, 1, 0, 2));
    assert_eq!(only_thread(&snapshot(3, vec![opened()])), ("escalated", Some("round_limit"), 2, 0, 3));
    let mut changed = opened();
    (changed.outdated, changed.line) = (true, None);
    let fetched = snapshot(3, vec![changed]);
    assert_eq!(only_thread(&fetched), ("open", None, 0, 0, 1));
    let threads_in = threads_in(&fetched);
    assert!(threads_in[0].resolve_proposed);
    assert!(observed(&fetched).0.to_fix == 0, "the author seems to have dealt with it");
}

#[test]
fn only_the_reviewers_own_silence_at_the_head_it_finished_counts() {
    let late = [(1, bot(), "Look."), (12, bot(), "Agreed.")];
    assert_eq!(
        only_thread(&snapshot(2, vec![thread_of(&late)])),
        ("open", None, 0, 1, 2),
        "said after its review"
    );
    let others = [(1, bot(), "Look."), (12, person("dana"), "Why?")];
    assert_eq!(
        only_thread(&snapshot(2, vec![thread_of(&others)])),
        ("open", None, 1, 0, 2),
        "somebody else spoke"
    );
    let earlier = [(1, bot(), "Look."), (12, bot(), "Still.")];
    let escalated = ("escalated", Some("round_limit"), 2, 0, 3);
    assert_eq!(
        only_thread(&snapshot(3, vec![thread_of(&earlier)])),
        escalated,
        "that was at the head before"
    );
    let mut resolved = snapshot(3, vec![thread_of(&[(1, bot(), "Look.")])]);
    resolved.threads[0].resolved = true;
    assert_eq!(only_thread(&resolved), ("resolved", Some("reviewer"), 0, 1, 2), "nothing is held any more");
}

#[test]
fn c6_cycles_count_from_the_last_reopening() {
    let mut fetched = snapshot(3, vec![thread_of(&[(1, bot(), "Look.")])]);
    let cycles = |fetched: &PullRequestSnapshot| with_decisions(fetched, &[]).cycles[&"rabbit".into()];
    assert_eq!(cycles(&fetched), 3);
    fetched.counts_from = Some(at(5));
    assert_eq!(cycles(&fetched), 2);
    fetched.counts_from = Some(at(11));
    assert_eq!(cycles(&fetched), 1);
}

#[test]
fn a_failed_review_finishes_no_head() {
    let mut fetched = snapshot(2, vec![thread_of(&[(1, bot(), "Look.")])]);
    fetched.reviews[1].body = "Error: quota.".to_owned();
    assert_eq!(only_thread(&fetched), ("open", None, 0, 0, 1));
    let (_, arrivals) = observed(&fetched);
    assert!(
        arrivals.failed.contains_key(&"rabbit".into()),
        "a refusal is no review, though it is posted as one"
    );
}

/// The finding of `t` at minute 1, raised again at these minutes.
fn repeated(minutes: &[i64], pushes: i64) -> PullRequestSnapshot {
    let text = "The index is unchecked and may run past the end of the buffer.";
    let threads = [1].iter().chain(minutes).map(|minute| {
        let id = if *minute == 1 { "t".to_owned() } else { format!("t{minute}") };
        thread(&id, vec![comment(*minute, bot(), text)])
    });
    snapshot(pushes, threads.collect())
}

#[test]
fn a_finding_raised_again_is_a_repetition_of_the_first_thread() {
    let threads_in = threads_in(&repeated(&[12], 2));
    assert_eq!(threads_in.len(), 2);
    let shown = |at: usize| {
        let ThreadMachine { status, counters, .. } = threads_in[at].thread.machine;
        (
            threads_in[at].thread.id.as_str(),
            threads_in[at].repeats.as_ref().map(ThreadId::as_str),
            status.name(),
            counters.cycles,
        )
    };
    assert_eq!(shown(0), ("t", None, "open", 2));
    assert_eq!(shown(1), ("t12", Some("t"), "open", 2));
}

#[test]
fn raising_a_finding_again_is_one_turn_and_answers_earlier_replies() {
    let mut fetched = repeated(&[11], 2);
    assert_eq!(threads_in(&fetched)[0].thread.machine.counters.cycles, 2, "before its review is in");
    fetched.threads[0].comments.push(comment(2, person("dana"), "Why?"));
    fetched.threads[0].comments.push(comment(13, bot(), "Still, as I say below."));
    assert_eq!(
        threads_in(&fetched)[0].thread.machine.counters.cycles,
        2,
        "one look, however often it speaks"
    );

    let mut worse = repeated(&[12], 2);
    worse.threads[0].comments[0].body += " low";
    worse.threads[1].comments[0].body += " critical";
    let first = &threads_in(&worse)[0].thread;
    assert_eq!((first.status().name(), first.finding.severity), ("open", Some(Severity::Critical)));
}

#[test]
fn a_late_review_of_an_older_commit_is_no_newer_head() {
    for minute in [10, 15] {
        let mut fetched = snapshot(2, vec![thread_of(&[(1, bot(), "Look.")])]);
        fetched.reviews.push(review(minute, "older"));
        assert_eq!(with_decisions(&fetched, &[]).cycles[&"rabbit".into()], 2, "at minute {minute}");
    }
}

#[test]
fn d1_a_repetition_matches_an_open_thread_before_one_that_a_person_has() {
    let mut fetched = repeated(&[2, 11], 2);
    let vetoed = |thread: &str| ThreadEvent {
        at: at(5),
        thread: thread.into(),
        what: ThreadEventKind::Act(Decision::Veto),
    };
    let repeats = |fetched: &PullRequestSnapshot, events: &[ThreadEvent]| {
        let threads = with_decisions(fetched, events).threads;
        let again = threads.into_iter().find(|observed| observed.thread.id.as_str() == "t11").unwrap();
        again.repeats.map(|id| id.to_string())
    };
    assert_eq!(repeats(&fetched, &[]).as_deref(), Some("t"));
    assert_eq!(repeats(&fetched, &[vetoed("t")]).as_deref(), Some("t2"));
    // A thread that a person has precedes one that its reviewer resolved.
    fetched.threads[0].comments[0].body += " ✅";
    fetched.threads[0].comments[0].edited_at = Some(at(5));
    assert_eq!(repeats(&fetched, &[vetoed("t2")]).as_deref(), Some("t2"));
}

#[test]
fn the_same_finding_twenty_five_times_is_one_thread_and_ends_within_the_bound() {
    let minutes: Vec<i64> = (1..25).map(|n| n * 10 + 2).collect();
    let threads_in = threads_in(&repeated(&minutes, 25));
    assert_eq!(threads_in.len(), 25);
    assert_eq!(threads_in.iter().filter(|observed| observed.repeats.is_none()).count(), 1);
    let machine = threads_in.iter().find(|observed| observed.repeats.is_none()).unwrap().thread.machine;
    assert_eq!((machine.status.name(), machine.status.cause()), ("escalated", Some("round_limit")));
    assert!(u64::from(machine.counters.cycles) <= Policy::default().cycles_per_thread());
}

#[test]
fn two_findings_of_one_review_stay_two_however_similar() {
    let threads_in = threads_in(&repeated(&[2, 3], 1));
    assert!(threads_in.iter().all(|observed| observed.repeats.is_none()));
}

#[test]
fn d4_d5_a_repetition_regresses_after_the_reviewer_resolved_and_is_suppressed_after_a_person_did() {
    let mut fetched = repeated(&[12], 2);
    fetched.threads[0].resolved = true;
    let machine = threads_in(&fetched)[0].thread.machine;
    assert_eq!((machine.status.name(), machine.reopens), ("open", 1));

    fetched.threads[0].resolved_by = Some(person("dana"));
    let machine = threads_in(&fetched)[0].thread.machine;
    assert_eq!((machine.status.cause(), machine.reopens), (Some("person"), 0));
    fetched.threads[0].comments[0].body += " low";
    fetched.threads[1].comments[0].body += " critical";
    assert_eq!(threads_in(&fetched)[0].thread.machine.status.cause(), Some("worsened"));

    fetched.threads[1].resolved = true;
    assert_eq!(threads_in(&fetched)[0].thread.machine.status.name(), "resolved");
}

#[test]
fn c6_a_reviewer_is_cut_off_after_its_last_cycle() {
    let threads = (0..7).map(|n| {
        let words =
            ["colour", "length", "owner", "clock", "socket", "title", "index"][usize::try_from(n).unwrap()];
        let mut thread =
            thread(&format!("t{n}"), vec![comment(n * 10 + 1, bot(), &format!("Mind the {words}."))]);
        (thread.line, thread.start_line) = (Some(u32::try_from(n).unwrap() * 100 + 1), None);
        (thread.original_line, thread.original_start_line) = (thread.line, None);
        thread
    });
    let observed = with_decisions(&snapshot(7, threads.collect()), &[]);
    assert_eq!(observed.cycles[&"rabbit".into()], 7);
    let causes: Vec<_> =
        observed.threads.iter().map(|o| o.thread.machine.status.cause().unwrap_or("open")).collect();
    let (limit, cap) = ("round_limit", "iteration_cap");
    assert_eq!(causes, [limit, limit, limit, cap, cap, cap, cap], "a new contradiction each round");
}

#[test]
fn posts_after_the_merge_change_nothing() {
    let mut fetched =
        snapshot(3, vec![thread_of(&[(1, bot(), "Look."), (12, bot(), "Still."), (22, bot(), "Still.")])]);
    fetched.state = PullRequestState::Merged;
    fetched.merged_at = Some(at(5));
    assert_eq!(only_thread(&fetched), ("open", None, 0, 0, 1));
    fetched.merged_at = Some(at(12));
    assert_eq!(
        only_thread(&fetched),
        ("open", None, 1, 0, 2),
        "what was said at that very moment was still said"
    );
    let mut edited = snapshot(2, vec![thread_of(&[(1, bot(), "Look. ✅")])]);
    edited.threads[0].comments[0].edited_at = Some(at(11));
    edited.merged_at = Some(at(5));
    assert_eq!(only_thread(&edited).0, "open");
}

#[test]
fn an_edit_that_says_addressed_resolves_the_thread() {
    let mut fetched = snapshot(2, vec![thread_of(&[(1, bot(), "Look. ✅")])]);
    fetched.threads[0].comments[0].edited_at = Some(at(11));
    assert_eq!(only_thread(&fetched), ("resolved", Some("reviewer"), 0, 1, 2));
}

#[test]
fn findings_in_review_bodies_count_once_and_only_in_the_latest_post() {
    let mut fetched = snapshot(2, vec![thread_of(&[(1, bot(), "The index is unchecked.")])]);
    fetched.reviews[0].body = "Two more:\nThe old socket leaks.".to_owned();
    fetched.reviews[1].body = "One more:\nThe clock is read twice; use one.".to_owned();
    let observed = with_decisions(&fetched, &[]);
    let titles: Vec<_> = observed.in_bodies.iter().map(|body| body.finding.title.to_string()).collect();
    assert_eq!(titles, ["One more:"]);
    assert_eq!(&*observed.in_bodies[0].finding.body, "The clock is read twice; use one.");

    fetched.reviews.reverse();
    assert_eq!(with_decisions(&fetched, &[]), observed, "the latest by time, not by position");
    fetched.comments.push(remark(30, bot(), "You are welcome."));
    assert_eq!(with_decisions(&fetched, &[]).in_bodies, observed.in_bodies, "a courtesy withdraws nothing");
    fetched.comments.push(remark(31, bot(), "Reviewed: there is nothing to say."));
    assert_eq!(with_decisions(&fetched, &[]).in_bodies, []);
}

#[test]
fn a_body_finding_that_repeats_a_thread_counts_in_the_thread() {
    let mut fetched = snapshot(1, vec![thread_of(&[(1, bot(), "The index is unchecked.")])]);
    fetched.reviews[0].body =
        "Two:\nsrc/a.rs:10 The index is unchecked.\nsrc/a.rs:10 The socket leaks.".to_owned();
    let observed = with_decisions(&fetched, &[]);
    let told: Vec<_> = observed.in_bodies.iter().map(|body| body.finding.body.to_string()).collect();
    assert_eq!(told, ["src/a.rs:10 The socket leaks."]);
}

#[test]
fn threads_that_no_reviewer_opened_are_listed_with_their_openers() {
    let people = thread("p", vec![comment(1, person("dana"), "Hm."), comment(12, bot(), "Indeed.")]);
    let mut ghost = thread("g", vec![comment(2, bot(), "Gone.")]);
    ghost.comments[0].author = None;
    (ghost.resolved, ghost.outdated, ghost.line) = (true, true, None);
    let own = thread_of(&[(1, bot(), "Look.")]);
    let fetched = snapshot(1, vec![people, ghost, own, thread("x", Vec::new())]);
    let unowned = unowned(&fetched, &Rabbit);
    let told: Vec<_> = unowned
        .iter()
        .map(|thread| {
            let by = thread.opened_by.as_ref().map(|account| account.login.as_str());
            (thread.id.as_str(), by, thread.status.name(), thread.line, thread.outdated)
        })
        .collect();
    assert_eq!(told, [("g", None, "resolved", None, true), ("p", Some("dana"), "open", Some(10), false)]);
    assert_eq!((&*unowned[1].finding.title, unowned[1].url.as_str()), ("Hm.", "https://forge/c1"));
}

#[test]
fn peoples_decisions_are_part_of_the_history() {
    let fetched = snapshot(2, vec![thread_of(&[(1, bot(), "Look."), (12, bot(), "Still.")])]);
    let decided = |minute, decision| ThreadEvent {
        at: at(minute),
        thread: "t".into(),
        what: ThreadEventKind::Act(decision),
    };
    let machine = |events: &[ThreadEvent]| with_decisions(&fetched, events).threads[0].thread.machine;
    let escalated = machine(&[decided(5, Decision::Escalate)]);
    assert_eq!((escalated.status.cause(), escalated.counters.cycles), (Some("person"), 1));
    let returned = machine(&[decided(6, Decision::Return), decided(5, Decision::Veto)]);
    assert_eq!((returned.status.name(), returned.returns, returned.counters.cycles), ("open", 1, 1));
    let refused = machine(&[decided(5, Decision::Veto), decided(6, Decision::Escalate)]);
    assert_eq!(refused.status.name(), "vetoed", "what does not fit changes nothing");
    let queue = ThreadEvent { at: at(5), thread: "t".into(), what: ThreadEventKind::Act(Decision::Queue) };
    let gone = ThreadEvent { at: at(6), thread: "t".into(), what: ThreadEventKind::HandedOff };
    let thread = with_decisions(&fetched, &[gone, queue]).threads[0].thread.clone();
    assert!(thread.handed_off && !thread.queued);
    let late = ThreadEvent { at: at(7), thread: "t".into(), what: ThreadEventKind::Act(Decision::Queue) };
    let gone = ThreadEvent { at: at(6), thread: "t".into(), what: ThreadEventKind::HandedOff };
    assert!(
        !with_decisions(&fetched, &[late, gone]).threads[0].thread.queued,
        "H4: it is handed off only once"
    );
}

#[test]
fn a_persons_handoff_target_counts_until_the_handoff() {
    let fetched = snapshot(2, vec![thread_of(&[(1, bot(), "Look."), (12, bot(), "Still.")])]);
    let event = |minute, what| ThreadEvent { at: at(minute), thread: "t".into(), what };
    let thread = |all: &[ThreadEvent]| with_decisions(&fetched, all).threads[0].thread.clone();
    let queued = || event(5, ThreadEventKind::Act(Decision::Queue));
    let withheld = event(6, ThreadEventKind::Routed(Destination::Nowhere));
    let sent = event(7, ThreadEventKind::Routed(Destination::Target("expert".into())));
    let found = thread(&[withheld.clone(), queued()]);
    assert!(!found.queued && found.routed == Destination::Nowhere);
    let again = event(8, ThreadEventKind::Act(Decision::Queue));
    let found = thread(&[again, withheld.clone(), queued()]);
    assert!(found.queued && found.routed == Destination::AsConfigured, "queueing it again lifts it");
    let found = thread(&[sent, withheld, queued()]);
    assert_eq!((found.queued, found.routed), (false, Destination::Target("expert".into())));
    let gone = event(6, ThreadEventKind::HandedOff);
    let late = event(7, ThreadEventKind::Routed(Destination::Nowhere));
    let found = thread(&[late, gone]);
    assert!(found.handed_off && found.routed == Destination::AsConfigured);
}

#[test]
fn a_reply_counts_by_its_reviews_commit_if_the_push_time_is_unsure() {
    let mut fetched = snapshot(2, vec![thread_of(&[(1, bot(), "Look."), (9, bot(), "Agreed.")])]);
    assert_eq!(only_thread(&fetched).3, 0, "it replied at the first head and was silent at the second");
    fetched.threads[0].comments[1].review = Some("r11".to_owned());
    assert_eq!(only_thread(&fetched).3, 1);
}

#[test]
fn a_named_resolver_is_a_person_and_a_missing_one_the_reviewer() {
    let mut fetched = snapshot(2, vec![thread_of(&[(1, bot(), "Look."), (12, bot(), "Thank you.")])]);
    fetched.threads[0].resolved = true;
    assert_eq!(only_thread(&fetched), ("resolved", Some("reviewer"), 0, 1, 2));
    fetched.threads[0].resolved_by = Some(bot());
    assert_eq!(only_thread(&fetched).1, Some("reviewer"));
    fetched.threads[0].resolved_by = Some(account("fixer", AccountKind::Bot));
    assert_ne!(only_thread(&fetched).1, Some("person"), "no bot passes for a person");
    fetched.threads[0].resolved_by = Some(person("dana"));
    assert_eq!(only_thread(&fetched), ("resolved", Some("person"), 0, 0, 1));
}

#[test]
fn r4_only_people_with_the_right_override_with_a_reply() {
    let mut fetched = snapshot(1, vec![thread_of(&[(1, bot(), "Look."), (2, person("dana"), "Won't fix.")])]);
    assert_eq!(only_thread(&fetched).1, Some("wont_fix"));
    fetched.threads[0].resolved = true;
    fetched.threads[0].resolved_by = Some(person("dana"));
    assert_eq!(only_thread(&fetched).1, Some("wont_fix"), "resolving after the reply changes nothing");
    fetched.threads[0].resolved = false;

    let reply = &mut fetched.threads[0].comments[1];
    reply.association = Association::Contributor;
    assert_eq!(only_thread(&fetched).0, "open");
    let reply = &mut fetched.threads[0].comments[1];
    reply.association = Association::Owner;
    reply.body = "Won't fix.\n\n<!-- cloture:reply -->".to_owned();
    assert_eq!(only_thread(&fetched).0, "open", "R5");
    let reply = &mut fetched.threads[0].comments[1];
    reply.body = "Won't fix.".to_owned();
    reply.author = Some(account("fixer", AccountKind::Bot));
    assert_eq!(only_thread(&fetched).0, "open");
    fetched.threads[0].comments[1].author = None;
    assert_eq!(only_thread(&fetched).0, "open", "a deleted account may not override");
}

fn observed(snapshot: &PullRequestSnapshot) -> (Observation, ReviewArrivals) {
    let fetched = observation(snapshot, &with_decisions(snapshot, &[]), &Rabbit, &BreakGlassRules::default());
    let fetched = Observation { expected: reviewers(snapshot, &Rabbit), ..fetched };
    let arrivals = fetched.arrivals();
    (fetched, arrivals)
}

#[test]
fn l3_an_empty_review_or_one_of_another_head_is_missing() {
    let mut fetched = snapshot(1, Vec::new());
    assert_eq!(observed(&fetched).1.arrived, ["rabbit".into()]);
    fetched.reviews[0].body = "  ".to_owned();
    assert_eq!(observed(&fetched).1.missing, ["rabbit".into()], "L3: an empty review is not ready");
    fetched.reviews[0].state = ReviewState::Approved;
    assert_eq!(observed(&fetched).1.arrived, ["rabbit".into()]);
    fetched.reviews[0].commit = Some("older".into());
    assert_eq!(observed(&fetched).1.missing, ["rabbit".into()]);
    fetched.reviews.clear();
    assert!(reviewers(&fetched, &Rabbit).is_empty());
    fetched.comments.push(remark(3, bot(), "Review in progress"));
    assert_eq!(observed(&fetched).1.missing, ["rabbit".into()]);
    fetched.author = Some(bot());
    assert!(reviewers(&fetched, &Rabbit).is_empty(), "nobody waits for the author's own review");
}

#[test]
fn l3_a_review_without_text_is_ready_with_threads_and_a_comment_by_its_kind() {
    let mut fetched = snapshot(1, vec![thread_of(&[(1, bot(), "Look.")])]);
    fetched.reviews[0].body = String::new();
    assert_eq!(observed(&fetched).1.missing, ["rabbit".into()], "the thread may be an older one's");
    fetched.threads[0].comments[0].review = Some("r1".to_owned());
    assert_eq!(observed(&fetched).1.arrived, ["rabbit".into()]);
    fetched.threads[0].comments[0].reply_to = Some("c0".to_owned());
    assert_eq!(observed(&fetched).1.missing, ["rabbit".into()], "an answer to somebody is no review");

    fetched.reviews.clear();
    let left = |body: &str| {
        let arrivals =
            observed(&PullRequestSnapshot { comments: vec![remark(3, bot(), body)], ..fetched.clone() }).1;
        (arrivals.arrived.len(), arrivals.missing.len(), arrivals.failed.len())
    };
    assert_eq!(left("Reviewed: there is nothing to say."), (1, 0, 0));
    assert_eq!(left("You are welcome."), (0, 1, 0), "a courtesy is no review");
    assert_eq!(left("Error: quota."), (0, 0, 1));
    assert_eq!(left("Sorry, the review failed."), (0, 0, 1), "told in an answer to somebody");
}

#[test]
fn an_open_finding_is_something_to_fix_and_a_break_glass_label_is_found() {
    let mut fetched = snapshot(1, vec![thread_of(&[(1, bot(), "The index is unchecked.")])]);
    assert_eq!(observed(&fetched).0.to_fix, 1);
    fetched.threads[0].comments[0].body = "Consider another name.".to_owned();
    assert_eq!(observed(&fetched).0.to_fix, 0);
    assert!(observed(&fetched).0.broken_glass.is_none());
    fetched.labels.push("cloture:break-glass".to_owned());
    assert!(observed(&fetched).0.broken_glass.is_some());
    fetched.reviews[0].state = ReviewState::ChangesRequested;
    for (reopened, rounds) in [(None, 1), (Some(at(0)), 1), (Some(at(1)), 0), (Some(at(2)), 0)] {
        fetched.counts_from = reopened;
        assert_eq!(observed(&fetched).0.rounds_on_forge, rounds, "reopened at {reopened:?}");
    }
}

#[test]
fn r7_the_phrase_counts_on_the_pull_request_and_in_threads_from_people_only() {
    let phrase = "/cloture break-glass";
    let broken = |fetched: &PullRequestSnapshot| observed(fetched).0.broken_glass.is_some();
    let mut fetched = snapshot(1, vec![thread_of(&[(1, bot(), "Look."), (2, person("dana"), phrase)])]);
    assert!(broken(&fetched));
    fetched.threads[0].comments[1].pending = true;
    assert!(!broken(&fetched), "a draft has been said to nobody");
    fetched.comments.push(remark(3, person("dana"), phrase));
    assert!(!broken(&fetched), "by nobody who may");
    fetched.comments[0].association = Association::Owner;
    assert!(broken(&fetched));
    fetched.comments[0].author = Some(account("fixer", AccountKind::Bot));
    assert!(!broken(&fetched));
}

/// A reviewer that leaves only a passed check if it finds nothing.
#[derive(Debug)]
struct Gate;

impl ReadsReplies for Gate {
    fn intent(&self, body: &str) -> Intent {
        Rabbit.intent(body)
    }

    fn is_agent_post(&self, body: &str) -> bool {
        Rabbit.is_agent_post(body)
    }

    fn own_lines<'a>(&self, body: &'a str) -> Vec<&'a str> {
        Rabbit.own_lines(body)
    }
}

impl PostReader for Gate {
    fn reviewer(&self, by: &Account, body: &str) -> Option<ReviewerName> {
        Rabbit.reviewer(by, body)
    }

    fn read(&self, reviewer: &ReviewerName, place: PostPlace, body: &str) -> ParsedPost {
        Rabbit.read(reviewer, place, body)
    }

    fn passes_by_check(&self, _reviewer: &ReviewerName) -> bool {
        true
    }
}

#[test]
fn l4_a_failed_check_is_a_failure_and_a_passed_one_a_review_only_for_reviewers_that_leave_no_other() {
    let check = |outcome, title: Option<&str>| Check {
        name: "review".to_owned(),
        app: Some("rabbit".to_owned()),
        app_id: None,
        outcome,
        title: title.map(ToOwned::to_owned),
        summary: None,
        commit: "h0".into(),
        started_at: None,
        completed_at: Some(at(2)),
        url: None,
    };
    let arrivals = |check: Check, reads: &dyn PostReader| {
        let checks = Visible::Seen(vec![check]);
        let fetched = PullRequestSnapshot { checks, reviews: Vec::new(), ..snapshot(1, Vec::new()) };
        let rules = BreakGlassRules::default();
        let observed = observe(&fetched, &[], reads, &Policy::default());
        let expected = ["rabbit".into()].into();
        Observation { expected, ..observation(&fetched, &observed, reads, &rules) }.arrivals()
    };
    let failed =
        |title| arrivals(check(CheckOutcome::Failed, title), &Rabbit).failed[&"rabbit".into()].clone();
    assert_eq!(failed(Some("Out of quota")), "Out of quota");
    assert_eq!(failed(None), "its check review failed");
    assert_eq!(arrivals(check(CheckOutcome::Passed, None), &Gate).arrived.len(), 1);
    for silent in [CheckOutcome::Passed, CheckOutcome::Running, CheckOutcome::Neither] {
        assert_eq!(arrivals(check(silent, None), &Rabbit).missing.len(), 1, "{silent:?}");
    }
    assert_eq!(arrivals(check(CheckOutcome::Running, None), &Gate).missing.len(), 1);
    let stranger = Check { app: Some("builder".to_owned()), ..check(CheckOutcome::Failed, None) };
    assert_eq!(arrivals(stranger, &Rabbit).missing.len(), 1);
}

#[test]
fn a_stored_pull_request_is_read_back_complete() {
    let mut fetched = snapshot(2, vec![thread_of(&[(1, bot(), "Look."), (2, person("dana"), "Why?")])]);
    fetched.comments.push(remark(3, bot(), "Reviewed."));
    let kept = serde_json::to_string(&fetched).unwrap();
    assert_eq!(serde_json::from_str::<PullRequestSnapshot>(&kept).unwrap(), fetched);
}

fn any_comment() -> impl Strategy<Value = ThreadComment> {
    let authors = prop_oneof![
        Just(Some(bot())),
        Just(Some(person("dana"))),
        Just(Some(account("fixer", AccountKind::Bot))),
        Just(None)
    ];
    let bodies =
        prop_oneof![Just("Look."), Just("Won't fix."), Just("Acknowledged."), Just("Why?"), Just("")];
    (0..45_i64, authors, bodies, any::<bool>(), any::<bool>()).prop_map(
        |(minute, author, body, may, pending)| {
            let mut comment = comment(minute, bot(), body);
            comment.author = author;
            comment.pending = pending && may;
            comment.association = if may { Association::Member } else { Association::None };
            comment
        },
    )
}

fn any_thread() -> impl Strategy<Value = ReviewThread> {
    let resolver = prop_oneof![Just(None), Just(Some(person("dana"))), Just(Some(bot()))];
    (prop::collection::vec(any_comment(), 0..8), any::<bool>(), resolver).prop_map(
        |(mut comments, resolved, resolved_by)| {
            for (index, comment) in comments.iter_mut().enumerate() {
                comment.id = format!("c{index}");
            }
            ReviewThread { resolved, resolved_by, ..thread("t", comments) }
        },
    )
}

proptest! {
    /// The order of pages must not change the result.
    #[test]
    fn the_order_of_the_lists_does_not_matter(
        threads in prop::collection::vec(any_thread(), 0..5),
        pushes in 1..5_i64,
        seed in any::<prop::sample::Index>(),
    ) {
        let mut fetched = snapshot(pushes, threads);
        for (index, thread) in fetched.threads.iter_mut().enumerate() {
            thread.id = format!("t{index}").into();
        }
        let before = (threads_in(&fetched), observed(&fetched));
        let turn = |length: usize| if length == 0 { 0 } else { seed.index(length) };
        for thread in &mut fetched.threads {
            let by = turn(thread.comments.len());
            thread.comments.rotate_left(by);
            thread.comments.reverse();
        }
        let by = turn(fetched.threads.len());
        fetched.threads.rotate_left(by);
        fetched.reviews.reverse();
        prop_assert_eq!(before, (threads_in(&fetched), observed(&fetched)));
    }

    /// T5 holds for observed threads, and a thread that GitHub shows as resolved is settled.
    #[test]
    fn t5_bounds_hold_for_every_observed_history(thread in any_thread(), pushes in 1..5_i64) {
        let policy = Policy::default();
        let resolved = thread.resolved;
        for observed in threads_in(&snapshot(pushes, vec![thread])) {
            let machine = observed.thread.machine;
            prop_assert!(u64::from(machine.counters.cycles) <= policy.cycles_per_thread());
            prop_assert!(!resolved || machine.status.is_settled());
        }
    }
}
