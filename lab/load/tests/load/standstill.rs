//! For how long a machine kept the processes of a measurement from running.

use crate::server::Server;
use crate::wait_until;
use std::fs::{read_dir, read_to_string};
use std::io::Read;
use std::path::Path;
use std::process::{Child, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

/// The time between two looks.
const LOOK: Duration = Duration::from_millis(5);
/// A look that is late by no more than this says nothing about the machine.
const USUAL: Duration = Duration::from_millis(1);

/// Waits until `generator` has ended. Also returns for how long it and the threads of `server` waited for a core, as the
/// kernel counts it, and for how long one of the two processes was stopped. So a generator that pauses by itself has no
/// excuse. The sum counts a time twice in which both waited, and is no longer than the run. Only stops of this process
/// are in it where there is no `/proc`.
pub fn watched(mut generator: Child, server: &Server) -> (Output, Duration) {
    let id = generator.id();
    let (begun, before) = (Instant::now(), server.core_waits());
    let (mut output, mut stopped) = (Vec::new(), Duration::ZERO);
    let over = AtomicBool::new(false);
    scope(|scope| {
        let looks = scope.spawn(|| {
            let mut stopped = Duration::ZERO;
            let mut was_stopped = false;
            while !over.load(Ordering::SeqCst) {
                let (begun, waited) = (Instant::now(), own_core_waits());
                sleep(LOOK);
                let took = begun.elapsed();
                // This look waited for a core itself, which says nothing about the server.
                let late = took
                    .saturating_sub(LOOK)
                    .saturating_sub(own_core_waits().saturating_sub(waited));
                let is_stopped = is_stopped(id);
                if is_stopped || was_stopped {
                    stopped += took;
                } else if late > USUAL {
                    stopped += late;
                }
                was_stopped = is_stopped;
            }
            stopped
        });
        let read = generator.stdout.as_mut().unwrap().read_to_end(&mut output);
        over.store(true, Ordering::SeqCst);
        stopped = looks.join().unwrap();
        read.unwrap();
    });
    let took = begun.elapsed();
    // The generator has written its last line. What the kernel counted is there until it is waited for.
    let mut waited = core_waits(id);
    // The threads of the server count theirs when their connections are closed.
    wait_until(|| server.open().is_empty());
    waited += server.core_waits().saturating_sub(before);
    let mut rest = generator.wait_with_output().unwrap();
    rest.stdout = output;
    (rest, took.min(waited + stopped))
}

/// For how long the thread that calls has waited for a core.
pub fn own_core_waits() -> Duration {
    core_waits_of(Path::new("/proc/thread-self"))
}

/// For how long the threads of a process have waited for a core, all together.
fn core_waits(process: u32) -> Duration {
    let Ok(threads) = read_dir(format!("/proc/{process}/task")) else {
        return Duration::ZERO;
    };
    threads
        .flatten()
        .map(|thread| core_waits_of(&thread.path()))
        .sum()
}

/// The second number of `schedstat`, in ns; 0 where the kernel does not count.
fn core_waits_of(thread: &Path) -> Duration {
    let counts = read_to_string(thread.join("schedstat")).unwrap_or_default();
    let waits = counts.split(' ').nth(1).and_then(|text| text.parse().ok());
    Duration::from_nanos(waits.unwrap_or_default())
}

fn is_stopped(process: u32) -> bool {
    let stat = read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit(") ")
        .next()
        .is_some_and(|rest| rest.starts_with('T'))
}
