//! Processes and threads that count at once.

use super::{BUCKET, Machine, Memory, SECOND, fixed, memory, open};
use share::{Algorithm, Level, Quota};
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::Instant;

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
