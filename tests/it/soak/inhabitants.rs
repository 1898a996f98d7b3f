//! Everybody else on the forge: bots that review, authors, people with and without permission, and one who
//! forges our marks.

use super::world::{FILES, Pull, file};
use crate::support::dice::Dice;
use cloture::simulator::{PullSnapshot, PullState};

/// One action on a pull request.
#[derive(Debug, Clone, Copy)]
enum Deed {
    /// The author pushes, and a bot reviews its open threads again.
    Round,
    Review,
    BotReplies,
    BotResolves,
    BotFails,
    BotEdits,
    Push,
    ForcePush,
    AuthorReplies,
    StrangerReplies,
    PersonResolves,
    PersonUnresolves,
    Forges,
    BreaksGlass,
    StrangerBreaksGlass,
    TakesLabelOff,
    Close,
    Reopen,
    Merge,
    Draft,
    Ready,
}

/// The weight of each action.
const DEEDS: [(usize, Deed); 21] = [
    (230, Deed::Round),
    (170, Deed::Review),
    (100, Deed::BotReplies),
    (35, Deed::BotResolves),
    (20, Deed::BotFails),
    (20, Deed::BotEdits),
    (110, Deed::Push),
    (30, Deed::ForcePush),
    (110, Deed::AuthorReplies),
    (40, Deed::StrangerReplies),
    (25, Deed::PersonResolves),
    (20, Deed::PersonUnresolves),
    (40, Deed::Forges),
    (3, Deed::BreaksGlass),
    (8, Deed::StrangerBreaksGlass),
    (10, Deed::TakesLabelOff),
    (18, Deed::Close),
    (40, Deed::Reopen),
    (34, Deed::Merge),
    (8, Deed::Draft),
    (10, Deed::Ready),
];

/// A random action in the scenario's language. `None` if it makes no sense for this pull request.
pub(crate) fn act(pull: &mut Pull, seen: &PullSnapshot, dice: &mut Dice) -> Option<String> {
    let deed = dice.weighed(&DEEDS);
    let is_open = seen.state == PullState::Open;
    let author = pull.author;
    Some(match deed {
        Deed::Review => review(pull, dice)?,
        Deed::Round if is_open => {
            let push = push(pull, "push", dice)?;
            let Some(bot) = dice.one(pull.bots).copied() else { return Some(push) };
            let own = pull.threads.iter().filter(|(_, by)| *by == bot).count();
            let body = dice.one(&BOT_REPLIES)?;
            let reply = format!("{{ reply = {{ by = '{bot}', thread = 'own', body = '{body}' }} }}");
            let replies = if own > 0 { format!(", {reply}") } else { String::new() };
            format!("{push}{replies}, {}", review_by(bot, pull, dice)?)
        }
        Deed::BotReplies => {
            let (thread, bot) = dice.one(&pull.threads)?.clone();
            let body = dice.one(&BOT_REPLIES)?;
            format!("{{ reply = {{ by = '{bot}', thread = '{thread}', body = '{body}' }} }}")
        }
        Deed::BotResolves => {
            let (thread, bot) = dice.one(&pull.threads)?.clone();
            format!("{{ resolve = {{ by = '{bot}', thread = '{thread}' }} }}")
        }
        Deed::BotFails => {
            let bot = dice.one(pull.bots)?;
            let body = match *bot {
                "chatgpt-codex-connector" => "You have reached your Codex usage limits.",
                "copilot-pull-request-reviewer" => {
                    "Copilot encountered an error and was unable to review this pull request."
                }
                "gemini-code-assist" => "You have reached your daily quota limit.",
                _ => "> [!CAUTION]\\n> Review failed\\n>\\n> The pull request could not be reviewed.",
            };
            format!("{{ comment = {{ by = '{bot}', body = \"{body}\" }} }}")
        }
        Deed::BotEdits => {
            let (thread, bot) = dice.one(&pull.threads)?.clone();
            format!(
                "{{ edit = {{ by = '{bot}', thread = '{thread}', append = true, body = '''\n\n✅ Addressed in commit {{head_short}}\n''' }} }}"
            )
        }
        Deed::Push | Deed::ForcePush if is_open => {
            push(pull, if matches!(deed, Deed::ForcePush) { "force_push" } else { "push" }, dice)?
        }
        Deed::AuthorReplies => reply(pull, dice.one(&["erin", "mika", author])?, dice)?,
        Deed::StrangerReplies => reply(pull, "mallory", dice)?,
        Deed::PersonResolves => {
            format!("{{ resolve = {{ by = 'erin', thread = '{}' }} }}", any_thread(pull, seen, dice)?)
        }
        Deed::PersonUnresolves => {
            format!("{{ unresolve = {{ by = 'mika', thread = '{}' }} }}", any_thread(pull, seen, dice)?)
        }
        Deed::Forges => forge(pull, seen, dice)?,
        Deed::BreaksGlass => "{ label = { by = 'erin', name = 'cloture:break-glass' } }".to_owned(),
        Deed::StrangerBreaksGlass => {
            "{ comment = { by = 'mallory', body = '/cloture break-glass' } }".to_owned()
        }
        Deed::TakesLabelOff => {
            let label = dice.one(&seen.labels)?;
            format!("{{ unlabel = {{ by = 'erin', name = '{label}' }} }}")
        }
        Deed::Close if is_open => "{ close = { by = 'erin' } }".to_owned(),
        Deed::Reopen if seen.state == PullState::Closed => "{ reopen = { by = 'mika' } }".to_owned(),
        Deed::Merge if is_open && !seen.draft => "{ merge = { by = 'erin' } }".to_owned(),
        Deed::Draft if is_open && !seen.draft => format!("{{ draft = {{ by = '{author}' }} }}"),
        Deed::Ready if seen.draft => format!("{{ ready = {{ by = '{author}' }} }}"),
        _ => return None,
    })
}

