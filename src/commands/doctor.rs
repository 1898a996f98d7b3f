//! `cloture doctor`: checks everything that Cloture needs. Each line is a pass, or a problem and what to do
//! about it. The last lines say how to report a bug.

mod equipment;

use crate::app::connection::{ConnectionSettings, ForgeConnection, found_where};
use crate::app::diagnostics::FILTER_VARIABLE;
use crate::app::invocation::Invocation;
use crate::app::selection;
use crate::commands::Outcome;
use crate::commands::status::{StatusOptions, StatusReport};
use crate::config::LoadedConfig;
use crate::domain::snapshot::RepositoryName;
use crate::domain::vocabulary::ReviewerName;
use crate::failure::{Failure, FailureKind};
use crate::github::permission::{self, Access, Permission};
use crate::github::{Error, Host, PullRequestAddress, Reader};
use crate::output::sanitize;
use crate::output::standard::standard_output;
use crate::reviewers::profiles::Profiles;
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeSet;
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How far the clocks may differ. An answer is on its way for a while, so they never agree exactly.
const CLOCK_TOLERANCE: SignedDuration = SignedDuration::from_mins(2);

/// The checks, in the order in which they ran.
#[derive(Debug, Default)]
pub struct DoctorReport {
    checks: Vec<DoctorCheck>,
    /// The log of this run, if it writes one.
    log_file: Option<PathBuf>,
}

#[derive(Debug)]
struct DoctorCheck {
    /// None if the check passed.
    problem: Option<FailureKind>,
    text: String,
}

pub fn run(invocation: &Invocation, pull_requests: &[String]) -> anyhow::Result<Outcome> {
    let mut report = invocation.with_context(async |context| {
        let (settings, state_folder) = (&context.settings, context.state_folder.as_deref());
        examine(pull_requests, settings, context.loaded, state_folder, &context.profiles, context.now).await
    })?;
    report.log_file = invocation.log_file();
    writeln!(standard_output(), "{report}")?;
    Ok(Outcome::of(report.failure().into_iter().collect()))
}

impl DoctorReport {
    /// The worst problem's kind and the number of problems, or none if every check passed.
    fn failure(&self) -> Option<Failure> {
        let problems = self.checks.iter().filter_map(|check| check.problem);
        let kind = problems.clone().min()?;
        let sentence = match problems.count() {
            1 => "one thing needs fixing".to_owned(),
            several => format!("{several} things need fixing"),
        };
        Some(Failure::new(kind, sentence))
    }

    fn pass(&mut self, text: impl fmt::Display) {
        self.checks.push(DoctorCheck { problem: None, text: text.to_string() });
    }

    fn fail(&mut self, kind: FailureKind, what: impl fmt::Display, fix: &str) {
        self.checks.push(DoctorCheck { problem: Some(kind), text: format!("{what} — {fix}") });
    }

    /// For a failure whose sentence already says what to do.
    fn failed(&mut self, what: &str, failure: &Failure) {
        self.checks.push(DoctorCheck { problem: Some(failure.kind), text: format!("{what}: {failure}") });
    }
}

impl fmt::Display for DoctorReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for DoctorCheck { problem, text } in &self.checks {
            let mark = if problem.is_none() { "✓" } else { "✗" };
            writeln!(f, "{mark} {}", sanitize::line(text))?;
        }
        writeln!(f)?;
        if let Some(file) = &self.log_file {
            writeln!(f, "This run is logged in {}.", sanitize::line(&file.display().to_string()))?;
        }
        write!(
            f,
            "To report a bug, run the failing command again with {FILTER_VARIABLE}=debug and --log FILE. \
             Attach FILE and\nthis output to the report."
        )
    }
}

