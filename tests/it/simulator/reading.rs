//! Reads of a client, including pages and nulls.

use serde_json::{Value, json};

use super::client::start;

#[tokio::test]
async fn one_query_reads_a_whole_pull_request() {
    let (simulator, client) = start("converges").await;
    simulator.advance(std::time::Duration::from_mins(2));
    let query = r"query Full($owner: String!, $name: String!, $number: Int!) {
        viewer { login }
        rateLimit { cost remaining resetAt limit used nodeCount }
        repository(owner: $owner, name: $name) { viewerPermission pullRequest(number: $number) {
            id number title url state isDraft merged updatedAt
            author { __typename login ... on User { databaseId } ... on Bot { databaseId } }
            authorAssociation baseRefName headRefName headRefOid reviewDecision mergeable
            reviewThreads(first: 100) { totalCount pageInfo { hasNextPage endCursor } nodes {
                id isResolved isOutdated path line startLine originalLine diffSide subjectType viewerCanResolve
                resolvedBy { login }
                comments(first: 100) { nodes { id body state diffHunk fullDatabaseId
                    author { __typename login ... on Bot { databaseId } }
                    commit { oid } pullRequestReview { id state } replyTo { id } } } } }
            reviews(last: 10) { nodes { state submittedAt commit { oid } author { login } } }
            comments(last: 1) { nodes { body lastEditedAt updatedAt createdAt } }
            commits(last: 1) { nodes { commit { oid committedDate statusCheckRollup { state } } } }
            files(first: 10) { nodes { path additions deletions changeType } }
            timelineItems(first: 50) { nodes { __typename } }
        } } }";
    let variables = json!({ "owner": "acme", "name": "shop", "number": 7 });
    let data = client.data(query, variables).await;
    assert_eq!(data["viewer"]["login"], "dana");
    assert_eq!(data["repository"]["viewerPermission"], "ADMIN");
    assert_eq!(data["rateLimit"]["remaining"], 4_999, "106 requests make one point");
    let pull = &data["repository"]["pullRequest"];
    assert_eq!(pull["author"]["__typename"], "User");
    assert_eq!(pull["authorAssociation"], "COLLABORATOR");
    assert_eq!(pull["reviewThreads"]["totalCount"], 2);
    let thread = &pull["reviewThreads"]["nodes"][0];
    assert_eq!((&thread["startLine"], &thread["line"]), (&json!(10), &json!(12)));
    let comment = &thread["comments"]["nodes"][0];
    assert_eq!(
        comment["author"],
        json!({ "__typename": "Bot", "login": "coderabbitai", "databaseId": 136_622_811 })
    );
    assert_eq!(comment["commit"]["oid"], pull["headRefOid"]);
    assert_eq!(comment["state"], "SUBMITTED");
    let hunk = comment["diffHunk"].as_str().unwrap();
    assert!(hunk.ends_with("+        total - total * percent / 100"), "{hunk}");
    assert_eq!(
        pull["files"]["nodes"][0],
        json!({ "path": "src/cart.rs", "additions": 9, "deletions": 0, "changeType": "MODIFIED" })
    );
    let summary = &pull["comments"]["nodes"][0];
    assert_ne!(summary["lastEditedAt"], Value::Null);
    assert_ne!(summary["updatedAt"], summary["createdAt"]);
}

