//! The table: a header, and buckets. A key has one bucket, which its fingerprint chooses.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};

use crate::bucket::{Bucket, WORDS};
use crate::limit::{Key, Limit, MOST_POLICIES, Secret};
use crate::lock::{holder, try_lock, unlock, wait};
use crate::quota::{Count, Level, Quota};

/// The least bytes of a table: the header and one bucket.
pub const LEAST_BYTES: usize = 2 * WORDS * 8;

const MAGIC: u64 = u64::from_le_bytes(*b"volantRL");
/// It changes with the layout of the memory.
const VERSION: u64 = 1;

/// The words of the header.
const AT_MAGIC: usize = 0;
const AT_VERSION: usize = 1;
const AT_WORDS: usize = 2;
const AT_SECRET: usize = 3;
const AT_EVICTED: usize = 5;
const AT_BROKEN: usize = 6;

/// What a table has to know of the machine.
pub trait World {
    /// Microseconds that never go back, from a start that all processes share.
    fn micros(&self) -> u64;
    /// False if no process has this id.
    fn is_running(&self, process: u32) -> bool;
}

/// Why a memory is not a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is shorter than [`LEAST_BYTES`].
    TooShort,
    /// It does not begin as a table does.
    NoTable,
    /// It was made by another version.
    OtherVersion,
    /// It has another length than its header says.
    OtherLength,
}

/// Counts in shared memory.
pub struct Table<M, W> {
    memory: M,
    world: W,
    process: u32,
    calls: AtomicU32,
    secret: Secret,
}

/// Makes a table of a memory that is all zeros and that no process uses yet. `secret` has to be random.
pub fn format(memory: &[AtomicU64], secret: [u64; 2]) -> Result<(), Fault> {
    let (buckets, _) = memory.as_chunks::<WORDS>();
    let [header, _, ..] = buckets else {
        return Err(Fault::TooShort);
    };
    header[AT_VERSION].store(VERSION, Relaxed);
    header[AT_WORDS].store(memory.len() as u64, Relaxed);
    header[AT_SECRET].store(secret[0], Relaxed);
    header[AT_SECRET + 1].store(secret[1], Relaxed);
    header[AT_MAGIC].store(MAGIC, Release);
    Ok(())
}

impl<M: AsRef<[AtomicU64]>, W: World> Table<M, W> {
    /// Opens what [`format`] made. `process` is the id of this process.
    pub fn open(memory: M, world: W, process: u32) -> Result<Self, Fault> {
        let words = memory.as_ref();
        let (buckets, _) = words.as_chunks::<WORDS>();
        let [header, _, ..] = buckets else {
            return Err(Fault::TooShort);
        };
        if header[AT_MAGIC].load(Acquire) != MAGIC {
            return Err(Fault::NoTable);
        }
        if header[AT_VERSION].load(Relaxed) != VERSION {
            return Err(Fault::OtherVersion);
        }
        if header[AT_WORDS].load(Relaxed) != words.len() as u64 {
            return Err(Fault::OtherLength);
        }
        let [first, second] = [AT_SECRET, AT_SECRET + 1].map(|at| header[at].load(Relaxed));
        Ok(Self {
            memory,
            world,
            process,
            calls: AtomicU32::new(0),
            secret: Secret(first, second),
        })
    }

    /// Gives the limit that counts by these quotas. Limits of the same identity count together in all processes, so it
    /// has to name the quotas too. Gives `None` for no quota, or more than [`MOST_POLICIES`].
    pub fn limit(&self, identity: &[u8], quotas: Vec<Quota>) -> Option<Limit> {
        Limit::new(self.secret, identity, quotas)
    }

    /// Charges `cost` to the keys of all policies, or to none of them, and gives true if they were charged. A key that may
    /// never have so much is charged all that it may have. `levels` then say how the keys stand. There has to be a key
    /// for each policy, made by [`Limit::key`].
    pub fn take(&self, limit: &Limit, keys: &[Key], cost: u32, levels: &mut [Level]) -> bool {
        let held = self.hold(keys);
        let now = self.world.micros();
        let mut counts = [Count::default(); MOST_POLICIES];
        let mut passes = true;
        for (((quota, key), level), count) in limit
            .quotas()
            .iter()
            .zip(keys)
            .zip(&mut *levels)
            .zip(&mut counts)
        {
            let kept = self.bucket(*key).read(*key);
            (*level, *count) = quota.check(kept, now, cost.min(quota.most()));
            passes &= level.allowed;
        }
        if passes {
            let mut evicted = 0;
            for (key, count) in keys.iter().zip(counts) {
                evicted += u64::from(self.bucket(*key).write(*key, count, now));
            }
            if evicted > 0 {
                self.header()[AT_EVICTED].fetch_add(evicted, Relaxed);
            }
        } else {
            for (quota, level) in limit.quotas().iter().zip(levels) {
                if level.allowed {
                    level.remaining += u64::from(cost.min(quota.most()));
                }
            }
        }
        drop(held);
        passes
    }

