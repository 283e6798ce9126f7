//! The clock of the acceptor, which tests hold and move on.

use std::thread::sleep;
use std::time::Duration;

use reactor::clock::{monotonic_ms, monotonic_ns};

#[derive(Default)]
pub struct Clock {
    /// Nanoseconds at which it stands while a test holds it.
    held: Option<u64>,
}

impl Clock {
    /// Has the clock stand still from now on. For tests.
    pub fn hold(&mut self) {
        self.held = Some(monotonic_ns());
    }

    /// Moves the clock on, which is held. For tests.
    pub fn advance(&mut self, time: Duration) {
        if let Some(held) = &mut self.held {
            *held += time.as_nanos() as u64;
        }
    }

    /// Milliseconds, coarse.
    pub fn ms(&self) -> u64 {
        self.held.map_or_else(monotonic_ms, |ns| ns / 1_000_000)
    }

    /// Nanoseconds, precise.
    pub fn ns(&self) -> u64 {
        self.held.unwrap_or_else(monotonic_ns)
    }

    /// Sleeps. While the clock is held, it only moves on.
    pub fn wait(&mut self, time: Duration) {
        if self.held.is_some() {
            self.advance(time);
        } else {
            sleep(time);
        }
    }
}
