//! Hidden markers in Cloture's own posts, by which it finds them again, and the keys in them.

use crate::domain::snapshot::{Comment, PullRequestSnapshot, Review, ReviewThread, ThreadComment};
use crate::domain::vocabulary::{ReviewerName, Sha, ThreadId};
use crate::github::write::WriteKey;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The key in the first comment of a driven reviewer's thread.
pub fn finding(thread: &ThreadId) -> Option<WriteKey> {
    key(&["finding", thread.as_str()])
}

/// The key in the review that one cycle posted. It names the head and no count: GitHub outlives the journal,
/// and another journal counts from one again. A reviewer completes at most one cycle at a head (C5).
pub fn review(reviewer: &ReviewerName, head: &Sha) -> Option<WriteKey> {
    key(&["review", reviewer.as_str(), head.as_str()])
}

/// The key of a reviewer's reply in a thread. It names the head for the same reason.
pub fn reply(thread: &ThreadId, reviewer: &ReviewerName, head: &Sha) -> Option<WriteKey> {
    key(&["reply", thread.as_str(), &format!("{reviewer}/{head}")])
}

/// The key that older versions gave to the driver's write with this name. They made it from the name,
/// which counts cycles.
pub fn former_key(name: &str) -> Option<WriteKey> {
    let (kind, rest) = name.split_once('/')?;
    match kind {
        "review" => {
            let (reviewer, number) = rest.rsplit_once('/')?;
            key(&[kind, reviewer, number])
        }
        "reply" => {
            let (thread, turn) = rest.split_once('/')?;
            key(&[kind, thread, turn])
        }
        _ => None,
    }
}

/// The observed reviewer and the head of a request for a review that Cloture posted as a comment (L5).
pub fn posted_ask(comment: &Comment) -> Option<(ReviewerName, Sha)> {
    let key = WriteKey::parse_marker(&comment.body).filter(|_| comment.written_by_us)?;
    let (reviewer, head) = key.as_str().strip_prefix("ask/")?.split_once('/')?;
    Some((unspelled(reviewer).into(), unspelled(head).as_str().into()))
}

/// Whether the key is that of a driven reviewer's review.
pub fn is_review(key: &WriteKey) -> bool {
    key.as_str().starts_with("review/")
}

/// Opens the marker of a finding that is in a review's text, because it has no place in the diff.
const IN_TEXT: &str = "<!-- cloture-finding:";
const IN_TEXT_END: &str = " -->";

/// The marker of a finding in a review's text, from the key that its thread would have.
pub fn in_text(finding: &WriteKey) -> String {
    format!("{IN_TEXT}{finding}{IN_TEXT_END}")
}

/// A reviewer's text in which no such marker counts (S1).
pub fn without_markers(text: &str) -> String {
    text.replace(IN_TEXT, "<!-- quoted cloture-finding:")
}

/// The driven reviewers' findings that Cloture posted in a review's text, by the engine's id, each with the
/// review. They have no thread on the forge.
pub fn findings_in_text(snapshot: &PullRequestSnapshot) -> BTreeMap<ThreadId, &Review> {
    let mut findings = BTreeMap::new();
    for review in snapshot.reviews.iter().filter(|review| posted_review(review).is_some()) {
        let markers = review.body.split(IN_TEXT).skip(1);
        let keys = markers.filter_map(|rest| rest.split_once(IN_TEXT_END)?.0.strip_prefix("finding/"));
        findings.extend(keys.map(|thread| (unspelled(thread).into(), review)));
    }
    findings
}

/// A key from any texts. Characters that a key cannot hold are written as their codes, so different parts
/// give different keys.
pub fn key(parts: &[&str]) -> Option<WriteKey> {
    let parts: Vec<String> = parts.iter().map(|part| spelled(part)).collect();
    WriteKey::new(&parts.join("/")).ok().or_else(|| {
        // Too long for a marker: use a digest instead of the rest.
        let digest = digest(parts.join("/").bytes());
        WriteKey::new(&format!("{}/{digest}", parts.first()?)).ok()
    })
}

fn spelled(part: &str) -> String {
    let mut spelled = String::new();
    for c in part.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => spelled.push(c),
            '-' if !spelled.ends_with('-') => spelled.push(c),
            _ => {
                let _infallible = write!(spelled, ".{:x}.", u32::from(c));
            }
        }
    }
    spelled
}

/// FNV-1a in 128 bits: the same in every version and on every machine, which the standard hasher is not. It
/// need not withstand an attacker, because a marker counts only in a post by Cloture's own account (S1).
pub(crate) fn digest(bytes: impl Iterator<Item = u8>) -> String {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let hash = bytes.fold(OFFSET, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME));
    format!("{hash:032x}")
}

/// The forge's threads that Cloture's account opened for driven reviewers, by the engine's id. A marker in
/// another account's post does not count (S1).
pub fn posted_threads(snapshot: &PullRequestSnapshot) -> BTreeMap<ThreadId, &ReviewThread> {
    let mut posted = BTreeMap::new();
    for seen in &snapshot.threads {
        let Some(first) = seen.opening().filter(|comment| comment.written_by_us) else { continue };
        let Some(found) = WriteKey::parse_marker(&first.body) else { continue };
        if let Some(thread) = found.as_str().strip_prefix("finding/") {
            posted.entry(unspelled(thread).into()).or_insert(seen);
        }
    }
    posted
}

