//! Writes of a client, and GitHub's traps in them.

use std::time::Duration;

use cloture::simulator::ReceivedWrite;
use serde_json::{Value, json};

use super::client::{Client, start};

const REPLY: &str = "mutation Reply($thread: ID!, $body: String!) {
    addPullRequestReviewThreadReply(input: { pullRequestReviewThreadId: $thread, body: $body, clientMutationId: \"m1\" }) {
        clientMutationId comment { id state body author { login } replyTo { id } } } }";
const RESOLVE: &str = "mutation Resolve($thread: ID!) { resolveReviewThread(input: { threadId: $thread }) {
        thread { isResolved viewerCanUnresolve resolvedBy { login } } } }";

async fn updated_at(client: &Client, number: i64) -> Value {
    let query = "query When($n: Int!) { repository(owner: \"acme\", name: \"shop\") { pullRequest(number: $n) { updatedAt } } }";
    client.data(query, json!({ "n": number })).await["repository"]["pullRequest"]["updatedAt"].clone()
}

fn written(posts: &[ReceivedWrite]) -> Vec<(&str, &str)> {
    posts.iter().map(|post| (post.what.as_str(), post.text.as_str())).collect()
}

#[tokio::test]
async fn a_reply_changes_updated_at_and_a_resolve_does_not() {
    let (simulator, client) = start("converges").await;
    simulator.advance(Duration::from_mins(2));
    let before = updated_at(&client, 7).await;
    simulator.advance(Duration::from_mins(1));
    let resolved = client.data(RESOLVE, json!({ "thread": "PRRT_1" })).await;
    assert_eq!(resolved["resolveReviewThread"]["thread"]["resolvedBy"]["login"], "dana");
    assert_eq!(updated_at(&client, 7).await, before);
    let reply = client.data(REPLY, json!({ "thread": "PRRT_2", "body": "On it." })).await;
    let reply = &reply["addPullRequestReviewThreadReply"];
    assert_eq!(reply["clientMutationId"], "m1");
    assert_eq!(reply["comment"]["state"], "SUBMITTED");
    assert_ne!(updated_at(&client, 7).await, before);
    let posts = simulator.posts();
    assert_eq!(written(&posts), [("resolve", ""), ("reply", "On it.")]);
    assert_eq!(posts[0].id, "PRRT_1");
}

#[tokio::test]
async fn an_open_draft_swallows_its_authors_reply() {
    let (simulator, mut client) = start("nulls").await;
    let reply = client.data(REPLY, json!({ "thread": "PRRT_1", "body": "Swallowed." })).await;
    let comment = &reply["addPullRequestReviewThreadReply"]["comment"];
    assert_eq!(comment["state"], "PENDING");
    assert_ne!(comment["id"], Value::Null);
    assert!(simulator.posts()[0].pending);
    client.token = Some("outsider".to_owned());
    let query = "{ node(id: \"PRRT_1\") { ... on PullRequestReviewThread { comments(last: 1) { nodes { body } } } } }";
    let visible = client.data(query, json!({})).await;
    assert_eq!(visible["node"]["comments"]["nodes"][0]["body"], "won't fix");
}

#[tokio::test]
async fn a_review_opens_threads_only_inside_the_diff() {
    let (simulator, client) = start("converges").await;
    let review = "mutation Review($threads: [DraftPullRequestReviewThread], $event: PullRequestReviewEvent, $body: String) {
        addPullRequestReview(input: { pullRequestId: \"PR_1\", body: $body, event: $event, threads: $threads }) {
            pullRequestReview { id state submittedAt comments(first: 10) { nodes { path line body } } } } }";
    let thread = |line: i64| json!([{ "path": "src/cart.rs", "line": line, "body": "Look here." }]);
    let outside =
        client.query(review, json!({ "threads": thread(1), "event": "COMMENT", "body": "b" })).await;
    assert_eq!(outside["errors"][0]["type"], "UNPROCESSABLE");
    assert_eq!(simulator.posts(), []);
    let made =
        client.data(review, json!({ "threads": thread(12), "event": "REQUEST_CHANGES", "body": "b" })).await;
    let made = &made["addPullRequestReview"]["pullRequestReview"];
    assert_eq!(made["state"], "CHANGES_REQUESTED");
    assert_eq!(made["comments"]["nodes"][0]["line"], 12);
    assert_eq!(written(&simulator.posts()), [("review", "b"), ("thread", "Look here.")]);
    let decision = "{ node(id: \"PR_1\") { ... on PullRequest { reviewDecision } } }";
    assert_eq!(client.data(decision, json!({})).await["node"]["reviewDecision"], "CHANGES_REQUESTED");
    let draft = client.data(review, json!({ "threads": thread(12), "body": "" })).await;
    assert_eq!(draft["addPullRequestReview"]["pullRequestReview"]["state"], "PENDING");
    let second = client.query(review, json!({ "event": "APPROVE" })).await;
    assert!(second["errors"][0]["message"].as_str().unwrap().contains("one pending review"));
}

#[tokio::test]
async fn an_outsider_cannot_resolve_a_thread() {
    let (_simulator, mut client) = start("nulls").await;
    client.token = Some("outsider".to_owned());
    let resolve = client.query(RESOLVE, json!({ "thread": "PRRT_1" })).await;
    assert_eq!(resolve["errors"][0]["type"], "FORBIDDEN");
    assert_eq!(resolve["data"], json!({ "resolveReviewThread": null }));
}

