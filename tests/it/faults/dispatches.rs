//! Calls to others: a driven reviewer, and the tasks of a merge for every kind of target.

use super::Operation;
use super::hook::Hook;
use super::stage::Stage;
use super::state::forge;
use super::table::Told;
use super::trouble::{NOBODY, Trouble};
use crate::support::harness::{DRIVEN, MAJOR, Place, finding, review};
use cloture::simulator::{Fault, FaultKind};
use cloture::supervisor::LoopCommand;
use cloture::supervisor::view::HandoffState;
use std::sync::Arc;

/// The beginning of every script: it logs the call, and hangs once if it is told to.
pub(crate) fn begins(trouble: Option<Trouble>) -> &'static str {
    if trouble == Some(Trouble::Hangs) {
        "cat > \"$here/got\"; echo call >> \"$here/calls\"\n\
         [ -e \"$here/hung\" ] || { touch \"$here/hung\"; exec sleep 600; }\n"
    } else {
        "cat > \"$here/got\"; echo call >> \"$here/calls\"\n"
    }
}

/// The timeout for programs that hang. Other cells have a longer one, for slow machines.
pub(crate) fn time_limit(trouble: Option<Trouble>) -> &'static str {
    if trouble == Some(Trouble::Hangs) { "timeout = '2s'\n" } else { "" }
}

pub(crate) fn calls(place: &Place) -> usize {
    place.read("calls").lines().count()
}

/// 1 if the program hung, otherwise 0.
pub(crate) fn has_hung(place: &Place) -> usize {
    usize::from(place.path("hung").exists())
}

// ---- A driven reviewer ------------------------------------------------------------------------------------

/// The request for the diff. It is the only request of a driven review.
const COMPARE: &str = "GET /repos/{owner}/{repo}/compare/{basehead}";

const ANSWER: &str = r#"printf %s '{"actions": [], "findings": [{"path": "src/cart.rs", "line": 3, "end_line": 3,
"title": "Subtraction underflows", "body": "It breaks. Fix it.", "severity": "critical", "category": "bug",
"suggestion": null}], "summary": "One thing."}'"#;

pub(crate) async fn reviewer() -> Operation {
    let (wanted, _) = reviewed(None, None).await;
    let wanted: Arc<[String]> = wanted.into();
    Operation {
        name: "dispatch: reviewer".to_owned(),
        runs_programs: false,
        under: Box::new(move |trouble| {
            if trouble == Trouble::PartialData {
                return Err("a diff is read over REST, where no data is partial");
            }
            let wanted = Arc::clone(&wanted);
            Ok(Box::pin(async move { reviewed(Some(trouble), Some(wanted)).await.1 }))
        }),
    }
}

async fn reviewed(trouble: Option<Trouble>, wanted: Option<Arc<[String]>>) -> (Vec<String>, Told) {
    let place = Place::new().await;
    let command = place.script("reviewer", &format!("{}{ANSWER}", begins(trouble)));
    let config = format!(
        "[[repositories]]\nname = 'acme/shop'\ndrive = true\nreviewers = ['orange']\n\
         [[reviewers]]\nname = 'orange'\nkind = 'program'\ncommand = ['{command}']\n{}",
        time_limit(trouble)
    );
    let mut stage = Stage::new(place, config, trouble).await;
    match trouble {
        // A diff is plain text, so only its length shows that it was cut off.
        Some(Trouble::Truncated) => {
            stage.place.simulator.inject(Fault::always(COMPARE, FaultKind::CutOff));
            stage.strike_here().await;
        }
        // Here the reviewer hangs.
        Some(Trouble::Hangs) => stage.strike_here().await,
        _ => stage.strike(COMPARE, "").await,
    }
    let left = |stage: &Stage| forge(&stage.place.simulator);
    stage.endure(wanted.as_deref(), left).await;
    stage.look_at_journal().await;
    stage.told.tries = has_hung(&stage.place);
    stage.end().await;
    let found = stage.settle(wanted.as_deref(), left, |_| Vec::new()).await;
    let calls = calls(&stage.place);
    if wanted.is_none() {
        assert!(found.iter().any(|it| it.starts_with("written: review")), "{found:#?}");
    }
    // C4: a failed reviewer is asked again. A network fault costs no second call.
    let most = if trouble == Some(Trouble::Hangs) { 2 } else { 1 };
    stage.told.expect(calls == most, || format!("the reviewer was called {calls} times"));
    stage.told.tries = stage.told.tries.max(calls);
    stage.stop().await;
    (found, stage.told)
}

// ---- Targets of a handoff ---------------------------------------------------------------------------------

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Command,
    Webhook,
    Event,
    Mention,
    Issue,
}

impl Target {
    const ALL: [Target; 5] =
        [Target::Command, Target::Webhook, Target::Event, Target::Mention, Target::Issue];

