//! Which keys have room.

use super::{Machine, SECOND, fixed, memory, open};
use share::Level;
use std::sync::atomic::Ordering::SeqCst;

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
