//! Measurements in real time on a machine that may stand still.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often a measurement is made if the machine stands still within each.
const ATTEMPTS: usize = 10;
/// A process that does not run for longer has stood still. Between two looks pass 5 ms.
const STANDSTILL: Duration = Duration::from_millis(40);

/// The generators that were started and may run.
static GENERATORS: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// Has `measured` look at a process, too.
pub fn watch(generator: u32) {
    GENERATORS.lock().unwrap().push(generator);
}

/// Runs the body of a test that compares times. If it fails while this process or a generator stood still, it is made
/// again, and standard error says so; if not, or the tenth time, the test has failed.
pub fn measured(name: &str, test: impl Fn()) {
    for attempt in 1..=ATTEMPTS {
        let (over, stood) = (AtomicBool::new(false), AtomicBool::new(false));
        let result = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    let begun = Instant::now();
                    std::thread::sleep(Duration::from_millis(5));
                    if begun.elapsed() > STANDSTILL || is_one_stopped() {
                        stood.store(true, Ordering::SeqCst);
                    }
                }
            });
            let result = catch_unwind(AssertUnwindSafe(&test));
            over.store(true, Ordering::SeqCst);
            result
        });
        let Err(fault) = result else { return };
        if attempt == ATTEMPTS || !stood.load(Ordering::SeqCst) {
            resume_unwind(fault);
        }
        // The harness captures what is printed, and shows it only for a test that failed.
        let _ = writeln!(std::io::stderr(), "made again, after a standstill: {name}");
    }
}

fn is_one_stopped() -> bool {
    let mut generators = GENERATORS.lock().unwrap();
    let mut stopped = false;
    generators.retain(|pid| {
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
            return false;
        };
        let state = stat
            .rsplit(") ")
            .next()
            .and_then(|rest| rest.chars().next());
        stopped |= state == Some('T');
        true
    });
    stopped
}
