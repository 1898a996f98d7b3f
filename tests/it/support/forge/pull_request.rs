//! A pull request with real lists behind its pages, and the fields of the light query.

use super::server::{Answer, Request};
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex};

/// Pull requests `o/r#1…` with lists of any length.
#[derive(Debug, Clone, Default)]
pub(crate) struct PullRequests(pub(crate) Arc<Mutex<Shelf>>);

#[derive(Debug, Default)]
pub(crate) struct Shelf {
    pub(crate) all: Vec<PullRequest>,
    /// Points spent, one for each call, as GitHub would charge for these documents.
    pub(crate) points: u64,
    pub(crate) remaining: Option<u64>,
    pub(crate) hide_requests: bool,
    pub(crate) hide_checks: bool,
    /// Whether the light query counts checks that the full query lacks.
    pub(crate) phantom_checks: u64,
    pub(crate) log: Vec<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct PullRequest {
    pub(crate) head: String,
    pub(crate) state: &'static str,
    pub(crate) updated: u64,
    pub(crate) labels: usize,
    pub(crate) reviews: usize,
    pub(crate) comments: usize,
    pub(crate) threads: Vec<Thread>,
    pub(crate) checks: usize,
    pub(crate) author: Value,
    pub(crate) timeline: Vec<Value>,
}

#[derive(Debug, Clone)]
pub(crate) struct Thread {
    pub(crate) resolved: bool,
    pub(crate) comments: usize,
    pub(crate) text: String,
    pub(crate) outdated: bool,
}

impl PullRequest {
    pub(crate) fn with_threads(count: usize, comments: usize) -> Self {
        let thread = Thread { resolved: false, comments, text: "text".to_owned(), outdated: false };
        Self {
            head: "c0ffee".to_owned(),
            state: "OPEN",
            updated: 0,
            labels: 1,
            reviews: 1,
            comments: 1,
            threads: vec![thread; count],
            checks: 1,
            author: json!({"__typename": "User", "login": "alice", "databaseId": 1}),
            timeline: Vec::new(),
        }
    }

    fn updated_at(&self) -> String {
        format!("2026-01-02T{:02}:{:02}:00Z", self.updated / 60, self.updated % 60)
    }

    fn time() -> &'static str {
        "2026-01-01T10:00:00Z"
    }

    fn post(id: &str, body: &str) -> Map<String, Value> {
        let post = json!({
            "id": id, "url": "u", "body": body, "createdAt": Self::time(), "updatedAt": Self::time(),
            "lastEditedAt": null, "authorAssociation": "MEMBER", "viewerDidAuthor": false, "isMinimized": false,
            "minimizedReason": null, "author": {"__typename": "Bot", "login": "reviewer", "databaseId": 2},
        });
        post.as_object().unwrap().clone()
    }

    fn review(n: usize) -> Value {
        let mut review = Self::post(&format!("R{n}"), "review");
        review.insert("state".to_owned(), json!("COMMENTED"));
        review.insert("submittedAt".to_owned(), json!(Self::time()));
        review.insert("commit".to_owned(), json!({"oid": "c0ffee"}));
        Value::Object(review)
    }

    fn thread_comment(&self, thread: usize, n: usize) -> Value {
        let text = if n == 0 { &self.threads[thread].text } else { "reply" };
        let mut comment = Self::post(&format!("T{thread}C{n}"), text);
        comment.insert("state".to_owned(), json!("SUBMITTED"));
        comment.insert("diffHunk".to_owned(), json!("@@"));
        comment.insert("commit".to_owned(), Value::Null);
        comment.insert("originalCommit".to_owned(), json!({"oid": "0ld"}));
        comment.insert(
            "replyTo".to_owned(),
            if n == 0 { Value::Null } else { json!({"id": format!("T{thread}C0")}) },
        );
        comment.insert("pullRequestReview".to_owned(), Value::Null);
        Value::Object(comment)
    }

