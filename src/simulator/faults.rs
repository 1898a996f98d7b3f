//! Injected faults: failures of the network and of a busy server, aimed at one operation and one occurrence.

use serde::{Deserialize, Serialize};

/// One fault. Tests install it directly; the control endpoint takes it as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Its target: `*`, `reads`, `writes`, `graphql`, `rest`, an operation's name, a top-level field such as
    /// `addComment`, or a REST route such as `POST /repos/{owner}/{repo}/dispatches`.
    #[serde(default = "everything")]
    pub on: String,
    /// The first occurrence to hit, counted from 1 since the fault was installed.
    #[serde(default = "first")]
    pub nth: u32,
    /// How many occurrences to hit in a row; 0 means all from then on.
    #[serde(default = "first")]
    pub times: u32,
    pub kind: FaultKind,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FaultKind {
    /// Any status with a JSON message. With `takes_effect`, a write still takes effect.
    Status {
        status: u16,
        #[serde(default)]
        message: String,
        #[serde(default)]
        takes_effect: bool,
    },
    /// 502 with an HTML page, as GitHub's proxy sends it.
    BadGateway {
        #[serde(default)]
        takes_effect: bool,
    },
    /// The connection closes without an answer, before the request takes effect.
    DropBefore,
    /// The connection closes without an answer, after the request took effect.
    DropAfter,
    /// The request takes no effect and gets no answer; after these real milliseconds the connection closes. A test
    /// can kill its client meanwhile. [`Slow`](Self::Slow) does the same after the write took effect.
    Stall {
        millis: u64,
    },
    /// A complete answer whose JSON stops in the middle.
    Truncated,
    /// An answer whose `content-length` promises more bytes than it sends.
    CutOff,
    /// The whole answer, delayed by real milliseconds.
    Slow {
        millis: u64,
    },
    /// The answer a few bytes at a time, with these real milliseconds between.
    Trickle {
        millis: u64,
    },
    /// Half of the answer, then one blank every so many real milliseconds, without end. It catches a client that
    /// limits only the wait for the next byte.
    Endless {
        millis: u64,
    },
    Unauthorized,
    Forbidden {
        message: String,
    },
    NotFound,
    /// The secondary limit: status 403, or 200 with an error inside if `as_success` is set.
    SecondaryLimit {
        retry_after: u32,
        #[serde(default)]
        as_success: bool,
    },
    /// The hourly limit: 200 with an error for GraphQL, 403 for REST. `reset_in` is in virtual seconds.
    PrimaryLimit {
        #[serde(default = "a_minute")]
        reset_in: i64,
        /// `RATE_LIMITED` (default) and `RATE_LIMIT` both occur.
        #[serde(default = "rate_limited")]
        error_type: String,
    },
    /// The value at `path` becomes null, with an error beside the data; the rest stays.
    Partial {
        path: Vec<serde_json::Value>,
        #[serde(default = "forbidden")]
        error_type: String,
        #[serde(default)]
        message: String,
    },
}

fn everything() -> String {
    "*".to_owned()
}

fn first() -> u32 {
    1
}

fn a_minute() -> i64 {
    60
}

fn rate_limited() -> String {
    "RATE_LIMITED".to_owned()
}

fn forbidden() -> String {
    "FORBIDDEN".to_owned()
}

impl Fault {
    /// Hits the next occurrence, once.
    pub fn once(on: &str, kind: FaultKind) -> Self {
        Self { on: on.to_owned(), nth: 1, times: 1, kind }
    }

    /// Hits one occurrence, counted from 1.
    pub fn nth(on: &str, nth: u32, kind: FaultKind) -> Self {
        Self { on: on.to_owned(), nth, times: 1, kind }
    }

    /// Hits every occurrence until cleared.
    pub fn always(on: &str, kind: FaultKind) -> Self {
        Self { on: on.to_owned(), nth: 1, times: 0, kind }
    }
}

