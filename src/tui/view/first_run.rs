//! The first-run page, and the text on the watch screen while there are no pull requests. Every state says
//! what happened, since when, and what to do; none is blank.

use super::paragraph;
use crate::failure::FailureKind;
use crate::supervisor::{SupervisorProblem, SupervisorProblemKind};
use crate::tui::action::Action;
use crate::tui::model::Model;
use crate::tui::rows::line;
use crate::tui::startup::{StartupStep, WatchScope};
use crate::tui::text::age;
use crate::tui::theme::TextMeaning;
use jiff::Timestamp;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// A problem that stops all loops.
pub(super) struct StartupBlocker {
    /// In one or two words.
    pub(super) what: &'static str,
    pub(super) why: String,
    pub(super) since: Timestamp,
    pub(super) until: Option<Timestamp>,
    /// What the person can do.
    pub(super) remedy: String,
}

/// The problem to solve first.
pub(super) fn startup_blocker(model: &Model) -> Option<StartupBlocker> {
    let again = model.keymap.key(Action::Poll);
    if let Some((why, since)) = model.startup.journal.failure() {
        return Some(StartupBlocker {
            what: "no journal",
            why: why.to_string(),
            since,
            until: None,
            remedy: format!("Cloture supervises nothing without it. {again} tries again."),
        });
    }
    if let Some((why, since)) = model.startup.token.failure() {
        return Some(StartupBlocker {
            what: "no token",
            why: why.to_string(),
            since,
            until: None,
            remedy: format!("{again} looks for it again. You see the state of the last run."),
        });
    }
    let board = &model.data.board;
    if let Some(problem) = board.trouble.as_ref().or(board.journal_trouble.as_ref()) {
        return Some(supervisor_blocker(problem, &again));
    }
    let (why, since) = model.startup.search.failure()?;
    if matches!(model.startup.scope, WatchScope::Nothing { .. }) {
        return None;
    }
    let (what, remedy) = match why.kind {
        FailureKind::NotAllowed => {
            ("not allowed", "`cloture doctor` says which permission the token lacks".to_owned())
        }
        FailureKind::OutOfReach => ("offline", "Cloture retries by itself".to_owned()),
        FailureKind::Limited => ("rate limited", "Cloture retries by itself".to_owned()),
        _ => ("not found", "`cloture doctor` says what is missing".to_owned()),
    };
    Some(StartupBlocker {
        what,
        why: format!("the search for open pull requests failed: {why}"),
        since,
        until: None,
        remedy: format!("{again} searches again; {remedy}."),
    })
}

fn supervisor_blocker(problem: &SupervisorProblem, again: &str) -> StartupBlocker {
    let SupervisorProblem { kind, why, since, until } = problem;
    let (what, remedy) = match kind {
        SupervisorProblemKind::OutOfReach => {
            ("offline", format!("You see the state of the last poll. {again} tries now."))
        }
        SupervisorProblemKind::Limited => {
            ("rate limited", "Cloture continues by itself, and nothing is lost.".to_owned())
        }
        SupervisorProblemKind::Refused => (
            "not allowed",
            "`cloture doctor` says which permission the token lacks. Cloture does nothing until then."
                .to_owned(),
        ),
        SupervisorProblemKind::Journal => (
            "journal problem",
            "Cloture does nothing that it cannot record. It continues when the journal works.".to_owned(),
        ),
    };
    StartupBlocker { what, why: why.clone(), since: *since, until: *until, remedy }
}