    fn thread(&self, number: u64, n: usize, page: &Value) -> Value {
        let thread = &self.threads[n];
        let line = if thread.outdated { Value::Null } else { json!(n + 1) };
        json!({
            "id": format!("PR{number}T{n}"), "path": "src/a.rs", "line": line, "startLine": null,
            "originalLine": n + 1, "originalStartLine": null, "diffSide": "RIGHT", "subjectType": "LINE",
            "isOutdated": thread.outdated, "isResolved": thread.resolved, "viewerCanReply": true, "viewerCanResolve": true,
            "viewerCanUnresolve": true, "resolvedBy": null,
            "comments": page_of(thread.comments, page, &Value::Null, |c| self.thread_comment(n, c)),
        })
    }

    fn light_thread(&self, number: u64, n: usize) -> Value {
        let thread = &self.threads[n];
        json!({"id": format!("PR{number}T{n}"), "isResolved": thread.resolved, "isOutdated": thread.outdated})
    }

    fn check_counts(&self) -> Value {
        json!([{"state": "SUCCESS", "count": self.checks}])
    }

    fn requests() -> Value {
        let bot = json!({"__typename": "Bot", "login": "reviewer", "databaseId": 2});
        let team = json!({"__typename": "Team", "combinedSlug": "o/team"});
        let nodes = json!([
            {"asCodeOwner": false, "requestedReviewer": bot}, {"asCodeOwner": true, "requestedReviewer": team},
            {"asCodeOwner": false, "requestedReviewer": null}, null,
        ]);
        json!({"pageInfo": {"hasNextPage": false, "endCursor": null}, "nodes": nodes})
    }

    fn checked(&self, after: &Value) -> Value {
        let check = |n: usize| {
            json!({
                "__typename": "CheckRun", "name": format!("check {n}"), "status": "COMPLETED", "conclusion": "SUCCESS",
                "title": null, "summary": null, "startedAt": null, "completedAt": null, "detailsUrl": null,
                "checkSuite": {"app": null},
            })
        };
        let mut contexts = page_of(self.checks, &json!(100), after, check);
        contexts["totalCount"] = json!(self.checks);
        contexts["checkRunCountsByState"] = self.check_counts();
        contexts["statusContextCountsByState"] = Value::Null;
        let suites = json!({"nodes": [{"createdAt": "2026-01-01T11:00:00Z"}]});
        let rollup = json!({"state": "SUCCESS", "contexts": contexts});
        json!({"nodes": [{"commit": {"oid": self.head, "checkSuites": suites, "statusCheckRollup": rollup}}]})
    }
}

/// A page of a list: cursors are the index of the next element.
fn page_of(total: usize, size: &Value, after: &Value, element: impl Fn(usize) -> Value) -> Value {
    let start = after.as_str().map_or(0, |cursor| cursor.parse().unwrap());
    let end = total.min(start + usize::try_from(size.as_u64().unwrap()).unwrap());
    let nodes: Vec<Value> = (start..end).map(element).collect();
    json!({
        "totalCount": total, "nodes": nodes,
        "pageInfo": {"hasNextPage": end < total, "endCursor": end.to_string()},
    })
}

impl PullRequests {
    pub(crate) fn new(all: Vec<PullRequest>) -> Self {
        Self(Arc::new(Mutex::new(Shelf { all, ..Shelf::default() })))
    }

    pub(crate) fn change(&self, number: usize, change: impl FnOnce(&mut PullRequest)) {
        change(&mut self.0.lock().unwrap().all[number - 1]);
    }

    pub(crate) fn points(&self) -> u64 {
        self.0.lock().unwrap().points
    }

    pub(crate) fn answer(&self, request: &Request) -> Answer {
        let mut stock = self.0.lock().unwrap();
        stock.points += 1;
        stock.log.push(request.operation());
        let rate = json!({
            "cost": 1, "limit": 5000, "remaining": stock.remaining.unwrap_or(5000 - stock.points.min(5000)),
            "used": stock.points, "resetAt": "2026-01-02T01:00:00Z",
        });
        let (mut data, errors) = stock.data(&request.operation(), request.variables());
        if data.is_object() {
            data["rateLimit"] = rate;
        }
        let mut body = json!({"data": data});
        if !errors.is_empty() {
            body["errors"] = Value::Array(errors);
        }
        Answer::Json(200, Vec::new(), body)
    }
}

