//! Memory that processes share by a file descriptor.
//!
//! No process can make it shorter or longer, so that no access to a mapping fails (SIGBUS): on Linux it is sealed
//! (`memfd_create(2)`, `F_SEAL_SHRINK`), and on macOS its size can be set once.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU64;

use crate::syscall::check;

/// A mapping of the whole memory, shared with all other processes that map it.
pub struct SharedMemory {
    address: NonNull<AtomicU64>,
    words: usize,
}

// SAFETY: the mapping is of the process, not of a thread, and it is only given out as atomics.
unsafe impl Send for SharedMemory {}
// SAFETY: as above.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    /// Makes a memory of so many bytes, all 0. The descriptor is close-on-exec. The memory lasts as long as a descriptor
    /// or a mapping of it.
    pub fn create(bytes: usize) -> io::Result<OwnedFd> {
        let fd = open_nameless()?;
        // SAFETY: no pointers; the descriptor is open.
        check(unsafe { libc::ftruncate(fd.as_raw_fd(), bytes as libc::off_t) })?;
        seal(&fd)?;
        Ok(fd)
    }

    /// Maps what a descriptor stands for, which stays open and becomes close-on-exec. Fails with `InvalidInput` if that is
    /// no memory of `create`.
    pub fn map(fd: RawFd) -> io::Result<Self> {
        let bytes = checked_size(fd)?;
        // SAFETY: no pointers; the flag is of the descriptor alone.
        check(unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) })?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping, wherever the kernel puts it.
        let address =
            unsafe { libc::mmap(ptr::null_mut(), bytes, access, libc::MAP_SHARED, fd, 0) };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let address = NonNull::new(address.cast())
            .ok_or_else(|| io::Error::other("the kernel gave the address 0"))?;
        let words = bytes / size_of::<AtomicU64>();
        Ok(Self { address, words })
    }
}

impl AsRef<[AtomicU64]> for SharedMemory {
    #[inline]
    fn as_ref(&self) -> &[AtomicU64] {
        // SAFETY: a mapping of so many words, aligned to a page, which lives as long as `self` and cannot get shorter.
        // Other processes write to it as to atomics.
        unsafe { std::slice::from_raw_parts(self.address.as_ptr(), self.words) }
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        let bytes = self.words * size_of::<AtomicU64>();
        // SAFETY: the mapping of `map`, whose length is a multiple of a word; nothing refers to it any more.
        unsafe { libc::munmap(self.address.as_ptr().cast(), bytes) };
    }
}

/// Gives the bytes of a memory of `create`.
fn checked_size(fd: RawFd) -> io::Result<usize> {
    // SAFETY: plain data, for which all zeros is a valid value.
    let mut status: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `status` is valid for writing.
    check(unsafe { libc::fstat(fd, &raw mut status) })?;
    let bytes = usize::try_from(status.st_size).unwrap_or(0);
    let is_whole = bytes > 0 && bytes.is_multiple_of(size_of::<AtomicU64>());
    if is_whole && is_fixed(fd) {
        return Ok(bytes);
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        "the descriptor is none of a shared memory",
    ))
}

#[cfg(target_os = "linux")]
fn open_nameless() -> io::Result<OwnedFd> {
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: a NUL-terminated name, which is shown in /proc alone.
    let fd = check(unsafe { libc::memfd_create(c"volant".as_ptr(), flags) })?;
    // SAFETY: just opened, and owned by nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

#[cfg(target_os = "linux")]
fn seal(fd: &OwnedFd) -> io::Result<()> {
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    // SAFETY: no pointers.
    check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_ADD_SEALS, seals) }).map(drop)
}

#[cfg(target_os = "linux")]
fn is_fixed(fd: RawFd) -> bool {
    // SAFETY: no pointers. Descriptors that cannot have seals give −1.
    let seals = unsafe { libc::fcntl(fd, libc::F_GET_SEALS) };
    seals != -1 && seals & libc::F_SEAL_SHRINK != 0
}