/// Runs the checks in turn. A check that needs an earlier one to pass is left out if that one failed.
async fn examine(
    arguments: &[String],
    settings: &ConnectionSettings<'_>,
    loaded: &LoadedConfig,
    state_folder: Option<&Path>,
    profiles: &Profiles,
    now: Timestamp,
) -> Result<DoctorReport, Failure> {
    let host = settings.host()?;
    let named = selection::parse_addresses(arguments, &host)?;
    let mut report = DoctorReport::default();
    report.folders(loaded, state_folder);
    report.journal(settings, state_folder, now).await;
    report.programs(settings);
    report.targets(settings);
    report.pass(format_args!("GitHub: {host}, API at {}", host.rest()));
    let forge = match settings.connect(host.clone()).await {
        Ok(forge) => forge,
        Err(failure) => {
            report.failed("token", &failure);
            return Ok(report);
        }
    };
    report.pass(format_args!("token: found {}", found_where(&forge.token)));
    if report.identity(&forge, &host, now).await {
        report.pull_requests(named, settings, forge, profiles, now).await;
    }
    Ok(report)
}

impl DoctorReport {
    fn folders(&mut self, loaded: &LoadedConfig, state_folder: Option<&Path>) {
        match &loaded.source {
            Some(file) => self.pass(format_args!("configuration: {}", file.display())),
            None => self.pass("configuration: no file, so the defaults apply"),
        }
        match state_folder {
            Some(folder) => {
                self.pass(format_args!("state folder: {}", folder.display()));
            }
            None => self.fail(
                FailureKind::Unfit,
                "state folder: the home folder is unknown",
                "set HOME, or pass --state-dir DIR",
            ),
        }
    }

    /// Whether GitHub accepts the token. Without that, every later check would fail for the same reason.
    async fn identity(&mut self, forge: &ForgeConnection, host: &Host, now: Timestamp) -> bool {
        match Reader::new(&forge.client).viewer().await {
            Ok((account, date)) => {
                self.pass(format_args!("identity: {} on {host}", account.login));
                self.clock(host, now, date);
                true
            }
            // The token of an app's installation may not ask this, and works all the same.
            Err(Error::Denied { .. } | Error::Refused { .. }) => {
                self.pass("identity: unknown, because this kind of token may not ask GitHub for it");
                true
            }
            Err(error) => {
                self.failed("identity", &Failure::from(error));
                false
            }
        }
    }

    /// Decisions carry this machine's time and posts carry GitHub's, so the clocks must agree to put them in
    /// order.
    fn clock(&mut self, host: &Host, ours: Timestamp, theirs: Option<Timestamp>) {
        // The simulator runs on its scenario's time.
        let Some(theirs) = theirs.filter(|_| !host.is_loopback()) else { return };
        let ahead = ours.duration_since(theirs);
        if ahead.abs() <= CLOCK_TOLERANCE {
            return self.pass(format_args!("clock: agrees with {host}"));
        }
        let minutes = ahead.abs().as_mins();
        let direction = if ahead.is_positive() { "ahead of" } else { "behind" };
        self.fail(
            FailureKind::Unfit,
            format_args!(
                "clock: {minutes} minutes {direction} {host}, so decisions and posts get into the wrong order"
            ),
            "set this machine's clock, or let the network set it",
        );
    }

    /// Checks the named or configured repositories and pull requests.
    async fn pull_requests(
        &mut self,
        named: Vec<PullRequestAddress>,
        settings: &ConnectionSettings<'_>,
        forge: ForgeConnection,
        profiles: &Profiles,
        now: Timestamp,
    ) {
        let mut repositories: BTreeSet<RepositoryName> =
            named.iter().map(|address| address.repository.clone()).collect();
        if repositories.is_empty() {
            let rules = settings.config.watch.iter();
            repositories.extend(rules.flat_map(|rule| rule.repositories.iter().cloned()));
        }
        let selection = match selection::select(named, settings, &forge.client).await {
            Ok(selection) => selection,
            Err(failure) => {
                self.failed("pull requests", &failure);
                selection::Selection::default()
            }
        };
        repositories.extend(selection.pull_requests.iter().map(|found| found.address.repository.clone()));
        for repository in &repositories {
            match permission::ask(&forge.client, repository).await {
                Ok(access) => self.access(repository, &access),
                Err(error) => self.failed(&repository.to_string(), &Failure::from(error)),
            }
        }
        if selection.pull_requests.is_empty() {
            return;
        }
        let reader = Arc::new(Reader::new(forge.client));
        let options = StatusOptions { config: settings.config, profiles, journal: None, now, polls: 2 };
        let status = options.poll(&selection, &reader).await;
        self.reviewers(&status);
        self.budget(&status);
    }