    /// Gives `cost` back to the keys of all policies.
    pub fn refund(&self, limit: &Limit, keys: &[Key], cost: u32) {
        let held = self.hold(keys);
        let now = self.world.micros();
        for (quota, key) in limit.quotas().iter().zip(keys) {
            let bucket = self.bucket(*key);
            let count = quota.refund(bucket.read(*key), now, cost.min(quota.most()));
            // No key has to go for it: one that is not kept has nothing to get back.
            bucket.write(*key, count, now);
        }
        drop(held);
    }

    /// Forgets keys.
    pub fn reset(&self, keys: &[Key]) {
        let held = self.hold(keys);
        for key in keys {
            self.bucket(*key).delete(*key);
        }
        drop(held);
    }

    /// Counts the keys of a limit that are kept now. It reads the whole table, about 20 µs for each MiB.
    pub fn keys(&self, limit: &Limit) -> usize {
        let now = self.world.micros();
        let (_, buckets) = self.parts();
        let counts = buckets.iter().map(|words| Bucket(words).count(limit, now));
        counts.sum()
    }

    /// How many keys had to go while they still counted, since their bucket was full.
    pub fn evicted(&self) -> u64 {
        self.header()[AT_EVICTED].load(Relaxed)
    }

    /// How often a lock was taken from a process that had ended or was stopped.
    pub fn broken(&self) -> u64 {
        self.header()[AT_BROKEN].load(Relaxed)
    }

    /// Locks the buckets of all keys. None is held while another is waited for.
    fn hold(&self, keys: &[Key]) -> Held<'_> {
        let mut places = [0; MOST_POLICIES];
        let mut count = 0;
        for key in keys.iter().take(MOST_POLICIES) {
            let place = self.place(*key);
            if !places[..count].contains(&place) {
                places[count] = place;
                count += 1;
            }
        }
        places[..count].sort_unstable();
        let call = self.calls.fetch_add(1, Relaxed);
        let (_, buckets) = self.parts();
        let mut held = Held {
            buckets,
            places,
            count: 0,
            holder: holder(self.process, call),
        };
        while held.count < count {
            let lock = Bucket(&buckets[places[held.count]]).lock();
            if try_lock(lock, held.holder) {
                held.count += 1;
                continue;
            }
            held.release();
            if wait(lock, &self.world) {
                self.header()[AT_BROKEN].fetch_add(1, Relaxed);
            }
        }
        held
    }

    fn bucket(&self, key: Key) -> Bucket<'_> {
        let (_, buckets) = self.parts();
        Bucket(&buckets[self.place(key)])
    }

    /// Maps the first word of a key to the buckets by its upper bits.
    fn place(&self, key: Key) -> usize {
        let (_, buckets) = self.parts();
        ((u128::from(key.0) * buckets.len() as u128) >> 64) as usize
    }

    fn header(&self) -> &[AtomicU64; WORDS] {
        self.parts().0
    }

    fn parts(&self) -> (&[AtomicU64; WORDS], &[[AtomicU64; WORDS]]) {
        let (buckets, _) = self.memory.as_ref().as_chunks::<WORDS>();
        let [header, buckets @ ..] = buckets else {
            unreachable!("`open` has seen a header and a bucket")
        };
        (header, buckets)
    }
}

/// The locks of a call. They are freed also when it panics.
struct Held<'a> {
    buckets: &'a [[AtomicU64; WORDS]],
    places: [usize; MOST_POLICIES],
    count: usize,
    holder: u64,
}

impl Held<'_> {
    fn release(&mut self) {
        for place in &self.places[..self.count] {
            unlock(Bucket(&self.buckets[*place]).lock(), self.holder);
        }
        self.count = 0;
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.release();
    }
}