impl Shelf {
    fn find(&self, id: &Value) -> Option<(u64, &PullRequest)> {
        let number: u64 = id.as_str()?.strip_prefix("PR")?.split('T').next()?.parse().ok()?;
        Some((number, self.all.get(usize::try_from(number - 1).ok()?)?))
    }

    fn data(&self, operation: &str, variables: &Value) -> (Value, Vec<Value>) {
        let forbidden =
            |path: Value| json!({"type": "FORBIDDEN", "path": path, "message": "Resource not accessible"});
        match operation {
            "PullRequest" => {
                let number = variables["number"].as_u64().unwrap();
                let found = usize::try_from(number - 1).ok().and_then(|index| self.all.get(index));
                let Some(found) = found else {
                    let error =
                        json!({"type": "NOT_FOUND", "path": ["repository", "pullRequest"], "message": "no"});
                    return (
                        json!({"repository": {"nameWithOwner": "o/r", "pullRequest": null}}),
                        vec![error],
                    );
                };
                (
                    json!({"repository": {"nameWithOwner": "o/r", "pullRequest": full(number, found, variables)}}),
                    Vec::new(),
                )
            }
            "PullRequestPages" => {
                let (number, found) = self.find(&variables["id"]).unwrap();
                (json!({"node": pages(number, found, variables)}), Vec::new())
            }
            "ThreadPages" => {
                let (_, found) = self.find(&variables["id"]).unwrap();
                let n: usize = variables["id"].as_str().unwrap().rsplit('T').next().unwrap().parse().unwrap();
                let comments = found.threads[n].comments;
                let page =
                    page_of(comments, &json!(100), &variables["after"], |c| found.thread_comment(n, c));
                (json!({"node": {"__typename": "PullRequestReviewThread", "comments": page}}), Vec::new())
            }
            "ReviewRequestsOf" if self.hide_requests => {
                (Value::Null, vec![forbidden(json!(["node", "reviewRequests"]))])
            }
            "ReviewRequestsOf" => (
                json!({"node": {"__typename": "PullRequest", "reviewRequests": PullRequest::requests()}}),
                Vec::new(),
            ),
            "ChecksOf" if self.hide_checks => {
                let path = json!(["node", "checks", "nodes", 0, "commit", "statusCheckRollup"]);
                (json!({"node": {"__typename": "PullRequest", "checks": null}}), vec![forbidden(path)])
            }
            "ChecksOf" => {
                let (_, found) = self.find(&variables["id"]).unwrap();
                (
                    json!({"node": {"__typename": "PullRequest", "checks": found.checked(&variables["checksAfter"])}}),
                    Vec::new(),
                )
            }
            "Viewer" => {
                (json!({"viewer": {"__typename": "User", "login": "operator", "databaseId": 3}}), Vec::new())
            }
            "Light" => self.light(variables),
            "LightThreads" => {
                let (number, found) = self.find(&variables["id"]).unwrap();
                let page = page_of(found.threads.len(), &json!(100), &variables["after"], |n| {
                    found.light_thread(number, n)
                });
                (json!({"node": {"__typename": "PullRequest", "reviewThreads": page}}), Vec::new())
            }
            "Whereabouts" => {
                let place = |number: u64| json!({"number": number, "repository": {"nameWithOwner": "o/r"}});
                let found = self.find(&variables["id"]).map(|(number, _)| place(number));
                let missing = json!({"type": "NOT_FOUND", "path": ["node"], "message": "no such node"});
                let errors = if found.is_none() { vec![missing] } else { Vec::new() };
                (json!({"node": found}), errors)
            }
            other => panic!("nobody taught this forge {other}"),
        }
    }

