//! Profiles: data that says which accounts a reviewer has and how to read its posts.
//!
//! `keys` declares every key once and makes two types of them: [`Profile`] with all keys, and
//! [`ProfileOverride`] with some. The built-in profiles and the configuration's are both lists of overrides.

use super::pattern::Pattern;
use crate::domain::snapshot::AccountKind;
use crate::domain::vocabulary::{Category, Severity};
use serde::Deserialize;

/// Declares the keys of a profile. An override keeps the keys that it leaves out, and replaces lists as a
/// whole.
macro_rules! keys {
    ($($(#[$doc:meta])* $key:ident: $kind:ty,)+) => {
        /// The complete profile of a reviewer.
        #[derive(Debug, Clone, PartialEq, Eq, Default)]
        pub struct Profile {
            /// Cloture's name for the reviewer.
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
            /// Sets the keys that the override has, and returns their names.
            pub(super) fn apply(&mut self, with: &ProfileOverride) -> Vec<&'static str> {
                let mut given = Vec::new();
                self.name.clone_from(&with.name);
                $(if let Some(value) = &with.$key {
                    self.$key.clone_from(value);
                    given.push(stringify!($key));
                })+
                given
            }

            /// Every key except the name, in the order of the documentation.
            pub const KEYS: &[&str] = &[$(stringify!($key)),+];
        }
    };
}

keys! {
    /// The logins of its own accounts, without `[bot]`, the current one first.
    logins: Vec<String>,
    /// The ids of those accounts. They stay when a login changes, and decide where they are known: an account with one
    /// of the logins and another id is a look-alike.
    ids: Vec<u64>,
    /// The logins among `logins` whose ids are not in `ids`. They count with any id.
    logins_without_id: Vec<String>,
    /// The kind that those accounts must have, so that a person with a bot's login is not recognised.
    kind: ProfileAccountKind,
    /// Accounts that it shares with other programs. Such a post is its own if one of `body_marks` matches.
    shared_logins: Vec<String>,
    body_marks: Vec<Pattern>,
    /// Where the reviewer posts.
    posts: Vec<Channel>,
    title: TitleFrom,
    /// Texts in the place of a title that are not titles.
    title_skip: Vec<Pattern>,
    /// Removed from a title.
    title_strip: Vec<Pattern>,
    severity: Vec<SeverityMark>,
    category: Vec<CategoryMark>,
    /// Whether the common severity marks count for this reviewer.
    common_marks: Flag,
    /// Captures the finding's own id, in a hidden comment.
    own_id: Vec<Pattern>,
    /// Captures the finding's place in a hidden comment, with the groups `path`, `from` and `to`.
    place: Vec<Pattern>,
    /// Captures the reviewed commit, anywhere in the post.
    commit: Vec<Pattern>,
    /// The post is one finding, even outside a thread.
    finding: Vec<Mark>,
    /// The post introduces a review that is still to come.
    introduction: Vec<Mark>,
    /// The reviewer accepts: addressed, resolved, withdrawn.
    accepted: Vec<Mark>,
    /// The reviewer insists.
    holds: Vec<Mark>,
    /// The finding asks for nothing.
    informs: Vec<Mark>,
    /// The post describes the change. Without a result beside it, it is none.
    walkthrough: Vec<Mark>,
    /// The review found nothing.
    clean: Vec<Mark>,
    /// The review's own verdict.
    verdict: Vec<VerdictMark>,
    /// Captures the number of findings in a review.
    count: Vec<Pattern>,
    failure: Vec<Mark>,
    /// Captures how long the reviewer is out of quota, with the groups `hours`, `minutes` and `seconds`.
    retry_after: Vec<Pattern>,
    /// The reviewer is at work, and will edit this post when it is done.
    running: Vec<Mark>,
    /// Not reviewed yet; asking again or waiting helps.
    not_ready: Vec<Mark>,
    /// Acknowledgements and the like.
    noise: Vec<Mark>,
    /// The comment answers somebody and is no review.
    chat: Vec<Mark>,
    /// The post is a table of the reviewer's runs.
    status_table: Vec<Mark>,
    /// The state of one run in a status table. The first group, if there is one, is its commit.
    status: Vec<StatusMark>,
    /// The layout of findings in the body of a review or comment.
    body_layout: BodyLayout,
    /// The folded sections that hold findings.
    body_sections: Vec<SectionMark>,
    /// Folded sections with a number in their title that hold no findings.
    other_sections: Vec<Pattern>,
    /// What its reactions to the pull request mean.
    reactions: Reactions,
    /// Whether its clean reaction alone counts as a clean review.
    trust_reaction: bool,
    /// The comment that asks it to review again; empty if no comment does.
    ask_again: String,
    /// Whether it reviews again when GitHub's "Re-request review" is used.
    re_request: bool,
    /// How the reviewer shows that a finding is settled.
    settles: Vec<Settling>,
}

impl ProfileOverride {
    /// Whether it has no key except the name.
    pub fn is_empty(&self) -> bool {
        Profile::default().apply(self).is_empty()
    }
}

/// The kind of account that a profile expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProfileAccountKind {
    #[default]
    Bot,
    User,
    /// Any kind of account.
    Any,
}

