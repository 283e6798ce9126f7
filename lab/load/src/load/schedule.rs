//! When the requests of an open loop are due: request k at start + k / rate, whatever the server does.
//!
//! Nothing is stored for a request that waits: those that are due and not taken are a range of numbers, so that an
//! overloaded server costs no memory here.

pub struct Schedule {
    start: u64,
    /// Nanoseconds between two requests.
    gap: f64,
    taken: u64,
}

impl Schedule {
    /// `start` in ns of the monotonic clock; `rate` in requests/s.
    pub fn new(start: u64, rate: f64) -> Self {
        Self {
            start,
            gap: 1e9 / rate,
            taken: 0,
        }
    }

    /// When the next request is due.
    #[inline]
    pub fn next(&self) -> u64 {
        self.due(self.taken)
    }

    /// Takes the next request and returns when it is, or was, due.
    #[inline]
    pub fn take(&mut self) -> u64 {
        let due = self.next();
        self.taken += 1;
        due
    }

    /// How many requests are due at `now` and were not taken.
    pub fn waiting(&self, now: u64) -> u64 {
        if now < self.next() {
            return 0;
        }
        // The quotient may be one off either way, since `due` rounds.
        let mut count = ((now - self.start) as f64 / self.gap) as u64;
        while self.due(count) <= now {
            count += 1;
        }
        while count > 0 && self.due(count - 1) > now {
            count -= 1;
        }
        count.saturating_sub(self.taken)
    }

    #[inline]
    fn due(&self, number: u64) -> u64 {
        self.start.saturating_add((number as f64 * self.gap) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_of_requests_is_due_exactly_at_its_rate() {
        let mut schedule = Schedule::new(5, 50_000.0);
        assert_eq!(
            (schedule.take(), schedule.take(), schedule.take()),
            (5, 20_005, 40_005)
        );
        schedule.taken = 50_000 * 3600;
        assert_eq!(schedule.next(), 5 + 3_600_000_000_000);
    }

    #[test]
    fn a_time_beyond_the_clock_is_its_end() {
        let mut schedule = Schedule::new(5, 1e-12);
        assert_eq!((schedule.take(), schedule.next()), (5, u64::MAX));
        assert_eq!(schedule.waiting(1 << 60), 0);
    }

    #[test]
    fn those_that_wait_are_counted() {
        for rate in [0.1, 3.0, 997.0, 30_000.0, 1e6 / 3.0] {
            let mut schedule = Schedule::new(1_000, rate);
            assert_eq!(schedule.waiting(999), 0);
            for round in 1..200u64 {
                let now = 1_000 + round * 1_234_567;
                let expected = (0..10_000_000)
                    .take_while(|number| schedule.due(schedule.taken + number) <= now)
                    .count();
                assert_eq!(schedule.waiting(now), expected as u64, "{rate} {now}");
                for _ in 0..expected.min(7) {
                    schedule.take();
                }
                if expected > 1000 {
                    schedule.taken += expected as u64 - 10;
                }
            }
        }
    }
}
