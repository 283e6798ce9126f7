//! For how long a machine kept the processes of a measurement from running.

use std::collections::HashMap;
use std::fs::{read_dir, read_to_string};
use std::io::Read;
use std::process::{Child, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

/// The time between two looks.
const LOOK: Duration = Duration::from_millis(5);
/// A look that is late by no more than this says nothing about the machine.
const USUAL: Duration = Duration::from_millis(1);

/// Waits until `generator` has ended. Also returns for how long the server (a thread of this process) and the generator
/// were stopped or waited for a core. Both are read from the kernel, so that a generator that pauses by itself has no
/// excuse. The sum counts a time twice in which both stood still, and is 0 for the generator where there is no `/proc`.
pub fn watched(mut generator: Child) -> (Output, Duration) {
    let (id, own) = (generator.id(), std::process::id());
    let (mut output, mut stood_still) = (Vec::new(), Duration::ZERO);
    let before = core_waits(own);
    let over = AtomicBool::new(false);
    scope(|scope| {
        let looks = scope.spawn(|| {
            let mut stopped = Duration::ZERO;
            let mut was_stopped = false;
            while !over.load(Ordering::SeqCst) {
                let begun = Instant::now();
                sleep(LOOK);
                let took = begun.elapsed();
                let late = took.saturating_sub(LOOK);
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
        // It has ended then, and what the kernel counted is there until it is waited for.
        let stdout = generator.stdout.as_mut().unwrap();
        stdout.read_to_end(&mut output).unwrap();
        over.store(true, Ordering::SeqCst);
        stood_still += looks.join().unwrap();
    });
    stood_still += core_waits(id).values().sum::<Duration>();
    for (thread, waits) in core_waits(own) {
        let earlier = before.get(&thread).copied().unwrap_or_default();
        stood_still += waits.saturating_sub(earlier);
    }
    let mut rest = generator.wait_with_output().unwrap();
    rest.stdout = output;
    (rest, stood_still)
}

/// For how long each thread of a process has waited for a core, by its id: the second number of `schedstat`, in ns.
fn core_waits(process: u32) -> HashMap<String, Duration> {
    let Ok(threads) = read_dir(format!("/proc/{process}/task")) else {
        return HashMap::new();
    };
    threads
        .flatten()
        .filter_map(|thread| {
            let counts = read_to_string(thread.path().join("schedstat")).ok()?;
            let waits = counts.split(' ').nth(1)?.parse().ok()?;
            let name = thread.file_name().into_string().ok()?;
            Some((name, Duration::from_nanos(waits)))
        })
        .collect()
}

fn is_stopped(process: u32) -> bool {
    let stat = read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit(") ")
        .next()
        .is_some_and(|rest| rest.starts_with('T'))
}
