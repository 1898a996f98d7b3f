//! Turns `cloture pr` commands into writes. Nothing is sent here.
//!
//! The supervisor's planner makes the keys of posted texts, so a command and the terminal's menu never post
//! the same text twice at one head. A caller's own key takes the head's place.

use super::{ActKind, ActRequest, PullRequestAct};
use crate::domain::snapshot::PullRequestSnapshot;
use crate::domain::vocabulary::Login;
use crate::failure::Failure;
use crate::github::PullRequestAddress;
use crate::github::write::Write;
use crate::reviewers::profile;
use crate::reviewers::profiles::{ActiveProfile, Profiles};
use crate::supervisor::people::pull_request_planner::PullRequestPlanner;

/// The writes of one request, in request.
#[derive(Debug, Clone, PartialEq)]
pub struct WritePlan {
    pub writes: Vec<Write>,
}

/// A shorter prefix could match several commits.
const SHORTEST_HEAD: usize = 7;

/// Plans the writes of a request, or says why it is not possible.
pub fn plan(
    request: &ActRequest,
    snapshot: &PullRequestSnapshot,
    profiles: &Profiles,
) -> Result<WritePlan, Failure> {
    check_head(request, snapshot)?;
    let planner = PullRequestPlanner::new(snapshot, request.key.as_deref());
    let writes = match &request.verb {
        // `thread_act` plans acts on threads, with the supervisor's rules.
        ActKind::Thread { .. } => Vec::new(),
        ActKind::PullRequest(verb) => vec![on_pull_request(&planner, verb, profiles)?],
    };
    match writes.iter().find_map(Write::objection) {
        Some(objection) => Err(Failure::usage(format_args!("nothing was written: {objection}"))),
        None => Ok(WritePlan { writes }),
    }
}

/// With `--head`, nothing is done at another head.
pub(super) fn check_head(request: &ActRequest, snapshot: &PullRequestSnapshot) -> Result<(), Failure> {
    let Some(expected) = &request.head else { return Ok(()) };
    if expected.len() < SHORTEST_HEAD {
        return Err(Failure::usage(format_args!(
            "`{expected}` is too short for a commit; --head takes at least {SHORTEST_HEAD} characters"
        )));
    }
    let head = snapshot.head.sha.as_str();
    if head.to_ascii_lowercase().starts_with(&expected.to_ascii_lowercase()) {
        return Ok(());
    }
    let address = address(snapshot);
    Err(Failure::usage(format_args!(
        "nothing was written: the head of {address} is now {head}, not {expected}; read it again and repeat \
         the command"
    )))
}

pub(super) fn address(snapshot: &PullRequestSnapshot) -> PullRequestAddress {
    PullRequestAddress { repository: snapshot.repository.clone(), number: snapshot.number }
}

fn on_pull_request(
    planner: &PullRequestPlanner<'_>,
    act: &PullRequestAct,
    profiles: &Profiles,
) -> Result<Write, Failure> {
    let on = planner.target();
    Ok(match act {
        PullRequestAct::Comment { body } => {
            Write::Comment { on, key: planner.key("comment", &[body])?, body: body.clone() }
        }
        PullRequestAct::Label { name } => Write::AddLabel { on, label: given(name, "a label's name")? },
        PullRequestAct::Unlabel { name } => Write::RemoveLabel { on, label: given(name, "a label's name")? },
        PullRequestAct::Approve { body } => planner.approve(body)?,
        PullRequestAct::RequestChanges { body } => {
            let body = given(body, "a text that says what to change")?;
            planner.request_changes(&body)?
        }
        PullRequestAct::RequestReview { reviewer, mention: Some(mention) } => {
            let key = planner.key("request-review", &[reviewer, mention])?;
            Write::Comment { on, body: mention.clone(), key }
        }
        PullRequestAct::RequestReview { reviewer, mention: None } => {
            let reviewer = given(reviewer, "a reviewer")?;
            let profile = find_reviewer(&reviewer, profiles).map(|active| &active.profile);
            if let Some(profile) = profile.filter(|it| !it.re_request && !it.ask_again.is_empty()) {
                let key = planner.key("request-review", &[&reviewer, &profile.ask_again])?;
                Write::Comment { on, body: profile.ask_again.clone(), key }
            } else {
                let (reviewer, is_bot) = account(&reviewer, profiles);
                Write::RequestReview { on, reviewer, is_bot }
            }
        }
        PullRequestAct::Close => planner.close(),
        PullRequestAct::Reopen => planner.reopen(),
        PullRequestAct::Merge { method } => planner.merge(*method),
        PullRequestAct::OpenIssue { title, body, labels, assignees } => Write::OpenIssue {
            repository: planner.address().repository,
            title: given(title, "a title")?,
            body: body.clone(),
            labels: labels.clone(),
            assignees: assignees.iter().map(|login| login.trim_start_matches('@').to_owned()).collect(),
            key: planner.key("issue", &[title, body])?,
        },
        PullRequestAct::Dispatch { event_type, payload } => Write::Dispatch {
            repository: planner.address().repository,
            event_type: given(event_type, "an event type")?,
            payload: payload.clone(),
            key: planner
                .key("dispatch", &[event_type, &serde_json::Value::from(payload.clone()).to_string()])?,
        },
    })
}

/// GitHub would refuse an empty text, or take it for something else.
fn given(text: &str, what: &str) -> Result<String, Failure> {
    if text.trim().is_empty() {
        return Err(Failure::usage(format_args!("nothing was written: {what} is missing")));
    }
    Ok(text.to_owned())
}

/// The reviewer with this name or login.
fn find_reviewer<'a>(name: &str, profiles: &'a Profiles) -> Option<&'a ActiveProfile> {
    let name = name.trim().trim_start_matches('@');
    let plain = name.strip_suffix("[bot]").unwrap_or(name);
    let is_this = |other: &str| other.eq_ignore_ascii_case(plain);
    profiles.iter().find(|active| {
        is_this(active.name.as_str()) || active.profile.logins.iter().any(|login| is_this(login))
    })
}

/// The account of the reviewer with this name, or else the login itself.
fn account(name: &str, profiles: &Profiles) -> (Login, bool) {
    let profile = find_reviewer(name, profiles);
    let name = name.trim().trim_start_matches('@');
    let plain = name.strip_suffix("[bot]").unwrap_or(name);
    match profile.and_then(|active| Some((active.profile.logins.first()?, active.profile.kind))) {
        Some((login, kind)) => (login.as_str().into(), kind == profile::ProfileAccountKind::Bot),
        None => (plain.into(), plain != name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reviewer_is_asked_by_its_account_and_anybody_else_by_login() {
        let profiles = Profiles::built_in().unwrap();
        for (name, expected) in [
            ("coderabbit", ("coderabbitai", true)),
            ("coderabbitai", ("coderabbitai", true)),
            ("@CodeRabbitAI[bot]", ("coderabbitai", true)),
            ("copilot", ("copilot-pull-request-reviewer", true)),
            ("erin", ("erin", false)),
            ("@erin", ("erin", false)),
            ("my-own[bot]", ("my-own", true)),
        ] {
            let (login, is_bot) = account(name, &profiles);
            assert_eq!((login.as_str(), is_bot), expected, "{name}");
        }
    }
}
