//! Signals, in a process of their own.

use std::process::Command;
use std::time::{Duration, Instant};

use reactor::{Events, Poller, process};

#[test]
fn a_signal_is_noted_and_ends_the_wait() {
    process::catch_stop_signals().unwrap();
    assert!(!process::stop_requested());
    let poller = Poller::new().unwrap();
    let mut events = Events::with_capacity(1);
    let status = Command::new("kill")
        .args(["-TERM", &std::process::id().to_string()])
        .status()
        .unwrap();
    assert!(status.success());
    let started = Instant::now();
    while !process::stop_requested() {
        assert!(
            started.elapsed() < Duration::from_secs(60),
            "the signal was not noted"
        );
        poller.poll(&mut events, 10).unwrap();
    }
}
