//! The three ways to count, as functions of a count and a time. `packages/volant/src/rate-limit/counters.ts` does the
//! same in one process, and `packages/volant/src/redis/script.ts` in Redis; the cases in `crates/share/cases` test both
//! this file and the first of them.
//!
//! Times are microseconds. What comes from the memory may be of a process that was killed or stopped while it wrote, so a
//! time that lies further ahead than it can is taken as the furthest that it can be.

/// The longest window: 31 days.
const LONGEST: u64 = 31 * 86_400 * 1_000_000;
const MOST_UNITS: u32 = 1_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// The generic cell rate algorithm (ITU-T I.371): units come back one by one.
    Gcra,
    /// All units come back when the window is over.
    Fixed,
    /// As `Fixed`, and the window before counts for its share.
    Sliding,
}

/// The numbers of one limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    algorithm: Algorithm,
    max: u32,
    window: u64,
    burst: u32,
    /// With `Gcra`, how far a unit moves a key's time, and how far ahead that may be.
    interval: u64,
    depth: u64,
}

/// How a limit stands for a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// False where the limit refuses the request.
    pub allowed: bool,
    /// The units that are left.
    pub remaining: u64,
    /// The microseconds until the quota is there again: with `Gcra` all of it, or one unit if none is left.
    pub reset: u64,
    /// The microseconds until the units that were asked for are there; 0 where they were taken.
    pub retry_after: u64,
}

/// What is kept of a key. It counts until `expires`: with `Gcra` that is the time at which all of the quota is there
/// again, else the end of the window, with `Sliding` of the window after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub expires: u64,
    /// The units in this window and in the one before.
    pub units: u32,
    pub before: u32,
}

impl Count {
    /// A key without units does not count.
    fn of_windows(expires: u64, units: u32, before: u32) -> Self {
        if units == 0 && before == 0 {
            return Self::default();
        }
        Self {
            expires,
            units,
            before,
        }
    }
}

impl Quota {
    /// Takes the window in microseconds. Gives `None` for numbers that the options of `rateLimit` do not allow.
    pub fn new(algorithm: Algorithm, max: u32, window: u64, burst: u32) -> Option<Self> {
        let units = 1..=MOST_UNITS;
        if !units.contains(&max) || !units.contains(&burst) || !(1..=LONGEST).contains(&window) {
            return None;
        }
        let interval = window.div_ceil(u64::from(max));
        Some(Self {
            algorithm,
            max,
            window,
            burst,
            interval,
            depth: interval.saturating_mul(u64::from(burst)),
        })
    }

    /// The units that a key may have at once.
    pub fn most(&self) -> u32 {
        match self.algorithm {
            Algorithm::Gcra => self.burst,
            Algorithm::Fixed | Algorithm::Sliding => self.max,
        }
    }

    /// Says how a key stands with `cost` charged, and what is kept of it then. A key that is refused stays as it is.
    pub(crate) fn check(&self, count: Count, now: u64, cost: u32) -> (Level, Count) {
        match self.algorithm {
            Algorithm::Gcra => self.check_gcra(count, now, cost),
            Algorithm::Fixed => self.check_fixed(count, now, cost),
            Algorithm::Sliding => self.check_sliding(count, now, cost),
        }
    }

    /// Gives what is kept of a key that got `cost` back.
    pub(crate) fn refund(&self, count: Count, now: u64, cost: u32) -> Count {
        match self.algorithm {
            Algorithm::Gcra => {
                let back = self.interval.saturating_mul(u64::from(cost));
                let expires = (now + self.ahead(count, now)).saturating_sub(back);
                Count { expires, ..count }
            }
            Algorithm::Fixed => {
                let (expires, units) = self.window_of(count, now);
                Count::of_windows(expires, units.saturating_sub(cost), 0)
            }
            Algorithm::Sliding => {
                let mut windows = self.windows_of(count, now);
                // What was charged may be in the window before by now.
                let rest = cost.saturating_sub(windows.units);
                windows.units = windows.units.saturating_sub(cost);
                windows.before = windows.before.saturating_sub(rest);
                windows.count(self.window)
            }
        }
    }

    fn ahead(&self, count: Count, now: u64) -> u64 {
        count.expires.saturating_sub(now).min(self.depth)
    }

