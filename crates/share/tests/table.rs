//! Tables that are not tables, keys that have to go, locks whose holder is gone, and threads that hammer one key.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread;
use std::time::Instant;

use share::{Algorithm, Fault, LEAST_BYTES, Level, Quota, Table, World, format};

const SECRET: [u64; 2] = [0x0123_4567_89ab_cdef, 42];
const SECOND: u64 = 1_000_000;
const BUCKET: usize = 64;

struct Machine {
    now: AtomicU64,
    /// Each look at the clock moves it by this much.
    step: u64,
    is_running: AtomicBool,
}

impl Machine {
    fn new(step: u64) -> Arc<Self> {
        Arc::new(Self {
            now: AtomicU64::new(5 * SECOND),
            step,
            is_running: AtomicBool::new(true),
        })
    }
}

struct View(Arc<Machine>);

impl World for View {
    fn micros(&self) -> u64 {
        self.0.now.fetch_add(self.0.step, SeqCst)
    }

    fn is_running(&self, process: u32) -> bool {
        assert_eq!(process, 77, "it is asked about the holder");
        self.0.is_running.load(SeqCst)
    }
}

type Memory = Arc<[AtomicU64]>;

/// A memory of so many buckets.
fn memory(buckets: usize) -> Memory {
    let words = (0..(buckets + 1) * BUCKET).map(|_| AtomicU64::new(0));
    let memory: Memory = words.collect();
    format(&memory, SECRET).unwrap();
    memory
}

/// An `Arc` of a slice is no `AsRef` of the slice for the reference that a table needs to own.
#[derive(Clone)]
struct Shared(Memory);

impl AsRef<[AtomicU64]> for Shared {
    fn as_ref(&self) -> &[AtomicU64] {
        &self.0
    }
}

fn open(memory: &Memory, machine: &Arc<Machine>, process: u32) -> Table<Shared, View> {
    Table::open(Shared(memory.clone()), View(machine.clone()), process).unwrap()
}

fn fixed(max: u32, window: u64) -> Quota {
    Quota::new(Algorithm::Fixed, max, window, 1).unwrap()
}

#[test]
fn numbers_that_no_limit_has_are_refused() {
    let quota = |max, window, burst| Quota::new(Algorithm::Gcra, max, window, burst);
    for (max, window, burst) in [
        (0, 1, 1),
        (1, 0, 1),
        (1, 1, 0),
        (1_000_000_001, 1, 1),
        (1, 1, 1_000_000_001),
        (1, 31 * 86_400 * SECOND + 1, 1),
    ] {
        assert_eq!(quota(max, window, burst), None);
    }
    assert!(quota(1_000_000_000, 31 * 86_400 * SECOND, 1_000_000_000).is_some());
    let table = open(&memory(1), &Machine::new(0), 1);
    let quotas = |count| vec![fixed(1, 1); count];
    assert!(table.limit(b"", quotas(0)).is_none());
    assert!(table.limit(b"", quotas(17)).is_none());
    assert!(table.limit(b"", quotas(16)).is_some());
}

#[test]
fn a_memory_that_is_no_table_is_refused() {
    let machine = Machine::new(0);
    let fault = |memory: &Memory| {
        Table::open(Shared(memory.clone()), View(machine.clone()), 1)
            .err()
            .unwrap()
    };
    let short: Memory = (0..LEAST_BYTES / 8 - 1)
        .map(|_| AtomicU64::new(0))
        .collect();
    assert_eq!(format(&short, SECRET), Err(Fault::TooShort));
    assert_eq!(fault(&short), Fault::TooShort);
    let zeros: Memory = (0..LEAST_BYTES / 8).map(|_| AtomicU64::new(0)).collect();
    assert_eq!(fault(&zeros), Fault::NoTable);
    let newer = memory(1);
    newer[1].fetch_add(1, SeqCst);
    assert_eq!(fault(&newer), Fault::OtherVersion);
    let longer = memory(1);
    longer[2].fetch_add(64, SeqCst);
    assert_eq!(fault(&longer), Fault::OtherLength);
}

#[test]
fn limits_of_one_identity_count_together_and_others_apart() {
    let (memory, machine) = (memory(8), Machine::new(0));
    let passed = |process, identity: &[u8], policy: usize| {
        let table = open(&memory, &machine, process);
        let limit = table.limit(identity, vec![fixed(2, SECOND)]).unwrap();
        let keys = [limit.key(policy, b"k")];
        let mut levels = [Level::default()];
        (0..3)
            .filter(|_| table.take(&limit, &keys, 1, &mut levels))
            .count()
    };
    assert_eq!(passed(1, b"a", 0), 2);
    assert_eq!(passed(2, b"a", 0), 0);
    assert_eq!(passed(1, b"b", 0), 2);
    assert_eq!(passed(1, b"a", 1), 2);
}

