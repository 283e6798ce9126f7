//! Exchanges in flight: one request and its reply, by slot and generation.

use std::collections::VecDeque;

use wire::{Head, Method, Version};

use crate::connection::{ConnectionId, NEVER};
use crate::output::Output;
use crate::server::Server;

/// The place of an exchange in the table. JavaScript knows an exchange by it, together with the place's generation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot(pub u32);

impl Slot {
    pub const NONE: Self = Self(u32::MAX);
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    Free,
    /// It was dispatched and has no reply yet.
    Waiting,
    /// A streamed reply has begun.
    Streaming(Framing),
    /// The reply is complete but waits behind an earlier exchange of its connection.
    Done,
    /// It has become a WebSocket, which keeps the slot.
    Socket,
}

/// What JavaScript knows an exchange by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Identity {
    pub slot: Slot,
    pub generation: u32,
    pub server: u16,
}

impl Identity {
    pub const NONE: Self = Self {
        slot: Slot::NONE,
        generation: 0,
        server: 0,
    };
}

/// How a streamed reply's body is delimited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Framing {
    /// The body ends with the last chunk, or over HTTP/2 with the end of its stream.
    Chunked,
    /// Bytes of the declared length still to come.
    Length(u64),
    /// HTTP/1.0: the end of the connection is the end of the body.
    Close,
    /// The reply is to HEAD, or a 204 or 304: what the handler writes is dropped.
    None,
}

pub struct Exchange {
    pub generation: u32,
    pub connection: ConnectionId,
    /// The next newer exchange of the same connection.
    pub next: Slot,
    /// The key of the stream; used over HTTP/2.
    pub stream: u16,
    pub state: State,
    pub head_only: bool,
    pub version: Version,
    /// The client or a limit wants the connection closed after this reply.
    pub close: bool,
    pub want_drain: bool,
    pub server: u16,
    pub deadline: u64,
    /// The part of the reply that came before the exchange's turn.
    pub stash: Output,
}

/// Slots are reused oldest first and generations have 32 bits: a reply that comes late meets a dead
/// generation, not another user's request.
#[derive(Default)]
pub struct Exchanges {
    slots: Vec<Exchange>,
    free: VecDeque<Slot>,
    in_flight: usize,
}

impl Exchanges {
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Every slot that is or was in use.
    pub fn slots(&self) -> impl Iterator<Item = Slot> + use<> {
        (0..self.slots.len() as u32).map(Slot)
    }

    #[inline(always)]
    fn insert(&mut self, connection: ConnectionId, server: u16) -> Slot {
        self.in_flight += 1;
        let slot = self.free.pop_front().unwrap_or_else(|| {
            self.slots.push(Exchange {
                generation: 0,
                connection: ConnectionId::NONE,
                next: Slot::NONE,
                stream: 0,
                state: State::Free,
                head_only: false,
                version: Version::Http11,
                close: false,
                want_drain: false,
                server: 0,
                deadline: NEVER,
                stash: Output::default(),
            });
            Slot(self.slots.len() as u32 - 1)
        });
        let exchange = &mut self.slots[slot.0 as usize];
        exchange.connection = connection;
        exchange.server = server;
        exchange.next = Slot::NONE;
        exchange.state = State::Waiting;
        exchange.want_drain = false;
        exchange.deadline = NEVER;
        slot
    }

    /// Gives a request of `server` a slot, and counts it.
    #[inline(always)]
    pub fn begin(
        &mut self,
        connection: ConnectionId,
        id: u16,
        server: &mut Server,
        head: &Head,
        now: u64,
    ) -> Identity {
        let slot = self.insert(connection, id);
        let exchange = self.get_mut(slot);
        exchange.head_only = head.method == Method::HEAD;
        exchange.version = head.version;
        exchange.close = !head.keep_alive;
        server.stats.requests += 1;
        server.stats.in_flight += 1;
        let timeout = server.config.limits.handler_timeout;
        if timeout > 0 {
            exchange.deadline = now + timeout;
        }
        Identity {
            slot,
            generation: exchange.generation,
            server: id,
        }
    }

    pub fn release(&mut self, slot: Slot) {
        let exchange = &mut self.slots[slot.0 as usize];
        debug_assert!(exchange.state != State::Free);
        if exchange.state != State::Socket {
            self.in_flight -= 1;
        }
        exchange.state = State::Free;
        exchange.generation = exchange.generation.wrapping_add(1);
        exchange.connection = ConnectionId::NONE;
        exchange.stash.clear();
        self.free.push_back(slot);
    }

    /// Keeps the slot for a WebSocket, which is not in flight.
    pub fn become_socket(&mut self, slot: Slot) {
        let exchange = &mut self.slots[slot.0 as usize];
        debug_assert!(exchange.state == State::Waiting);
        exchange.state = State::Socket;
        exchange.deadline = NEVER;
        self.in_flight -= 1;
    }

    /// The exchange that a reply record names, unless it is gone.
    pub fn live(&self, slot: Slot, generation: u32) -> Option<&Exchange> {
        self.slots
            .get(slot.0 as usize)
            .filter(|exchange| exchange.generation == generation && exchange.state != State::Free)
    }

    pub fn identity(&self, slot: Slot) -> Identity {
        let exchange = self.get(slot);
        Identity {
            slot,
            generation: exchange.generation,
            server: exchange.server,
        }
    }

    pub fn get(&self, slot: Slot) -> &Exchange {
        &self.slots[slot.0 as usize]
    }

    pub fn get_mut(&mut self, slot: Slot) -> &mut Exchange {
        &mut self.slots[slot.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_reused_oldest_first_and_generations_differ() {
        let mut exchanges = Exchanges::default();
        let slots: Vec<_> = (0..4)
            .map(|id| exchanges.insert(ConnectionId(id), 0))
            .collect();
        assert_eq!(slots, [0, 1, 2, 3].map(Slot));
        exchanges.release(Slot(2));
        exchanges.release(Slot(0));
        assert_eq!(exchanges.insert(ConnectionId(9), 0), Slot(2));
        assert_eq!(exchanges.insert(ConnectionId(9), 0), Slot(0));
        assert_eq!(exchanges.get(Slot(2)).generation, 1);
        assert!(exchanges.live(Slot(2), 0).is_none());
        assert!(exchanges.live(Slot(2), 1).is_some());
        assert_eq!(exchanges.in_flight(), 4);
    }
}
