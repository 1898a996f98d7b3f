//! REST, at the root and under the path of an Enterprise server.

use serde_json::{Value, json};

use super::client::start;

#[tokio::test]
async fn the_token_decides_the_account_and_its_permissions() {
    let (simulator, mut client) = start("nulls").await;
    let user = client.send("GET", "/user", None).await.unwrap();
    assert_eq!(user.json()["login"], "dana");
    assert_eq!(user.header("x-ratelimit-resource"), "core");
    let repository = client.send("GET", "/api/v3/repos/acme/shop", None).await.unwrap().json();
    assert_eq!(repository["permissions"]["push"], true);
    assert_eq!(client.send("GET", "/repos/acme/vault", None).await.unwrap().status, 404);
    client.graphql_path = "/api/graphql";
    assert_eq!(client.data("{ viewer { login } }", json!({})).await["viewer"]["login"], "dana");
    let limits = client.send("GET", "/rate_limit", None).await.unwrap().json();
    assert_eq!(limits["resources"]["core"]["used"], 3);
    assert_eq!(limits["resources"]["graphql"]["used"], 1);
    client.token = None;
    let nobody = client.send("GET", "/user", None).await.unwrap();
    assert_eq!((nobody.status, nobody.json()["message"].clone()), (401, json!("Requires authentication")));
    assert_eq!(simulator.request_count(), 6);
}

#[tokio::test]
async fn dispatches_and_issues_are_recorded() {
    let (simulator, client) = start("quiet").await;
    let sent = json!({ "event_type": "cloture_task", "client_payload": { "key": "k1" } });
    let answer = client.send("POST", "/repos/acme/shop/dispatches", Some(sent)).await.unwrap();
    assert_eq!((answer.status, answer.text.as_str()), (204, ""));
    assert_eq!(simulator.dispatches()[0].client_payload, json!({ "key": "k1" }));
    let keys: serde_json::Map<String, Value> = (0..11).map(|n| (n.to_string(), json!(n))).collect();
    let many = json!({ "event_type": "t", "client_payload": keys });
    assert_eq!(client.send("POST", "/repos/acme/shop/dispatches", Some(many)).await.unwrap().status, 422);
    let issue =
        json!({ "title": "Fix", "body": "key-1", "labels": ["agent"], "assignees": ["coderabbitai[bot]"] });
    let made = client.send("POST", "/repos/acme/shop/issues", Some(issue)).await.unwrap();
    assert_eq!((made.status, made.json()["number"].clone()), (201, json!(2)));
    let listed = client
        .send("GET", "/repos/acme/shop/issues?labels=agent&state=all&creator=dana", None)
        .await
        .unwrap()
        .json();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!(listed[0]["assignees"][0]["login"], "coderabbitai[bot]");
    let all = client.send("GET", "/repos/acme/shop/issues?per_page=1", None).await.unwrap();
    assert!(all.header("link").contains("page=2"), "{}", all.header("link"));
}

#[tokio::test]
async fn a_review_request_to_a_bot_needs_its_exact_login() {
    let (simulator, client) = start("nulls").await;
    let ask = async |login: &str| {
        let body = json!({ "reviewers": [login] });
        client.send("POST", "/repos/acme/shop/pulls/3/requested_reviewers", Some(body)).await.unwrap().status
    };
    assert_eq!(ask("coderabbitai").await, 201);
    assert!(
        !simulator
            .pull_request("acme/shop#3")
            .unwrap()
            .requested_reviewers
            .contains(&"coderabbitai".to_owned())
    );
    assert_eq!(ask("coderabbitai[bot]").await, 201);
    assert!(
        simulator
            .pull_request("acme/shop#3")
            .unwrap()
            .requested_reviewers
            .contains(&"coderabbitai".to_owned())
    );
    assert_eq!(ask("nobody-at-all").await, 422);
    let asked =
        client.send("GET", "/repos/acme/shop/pulls/3/requested_reviewers", None).await.unwrap().json();
    assert_eq!(asked["users"].as_array().unwrap().last().unwrap()["login"], "coderabbitai[bot]");
    assert_eq!(asked["teams"][0]["login"], "reviewers");
}

