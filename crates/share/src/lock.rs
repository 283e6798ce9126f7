//! The lock of a bucket: one word that is 0, or names its holder by process and number of the call.
//!
//! A holder does no more than to check and charge, some hundred nanoseconds, unless the system runs something else
//! meanwhile. A process that waits for it yields its core, and holds no other lock, so that none waits in a circle. A
//! lock is broken when its process has ended, or when one call has held it for a second: then the process was stopped.

use std::hint::spin_loop;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::thread::yield_now;

use crate::table::World;

/// Microseconds after which a holder counts as stopped.
const PATIENCE: u64 = 1_000_000;
/// A holder that runs on another core is done by then.
const SPINS: u32 = 200;
/// To ask the system for a process costs microseconds.
const YIELDS: u32 = 16;

/// Names a call, which is not 0 since no process is.
pub fn holder(process: u32, call: u32) -> u64 {
    u64::from(process) << 32 | u64::from(call)
}

/// Takes the lock if it is free, or will be at once.
pub fn try_lock(lock: &AtomicU64, holder: u64) -> bool {
    for _ in 0..SPINS {
        if lock.compare_exchange(0, holder, Acquire, Relaxed).is_ok() {
            return true;
        }
        spin_loop();
    }
    false
}

/// Frees the lock, unless it was broken and is another's.
pub fn unlock(lock: &AtomicU64, holder: u64) {
    let _ = lock.compare_exchange(holder, 0, Release, Relaxed);
}

/// Returns when the lock is free, or another call has it than at first. Gives true if it had to be broken.
pub fn wait(lock: &AtomicU64, world: &impl World) -> bool {
    let seen = lock.load(Relaxed);
    if seen == 0 {
        return false;
    }
    let since = world.micros();
    loop {
        for _ in 0..YIELDS {
            yield_now();
            if lock.load(Relaxed) != seen {
                return false;
            }
        }
        let is_lost = !world.is_running((seen >> 32) as u32)
            || world.micros().saturating_sub(since) > PATIENCE;
        if is_lost {
            return lock.compare_exchange(seen, 0, Acquire, Relaxed).is_ok();
        }
    }
}
