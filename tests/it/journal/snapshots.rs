//! The last snapshot of each pull request.

use crate::support::places::{Place, on_both, pull_request};
use cloture::domain::snapshot::{
    Account, AccountKind, Branch, DiffSide, KnownNames, PullRequestSnapshot, PullRequestState, PushEvidence,
    PushTime, RepositoryName, ReviewThread, ThreadComment, ThreadSubject, Visible,
};
use cloture::domain::vocabulary::Association;
use serde_json::json;

on_both! {
    a_snapshot_replaces_the_previous_one
    hundreds_of_snapshots_are_loaded_once_each
    an_unreadable_snapshot_is_named_and_hides_no_other
}

/// A pull request with this many threads of two comments, each as long as a bot's comment.
pub(crate) fn snapshot(number: u64, threads: u32) -> PullRequestSnapshot {
    let repository = RepositoryName::new("Acme", "shop").unwrap();
    let at = crate::support::places::now();
    let bot = Account { login: "orange[bot]".into(), kind: AccountKind::Bot, database_id: Some(5) };
    let comment = |thread: u32, reply: u32| ThreadComment {
        id: format!("PRRC_{number}_{thread}_{reply}"),
        author: Some(bot.clone()),
        association: Association::None,
        written_by_us: false,
        body: "The index is not checked against the length of the slice, so an empty answer panics. "
            .repeat(3),
        diff_hunk: "@@ -10,7 +10,7 @@ fn first(items: &[u32]) -> u32 {\n-    items[1]\n+    items[0]\n }"
            .to_owned(),
        created_at: at,
        updated_at: at,
        edited_at: None,
        commit: Some("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b".into()),
        original_commit: Some("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b".into()),
        reply_to: None,
        review: Some(format!("PRR_{number}")),
        minimized: None,
        pending: false,
        url: format!("https://github.com/Acme/shop/pull/{number}#discussion_r{thread}{reply}"),
    };
    let thread = |index: u32| ReviewThread {
        id: format!("PRRT_{number}_{index}").into(),
        path: format!("src/module_{index}.rs").into(),
        line: Some(index),
        start_line: None,
        original_line: Some(index),
        original_start_line: None,
        side: DiffSide::Right,
        subject: ThreadSubject::Line,
        outdated: false,
        resolved: false,
        resolved_by: None,
        viewer_can_reply: true,
        viewer_can_resolve: true,
        viewer_can_unresolve: false,
        comments: vec![comment(index, 0), comment(index, 1)],
    };
    let branch =
        |name: &str| Branch { name: name.to_owned(), sha: "9f86d081884c7d659a2feaa0c55ad015".into() };
    PullRequestSnapshot {
        repository: repository.clone(),
        repository_id: "R_1".to_owned(),
        known_as: KnownNames::default(),
        number,
        node_id: format!("PR_{number}"),
        title: "Grüße \u{0} and \u{202e} all".to_owned(),
        body: String::new(),
        url: format!("https://github.com/Acme/shop/pull/{number}"),
        author: Some(bot.clone()),
        author_association: Association::Contributor,
        written_by_us: false,
        state: PullRequestState::Open,
        draft: false,
        base: branch("main"),
        head: branch("topic"),
        head_repository: Some(repository),
        pushed: PushTime { at, evidence: PushEvidence::CheckSuite },
        created_at: at,
        updated_at: at,
        merged_at: None,
        closed_at: None,
        reactions: Vec::new(),
        reopened_at: None,
        counts_from: None,
        labels: vec!["ai-review".to_owned()],
        reviews: Vec::new(),
        comments: Vec::new(),
        threads: (0..threads).map(thread).collect(),
        force_pushes: Vec::new(),
        review_requests: Visible::Hidden("not allowed".to_owned()),
        checks: Visible::Seen(Vec::new()),
    }
}

async fn a_snapshot_replaces_the_previous_one(place: Place) {
    let journal = place.open().await;
    assert!(journal.load_snapshots().await.unwrap().readable.is_empty());
    journal.save_snapshot("github.com", &snapshot(1, 3), None).await.unwrap();
    journal.save_snapshot("github.com", &snapshot(2, 1), Some(&json!({"sweep": 5}))).await.unwrap();
    // Another spelling is the same pull request.
    let spelt =
        PullRequestSnapshot { repository: RepositoryName::new("acme", "Shop").unwrap(), ..snapshot(1, 4) };
    journal.save_snapshot("GitHub.com", &spelt, Some(&json!([1]))).await.unwrap();
    journal.close().await.unwrap();

    let journal = place.open().await;
    let loaded = journal.load_snapshots().await.unwrap();
    assert!(loaded.unreadable.is_empty());
    let [first, second] = <[_; 2]>::try_from(loaded.readable).unwrap();
    assert_eq!((first.snapshot, first.poll), (spelt, Some(json!([1]))));
    assert_eq!((second.snapshot, second.poll), (snapshot(2, 1), Some(json!({"sweep": 5}))));
    assert_eq!(second.pull_request, pull_request(2));

    // The age is by the database's clock.
    place.tamper("UPDATE snapshots SET saved_at = saved_at - 3600000 WHERE number = 2").await;
    let loaded = journal.load_snapshots().await.unwrap().readable;
    assert!(loaded[0].age.as_secs() < 3000 && loaded[1].age.as_secs() >= 3600, "{:?}", loaded[1].age);

    journal.forget_snapshots(vec![pull_request(1)]).await.unwrap();
    let left = journal.load_snapshots().await.unwrap().readable;
    assert_eq!(left.iter().map(|stored| stored.pull_request.number).collect::<Vec<_>>(), [2]);
}

async fn hundreds_of_snapshots_are_loaded_once_each(place: Place) {
    // They are loaded in pages, so the counts around the size of a page matter most.
    for number in [31, 32, 33, 64, 65, 130] {
        let journal = place.open().await;
        let stored = journal.load_snapshots().await.unwrap().readable.len() as u64;
        for number in stored + 1..=number {
            journal.save_snapshot("github.com", &snapshot(number, 0), None).await.unwrap();
        }
        let loaded = journal.load_snapshots().await.unwrap().readable;
        let mut numbers: Vec<u64> = loaded.iter().map(|stored| stored.pull_request.number).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=number).collect::<Vec<_>>());
        journal.close().await.unwrap();
    }
}

async fn an_unreadable_snapshot_is_named_and_hides_no_other(place: Place) {
    let journal = place.open().await;
    for number in 1..=3 {
        journal.save_snapshot("github.com", &snapshot(number, 1), None).await.unwrap();
    }
    place.tamper("UPDATE snapshots SET snapshot = '{\"from\": \"another version\"}' WHERE number = 2").await;
    let loaded = journal.load_snapshots().await.unwrap();
    assert_eq!(loaded.readable.iter().map(|stored| stored.snapshot.number).collect::<Vec<_>>(), [1, 3]);
    let [(about, why)] = <[_; 1]>::try_from(loaded.unreadable).unwrap();
    assert_eq!(about, pull_request(2));
    assert!(why.contains("repository"), "{why}");
}