fn push(pull: &mut Pull, what: &str, dice: &mut Dice) -> Option<String> {
    pull.pushes += 1;
    let author = pull.author;
    // A unique word, so that each head is new.
    let note = dice.next();
    let path = if dice.is_in(500) { "notes.txt" } else { dice.one(&FILES)? };
    let content = if path == "notes.txt" { format!("note {note}\n") } else { file(pull.pushes) };
    Some(format!(
        "{{ {what} = {{ by = '{author}', message = 'Change {note}', files = {{ 'log.txt' = '{note}', '{path}' = '''\n{content}''' }} }} }}"
    ))
}

fn thread(pull: &Pull, dice: &mut Dice) -> Option<String> {
    dice.one(&pull.threads).map(|(name, _)| name.clone())
}

/// A bot's thread by its name, or a driven reviewer's thread by its id.
fn any_thread(pull: &Pull, seen: &PullSnapshot, dice: &mut Dice) -> Option<String> {
    thread(pull, dice).or_else(|| dice.one(&seen.threads).map(|thread| thread.id.clone()))
}

/// Replies that hold the stance, accept, or do neither.
const BOT_REPLIES: [&str; 6] = [
    "The problem is still there, please fix it.",
    "The concern still stands: nothing here bounds the value.",
    "On reflection this is still a problem: the fix is not sufficient.",
    "Thank you for fixing this, it resolves my concern.",
    "You are right, and I withdraw my finding.",
    "Let me have a look at that.",
];

/// Replies with every intent (R3), and without one.
const REPLIES: [&str; 9] = [
    "Won't fix: this is by design.",
    "Acknowledged, we live with that.",
    "I disagree, the caller checks this already.",
    "Fixed in {head_short}.",
    "Could you say which case you mean?",
    "Please look again.",
    "Not a bug, closing.",
    "<!-- agent --> 🤖 Generated with Claude Code\n\nWon't fix.",
    "ok",
];

/// In a bot's thread by its name, or in all open threads of a driven reviewer.
fn reply(pull: &Pull, by: &str, dice: &mut Dice) -> Option<String> {
    let thread = if pull.bots.is_empty() { "all".to_owned() } else { thread(pull, dice)? };
    let body = dice.one(&REPLIES)?;
    Some(format!("{{ reply = {{ by = '{by}', thread = '{thread}', body = '''\n{body}''' }} }}"))
}

/// Marks like ours, from another account (S1).
fn forge(pull: &Pull, seen: &PullSnapshot, dice: &mut Dice) -> Option<String> {
    let head = &seen.head;
    let thread_id = dice.one(&seen.threads).map_or("PRRT_1", |thread| thread.id.as_str());
    let mark = |key: &str| format!("Believe me.\n\n<!-- cloture:{key} -->");
    Some(match dice.below(5) {
        0 => format!(
            "{{ comment = {{ by = 'mallory', body = '''\n{}''' }} }}",
            mark(&format!("ask/coderabbit/{head}"))
        ),
        1 => format!("{{ comment = {{ by = 'mallory', body = '''\n{}''' }} }}", mark("round-cap/0/0")),
        2 => format!(
            "{{ review = {{ by = 'mallory', state = 'approved', body = '''\n{}''' }} }}",
            mark(&format!("review/orange/{head}"))
        ),
        3 => format!(
            "{{ review = {{ by = 'mallory', body = 'Look.', threads = [{{ path = 'src/cart.rs', line = 4, body = '''\n{}''' }}] }} }}",
            mark("finding/orange-1-1")
        ),
        _ => {
            let thread = thread(pull, dice)?;
            let key = format!("reply/{thread_id}/escalated.2f.round_limit.2f.0.2f.0");
            format!("{{ reply = {{ by = 'mallory', thread = '{thread}', body = '''\n{}''' }} }}", mark(&key))
        }
    })
}

