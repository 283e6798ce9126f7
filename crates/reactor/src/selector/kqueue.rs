//! macOS: kqueue, level-triggered.
//!
//! Reading and writing are separate filters, so one socket can be reported twice in a poll. There is no filter for the
//! peer's close alone: with `hangup` but not `read`, the read filter is set edge-triggered (`EV_CLEAR`), and only its
//! end-of-file flag is reported.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use crate::syscall::check;
use crate::{Event, Interest};

/// Owns a kqueue.
#[derive(Debug)]
pub struct Poller {
    queue: OwnedFd,
}

impl Poller {
    /// Opens a kqueue, close-on-exec.
    pub fn new() -> io::Result<Self> {
        // SAFETY: the call takes no pointers.
        let fd = check(unsafe { libc::kqueue() })?;
        // SAFETY: `fd` was just opened and has no other owner.
        let queue = unsafe { OwnedFd::from_raw_fd(fd) };
        // SAFETY: `fd` is open; the call takes no pointers.
        check(unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) })?;
        Ok(Self { queue })
    }

    /// The kqueue descriptor itself: readable whenever `poll` would report something, so it can be watched by another
    /// loop.
    pub fn as_raw_fd(&self) -> RawFd {
        self.queue.as_raw_fd()
    }

    /// Starts to watch `fd`, which must not be watched yet. Closing `fd` ends it as well.
    pub fn add(&self, fd: RawFd, token: u64, interest: Interest) -> io::Result<()> {
        self.change(fd, token, Interest::NONE, interest)
    }

    /// Changes what `fd` is watched for from `old` to `new`. No system call when they are the same.
    pub fn modify(&self, fd: RawFd, token: u64, old: Interest, new: Interest) -> io::Result<()> {
        if old == new {
            return Ok(());
        }
        self.change(fd, token, old, new)
    }

    /// Ends watching `fd`. Events already taken by `poll` stay in its `Events`.
    pub fn remove(&self, fd: RawFd) -> io::Result<()> {
        self.change(fd, 0, Interest::READ_WRITE, Interest::NONE)
    }

    /// Fills `events` and returns how many there are. `timeout_ms` 0 does not wait, a negative one waits without limit;
    /// a signal ends the wait with 0 events.
    pub fn poll(&self, events: &mut Events, timeout_ms: i32) -> io::Result<usize> {
        events.list.clear();
        let capacity = libc::c_int::try_from(events.list.capacity()).unwrap_or(libc::c_int::MAX);
        let timeout = libc::timespec {
            tv_sec: (timeout_ms / 1000).into(),
            tv_nsec: (timeout_ms % 1000 * 1_000_000).into(),
        };
        let timeout = if timeout_ms < 0 {
            ptr::null()
        } else {
            &raw const timeout
        };
        // SAFETY: the list has room for `capacity` events, and the kernel writes at most that many; `timeout` is null
        // or points to a value that lives across the call.
        let count = unsafe {
            libc::kevent(
                self.queue.as_raw_fd(),
                ptr::null(),
                0,
                events.list.as_mut_ptr(),
                capacity,
                timeout,
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

    /// A filter's trigger mode is fixed when it is added, so a changed read filter is deleted and added again.
    fn change(&self, fd: RawFd, token: u64, old: Interest, new: Interest) -> io::Result<()> {
        let (old_read, new_read) = (read_mode(old), read_mode(new));
        if old_read != new_read {
            if old_read.is_some() {
                self.apply(fd, token, libc::EVFILT_READ, libc::EV_DELETE)?;
            }
            if let Some(mode) = new_read {
                self.apply(fd, token, libc::EVFILT_READ, libc::EV_ADD | mode)?;
            }
        }
        if old.write != new.write {
            let action = if new.write {
                libc::EV_ADD
            } else {
                libc::EV_DELETE
            };
            self.apply(fd, token, libc::EVFILT_WRITE, action)?;
        }
        Ok(())
    }

    fn apply(&self, fd: RawFd, token: u64, filter: i16, flags: u16) -> io::Result<()> {
        let change = libc::kevent {
            ident: fd as libc::uintptr_t,
            filter,
            flags,
            fflags: 0,
            data: 0,
            udata: ptr::without_provenance_mut(token as usize),
        };
        // SAFETY: one change that lives across the call; no events are asked for.
        let result = check(unsafe {
            libc::kevent(
                self.queue.as_raw_fd(),
                &raw const change,
                1,
                ptr::null_mut(),
                0,
                ptr::null(),
            )
        });
        match result {
            // `remove` names both filters, and the kernel drops those of a failed socket by itself.
            Err(error)
                if flags & libc::EV_DELETE != 0 && error.raw_os_error() == Some(libc::ENOENT) =>
            {
                Ok(())
            }
            Err(error) => Err(error),
            Ok(_) => Ok(()),
        }
    }
}

/// Extra flags of the read filter, or `None` when it is not needed.
fn read_mode(interest: Interest) -> Option<u16> {
    if interest.read {
        Some(0)
    } else if interest.hangup {
        Some(libc::EV_CLEAR)
    } else {
        None
    }
}

/// What the last `poll` reported.
pub struct Events {
    list: Vec<libc::kevent>,
}

// SAFETY: `udata` is a token, never a pointer that is followed.
unsafe impl Send for Events {}

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
        let ended = raw.flags & libc::EV_EOF != 0;
        let read = raw.filter == libc::EVFILT_READ;
        let write = raw.filter == libc::EVFILT_WRITE;
        Event {
            token: raw.udata.addr() as u64,
            readable: read && raw.flags & libc::EV_CLEAR == 0,
            writable: write,
            hangup: read && ended,
            // End of file carries the socket's error in `fflags`; on the write filter it means both directions are
            // closed.
            error: raw.flags & libc::EV_ERROR != 0 || (ended && (write || raw.fflags != 0)),
        }
    }
}
