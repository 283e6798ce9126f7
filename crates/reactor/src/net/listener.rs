//! Listening sockets.

use std::io;
use std::mem::size_of;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::address::{ListenAddr, Peer, RawAddr};
use super::socket::Socket;
use crate::syscall::{check, last_errno, would_block};

/// Owns a listening socket; a Unix socket's file is removed on drop, unless another socket has taken its place.
#[derive(Debug)]
pub struct Listener {
    fd: OwnedFd,
    file: Option<SocketFile>,
}

/// The file of a Unix socket, known by device and inode so that a successor's is not removed.
#[derive(Debug)]
struct SocketFile {
    path: PathBuf,
    identity: (u64, u64),
}

/// Listens on `address`; port 0 lets the kernel choose. `backlog` is the length of the accept queue, which the kernel
/// cuts to its own maximum. `ipv6_only` refuses IPv4 on an IPv6 address (ignored for IPv4); `reuse_port` lets several
/// sockets share the port.
pub fn listen_tcp(
    address: SocketAddr,
    backlog: i32,
    ipv6_only: bool,
    reuse_port: bool,
) -> io::Result<Listener> {
    let raw = RawAddr::from_tcp(address);
    let fd = stream_socket(if address.is_ipv4() {
        libc::AF_INET
    } else {
        libc::AF_INET6
    })?;
    set_option(fd.as_raw_fd(), libc::SOL_SOCKET, libc::SO_REUSEADDR, 1)?;
    if reuse_port {
        set_option(fd.as_raw_fd(), libc::SOL_SOCKET, libc::SO_REUSEPORT, 1)?;
    }
    if address.is_ipv6() {
        set_option(
            fd.as_raw_fd(),
            libc::IPPROTO_IPV6,
            libc::IPV6_V6ONLY,
            ipv6_only.into(),
        )?;
    }
    bind(&fd, &raw)?;
    listen(&fd, backlog)?;
    Ok(Listener { fd, file: None })
}

/// Listens on a Unix socket at `path`. The file of a socket nobody listens on is replaced; `AddrInUse` when somebody
/// does, or when the file is no socket.
pub fn listen_unix(path: &Path, backlog: i32) -> io::Result<Listener> {
    let raw = RawAddr::from_path(path)?;
    let fd = stream_socket(libc::AF_UNIX)?;
    if let Err(error) = bind(&fd, &raw) {
        if error.kind() != io::ErrorKind::AddrInUse || !is_stale(path, &raw)? {
            return Err(error);
        }
        std::fs::remove_file(path)?;
        bind(&fd, &raw)?;
    }
    let metadata = std::fs::symlink_metadata(path)?;
    let file = SocketFile {
        path: path.to_owned(),
        identity: (metadata.dev(), metadata.ino()),
    };
    let listener = Listener {
        fd,
        file: Some(file),
    };
    listen(&listener.fd, backlog)?;
    Ok(listener)
}

