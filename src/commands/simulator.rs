//! `cloture simulator`: a GitHub on a loopback port that plays a scenario until it is interrupted.

use crate::app::runtime;
use crate::commands::Outcome;
use crate::output::sanitize;
use crate::output::standard::standard_output;
use crate::simulator::{self, Scenario};
use std::io::Write;
use std::path::Path;
use tokio::sync::Notify;

pub fn run(port: u16, scenario: &str, speed: Option<f64>) -> anyhow::Result<Outcome> {
    let is_name = Scenario::built_in_names().any(|name| name == scenario);
    // A mistyped name gets an error that lists the names, not one about a missing file.
    let is_file = !is_name && (Path::new(scenario).exists() || scenario.contains(['/', '\\', '.']));
    let mut scenario =
        if is_file { Scenario::load(Path::new(scenario))? } else { Scenario::built_in(scenario)? };
    scenario.speed = speed.or(scenario.speed);
    let title = sanitize::line(&scenario.title).into_owned();
    let mut printed = Ok(());
    let unprinted = Notify::new();
    let ready = |url: &str| {
        printed = writeln!(
            standard_output(),
            "{title}\n\nThe simulated GitHub runs at {url} until you press Ctrl-C. In another terminal:\n\n  \
             GH_TOKEN=any cloture --api-url {url} status OWNER/REPO#N"
        );
        if printed.is_err() {
            unprinted.notify_one();
        }
    };
    let shutdown = async {
        tokio::select! {
            () = runtime::interrupted() => {}
            // Nobody could find a simulator whose address is not printed.
            () = unprinted.notified() => {}
        }
    };
    runtime::block_on(simulator::serve(port, &scenario, ready, shutdown))??;
    printed?;
    Ok(Outcome::SUCCESS)
}
