//! Exchanges in flight: one request and its reply, by slot and generation.

use std::collections::VecDeque;

use crate::connection::{NEVER, NONE};
use crate::output::Output;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    Free,
    /// It was dispatched and has no reply yet.
    Waiting,
    /// A streamed reply has begun.
    Streaming(Framing),
    /// The reply is complete but waits behind an earlier exchange of its connection.
    Done,
}

/// How a streamed reply's body is delimited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Framing {
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
    pub connection: u32,
    /// The next newer exchange of the same connection.
    pub next: u32,
    pub state: State,
    pub head_only: bool,
    pub http10: bool,
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
    free: VecDeque<u32>,
    in_flight: usize,
}

impl Exchanges {
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    pub fn capacity(&self) -> u32 {
        self.slots.len() as u32
    }

    pub fn insert(&mut self, connection: u32, server: u16) -> u32 {
        self.in_flight += 1;
        let slot = self.free.pop_front().unwrap_or_else(|| {
            self.slots.push(Exchange {
                generation: 0,
                connection: NONE,
                next: NONE,
                state: State::Free,
                head_only: false,
                http10: false,
                close: false,
                want_drain: false,
                server: 0,
                deadline: NEVER,
                stash: Output::default(),
            });
            self.slots.len() as u32 - 1
        });
        let exchange = &mut self.slots[slot as usize];
        exchange.connection = connection;
        exchange.server = server;
        exchange.next = NONE;
        exchange.state = State::Waiting;
        exchange.want_drain = false;
        exchange.deadline = NEVER;
        slot
    }

    pub fn release(&mut self, slot: u32) {
        let exchange = &mut self.slots[slot as usize];
        debug_assert!(exchange.state != State::Free);
        exchange.state = State::Free;
        exchange.generation = exchange.generation.wrapping_add(1);
        exchange.connection = NONE;
        exchange.stash.clear();
        self.in_flight -= 1;
        self.free.push_back(slot);
    }

    /// The exchange that a reply record names, unless it is gone.
    pub fn live(&self, slot: u32, generation: u32) -> Option<&Exchange> {
        self.slots
            .get(slot as usize)
            .filter(|exchange| exchange.generation == generation && exchange.state != State::Free)
    }

    pub fn get(&self, slot: u32) -> &Exchange {
        &self.slots[slot as usize]
    }

    pub fn get_mut(&mut self, slot: u32) -> &mut Exchange {
        &mut self.slots[slot as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_reused_oldest_first_and_generations_differ() {
        let mut exchanges = Exchanges::default();
        let slots: Vec<_> = (0..4).map(|id| exchanges.insert(id, 0)).collect();
        assert_eq!(slots, [0, 1, 2, 3]);
        exchanges.release(2);
        exchanges.release(0);
        assert_eq!(exchanges.insert(9, 0), 2);
        assert_eq!(exchanges.insert(9, 0), 0);
        assert_eq!(exchanges.get(2).generation, 1);
        assert!(exchanges.live(2, 0).is_none());
        assert!(exchanges.live(2, 1).is_some());
        assert_eq!(exchanges.in_flight(), 4);
    }
}