/// At most two lines at the top of every screen.
pub(super) fn banner(model: &Model, columns: u16) -> Vec<Line<'static>> {
    let Some(blocker) = startup_blocker(model).filter(|_| !model.data.pulls.is_empty()) else {
        let note = model.startup.notes.first();
        let style = model.theme.style(TextMeaning::Warning);
        return note
            .map(|note| Line::styled(crate::tui::text::cut(&format!(" {note}"), columns as usize), style))
            .into_iter()
            .collect();
    };
    let alert = model.theme.style(TextMeaning::Alert);
    let StartupBlocker { what, why, since, until, remedy } = blocker;
    let room = columns as usize;
    let first = crate::tui::text::cut(&format!(" {what}: {}", line(&why)), room);
    let second = format!("   {}. {remedy}", times(since, until, model));
    vec![
        Line::styled(first, alert),
        Line::styled(crate::tui::text::cut(&second, room), model.theme.style(TextMeaning::Warning)),
    ]
}

fn times(since: Timestamp, until: Option<Timestamp>, model: &Model) -> String {
    let elapsed = format!("For {}", age(since, model.now));
    match until.map(|until| until.duration_since(model.now).as_secs()).filter(|left| *left > 0) {
        Some(left) if left >= 120 => format!("{elapsed}; next try in {}m", left / 60),
        Some(left) => format!("{elapsed}; next try in {left}s"),
        None => elapsed,
    }
}

/// The watch screen without pull requests.
pub(super) fn empty(model: &Model, columns: u16) -> Vec<Line<'static>> {
    let theme = model.theme;
    let (plain, muted) = (theme.style(TextMeaning::Plain), theme.style(TextMeaning::Muted));
    let mut lines = vec![Line::default()];
    let mut say = |text: &str, style| lines.extend(paragraph(text, columns, style));
    if let Some(StartupBlocker { what, why, since, until, remedy }) = startup_blocker(model) {
        say(&format!("There is nothing to show: {what}."), theme.style(TextMeaning::Title));
        say(&format!("{}.", line(&why).trim_end_matches('.')), theme.style(TextMeaning::Alert));
        say(&format!("{}.", times(since, until, model)), muted);
        say(&remedy, plain);
        return lines;
    }
    let again = model.keymap.key(Action::Poll);
    match (&model.startup.journal, &model.startup.search, &model.startup.scope) {
        (StartupStep::Waiting, ..) => say("Opening the journal…", muted),
        (_, StartupStep::Waiting, WatchScope::Unknown) => say("Finding out what to watch…", muted),
        (_, StartupStep::Waiting, scope) => say(&format!("Searching for {}…", in_scope(scope)), muted),
        (_, _, WatchScope::Nothing { why }) => {
            say("Cloture does not know which pull requests to watch.", theme.style(TextMeaning::Title));
            say(
                &format!("There is no [[watch]] rule, and {}.", line(why)),
                theme.style(TextMeaning::Warning),
            );
            say(
                "Start cloture in a checkout of the repository, or add a [[watch]] rule to the configuration.",
                plain,
            );
        }
        (_, _, scope) => {
            say("No pull request is open.", theme.style(TextMeaning::Title));
            say(&format!("There are no {} now.", in_scope(scope)), plain);
            say(&format!("Cloture checks for new ones every few minutes. {again} checks now."), muted);
        }
    }
    lines
}

fn in_scope(scope: &WatchScope) -> String {
    match scope {
        WatchScope::Checkout { repository, .. } => format!("open pull requests of {}", line(repository)),
        WatchScope::Rules { number: 1 } => "open pull requests that match the [[watch]] rule".to_owned(),
        WatchScope::Rules { number } => {
            format!("open pull requests that match any of the {number} [[watch]] rules")
        }
        WatchScope::Unknown | WatchScope::Nothing { .. } | WatchScope::Everything => {
            "open pull requests".to_owned()
        }
    }
}

