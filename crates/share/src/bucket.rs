//! Eight cache lines of the table: a lock, and the counts of up to 15 keys.
//!
//! Two lines have the lock and the first word of each key, by which a key is found. Three words more for each key follow:
//! the rest of the key, the time until which it counts, and the units. Only the holder of the lock writes. The order of
//! its writes is such that a holder which is killed between them leaves a key that is free, or one that has taken too
//! much.

use std::array::from_fn;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::limit::{Key, Limit, policy_of};
use crate::quota::Count;

/// The words of a bucket.
pub const WORDS: usize = 64;
const SLOTS: usize = 15;
/// Where the three words of the first key begin.
const REST: usize = SLOTS + 1;

pub struct Bucket<'a>(pub &'a [AtomicU64; WORDS]);

/// The words of one key.
struct Slot<'a> {
    first: &'a AtomicU64,
    second: &'a AtomicU64,
    expires: &'a AtomicU64,
    units: &'a AtomicU64,
}

impl<'a> Bucket<'a> {
    pub fn lock(&self) -> &'a AtomicU64 {
        &self.0[0]
    }

    /// Gives what is kept of `key`: nothing counts as a count of 0.
    pub fn read(&self, key: Key) -> Count {
        self.find(key).map_or(Count::default(), |slot| slot.read())
    }

    /// Keeps `count` for `key`. Gives true if another key had to go that still counted.
    pub fn write(&self, key: Key, count: Count, now: u64) -> bool {
        if let Some(slot) = self.find(key) {
            slot.write(count, now);
            return false;
        }
        if count.expires <= now {
            return false;
        }
        let free = self.slots().find(|slot| slot.expires.load(Acquire) <= now);
        let is_full = free.is_none();
        let slot = free.unwrap_or_else(|| self.victim(key));
        slot.replace(key, count);
        is_full
    }

    /// Gives the slot that a new key gets in a full bucket: of the policy that would have the most keys with it, the one
    /// that expires first. Where that is true of several policies it is the key's own, so that many keys of one policy
    /// replace each other, and not the few of another, however soon these expire.
    fn victim(&self, key: Key) -> Slot<'a> {
        let policies: [u32; SLOTS] = from_fn(|at| policy_of(self.slot(at).second.load(Acquire)));
        let held = |policy: u32| policies.iter().filter(|&&other| other == policy).count();
        let asks = policy_of(key.1);
        let own = held(asks);
        let most = policies.iter().map(|&policy| held(policy)).max();
        // A policy without a key here has none of its own to replace.
        let replaces_own = own > 0 && Some(own + 1) >= most;
        let victim = (0..SLOTS)
            .filter(|&at| {
                if replaces_own {
                    policies[at] == asks
                } else {
                    Some(held(policies[at])) == most
                }
            })
            .min_by_key(|&at| self.slot(at).expires.load(Acquire));
        self.slot(victim.unwrap_or(0))
    }

    /// Forgets `key`.
    pub fn delete(&self, key: Key) {
        if let Some(slot) = self.find(key) {
            slot.expires.store(0, Release);
        }
    }

    /// Counts the keys of a limit.
    pub fn count(&self, limit: &Limit, now: u64) -> usize {
        let counts =
            |slot: &Slot| limit.has(slot.second.load(Relaxed)) && slot.expires.load(Relaxed) > now;
        self.slots().filter(counts).count()
    }

    fn find(&self, key: Key) -> Option<Slot<'a>> {
        let firsts = &self.0[1..=SLOTS];
        (0..SLOTS)
            .filter(|&at| firsts[at].load(Acquire) == key.0)
            .map(|at| self.slot(at))
            .find(|slot| slot.second.load(Acquire) == key.1)
    }

    fn slots(&self) -> impl Iterator<Item = Slot<'a>> {
        (0..SLOTS).map(|at| self.slot(at))
    }

    fn slot(&self, at: usize) -> Slot<'a> {
        let rest = REST + at * 3;
        Slot {
            first: &self.0[1 + at],
            second: &self.0[rest],
            expires: &self.0[rest + 1],
            units: &self.0[rest + 2],
        }
    }
}

impl Slot<'_> {
    fn read(&self) -> Count {
        let units = self.units.load(Acquire);
        Count {
            expires: self.expires.load(Acquire),
            units: units as u32,
            before: (units >> 32) as u32,
        }
    }

    /// A key that counts has its time moved on first: the units of the time before, in the new one, are too many. One
    /// that does not count has its units written first, so that it begins to count with the right ones.
    fn write(&self, count: Count, now: u64) {
        let expires = if count.expires > now {
            count.expires
        } else {
            0
        };
        let units = packed(count);
        if self.expires.load(Acquire) > now {
            self.expires.store(expires, Release);
            self.units.store(units, Release);
        } else {
            self.units.store(units, Release);
            self.expires.store(expires, Release);
        }
    }

    fn replace(&self, key: Key, count: Count) {
        self.expires.store(0, Release);
        self.first.store(key.0, Release);
        self.second.store(key.1, Release);
        self.units.store(packed(count), Release);
        self.expires.store(count.expires, Release);
    }
}

fn packed(count: Count) -> u64 {
    u64::from(count.before) << 32 | u64::from(count.units)
}
