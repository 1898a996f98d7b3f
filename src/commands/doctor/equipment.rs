//! The checks of this machine: the journal, and the programs that Cloture runs.

use super::DoctorReport;
use crate::agents::targets::kind_of;
use crate::app::connection::ConnectionSettings;
use crate::config::TargetKind;
use crate::domain::vocabulary::TargetName;
use crate::failure::{Failure, FailureKind};
use crate::journal::{Journal, JournalError, JournalOptions, Record, RecordFilter, RecordOrder};
use crate::reviewers::adapters::{Adapter, Program};
use crate::supervisor::fact::Fact;
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Unreadable posts that the report lists.
const MOST_UNREADABLE: usize = 10;

impl DoctorReport {
    /// Checks that the journal can be read and written. This makes none.
    pub(super) async fn journal(
        &mut self,
        settings: &ConnectionSettings<'_>,
        state_folder: Option<&Path>,
        now: Timestamp,
    ) {
        // Without a home folder, the line about the state folder says what to do.
        let Some(address) = settings.config.journal_address(state_folder.map(Path::to_path_buf)) else {
            return;
        };
        if address.path().is_some_and(|path| !path.exists()) {
            return self.pass(format_args!(
                "journal: {address}, which does not exist yet; Cloture makes it when it needs it"
            ));
        }
        let check = async {
            let journal = Journal::open(&address, JournalOptions::new(now)).await?.journal;
            let newest =
                RecordFilter { limit: Some(1), order: RecordOrder::NewestFirst, ..RecordFilter::default() };
            let records = journal.records(newest).await?.first().map_or(0, |record| record.seq);
            let unreadable = RecordFilter {
                kind: Some("unreadable_post".to_owned()),
                limit: Some(MOST_UNREADABLE),
                order: RecordOrder::NewestFirst,
                ..RecordFilter::default()
            };
            let unreadable = journal.records(unreadable).await?;
            journal.check_writable().await?;
            journal.close().await?;
            Ok::<_, JournalError>((records, unreadable))
        };
        match check.await {
            Ok((records, unreadable)) => {
                let version = Journal::VERSION;
                let records = if records == 1 { "1 record".to_owned() } else { format!("{records} records") };
                self.pass(format_args!(
                    "journal: {address}, version {version}, {records}, readable and writable"
                ));
                self.unreadable_posts(&unreadable);
            }
            Err(error) => self.failed("journal", &Failure::from(error)),
        }
    }

    /// Lists the posts that Cloture could not read, the newest first. They may be settled by now, so they
    /// are no problems of this machine.
    fn unreadable_posts(&mut self, records: &[Record]) {
        for fact in records.iter().filter_map(Fact::read) {
            if let Fact::UnreadablePost { reviewer, url, reason, start, .. } = fact.fact {
                self.pass(format_args!(
                    "unreadable post of {reviewer} on {:.0}: {reason} ({url}): {start:?}",
                    fact.at
                ));
            }
        }
    }

    /// Checks that the programs of driven reviewers and of the author exist.
    pub(super) fn programs(&mut self, settings: &ConnectionSettings<'_>) {
        for reviewer in &settings.config.reviewers {
            let what = format!("reviewer {}", reviewer.name);
            match &reviewer.adapter {
                Some(Adapter::Program(program)) => self.program(&what, program, settings),
                Some(Adapter::Claude(agent) | Adapter::Codex(agent)) => {
                    self.program(&what, &agent.program, settings);
                }
                Some(Adapter::OpenAi(endpoint)) => {
                    self.pass(format_args!("{what}: asked at {}", endpoint.base_url));
                }
                None => {}
            }
        }
        if let Some(agent) = &settings.config.author.agent {
            self.program("author", &agent.program, settings);
        }
    }

    /// Checks every target that a finding may go to.
    pub(super) fn targets(&mut self, settings: &ConnectionSettings<'_>) {
        let handoff = &settings.config.handoff;
        let declared = handoff.targets.iter().map(|target| &target.name);
        let routed = handoff.routes.iter().map(|route| &route.target);
        for name in declared.chain(routed).collect::<BTreeSet<&TargetName>>() {
            match kind_of(&settings.config.targets, name) {
                Ok(TargetKind::Command { program, .. }) => {
                    self.program(&format!("target {name}"), program, settings);
                }
                Ok(_) => self.pass(format_args!("target {name}: configured")),
                Err(error) => self.fail(
                    FailureKind::Unfit,
                    format_args!("target {name}: no `kind`"),
                    &error.to_string(),
                ),
            }
        }
    }

    fn program(&mut self, what: &str, program: &Program, settings: &ConnectionSettings<'_>) {
        let name = program.command.first().map_or("", String::as_str);
        let path = (settings.environment)("PATH").unwrap_or_default();
        match find(name, &path, settings.directory) {
            Some(found) => self.pass(format_args!("{what}: runs {}", found.display())),
            None => self.fail(
                FailureKind::Unfit,
                format_args!("{what}: cannot find the program `{name}`"),
                "install it, add its folder to PATH, or write its full path into the configuration",
            ),
        }
    }
}

/// The file that the name stands for, looked up as a shell does.
fn find(name: &str, path: &str, directory: &Path) -> Option<PathBuf> {
    if name.is_empty() {
        return None;
    }
    if name.contains('/') {
        return Some(directory.join(name)).filter(|file| is_program(file));
    }
    std::env::split_paths(path).map(|folder| folder.join(name)).find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    let Ok(about) = file.metadata() else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        about.is_file() && about.permissions().mode() & 0o111 != 0
    }
    #[cfg(not(unix))]
    about.is_file()
}
