//! Passes open sockets from one process to another, beside bytes on a pair of Unix sockets (`SCM_RIGHTS`, unix(7)).

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use super::socket::{Recv, Send, received, sent};
use crate::syscall::check;

/// The most descriptors that one message carries. Linux takes 253 (`SCM_MAX_FD`).
pub const MOST_PASSED: usize = 64;
/// The words of control data in which 253 descriptors have room, whatever the sender does: what has no room is lost, or
/// on macOS never closed.
const CONTROL_WORDS: usize = 256;

#[cfg(target_os = "linux")]
const SEND_FLAGS: libc::c_int = libc::MSG_NOSIGNAL;
#[cfg(target_os = "macos")]
const SEND_FLAGS: libc::c_int = 0;
#[cfg(target_os = "linux")]
const RECEIVE_FLAGS: libc::c_int = libc::MSG_CMSG_CLOEXEC;
#[cfg(target_os = "macos")]
const RECEIVE_FLAGS: libc::c_int = 0;

/// Two connected stream sockets, neither of which blocks or outlives `exec`.
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [-1; 2];
    #[cfg(target_os = "linux")]
    let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    #[cfg(target_os = "macos")]
    let kind = libc::SOCK_STREAM;
    // SAFETY: there is room for the two descriptors.
    check(unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) })?;
    // SAFETY: both were just opened and have no other owner.
    let pair = unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) };
    #[cfg(target_os = "macos")]
    for end in ends {
        super::listener::make_nonblocking(end)?;
    }
    Ok(pair)
}

/// Sends what the kernel takes of `bytes`, and with the first of them all of `fds`: at most [`MOST_PASSED`], and none
/// without bytes. The receiver gets descriptors of its own; those that were given stay open.
pub fn send_with(to: RawFd, bytes: &[u8], fds: &[RawFd]) -> Send {
    debug_assert!(fds.len() <= MOST_PASSED && !bytes.is_empty());
    let mut control = [0u64; CONTROL_WORDS];
    let mut part = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    // SAFETY: plain data, for which all zeros is a valid value.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    if !fds.is_empty() {
        let length = size_of_val(fds) as libc::c_uint;
        message.msg_control = control.as_mut_ptr().cast();
        // SAFETY: computes a length.
        message.msg_controllen = unsafe { libc::CMSG_SPACE(length) } as _;
        // SAFETY: `control` is aligned for a header, and has room for it and for `fds`, of which there are few enough.
        unsafe {
            let header = libc::CMSG_FIRSTHDR(&raw const message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(length) as _;
            std::ptr::copy_nonoverlapping(
                fds.as_ptr().cast::<u8>(),
                libc::CMSG_DATA(header),
                length as usize,
            );
        }
    }
    loop {
        // SAFETY: `message` names bytes and control data that are valid for reading.
        let count = unsafe { libc::sendmsg(to, &raw const message, SEND_FLAGS) };
        if let Some(outcome) = sent(count) {
            return outcome;
        }
    }
}

/// Receives bytes as [`Socket::recv`](super::Socket::recv) does, and adds the descriptors that came with them to `fds`.
/// Descriptors that the process has no room for are lost.
pub fn receive_with(from: RawFd, bytes: &mut [u8], fds: &mut Vec<OwnedFd>) -> Recv {
    let mut control = [0u64; CONTROL_WORDS];
    let mut part = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    // SAFETY: plain data, for which all zeros is a valid value.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    let outcome = loop {
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&control) as _;
        // SAFETY: `message` names room for bytes and control data that is valid for writing.
        let count = unsafe { libc::recvmsg(from, &raw mut message, RECEIVE_FLAGS) };
        if let Some(outcome) = received(count) {
            break outcome;
        }
    };
    if matches!(outcome, Recv::Data(_)) {
        take_descriptors(&message, fds);
    }
    outcome
}

fn take_descriptors(message: &libc::msghdr, fds: &mut Vec<OwnedFd>) {
    // SAFETY: the kernel has filled the control data, whose headers these calls walk.
    let mut header = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !header.is_null() {
        // SAFETY: a header within the control data.
        let (level, kind, length) = unsafe {
            (
                (*header).cmsg_level,
                (*header).cmsg_type,
                (*header).cmsg_len as usize,
            )
        };
        if level == libc::SOL_SOCKET && kind == libc::SCM_RIGHTS {
            // SAFETY: computes a length.
            let before = unsafe { libc::CMSG_LEN(0) } as usize;
            for index in 0..length.saturating_sub(before) / size_of::<RawFd>() {
                let mut number = [0; size_of::<RawFd>()];
                // SAFETY: the header says that so many descriptors follow it; each is open and has no other owner.
                let fd = unsafe {
                    let at = libc::CMSG_DATA(header).add(index * number.len());
                    std::ptr::copy_nonoverlapping(at, number.as_mut_ptr(), number.len());
                    OwnedFd::from_raw_fd(RawFd::from_ne_bytes(number))
                };
                #[cfg(target_os = "macos")]
                close_on_exec(RawFd::from_ne_bytes(number));
                fds.push(fd);
            }
        }
        // SAFETY: as above.
        header = unsafe { libc::CMSG_NXTHDR(message, header) };
    }
}

/// Has a descriptor that the process inherited closed where it starts other programs, and gives it an owner. Fails with
/// `InvalidInput` if the number is no open socket.
pub fn adopt_socket(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: plain data, for which all zeros is a valid value.
    let mut stat: libc::stat = unsafe { zeroed() };
    // SAFETY: `stat` is valid for writing.
    let result = unsafe { libc::fstat(fd, &raw mut stat) };
    if fd <= 2 || result == -1 || stat.st_mode & libc::S_IFMT != libc::S_IFSOCK {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("descriptor {fd} is no socket that this process has inherited"),
        ));
    }
    close_on_exec(fd);
    // SAFETY: open, and the caller says that nothing else in the process has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn close_on_exec(fd: RawFd) {
    // SAFETY: the call takes no pointers. It fails only for a descriptor that is not open.
    let _ = unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
}