#[tokio::test]
async fn comments_labels_issues_and_assignments_take_effect_once() {
    let (simulator, client) = start("quiet").await;
    let made = client
        .data(
            "mutation { addComment(input: { subjectId: \"PR_1\", body: \"Hello\" }) {
                commentEdge { cursor node { id body viewerDidAuthor } } subject { id } } }",
            json!({}),
        )
        .await;
    let comment = made["addComment"]["commentEdge"]["node"]["id"].clone();
    client
        .data(
            "mutation Edit($id: ID!) { updateIssueComment(input: { id: $id, body: \"Hello again\" }) {
                issueComment { lastEditedAt includesCreatedEdit } } }",
            json!({ "id": comment }),
        )
        .await;
    let minimized = client
        .data(
            "mutation Hide($id: ID!) { minimizeComment(input: { subjectId: $id, classifier: OFF_TOPIC }) {
                minimizedComment { isMinimized minimizedReason } } }",
            json!({ "id": comment }),
        )
        .await;
    assert_eq!(minimized["minimizeComment"]["minimizedComment"]["minimizedReason"], "off-topic");
    let label = client
        .data(
            "{ repository(owner: \"acme\", name: \"shop\") { label(name: \"needs-human\") { id } } }",
            json!({}),
        )
        .await;
    let label = label["repository"]["label"]["id"].clone();
    for _ in 0..2 {
        let labels = client
            .data(
                "mutation Label($id: ID!) { addLabelsToLabelable(input: { labelableId: \"PR_1\", labelIds: [$id] }) {
                    labelable { labels(first: 5) { nodes { name } } } } }",
                json!({ "id": label }),
            )
            .await;
        assert_eq!(
            labels["addLabelsToLabelable"]["labelable"]["labels"]["nodes"],
            json!([{ "name": "needs-human" }])
        );
    }
    let issue = client
        .data(
            "mutation Issue { createIssue(input: { repositoryId: \"R_1\", title: \"Fix it\", body: \"marker\" }) {
                issue { number id } } }",
            json!({}),
        )
        .await;
    assert_eq!(issue["createIssue"]["issue"]["number"], 2);
    client
        .data(
            "mutation Assign { replaceActorsForAssignable(input: { assignableId: \"I_1\", actorLogins: [\"coderabbitai[bot]\"] }) {
                assignable { assignedActors(first: 5) { nodes { ... on Bot { login } } } } } }",
            json!({}),
        )
        .await;
    let found = client
        .data(
            "{ search(type: ISSUE, query: \"is:issue marker in:body\", first: 1) { issueCount } }",
            json!({}),
        )
        .await;
    assert_eq!(found["search"]["issueCount"], 1);
    let what: Vec<String> = simulator.posts().into_iter().map(|post| post.what).collect();
    assert_eq!(what, ["comment", "edit", "minimize", "label", "issue", "assign"]);
    assert_eq!(simulator.issues()[0].assignees, ["coderabbitai"]);
}

#[tokio::test]
async fn a_review_request_without_union_replaces_the_others() {
    let (simulator, client) = start("nulls").await;
    let ask = "mutation Ask($union: Boolean) { requestReviews(input: { pullRequestId: \"PR_1\", botIds: [\"BOT_5\"], union: $union }) {
        pullRequest { reviewRequests(first: 9) { totalCount } } } }";
    let count = |data: &Value| data["requestReviews"]["pullRequest"]["reviewRequests"]["totalCount"].clone();
    assert_eq!(count(&client.data(ask, json!({ "union": true })).await), 3);
    assert_eq!(count(&client.data(ask, json!({})).await), 1);
    assert_eq!(simulator.pull_request("acme/shop#3").unwrap().requested_reviewers, ["coderabbitai"]);
}

#[tokio::test]
async fn a_pull_request_closes_reopens_and_merges_only_from_the_right_state() {
    let (simulator, client) = start("quiet").await;
    let act = async |name: &str| {
        let query = format!(
            "mutation {{ {name}PullRequest(input: {{ pullRequestId: \"PR_1\" }}) {{ pullRequest {{ state closed merged }} }} }}"
        );
        client.query(&query, json!({})).await
    };
    assert_eq!(act("close").await["data"]["closePullRequest"]["pullRequest"]["state"], "CLOSED");
    assert_eq!(act("merge").await["errors"][0]["type"], "UNPROCESSABLE");
    assert_eq!(act("reopen").await["data"]["reopenPullRequest"]["pullRequest"]["state"], "OPEN");
    let wrong_head = "mutation { mergePullRequest(input: { pullRequestId: \"PR_1\", expectedHeadOid: \"0000000\" }) { pullRequest { id } } }";
    assert_eq!(client.query(wrong_head, json!({})).await["errors"][0]["type"], "UNPROCESSABLE");
    assert_eq!(act("merge").await["data"]["mergePullRequest"]["pullRequest"]["merged"], true);
    assert_eq!(act("close").await["errors"][0]["type"], "UNPROCESSABLE");
    let timeline = "{ node(id: \"PR_1\") { ... on PullRequest { timelineItems(last: 3) { nodes { __typename ... on MergedEvent { merged: commit { oid } } } } } } }";
    let items = client.data(timeline, json!({})).await;
    let names: Vec<_> = items["node"]["timelineItems"]["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|i| i["__typename"].clone())
        .collect();
    assert_eq!(names, ["ClosedEvent", "ReopenedEvent", "MergedEvent"]);
    assert_eq!(simulator.post_count(), 3);
}