#[tokio::test]
async fn every_nullable_field_is_null_somewhere() {
    let (_simulator, client) = start("nulls").await;
    let query = r#"{ repository(owner: "acme", name: "shop") { pullRequest(number: 3) {
        author { login } headRepository { name } headRef { name }
        reviewThreads(first: 50) { nodes { path line startLine originalLine originalStartLine isOutdated isResolved
            subjectType diffSide resolvedBy { login }
            comments(first: 5) { nodes { author { login } commit { oid } state replyTo { id } lastEditedAt } } } }
        reviews(first: 50) { nodes { state submittedAt author { login } } }
        comments(first: 5) { nodes { author { login } isMinimized minimizedReason } }
        reviewRequests(first: 5) { nodes { requestedReviewer { __typename ... on Bot { login } ... on Team { slug } } } }
        timelineItems(first: 50, itemTypes: [HEAD_REF_FORCE_PUSHED_EVENT, REOPENED_EVENT, CLOSED_EVENT,
            READY_FOR_REVIEW_EVENT, CONVERT_TO_DRAFT_EVENT]) { filteredCount nodes { __typename
            ... on HeadRefForcePushedEvent { beforeCommit { oid } afterCommit { oid } }
            ... on ReopenedEvent { createdAt } } }
        statusCheckRollup { state contexts(first: 5) { nodes { ... on CheckRun { name status conclusion } } } }
    } } }"#;
    let data = client.data(query, json!({})).await;
    let pull = &data["repository"]["pullRequest"];
    for field in ["author", "headRepository", "headRef", "statusCheckRollup"] {
        assert_eq!(pull[field], Value::Null, "{field}");
    }
    let threads = pull["reviewThreads"]["nodes"].as_array().unwrap();
    let places: Vec<_> =
        threads.iter().map(|t| (t["line"].as_i64(), t["isOutdated"].as_bool().unwrap())).collect();
    assert_eq!(
        places,
        [(Some(6), false), (None, true), (None, false), (Some(2), false), (Some(6), false), (Some(6), false)]
    );
    assert_eq!(threads[1]["originalStartLine"], 1);
    assert_eq!(threads[1]["isResolved"], true);
    assert_eq!(threads[1]["resolvedBy"], Value::Null, "a bot resolved it");
    assert_eq!(threads[1]["comments"]["nodes"][0]["commit"], Value::Null);
    assert_eq!(threads[2]["subjectType"], "FILE");
    assert_eq!(threads[2]["resolvedBy"]["login"], "erin");
    assert_eq!(threads[3]["diffSide"], "LEFT");
    assert_eq!(threads[4]["comments"]["nodes"][0]["author"], Value::Null);
    assert_eq!(threads[5]["comments"]["nodes"][0]["state"], "PENDING");
    let reviews = pull["reviews"]["nodes"].as_array().unwrap();
    let draft = reviews.last().unwrap();
    assert_eq!((&draft["state"], &draft["submittedAt"]), (&json!("PENDING"), &Value::Null));
    assert_eq!(pull["comments"]["nodes"][0]["minimizedReason"], "outdated");
    let types: Vec<_> =
        pull["timelineItems"]["nodes"].as_array().unwrap().iter().map(|n| n["__typename"].clone()).collect();
    assert_eq!(
        types,
        [
            "ClosedEvent",
            "ReopenedEvent",
            "ConvertToDraftEvent",
            "ReadyForReviewEvent",
            "HeadRefForcePushedEvent"
        ]
    );
    let asked: Vec<_> = pull["reviewRequests"]["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| n["requestedReviewer"]["__typename"].clone())
        .collect();
    assert_eq!(asked, ["Bot", "Team"]);
}

#[tokio::test]
async fn another_accounts_draft_is_invisible() {
    let (_simulator, mut client) = start("nulls").await;
    client.token = Some("outsider".to_owned());
    let query = r#"{ viewer { login } repository(owner: "acme", name: "shop") { viewerPermission pullRequest(number: 3) {
        viewerCanUpdate reviewThreads(first: 50) { totalCount nodes { viewerCanResolve } } reviews(last: 1) { nodes { state } } } } }"#;
    let data = client.data(query, json!({})).await;
    assert_eq!(data["viewer"]["login"], "github-actions-evil");
    assert_eq!(data["repository"]["viewerPermission"], "READ");
    let pull = &data["repository"]["pullRequest"];
    assert_eq!(pull["reviewThreads"]["totalCount"], 5);
    assert_eq!(pull["reviewThreads"]["nodes"][0]["viewerCanResolve"], false);
    assert_eq!(pull["reviews"]["nodes"][0]["state"], "COMMENTED");
}

