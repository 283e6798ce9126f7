//! Each socket sends a message and waits for its echo.

use std::io;

use reactor::clock;

use crate::run::{Failure, Progress, Run, TICK};
use crate::tally::Report;

impl Run<'_> {
    pub fn echo(&mut self, tell: impl Fn(Progress) -> io::Result<()>) -> Result<Report, Failure> {
        self.open_until(self.plan.sockets)?;
        tell(Progress::Connected)?;
        self.greet()?;
        let begin = clock::monotonic_ns();
        self.next_tally(begin);
        self.again = true;
        self.send_all()?;
        self.echo_until(begin + self.plan.warmup, u64::MAX)?;
        let warm = clock::monotonic_ns();
        self.next_tally(warm);
        tell(Progress::Warm)?;
        self.echo_until(warm + self.plan.window, self.plan.max_messages)?;
        let end = clock::monotonic_ns();
        let window = self.next_tally(end);
        tell(Progress::Measured)?;
        self.again = false;
        self.wait_for_all()?;
        Ok(self.report(window, end))
    }

    /// One echo on each socket, and no more.
    pub fn greet(&mut self) -> Result<(), Failure> {
        self.send_all()?;
        self.wait_for_all()
    }

    fn send_all(&mut self) -> Result<(), Failure> {
        for index in 0..self.peers.len() {
            self.ask(index, clock::monotonic_ns())?;
        }
        Ok(())
    }

    pub fn ask(&mut self, index: usize, now: u64) -> Result<(), Failure> {
        self.waiting += 1;
        let sent = self.send_message(index)?;
        let peer = &mut self.peers[index];
        peer.sent = sent;
        peer.since = now;
        peer.waits = true;
        Ok(())
    }

    pub fn echoed(&mut self, index: usize, now: u64) -> Result<(), Failure> {
        let peer = &mut self.peers[index];
        if !peer.waits {
            self.faults
                .add("unexpected", 1, "a message came that nobody waited for");
            return Ok(());
        }
        if peer.own != peer.sent {
            self.faults.add(
                "wrongContent",
                1,
                "another message came back than the one that was sent",
            );
            return Ok(());
        }
        peer.waits = false;
        self.waiting -= 1;
        self.tally.messages += 1;
        self.tally.deliveries += 1;
        self.tally.latencies.record(now - peer.since);
        if self.again && self.tally.messages < self.plan.max_messages {
            return self.ask(index, now);
        }
        Ok(())
    }

    fn echo_until(&mut self, end: u64, most: u64) -> Result<(), Failure> {
        loop {
            let now = clock::monotonic_ns();
            if now >= end || self.over() || self.tally.messages >= most {
                return Ok(());
            }
            self.find_missing(now);
            // Below a millisecond the loop spins: the generator has a core of its own.
            let left = ((end - now) / 1_000_000).min(TICK as u64);
            self.pump(left as i32)?;
        }
    }

    /// Until each message has come back.
    pub fn wait_for_all(&mut self) -> Result<(), Failure> {
        while self.waiting > 0 && !self.over() {
            self.pump(TICK)?;
            self.find_missing(clock::monotonic_ns());
        }
        Ok(())
    }

    fn find_missing(&mut self, now: u64) {
        if now < self.sweep {
            return;
        }
        self.sweep = now + TICK as u64 * 1_000_000;
        let timeout = self.plan.timeout;
        let late = |waits: bool, since: u64| waits && since + timeout <= now;
        let missing = self
            .peers
            .iter()
            .filter(|peer| late(peer.waits, peer.since))
            .count();
        if missing > 0 {
            let what = format!(
                "{missing} messages had not come back after {} s",
                self.plan.timeout_seconds
            );
            self.faults.add("missing", missing as u64, &what);
        }
    }
}