/// The driven reviewer of a review that Cloture posted.
pub fn posted_review(review: &Review) -> Option<ReviewerName> {
    if !review.written_by_us {
        return None;
    }
    let found = WriteKey::parse_marker(&review.body)?;
    let (reviewer, _number) = found.as_str().strip_prefix("review/")?.rsplit_once('/')?;
    Some(unspelled(reviewer).into())
}

/// The turn in the key of a reply by the driver.
pub fn reply_turn(key: &WriteKey) -> Option<String> {
    let (_thread, turn) = key.as_str().strip_prefix("reply/")?.split_once('/')?;
    Some(unspelled(turn))
}

/// The driven reviewer of a reply that Cloture posted. Cloture's replies in its own name have other keys. The
/// part after the reviewer is a head, or a count in replies of older versions.
pub fn posted_reply(comment: &ThreadComment) -> Option<ReviewerName> {
    if !comment.written_by_us {
        return None;
    }
    let turn = reply_turn(&WriteKey::parse_marker(&comment.body)?)?;
    let (reviewer, head) = turn.split_once('/')?;
    let is_head = !head.is_empty() && head.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_head.then(|| reviewer.to_owned().into())
}

/// Whether Cloture posted a driven reviewer's finding with this comment.
pub fn is_finding(comment: &ThreadComment) -> bool {
    let found = WriteKey::parse_marker(&comment.body).filter(|_| comment.written_by_us);
    found.is_some_and(|found| found.as_str().starts_with("finding/"))
}

fn unspelled(part: &str) -> String {
    let mut text = String::new();
    let mut pieces = part.split('.');
    text.push_str(pieces.next().unwrap_or_default());
    while let (Some(code), Some(plain)) = (pieces.next(), pieces.next()) {
        text.extend(u32::from_str_radix(code, 16).ok().and_then(char::from_u32));
        text.push_str(plain);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::vocabulary::Association;

    fn comment(body: &str, written_by_us: bool) -> ThreadComment {
        let at = "2026-03-02T10:00:00Z".parse().unwrap();
        ThreadComment {
            id: "PRRC_1".to_owned(),
            author: None,
            association: Association::None,
            written_by_us,
            body: body.to_owned(),
            diff_hunk: String::new(),
            created_at: at,
            updated_at: at,
            edited_at: None,
            commit: None,
            original_commit: None,
            reply_to: None,
            review: None,
            minimized: None,
            pending: false,
            url: String::new(),
        }
    }

    #[test]
    fn s1_a_marker_in_another_accounts_post_does_not_count() {
        let reviewer = ReviewerName::from("orange");
        let key = reply(&"PRRT_1".into(), &reviewer, &"9f8e7d6c".into()).unwrap();
        for key in [key, former_key("reply/PRRT_1/orange/2").unwrap()] {
            let body = key.mark("Still there.");
            assert_eq!(posted_reply(&comment(&body, true)), Some(reviewer.clone()), "{key}");
            assert_eq!(posted_reply(&comment(&body, false)), None, "S1");
        }
        // Replies in Cloture's own name belong to no reviewer.
        for turn in ["repeats", "escalated/round_limit/0/0", "unlisted"] {
            let own = super::key(&["reply", "PRRT_1", turn]).unwrap().mark("This needs a person.");
            assert_eq!(posted_reply(&comment(&own, true)), None, "{turn}");
        }
    }

    #[test]
    fn the_keys_of_older_versions_follow_from_the_names_of_their_writes() {
        let former = |name: &str| former_key(name).map(|key| key.as_str().to_owned());
        assert_eq!(former("review/orange/1").as_deref(), Some("review/orange/1"));
        assert_eq!(former("review/a b/12").as_deref(), Some("review/a.20.b/12"));
        assert_eq!(former("reply/PRRT_1/orange/2").as_deref(), Some("reply/PRRT_1/orange.2f.2"));
        let escalated = former("reply/PRRT_1/escalated/round_limit/0/0");
        assert_eq!(escalated.as_deref(), Some("reply/PRRT_1/escalated.2f.round_limit.2f.0.2f.0"));
        for other in ["resolve/PRRT_1/orange/2", "round-cap/0/0", "review"] {
            assert_eq!(former(other), None, "{other}");
        }
    }

    #[test]
    fn any_id_survives_the_way_into_a_key_and_back() {
        for name in ["orange-1-2", "a b", "a--b", "ü.x/y", "", "..", "-"] {
            let spelled = spelled(name);
            assert_eq!(unspelled(&spelled), name, "{spelled}");
            assert!(key(&["finding", name]).is_some(), "{spelled}");
        }
        assert_ne!(key(&["a", "b/c"]), key(&["a", "b", "c"]));
        let long = "x".repeat(500);
        assert!(key(&["finding", &long]).is_some());
        assert_ne!(key(&["finding", &long]), key(&["finding", &format!("{long}y")]));
    }
}
