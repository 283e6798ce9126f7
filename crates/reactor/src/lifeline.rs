//! Ends this process some time after the one that started it.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::syscall::check;

/// How long the process may go on, in milliseconds, once its parent is gone. `UNKNOWN`: nobody has said so.
static REST: AtomicU64 = AtomicU64::new(UNKNOWN);
const UNKNOWN: u64 = u64::MAX;

/// Starts a thread that waits until the other end of `pair` is closed, which happens at the latest when the process that
/// has it ends. If nobody calls [`go_on_for`] within `patience` from then on, because the event loop is blocked, or once
/// the time that was given there has passed, the process is killed.
///
/// # Errors
/// When the descriptor is not open, or the system refuses a thread.
pub fn follow(pair: RawFd, patience: Duration) -> io::Result<()> {
    // A descriptor of its own, so that nobody closes it meanwhile.
    // SAFETY: the call takes no pointers.
    let own = check(unsafe { libc::fcntl(pair, libc::F_DUPFD_CLOEXEC, 3) })?;
    // SAFETY: just opened, without another owner.
    let pair = unsafe { OwnedFd::from_raw_fd(own) };
    thread::Builder::new()
        .name("lifeline".into())
        .stack_size(64 * 1024)
        .spawn(move || {
            wait_for_end(&pair);
            thread::sleep(patience);
            let rest = REST.load(Ordering::Relaxed);
            if rest != UNKNOWN {
                thread::sleep(Duration::from_millis(rest));
            }
            // SAFETY: sends a signal to this process.
            unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
        })?;
    Ok(())
}

/// Says that the process knows that its parent is gone, and needs so many milliseconds to end by itself.
pub fn go_on_for(milliseconds: u64) {
    REST.store(milliseconds, Ordering::Relaxed);
}

fn wait_for_end(pair: &OwnedFd) {
    loop {
        let mut entry = libc::pollfd {
            fd: pair.as_raw_fd(),
            events: 0,
            revents: 0,
        };
        // SAFETY: one entry, valid for writing.
        let count = unsafe { libc::poll(&raw mut entry, 1, -1) };
        if count == 1 && entry.revents != 0 {
            return;
        }
    }
}
