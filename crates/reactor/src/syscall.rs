//! Return values of system calls as `io::Result`.

use std::io;

/// `-1` becomes the error of this thread.
pub(crate) fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result == -1 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// The error number of the call that just returned −1.
pub(crate) fn last_errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// `EWOULDBLOCK` is the same number as `EAGAIN` on Linux and macOS.
pub(crate) const fn would_block(errno: i32) -> bool {
    errno == libc::EAGAIN
}
