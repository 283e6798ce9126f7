//! Outgoing connections.

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;

use super::address::RawAddr;
use super::listener::stream_socket;
use super::socket::Socket;
use crate::syscall::{check, last_errno};

/// Begins to connect to `address` and does not wait. The socket becomes writable when the attempt is over;
/// [`Socket::take_error`] then tells how. What the kernel refuses at once is an error here.
pub fn connect_tcp(address: SocketAddr) -> io::Result<Socket> {
    let raw = RawAddr::from_tcp(address);
    let fd = stream_socket(if address.is_ipv4() {
        libc::AF_INET
    } else {
        libc::AF_INET6
    })?;
    // SAFETY: `raw` is initialised for the length it states.
    let result = unsafe { libc::connect(fd.as_raw_fd(), raw.as_ptr(), raw.len) };
    // An interrupted attempt goes on by itself (POSIX, connect).
    if result == -1 && !matches!(last_errno(), libc::EINPROGRESS | libc::EINTR) {
        check(result)?;
    }
    Ok(Socket::from_owned(fd))
}
