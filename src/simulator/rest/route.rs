//! The REST routes, recognized by method and path.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RestRoute {
    User,
    RateLimit,
    Repository,
    Dispatch,
    CreateIssue,
    ListIssues,
    GetIssue,
    CreateComment,
    Reactions,
    AddLabels,
    RemoveLabel,
    GetPull,
    PullFiles,
    RequestReviewers,
    RequestedReviewers,
    UnrequestReviewers,
    Merge,
    Compare,
    Contents,
}

impl RestRoute {
    pub(crate) fn of(method: &str, segments: &[String]) -> Option<Self> {
        let parts: Vec<&str> = segments.iter().map(String::as_str).collect();
        Some(match (method, parts.as_slice()) {
            ("GET", ["user"]) => Self::User,
            ("GET", ["rate_limit"]) => Self::RateLimit,
            ("GET", ["repos", _, _]) => Self::Repository,
            ("POST", ["repos", _, _, "dispatches"]) => Self::Dispatch,
            ("POST", ["repos", _, _, "issues"]) => Self::CreateIssue,
            ("GET", ["repos", _, _, "issues"]) => Self::ListIssues,
            ("GET", ["repos", _, _, "issues", _]) => Self::GetIssue,
            ("POST", ["repos", _, _, "issues", _, "comments"]) => Self::CreateComment,
            ("GET", ["repos", _, _, "issues", _, "reactions"]) => Self::Reactions,
            ("POST", ["repos", _, _, "issues", _, "labels"]) => Self::AddLabels,
            ("DELETE", ["repos", _, _, "issues", _, "labels", _]) => Self::RemoveLabel,
            ("GET", ["repos", _, _, "pulls", _]) => Self::GetPull,
            ("GET", ["repos", _, _, "pulls", _, "files"]) => Self::PullFiles,
            ("POST", ["repos", _, _, "pulls", _, "requested_reviewers"]) => Self::RequestReviewers,
            ("GET", ["repos", _, _, "pulls", _, "requested_reviewers"]) => Self::RequestedReviewers,
            ("DELETE", ["repos", _, _, "pulls", _, "requested_reviewers"]) => Self::UnrequestReviewers,
            ("PUT", ["repos", _, _, "pulls", _, "merge"]) => Self::Merge,
            ("GET", ["repos", _, _, "compare", ..]) => Self::Compare,
            ("GET", ["repos", _, _, "contents", ..]) => Self::Contents,
            _ => return None,
        })
    }

    /// The route as GitHub's documentation writes it. Faults use it as a target, and the log shows it.
    pub(crate) fn template(self) -> &'static str {
        match self {
            Self::User => "GET /user",
            Self::RateLimit => "GET /rate_limit",
            Self::Repository => "GET /repos/{owner}/{repo}",
            Self::Dispatch => "POST /repos/{owner}/{repo}/dispatches",
            Self::CreateIssue => "POST /repos/{owner}/{repo}/issues",
            Self::ListIssues => "GET /repos/{owner}/{repo}/issues",
            Self::GetIssue => "GET /repos/{owner}/{repo}/issues/{issue_number}",
            Self::CreateComment => "POST /repos/{owner}/{repo}/issues/{issue_number}/comments",
            Self::Reactions => "GET /repos/{owner}/{repo}/issues/{issue_number}/reactions",
            Self::AddLabels => "POST /repos/{owner}/{repo}/issues/{issue_number}/labels",
            Self::RemoveLabel => "DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}",
            Self::GetPull => "GET /repos/{owner}/{repo}/pulls/{pull_number}",
            Self::PullFiles => "GET /repos/{owner}/{repo}/pulls/{pull_number}/files",
            Self::RequestReviewers => "POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers",
            Self::RequestedReviewers => "GET /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers",
            Self::UnrequestReviewers => {
                "DELETE /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers"
            }
            Self::Merge => "PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge",
            Self::Compare => "GET /repos/{owner}/{repo}/compare/{basehead}",
            Self::Contents => "GET /repos/{owner}/{repo}/contents/{path}",
        }
    }

    pub(crate) fn writes(self) -> bool {
        !self.template().starts_with("GET")
    }
}
