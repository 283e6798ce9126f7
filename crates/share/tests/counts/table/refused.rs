//! What is no table, and what is no limit.

use super::{Machine, Memory, SECOND, SECRET, Shared, View, fixed, memory, open};
use share::{Algorithm, Fault, LEAST_BYTES, Quota, Table, format};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;

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
