//! The control endpoints, for tests in other processes and for people.
//!
//! | request | answer or effect |
//! | --- | --- |
//! | `GET /_simulator/state` | the [`Snapshot`](crate::simulator::Snapshot), with points spent |
//! | `GET /_simulator/requests` | every request so far |
//! | `GET`, `POST`, `DELETE /_simulator/faults` | lists, adds (one or a list), removes all |
//! | `GET`, `POST /_simulator/clock` | the virtual time; moves it by `{"advance": "90s"}` |
//! | `POST /_simulator/actions` | carries out `{"pull_request": "o/r#7", "do": [{"merge": {"by": "dana"}}]}` |

use jiff::SignedDuration;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Core, HttpAnswer, Incoming};
use crate::simulator::faults::Fault;
use crate::simulator::scenario::ScenarioAction;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Advance {
    advance: SignedDuration,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Perform {
    pull_request: String,
    #[serde(rename = "do")]
    actions: Vec<ScenarioAction>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    Many(Vec<Fault>),
    One(Fault),
}

pub(super) fn handle(core: &mut Core, incoming: &Incoming) -> HttpAnswer {
    match route(core, incoming) {
        Ok(body) => HttpAnswer::json(200, &body),
        Err(message) => HttpAnswer::json(400, &json!({ "message": message })),
    }
}

fn route(core: &mut Core, incoming: &Incoming) -> Result<Value, String> {
    match (incoming.method.as_str(), incoming.path.as_str()) {
        ("GET", "/_simulator/state") => {
            let mut state = value(&core.snapshot())?;
            state["points"] = json!(core.points());
            Ok(state)
        }
        ("GET", "/_simulator/requests") => value(core.log()),
        ("GET", "/_simulator/faults") => {
            let faults: Vec<Fault> = core.faults().installed().cloned().collect();
            value(&faults)
        }
        ("POST", "/_simulator/faults") => {
            let faults = match body::<OneOrMany>(incoming) {
                Ok(OneOrMany::Many(faults)) => faults,
                Ok(OneOrMany::One(fault)) => vec![fault],
                // Parse again: the error of an untagged enum does not name the wrong field.
                Err(_) => vec![body::<Fault>(incoming)?],
            };
            let count = faults.len();
            for fault in faults {
                core.install(fault);
            }
            Ok(json!({ "installed": count }))
        }
        ("DELETE", "/_simulator/faults") => {
            core.faults().clear();
            Ok(json!({ "installed": 0 }))
        }
        ("GET", "/_simulator/clock") => Ok(json!({ "now": core.now() })),
        ("POST", "/_simulator/clock") => {
            let by = body::<Advance>(incoming)?.advance;
            let by = by.try_into().map_err(|_| "virtual time cannot go back".to_owned())?;
            core.advance(by);
            Ok(json!({ "now": core.now() }))
        }
        ("POST", "/_simulator/actions") => {
            let perform: Perform = body(incoming)?;
            for action in &perform.actions {
                core.perform(&perform.pull_request, action)?;
            }
            Ok(json!({ "done": perform.actions.len() }))
        }
        (method, path) => Err(format!("there is no {method} {path}")),
    }
}

fn value<T: serde::Serialize + ?Sized>(of: &T) -> Result<Value, String> {
    serde_json::to_value(of).map_err(|error| error.to_string())
}

fn body<T: DeserializeOwned>(incoming: &Incoming) -> Result<T, String> {
    serde_json::from_slice(&incoming.body).map_err(|error| error.to_string())
}
