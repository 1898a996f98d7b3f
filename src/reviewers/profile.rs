//! What a reviewer is known by and how its posts are read, as data.
//!
//! Every key of a profile is declared once, in [`keys`]: from it come the profile itself, and a [`Change`] that gives some of
//! the keys and leaves the others as they are. The program's own profiles and a configuration's are both changes; they
//! differ only in what they are applied to.

use crate::domain::snapshot::AccountKind;
use crate::domain::vocabulary::{Category, Severity};
use regex::{Regex, RegexBuilder, bytes};
use serde::Deserialize;
use std::sync::{Arc, OnceLock};

/// Declares the keys of a profile. What a change leaves out stays; lists are replaced as a whole.
macro_rules! keys {
    ($($(#[$doc:meta])* $key:ident: $kind:ty,)+) => {
        /// A reviewer's profile, complete.
        #[derive(Debug, Clone, PartialEq, Eq, Default)]
        pub struct Profile {
            /// What Cloture calls it.
            pub name: String,
            $($(#[$doc])* pub $key: $kind,)+
        }

        /// Some keys of a profile.
        #[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Change {
            pub name: String,
            $(pub $key: Option<$kind>,)+
        }

        impl Profile {
            /// Takes over what the change gives, and names those keys.
            pub(super) fn apply(&mut self, change: &Change) -> Vec<&'static str> {
                let mut given = Vec::new();
                self.name.clone_from(&change.name);
                $(if let Some(value) = &change.$key {
                    self.$key.clone_from(value);
                    given.push(stringify!($key));
                })+
                given
            }

            /// Every key but the name, in the order of the documentation.
            pub const KEYS: &[&str] = &[$(stringify!($key)),+];
        }
    };
}

keys! {
    /// The logins of its own accounts, without `[bot]`, the present one first.
    logins: Vec<String>,
    /// The numbers of those accounts; they stay when a login changes.
    ids: Vec<u64>,
    /// What those accounts must be, so that a person who takes a bot's name is nobody.
    kind: Kind,
    /// Accounts that it shares with others. There, one of `body_marks` has to stand in the post.
    shared_logins: Vec<String>,
    body_marks: Vec<Pattern>,
    /// Where it posts.
    posts: Vec<Channel>,
    title: TitleFrom,
    /// Texts that stand where a title would and are none.
    title_skip: Vec<Pattern>,
    /// What is cut from a title.
    title_strip: Vec<Pattern>,
    severity: Vec<SeverityMark>,
    category: Vec<CategoryMark>,
    /// Whether the marks that many reviewers share count for this one, too.
    common_marks: Flag,
    /// The finding's own id: the first group of what fits in a hidden comment.
    own_id: Vec<Pattern>,
    /// Where the finding is, in a hidden comment: the groups `path`, `from` and `to`.
    place: Vec<Pattern>,
    /// The commit that was reviewed: the first group of what fits in the post.
    commit: Vec<Pattern>,
    /// The post is one finding, wherever it stands.
    finding: Vec<Mark>,
    /// The post only introduces a review that is still to come.
    introduction: Vec<Mark>,
    /// It has accepted: addressed, resolved, withdrawn.
    accepted: Vec<Mark>,
    /// It insists.
    holds: Vec<Mark>,
    /// The finding asks for nothing.
    informs: Vec<Mark>,
    /// A review without a finding.
    clean: Vec<Mark>,
    /// How many findings a review has: the first group.
    count: Vec<Pattern>,
    failure: Vec<Mark>,
    /// Not reviewed, or not yet; asking or waiting helps.
    not_ready: Vec<Mark>,
    /// Acknowledgements and the like.
    noise: Vec<Mark>,
    /// How findings are laid out in the body of a review or comment.
    body_layout: BodyLayout,
    /// The folded sections that hold them.
    body_sections: Vec<SectionMark>,
    /// The comment that asks it to review again; empty where none does.
    ask_again: String,
    /// Whether requesting its review again makes it review again.
    re_request: bool,
    /// How it shows that a finding is settled.
    settles: Vec<Settling>,
}

impl Change {
    /// Whether it gives anything but the name.
    pub fn is_empty(&self) -> bool {
        Profile::default().apply(self).is_empty()
    }
}

/// The kind of account. A profile that says nothing means a bot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    #[default]
    Bot,
    User,
    /// Whatever the account is.
    Any,
}

impl Kind {
    pub const ALL: [(&'static str, Kind); 3] = [("bot", Kind::Bot), ("user", Kind::User), ("any", Kind::Any)];

    pub(super) fn fits(self, account: AccountKind) -> bool {
        match self {
            Kind::Bot => account == AccountKind::Bot,
            Kind::User => matches!(account, AccountKind::User | AccountKind::EnterpriseUser),
            Kind::Any => true,
        }
    }
}

/// Yes unless somebody says no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Flag(pub bool);

impl Default for Flag {
    fn default() -> Flag {
        Flag(true)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    Thread,
    Review,
    Comment,
    Check,
}

impl Channel {
    pub const ALL: [(&'static str, Channel); 4] = [
        ("thread", Channel::Thread),
        ("review", Channel::Review),
        ("comment", Channel::Comment),
        ("check", Channel::Check),
    ];
}

/// Where a finding's title is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TitleFrom {
    /// It gives none.
    None,
    /// The first heading.
    Heading,
    /// The bold text that opens the post, behind badges and labels at most.
    #[default]
    Strong,
    /// The same, or else the first line that is bold as a whole.
    AnyStrong,
    /// The first line with words.
    Line,
}

impl TitleFrom {
    pub const ALL: [(&'static str, TitleFrom); 5] = [
        ("none", TitleFrom::None),
        ("heading", TitleFrom::Heading),
        ("strong", TitleFrom::Strong),
        ("any_strong", TitleFrom::AnyStrong),
        ("line", TitleFrom::Line),
    ];
}

/// How the findings in a body are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyLayout {
    #[default]
    None,
    /// A folded section, in it a folded block per file, in it line numbers and the finding.
    FoldedFiles,
    /// A folded section, in it a bold `path:line` and the finding.
    FoldedPlaces,
    /// A folded block per finding, its title behind a number.
    FoldedTitles,
    /// A link to lines of code, then the finding.
    LinkFirst,
    /// A numbered finding, then a link to lines of code.
    LinkLast,
}

impl BodyLayout {
    pub const ALL: [(&'static str, BodyLayout); 6] = [
        ("none", BodyLayout::None),
        ("folded_files", BodyLayout::FoldedFiles),
        ("folded_places", BodyLayout::FoldedPlaces),
        ("folded_titles", BodyLayout::FoldedTitles),
        ("link_first", BodyLayout::LinkFirst),
        ("link_last", BodyLayout::LinkLast),
    ];
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settling {
    /// It resolves the thread.
    Thread,
    /// It edits its own post.
    Edit,
    /// It says so in a reply.
    Reply,
}

impl Settling {
    pub const ALL: [(&'static str, Settling); 3] =
        [("thread", Settling::Thread), ("edit", Settling::Edit), ("reply", Settling::Reply)];
}

/// The place in a post where a mark counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum At {
    /// Any line that is neither folded away nor fenced off.
    #[default]
    Line,
    /// The first line with words.
    Lead,
    /// The description of an image that opens the post.
    Badge,
    /// A line of a post that is short as a whole: long ones discuss what notices only state.
    Notice,
    /// What is set small in a line.
    Small,
    /// What a folded block shows.
    Summary,
    /// A hidden comment.
    Comment,
}

impl At {
    pub const ALL: [(&'static str, At); 7] = [
        ("line", At::Line),
        ("lead", At::Lead),
        ("badge", At::Badge),
        ("notice", At::Notice),
        ("small", At::Small),
        ("summary", At::Summary),
        ("comment", At::Comment),
    ];
}

/// Something that stands somewhere in a post.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    #[serde(default)]
    pub at: At,
    pub pattern: Pattern,
}

/// A mark that says how bad a finding is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeverityMark {
    #[serde(default)]
    pub at: At,
    pub pattern: Pattern,
    pub is: Severity,
}

/// A mark that says what a finding is about.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CategoryMark {
    #[serde(default)]
    pub at: At,
    pub pattern: Pattern,
    pub is: Category,
}

/// A folded section that holds findings, and how bad they are where the section says so.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SectionMark {
    pub pattern: Pattern,
    #[serde(default)]
    pub is: Option<Severity>,
}

/// A regular expression. It is compiled when it is first asked, because no run needs all of them.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "String")]
pub struct Pattern {
    source: String,
    /// Shared by all that were cloned from it, so that none of them is compiled twice.
    compiled: Arc<OnceLock<Option<Regex>>>,
    /// The same for texts in ASCII only.
    ascii: Arc<OnceLock<Option<bytes::Regex>>>,
}

/// A pattern that takes more memory than this to compile was not written to be read.
const LARGEST_PATTERN: usize = 4 << 20;

impl Pattern {
    /// A pattern that is known to compile, or why it does not.
    pub fn checked(source: &str) -> Result<Pattern, String> {
        let regex = compile(source).map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
            // The last line of a syntax error says what is wrong, the others show where.
            other => {
                let text = other.to_string();
                let reason = text.lines().last().unwrap_or_default();
                reason.strip_prefix("error: ").unwrap_or(reason).to_owned()
            }
        })?;
        let compiled = Arc::new(OnceLock::from(Some(regex)));
        Ok(Pattern { source: source.to_owned(), compiled, ascii: Arc::default() })
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether it captures anything.
    pub fn has_group(&self) -> bool {
        self.regex().is_some_and(|regex| regex.captures_len() > 1)
    }

    /// Whether it captures a path and a line.
    pub fn has_place(&self) -> bool {
        let has = |group| {
            self.regex().is_some_and(|regex| regex.capture_names().flatten().any(|name| name == group))
        };
        has("path") && has("from")
    }

    /// The program's own patterns are held to compile by a test, and everybody else's are [`Pattern::checked`].
    pub(super) fn regex(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| compile(&self.source).ok()).as_ref()
    }

    /// Most lines of most posts are plain ASCII. For those there is a form that need not know all the world's letters, and
    /// takes a fraction of the memory; it fits exactly where the other would.
    pub(super) fn fits(&self, text: &str) -> bool {
        if text.is_ascii()
            && let Some(regex) = self.ascii_regex()
        {
            return regex.is_match(text.as_bytes());
        }
        self.regex().is_some_and(|regex| regex.is_match(text))
    }

    /// None for a pattern that cannot be put this way.
    pub(super) fn ascii_regex(&self) -> Option<&bytes::Regex> {
        self.ascii.get_or_init(|| compile_for_ascii(&self.source).ok()).as_ref()
    }
}

fn compile(source: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(source).size_limit(LARGEST_PATTERN).build()
}

/// A character that an ASCII text cannot have is a byte that no text has.
fn compile_for_ascii(source: &str) -> Result<bytes::Regex, regex::Error> {
    let mut ascii = String::with_capacity(source.len());
    for character in source.chars() {
        if character.is_ascii() {
            ascii.push(character);
        } else {
            ascii.push_str(r"\xFF");
        }
    }
    bytes::RegexBuilder::new(&ascii).unicode(false).size_limit(LARGEST_PATTERN).build()
}

impl From<String> for Pattern {
    fn from(source: String) -> Pattern {
        Pattern { source, compiled: Arc::default(), ascii: Arc::default() }
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.source == other.source
    }
}

impl Eq for Pattern {}
