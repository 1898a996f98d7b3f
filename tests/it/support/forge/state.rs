use super::server::{Answer, Request};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// How a write fails, and whether it takes effect anyway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    InternalError {
        takes_effect: bool,
    },
    BadGatewayPage {
        takes_effect: bool,
    },
    Dropped {
        takes_effect: bool,
    },
    CutOff,
    HalfJson,
    Silence {
        takes_effect: bool,
    },
    /// The payload is null, and an error without a type says why.
    PartialData {
        takes_effect: bool,
    },
    BadToken,
    SecondaryLimit,
    PrimaryLimitAs200,
    Refused,
}

/// The state that writes change. The rest is fixed.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) replies: Vec<Value>,
    pub(crate) comments: Vec<Value>,
    pub(crate) reviews: Vec<Value>,
    pub(crate) issues: Vec<Value>,
    pub(crate) dispatches: usize,
    pub(crate) resolved: bool,
    pub(crate) minimized: bool,
    pub(crate) phase: &'static str,
    pub(crate) labels: Vec<String>,
    pub(crate) repository_labels: Vec<String>,
    pub(crate) requested: Vec<String>,
    pub(crate) has_draft: bool,
    /// The number of writes that took effect.
    pub(crate) effects: usize,
    pub(crate) faults: Vec<Fault>,
}

/// A forge that several connections can use.
#[derive(Debug, Clone)]
pub(crate) struct Forge(pub(crate) Arc<Mutex<State>>);