#[test]
fn expired_keys_make_room_and_else_a_key_of_the_limit_that_has_the_most_goes() {
    let (memory, machine) = (memory(1), Machine::new(0));
    let table = open(&memory, &machine, 1);
    let (short, long) = (fixed(5, SECOND), fixed(5, 100 * SECOND));
    let short = table.limit(b"short", vec![short]).unwrap();
    let long = table.limit(b"long", vec![long]).unwrap();
    let mut levels = [Level::default()];
    let mut take = |limit, key: u8| {
        let limit: &share::Limit = limit;
        assert!(table.take(limit, &[limit.key(0, &[key])], 1, &mut levels));
        levels[0].remaining
    };
    for key in 0..14 {
        assert_eq!(take(&long, key), 4);
    }
    assert_eq!(take(&short, 0), 4);
    assert_eq!((table.keys(&long), table.keys(&short)), (14, 1));
    assert_eq!(table.evicted(), 0);
    // The bucket is full: one of the many goes, and not the one that expires first.
    assert_eq!(take(&long, 14), 4);
    assert_eq!((table.keys(&long), table.keys(&short)), (14, 1));
    assert_eq!(table.evicted(), 1);
    assert_eq!(take(&short, 0), 3);
    assert_eq!(take(&short, 1), 4);
    assert_eq!((table.keys(&long), table.keys(&short)), (13, 2));
    assert_eq!(table.evicted(), 2);
    // They have expired, and their places are free.
    machine.now.fetch_add(SECOND, SeqCst);
    assert_eq!(take(&long, 19), 4);
    assert_eq!(take(&long, 20), 4);
    assert_eq!(table.evicted(), 2);
    assert_eq!(take(&long, 20), 3);
    table.reset(&[long.key(0, &[20]), long.key(0, &[21])]);
    assert_eq!(take(&long, 20), 4);
    // Nothing is kept of a key that took nothing.
    table.refund(&short, &[short.key(0, b"none")], 1);
    assert!(table.take(&short, &[short.key(0, b"none")], 0, &mut levels));
    assert_eq!((table.keys(&long), table.keys(&short)), (15, 0));
}

#[test]
fn a_flood_of_one_limit_leaves_the_few_keys_of_another() {
    let day = fixed(1_000, 86_400 * SECOND);
    let sign_in = fixed(5, 900 * SECOND);
    let name = |at: u32| at.to_le_bytes();
    for has_flood_first in [false, true] {
        let table = open(&memory(1), &Machine::new(1), 1);
        let lax = table.limit(b"lax", vec![day]).unwrap();
        let strict = table.limit(b"strict", vec![sign_in]).unwrap();
        let mut levels = [Level::default()];
        let mut take = |limit: &share::Limit, key: share::Key| {
            let passes = table.take(limit, &[key], 1, &mut levels);
            (passes, levels[0].remaining)
        };
        if has_flood_first {
            for at in 0..100 {
                take(&lax, lax.key(0, &name(at)));
            }
            assert_eq!((table.keys(&lax), table.evicted()), (15, 85));
        }
        let me = strict.key(0, b"me");
        for left in (0..5).rev() {
            assert_eq!(take(&strict, me), (true, left));
            for at in 0..200 {
                let key = lax.key(0, &name(1_000 * (at + 1) + left as u32));
                assert_eq!(take(&lax, key), (true, 999), "each is new");
                // It has replaced another of its own, and is there.
                assert_eq!(take(&lax, key), (true, 998));
            }
        }
        assert_eq!(take(&strict, me), (false, 0));
        assert_eq!((table.keys(&lax), table.keys(&strict)), (14, 1));
    }
}

#[test]
fn a_flood_of_one_policy_leaves_the_key_of_another_of_its_limit() {
    let table = open(&memory(1), &Machine::new(1), 1);
    let (day, minute) = (fixed(5, 86_400 * SECOND), fixed(1_000, 60 * SECOND));
    let limit = table.limit(b"both", vec![day, minute]).unwrap();
    let mut levels = [Level::default(); 2];
    for at in 0..1_000_u32 {
        let keys = [limit.key(0, &at.to_le_bytes()), limit.key(1, b"me")];
        assert!(table.take(&limit, &keys, 1, &mut levels));
        assert_eq!(levels[1].remaining, 999 - u64::from(at));
    }
    assert_eq!((table.keys(&limit), table.evicted()), (15, 986));
}

#[test]
fn two_limits_that_share_a_place_evenly_take_no_more_from_each_other() {
    let table = open(&memory(1), &Machine::new(1), 1);
    let limit = |name: &[u8]| table.limit(name, vec![fixed(5, SECOND)]).unwrap();
    let (one, other) = (limit(b"one"), limit(b"other"));
    let take = |limit: &share::Limit, key: u8| {
        let key = limit.key(0, &[key]);
        assert!(table.take(limit, &[key], 1, &mut [Level::default()]));
    };
    for key in 0..8 {
        take(&one, key);
    }
    for key in 0..100 {
        take(&other, key);
        assert_eq!(table.keys(&one), 8);
    }
    assert_eq!((table.keys(&other), table.evicted()), (7, 93));
}

