//! What the poller watches, and the events that it gave last.

use std::io;
use std::os::fd::RawFd;

use reactor::{Event, Events, Interest, Poller};

/// The most events that one call of the poller gives.
const EVENTS: usize = 1024;
/// This bit is set in the token of a listener; the other bits are the server's id.
const LISTENER: u64 = 1 << 63;
/// The token of the socket by which a supervisor passes connections. Neither a listener nor a connection has this bit.
const INTAKE: u64 = 1 << 62;

pub struct Polling {
    poller: Poller,
    events: Events,
    /// How many events of the last poll were handled, and how many it gave.
    handled: usize,
    given: usize,
    /// In this turn the poller gave all events it had.
    exhausted: bool,
}

/// What an event is about.
pub enum Source {
    /// The listener of a server.
    Listener(u16),
    /// The socket by which a supervisor passes connections.
    Intake,
    /// A connection, by its token.
    Connection(u64),
}

impl Polling {
    /// # Errors
    /// When the kernel refuses another poller.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            poller: Poller::new()?,
            events: Events::with_capacity(EVENTS),
            handled: 0,
            given: 0,
            exhausted: false,
        })
    }

    /// The descriptor that the outer event loop watches.
    pub fn fd(&self) -> RawFd {
        self.poller.as_raw_fd()
    }

    /// # Errors
    /// When the kernel refuses to watch one more.
    pub fn listen(&mut self, fd: RawFd, server: u16) -> io::Result<()> {
        self.poller
            .add(fd, LISTENER | u64::from(server), Interest::READ)
    }

    /// # Errors
    /// When the kernel refuses to watch one more.
    pub fn take_in(&mut self, fd: RawFd) -> io::Result<()> {
        self.poller.add(fd, INTAKE, Interest::READ)
    }

    /// Watches a listener or stops watching it, while it stays open.
    pub fn pause(&mut self, fd: RawFd, server: u16, paused: bool) {
        let (old, new) = if paused {
            (Interest::READ, Interest::NONE)
        } else {
            (Interest::NONE, Interest::READ)
        };
        // The listener is open and watched, so this does not fail.
        let _ = self
            .poller
            .modify(fd, LISTENER | u64::from(server), old, new);
    }

    /// # Errors
    /// When the kernel refuses to watch one more.
    pub fn add(&mut self, fd: RawFd, token: u64, interest: Interest) -> io::Result<()> {
        self.poller.add(fd, token, interest)
    }

    /// # Errors
    /// When the kernel does not watch it.
    pub fn modify(
        &mut self,
        fd: RawFd,
        token: u64,
        old: Interest,
        new: Interest,
    ) -> io::Result<()> {
        self.poller.modify(fd, token, old, new)
    }

    pub fn remove(&mut self, fd: RawFd) {
        // A closed descriptor leaves the poller by itself, but only when no duplicate of it exists.
        let _ = self.poller.remove(fd);
    }

    /// Allows the poller to be asked (again) in this turn.
    pub fn ask_again(&mut self) {
        self.exhausted = false;
    }

    /// Asks the poller, unless it gave all it had earlier in the turn. Gives whether it was asked.
    pub fn ask(&mut self) -> bool {
        if self.exhausted {
            return false;
        }
        self.handled = 0;
        self.given = self.poller.poll(&mut self.events, 0).unwrap_or(0);
        // The poller is level-triggered: what comes after it gave less than we could take waits for the next turn.
        self.exhausted = self.given < EVENTS;
        true
    }

    /// Gives whether events of the last poll are left.
    #[inline]
    pub fn has_events(&self) -> bool {
        self.handled < self.given
    }

    /// The next event of the last poll, of which some must be left.
    #[inline]
    pub fn next_event(&mut self) -> (Source, Event) {
        let event = self.events.get(self.handled);
        self.handled += 1;
        let source = if event.token & (LISTENER | INTAKE) == 0 {
            Source::Connection(event.token)
        } else if event.token == INTAKE {
            Source::Intake
        } else {
            Source::Listener((event.token & 0xffff) as u16)
        };
        (source, event)
    }
}
