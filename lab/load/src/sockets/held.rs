//! Sockets that are open and say nothing, and one more that is served beside them.

use std::io;

use reactor::clock;

use crate::run::{Failure, Progress, Run, TICK};
use crate::tally::Report;

impl Run<'_> {
    pub fn held(&mut self, tell: impl Fn(Progress) -> io::Result<()>) -> Result<Report, Failure> {
        let begin = clock::monotonic_ns();
        self.open_until(self.plan.sockets)?;
        self.greet()?;
        self.whole.opening = clock::monotonic_ns() - begin;
        tell(Progress::Connected)?;
        let warm = clock::monotonic_ns();
        self.next_tally(warm);
        tell(Progress::Warm)?;
        while clock::monotonic_ns() < warm + self.plan.window && !self.over() {
            self.pump(TICK)?;
        }
        if !self.over() {
            let more = clock::monotonic_ns();
            self.open_until(self.plan.sockets + 1)?;
            self.ask(self.plan.sockets, clock::monotonic_ns())?;
            self.wait_for_all()?;
            self.whole.first_echo = Some(clock::monotonic_ns() - more);
        }
        let end = clock::monotonic_ns();
        let window = self.next_tally(end);
        tell(Progress::Measured)?;
        Ok(self.report(window, end))
    }
}