/// Takes a free name, and gives it back at once.
#[cfg(not(target_os = "linux"))]
fn open_nameless() -> io::Result<OwnedFd> {
    use std::ffi::CString;
    let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL;
    let mode: libc::c_uint = 0o600;
    // Names have at most 31 bytes on macOS (PSHMNAMLEN).
    for at in 0..100 {
        let nanos = crate::clock::monotonic_ns();
        let name = CString::new(format!(
            "/volant.{:x}.{:x}",
            std::process::id(),
            (nanos + at) & 0xffff_ffff
        ))?;
        // SAFETY: a NUL-terminated name.
        let fd = unsafe { libc::shm_open(name.as_ptr(), flags, mode) };
        if fd == -1 {
            let error = io::Error::last_os_error();
            if error.kind() == io::ErrorKind::AlreadyExists {
                continue;
            }
            return Err(error);
        }
        // SAFETY: just opened, and owned by nobody else.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        // SAFETY: a NUL-terminated name.
        check(unsafe { libc::shm_unlink(name.as_ptr()) })?;
        // SAFETY: no pointers.
        check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) })?;
        return Ok(fd);
    }
    Err(io::Error::from(io::ErrorKind::AlreadyExists))
}

/// The size of such a memory cannot be set again.
#[cfg(not(target_os = "linux"))]
fn seal(_: &OwnedFd) -> io::Result<()> {
    Ok(())
}

/// A file could get shorter.
#[cfg(not(target_os = "linux"))]
fn is_fixed(fd: RawFd) -> bool {
    // SAFETY: plain data, for which all zeros is a valid value.
    let mut status: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `status` is valid for writing.
    unsafe {
        libc::fstat(fd, &raw mut status) == 0 && status.st_mode & libc::S_IFMT != libc::S_IFREG
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::IntoRawFd;
    use std::sync::atomic::Ordering::SeqCst;

    use super::*;

    #[test]
    fn mappings_of_one_memory_see_the_same() {
        let fd = SharedMemory::create(8192).unwrap();
        let [one, other] = [0, 1].map(|_| SharedMemory::map(fd.as_raw_fd()).unwrap());
        drop(fd);
        assert_eq!(one.as_ref().len(), 1024);
        assert!(one.as_ref().iter().all(|word| word.load(SeqCst) == 0));
        one.as_ref()[1023].store(7, SeqCst);
        assert_eq!(other.as_ref()[1023].load(SeqCst), 7);
        drop(one);
        assert_eq!(other.as_ref()[1023].fetch_add(1, SeqCst), 7);
    }

    #[test]
    fn nobody_can_make_it_shorter_or_longer() {
        let fd = SharedMemory::create(8192).unwrap();
        for bytes in [0, 4096, 16384] {
            // SAFETY: no pointers.
            let result = unsafe { libc::ftruncate(fd.as_raw_fd(), bytes) };
            assert_eq!(result, -1, "{bytes}");
        }
    }

    #[test]
    fn a_mapped_descriptor_is_close_on_exec() {
        let fd = SharedMemory::create(4096).unwrap();
        let flags = || {
            // SAFETY: no pointers.
            unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFD) }
        };
        assert_eq!(flags(), libc::FD_CLOEXEC);
        // As a child gets it.
        // SAFETY: no pointers.
        unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFD, 0) };
        let _mapping = SharedMemory::map(fd.as_raw_fd()).unwrap();
        assert_eq!(flags(), libc::FD_CLOEXEC);
    }

    #[test]
    fn other_descriptors_are_refused() {
        let kind = |fd| SharedMemory::map(fd).err().unwrap().kind();
        let file = std::fs::File::open(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(kind(file.as_raw_fd()), io::ErrorKind::InvalidInput);
        let (pair, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        assert_eq!(kind(pair.as_raw_fd()), io::ErrorKind::InvalidInput);
        let odd = SharedMemory::create(4095).unwrap();
        #[cfg(target_os = "linux")]
        assert_eq!(kind(odd.as_raw_fd()), io::ErrorKind::InvalidInput);
        drop(odd);
        let closed = 1_000_000;
        assert!(SharedMemory::map(closed).is_err());
        #[cfg(target_os = "linux")]
        {
            // SAFETY: a NUL-terminated name.
            let unsealed = check(unsafe { libc::memfd_create(c"x".as_ptr(), 0) }).unwrap();
            // SAFETY: just opened.
            let unsealed = unsafe { OwnedFd::from_raw_fd(unsealed) };
            // SAFETY: no pointers.
            check(unsafe { libc::ftruncate(unsealed.as_raw_fd(), 4096) }).unwrap();
            assert_eq!(kind(unsealed.into_raw_fd()), io::ErrorKind::InvalidInput);
        }
    }
}
