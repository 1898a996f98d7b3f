//! `cloture classify`: prints how Cloture reads posts, one JSON line for each line of input. People use it to
//! tune profiles.
//!
//! A known reviewer's post is read with its profile, an unknown bot's by marks that many bots share. A
//! person's post has an intent instead of a stance, and its place decides its kind: a thread's first comment
//! is a `finding`, a later comment a `reply`, a review's body a `summary`. A comment that an agent posted
//! under a person's login is read like an unknown bot's, because the person did not write it.

use crate::agents::bounded_file;
use crate::app::invocation::Invocation;
use crate::commands::Outcome;
use crate::domain::post::{ParsedPost, PostClass, PostPlace, PostReader};
use crate::domain::snapshot::{Account, AccountKind};
use crate::domain::vocabulary::{Association, Category, Intent, ReviewerName, Severity, Stance};
use crate::output::sanitize;
use crate::output::standard::standard_output;
use crate::replies::{classify as intent_of, is_agent_post};
use crate::reviewers::object::Object;
use crate::reviewers::profiles::Profiles;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, Write};
use std::sync::Arc;
use thiserror::Error;

/// Why the command stopped. The answers to earlier lines are printed already.
#[derive(Debug, Error)]
pub enum ClassifyError {
    #[error("line {line} of the input: {problem}")]
    Input { line: u64, problem: String },
    #[error("cannot read the input")]
    Read(#[source] io::Error),
    #[error("cannot write the answer")]
    Write(#[source] io::Error),
}

/// GitHub's posts have at most 64 KiB of text; as JSON, every character may take six bytes.
const LONGEST_LINE: usize = 16 * 1024 * 1024;

pub fn run(invocation: &Invocation) -> anyhow::Result<Outcome> {
    let profiles = Profiles::with_overrides(&invocation.load_config()?.config.profiles)?;
    classify(io::stdin().lock(), standard_output(), &profiles)?;
    Ok(Outcome::SUCCESS)
}

/// Reads posts, one JSON object per line, and prints how Cloture reads each. An answer is flushed before the
/// next line is read, so that a program can ask about one post at a time.
pub fn classify(
    mut input: impl BufRead,
    mut output: impl Write,
    profiles: &Profiles,
) -> Result<(), ClassifyError> {
    let mut number = 0;
    loop {
        let Some(line) = bounded_file::read_line(&mut input, LONGEST_LINE).map_err(ClassifyError::Read)?
        else {
            return Ok(());
        };
        number += 1;
        let problem = |problem: String| ClassifyError::Input { line: number, problem };
        // Editors and shells leave a blank line at the end.
        if line.iter().all(u8::is_ascii_whitespace) {
            if input.fill_buf().map_err(ClassifyError::Read)?.is_empty() {
                return Ok(());
            }
            return Err(problem("the line is empty".to_owned()));
        }
        let Object(post): Object<TypedPost> =
            serde_json::from_slice(&line).map_err(|error| problem(without_position(&error)))?;
        let answer = serde_json::to_string(&post.classified(profiles)).map_err(io::Error::from);
        let answer = answer.map_err(ClassifyError::Write)?;
        writeln!(output, "{}", sanitize::json(&answer)).map_err(ClassifyError::Write)?;
        output.flush().map_err(ClassifyError::Write)?;
    }
}

/// The parser's reason without its position: the line number is printed already, and a column in JSON helps
/// nobody.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
    let kind = if error.is_data() { "this is not a post" } else { "this is not valid JSON" };
    format!("{kind}: {reason}")
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TypedPost {
    author: String,
    is_bot: bool,
    #[serde(rename = "association")]
    _association: Association,
    #[serde(rename = "where")]
    place: TypedPostPlace,
    body: String,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TypedPostPlace {
    ThreadRoot,
    ThreadReply,
    Review,
    Comment,
}

impl From<TypedPostPlace> for PostPlace {
    fn from(typed: TypedPostPlace) -> PostPlace {
        match typed {
            TypedPostPlace::ThreadRoot => PostPlace::ThreadRoot,
            TypedPostPlace::ThreadReply => PostPlace::ThreadReply,
            TypedPostPlace::Review => PostPlace::Review,
            TypedPostPlace::Comment => PostPlace::Comment,
        }
    }
}

/// One line of output.
#[derive(Debug, Serialize)]
struct ClassifiedPost {
    reviewer: Option<ReviewerName>,
    kind: &'static str,
    severity: Option<Severity>,
    category: Option<Category>,
    title: Option<Arc<str>>,
    suggestion: bool,
    stance: Option<Stance>,
    intent: Option<Intent>,
}

impl TypedPost {
    fn classified(self, profiles: &Profiles) -> ClassifiedPost {
        let kind = if self.is_bot { AccountKind::Bot } else { AccountKind::User };
        let account = Account { login: self.author.as_str().into(), kind, database_id: None };
        let place = PostPlace::from(self.place);
        let reviewer = profiles.reviewer(&account, &self.body);
        match &reviewer {
            Some(name) => ClassifiedPost::of_bot(profiles.read(name, place, &self.body), reviewer),
            None if self.is_bot => ClassifiedPost::of_bot(profiles.read_unknown(place, &self.body), None),
            None => ClassifiedPost::of_person(place, &self.body, profiles),
        }
    }
}

impl ClassifiedPost {
    fn of_bot(reading: ParsedPost, reviewer: Option<ReviewerName>) -> ClassifiedPost {
        let kind = class_name(reading.class);
        let stance = reading.stance;
        // Only a post that is one finding has a title and a severity. A summary may hold many.
        let single = match reading.class {
            PostClass::Finding => reading.findings.into_iter().next(),
            _ => None,
        };
        let single = single.as_ref();
        ClassifiedPost {
            reviewer,
            kind,
            severity: single.and_then(|finding| finding.severity),
            category: single.and_then(|finding| finding.category),
            title: single.and_then(|finding| finding.title.clone()),
            suggestion: single.is_some_and(|finding| finding.suggestion.is_some()),
            stance,
            intent: None,
        }
    }

    fn of_person(place: PostPlace, body: &str, profiles: &Profiles) -> ClassifiedPost {
        let is_agent = is_agent_post(body);
        let class = match place {
            PostPlace::ThreadRoot => PostClass::Finding,
            PostPlace::Review => PostClass::Summary,
            PostPlace::Comment if is_agent => profiles.read_unknown(place, body).class,
            PostPlace::ThreadReply | PostPlace::Comment => PostClass::Reply,
        };
        let single = (class == PostClass::Finding)
            .then(|| profiles.read_unknown(place, body))
            .map(|read| read.findings);
        let suggestion = single.iter().flatten().any(|finding| finding.suggestion.is_some());
        ClassifiedPost {
            reviewer: None,
            kind: class_name(class),
            severity: None,
            category: None,
            title: None,
            suggestion,
            stance: None,
            intent: Some(intent_of(body)),
        }
    }
}

fn class_name(class: PostClass) -> &'static str {
    match class {
        PostClass::Finding => "finding",
        PostClass::Reply => "reply",
        PostClass::Summary => "summary",
        PostClass::Failure => "failure",
        PostClass::Noise => "noise",
    }
}
