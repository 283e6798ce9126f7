//! Tells what the process may use, when it is asked to stop, and which other processes have ended.

use std::io;
use std::mem::zeroed;
#[cfg(target_os = "linux")]
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::syscall::{check, last_errno};

static STOP: AtomicBool = AtomicBool::new(false);

/// From now on SIGINT and SIGTERM do not end the process but make [`stop_requested`] true. A signal also ends the wait
/// in `Poller::poll`, unless it came just before: wait with a time limit.
pub fn catch_stop_signals() -> io::Result<()> {
    // SAFETY: plain data, for which all zeros is a valid value: no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { zeroed() };
    action.sa_sigaction = note_stop as extern "C" fn(libc::c_int) as libc::sighandler_t;
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: `action` is initialised and names a handler that only stores to an atomic, which a handler may do.
        check(unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) })?;
    }
    Ok(())
}

/// True once SIGINT or SIGTERM came; see [`catch_stop_signals`].
pub fn stop_requested() -> bool {
    STOP.load(Ordering::Relaxed)
}

extern "C" fn note_stop(_signal: libc::c_int) {
    STOP.store(true, Ordering::Relaxed);
}

/// False if no process has this id, or the one that has it has ended and waits for its parent to ask how.
pub fn is_running(id: u32) -> bool {
    let Some(id) = libc::pid_t::try_from(id).ok().filter(|id| *id > 0) else {
        return false;
    };
    // SAFETY: no pointers; signal 0 is not sent.
    if unsafe { libc::kill(id, 0) } == -1 {
        return last_errno() != libc::ESRCH;
    }
    !has_ended(id)
}

/// A descriptor of a process becomes readable when it ends (`pidfd_open(2)`).
#[cfg(target_os = "linux")]
fn has_ended(id: libc::pid_t) -> bool {
    // SAFETY: no pointers. An old kernel, or a filter of system calls, gives −1.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, id, 0) };
    if fd == -1 {
        return last_errno() == libc::ESRCH;
    }
    // SAFETY: just opened, and owned by nobody else.
    let fd = unsafe { OwnedFd::from_raw_fd(fd as RawFd) };
    let mut poll = libc::pollfd {
        fd: fd.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one valid entry; it does not wait.
    unsafe { libc::poll(&raw mut poll, 1, 0) == 1 }
}

/// It is not known.
#[cfg(not(target_os = "linux"))]
fn has_ended(_: libc::pid_t) -> bool {
    false
}

/// Open file descriptors this process may have: the soft limit, `u64::MAX` when there is none.
pub fn open_file_limit() -> u64 {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is valid for writing.
    let result = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    if result != 0 || limit.rlim_cur == libc::RLIM_INFINITY {
        return u64::MAX;
    }
    limit.rlim_cur
}

/// Raises the soft limit of open files to the hard one, and gives what it is then; see [`open_file_limit`].
pub fn raise_open_file_limit() -> u64 {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is valid for writing.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } == 0 {
        limit.rlim_cur = limit.rlim_max;
        // SAFETY: `limit` is initialised. Where it is refused, the limit stays what it was.
        let _ = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
    }
    open_file_limit()
}

/// Takes the exit status of children that have ended and that `is_known` does not know. A process with the id 1 gets them:
/// they are grandchildren whose parent has ended. Gives how many there were. The known ones are left to the code that
/// started them; as long as one of them waits to be taken, those behind it wait as well.
pub fn reap(is_known: impl Fn(i32) -> bool) -> usize {
    let mut count = 0;
    loop {
        // SAFETY: plain data, for which all zeros is a valid value.
        let mut info: libc::siginfo_t = unsafe { zeroed() };
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: `info` is valid for writing. The child stays to be waited for.
        let result = unsafe { libc::waitid(libc::P_ALL, 0, &raw mut info, flags) };
        // SAFETY: waitid has filled it, or left zeros.
        let pid = unsafe { info.si_pid() };
        if result == -1 || pid == 0 || is_known(pid) {
            return count;
        }
        // SAFETY: a null status is allowed.
        unsafe { libc::waitpid(pid, ptr::null_mut(), libc::WNOHANG) };
        count += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::is_running;

    #[test]
    fn a_process_runs_until_it_ends() {
        assert!(is_running(std::process::id()));
        assert!(is_running(1), "also one that is another user's");
        for none in [0, u32::MAX, 1 << 31, i32::MAX as u32] {
            assert!(!is_running(none), "{none}");
        }
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let id = child.id();
        assert!(is_running(id));
        child.kill().unwrap();
        // Nobody has asked yet how it ended.
        #[cfg(target_os = "linux")]
        while is_running(id) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(!is_running(id));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn is_the_soft_limit_the_kernel_reports() {
        let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
        let line = limits
            .lines()
            .find(|line| line.starts_with("Max open files"))
            .unwrap();
        let soft = line.split_whitespace().nth(3).unwrap();
        let expected = if soft == "unlimited" {
            u64::MAX
        } else {
            soft.parse().unwrap()
        };
        assert_eq!(super::open_file_limit(), expected);
    }
}
