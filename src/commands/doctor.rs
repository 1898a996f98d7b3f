//! `cloture doctor`: whether everything that Cloture needs is there; each line a pass, or what to do about it.

mod equipment;

use crate::app::connection::{ConnectionSettings, ForgeConnection};
use crate::app::selection;
use crate::commands::status::{StatusOptions, StatusReport};
use crate::config::LoadedConfig;
use crate::domain::snapshot::RepositoryName;
use crate::domain::vocabulary::ReviewerName;
use crate::failure::{Failure, FailureKind};
use crate::github::permission::{self, Access, Permission};
use crate::github::{Error, Host, PullRequestAddress, Reader, TokenSource};
use crate::output::sanitize;
use crate::reviewers::profiles::Profiles;
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Until here two clocks are as good as one: an answer is on its way for a while.
const CLOCKS_APART: SignedDuration = SignedDuration::from_mins(2);

/// What was found, in the order in which it was looked at.
#[derive(Debug, Default)]
pub struct DoctorReport {
    findings: Vec<DoctorCheck>,
}

#[derive(Debug)]
struct DoctorCheck {
    /// None where it passed.
    trouble: Option<FailureKind>,
    text: String,
}

impl DoctorReport {
    /// The kind of trouble to report, and in how many lines; none where everything passed.
    pub fn trouble(&self) -> Option<Failure> {
        let troubles = self.findings.iter().filter_map(|finding| finding.trouble);
        let kind = troubles.clone().min()?;
        let sentence = match troubles.count() {
            1 => "one thing needs fixing".to_owned(),
            several => format!("{several} things need fixing"),
        };
        Some(Failure::new(kind, sentence))
    }

    fn pass(&mut self, text: impl fmt::Display) {
        self.findings.push(DoctorCheck { trouble: None, text: text.to_string() });
    }

    fn fail(&mut self, kind: FailureKind, what: impl fmt::Display, fix: &str) {
        self.findings.push(DoctorCheck { trouble: Some(kind), text: format!("{what} — {fix}") });
    }

    /// The sentences of failures already say what to do.
    fn failed(&mut self, what: &str, failure: &Failure) {
        self.findings.push(DoctorCheck { trouble: Some(failure.kind), text: format!("{what}: {failure}") });
    }
}

impl fmt::Display for DoctorReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, DoctorCheck { trouble, text }) in self.findings.iter().enumerate() {
            let mark = if trouble.is_none() { "✓" } else { "✗" };
            let break_before = if index == 0 { "" } else { "\n" };
            write!(f, "{break_before}{mark} {}", sanitize::line(text))?;
        }
        Ok(())
    }
}

/// Looks at everything in turn. What cannot be looked at because something before it failed is left out.
pub async fn examine(
    arguments: &[String],
    settings: &ConnectionSettings<'_>,
    loaded: &LoadedConfig,
    state_folder: Option<&Path>,
    profiles: &Profiles,
    now: Timestamp,
) -> Result<DoctorReport, Failure> {
    let host = settings.host()?;
    let named = selection::named(arguments, &host)?;
    let mut examination = DoctorReport::default();
    examination.places(loaded, state_folder);
    examination.journal(settings, state_folder, now).await;
    examination.programs(settings);
    examination.targets(settings);
    examination.pass(format_args!("GitHub: {host}, its API at {}", host.rest()));
    let forge = match settings.connect(host.clone()).await {
        Ok(forge) => forge,
        Err(failure) => {
            examination.failed("token", &failure);
            return Ok(examination);
        }
    };
    examination.pass(format_args!("token: found {}", found_where(&forge.token)));
    if examination.identity(&forge, &host, now).await {
        examination.forge(named, settings, forge, profiles, now).await;
    }
    Ok(examination)
}

impl DoctorReport {
    fn places(&mut self, loaded: &LoadedConfig, state_folder: Option<&Path>) {
        match &loaded.source {
            Some(file) => self.pass(format_args!("configuration: {}", file.display())),
            None => self.pass("configuration: no file, so the defaults are in force"),
        }
        match state_folder {
            Some(folder) => {
                self.pass(format_args!("state: {}", folder.display()));
            }
            None => self.fail(FailureKind::Unfit, "state: no home folder is known", "set HOME"),
        }
    }