    fn light(&self, variables: &Value) -> (Value, Vec<Value>) {
        let mut errors = Vec::new();
        let mut nodes = Vec::new();
        for (index, id) in variables["ids"].as_array().unwrap().iter().enumerate() {
            let Some((number, found)) = self.find(id) else {
                errors
                    .push(json!({"type": "NOT_FOUND", "path": ["nodes", index], "message": "no such node"}));
                nodes.push(Value::Null);
                continue;
            };
            let last = |total: usize, node: Value| json!({"totalCount": total, "nodes": if total == 0 { json!([]) } else { json!([node]) }});
            let time = PullRequest::time();
            let mut node = json!({
                "__typename": "PullRequest", "state": found.state, "isDraft": false, "headRefOid": found.head,
                "updatedAt": found.updated_at(),
                "reviewThreads": page_of(found.threads.len(), &json!(100), &Value::Null, |n| found.light_thread(number, n)),
                "reviews": last(found.reviews, json!({"id": format!("R{}", found.reviews.saturating_sub(1)), "state": "COMMENTED", "updatedAt": time})),
                "comments": last(found.comments, json!({"id": format!("C{}", found.comments.saturating_sub(1)), "updatedAt": time})),
            });
            if variables["withChecks"] == true && self.hide_checks {
                node["statusCheckRollup"] = Value::Null;
                errors.push(json!({"type": "FORBIDDEN", "path": ["nodes", index, "statusCheckRollup"], "message": "Resource not accessible"}));
            } else if variables["withChecks"] == true {
                let contexts = json!({"totalCount": found.checks as u64 + self.phantom_checks, "checkRunCountsByState": found.check_counts(), "statusContextCountsByState": null});
                node["statusCheckRollup"] = json!({"state": "SUCCESS", "contexts": contexts});
            }
            nodes.push(node);
        }
        (json!({"nodes": nodes}), errors)
    }
}

fn full(number: u64, found: &PullRequest, variables: &Value) -> Value {
    let mut all = json!({
        "withLabels": true, "withReviews": true, "withComments": true, "withThreads": true, "withTimeline": true,
    });
    all["threads"] = variables["threads"].clone();
    all["threadComments"] = variables["threadComments"].clone();
    let mut body = pages(number, found, &all);
    let facts = json!({
        "id": format!("PR{number}"), "number": number, "title": "A title", "body": "", "url": "u", "state": found.state,
        "isDraft": false, "merged": found.state == "MERGED", "createdAt": "2026-01-01T09:00:00Z",
        "updatedAt": found.updated_at(), "closedAt": null, "mergedAt": null, "baseRefName": "main", "baseRefOid": "ba5e",
        "headRefName": "topic", "headRefOid": found.head, "isCrossRepository": false, "authorAssociation": "NEW_WORD",
        "viewerDidAuthor": false, "author": found.author, "headRepository": null,
        "headCommit": {"totalCount": 1, "nodes": [{"commit": {"oid": found.head, "committedDate": "2026-01-01T09:30:00Z"}}]},
    });
    body.as_object_mut().unwrap().extend(facts.as_object().unwrap().clone());
    if variables["withRequests"] == true {
        body["reviewRequests"] = PullRequest::requests();
    }
    if variables["withChecks"] == true {
        body["checks"] = found.checked(&Value::Null);
    }
    body
}

fn pages(number: u64, found: &PullRequest, variables: &Value) -> Value {
    let mut body = json!({"__typename": "PullRequest"});
    let hundred = json!(100);
    if variables["withLabels"] == true {
        body["labels"] = page_of(
            found.labels,
            &hundred,
            &variables["labelsAfter"],
            |n| json!({"name": format!("label {n}")}),
        );
    }
    if variables["withReviews"] == true {
        body["reviews"] = page_of(found.reviews, &hundred, &variables["reviewsAfter"], PullRequest::review);
    }
    if variables["withComments"] == true {
        body["comments"] = page_of(found.comments, &hundred, &variables["commentsAfter"], |n| {
            Value::Object(PullRequest::post(&format!("C{n}"), "comment"))
        });
    }
    if variables["withThreads"] == true {
        let thread = |n| found.thread(number, n, &variables["threadComments"]);
        body["reviewThreads"] =
            page_of(found.threads.len(), &variables["threads"], &variables["threadsAfter"], thread);
    }
    if variables["withTimeline"] == true {
        let event = |n: usize| found.timeline[n].clone();
        body["timelineItems"] = page_of(found.timeline.len(), &hundred, &variables["timelineAfter"], event);
    }
    body
}
