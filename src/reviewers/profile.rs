//! What a reviewer is known by and how its posts are read, as data.
//!
//! Every key of a profile is declared once, in [`keys`]: from it come the profile itself, and a [`ProfileOverride`] that gives some of
//! the keys and leaves the others as they are. The program's own profiles and a configuration's are both changes; they
//! differ only in what they are applied to.

use super::pattern::Pattern;
use crate::domain::snapshot::AccountKind;
use crate::domain::vocabulary::{Category, Severity};
use serde::Deserialize;

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
        pub struct ProfileOverride {
            pub name: String,
            $(pub $key: Option<$kind>,)+
        }

        impl Profile {
            /// Takes over what the change gives, and names those keys.
            pub(super) fn apply(&mut self, change: &ProfileOverride) -> Vec<&'static str> {
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
    kind: ProfileAccountKind,
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

impl ProfileOverride {
    /// Whether it gives anything but the name.
    pub fn is_empty(&self) -> bool {
        Profile::default().apply(self).is_empty()
    }
}

/// The kind of account. A profile that says nothing means a bot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProfileAccountKind {
    #[default]
    Bot,
    User,
    /// Whatever the account is.
    Any,
}

impl ProfileAccountKind {
    pub const ALL: [(&'static str, ProfileAccountKind); 3] = [
        ("bot", ProfileAccountKind::Bot),
        ("user", ProfileAccountKind::User),
        ("any", ProfileAccountKind::Any),
    ];

    pub(super) fn fits(self, account: AccountKind) -> bool {
        match self {
            ProfileAccountKind::Bot => account == AccountKind::Bot,
            ProfileAccountKind::User => matches!(account, AccountKind::User | AccountKind::EnterpriseUser),
            ProfileAccountKind::Any => true,
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
pub enum MarkPosition {
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

impl MarkPosition {
    pub const ALL: [(&'static str, MarkPosition); 7] = [
        ("line", MarkPosition::Line),
        ("lead", MarkPosition::Lead),
        ("badge", MarkPosition::Badge),
        ("notice", MarkPosition::Notice),
        ("small", MarkPosition::Small),
        ("summary", MarkPosition::Summary),
        ("comment", MarkPosition::Comment),
    ];
}

/// Something that stands somewhere in a post.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    #[serde(default)]
    pub at: MarkPosition,
    pub pattern: Pattern,
}

/// A mark that says how bad a finding is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeverityMark {
    #[serde(default)]
    pub at: MarkPosition,
    pub pattern: Pattern,
    pub is: Severity,
}

/// A mark that says what a finding is about.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CategoryMark {
    #[serde(default)]
    pub at: MarkPosition,
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
