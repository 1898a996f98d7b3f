//! Checks `[handoff]`. A route to an unknown target, or to a name that two targets have, would lose findings.

use super::check::{Checks, Problem};
use super::targets::checked_kind;
use super::unknown_keys::nearest;
use super::value::quoted;
use super::{TargetKinds, TypedValue, typed};
use crate::domain::handoff::{DEFAULT_TARGET, HandoffMode, HandoffRoute, HandoffRules, HandoffTarget};
use crate::domain::vocabulary::{Category, Severity, TargetName};
use glob::Pattern;

const MODES: [(&str, HandoffMode); 3] = [
    ("off", HandoffMode::Off),
    ("threshold_auto", HandoffMode::ThresholdAuto),
    ("full_auto", HandoffMode::FullAuto),
];

impl typed::TypedHandoff {
    /// The rules with their defaults, or all problems.
    pub fn validated(&self) -> Result<HandoffRules, Vec<Problem>> {
        self.validated_with_targets().map(|(rules, _)| rules)
    }

    /// The rules, and how to send tasks to the targets.
    pub(super) fn validated_with_targets(&self) -> Result<(HandoffRules, TargetKinds), Vec<Problem>> {
        let typed::TypedHandoff { mode, auto_threshold, auto_categories, targets, routes } = self;
        let default = HandoffRules::default();
        let mut checks = Checks::of("handoff");
        let mode = checks.choice("mode", mode.as_ref(), &MODES).unwrap_or(default.mode);
        let auto_threshold = checks
            .choice("auto_threshold", auto_threshold.as_ref(), &severities())
            .unwrap_or(default.auto_threshold);
        let auto_categories = categories(&mut checks, "auto_categories", auto_categories.as_ref());
        let (targets, kinds) = checked_targets(&mut checks, targets.as_deref().unwrap_or_default());
        let routes = checked_routes(&mut checks, routes.as_deref().unwrap_or_default(), &targets);
        checks.finish((HandoffRules { mode, auto_threshold, auto_categories, targets, routes }, kinds))
    }
}

fn checked_targets(checks: &mut Checks, typed: &[typed::TypedTarget]) -> (Vec<HandoffTarget>, TargetKinds) {
    let mut targets: Vec<HandoffTarget> = Vec::new();
    let mut kinds = TargetKinds::new();
    for (index, target) in typed.iter().enumerate() {
        // `checked_kind` reads the other keys.
        let typed::TypedTarget { name, coalesce, .. } = target;
        let table = format!("targets[{index}]");
        let kind = checked_kind(checks, &table, target);
        let coalesce = checks.flag(&format!("{table}.coalesce"), coalesce.as_ref()).unwrap_or(true);
        let Some(name) = checks.required_name(&table, "name", name.as_ref(), "a name for the target") else {
            continue;
        };
        if targets.iter().any(|other| other.name.as_str() == name) {
            checks.refuse(&format!("{table}.name"), "a name that no other target has", quoted(&name));
        } else {
            let name = TargetName::from(name);
            kinds.extend(kind.map(|kind| (name.clone(), kind)));
            targets.push(HandoffTarget { name, coalesce });
        }
    }
    (targets, kinds)
}

fn checked_routes(
    checks: &mut Checks,
    typed: &[typed::TypedRoute],
    targets: &[HandoffTarget],
) -> Vec<HandoffRoute> {
    let mut routes = Vec::new();
    for (index, route) in typed.iter().enumerate() {
        let typed::TypedRoute { target, min_severity, categories: only, paths } = route;
        let table = format!("routes[{index}]");
        let target = checks.required_name(&table, "target", target.as_ref(), "the name of a target");
        let min_severity =
            checks.choice(&format!("{table}.min_severity"), min_severity.as_ref(), &severities());
        let categories = categories(checks, &format!("{table}.categories"), only.as_ref());
        let paths = patterns(checks, &format!("{table}.paths"), paths.as_ref());
        let Some(target) = target else { continue };
        if target != DEFAULT_TARGET && !targets.iter().any(|known| known.name.as_str() == target) {
            checks.refuse(&format!("{table}.target"), declared(targets, &target), quoted(&target));
        }
        routes.push(HandoffRoute { target: target.into(), min_severity, categories, paths });
    }
    routes
}

/// The targets that a route may name, or the one that the user probably meant.
fn declared(targets: &[HandoffTarget], unknown: &str) -> String {
    let names = || targets.iter().map(|target| target.name.as_str()).chain([DEFAULT_TARGET]);
    if let Some(likely) = nearest(unknown, names()) {
        return format!("a target that [[handoff.targets]] declares (did you mean {}?)", quoted(likely));
    }
    let names = targets.iter().map(|target| target.name.as_str()).filter(|name| *name != DEFAULT_TARGET);
    let names: Vec<String> = names.chain([DEFAULT_TARGET]).map(quoted).collect();
    match names.as_slice() {
        [only] => format!("a target that [[handoff.targets]] declares (there is none), or {only}"),
        names => format!("a target that [[handoff.targets]] declares, one of {}", names.join(", ")),
    }
}

fn categories(checks: &mut Checks, key: &str, typed: Option<&TypedValue>) -> Vec<Category> {
    let known = Category::ALL.map(|category| (category.name(), category));
    checks.list(key, typed, "a list of categories", |checks, key, value| {
        checks.choice(key, Some(value), &known)
    })
}

fn patterns(checks: &mut Checks, key: &str, typed: Option<&TypedValue>) -> Vec<Pattern> {
    checks.list(key, typed, "a list of path patterns", |checks, key, value| {
        let TypedValue::Text(text) = value else {
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
