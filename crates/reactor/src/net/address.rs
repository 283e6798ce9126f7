//! Addresses between their C and their Rust shape.

use std::ffi::OsStr;
use std::io;
use std::mem::{offset_of, size_of, zeroed};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;

/// Who connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// An IPv4 client of a dual-stack listener has an IPv4-mapped IPv6 address, as in node:http.
    Tcp(SocketAddr),
    Unix,
}

/// Where a listener listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenAddr {
    /// With the port the kernel chose, if 0 was asked for.
    Tcp(SocketAddr),
    Unix(PathBuf),
}

/// A C address of any family with its length.
pub(super) struct RawAddr {
    pub storage: libc::sockaddr_storage,
    pub len: libc::socklen_t,
}

impl RawAddr {
    /// For the kernel to fill.
    pub fn empty() -> Self {
        // SAFETY: `sockaddr_storage` is plain data, for which all zeros is a valid value.
        let storage = unsafe { zeroed() };
        Self {
            storage,
            len: size_of::<libc::sockaddr_storage>() as libc::socklen_t,
        }
    }

    pub fn from_tcp(address: SocketAddr) -> Self {
        match address {
            SocketAddr::V4(v4) => {
                // SAFETY: plain data, for which all zeros is a valid value.
                let mut raw: libc::sockaddr_in = unsafe { zeroed() };
                raw.sin_family = libc::AF_INET as libc::sa_family_t;
                raw.sin_port = v4.port().to_be();
                raw.sin_addr.s_addr = u32::from_ne_bytes(v4.ip().octets());
                Self::from_raw(&raw, size_of::<libc::sockaddr_in>())
            }
            SocketAddr::V6(v6) => {
                // SAFETY: plain data, for which all zeros is a valid value.
                let mut raw: libc::sockaddr_in6 = unsafe { zeroed() };
                raw.sin6_family = libc::AF_INET6 as libc::sa_family_t;
                raw.sin6_port = v6.port().to_be();
                raw.sin6_addr.s6_addr = v6.ip().octets();
                raw.sin6_flowinfo = v6.flowinfo();
                raw.sin6_scope_id = v6.scope_id();
                Self::from_raw(&raw, size_of::<libc::sockaddr_in6>())
            }
        }
    }

    /// Fails with `InvalidInput` for a path that is empty, holds a NUL (Linux's abstract names among them) or is too
    /// long for `sun_path`: 107 bytes on Linux, 103 on macOS.
    pub fn from_path(path: &Path) -> io::Result<Self> {
        // SAFETY: plain data, for which all zeros is a valid value.
        let mut raw: libc::sockaddr_un = unsafe { zeroed() };
        let bytes = path.as_os_str().as_bytes();
        let problem = if bytes.is_empty() {
            Some("the path of a Unix socket is empty")
        } else if bytes.contains(&0) {
            Some("the path of a Unix socket holds a NUL")
        } else if bytes.len() >= raw.sun_path.len() {
            Some("the path of a Unix socket is too long")
        } else {
            None
        };
        if let Some(problem) = problem {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        raw.sun_family = libc::AF_UNIX as libc::sa_family_t;
        for (to, from) in raw.sun_path.iter_mut().zip(bytes) {
            *to = *from as libc::c_char;
        }
        Ok(Self::from_raw(
            &raw,
            offset_of!(libc::sockaddr_un, sun_path) + bytes.len() + 1,
        ))
    }

    fn from_raw<T: Copy>(raw: &T, len: usize) -> Self {
        let mut address = Self::empty();
        assert!(size_of::<T>() <= size_of::<libc::sockaddr_storage>());
        // SAFETY: both are plain data, the source is initialised, and the target has room by the assertion.
        unsafe { ptr::copy_nonoverlapping(raw, (&raw mut address.storage).cast::<T>(), 1) };
        #[cfg(target_os = "macos")]
        {
            address.storage.ss_len = len as u8;
        }
        address.len = len as libc::socklen_t;
        address
    }

    pub fn as_ptr(&self) -> *const libc::sockaddr {
        (&raw const self.storage).cast()
    }

    pub fn as_mut_ptr(&mut self) -> *mut libc::sockaddr {
        (&raw mut self.storage).cast()
    }

    /// `None` for anything but IPv4 and IPv6.
    pub fn to_tcp(&self) -> Option<SocketAddr> {
        match libc::c_int::from(self.storage.ss_family) {
            libc::AF_INET => {
                // SAFETY: the family says that the storage, which is larger and aligned for any family, holds this type.
                let raw: libc::sockaddr_in = unsafe { ptr::read((&raw const self.storage).cast()) };
                let ip = Ipv4Addr::from(raw.sin_addr.s_addr.to_ne_bytes());
                Some(SocketAddrV4::new(ip, u16::from_be(raw.sin_port)).into())
            }
            libc::AF_INET6 => {
                // SAFETY: as above.
                let raw: libc::sockaddr_in6 =
                    unsafe { ptr::read((&raw const self.storage).cast()) };
                let ip = Ipv6Addr::from(raw.sin6_addr.s6_addr);
                let port = u16::from_be(raw.sin6_port);
                Some(SocketAddrV6::new(ip, port, raw.sin6_flowinfo, raw.sin6_scope_id).into())
            }
            _ => None,
        }
    }

    /// The bound path of a Unix socket; empty for an unnamed one.
    pub fn to_path(&self) -> PathBuf {
        // SAFETY: any bytes are a valid `sockaddr_un`, and the storage is larger and aligned for any family.
        let raw: libc::sockaddr_un = unsafe { ptr::read((&raw const self.storage).cast()) };
        let room = (self.len as usize)
            .saturating_sub(offset_of!(libc::sockaddr_un, sun_path))
            .min(raw.sun_path.len());
        let bytes: Vec<u8> = raw.sun_path[..room]
            .iter()
            .take_while(|byte| **byte != 0)
            .map(|byte| *byte as u8)
            .collect();
        PathBuf::from(OsStr::from_bytes(&bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_survive_the_way_to_c_and_back() {
        for text in [
            "127.0.0.1:80",
            "[::1]:65535",
            "[fe80::1%7]:1",
            "0.0.0.0:0",
            "[::ffff:1.2.3.4]:9",
        ] {
            let address: SocketAddr = text.parse().unwrap();
            assert_eq!(RawAddr::from_tcp(address).to_tcp(), Some(address));
        }
        let path = Path::new("/run/a.sock");
        assert_eq!(RawAddr::from_path(path).unwrap().to_path(), path);
        assert_eq!(RawAddr::from_path(path).unwrap().to_tcp(), None);
    }

    #[test]
    fn impossible_paths_are_refused() {
        let long = "x".repeat(108);
        for path in ["", "\0abstract", "a\0b", &long] {
            let kind = RawAddr::from_path(Path::new(path))
                .err()
                .map(|error| error.kind());
            assert_eq!(kind, Some(io::ErrorKind::InvalidInput), "{path:?}");
        }
    }
}
