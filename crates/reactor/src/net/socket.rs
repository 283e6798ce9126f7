//! Connected sockets.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use super::listener::set_option;
use crate::syscall::{check, last_errno, receive, send, would_block};

/// Owns a connected, non-blocking socket; dropping it closes it.
#[derive(Debug)]
pub struct Socket {
    /// Is dropped before `fd`.
    end: End,
    fd: OwnedFd,
}

/// Ends the connection of a descriptor of which another process has a copy, so that closing ours would end nothing.
/// Negative for a socket without copies.
#[derive(Debug)]
struct End(RawFd);

impl Drop for End {
    fn drop(&mut self) {
        if self.0 >= 0 {
            // SAFETY: the call takes no pointers, and the descriptor is still open. A peer that is gone is no error.
            unsafe { libc::shutdown(self.0, libc::SHUT_WR) };
        }
    }
}

/// What a receive gave.
#[derive(Debug)]
pub enum Recv {
    /// The first so many bytes of the buffer are new; never 0.
    Data(usize),
    WouldBlock,
    /// The peer has closed its sending side.
    End,
    Failed(io::Error),
}

/// What a send took.
#[derive(Debug)]
pub enum Send {
    /// So many bytes, which may be fewer than given.
    Sent(usize),
    WouldBlock,
    Failed(io::Error),
}

/// Buffers the kernel takes in one call (`IOV_MAX` on Linux and macOS); the rest is left for the next.
const MAX_SLICES: usize = 1024;

#[cfg(target_os = "linux")]
const SEND_FLAGS: libc::c_int = libc::MSG_NOSIGNAL;
#[cfg(target_os = "macos")]
const SEND_FLAGS: libc::c_int = 0;

impl Socket {
    /// Takes a connected socket that does not block.
    pub fn from_owned(fd: OwnedFd) -> Self {
        Self { end: End(-1), fd }
    }

    /// Takes a connected socket that does not block and of which the process that passed it has a copy for a while.
    pub fn from_passed(fd: OwnedFd) -> Self {
        Self {
            end: End(fd.as_raw_fd()),
            fd,
        }
    }

    /// Gives the descriptor away.
    pub fn into_owned(mut self) -> OwnedFd {
        self.end.0 = -1;
        self.fd
    }

    #[inline]
    pub fn fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// Receives what is there, up to the length of `buf`. An empty `buf` gives `WouldBlock`, never `End`.
    #[inline]
    pub fn recv(&self, buf: &mut [u8]) -> Recv {
        if buf.is_empty() {
            return Recv::WouldBlock;
        }
        loop {
            // SAFETY: `buf` is valid for writing its length.
            let count = unsafe { receive(self.fd(), buf.as_mut_ptr(), buf.len()) };
            if let Some(outcome) = received(count) {
                return outcome;
            }
        }
    }

    /// What a receive would give now, without taking it: `Data` says that there is something.
    pub fn peek(&self) -> Recv {
        let mut byte = 0u8;
        loop {
            // SAFETY: `byte` has room for the one byte that is asked for.
            let count = unsafe { libc::recv(self.fd(), (&raw mut byte).cast(), 1, libc::MSG_PEEK) };
            if let Some(outcome) = received(count) {
                return outcome;
            }
        }
    }

    /// Sends what the kernel takes of `bytes`. A peer that is gone gives `Failed`, never a signal.
    #[inline]
    pub fn send(&self, bytes: &[u8]) -> Send {
        loop {
            // SAFETY: `bytes` is valid for reading its length.
            let count = unsafe { send(self.fd(), bytes.as_ptr(), bytes.len(), SEND_FLAGS) };
            if let Some(outcome) = sent(count) {
                return outcome;
            }
        }
    }

    /// Sends what the kernel takes of `slices`, in order; at most the first 1,024 of them.
    #[inline]
    pub fn send_vectored(&self, slices: &[io::IoSlice]) -> Send {
        let count = slices.len().min(MAX_SLICES);
        // SAFETY: plain data, for which all zeros is a valid value (its fields differ between platforms).
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        // `IoSlice` is guaranteed to have the layout of `iovec`; sendmsg does not write through the pointer.
        message.msg_iov = slices.as_ptr().cast_mut().cast();
        message.msg_iovlen = count as _;
        loop {
            // SAFETY: `message` names `count` slices that are valid for reading.
            let count = unsafe { libc::sendmsg(self.fd(), &raw const message, SEND_FLAGS) };
            if let Some(outcome) = sent(count) {
                return outcome;
            }
        }
    }