#[tokio::test]
async fn two_hundred_and_fifty_threads_and_comments_come_in_pages() {
    let (_simulator, client) = start("big").await;
    let query = r#"query Page($after: String) { repository(owner: "acme", name: "shop") { pullRequest(number: 1) {
        reviewThreads(first: 100, after: $after) { totalCount pageInfo { hasNextPage endCursor } nodes { id } } } } }"#;
    let (mut after, mut sizes, mut ids) = (Value::Null, Vec::new(), Vec::new());
    loop {
        let data = client.data(query, json!({ "after": after })).await;
        let page = &data["repository"]["pullRequest"]["reviewThreads"];
        let nodes = page["nodes"].as_array().unwrap();
        sizes.push(nodes.len());
        ids.extend(nodes.iter().map(|node| node["id"].to_string()));
        if page["pageInfo"]["hasNextPage"] == false {
            break;
        }
        after = page["pageInfo"]["endCursor"].clone();
    }
    assert_eq!(sizes, [100, 100, 50]);
    ids.dedup();
    assert_eq!(ids.len(), 250);
    let last = r#"{ node(id: "PRRT_1") { ... on PullRequestReviewThread {
        comments(last: 2) { totalCount pageInfo { hasPreviousPage startCursor } nodes { body } } } } }"#;
    let comments = &client.data(last, json!({})).await["node"]["comments"];
    assert_eq!(comments["totalCount"], 250);
    assert_eq!(comments["nodes"][1]["body"], "Argument number 249.");
    assert_eq!(comments["pageInfo"]["hasPreviousPage"], true);
}

#[tokio::test]
async fn a_missing_node_is_null_beside_its_siblings() {
    let (_simulator, client) = start("quiet").await;
    let query =
        r#"{ found: nodes(ids: ["PR_1", "PR_99", "R_1"]) { __typename ... on PullRequest { number } } }"#;
    let answer = client.query(query, json!({})).await;
    assert_eq!(
        answer["data"]["found"],
        json!([{ "__typename": "PullRequest", "number": 1 }, null, { "__typename": "Repository" }])
    );
    assert_eq!(
        answer["errors"],
        json!([{ "type": "NOT_FOUND", "path": ["found", 1],
        "message": "Could not resolve to a node with the global id of 'PR_99'." }])
    );
}

