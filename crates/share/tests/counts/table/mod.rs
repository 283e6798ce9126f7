//! Tables that are not tables, keys that have to go, locks whose holder is gone, and threads that hammer one key.

mod locks;
mod refused;
mod room;

use share::{Algorithm, Quota, Table, World, format};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU64};

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
