//! One connection and what it must remember.

use std::collections::VecDeque;

use reactor::Interest;
use reactor::net::Socket;

use crate::draw::Abort;
use crate::reply::Reader;
use crate::tally::Sent;

/// Room for a body to compare that a connection keeps for the next one, in bytes.
const KEPT: usize = 64 * 1024;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    Closed,
    Connecting,
    Open,
    /// The last reply has announced the end; the server closes.
    Ending,
}

pub struct Connection {
    pub socket: Option<Socket>,
    pub state: State,
    /// Tells the events and timers of an earlier socket from those of this one.
    pub generation: u32,
    pub interest: Interest,
    pub reader: Reader,
    /// Oldest first.
    pub in_flight: VecDeque<Sent>,
    /// Requests of which the kernel took the first `taken` bytes; empty when it took them all.
    pub unsent: Vec<u8>,
    pub taken: usize,
    /// The beginning of the body of the reply that is coming, when it is to be compared.
    pub kept: Vec<u8>,
    /// A request was sent on this socket.
    pub used: bool,
    /// A reply came on this socket.
    pub answered: bool,
    /// Sending has failed; what was answered before may still be received.
    pub broken: bool,
    /// The last request in flight is one that is given up.
    pub abort: Option<Abort>,
    /// In the list of those that can take a request.
    pub listed: bool,
    /// When the connect began, or its end was announced, or it was closed, in ns.
    pub since: u64,
}

impl Connection {
    pub fn new() -> Self {
        Self {
            socket: None,
            state: State::Closed,
            generation: 0,
            interest: Interest::NONE,
            reader: Reader::new(),
            in_flight: VecDeque::new(),
            unsent: Vec::new(),
            taken: 0,
            kept: Vec::new(),
            used: false,
            answered: false,
            broken: false,
            abort: None,
            listed: false,
            since: 0,
        }
    }

    /// What its socket is watched under: place and generation.
    pub fn token(&self, index: u32) -> u64 {
        u64::from(index) | u64::from(self.generation) << 32
    }

    /// How many more requests it can take.
    #[inline]
    pub fn room(&self, pipelining: usize, close: bool) -> usize {
        let takes = self.state == State::Open
            && !self.broken
            && self.abort.is_none()
            && self.unsent.is_empty()
            && !(close && self.used);
        if takes {
            pipelining.saturating_sub(self.in_flight.len())
        } else {
            0
        }
    }

    /// The body has been compared, or will never be.
    #[inline]
    pub fn forget_kept(&mut self) {
        self.kept.clear();
        self.kept.shrink_to(KEPT);
    }

    /// Nothing is left to be sent, or nothing of it will be.
    pub fn forget_unsent(&mut self) {
        self.unsent.clear();
        self.taken = 0;
    }

    /// Ready for a new socket. Gives the old one, for the caller to close.
    pub fn clear(&mut self, now: u64) -> Option<Socket> {
        self.generation = self.generation.wrapping_add(1);
        self.state = State::Closed;
        self.reader.clear();
        self.in_flight.clear();
        self.forget_unsent();
        self.forget_kept();
        self.used = false;
        self.answered = false;
        self.broken = false;
        self.abort = None;
        self.since = now;
        self.socket.take()
    }
}
