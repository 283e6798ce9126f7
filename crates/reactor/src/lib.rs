//! Sockets and readiness: epoll on Linux, kqueue on macOS, level-triggered on both.
//!
//! This crate is a thin, safe skin over system calls. It keeps no state of its own beyond file descriptors: what a
//! token means, which interest a socket has and when it is closed is the caller's business.
//!
//! The selectors stand side by side with the same methods ([`selector`]), sockets are in [`net`], the clocks in
//! [`clock`], what the process may use in [`process`], and memory that processes share in [`shared_memory`].

mod selector;
mod syscall;

pub mod clock;
pub mod lifeline;
pub mod net;
pub mod process;
pub mod shared_memory;

pub use selector::{Events, Poller};

/// What a file descriptor is watched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Interest {
    /// Bytes (or connections) can be taken without waiting, or the input has ended.
    pub read: bool,
    /// Bytes can be sent without waiting.
    pub write: bool,
    /// The peer has closed its sending side, also while `read` is false. Level-triggered: it is reported on every poll
    /// until it is taken out of the interest, so a caller that does not close at once must do that.
    pub hangup: bool,
}

impl Interest {
    /// Nothing but errors, which epoll always reports and kqueue only beside another interest.
    pub const NONE: Self = Self {
        read: false,
        write: false,
        hangup: false,
    };
    pub const READ: Self = Self {
        read: true,
        write: false,
        hangup: false,
    };
    pub const WRITE: Self = Self {
        read: false,
        write: true,
        hangup: false,
    };
    pub const HANGUP: Self = Self {
        read: false,
        write: false,
        hangup: true,
    };
    pub const READ_WRITE: Self = Self {
        read: true,
        write: true,
        hangup: false,
    };
    pub const READ_HANGUP: Self = Self {
        read: true,
        write: false,
        hangup: true,
    };
    pub const WRITE_HANGUP: Self = Self {
        read: false,
        write: true,
        hangup: true,
    };
    pub const READ_WRITE_HANGUP: Self = Self {
        read: true,
        write: true,
        hangup: true,
    };
}

/// What happened to one file descriptor.
///
/// kqueue reports reading and writing as two events with the same token; it also sets `hangup` whenever the input has
/// ended, whether or not the interest asked for it. Callers must bear both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The token given to [`Poller::add`] or [`Poller::modify`].
    pub token: u64,
    pub readable: bool,
    pub writable: bool,
    /// The peer has closed its sending side.
    pub hangup: bool,
    /// The socket failed or is closed in both directions; the next call on it tells how.
    pub error: bool,
}