/// The first-run page: what Cloture found, the proposed configuration, and the keys to continue.
pub(super) fn lines(model: &Model, columns: u16) -> Vec<Line<'static>> {
    let theme = model.theme;
    let plain = theme.style(TextMeaning::Plain);
    let mut lines = vec![Line::default()];
    lines.extend(paragraph(
        "Welcome to Cloture. There is no configuration yet.",
        columns,
        theme.style(TextMeaning::Title),
    ));
    lines.push(Line::default());
    let step = |sign: &'static str, meaning, text: &str| -> Vec<Line<'static>> {
        hanging(Span::styled(format!(" {sign} "), theme.style(meaning)), text, columns, plain)
    };
    lines.extend(match &model.startup.token {
        StartupStep::Waiting => step("…", TextMeaning::Busy, "Looking for a token…"),
        StartupStep::Done(found) => step("✓", TextMeaning::Good, &format!("Found a token {}.", line(found))),
        StartupStep::Failed { why, .. } => {
            step("✗", TextMeaning::Alert, &format!("{}.", line(&why.to_string())))
        }
    });
    if model.startup.token.failure().is_some() {
        lines.extend(how_to_sign_in(model, columns));
    }
    lines.extend(match &model.startup.scope {
        WatchScope::Unknown => step("…", TextMeaning::Busy, "Looking for a checkout…"),
        WatchScope::Checkout { repository, branch } => {
            let text =
                format!("This folder is a checkout of {}, on branch {}.", line(repository), line(branch));
            step("✓", TextMeaning::Good, &text)
        }
        WatchScope::Nothing { why } => {
            step("·", TextMeaning::Muted, &format!("About this folder: {}.", line(why)))
        }
        WatchScope::Rules { .. } | WatchScope::Everything => Vec::new(),
    });
    lines.push(Line::default());
    if let Some(proposal) = &model.startup.proposal {
        let text = format!("Proposed configuration, for {}:", line(&proposal.path));
        lines.extend(paragraph(&text, columns, plain));
        for text in proposal.text.lines() {
            lines.push(Line::styled(format!("   {}", line(text)), theme.style(TextMeaning::Code)));
        }
        lines.push(Line::default());
    }
    let key = |action| model.keymap.key(action);
    let offers = [
        (
            Action::WriteConfiguration,
            "write this configuration (asks first) and watch",
            model.startup.proposal.is_some(),
        ),
        (
            Action::Open,
            "watch without a configuration",
            !matches!(model.startup.scope, WatchScope::Nothing { .. } | WatchScope::Unknown),
        ),
        (Action::Poll, "look for the token again", model.startup.token.failure().is_some()),
        (Action::Demo, "play the demo: bots argue on a simulated GitHub, offline", true),
        (Action::Quit, "quit", true),
    ];
    for (action, text, _) in offers.into_iter().filter(|(.., is_offered)| *is_offered) {
        let spans = vec![
            Span::styled(format!(" {:>5} ", key(action)), theme.style(TextMeaning::Key)),
            Span::styled(crate::tui::text::cut(text, columns.saturating_sub(8) as usize), plain),
        ];
        lines.push(Line::from(spans));
    }
    lines
}

fn how_to_sign_in(model: &Model, columns: u16) -> Vec<Line<'static>> {
    let muted = model.theme.style(TextMeaning::Muted);
    let ways = [
        "sign in with `gh auth login`, for example in another terminal",
        "or set GH_TOKEN to a token and restart Cloture",
        "or put a token into a file that only you can read, and set [github] token_file to its path",
    ];
    ways.iter().flat_map(|way| hanging(Span::styled("    ·", muted), way, columns, muted)).collect()
}

/// A paragraph after a sign; its other lines are indented by the sign's width.
fn hanging(sign: Span<'static>, text: &str, columns: u16, style: Style) -> Vec<Line<'static>> {
    let width = sign.width();
    let room = columns.saturating_sub(u16::try_from(width + 1).unwrap_or(u16::MAX));
    let mut lines = paragraph(text, room, style);
    for line in lines.iter_mut().skip(1) {
        line.spans.insert(0, Span::raw(" ".repeat(width)));
    }
    if let Some(first) = lines.first_mut() {
        first.spans.insert(0, sign);
    }
    lines
}