impl ProfileAccountKind {
    pub const ALL: [(&'static str, ProfileAccountKind); 3] = [
        ("bot", ProfileAccountKind::Bot),
        ("user", ProfileAccountKind::User),
        ("any", ProfileAccountKind::Any),
    ];

    pub(super) fn matches(self, account: AccountKind) -> bool {
        match self {
            ProfileAccountKind::Bot => account == AccountKind::Bot,
            ProfileAccountKind::User => matches!(account, AccountKind::User | AccountKind::EnterpriseUser),
            ProfileAccountKind::Any => true,
        }
    }
}

/// A boolean that is true by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Flag(pub bool);

impl Default for Flag {
    fn default() -> Flag {
        Flag(true)
    }
}

/// Where a reviewer posts.
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

/// Where a reviewer puts the title of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TitleFrom {
    /// Its findings have no title.
    None,
    /// The first heading.
    Heading,
    /// The bold text at the start of the post; only badges and labels may come before it.
    #[default]
    Strong,
    /// Like `Strong`, or else the first line that is wholly bold.
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

/// The layout of the findings in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyLayout {
    #[default]
    None,
    /// A folded section with a folded block for each file; in it, line numbers and then the finding.
    FoldedFiles,
    /// A folded section with a bold `path:line` before each finding, or a folded block for each finding with
    /// its title, its `path:line` and its text.
    FoldedPlaces,
    /// A folded block for each finding, with a numbered title.
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

/// How a reviewer shows that a finding is settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settling {
    /// The reviewer resolves the thread.
    Thread,
    /// The reviewer edits its own post.
    Edit,
    /// The reviewer says so in a reply.
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
    /// Any line outside folded blocks and code fences.
    #[default]
    Line,
    /// The first line with words.
    Lead,
    /// The alt text of an image at the start of the post.
    Badge,
    /// Any line of a short post. A long post discusses what a notice only states.
    Notice,
    /// The small text of a line.
    Small,
    /// The summary of a folded block.
    Summary,
    /// A hidden comment.
    Comment,
    /// A heading outside folded blocks.
    Heading,
    /// Any line outside code fences, folded or not.
    Anywhere,
}

impl MarkPosition {
    pub const ALL: [(&'static str, MarkPosition); 9] = [
        ("line", MarkPosition::Line),
        ("lead", MarkPosition::Lead),
        ("badge", MarkPosition::Badge),
        ("notice", MarkPosition::Notice),
        ("small", MarkPosition::Small),
        ("summary", MarkPosition::Summary),
        ("comment", MarkPosition::Comment),
        ("heading", MarkPosition::Heading),
        ("anywhere", MarkPosition::Anywhere),
    ];
}

/// A review's own verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Clean,
    /// The reviewer asks for changes, or for a closer look.
    Changes,
}

impl Verdict {
    pub const ALL: [(&'static str, Verdict); 2] = [("clean", Verdict::Clean), ("changes", Verdict::Changes)];
}

/// The state of one run in a status table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    Running,
    /// The run ended. Its findings, if any, are posted elsewhere.
    Completed,
    Failed,
}

impl RunStatus {
    pub const ALL: [(&'static str, RunStatus); 3] =
        [("running", RunStatus::Running), ("completed", RunStatus::Completed), ("failed", RunStatus::Failed)];
}

/// The reactions by which a reviewer says something, in GitHub's words, such as `+1` and `eyes`. Empty if it
/// says nothing by one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reactions {
    pub clean: String,
    pub running: String,
}

impl Reactions {
    /// GitHub's reactions.
    pub const ALL: [&'static str; 8] = ["+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"];

    pub fn is_empty(&self) -> bool {
        self.clean.is_empty() && self.running.is_empty()
    }
}

/// A pattern and where in a post it counts.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    #[serde(default)]
    pub at: MarkPosition,
    pub pattern: Pattern,
}

/// A mark that states the severity of a finding.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeverityMark {
    #[serde(default)]
    pub at: MarkPosition,
    pub pattern: Pattern,
    pub is: Severity,
}

/// A mark that states the category of a finding.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CategoryMark {
    #[serde(default)]
    pub at: MarkPosition,
    pub pattern: Pattern,
    pub is: Category,
}

/// A mark that states the review's verdict.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerdictMark {
    #[serde(default)]
    pub at: MarkPosition,
    pub pattern: Pattern,
    pub is: Verdict,
}

/// A mark that states how a run goes. It counts in a line or in a hidden comment.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatusMark {
    #[serde(default)]
    pub at: MarkPosition,
    pub pattern: Pattern,
    pub is: RunStatus,
}

/// The title of a folded section with findings, and their severity if the title states it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SectionMark {
    pub pattern: Pattern,
    #[serde(default)]
    pub is: Option<Severity>,
}
