//! Decides which pull requests a poll compares and which it reads in full. Pure: the caller passes the time.

use super::super::discover::PullRequestAddress;
use super::super::read::PullRequestRead;
use super::fingerprint::{Fingerprint, FingerprintChange};
use super::{BATCH, BATCH_WITH_CHECKS};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::time::Duration;

/// The watched pull requests, with the last observations of each.
#[derive(Debug, Clone)]
pub struct Schedule {
    tracked: BTreeMap<PullRequestAddress, Tracked>,
    /// The interval of full reads that happen whatever the light query says.
    sweep: Duration,
}

#[derive(Debug, Clone)]
struct Tracked {
    node_id: Option<String>,
    /// Its address at the last full read, if that differs from the one it is tracked by.
    now_at: Option<PullRequestAddress>,
    fingerprint: Option<Fingerprint>,
    next_sweep: Option<Timestamp>,
    /// Whether the light query asks for the checks. A refusal turns this off.
    checks: bool,
    /// The points of a full read.
    price: u64,
    /// GitHub did not find it; the poller does not ask again before this.
    missing_until: Option<Timestamp>,
    /// The last light fingerprint, if it differed.
    last_light: Option<Fingerprint>,
    /// A light and a full fingerprint that differ although the full read came right after. The same pair
    /// twice means that GitHub answers the two queries differently, and not that something changed.
    mismatch: Option<Mismatch>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Mismatch {
    light: Fingerprint,
    full: Fingerprint,
    confirmed: bool,
}

/// The queries of one poll.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PollPlan {
    pub full: Vec<(PullRequestAddress, FullReadReason)>,
    pub light: Vec<Batch>,
}

/// The pull requests of one light query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    pub with_checks: bool,
    pub members: Vec<(PullRequestAddress, String)>,
}

/// Why a pull request is read in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FullReadReason {
    /// It was never read.
    New,
    /// It is the only one, and a full read costs no more than a light query.
    Only,
    /// Its turn in the sweep, which catches edits of older comments.
    Sweep,
    Changed(Vec<FingerprintChange>),
}

impl Schedule {
    pub fn new(sweep: Duration) -> Self {
        Self { tracked: BTreeMap::new(), sweep }
    }

    /// Adds a pull request, if it is not there yet.
    pub fn track(&mut self, address: PullRequestAddress, node_id: Option<String>) {
        self.tracked.entry(address).or_insert(Tracked {
            node_id,
            now_at: None,
            fingerprint: None,
            next_sweep: None,
            checks: true,
            price: 1,
            missing_until: None,
            last_light: None,
            mismatch: None,
        });
    }

    pub fn forget(&mut self, address: &PullRequestAddress) {
        self.tracked.remove(address);
    }

    pub fn addresses(&self) -> impl Iterator<Item = &PullRequestAddress> {
        self.tracked.keys()
    }

    /// Where to read it, and the id by which to recognise it.
    pub(super) fn whereabouts(&self, address: &PullRequestAddress) -> (PullRequestAddress, Option<String>) {
        let tracked = self.tracked.get(address);
        let now_at = tracked.and_then(|tracked| tracked.now_at.as_ref());
        let node_id = tracked.and_then(|tracked| tracked.node_id.clone());
        (now_at.unwrap_or(address).clone(), node_id)
    }

    /// Plans a poll. A pull request that is read in full is in no light query.
    pub fn plan(&self, now: Timestamp) -> PollPlan {
        let mut plan = PollPlan::default();
        let only = self.tracked.len() == 1;
        let mut with_checks = Vec::new();
        let mut without_checks = Vec::new();
        for (address, tracked) in
            self.tracked.iter().filter(|(_, tracked)| !self.waits_for(tracked.missing_until, now))
        {
            let full = match (&tracked.node_id, &tracked.fingerprint) {
                (Some(_), Some(_)) if !self.waits_for(tracked.next_sweep, now) => Some(FullReadReason::Sweep),
                (Some(_), Some(_)) if only && tracked.price <= 1 => Some(FullReadReason::Only),
                (Some(_), Some(_)) => None,
                _ => Some(FullReadReason::New),
            };
            match (full, &tracked.node_id) {
                (Some(why), _) => plan.full.push((address.clone(), why)),
                (None, Some(id)) if tracked.checks => with_checks.push((address.clone(), id.clone())),
                (None, Some(id)) => without_checks.push((address.clone(), id.clone())),
                (None, None) => {}
            }
        }
        for (members, with_checks, size) in
            [(with_checks, true, BATCH_WITH_CHECKS), (without_checks, false, BATCH)]
        {
            let batches =
                members.chunks(size).map(|members| Batch { with_checks, members: members.to_vec() });
            plan.light.extend(batches);
        }
        plan
    }