    /// Tells the peer that nothing more comes; receiving goes on. A peer that is already gone is no error.
    pub fn shutdown_write(&self) {
        // SAFETY: the call takes no pointers.
        unsafe { libc::shutdown(self.fd(), libc::SHUT_WR) };
    }

    /// The error of something the kernel did by itself, such as a connection it could not make; taking it clears it.
    /// After [`connect_tcp`](super::connect_tcp), `None` on a writable socket says that it is connected.
    pub fn take_error(&self) -> Option<io::Error> {
        let mut errno: libc::c_int = 0;
        let mut len = size_of::<libc::c_int>() as libc::socklen_t;
        // SAFETY: the option is an int, for which `errno` has room, as `len` says.
        let result = check(unsafe {
            libc::getsockopt(
                self.fd(),
                libc::SOL_SOCKET,
                libc::SO_ERROR,
                (&raw mut errno).cast(),
                &raw mut len,
            )
        });
        match result {
            Ok(_) if errno == 0 => None,
            Ok(_) => Some(io::Error::from_raw_os_error(errno)),
            Err(error) => Some(error),
        }
    }

    /// Turns Nagle's algorithm off (true) or on. Fails on a Unix socket.
    pub fn set_nodelay(&self, on: bool) -> io::Result<()> {
        set_option(self.fd(), libc::IPPROTO_TCP, libc::TCP_NODELAY, on.into())
    }

    /// Has the kernel probe an idle peer after `seconds`, and again every `seconds`; after three probes without an
    /// answer, or one answered by a reset, the socket fails. Fails on a Unix socket.
    pub fn probe_peer(&self, seconds: i32) -> io::Result<()> {
        #[cfg(target_os = "macos")]
        const IDLE: libc::c_int = libc::TCP_KEEPALIVE;
        #[cfg(not(target_os = "macos"))]
        const IDLE: libc::c_int = libc::TCP_KEEPIDLE;
        set_option(self.fd(), libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1)?;
        set_option(self.fd(), libc::IPPROTO_TCP, IDLE, seconds)?;
        set_option(self.fd(), libc::IPPROTO_TCP, libc::TCP_KEEPINTVL, seconds)?;
        set_option(self.fd(), libc::IPPROTO_TCP, libc::TCP_KEEPCNT, 3)
    }

    /// Closes with a TCP reset: what is not yet sent is dropped, and the peer sees `ECONNRESET`. A Unix socket is
    /// merely closed.
    pub fn reset(mut self) {
        self.end.0 = -1;
        let linger = libc::linger {
            l_onoff: 1,
            l_linger: 0,
        };
        // SAFETY: the option is a `linger`, which lives across the call.
        let result = check(unsafe {
            libc::setsockopt(
                self.fd(),
                libc::SOL_SOCKET,
                libc::SO_LINGER,
                (&raw const linger).cast(),
                size_of::<libc::linger>() as libc::socklen_t,
            )
        });
        // A socket that refuses the option is already reset; closing it is all that is left.
        drop(result);
    }
}

/// `None` when a signal interrupted the call.
#[inline]
pub(super) fn received(count: isize) -> Option<Recv> {
    if count > 0 {
        return Some(Recv::Data(count as usize));
    }
    if count == 0 {
        return Some(Recv::End);
    }
    match last_errno() {
        libc::EINTR => None,
        errno if would_block(errno) => Some(Recv::WouldBlock),
        errno => Some(Recv::Failed(io::Error::from_raw_os_error(errno))),
    }
}

/// `None` when a signal interrupted the call.
#[inline]
pub(super) fn sent(count: isize) -> Option<Send> {
    if count >= 0 {
        return Some(Send::Sent(count as usize));
    }
    match last_errno() {
        libc::EINTR => None,
        errno if would_block(errno) => Some(Send::WouldBlock),
        // macOS reports a lack of buffers on a stream where it should wait.
        #[cfg(target_os = "macos")]
        libc::ENOBUFS => Some(Send::WouldBlock),
        errno => Some(Send::Failed(io::Error::from_raw_os_error(errno))),
    }
}