#[tokio::test]
async fn comparisons_files_and_contents_come_from_the_file_trees() {
    let (simulator, client) = start("nulls").await;
    let head = simulator.pull_request("acme/shop#3").unwrap().head;
    let compared =
        client.send("GET", &format!("/repos/acme/shop/compare/main...{head}"), None).await.unwrap().json();
    assert_eq!((compared["status"].clone(), compared["ahead_by"].clone()), (json!("ahead"), json!(1)));
    let files = compared["files"].as_array().unwrap();
    assert_eq!(files[0]["status"], "renamed");
    assert_eq!(files[0]["previous_filename"], "docs/old.md");
    assert!(files[1]["patch"].as_str().unwrap().contains("+fn zero() {}"));
    let listed = client.send("GET", "/repos/acme/shop/pulls/3/files", None).await.unwrap().json();
    assert_eq!(listed, compared["files"]);
    let path = format!("/repos/acme/shop/contents/src/a.rs?ref={head}");
    let raw = client.send_accepting("GET", &path, None, "application/vnd.github.raw+json").await.unwrap();
    assert!(raw.text.starts_with("fn zero() {}\n"), "{}", raw.text);
    let missing = client.send("GET", "/repos/acme/shop/contents/nothing.rs", None).await.unwrap();
    assert_eq!((missing.status, missing.json()["message"].clone()), (404, json!("Not Found")));
    let diff = client
        .send_accepting("GET", "/repos/acme/shop/pulls/3", None, "application/vnd.github.diff")
        .await
        .unwrap();
    assert!(diff.text.contains("diff --git a/docs/old.md b/docs/new.md"), "{}", diff.text);
}

#[tokio::test]
async fn labels_comments_and_merges_take_effect_over_rest() {
    let (simulator, client) = start("quiet").await;
    let labels = json!({ "labels": ["cloture: escalated"] });
    assert_eq!(
        client.send("POST", "/repos/acme/shop/issues/1/labels", Some(labels)).await.unwrap().status,
        200
    );
    let comment = json!({ "body": "Hello" });
    let made = client.send("POST", "/repos/acme/shop/issues/1/comments", Some(comment)).await.unwrap();
    assert_eq!((made.status, made.json()["node_id"].clone()), (201, json!("IC_1")));
    let path = "/repos/acme/shop/issues/1/labels/cloture%3A%20escalated";
    assert_eq!(client.send("DELETE", path, None).await.unwrap().status, 200);
    assert_eq!(
        client.send("DELETE", path.replace("escalated", "x").as_str(), None).await.unwrap().status,
        404
    );
    let stale = json!({ "sha": "0000000" });
    assert_eq!(client.send("PUT", "/repos/acme/shop/pulls/1/merge", Some(stale)).await.unwrap().status, 409);
    assert_eq!(
        client.send("PUT", "/repos/acme/shop/pulls/1/merge", None).await.unwrap().json()["merged"],
        true
    );
    assert_eq!(client.send("PUT", "/repos/acme/shop/pulls/1/merge", None).await.unwrap().status, 405);
    let what: Vec<String> = simulator.posts().into_iter().map(|post| post.what).collect();
    assert_eq!(what, ["label", "comment", "unlabel", "merge"]);
}

/// GraphQL answers the old name with the new one; REST sends the client to the repository's number.
#[tokio::test]
async fn l13_the_old_name_of_a_renamed_repository_leads_to_the_new_one() {
    let (simulator, client) = start("quiet").await;
    let rename = "do = [{ rename = { by = 'dana', to = 'dana/Store' } }]";
    simulator.perform_toml("acme/shop#1", rename).unwrap();
    let query = "query($name: String!) { repository(owner: \"ACME\", name: $name) { id nameWithOwner } }";
    let found = client.data(query, json!({"name": "Shop"})).await;
    assert_eq!(found["repository"], json!({"id": "R_1", "nameWithOwner": "dana/Store"}));
    let moved = client.send("GET", "/repos/acme/shop/issues?state=all", None).await.unwrap();
    assert_eq!((moved.status, moved.header("location")), (301, "/repositories/500001/issues?state=all"));
    assert_eq!(client.send("GET", "/repositories/500001/issues", None).await.unwrap().status, 200);
    assert_eq!(client.send("GET", "/repos/DANA/store", None).await.unwrap().status, 200);
    let moved = client.send("POST", "/api/v3/repos/acme/shop/issues", Some(json!({}))).await.unwrap();
    assert_eq!((moved.status, moved.header("location")), (301, "/api/v3/repositories/500001/issues"));
}
