//! A table against a map: whatever is taken, given back and forgotten, by several tables on one memory, both say the
//! same. Steps are made of random numbers; see the crate `mutants`.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::atomic::AtomicU64;

use mutants::Random;
use share::{Algorithm, Key, LEAST_BYTES, Level, Quota, Table, World, format};

/// Time is what the test says.
#[derive(Clone)]
struct Clock(Rc<Cell<u64>>);

impl World for Clock {
    fn micros(&self) -> u64 {
        self.0.get()
    }

    fn is_running(&self, _: u32) -> bool {
        true
    }
}

/// The units that a key took, each with its time, as the definition of an algorithm sees them.
#[derive(Clone, Copy, Default)]
struct Taken {
    /// The time at which all of the quota is there again.
    full: u64,
    /// The start of the window, and the units in it and in the one before.
    start: u64,
    units: u64,
    before: u64,
}

/// One policy in plain arithmetic, with exact fractions where the table uses floating point.
struct Policy {
    algorithm: Algorithm,
    max: u64,
    window: u64,
    burst: u64,
}

impl Policy {
    fn most(&self) -> u64 {
        if self.algorithm == Algorithm::Gcra {
            self.burst
        } else {
            self.max
        }
    }

    fn quota(&self) -> Quota {
        Quota::new(
            self.algorithm,
            self.max as u32,
            self.window,
            self.burst as u32,
        )
        .unwrap()
    }

    fn interval(&self) -> u64 {
        self.window.div_ceil(self.max)
    }

    fn settle(&self, taken: &mut Taken, now: u64) {
        let keeps = match self.algorithm {
            Algorithm::Gcra => return taken.full = taken.full.max(now),
            Algorithm::Fixed => self.window,
            Algorithm::Sliding => 2 * self.window,
        };
        if taken.units + taken.before == 0 || now >= taken.start + keeps {
            *taken = Taken {
                start: now,
                ..Taken::default()
            };
        } else if now >= taken.start + self.window {
            taken.start += self.window;
            taken.before = std::mem::take(&mut taken.units);
        }
    }

    /// True if `cost` fits, of a key that is settled.
    fn fits(&self, taken: &Taken, now: u64, cost: u64) -> bool {
        match self.algorithm {
            Algorithm::Gcra => {
                taken.full - now + cost * self.interval() <= self.burst * self.interval()
            }
            Algorithm::Fixed => taken.units + cost <= self.max,
            Algorithm::Sliding => {
                let rest = self.window - (now - taken.start);
                (taken.units + cost) * self.window + taken.before * rest <= self.max * self.window
            }
        }
    }

    fn charge(&self, taken: &mut Taken, cost: u64) {
        taken.full += cost * self.interval();
        taken.units += cost;
    }

    fn refund(&self, taken: &mut Taken, now: u64, cost: u64) {
        taken.full = taken.full.saturating_sub(cost * self.interval()).max(now);
        let rest = cost.saturating_sub(taken.units);
        taken.units = taken.units.saturating_sub(cost);
        taken.before = taken.before.saturating_sub(rest);
    }

    fn left(&self, taken: &Taken, now: u64) -> u64 {
        (0..=self.most())
            .rev()
            .find(|cost| self.fits(taken, now, *cost))
            .unwrap_or(0)
    }
}

fn policies(random: &mut Random) -> Vec<Policy> {
    (0..=random.below(3))
        .map(|_| {
            let algorithm =
                [Algorithm::Gcra, Algorithm::Fixed, Algorithm::Sliding][random.below(3)];
            let max = 1 + random.below(12) as u64;
            // A power of two has no rounding with weights, so that floating point is exact too.
            let window = 1 << (4 + random.below(16));
            let burst = 1 + random.below(12) as u64;
            Policy {
                algorithm,
                max,
                window,
                burst,
            }
        })
        .collect()
}

#[test]
fn the_table_says_what_a_map_says() {
    // A step has a byte for what is done, one for the key, one for the cost and two for the time that passes.
    let make = |random: &mut Random| {
        (0..5 * random.below(200))
            .map(|_| random.next() as u8)
            .collect()
    };
    mutants::run("model", make, |bytes, random| {
        let memory: Vec<AtomicU64> = (0..40 * LEAST_BYTES / 8)
            .map(|_| AtomicU64::new(0))
            .collect();
        format(&memory, [random.next(), random.next()]).unwrap();
        let clock = Clock(Rc::new(Cell::new(1 + random.below(1 << 40) as u64)));
        let tables: Vec<_> = (1..=3)
            .map(|process| Table::open(memory.as_slice(), clock.clone(), process).unwrap())
            .collect();
        let policies = policies(random);
        let quotas = || policies.iter().map(Policy::quota).collect::<Vec<_>>();
        let limits: Vec<_> = tables
            .iter()
            .map(|table| table.limit(b"limit", quotas()).unwrap())
            .collect();
        let mut map: HashMap<(usize, u8), Taken> = HashMap::new();
        let steps = bytes.as_chunks::<5>().0;
        for [what, name, cost, low, high] in steps {
            let clock_step = u64::from(u16::from_le_bytes([*low, *high])) >> (*cost & 15);
            clock.0.set(clock.0.get() + clock_step);
            let now = clock.0.get();
            let (table, limit) = (&tables[random.below(3)], &limits[random.below(3)]);
            let name = name & 7;
            let keys: Vec<Key> = (0..policies.len())
                .map(|at| limit.key(at, &[name]))
                .collect();
            let cost = u64::from(*cost >> 5);
            // What a step leaves is kept if it gives true.
            let mut each = |step: &mut dyn FnMut(&Policy, &mut Taken) -> bool| {
                for (at, policy) in policies.iter().enumerate() {
                    let kept = map.entry((at, name)).or_default();
                    let mut taken = *kept;
                    policy.settle(&mut taken, now);
                    if step(policy, &mut taken) {
                        *kept = taken;
                    }
                }
            };
            match what {
                0..16 => {
                    table.reset(&keys);
                    each(&mut |_, taken| {
                        *taken = Taken::default();
                        true
                    });
                }
                16..80 => {
                    table.refund(limit, &keys, cost as u32);
                    each(&mut |policy, taken| {
                        policy.refund(taken, now, cost.min(policy.most()));
                        true
                    });
                }
                80.. => {
                    let mut levels = [Level::default(); 3];
                    let passes = table.take(limit, &keys, cost as u32, &mut levels);
                    let mut fitting = Vec::new();
                    each(&mut |policy, taken| {
                        fitting.push(policy.fits(taken, now, cost.min(policy.most())));
                        false
                    });
                    assert_eq!(passes, fitting.iter().all(|fits| *fits));
                    let mut at = 0;
                    each(&mut |policy, taken| {
                        if passes {
                            policy.charge(taken, cost.min(policy.most()));
                        }
                        let level = levels[at];
                        assert_eq!(level.allowed, fitting[at]);
                        assert_eq!(level.remaining, policy.left(taken, now));
                        assert_eq!(level.retry_after == 0, level.allowed);
                        assert!(level.retry_after <= 4 * policy.window * policy.burst.max(1));
                        at += 1;
                        passes
                    });
                }
            }
        }
        assert_eq!(tables[0].evicted(), 0);
        assert_eq!(tables[0].broken(), 0);
        clock.0.set(1 << 50);
        assert_eq!(tables[0].keys(&limits[0]), 0);
    });
}