#[test]
fn a_new_policy_finds_room_also_where_each_place_has_another_one() {
    let (memory, machine) = (memory(1), Machine::new(0));
    let table = open(&memory, &machine, 1);
    let mut levels = [Level::default()];
    let limits: Vec<_> = (0..16_u8)
        .map(|at| {
            let window = (100 - u64::from(at)) * SECOND;
            table.limit(&[at], vec![fixed(5, window)]).unwrap()
        })
        .collect();
    for limit in &limits {
        assert!(table.take(limit, &[limit.key(0, b"k")], 1, &mut levels));
    }
    // The one that would have expired first made room.
    let kept: Vec<_> = limits.iter().map(|limit| table.keys(limit)).collect();
    assert_eq!(kept, [vec![1; 14], vec![0, 1]].concat());
    assert_eq!(table.evicted(), 1);
    // Another key of a policy replaces the only one that it has.
    let last = &limits[15];
    assert!(table.take(last, &[last.key(0, b"other")], 1, &mut levels));
    let now: Vec<_> = limits.iter().map(|limit| table.keys(limit)).collect();
    assert_eq!(now, kept);
}

/// Gives a lock to a call of process 77 in every bucket.
fn hold_all(memory: &Memory) {
    for bucket in memory.chunks(BUCKET).skip(1) {
        bucket[0].store(77 << 32 | 5, SeqCst);
    }
}

#[test]
fn the_lock_of_a_process_that_ended_is_taken_from_it() {
    let (memory, machine) = (memory(1), Machine::new(0));
    let table = open(&memory, &machine, 1);
    let limit = table.limit(b"a", vec![fixed(2, SECOND)]).unwrap();
    machine.is_running.store(false, SeqCst);
    let mut levels = [Level::default()];
    for passed in [true, true, false] {
        hold_all(&memory);
        let key = limit.key(0, b"k");
        assert_eq!(table.take(&limit, &[key], 1, &mut levels), passed);
    }
    assert_eq!(table.broken(), 3);
    assert_eq!(memory[BUCKET].load(SeqCst), 0, "it is free");
}

#[test]
fn the_lock_of_a_process_that_stands_still_is_taken_from_it_after_a_second() {
    let (memory, machine) = (memory(4), Machine::new(1_000));
    let table = open(&memory, &machine, 1);
    let limit = table.limit(b"a", vec![fixed(2, SECOND); 3]).unwrap();
    let keys = [0, 1, 2].map(|at| limit.key(at, b"k"));
    hold_all(&memory);
    let before = machine.now.load(SeqCst);
    let mut levels = [Level::default(); 3];
    assert!(table.take(&limit, &keys, 1, &mut levels));
    let places = table.broken();
    assert!((1..=3).contains(&places), "{places}");
    let waited = machine.now.load(SeqCst) - before;
    assert!(waited > places * SECOND && waited < places * SECOND * 2);
}

#[test]
fn threads_that_hammer_one_key_get_exactly_what_there_is() {
    for algorithm in [Algorithm::Gcra, Algorithm::Fixed, Algorithm::Sliding] {
        let (memory, machine) = (memory(2), Machine::new(0));
        let max = 20_000;
        let start = Instant::now();
        let hammer = |process: u32| {
            let (memory, machine) = (memory.clone(), machine.clone());
            move || {
                // A thread may be without its core for long; nobody has ended, and time stands still.
                let table = open(&memory, &machine, process);
                let quota = Quota::new(algorithm, max, 3_600 * SECOND, max).unwrap();
                let limit = table.limit(b"a", vec![quota, quota]).unwrap();
                let mut levels = [Level::default(); 2];
                let keys = [limit.key(0, b"k"), limit.key(1, b"k")];
                let swapped = [keys[1], keys[0]];
                let tried = (0..max).filter(|at| {
                    let keys = if at % 2 == 0 { keys } else { swapped };
                    let passes = table.take(&limit, &keys, 1, &mut levels);
                    if passes && at % 16 == 0 {
                        table.refund(&limit, &keys, 1);
                        return false;
                    }
                    passes
                });
                tried.count()
            }
        };
        // All have the id that the machine is asked about.
        let threads: Vec<_> = (0..4).map(|_| thread::spawn(hammer(77))).collect();
        let passed: usize = threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum();
        assert_eq!(passed, max as usize);
        let table = open(&memory, &machine, 1);
        assert_eq!((table.evicted(), table.broken()), (0, 0));
        assert!(start.elapsed().as_secs() < 60, "a hang");
    }
}