    fn access(&mut self, repository: &RepositoryName, access: &Access) {
        let Access { permission, archived, .. } = access;
        if *archived {
            return self.fail(
                FailureKind::Unfit,
                format_args!("{repository}: archived, so Cloture can watch it but not drive it"),
                "unarchive it, or take it out of the [[watch]] rules",
            );
        }
        let name = permission.name();
        if *permission >= Permission::Write {
            return self.pass(format_args!("{repository}: permission {name}, enough to watch and to drive"));
        }
        self.fail(
            FailureKind::Unfit,
            format_args!(
                "{repository}: permission {name}, enough to watch; to resolve threads, label and merge, you \
                 need write"
            ),
            "ask an administrator for the write role, or only watch",
        );
    }

    fn reviewers(&mut self, status: &StatusReport) {
        for failure in &status.failures {
            self.failed("poll", failure);
        }
        for pull_request in &status.pull_requests {
            let computed = &pull_request.computed;
            let names: Vec<_> = computed.recognised.iter().map(ReviewerName::as_str).collect();
            let snapshot = &computed.snapshot;
            let names = if names.is_empty() { "none yet".to_owned() } else { names.join(", ") };
            self.pass(format_args!(
                "{}#{}: reviewers recognised: {names}",
                snapshot.repository, snapshot.number
            ));
            for post in computed.unreadable() {
                let text = format!("{}#{}: {post}: {:?}", snapshot.repository, snapshot.number, post.start);
                self.fail(FailureKind::Unfit, text, &profile_advice(&post.reviewer));
            }
        }
    }

    fn budget(&mut self, status: &StatusReport) {
        let budget = &status.budget;
        let Some((left, reset_at)) = budget.left else {
            return self.pass("API budget: GitHub did not say how many points are left");
        };
        let sentence = format!(
            "API budget: {} points spent now, {left} left until {reset_at:.0}, {} an hour at one poll \
             every {} s",
            status.spent.points,
            budget.per_hour,
            budget.interval.as_secs()
        );
        match &budget.stretched {
            None => self.pass(sentence),
            Some(stretched) => self.fail(
                FailureKind::Unfit,
                format_args!("{sentence}. {}", stretched.trim_end_matches('.')),
                "watch fewer pull requests, or raise policy.poll_interval",
            ),
        }
    }
}

/// How to make the posts of a reviewer readable.
fn profile_advice(reviewer: &ReviewerName) -> String {
    format!(
        "read the post yourself; then add to the configuration [[profiles]] name = \"{reviewer}\" with the \
         key that fits: clean, verdict, count, running, failure or noise, such as clean = [{{ at = \"line\", \
         pattern = '^No issues found' }}], and try it with cloture classify"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_far_off_fails_with_the_direction_and_the_fix() {
        let host = Host::github_com();
        let now: Timestamp = "2026-03-02T10:00:00Z".parse().unwrap();
        let check = |seconds: i64| {
            let mut report = DoctorReport::default();
            report.clock(&host, now, Some(now - SignedDuration::from_secs(seconds)));
            (report.failure().is_some(), report.to_string())
        };
        for near in [-120, 0, 120] {
            assert!(!check(near).0, "{near}");
        }
        let (bad, ahead) = check(3 * 3600);
        assert!(bad && ahead.contains("180 minutes ahead of github.com"), "{ahead}");
        let (bad, behind) = check(-121);
        assert!(
            bad && behind.contains("2 minutes behind") && behind.contains("set this machine's clock"),
            "{behind}"
        );
    }
}