impl FaultKind {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Status { .. } => "status",
            Self::BadGateway { .. } => "bad_gateway",
            Self::DropBefore => "drop_before",
            Self::DropAfter => "drop_after",
            Self::Stall { .. } => "stall",
            Self::Truncated => "truncated",
            Self::CutOff => "cut_off",
            Self::Slow { .. } => "slow",
            Self::Trickle { .. } => "trickle",
            Self::Endless { .. } => "endless",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden { .. } => "forbidden",
            Self::NotFound => "not_found",
            Self::SecondaryLimit { .. } => "secondary_limit",
            Self::PrimaryLimit { .. } => "primary_limit",
            Self::Partial { .. } => "partial",
        }
    }

    /// Whether the request takes effect although its answer fails.
    pub(crate) fn takes_effect(&self) -> bool {
        match self {
            Self::Status { takes_effect, .. } | Self::BadGateway { takes_effect } => *takes_effect,
            Self::DropAfter
            | Self::Truncated
            | Self::CutOff
            | Self::Slow { .. }
            | Self::Trickle { .. }
            | Self::Endless { .. }
            | Self::Partial { .. } => true,
            _ => false,
        }
    }
}

/// The properties of a request that a fault can be aimed at.
#[derive(Debug)]
pub(crate) struct FaultTarget<'a> {
    pub(crate) graphql: bool,
    pub(crate) writes: bool,
    pub(crate) operation: &'a str,
    pub(crate) fields: &'a [String],
}

/// The installed faults, each with how many requests it has matched.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    armed: Vec<(Fault, u32)>,
}

impl Faults {
    pub(crate) fn install(&mut self, fault: Fault) {
        self.armed.push((fault, 0));
    }

    pub(crate) fn clear(&mut self) {
        self.armed.clear();
    }

    pub(crate) fn installed(&self) -> impl Iterator<Item = &Fault> {
        self.armed.iter().map(|(fault, _)| fault)
    }

    /// The fault that hits this request, if any. Every matching fault counts the request; the first one due wins.
    pub(crate) fn take_matching(&mut self, target: &FaultTarget<'_>) -> Option<FaultKind> {
        let mut hit = None;
        for (fault, count) in &mut self.armed {
            if !aims_at(&fault.on, target) {
                continue;
            }
            *count += 1;
            let due = *count >= fault.nth && (fault.times == 0 || *count < fault.nth + fault.times);
            if due && hit.is_none() {
                hit = Some(fault.kind.clone());
            }
        }
        hit
    }
}

fn aims_at(on: &str, target: &FaultTarget<'_>) -> bool {
    match on {
        "*" => true,
        "reads" => !target.writes,
        "writes" => target.writes,
        "graphql" => target.graphql,
        "rest" => !target.graphql,
        name => target.operation == name || target.fields.iter().any(|field| field == name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_hits_only_its_own_occurrence() {
        let mut faults = Faults::default();
        faults.install(Fault::nth("addComment", 2, FaultKind::DropAfter));
        let fields = ["addComment".to_owned()];
        let write = FaultTarget { graphql: true, writes: true, operation: "Post", fields: &fields };
        let read = FaultTarget { graphql: true, writes: false, operation: "Read", fields: &[] };
        assert_eq!(faults.take_matching(&write), None);
        assert_eq!(faults.take_matching(&read), None);
        assert_eq!(faults.take_matching(&write), Some(FaultKind::DropAfter));
        assert_eq!(faults.take_matching(&write), None);
    }

    #[test]
    fn a_fault_reads_as_json_with_defaults() {
        let fault: Fault = serde_json::from_str(r#"{"kind": {"slow": {"millis": 5}}}"#).unwrap();
        assert_eq!(fault, Fault::once("*", FaultKind::Slow { millis: 5 }));
        let wrong = serde_json::from_str::<Fault>(r#"{"kind": "drop_after", "nht": 2}"#).unwrap_err();
        assert!(wrong.to_string().contains("unknown field `nht`"), "{wrong}");
    }
}
