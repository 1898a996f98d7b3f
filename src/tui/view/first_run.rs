//! The screen for who has configured nothing yet, and what stands where pull requests would be while there are none: what
//! happened, since when, and what to do about it. No state is a blank.

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

/// What keeps everything from going on.
pub(super) struct StartupBlocker {
    /// In one or two words.
    pub(super) what: &'static str,
    pub(super) why: String,
    pub(super) since: Timestamp,
    pub(super) until: Option<Timestamp>,
    /// What a person can do.
    pub(super) remedy: String,
}

/// The hindrance that has to go first.
pub(super) fn hindrance(model: &Model) -> Option<StartupBlocker> {
    let again = model.keymap.key(Action::Poll);
    if let Some((why, since)) = model.start.journal.failure() {
        return Some(StartupBlocker {
            what: "no journal",
            why: why.to_string(),
            since,
            until: None,
            remedy: format!("Nothing is supervised without it. {again} tries again."),
        });
    }
    if let Some((why, since)) = model.start.token.failure() {
        return Some(StartupBlocker {
            what: "no token",
            why: why.to_string(),
            since,
            until: None,
            remedy: format!("{again} looks for it again; shown is what was seen before."),
        });
    }
    if let Some(trouble) = model.board.trouble.as_ref().or(model.board.journal_trouble.as_ref()) {
        return Some(of_trouble(trouble, &again));
    }
    let (why, since) = model.start.search.failure()?;
    if matches!(model.start.scope, WatchScope::Nothing { .. }) {
        return None;
    }
    let (what, remedy) = match why.kind {
        FailureKind::NotAllowed => ("not allowed", "`cloture doctor` says what the token lacks".to_owned()),
        FailureKind::OutOfReach => ("offline", "it is tried again by itself".to_owned()),
        FailureKind::Limited => ("rate limited", "it is tried again by itself".to_owned()),
        _ => ("not found", "`cloture doctor` says what is missing".to_owned()),
    };
    Some(StartupBlocker {
        what,
        why: format!("which pull requests are open could not be found out: {why}"),
        since,
        until: None,
        remedy: format!("{again} looks again; {remedy}."),
    })
}

fn of_trouble(trouble: &SupervisorProblem, again: &str) -> StartupBlocker {
    let SupervisorProblem { kind, why, since, until } = trouble;
    let (what, remedy) = match kind {
        SupervisorProblemKind::OutOfReach => {
            ("offline", format!("Shown is what was last seen; {again} tries now."))
        }
        SupervisorProblemKind::Limited => {
            ("rate limited", "It goes on by itself; nothing that was due is lost.".to_owned())
        }
        SupervisorProblemKind::Refused => (
            "not allowed",
            "`cloture doctor` says what the token lacks; nothing is done until then.".to_owned(),
        ),
        SupervisorProblemKind::Journal => (
            "journal trouble",
            "What cannot be recorded is not done; it goes on when the journal does.".to_owned(),
        ),
    };
    StartupBlocker { what, why: why.clone(), since: *since, until: *until, remedy }
}

/// At most two lines above everything else.
pub(super) fn banner(model: &Model, columns: u16) -> Vec<Line<'static>> {
    let Some(hindrance) = hindrance(model).filter(|_| !model.pulls.is_empty()) else {
        let note = model.start.notes.first();
        let style = model.theme.style(TextMeaning::Warning);
        return note
            .map(|note| Line::styled(crate::tui::text::cut(&format!(" {note}"), columns as usize), style))
            .into_iter()
            .collect();
    };
    let alert = model.theme.style(TextMeaning::Alert);
    let StartupBlocker { what, why, since, until, remedy } = hindrance;
    let room = columns as usize;
    let first = crate::tui::text::cut(&format!(" {what}: {}", line(&why)), room);
    let second = format!("   {}. {remedy}", times(since, until, model));
    vec![
        Line::styled(first, alert),
        Line::styled(crate::tui::text::cut(&second, room), model.theme.style(TextMeaning::Warning)),
    ]
}

fn times(since: Timestamp, until: Option<Timestamp>, model: &Model) -> String {
    let for_long = format!("For {}", age(since, model.now));
    match until.map(|until| until.duration_since(model.now).as_secs()).filter(|left| *left > 0) {
        Some(left) if left >= 120 => format!("{for_long}, tried again in {}m", left / 60),
        Some(left) => format!("{for_long}, tried again in {left}s"),
        None => for_long,
    }
}

