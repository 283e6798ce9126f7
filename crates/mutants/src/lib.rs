//! Inputs for the fuzz tests of the other crates: bytes that were right before they were changed, from random numbers
//! that a seed repeats. `FUZZ_SECONDS` (default 1) and `FUZZ_SEED` steer it.

mod random;

pub use random::Random;

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Checks what `make` gives for `FUZZ_SECONDS`, and at least 1,000 inputs. One that fails is printed as an escaped byte
/// string, to become a case of a table.
pub fn run(
    name: &str,
    make: impl Fn(&mut Random) -> Vec<u8>,
    mut check: impl FnMut(&[u8], &mut Random),
) {
    let (seconds, seed) = (seconds(), seed());
    println!("{name}: FUZZ_SEED={seed} FUZZ_SECONDS={seconds}");
    let mut random = Random::new(seed);
    let start = Instant::now();
    let mut count = 0_u64;
    while start.elapsed() < Duration::from_secs(seconds) || count < 1_000 {
        let bytes = make(&mut random);
        let shown = Shown {
            name,
            seed,
            bytes: &bytes,
        };
        let begun = Instant::now();
        check(&bytes, &mut random);
        // A busy machine may pause for seconds.
        assert!(begun.elapsed() < Duration::from_secs(60), "a hang");
        drop(shown);
        count += 1;
    }
    println!("{name}: {count} inputs");
}

/// For how long a test runs.
pub fn seconds() -> u64 {
    number("FUZZ_SECONDS").unwrap_or(1)
}

/// The seed of a test: another one each time, unless the environment has one.
pub fn seed() -> u64 {
    number("FUZZ_SEED").unwrap_or_else(|| {
        let clock = SystemTime::now().duration_since(UNIX_EPOCH);
        clock.map_or(1, |time| time.as_nanos() as u64)
    })
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable)
        .ok()
        .map(|text| text.parse().expect("a number"))
}

/// Prints the input if its check panics.
struct Shown<'a> {
    name: &'a str,
    seed: u64,
    bytes: &'a [u8],
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!(
                "{}: FUZZ_SEED={} failed on b\"{}\"",
                self.name,
                self.seed,
                self.bytes.escape_ascii()
            );
        }
    }
}
