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

/// `recv(2)` and `send(2)` as bare system calls on Linux: glibc's wrappers are cancellation points, and in a process
/// with threads (Node always has some) switching cancellation on and off costs 3–4 % of a small request.
#[cfg(target_os = "linux")]
mod transfer {
    use std::os::fd::RawFd;

    /// # Safety
    /// `buffer` must be valid for writing `length` bytes.
    #[inline]
    pub unsafe fn receive(fd: RawFd, buffer: *mut u8, length: usize) -> isize {
        let none = std::ptr::null::<u8>();
        // SAFETY: the caller's promise; a null address and length ask for no sender address.
        unsafe { libc::syscall(libc::SYS_recvfrom, fd, buffer, length, 0, none, none) as isize }
    }

    /// # Safety
    /// `bytes` must be valid for reading `length` bytes.
    #[inline]
    pub unsafe fn send(fd: RawFd, bytes: *const u8, length: usize, flags: libc::c_int) -> isize {
        let none = std::ptr::null::<u8>();
        // SAFETY: the caller's promise; a null address of length 0 names no destination.
        unsafe { libc::syscall(libc::SYS_sendto, fd, bytes, length, flags, none, 0usize) as isize }
    }
}

#[cfg(not(target_os = "linux"))]
mod transfer {
    use std::os::fd::RawFd;

    /// # Safety
    /// `buffer` must be valid for writing `length` bytes.
    #[inline]
    pub unsafe fn receive(fd: RawFd, buffer: *mut u8, length: usize) -> isize {
        // SAFETY: the caller's promise.
        unsafe { libc::recv(fd, buffer.cast(), length, 0) }
    }

    /// # Safety
    /// `bytes` must be valid for reading `length` bytes.
    #[inline]
    pub unsafe fn send(fd: RawFd, bytes: *const u8, length: usize, flags: libc::c_int) -> isize {
        // SAFETY: the caller's promise.
        unsafe { libc::send(fd, bytes.cast(), length, flags) }
    }
}

pub(crate) use transfer::{receive, send};