/// What stands where pull requests would be.
pub(super) fn empty(model: &Model, columns: u16) -> Vec<Line<'static>> {
    let theme = model.theme;
    let (plain, muted) = (theme.style(TextMeaning::Plain), theme.style(TextMeaning::Muted));
    let mut lines = vec![Line::default()];
    let mut say = |text: &str, style| lines.extend(paragraph(text, columns, style));
    if let Some(StartupBlocker { what, why, since, until, remedy }) = hindrance(model) {
        say(&format!("Nothing can be shown: {what}."), theme.style(TextMeaning::Title));
        say(&format!("{}.", line(&why).trim_end_matches('.')), theme.style(TextMeaning::Alert));
        say(&format!("{}.", times(since, until, model)), muted);
        say(&remedy, plain);
        return lines;
    }
    let again = model.keymap.key(Action::Poll);
    match (&model.start.journal, &model.start.search, &model.start.scope) {
        (StartupStep::Waiting, ..) => say("Opening the journal…", muted),
        (_, StartupStep::Waiting, WatchScope::Unknown) => say("Looking around…", muted),
        (_, StartupStep::Waiting, scope) => say(&format!("Looking for {}…", wanted(scope)), muted),
        (_, _, WatchScope::Nothing { why }) => {
            say("Nothing says which pull requests to watch.", theme.style(TextMeaning::Title));
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
            say(&format!("There are no {} now.", wanted(scope)), plain);
            say(&format!("New ones are looked for every some minutes; {again} looks now."), muted);
        }
    }
    lines
}

fn wanted(scope: &WatchScope) -> String {
    match scope {
        WatchScope::Checkout { repository, .. } => format!("open pull requests of {}", line(repository)),
        WatchScope::Rules { number: 1 } => "open pull requests that fit the [[watch]] rule".to_owned(),
        WatchScope::Rules { number } => {
            format!("open pull requests that fit any of the {number} [[watch]] rules")
        }
        WatchScope::Unknown | WatchScope::Nothing { .. } | WatchScope::Everything => {
            "open pull requests".to_owned()
        }
    }
}

/// What was found, what could be written, and where to go from here.
pub(super) fn lines(model: &Model, columns: u16) -> Vec<Line<'static>> {
    let theme = model.theme;
    let plain = theme.style(TextMeaning::Plain);
    let mut lines = vec![Line::default()];
    lines.extend(paragraph(
        "Welcome to Cloture. Nothing is configured yet.",
        columns,
        theme.style(TextMeaning::Title),
    ));
    lines.push(Line::default());
    let step = |sign: &'static str, meaning, text: &str| -> Vec<Line<'static>> {
        hung(Span::styled(format!(" {sign} "), theme.style(meaning)), text, columns, plain)
    };
    lines.extend(match &model.start.token {
        StartupStep::Waiting => step("…", TextMeaning::Busy, "Looking for a token…"),
        StartupStep::Done(found) => {
            step("✓", TextMeaning::Good, &format!("A token was found {}.", line(found)))
        }
        StartupStep::Failed { why, .. } => {
            step("✗", TextMeaning::Alert, &format!("{}.", line(&why.to_string())))
        }
    });
    if model.start.token.failure().is_some() {
        lines.extend(how_to_sign_in(model, columns));
    }
    lines.extend(match &model.start.scope {
        WatchScope::Unknown => step("…", TextMeaning::Busy, "Looking what is here…"),
        WatchScope::Checkout { repository, branch } => {
            let text = format!("This is a checkout of {}, on the branch {}.", line(repository), line(branch));
            step("✓", TextMeaning::Good, &text)
        }
        WatchScope::Nothing { why } => {
            step("·", TextMeaning::Muted, &format!("About this folder: {}.", line(why)))
        }
        WatchScope::Rules { .. } | WatchScope::Everything => Vec::new(),
    });
    lines.push(Line::default());
    if let Some(proposal) = &model.start.proposal {
        let text = format!("This could be your configuration, in {}:", line(&proposal.path));
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
            "write this configuration (it asks first), and watch",
            model.start.proposal.is_some(),
        ),
        (
            Action::Open,
            "watch without writing anything",
            !matches!(model.start.scope, WatchScope::Nothing { .. } | WatchScope::Unknown),
        ),
        (Action::Poll, "look for the token again", model.start.token.failure().is_some()),
        (Action::Demo, "play the demo: bots that argue, on a GitHub inside this program", true),
        (Action::Quit, "leave", true),
    ];
    for (action, text, _) in offers.into_iter().filter(|(.., offered)| *offered) {
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
        "sign in with `gh auth login`, in another terminal if you like",
        "or set GH_TOKEN to a token and start again",
        "or write a token into a file that only you can read, and name it as [github] token_file",
    ];
    ways.iter().flat_map(|way| hung(Span::styled("    ·", muted), way, columns, muted)).collect()
}

/// A paragraph that hangs from a sign: its further lines begin below the first one's words.
fn hung(sign: Span<'static>, text: &str, columns: u16, style: Style) -> Vec<Line<'static>> {
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
