//! The poll: Cloture sees changes that it missed during the fault afterwards, and reacts once.

use super::Operation;
use super::stage::Stage;
use super::state::forge;
use super::table::Told;
use super::trouble::Trouble;
use crate::support::harness::{DRIVEN, MAJOR, Place, finding, push, review};
use std::sync::Arc;

pub(crate) async fn operation() -> Operation {
    let (wanted, _) = history(None, None).await;
    let wanted: Arc<[String]> = wanted.into();
    Operation {
        name: "poll".to_owned(),
        runs_programs: false,
        under: Box::new(move |trouble| {
            let wanted = Arc::clone(&wanted);
            Ok(Box::pin(async move { history(Some(trouble), Some(wanted)).await.1 }))
        }),
    }
}

/// The same finding under another name.
pub(crate) fn again(name: &str) -> String {
    finding(name, "src/cart.rs", 3, "A percentage above one hundred underflows", MAJOR)
}

/// A reviewer raises a finding, and raises it again after a push during the fault. Cloture has to fold the
/// second into the first, with a reply and a resolved thread.
pub(crate) async fn history(trouble: Option<Trouble>, wanted: Option<Arc<[String]>>) -> (Vec<String>, Told) {
    let mut stage = Stage::new(Place::new().await, DRIVEN.to_owned(), trouble).await;
    stage.tick().await;
    stage.place.play(&review(&[again("a")]));
    stage.tick().await;
    stage.strike("reads", "repository").await;
    stage.place.play(&push(1));
    stage.place.play(&review(&[again("b")]));
    let left = |stage: &Stage| forge(&stage.place.simulator);
    stage.endure(wanted.as_deref(), left).await;
    stage.end().await;
    let found = stage.settle(wanted.as_deref(), left, |_| Vec::new()).await;
    if wanted.is_none() {
        assert!(found.iter().any(|it| it.starts_with("written: resolve")), "{found:#?}");
    }
    let tries = stage.told.tries.max(2);
    stage.told.tries = tries;
    stage.told.expect(tries <= 10, || format!("it asked {tries} times"));
    stage.stop().await;
    (found, stage.told)
}