    fn check_gcra(&self, count: Count, now: u64, cost: u32) -> (Level, Count) {
        let Self {
            interval, depth, ..
        } = *self;
        let ahead = self.ahead(count, now);
        let next = ahead.saturating_add(interval.saturating_mul(u64::from(cost)));
        if next > depth {
            return (
                refused((depth - ahead) / interval, ahead, next - depth),
                count,
            );
        }
        let remaining = (depth - next) / interval;
        let reset = if remaining > 0 {
            next
        } else {
            next.saturating_add(interval) - depth
        };
        let expires = now.saturating_add(next);
        (
            allowed(remaining, reset),
            Count {
                expires,
                units: 0,
                before: 0,
            },
        )
    }

    /// Gives the end of the window that `now` is in, and the units that were taken in it.
    fn window_of(&self, count: Count, now: u64) -> (u64, u32) {
        if count.units > 0 && now < count.expires {
            (count.expires.min(now + self.window), count.units)
        } else {
            (now + self.window, 0)
        }
    }

    fn check_fixed(&self, count: Count, now: u64, cost: u32) -> (Level, Count) {
        let (expires, taken) = self.window_of(count, now);
        let rest = expires - now;
        let units = taken.saturating_add(cost);
        if units > self.max {
            let left = self.max.saturating_sub(taken);
            return (refused(u64::from(left), rest, rest), count);
        }
        (
            allowed(u64::from(self.max - units), rest),
            Count::of_windows(expires, units, 0),
        )
    }

    fn windows_of(&self, count: Count, now: u64) -> Windows {
        let is_live = u64::from(count.units) + u64::from(count.before) > 0 && now < count.expires;
        if !is_live {
            return Windows {
                start: now,
                units: 0,
                before: 0,
            };
        }
        let start = count.expires.saturating_sub(2 * self.window).min(now);
        if now >= start + self.window {
            Windows {
                start: start + self.window,
                units: 0,
                before: count.units,
            }
        } else {
            Windows {
                start,
                units: count.units,
                before: count.before,
            }
        }
    }

    /// The weights are fractions, computed as JavaScript does.
    fn check_sliding(&self, count: Count, now: u64, cost: u32) -> (Level, Count) {
        let mut windows = self.windows_of(count, now);
        let (window, max) = (self.window as f64, f64::from(self.max));
        let passed = now - windows.start;
        let left = self.window - passed;
        let weighted =
            f64::from(windows.units) + (f64::from(windows.before) * left as f64) / window;
        if weighted + f64::from(cost) > max {
            let remaining = (max - weighted).floor().max(0.0) as u64;
            return (
                refused(remaining, left, self.wait(windows, passed, cost)),
                count,
            );
        }
        windows.units = windows.units.saturating_add(cost);
        let remaining = (max - weighted - f64::from(cost)).floor() as u64;
        let reset = if remaining > 0 {
            left
        } else {
            self.wait(windows, passed, 1)
        };
        (allowed(remaining, reset), windows.count(self.window))
    }

    /// Gives the microseconds until `cost` fits, `passed` after the start of the window.
    fn wait(&self, windows: Windows, passed: u64, cost: u32) -> u64 {
        let window = self.window as f64;
        let room = f64::from(self.max) - f64::from(cost);
        let (units, before) = (f64::from(windows.units), f64::from(windows.before));
        // The weight of a window of `units` is down to `room` when 1 − room ÷ units of the next one have passed.
        let wait = if units <= room {
            (window * (1.0 - (room - units) / before)).ceil().max(1.0) - passed as f64
        } else {
            window - passed as f64 + (window * (1.0 - room / units)).ceil()
        };
        wait as u64
    }
}

/// The units of the window that began at `start`, and of the one before it.
#[derive(Clone, Copy)]
struct Windows {
    start: u64,
    units: u32,
    before: u32,
}

impl Windows {
    fn count(self, window: u64) -> Count {
        Count::of_windows(self.start + 2 * window, self.units, self.before)
    }
}

fn allowed(remaining: u64, reset: u64) -> Level {
    Level {
        allowed: true,
        remaining,
        reset,
        retry_after: 0,
    }
}

fn refused(remaining: u64, reset: u64, retry_after: u64) -> Level {
    Level {
        allowed: false,
        remaining,
        reset,
        retry_after,
    }
}
