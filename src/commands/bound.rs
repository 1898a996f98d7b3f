//! `cloture bound`: the worst case that the configuration allows (T8), for people and for scripts.

use crate::app::invocation::Invocation;
use crate::commands::{Outcome, Report, report};
use crate::config::Config;
use crate::domain::bounds::{Bounds, CallPrice, bounds};
use std::fmt;

/// The worst case, with the settings that it follows from.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundReport {
    bounds: Bounds,
    repeat_limit: u32,
    flip_limit: u32,
    max_review_iterations: u32,
    cycle_retries: u32,
    max_findings_per_answer: u32,
}

pub fn run(invocation: &Invocation, json: bool) -> anyhow::Result<Outcome> {
    report::print(&worst_case(&invocation.load_config()?.config), json)
}

fn worst_case(config: &Config) -> BoundReport {
    let price = |per_call: Option<f64>| per_call.map(|per_call| CallPrice { per_call });
    let reviewers: Vec<_> = config.reviewers.iter().map(|reviewer| price(reviewer.price_per_call)).collect();
    let policy = &config.policy;
    BoundReport {
        bounds: bounds(policy, &config.handoff, &reviewers, price(config.author.price_per_call)),
        repeat_limit: policy.repeat_limit,
        flip_limit: policy.flip_limit,
        max_review_iterations: policy.max_review_iterations,
        cycle_retries: policy.cycle_retries,
        max_findings_per_answer: policy.max_findings_per_answer,
    }
}

impl Report for BoundReport {
    fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(&self.bounds)
    }
}

impl fmt::Display for BoundReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bounds, repeat_limit, flip_limit, max_review_iterations, cycle_retries, .. } = self;
        let reviewers = match bounds.reviewers {
            1 => "1 reviewer".to_owned(),
            several => format!("{several} reviewers"),
        };
        let retries = match cycle_retries {
            1 => "1 retry".to_owned(),
            several => format!("{several} retries"),
        };
        writeln!(f, "Upper limits, whatever the reviewers, the author and the clock do:")?;
        writeln!(f)?;
        writeln!(
            f,
            "  cycles per thread        {:>8}   repeat_limit {repeat_limit} × (flip_limit {flip_limit} + 1) \
             + 1",
            bounds.cycles_per_thread
        )?;
        writeln!(
            f,
            "  reviewer calls per PR    {:>8}   {reviewers} × {max_review_iterations} cycles × \
             ({retries} + 1)",
            bounds.reviewer_calls_per_pr
        )?;
        writeln!(
            f,
            "  asks per observed bot    {:>8}   max_asks, on one PR",
            bounds.asks_per_observed_reviewer
        )?;
        writeln!(f, "  author rounds per PR     {:>8}   max_rounds", bounds.author_rounds_per_pr)?;
        writeln!(
            f,
            "  handoff tasks per PR     {:>8}   {reviewers}, each finding its own task: \
             {} findings per cycle",
            bounds.handoff_tasks_per_pr, self.max_findings_per_answer
        )?;
        writeln!(
            f,
            "  automatic handoff chain  {:>8}   {}",
            bounds.automatic_chain_depth,
            if bounds.automatic_chain_depth == 0 {
                "handoff.mode is off"
            } else {
                "a bot's PR hands nothing off automatically"
            }
        )?;
        match bounds.money_per_pr {
            Some(money) => writeln!(f, "  money per PR             {money:>8.2}   at the configured prices")?,
            None => {
                writeln!(f, "  money per PR              unknown   set price_per_call for every reviewer")?;
            }
        }
        writeln!(f)?;
        write!(
            f,
            "People can go beyond these limits. A thread that a person returns starts again, a round that a \
             person grants\nis one more, and a pull request that an owner, member or collaborator reopens counts \
             from zero."
        )
    }
}
