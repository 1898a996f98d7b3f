use super::*;

fn at(minute: i64) -> Timestamp {
    Timestamp::from_second(minute * 60).unwrap()
}

fn unreadable() -> PostContent {
    PostContent::Unreadable("nobody knows the format".to_owned())
}

fn failed() -> PostContent {
    PostContent::Failure("out of quota".to_owned())
}

fn review(minute: i64, content: PostContent) -> ReviewerPost {
    ReviewerPost {
        reviewer: "rabbit".into(),
        kind: PostKind::Review(content),
        at: at(minute),
        commit: Some("head".into()),
        url: Some(format!("https://example.com/{minute}")),
        aside: false,
    }
}

fn comment(minute: i64, content: PostContent) -> ReviewerPost {
    ReviewerPost { kind: PostKind::Comment(content), commit: None, ..review(minute, PostContent::Complete) }
}

fn aside(post: ReviewerPost) -> ReviewerPost {
    ReviewerPost { aside: true, ..post }
}

/// Where the reviewer ends up with these posts, in any order.
#[track_caller]
fn arrival(mut posts: Vec<ReviewerPost>) -> &'static str {
    let mut outcomes = BTreeSet::new();
    for _ in 0..posts.len().max(1) {
        let observation = Observation {
            state: PullRequestState::Open,
            anchor: WaitAnchor { head: "head".into(), pushed_at: at(0) },
            posts: posts.clone(),
            broken_glass: None,
            reopened_at: None,
            counts_from: None,
            expected: ["rabbit".into()].into(),
            exhausted: BTreeSet::new(),
            asks_spent: BTreeSet::new(),
            expects_anybody: false,
            to_fix: 0,
            for_person: Vec::new(),
            author: AuthorState::Absent,
            rounds_recorded: 0,
            granted: 0,
            rounds_on_forge: 0,
        };
        let arrivals = observation.arrivals();
        let counts = [
            arrivals.arrived.len(),
            arrivals.missing.len(),
            arrivals.failed.len(),
            arrivals.unreadable.len(),
        ];
        assert_eq!(counts.iter().sum::<usize>(), 1, "{arrivals:?}");
        let names = ["arrived", "missing", "failed", "unreadable"];
        outcomes.extend(counts.iter().position(|count| *count == 1).map(|index| names[index]));
        if !posts.is_empty() {
            posts.rotate_left(1);
        }
    }
    assert_eq!(outcomes.len(), 1, "the order of the list must not matter");
    outcomes.pop_first().unwrap()
}

#[test]
fn l3_an_unreadable_post_holds_the_reviewer_up_until_a_later_one_of_its_kind() {
    let done = || PostContent::Complete;
    assert_eq!(arrival(vec![review(1, unreadable())]), "unreadable");
    assert_eq!(arrival(vec![review(1, done()), review(2, unreadable())]), "unreadable");
    assert_eq!(arrival(vec![review(1, unreadable()), review(2, done())]), "arrived", "it reviewed again");
    assert_eq!(
        arrival(vec![review(1, unreadable()), comment(2, done())]),
        "unreadable",
        "a remark does not explain a review"
    );
    assert_eq!(arrival(vec![review(1, done()), comment(2, unreadable())]), "unreadable");
    assert_eq!(arrival(vec![comment(1, unreadable()), comment(2, done())]), "arrived");
    assert_eq!(
        arrival(vec![review(1, unreadable()), aside(review(2, done()))]),
        "unreadable",
        "inline comments around it do not replace it"
    );
    assert_eq!(arrival(vec![review(1, unreadable()), review(2, PostContent::NotReady)]), "unreadable");
    assert_eq!(arrival(vec![review(1, unreadable()), comment(2, failed())]), "unreadable");
}

#[test]
fn l3_a_chat_comment_does_not_undo_a_finished_review() {
    let done = || PostContent::Complete;
    assert_eq!(arrival(vec![review(1, done()), aside(comment(2, unreadable()))]), "arrived");
    assert_eq!(arrival(vec![aside(comment(1, unreadable()))]), "unreadable", "alone it may be a new format");
    assert_eq!(arrival(vec![review(1, done()), comment(2, PostContent::NotReady)]), "arrived");
}

#[test]
fn l3_a_running_review_is_missing_whatever_else_is_posted() {
    let done = || PostContent::Complete;
    let running = || PostContent::InProgress;
    assert_eq!(arrival(vec![comment(1, running())]), "missing");
    assert_eq!(arrival(vec![comment(1, running()), comment(2, done())]), "missing", "two runs, one is done");
    assert_eq!(arrival(vec![review(1, done()), comment(2, running())]), "missing");
    let old_head = ReviewerPost { commit: Some("older".into()), ..comment(2, running()) };
    assert_eq!(arrival(vec![review(1, done()), old_head]), "arrived");
}

#[test]
fn l4_a_failure_gives_way_to_a_finished_review() {
    assert_eq!(arrival(vec![comment(1, failed())]), "failed");
    assert_eq!(arrival(vec![review(1, PostContent::Complete), comment(2, failed())]), "arrived");
    assert_eq!(arrival(Vec::new()), "missing");
}
