//! Random faults between Cloture and the forge.

use crate::support::dice::Dice;
use cloture::simulator::{Fault, FaultKind};
use serde_json::json;

/// The faults of the next poll. Most polls have none, so that loops progress.
pub(crate) fn faults(dice: &mut Dice) -> Vec<Fault> {
    let count = dice.weighed(&[(55, 0), (25, 1), (14, 2), (6, 4)]);
    (0..count).map(|_| fault(dice)).collect()
}

fn fault(dice: &mut Dice) -> Fault {
    let on = dice.weighed(&[(25, "*"), (25, "reads"), (35, "writes"), (10, "graphql"), (5, "rest")]);
    let most = if on == "writes" || on == "rest" { 4 } else { 20 };
    let nth = u32::try_from(dice.between(1, most)).unwrap();
    // Some faults last for several requests; 0 would mean for ever.
    let times = dice.weighed(&[(70, 1), (20, 2), (8, 5), (2, 40)]);
    Fault { on: on.to_owned(), nth, times, kind: kind(dice) }
}

fn kind(dice: &mut Dice) -> FaultKind {
    let takes_effect = dice.is_in(500);
    match dice.below(66) {
        0..=4 => FaultKind::Status { status: 500, message: "Something went wrong".to_owned(), takes_effect },
        5..=7 => FaultKind::Status { status: 503, message: String::new(), takes_effect },
        8..=12 => FaultKind::BadGateway { takes_effect },
        13..=18 => FaultKind::DropBefore,
        19..=26 => FaultKind::DropAfter,
        27..=31 => FaultKind::Truncated,
        32..=36 => FaultKind::CutOff,
        37..=40 => FaultKind::Slow { millis: 15 },
        41..=44 => FaultKind::Stall { millis: 15 },
        45..=48 => FaultKind::SecondaryLimit { retry_after: 60, as_success: takes_effect },
        49..=51 => FaultKind::PrimaryLimit { reset_in: 300, error_type: "RATE_LIMITED".to_owned() },
        52..=55 => FaultKind::Partial {
            path: vec![json!("repository"), json!("pullRequest")],
            error_type: "FORBIDDEN".to_owned(),
            message: "Resource not accessible".to_owned(),
        },
        56..=58 => FaultKind::Partial {
            path: vec![json!("node"), json!("reviewThreads")],
            error_type: "SERVICE_UNAVAILABLE".to_owned(),
            message: "Something went wrong".to_owned(),
        },
        59..=61 => FaultKind::Unauthorized,
        62..=64 => FaultKind::Forbidden { message: "Resource not accessible by integration".to_owned() },
        _ => FaultKind::NotFound,
    }
}