    /// Whether the token speaks for somebody; without that, nothing that follows could be told apart.
    async fn identity(&mut self, forge: &ForgeConnection, host: &Host, now: Timestamp) -> bool {
        match Reader::new(&forge.client).viewer().await {
            Ok((account, date)) => {
                self.pass(format_args!("identity: {} on {host}", account.login));
                self.clock(host, now, date);
                true
            }
            // A token of an app's installation may not ask, and works all the same.
            Err(Error::Denied { .. } | Error::Refused { .. }) => {
                self.pass("identity: this kind of token may not ask whose it is");
                true
            }
            Err(error) => {
                self.failed("identity", &Failure::from(error));
                false
            }
        }
    }

    /// A person's decision and what a bot says after it are put in order by two clocks.
    fn clock(&mut self, host: &Host, ours: Timestamp, theirs: Option<Timestamp>) {
        // The simulator's time is its scenario's.
        let Some(theirs) = theirs.filter(|_| !host.is_loopback()) else { return };
        let ahead = ours.duration_since(theirs);
        if ahead.abs() <= CLOCKS_APART {
            return self.pass(format_args!("clock: as that of {host}"));
        }
        let (minutes, way) = (ahead.abs().as_mins(), if ahead.is_positive() { "ahead of" } else { "behind" });
        self.fail(
            FailureKind::Unfit,
            format_args!("clock: {minutes} minutes {way} that of {host}, so that decisions and posts fall into a wrong order"),
            "set this machine's clock, or have it set by the network",
        );
    }

    /// The repositories and pull requests that are named or configured.
    async fn forge(
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
        let look = StatusOptions { config: settings.config, profiles, journal: None, now, times: 2 };
        let status = look.at(&selection, &reader).await;
        self.reviewers(&status);
        self.budget(&status);
    }

    fn access(&mut self, repository: &RepositoryName, access: &Access) {
        let Access { permission, archived, .. } = access;
        if *archived {
            return self.fail(
                FailureKind::Unfit,
                format_args!("{repository}: it is archived, so it can be watched but not driven"),
                "unarchive it, or leave it out of the rules",
            );
        }
        let name = permission.name();
        if *permission >= Permission::Write {
            return self.pass(format_args!("{repository}: permission {name}, enough to watch and to drive"));
        }
        self.fail(
            FailureKind::Unfit,
            format_args!(
                "{repository}: permission {name}, enough to watch; resolving threads, labels and merging need write"
            ),
            "ask an administrator for the write role, or only watch",
        );
    }

    fn reviewers(&mut self, status: &StatusReport) {
        for failure in &status.failures {
            self.failed("reading", failure);
        }
        for pull_request in &status.pull_requests {
            let standing = &pull_request.standing;
            let names: Vec<_> = standing.recognised.iter().map(ReviewerName::as_str).collect();
            let snapshot = &standing.snapshot;
            let whom = if names.is_empty() { "none yet".to_owned() } else { names.join(", ") };
            self.pass(format_args!(
                "{}#{}: reviewers recognised: {whom}",
                snapshot.repository, snapshot.number
            ));
        }
    }

    fn budget(&mut self, status: &StatusReport) {
        let budget = &status.budget;
        let Some((left, reset_at)) = budget.left else {
            return self.pass("budget: GitHub did not say how many points are left");
        };
        let sentence = format!(
            "budget: {} points spent now, {left} left until {reset_at:.0}, {} an hour at one poll every {} s",
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

/// Where the token was found, and never the token.
fn found_where(source: &TokenSource) -> String {
    match source {
        TokenSource::Environment(variable) => format!("in the variable {variable}"),
        TokenSource::GhCli => "by `gh auth token`".to_owned(),
        TokenSource::File(path) => format!("in the file {}", path.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_far_off_is_told_with_which_way_and_what_to_do() {
        let host = Host::github_com();
        let now: Timestamp = "2026-03-02T10:00:00Z".parse().unwrap();
        let said = |seconds: i64| {
            let mut examination = DoctorReport::default();
            examination.clock(&host, now, Some(now - SignedDuration::from_secs(seconds)));
            (examination.trouble().is_some(), examination.to_string())
        };
        for near in [-120, 0, 120] {
            assert!(!said(near).0, "{near}");
        }
        let (bad, ahead) = said(3 * 3600);
        assert!(bad && ahead.contains("180 minutes ahead of that of github.com"), "{ahead}");
        let (bad, behind) = said(-121);
        assert!(
            bad && behind.contains("2 minutes behind") && behind.contains("set this machine's clock"),
            "{behind}"
        );
    }
}