    /// Whether GitHub did not find it and the poller does not ask at the moment.
    pub fn is_missing(&self, address: &PullRequestAddress, now: Timestamp) -> bool {
        self.tracked.get(address).is_some_and(|tracked| self.waits_for(tracked.missing_until, now))
    }

    /// Whether a time is still to come. A time more than one sweep away dates from before the clock was set
    /// back, and is ignored.
    fn waits_for(&self, until: Option<Timestamp>, now: Timestamp) -> bool {
        until.is_some_and(|until| until > now && now.checked_add(self.sweep).is_ok_and(|last| until <= last))
    }

    /// Takes a light fingerprint. Returns why a full read is due, if it is.
    pub fn observe_light(
        &mut self,
        address: &PullRequestAddress,
        light: Fingerprint,
    ) -> Option<FullReadReason> {
        let tracked = self.tracked.get_mut(address)?;
        let Some(full) = &tracked.fingerprint else { return Some(FullReadReason::New) };
        let changes = full.changes(&light);
        let explained = tracked
            .mismatch
            .as_ref()
            .is_some_and(|mismatch| mismatch.confirmed && mismatch.light == light && mismatch.full == *full);
        // An equal fingerprint is stored already; a second copy would only cost memory.
        tracked.last_light = (!changes.is_empty()).then_some(light);
        (!changes.is_empty() && !explained).then_some(FullReadReason::Changed(changes))
    }

    /// Takes a full read. Its own fingerprint is stored, so a later change shows in the next light query.
    pub fn observe_full(&mut self, address: &PullRequestAddress, read: &PullRequestRead, now: Timestamp) {
        let sweep = self.sweep;
        let Some(tracked) = self.tracked.get_mut(address) else { return };
        let wait = match tracked.next_sweep {
            // The first turn comes early and at a different time for each, to spread the sweep.
            None => sweep.mul_f64(phase(address)),
            Some(_) => sweep,
        };
        tracked.node_id = Some(read.snapshot.node_id.clone());
        tracked.now_at = Some(read.address()).filter(|now_at| now_at != address);
        tracked.mismatch = tracked.last_light.take().and_then(|light| {
            let full = read.fingerprint.clone();
            let again = tracked.mismatch.take().is_some_and(|old| old.light == light && old.full == full);
            (!light.changes(&full).is_empty()).then_some(Mismatch { light, full, confirmed: again })
        });
        tracked.fingerprint = Some(read.fingerprint.clone());
        tracked.next_sweep = Some(now.checked_add(wait).unwrap_or(Timestamp::MAX));
        tracked.price = read.price;
        tracked.missing_until = None;
    }

    /// GitHub did not find it. The token may get access later, so the poller asks again after a sweep.
    pub fn observe_gone(&mut self, address: &PullRequestAddress, now: Timestamp) {
        let until = now.checked_add(self.sweep).unwrap_or(Timestamp::MAX);
        if let Some(tracked) = self.tracked.get_mut(address) {
            tracked.missing_until = Some(until);
        }
    }

    /// GitHub refused the checks of this one, so the light query leaves them out.
    pub fn observe_no_checks(&mut self, address: &PullRequestAddress) {
        if let Some(tracked) = self.tracked.get_mut(address) {
            tracked.checks = false;
        }
    }
}

/// A number above 0 and at most 1: always the same for a pull request, and evenly spread over many.
fn phase(address: &PullRequestAddress) -> f64 {
    // FNV-1a, because the standard hasher is not stable across versions.
    let mut hash: u32 = 0x811c_9dc5;
    for byte in address.to_string().bytes() {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    // Mixing, because the high bits barely differ between names that differ in their last digit.
    let mixed = (hash ^ (hash >> 15)).wrapping_mul(0x2c1b_3c6d);
    f64::from(mixed >> 16).mul_add(1.0 / 65_536.0, 1.0 / 65_536.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::snapshot::RepositoryName;

    #[test]
    fn the_sweep_is_spread_evenly() {
        let mut tenths = [0_u32; 10];
        for number in 1..=500 {
            let address = PullRequestAddress { repository: RepositoryName::new("o", "r").unwrap(), number };
            let phase = phase(&address);
            assert!(phase > 0.0 && phase <= 1.0);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 9")]
            let tenth = (phase * 9.999) as usize;
            tenths[tenth] += 1;
        }
        assert!(tenths.iter().all(|count| (25..=80).contains(count)), "{tenths:?}");
    }
}
