//! Publishers send, and everybody else must get all of it, once.

use std::io;

use reactor::clock;

use crate::run::{Failure, Progress, Run, TICK};
use crate::tally::Report;

/// For how long a message that is one too many is waited for, in ns.
const AFTERWARDS: u64 = 50_000_000;

impl Run<'_> {
    pub fn publish(
        &mut self,
        tell: impl Fn(Progress) -> io::Result<()>,
    ) -> Result<Report, Failure> {
        self.open_until(self.plan.sockets)?;
        // They come last: the server has all subscribers when their messages come.
        self.open_until(self.plan.sockets + self.plan.publishers)?;
        tell(Progress::Connected)?;
        let begin = clock::monotonic_ns();
        self.next_tally(begin);
        // Once at least, so that nothing of the window is done for the first time.
        self.publish_until(begin + self.plan.warmup, u64::MAX)?;
        // A window begins and ends between two rounds, so that all of what a message costs is in it.
        let warm = clock::monotonic_ns();
        self.next_tally(warm);
        tell(Progress::Warm)?;
        self.publish_until(warm + self.plan.window, self.plan.max_messages)?;
        let end = clock::monotonic_ns();
        let window = self.next_tally(end);
        tell(Progress::Measured)?;
        while clock::monotonic_ns() < end + AFTERWARDS && !self.over() {
            self.pump(TICK)?;
        }
        Ok(self.report(window, end))
    }

    fn publish_until(&mut self, end: u64, most: u64) -> Result<(), Failure> {
        let publishers = self.plan.publishers;
        let all = self.plan.sockets * publishers + publishers * (publishers - 1);
        loop {
            self.send_news()?;
            while self.arrived < all && !self.over() {
                self.pump(TICK)?;
                if clock::monotonic_ns() >= self.published + self.plan.timeout && self.arrived < all
                {
                    let missing = all - self.arrived;
                    let what = format!(
                        "{missing} of {all} deliveries were missing after {} s",
                        self.plan.timeout_seconds
                    );
                    self.faults.add("missing", missing as u64, &what);
                }
            }
            if self.over() {
                return Ok(());
            }
            self.tally.messages += publishers as u64;
            if clock::monotonic_ns() >= end || self.tally.messages >= most {
                return Ok(());
            }
        }
    }

    fn send_news(&mut self) -> Result<(), Failure> {
        self.before = std::mem::take(&mut self.news);
        self.round += 1;
        self.arrived = 0;
        self.published = clock::monotonic_ns();
        for publisher in 0..self.plan.publishers {
            let sent = self.send_message(self.plan.sockets + publisher)?;
            self.news.push(sent);
        }
        Ok(())
    }

    pub fn delivered(&mut self, index: usize, now: u64) {
        let peer = &mut self.peers[index];
        let Some(publisher) = self.news.iter().position(|own| *own == peer.own) else {
            if self.before.contains(&peer.own) {
                self.faults.add("unexpected", 1, "a message came once more");
            } else {
                self.faults.add(
                    "wrongContent",
                    1,
                    "another message came than those that were published",
                );
            }
            return;
        };
        if index == self.plan.sockets + publisher {
            self.faults.add("own", 1, "a publisher got its own message");
            return;
        }
        if peer.round != self.round {
            peer.round = self.round;
            peer.got = 0;
        }
        if peer.got & 1 << publisher != 0 {
            self.faults.add("unexpected", 1, "a message came once more");
            return;
        }
        peer.got |= 1 << publisher;
        self.arrived += 1;
        self.tally.deliveries += 1;
        self.tally
            .latencies
            .record(now.saturating_sub(self.published));
    }
}