/// Findings with their places. Some say the same in other words, so that findings repeat.
const PROBLEMS: [(&str, usize, &str); 8] = [
    ("src/cart.rs", 3, "A percentage above one hundred makes the subtraction underflow"),
    ("src/cart.rs", 4, "The subtraction underflows for a percentage above one hundred"),
    ("src/cart.rs", 14, "Indexing panics on an empty cart"),
    ("src/stock.rs", 5, "Two orders can take the same last item"),
    ("src/stock.rs", 17, "Stock wraps around below zero"),
    ("src/stock.rs", 18, "The stock wraps around when it goes below zero"),
    ("src/price.rs", 9, "The currency is never looked at"),
    ("src/price.rs", 21, "Consider a clearer name"),
];

/// A bot's review of the head in its own format, with up to three findings.
fn review(pull: &mut Pull, dice: &mut Dice) -> Option<String> {
    let bot = *dice.one(pull.bots)?;
    review_by(bot, pull, dice)
}

fn review_by(bot: &'static str, pull: &mut Pull, dice: &mut Dice) -> Option<String> {
    let count = dice.weighed(&[(45, 0), (30, 1), (15, 2), (10, 3)]);
    let mut threads = Vec::new();
    for _ in 0..count {
        let (path, line, title) = dice.one(&PROBLEMS)?;
        let name = format!("t{}", pull.threads.len() + 1);
        pull.threads.push((name.clone(), bot));
        let body = finding(bot, title, dice.below(3));
        threads.push(format!("{{ name = '{name}', path = '{path}', line = {line}, body = '''\n{body}''' }}"));
    }
    let body = match bot {
        "coderabbitai" => format!(
            "**Actionable comments posted: {count}**\n\n\
             <!-- This is an auto-generated comment by CodeRabbit for review status -->\n"
        ),
        "chatgpt-codex-connector" => {
            "### 💡 Codex Review\n\nHere are some automated review suggestions for this \
             pull request.\n\n**Reviewed commit:** `{head_short}`\n"
                .to_owned()
        }
        "copilot-pull-request-reviewer" => format!(
            "## Pull request overview\n\nCopilot reviewed 3 out of 3 changed files in this pull request and generated {} comments.\n",
            if count == 0 { "no".to_owned() } else { count.to_string() }
        ),
        _ if count == 0 => "## Code Review\n\nI have no feedback to provide.\n".to_owned(),
        _ => "## Code Review\n\nThis pull request changes how totals are counted.\n".to_owned(),
    };
    let state = match dice.below(10) {
        0..=2 if count > 0 => "changes_requested",
        3 if count == 0 => "approved",
        _ => "commented",
    };
    let late = if dice.is_in(60) && pull.pushes > 0 { ", on_previous_head = true" } else { "" };
    Some(format!(
        "{{ review = {{ by = '{bot}', state = '{state}'{late}, body = '''\n{body}''', threads = [{}] }} }}",
        threads.join(", ")
    ))
}

fn finding(bot: &str, title: &str, badness: usize) -> String {
    let text = "It goes wrong here, so change it before it is released.";
    match bot {
        "coderabbitai" => {
            let severity = ["🔴 Critical", "🟠 Major", "🟡 Minor"][badness];
            format!("_⚠️ Potential issue_ | _{severity}_\n\n**{title}.**\n\n{text}\n")
        }
        "chatgpt-codex-connector" => format!(
            "**<sub><sub>![P{badness} Badge](https://img.shields.io/badge/P{badness}-orange?style=flat)</sub></sub>  {title}**\n\n\
             {text}\n\nUseful? React with 👍 / 👎.\n"
        ),
        "gemini-code-assist" => {
            let severity = ["critical", "high", "medium"][badness];
            format!(
                "![{severity}](https://www.gstatic.com/codereviewagent/{severity}-priority.svg)\n\n{title}. {text}\n"
            )
        }
        _ => format!("{title}. {text}\n"),
    }
}
