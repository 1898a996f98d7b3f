//! Checking `[handoff]`: a route to nowhere, or to a name that two targets have, would lose findings
//! silently.

use super::check::{Checks, Problem};
use super::value::quoted;
use super::{Value, typed};
use crate::domain::handoff::{DEFAULT_TARGET, HandoffRules, Mode, Route, Target};
use crate::domain::vocabulary::{Category, Severity};
use glob::Pattern;

const MODES: [(&str, Mode); 3] =
    [("off", Mode::Off), ("threshold_auto", Mode::ThresholdAuto), ("full_auto", Mode::FullAuto)];

impl typed::Handoff {
    /// The rules with their defaults filled in, or everything that is wrong with them.
    pub fn validated(&self) -> Result<HandoffRules, Vec<Problem>> {
        let typed::Handoff { mode, auto_threshold, auto_categories, targets, routes } = self;
        let default = HandoffRules::default();
        let mut checks = Checks::of("handoff");
        let mode = checks.choice("mode", mode.as_ref(), &MODES).unwrap_or(default.mode);
        let auto_threshold = checks
            .choice("auto_threshold", auto_threshold.as_ref(), &severities())
            .unwrap_or(default.auto_threshold);
        let auto_categories = categories(&mut checks, "auto_categories", auto_categories.as_ref());
        let targets = checked_targets(&mut checks, targets.as_deref().unwrap_or_default());
        let routes = checked_routes(&mut checks, routes.as_deref().unwrap_or_default(), &targets);
        checks.finish(HandoffRules { mode, auto_threshold, auto_categories, targets, routes })
    }
}

fn checked_targets(checks: &mut Checks, typed: &[typed::Target]) -> Vec<Target> {
    let mut targets: Vec<Target> = Vec::new();
    for (index, typed::Target { name, coalesce }) in typed.iter().enumerate() {
        let table = format!("targets[{index}]");
        let coalesce = checks.flag(&format!("{table}.coalesce"), coalesce.as_ref()).unwrap_or(true);
        let Some(name) = checks.required_name(&table, "name", name.as_ref(), "a name for the target") else {
            continue;
        };
        if targets.iter().any(|other| other.name.as_str() == name) {
            checks.refuse(&format!("{table}.name"), "a name that no other target has", quoted(&name));
        } else {
            targets.push(Target { name: name.into(), coalesce });
        }
    }
    targets
}

fn checked_routes(checks: &mut Checks, typed: &[typed::Route], targets: &[Target]) -> Vec<Route> {
    let mut routes = Vec::new();
    for (index, route) in typed.iter().enumerate() {
        let typed::Route { target, min_severity, categories: only, paths } = route;
        let table = format!("routes[{index}]");
        let target = checks.required_name(&table, "target", target.as_ref(), "the name of a target");
        let min_severity =
            checks.choice(&format!("{table}.min_severity"), min_severity.as_ref(), &severities());
        let categories = categories(checks, &format!("{table}.categories"), only.as_ref());
        let paths = patterns(checks, &format!("{table}.paths"), paths.as_ref());
        let Some(target) = target else { continue };
        if target != DEFAULT_TARGET && !targets.iter().any(|known| known.name.as_str() == target) {
            checks.refuse(&format!("{table}.target"), declared(targets), quoted(&target));
        }
        routes.push(Route { target: target.into(), min_severity, categories, paths });
    }
    routes
}

/// What a route may name, with the names there are: the mistake is most often in one of the two places.
fn declared(targets: &[Target]) -> String {
    let names = targets.iter().map(|target| target.name.as_str()).filter(|name| *name != DEFAULT_TARGET);
    let names: Vec<String> = names.chain([DEFAULT_TARGET]).map(quoted).collect();
    match names.as_slice() {
        [only] => format!("a target that [[handoff.targets]] declares (there is none), or {only}"),
        names => format!("a target that [[handoff.targets]] declares, one of {}", names.join(", ")),
    }
}

fn categories(checks: &mut Checks, key: &str, typed: Option<&Value>) -> Vec<Category> {
    let known = Category::ALL.map(|category| (category.name(), category));
    checks.list(key, typed, "a list of categories", |checks, key, value| {
        checks.choice(key, Some(value), &known)
    })
}

fn patterns(checks: &mut Checks, key: &str, typed: Option<&Value>) -> Vec<Pattern> {
    checks.list(key, typed, "a list of path patterns", |checks, key, value| {
        let Value::Text(text) = value else {
            checks.refuse(key, "a path pattern such as \"src/**/*.rs\"", value.to_string());
            return None;
        };
        let pattern = Pattern::new(text);
        if let Err(error) = &pattern {
            let (at, why) = (error.pos + 1, error.msg);
            checks.refuse(key, "a path pattern", format!("{}, wrong at character {at}: {why}", quoted(text)));
        }
        pattern.ok()
    })
}

pub(super) fn severities() -> [(&'static str, Severity); 5] {
    Severity::ALL.map(|severity| (severity.name(), severity))
}