impl Listener {
    /// Takes a socket that listens already, as a supervisor hands it down; nothing removes its file. Fails with
    /// `InvalidInput` if it is no stream socket that listens.
    pub fn from_owned(fd: OwnedFd) -> io::Result<Self> {
        if option_of(&fd, libc::SO_ACCEPTCONN)? != 1
            || option_of(&fd, libc::SO_TYPE)? != libc::SOCK_STREAM
        {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the descriptor is no stream socket that listens",
            ));
        }
        // SAFETY: the calls take no pointers.
        unsafe {
            let flags = check(libc::fcntl(fd.as_raw_fd(), libc::F_GETFL))?;
            check(libc::fcntl(
                fd.as_raw_fd(),
                libc::F_SETFL,
                flags | libc::O_NONBLOCK,
            ))?;
        }
        Ok(Self { fd, file: None })
    }

    pub fn fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    pub fn local_addr(&self) -> io::Result<ListenAddr> {
        let mut raw = RawAddr::empty();
        // SAFETY: `raw` has room for the length it states.
        check(unsafe {
            let len = &raw mut raw.len;
            libc::getsockname(self.fd(), raw.as_mut_ptr(), len)
        })?;
        Ok(raw
            .to_tcp()
            .map_or_else(|| ListenAddr::Unix(raw.to_path()), ListenAddr::Tcp))
    }

    /// The next waiting connection, or `None`. A client that is already gone is passed over. `EMFILE` and `ENFILE` come
    /// back as errors while the connection stays in the queue, so the caller must stop watching this socket for a
    /// while.
    pub fn accept(&self) -> io::Result<Option<(Socket, Peer)>> {
        loop {
            let mut raw = RawAddr::empty();
            let fd = accept_nonblocking(self.fd(), &mut raw);
            if fd != -1 {
                // SAFETY: `fd` was just opened and has no other owner.
                let socket = Socket::from_owned(unsafe { OwnedFd::from_raw_fd(fd) });
                #[cfg(target_os = "macos")]
                if make_nonblocking(fd).is_err() {
                    continue;
                }
                return Ok(Some((socket, raw.to_tcp().map_or(Peer::Unix, Peer::Tcp))));
            }
            let errno = last_errno();
            if would_block(errno) {
                return Ok(None);
            }
            if !concerns_only_this_client(errno) {
                return Err(io::Error::from_raw_os_error(errno));
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let Some(file) = &self.file else { return };
        let ours = std::fs::symlink_metadata(&file.path)
            .is_ok_and(|metadata| (metadata.dev(), metadata.ino()) == file.identity);
        if ours {
            // Nothing can be done about a failure here, and the next start replaces a stale file.
            let _ = std::fs::remove_file(&file.path);
        }
    }
}

/// accept(2): Linux passes errors of the new connection on as errors of accept; each has left the queue.
fn concerns_only_this_client(errno: i32) -> bool {
    #[cfg(target_os = "linux")]
    if matches!(
        errno,
        libc::EHOSTDOWN | libc::ENONET | libc::ENOPROTOOPT | libc::EOPNOTSUPP
    ) {
        return true;
    }
    matches!(
        errno,
        libc::EINTR
            | libc::ECONNABORTED
            | libc::EPROTO
            | libc::ENETDOWN
            | libc::ENETUNREACH
            | libc::EHOSTUNREACH
    )
}

#[cfg(target_os = "linux")]
fn accept_nonblocking(listener: RawFd, raw: &mut RawAddr) -> RawFd {
    let len = &raw mut raw.len;
    // SAFETY: `raw` has room for the length it states.
    unsafe {
        libc::accept4(
            listener,
            raw.as_mut_ptr(),
            len,
            libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC,
        )
    }
}

#[cfg(target_os = "macos")]
fn accept_nonblocking(listener: RawFd, raw: &mut RawAddr) -> RawFd {
    let len = &raw mut raw.len;
    // SAFETY: `raw` has room for the length it states.
    unsafe { libc::accept(listener, raw.as_mut_ptr(), len) }
}

#[cfg(target_os = "linux")]
pub(super) fn stream_socket(family: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: the call takes no pointers.
    let fd = check(unsafe {
        libc::socket(
            family,
            libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC,
            0,
        )
    })?;
    // SAFETY: `fd` was just opened and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

#[cfg(target_os = "macos")]
pub(super) fn stream_socket(family: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: the call takes no pointers.
    let fd = check(unsafe { libc::socket(family, libc::SOCK_STREAM, 0) })?;
    // SAFETY: `fd` was just opened and has no other owner.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    make_nonblocking(fd.as_raw_fd())?;
    Ok(fd)
}

/// macOS has neither `SOCK_NONBLOCK` nor `MSG_NOSIGNAL`.
#[cfg(target_os = "macos")]
pub(super) fn make_nonblocking(fd: RawFd) -> io::Result<()> {
    // SAFETY: the calls take no pointers.
    unsafe {
        let flags = check(libc::fcntl(fd, libc::F_GETFL))?;
        check(libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK))?;
        check(libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC))?;
    }
    set_option(fd, libc::SOL_SOCKET, libc::SO_NOSIGPIPE, 1)
}

pub(super) fn set_option(
    fd: RawFd,
    level: libc::c_int,
    name: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    // SAFETY: the option is an int, and `value` lives across the call.
    check(unsafe {
        libc::setsockopt(
            fd,
            level,
            name,
            (&raw const value).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    })?;
    Ok(())
}

/// Reads an option of the socket layer that is an int.
fn option_of(fd: &OwnedFd, name: libc::c_int) -> io::Result<libc::c_int> {
    let mut value: libc::c_int = 0;
    let mut len = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the option is an int, for which `value` has room, as `len` says.
    check(unsafe {
        libc::getsockopt(
            fd.as_raw_fd(),
            libc::SOL_SOCKET,
            name,
            (&raw mut value).cast(),
            &raw mut len,
        )
    })?;
    Ok(value)
}

fn bind(fd: &OwnedFd, address: &RawAddr) -> io::Result<()> {
    // SAFETY: `address` is initialised for the length it states.
    check(unsafe { libc::bind(fd.as_raw_fd(), address.as_ptr(), address.len) })?;
    Ok(())
}

fn listen(fd: &OwnedFd, backlog: i32) -> io::Result<()> {
    // SAFETY: the call takes no pointers.
    check(unsafe { libc::listen(fd.as_raw_fd(), backlog) })?;
    Ok(())
}

/// True for the file of a stream socket nobody listens on. A refused connection is the only proof of that: a full
/// backlog gives `EAGAIN`, and a regular file is refused too, hence the look at its type.
fn is_stale(path: &Path, address: &RawAddr) -> io::Result<bool> {
    use std::os::unix::fs::FileTypeExt;

    if !std::fs::symlink_metadata(path)?.file_type().is_socket() {
        return Ok(false);
    }
    let probe = stream_socket(libc::AF_UNIX)?;
    // SAFETY: `address` is initialised for the length it states.
    let result = unsafe { libc::connect(probe.as_raw_fd(), address.as_ptr(), address.len) };
    Ok(result == -1 && last_errno() == libc::ECONNREFUSED)
}