    fn name(self) -> &'static str {
        match self {
            Target::Command => "command",
            Target::Webhook => "webhook",
            Target::Event => "repository_dispatch",
            Target::Mention => "comment",
            Target::Issue => "issue",
        }
    }

    /// The request that sends the task, or any request if the target is not the forge.
    fn aim(self) -> &'static str {
        match self {
            Target::Command | Target::Webhook => "*",
            Target::Event => "POST /repos/{owner}/{repo}/dispatches",
            Target::Mention => "addComment",
            Target::Issue => "POST /repos/{owner}/{repo}/issues",
        }
    }

    fn config(self, place: &Place, url: &str, trouble: Option<Trouble>) -> String {
        let command = place.script("agent", &format!("{}echo run >> \"$here/runs\"", begins(trouble)));
        let keys = match self {
            Target::Command => format!("command = ['{command}']\n{}", time_limit(trouble)),
            Target::Webhook if trouble == Some(Trouble::SlowLoris) => {
                format!("url = '{url}'\ntimeout = '2s'\n")
            }
            Target::Webhook => format!("url = '{url}'\n{}", time_limit(trouble)),
            Target::Event => "event_type = 'fix'\n".to_owned(),
            Target::Mention => "body = '@agent fix this'\n".to_owned(),
            Target::Issue => "labels = ['ai-fix']\n".to_owned(),
        };
        format!(
            "{DRIVEN}[handoff]\nmode = 'full_auto'\n[[handoff.targets]]\nname = 'default'\nkind = '{}'\n{keys}",
            self.name()
        )
    }

    /// How often the target received the task.
    fn count(self, place: &Place, hook: &Hook) -> usize {
        match self {
            Target::Command => place.read("runs").lines().count(),
            Target::Webhook => hook.taken().len(),
            Target::Event => place.simulator.dispatches().len(),
            Target::Mention => {
                let posts = place.simulator.posts();
                posts.iter().filter(|post| post.text.starts_with("@agent")).count()
            }
            Target::Issue => place.simulator.issues().len(),
        }
    }
}

pub(crate) async fn targets() -> Vec<Operation> {
    let mut operations = Vec::new();
    for target in Target::ALL {
        let (wanted, _) = handed_off(target, None, None).await;
        let wanted: Arc<[String]> = wanted.into();
        operations.push(Operation {
            name: format!("dispatch: {}", target.name()),
            runs_programs: false,
            under: Box::new(move |trouble| {
                if trouble == Trouble::PartialData
                    && matches!(target, Target::Webhook | Target::Event | Target::Issue)
                {
                    return Err("it is not GraphQL, so that no data is partial");
                }
                let wanted = Arc::clone(&wanted);
                Ok(Box::pin(async move { handed_off(target, Some(trouble), Some(wanted)).await.1 }))
            }),
        });
    }
    operations
}

/// A finding, the merge, the task. A person who is asked whether a task arrived looks, and sends it again if
/// it did not.
async fn handed_off(
    target: Target,
    trouble: Option<Trouble>,
    wanted: Option<Arc<[String]>>,
) -> (Vec<String>, Told) {
    let (place, hook) = (Place::new().await, Hook::start().await);
    let good = target.config(&place, &hook.url, trouble);
    let is_nowhere = target == Target::Webhook && trouble == Some(Trouble::NoSuchHost);
    let config = if is_nowhere { target.config(&place, NOBODY, trouble) } else { good.clone() };
    let mut stage = Stage::new(place, config, trouble).await;
    stage.tick().await;
    stage.place.play(&review(&[finding("a", "src/cart.rs", 3, "The subtraction underflows", MAJOR)]));
    stage.tick().await;
    stage.place.play("{ merge = { by = 'dana' } }");
    match (target, trouble) {
        // Here the target's server fails.
        (Target::Webhook, Some(trouble)) if trouble.on_forge("").is_some() => hook.set(Some(trouble)),
        (Target::Command, Some(Trouble::Hangs)) => {}
        _ if is_nowhere => {}
        _ => {
            let field = if target == Target::Mention { "addComment" } else { "repository" };
            stage.strike(target.aim(), field).await;
        }
    }
    stage.mark();
    let left = |stage: &Stage| {
        let mut all = forge(&stage.place.simulator);
        all.push(format!("{} times at the target, {:?}", target.count(&stage.place, &hook), hook.taken()));
        all
    };
    stage.endure(wanted.as_deref(), left).await;
    stage.told.tries = hook.asked().max(has_hung(&stage.place));
    hook.set(None);
    stage.config = good;
    stage.end().await;
    let person = |stage: &Stage| -> Vec<LoopCommand> {
        let view = stage.run().view();
        let stuck = view.handoffs.iter().filter(|handoff| matches!(handoff.state, HandoffState::Stuck(_)));
        let absent = target.count(&stage.place, &hook) == 0;
        stuck.filter(|_| absent).map(|handoff| LoopCommand::RetryTask { key: handoff.key.clone() }).collect()
    };
    let found = stage.settle(wanted.as_deref(), left, person).await;
    assert!(wanted.is_some() || target.count(&stage.place, &hook) == 1, "{found:#?}");
    let sent = stage.place.simulator.requests().into_iter().filter(|request| {
        request.operation == target.aim() || request.fields.iter().any(|field| field == target.aim())
    });
    let tries = stage.told.tries.max(hook.asked()).max(calls(&stage.place)).max(sent.count());
    stage.told.tries = tries;
    stage.told.expect(tries <= 10, || format!("it was tried {tries} times"));
    stage.stop().await;
    (found, stage.told)
}