#[tokio::test]
async fn refusals_have_githubs_shape() {
    let (_simulator, client) = start("nulls").await;
    let refused = async |query: &str| {
        let answer = client.query(query, json!({})).await;
        let error = &answer["errors"][0];
        (
            error["type"].as_str().unwrap_or("").to_owned(),
            error["path"].to_string(),
            answer["data"].to_string(),
        )
    };
    let missing = refused(r#"{ repository(owner: "acme", name: "nothing") { id } }"#).await;
    assert_eq!(missing, ("NOT_FOUND".into(), r#"["repository"]"#.into(), r#"{"repository":null}"#.into()));
    let private = refused(r#"{ repository(owner: "acme", name: "vault") { id } }"#).await;
    assert_eq!(private.0, "NOT_FOUND");
    let pull =
        refused(r#"{ repository(owner: "acme", name: "shop") { pullRequest(number: 99) { id } } }"#).await;
    assert_eq!(
        pull,
        (
            "NOT_FOUND".into(),
            r#"["repository","pullRequest"]"#.into(),
            r#"{"repository":{"pullRequest":null}}"#.into()
        )
    );
    let pages = |size: &str| {
        format!(r#"{{ repository(owner: "acme", name: "shop") {{ labels{size} {{ totalCount }} }} }}"#)
    };
    assert_eq!(refused(&pages("(first: 101)")).await.0, "EXCESSIVE_PAGINATION");
    assert_eq!(refused(&pages("")).await.0, "MISSING_PAGINATION_BOUNDARIES");
    assert_eq!(refused(&pages("(first: 1, after: \"nonsense\")")).await.0, "INVALID_CURSOR_ARGUMENTS");
    let ids = vec!["\"PR_1\""; 101].join(",");
    assert_eq!(refused(&format!("{{ nodes(ids: [{ids}]) {{ id }} }}")).await.0, "ARGUMENT_LIMIT");
}

#[tokio::test]
async fn a_query_that_github_refuses_is_refused() {
    let (_simulator, client) = start("quiet").await;
    for wrong in [
        "{ repository(owner: \"acme\", name: \"shop\") { pullRequest(number: 1) { resolvedThreads } } }",
        "{ repository(owner: \"acme\") { id } }",
        "query Q($n: Int) { repository(owner: \"acme\", name: \"shop\") { pullRequest(number: $n) { id } } }",
        "{ repository(owner: \"acme\", name: \"shop\") { pullRequest(number: 1) { author { databaseId } } } }",
        "{ node(id: \"PR_1\") { number } }",
        "{ viewer { login ",
    ] {
        let answer = client.query(wrong, json!({})).await;
        assert!(answer.get("data").is_none(), "{answer}");
        assert!(!answer["errors"][0]["message"].as_str().unwrap().is_empty());
    }
}

#[tokio::test]
async fn search_understands_qualifiers() {
    let (_simulator, client) = start("nulls").await;
    let found = async |query: &str| {
        let document = "query Find($q: String!) { search(type: ISSUE, first: 10, query: $q) { issueCount nodes { ... on PullRequest { number } } } }";
        client.data(document, json!({ "q": query })).await["search"]["issueCount"].as_i64().unwrap()
    };
    assert_eq!(found("is:pr is:open repo:acme/shop").await, 1);
    assert_eq!(found("is:pr is:open author:left-the-company").await, 1);
    assert_eq!(found("is:pr author:@me").await, 0);
    assert_eq!(found("is:pr review-requested:copilot-pull-request-reviewer[bot]").await, 1);
    assert_eq!(found("is:pr is:merged").await, 0);
    assert_eq!(found("is:pr label:bug").await, 0, "the label was removed");
    assert_eq!(found("is:pr -label:bug rework").await, 1);
    assert_eq!(found("is:pr org:acme updated:>2026-03-01").await, 0);
}

#[tokio::test]
async fn pull_requests_are_filtered_and_sorted() {
    let (_simulator, client) = start("big").await;
    let query = r#"{ repository(owner: "acme", name: "shop") {
        branch: pullRequests(first: 2, headRefName: "change-42", states: [OPEN]) { nodes { number } }
        none: pullRequests(first: 2, states: [MERGED, CLOSED]) { totalCount }
        last: pullRequests(first: 1, orderBy: { field: CREATED_AT, direction: DESC }) { totalCount nodes { number } } } }"#;
    let data = client.data(query, json!({})).await;
    assert_eq!(data["repository"]["branch"]["nodes"], json!([{ "number": 42 }]));
    assert_eq!(data["repository"]["none"]["totalCount"], 0);
    assert_eq!(data["repository"]["last"]["totalCount"], 150);
}

#[tokio::test]
async fn a_fine_grained_token_misses_only_the_fields_it_may_not_read() {
    let (_simulator, mut client) = start("nulls").await;
    client.token = Some("fine-grained".to_owned());
    let query = r#"{ repository(owner: "acme", name: "shop") { pullRequest(number: 3) { title
        statusCheckRollup { state } reviewRequests(first: 5) { totalCount nodes { requestedReviewer { __typename } } } } } }"#;
    let answer = client.query(query, json!({})).await;
    assert_eq!(answer["data"]["repository"]["pullRequest"]["title"], "Rework everything");
    let kinds: Vec<_> =
        answer["errors"].as_array().unwrap().iter().map(|error| error["type"].clone()).collect();
    assert_eq!(kinds, ["FORBIDDEN"; 3]);
}

#[tokio::test]
async fn checks_have_counts_by_state() {
    let (simulator, client) = start("alternates").await;
    simulator.advance(std::time::Duration::from_mins(1));
    let query = r#"{ repository(owner: "acme", name: "shop") { pullRequest(number: 21) { statusCheckRollup { state
        contexts(first: 1) { checkRunCount checkRunCountsByState { state count } statusContextCountsByState { state }
            nodes { ... on CheckRun { name status conclusion title checkSuite { app { slug databaseId } } } } } } } } }"#;
    let data = client.data(query, json!({})).await;
    let rollup = &data["repository"]["pullRequest"]["statusCheckRollup"];
    assert_eq!(rollup["state"], "SUCCESS");
    assert_eq!(rollup["contexts"]["checkRunCountsByState"], json!([{ "state": "NEUTRAL", "count": 1 }]));
    assert_eq!(
        rollup["contexts"]["nodes"][0]["checkSuite"]["app"],
        json!({ "slug": "cursor", "databaseId": 206_951_365 })
    );
}
