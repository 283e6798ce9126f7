//! Linux: epoll, level-triggered.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use crate::syscall::check;
use crate::{Event, Interest};

/// Owns an epoll instance.
#[derive(Debug)]
pub struct Poller {
    epoll: OwnedFd,
}

impl Poller {
    /// Opens an epoll instance, close-on-exec.
    pub fn new() -> io::Result<Self> {
        // SAFETY: the call takes no pointers.
        let fd = check(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        // SAFETY: `fd` was just opened and has no other owner.
        let epoll = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Self { epoll })
    }

    /// The epoll descriptor itself: readable whenever `poll` would report something, so it can be watched by another
    /// loop.
    pub fn as_raw_fd(&self) -> RawFd {
        self.epoll.as_raw_fd()
    }

    /// Starts to watch `fd`, which must not be watched yet. Closing `fd` ends it as well.
    pub fn add(&self, fd: RawFd, token: u64, interest: Interest) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, token, interest)
    }

    /// Changes what `fd` is watched for from `old` to `new`. No system call when they are the same.
    pub fn modify(&self, fd: RawFd, token: u64, old: Interest, new: Interest) -> io::Result<()> {
        if old == new {
            return Ok(());
        }
        self.control(libc::EPOLL_CTL_MOD, fd, token, new)
    }

    /// Ends watching `fd`. Events already taken by `poll` stay in its `Events`.
    pub fn remove(&self, fd: RawFd) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_DEL, fd, 0, Interest::NONE)
    }

    /// Fills `events` and returns how many there are. `timeout_ms` 0 does not wait, a negative one waits without limit;
    /// a signal ends the wait with 0 events.
    pub fn poll(&self, events: &mut Events, timeout_ms: i32) -> io::Result<usize> {
        events.list.clear();
        let capacity = i32::try_from(events.list.capacity()).unwrap_or(i32::MAX);
        // SAFETY: the list has room for `capacity` events, and the kernel writes at most that many.
        let count = unsafe {
            libc::epoll_wait(
                self.epoll.as_raw_fd(),
                events.list.as_mut_ptr(),
                capacity,
                timeout_ms,
            )
        };
        if count == -1 {
            let error = io::Error::last_os_error();
            return if error.kind() == io::ErrorKind::Interrupted {
                Ok(0)
            } else {
                Err(error)
            };
        }
        // SAFETY: the kernel has written the first `count` events.
        unsafe { events.list.set_len(count as usize) };
        Ok(count as usize)
    }

    fn control(
        &self,
        operation: libc::c_int,
        fd: RawFd,
        token: u64,
        interest: Interest,
    ) -> io::Result<()> {
        let mut event = libc::epoll_event {
            events: mask(interest),
            u64: token,
        };
        // SAFETY: `event` lives across the call, which only reads it.
        check(unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), operation, fd, &raw mut event) })?;
        Ok(())
    }
}

/// What the last `poll` reported.
pub struct Events {
    list: Vec<libc::epoll_event>,
}

impl Events {
    /// Room for `capacity` events a poll, at least one.
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            list: Vec::with_capacity(capacity.max(1)),
        }
    }

    /// Most events one poll can report: when it reports as many, there may be more.
    pub fn capacity(&self) -> usize {
        self.list.capacity()
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Event `index`.
    ///
    /// # Panics
    /// When `index` is not below the count that `poll` returned.
    #[inline]
    pub fn get(&self, index: usize) -> Event {
        let raw = self.list[index];
        let bits = raw.events;
        Event {
            token: raw.u64,
            readable: bits & libc::EPOLLIN as u32 != 0,
            writable: bits & libc::EPOLLOUT as u32 != 0,
            hangup: bits & libc::EPOLLRDHUP as u32 != 0,
            error: bits & (libc::EPOLLERR | libc::EPOLLHUP) as u32 != 0,
        }
    }
}

fn mask(interest: Interest) -> u32 {
    let mut bits = 0;
    if interest.read {
        bits |= libc::EPOLLIN;
    }
    if interest.write {
        bits |= libc::EPOLLOUT;
    }
    if interest.hangup {
        bits |= libc::EPOLLRDHUP;
    }
    bits as u32
}
