//! How many requests are in flight, and how many they were on average over time.

#[derive(Default)]
pub struct Gauge {
    level: u64,
    since: u64,
    /// Level times nanoseconds.
    area: u128,
    start: u64,
}

impl Gauge {
    /// Begins the average anew at `now`, in ns.
    pub fn restart(&mut self, now: u64) {
        (self.start, self.since, self.area) = (now, now, 0);
    }

    #[inline]
    pub fn rise(&mut self, now: u64, by: usize) {
        self.account(now);
        self.level += by as u64;
    }

    #[inline]
    pub fn fall(&mut self, now: u64, by: usize) {
        self.account(now);
        self.level = self.level.saturating_sub(by as u64);
    }

    pub fn level(&self) -> u64 {
        self.level
    }

    /// The average from the last restart to `now`, weighted by time.
    pub fn mean(&mut self, now: u64) -> f64 {
        self.account(now);
        if now <= self.start {
            return self.level as f64;
        }
        self.area as f64 / (now - self.start) as f64
    }

    #[inline]
    fn account(&mut self, now: u64) {
        self.area += u128::from(self.level) * u128::from(now.saturating_sub(self.since));
        self.since = self.since.max(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_weighted_by_time() {
        let mut gauge = Gauge::default();
        gauge.rise(50, 2);
        gauge.restart(100);
        gauge.rise(110, 2);
        gauge.fall(120, 4);
        assert!((gauge.mean(160) - (20.0 + 40.0) / 60.0).abs() < 1e-9);
        assert_eq!(gauge.level(), 0);
    }
}