impl Forge {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(State { phase: "OPEN", ..State::default() })))
    }

    /// Resets everything, including faults.
    pub(crate) fn reset(&self) {
        *self.0.lock().unwrap() = State { phase: "OPEN", ..State::default() };
    }

    /// Makes the next write fail like this. Later writes work.
    pub(crate) fn fail_next_write(&self, fault: Fault) {
        self.0.lock().unwrap().faults.push(fault);
    }

    pub(crate) fn effects(&self) -> usize {
        self.0.lock().unwrap().effects
    }

    pub(crate) fn answer(&self, request: &Request) -> Answer {
        let mut state = self.0.lock().unwrap();
        let operation = request.operation();
        let writes = request.body["query"]
            .as_str()
            .map_or(request.method != "GET", |query| query.starts_with("mutation"));
        let fault = if writes { state.faults.pop() } else { None };
        let takes_effect = !matches!(
            fault,
            Some(
                Fault::InternalError { takes_effect: false }
                    | Fault::BadGatewayPage { takes_effect: false }
                    | Fault::Dropped { takes_effect: false }
                    | Fault::Silence { takes_effect: false }
                    | Fault::PartialData { takes_effect: false }
                    | Fault::BadToken
                    | Fault::SecondaryLimit
                    | Fault::PrimaryLimitAs200
                    | Fault::Refused
            )
        );
        let body = if !writes {
            state.read(&operation, request)
        } else if takes_effect {
            state.effects += 1;
            state.write(&operation, request)
        } else {
            Value::Null
        };
        let graphql = request.path.ends_with("/graphql");
        let usual = if graphql { json!({"data": body}) } else { body };
        match fault {
            None => Answer::Json(if usual.is_null() { 204 } else { 200 }, Vec::new(), usual),
            Some(Fault::InternalError { .. }) => Answer::Json(500, Vec::new(), json!({"message": "oops"})),
            Some(Fault::BadGatewayPage { .. }) => {
                Answer::Text(502, "text/html", "<html><body>Unicorn!</body></html>".to_owned())
            }
            Some(Fault::Dropped { .. }) => Answer::Drop,
            Some(Fault::CutOff) => Answer::CutOff(usual),
            Some(Fault::HalfJson) => Answer::Half(usual),
            Some(Fault::Silence { .. }) => Answer::Silence,
            Some(Fault::PartialData { .. }) => {
                let field = request.body["query"].as_str().unwrap_or_default();
                let field =
                    field.lines().nth(1).unwrap_or_default().trim().split('(').next().unwrap_or_default();
                let error =
                    json!({"message": "Something went wrong while executing your query", "path": [field]});
                Answer::Json(200, Vec::new(), json!({"data": {field: null}, "errors": [error]}))
            }
            Some(Fault::BadToken) => Answer::Json(401, Vec::new(), json!({"message": "Bad credentials"})),
            Some(Fault::SecondaryLimit) => Answer::Json(
                403,
                vec![("retry-after", "7".to_owned()), ("x-ratelimit-remaining", "4000".to_owned())],
                json!({"message": "You have exceeded a secondary rate limit"}),
            ),
            Some(Fault::PrimaryLimitAs200) => Answer::Json(
                200,
                vec![
                    ("x-ratelimit-remaining", "0".to_owned()),
                    ("x-ratelimit-reset", "2000000000".to_owned()),
                ],
                json!({"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}),
            ),
            Some(Fault::Refused) => Answer::Json(
                200,
                Vec::new(),
                json!({"data": {"x": null}, "errors": [{"type": "FORBIDDEN", "path": ["x"], "message": "Resource not accessible by personal access token"}]}),
            ),
        }
    }
}

/// The login of the token's account.
fn us() -> Value {
    json!({"__typename": "User", "login": "operator", "databaseId": 3})
}

impl State {
    fn read(&self, operation: &str, request: &Request) -> Value {
        let list = |nodes: &[Value]| json!({"pageInfo": {"hasPreviousPage": false, "startCursor": null}, "nodes": nodes});
        match operation {
            "Viewer" => json!({"viewer": us()}),
            "ThreadEvidence" => {
                json!({"node": {"__typename": "PullRequestReviewThread", "isResolved": self.resolved, "comments": list(&self.replies)}})
            }
            "CommentsEvidence" => {
                json!({"node": {"__typename": "PullRequest", "comments": list(&self.comments)}})
            }
            "ReviewsEvidence" => {
                json!({"node": {"__typename": "PullRequest", "reviews": list(&self.reviews)}})
            }
            "StateEvidence" => {
                let labels: Vec<Value> = self.labels.iter().map(|name| json!({"name": name})).collect();
                json!({"node": {"__typename": "PullRequest", "state": self.phase, "url": "u", "labels": list(&labels)}})
            }
            "MinimizedEvidence" => {
                json!({"node": {"__typename": "IssueComment", "isMinimized": self.minimized}})
            }
            "IssuesEvidence" => json!({"repository": {"issues": list(&self.issues)}}),
            "LabelId" => {
                let name = request.variables()["label"].as_str().unwrap();
                let known = self.repository_labels.iter().any(|label| label == name);
                let label = known.then(|| json!({"id": format!("L_{name}"), "name": name}));
                json!({"repository": {"id": "R_1", "label": label}})
            }
            "GET /repos/o/r/pulls/7/requested_reviewers" => {
                let users: Vec<Value> = self.requested.iter().map(|login| json!({"login": login})).collect();
                json!({"users": users, "teams": []})
            }
            other => panic!("nobody taught this forge {other}"),
        }
    }

    fn write(&mut self, operation: &str, request: &Request) -> Value {
        let variables = request.variables();
        let state = if self.has_draft { "PENDING" } else { "SUBMITTED" };
        let post = |list: &mut Vec<Value>, body: &Value, state: &str, commit: &Value| {
            let id = format!("P_{}", list.len());
            let url = format!("https://forge/{id}");
            list.push(json!({
                "id": id, "url": url, "body": body, "state": state, "viewerDidAuthor": true, "author": us(), "commit": commit,
            }));
            json!({"id": id, "url": url, "state": state})
        };
        let on_pull_request =
            |state: &str| json!({"pullRequest": {"id": "PR_7", "state": state, "url": "u"}});
        match operation {
            "Reply" => {
                let comment = post(&mut self.replies, &variables["body"], state, &Value::Null);
                json!({"addPullRequestReviewThreadReply": {"comment": comment}})
            }
            "AddComment" => {
                let node = post(&mut self.comments, &variables["body"], "", &Value::Null);
                json!({"addComment": {"commentEdge": {"node": node}}})
            }
            "SubmitReview" => {
                let state = match variables["event"].as_str().unwrap() {
                    "APPROVE" => "APPROVED",
                    "REQUEST_CHANGES" => "CHANGES_REQUESTED",
                    _ => "COMMENTED",
                };
                let review =
                    post(&mut self.reviews, &variables["body"], state, &json!({"oid": variables["commit"]}));
                json!({"addPullRequestReview": {"pullRequestReview": review}})
            }
            "Resolve" => {
                self.resolved = true;
                json!({"resolveReviewThread": {"thread": {"id": "T", "isResolved": true}}})
            }
            "Unresolve" => {
                self.resolved = false;
                json!({"unresolveReviewThread": {"thread": {"id": "T", "isResolved": false}}})
            }
            "CreateLabel" => {
                let name = variables["name"].as_str().unwrap();
                self.repository_labels.push(name.to_owned());
                json!({"createLabel": {"label": {"id": format!("L_{name}"), "name": name}}})
            }
            "AddLabel" => {
                self.labels.push(variables["label"].as_str().unwrap().trim_start_matches("L_").to_owned());
                json!({"addLabelsToLabelable": {"labelable": {"__typename": "PullRequest"}}})
            }
            "RemoveLabel" => {
                let label = variables["label"].as_str().unwrap().trim_start_matches("L_").to_owned();
                self.labels.retain(|there| *there != label);
                json!({"removeLabelsFromLabelable": {"labelable": {"__typename": "PullRequest"}}})
            }
            "Close" => {
                self.phase = "CLOSED";
                json!({"closePullRequest": on_pull_request("CLOSED")})
            }
            "Reopen" => {
                self.phase = "OPEN";
                json!({"reopenPullRequest": on_pull_request("OPEN")})
            }
            "Merge" => {
                self.phase = "MERGED";
                json!({"mergePullRequest": on_pull_request("MERGED")})
            }
            "Minimize" => {
                self.minimized = true;
                json!({"minimizeComment": {"minimizedComment": {"isMinimized": true}}})
            }
            "POST /repos/o/r/pulls/7/requested_reviewers" => {
                self.requested.extend(
                    request.body["reviewers"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .map(|login| login.as_str().unwrap().to_owned()),
                );
                let users: Vec<Value> = self.requested.iter().map(|login| json!({"login": login})).collect();
                json!({"requested_reviewers": users})
            }
            "POST /repos/o/r/issues" => {
                let issue = post(&mut self.issues, &request.body["body"], "", &Value::Null);
                json!({"html_url": issue["url"], "node_id": issue["id"]})
            }
            "POST /repos/o/r/dispatches" => {
                self.dispatches += 1;
                Value::Null
            }
            other => panic!("nobody taught this forge {other}"),
        }
    }
}
