//! Clocks. Those that tell the time go through the vDSO and do not enter the kernel on Linux.

#[cfg(target_os = "linux")]
mod ids {
    pub const COARSE: libc::clockid_t = libc::CLOCK_MONOTONIC_COARSE;
    pub const REAL: libc::clockid_t = libc::CLOCK_REALTIME_COARSE;
}
#[cfg(not(target_os = "linux"))]
mod ids {
    pub const COARSE: libc::clockid_t = libc::CLOCK_MONOTONIC;
    pub const REAL: libc::clockid_t = libc::CLOCK_REALTIME;
}

/// Milliseconds since an arbitrary start, never going back. Coarse on Linux: it advances with the kernel's tick, every
/// 1 to 10 ms, and so may lag behind [`monotonic_ns`] by as much.
#[inline]
pub fn monotonic_ms() -> u64 {
    let now = read(ids::COARSE);
    now.tv_sec as u64 * 1_000 + now.tv_nsec as u64 / 1_000_000
}

/// Nanoseconds since the same start, precise, never going back.
#[inline]
pub fn monotonic_ns() -> u64 {
    let now = read(libc::CLOCK_MONOTONIC);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Seconds since 1970-01-01 UTC; follows changes of the system clock.
#[inline]
pub fn unix_seconds() -> u64 {
    u64::try_from(read(ids::REAL).tv_sec).unwrap_or(0)
}

/// Nanoseconds of processor time that all threads of this process have used, in user mode and in the kernel. Enters the
/// kernel.
pub fn process_cpu_ns() -> u64 {
    let used = read(libc::CLOCK_PROCESS_CPUTIME_ID);
    used.tv_sec as u64 * 1_000_000_000 + used.tv_nsec as u64
}

#[inline]
fn read(clock: libc::clockid_t) -> libc::timespec {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is valid for writing, and the clock exists on this platform, so the call cannot fail.
    unsafe { libc::clock_gettime(clock, &raw mut now) };
    now
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    #[test]
    fn the_coarse_and_the_precise_clock_share_a_start() {
        let before = monotonic_ns() / 1_000_000;
        let coarse = monotonic_ms();
        let after = monotonic_ns() / 1_000_000;
        assert!(
            coarse + 3_000 >= before && coarse <= after,
            "{before} {coarse} {after}"
        );
    }

    #[test]
    fn both_advance_while_the_thread_sleeps() {
        let (ms, ns) = (monotonic_ms(), monotonic_ns());
        std::thread::sleep(Duration::from_millis(30));
        assert!(monotonic_ms() - ms >= 10);
        assert!(monotonic_ns() - ns >= 30_000_000);
    }

    #[test]
    fn processor_time_grows_with_work() {
        let (cpu, wall) = (process_cpu_ns(), monotonic_ns());
        while process_cpu_ns() - cpu < 20_000_000 {
            assert!(monotonic_ns() - wall < 20_000_000_000);
        }
    }

    #[test]
    fn wall_clock_is_the_system_time() {
        let system = || {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            now.unwrap().as_secs()
        };
        let (before, seconds, after) = (system(), unix_seconds(), system());
        assert!((before - 1..=after).contains(&seconds));
    }
}
