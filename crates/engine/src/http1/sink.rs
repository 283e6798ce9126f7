//! Where the bytes of a reply go: replies leave in the order of their requests (RFC 9112 §9.3.2).

use std::rc::Rc;

use super::reply_head::Templates;
use crate::connection::ConnectionId;
use crate::engine::Core;
use crate::exchange::{Slot, State};
use crate::output::{Bodies, Body};
use crate::protocol::Protocol;
use crate::slice::abort;

/// Where the bytes of a reply go, and the beginnings of heads.
pub struct Sink<'a> {
    pub bytes: &'a mut Vec<u8>,
    pub templates: &'a Templates,
}

impl Core {
    /// Decides where the bytes of a reply go: into the next send of the connection if it is the exchange's turn,
    /// otherwise behind what the exchange replied before.
    pub fn sink(&mut self, slot: Slot) -> Sink<'_> {
        let bytes = match self.turn(slot) {
            Some((id, true)) => {
                self.cork_for(id);
                self.sender.gathered()
            }
            _ => self.exchanges.get_mut(slot).stash.end(),
        };
        Sink {
            bytes,
            templates: &self.templates,
        }
    }

    /// The connection of an exchange, and whether the exchange is the oldest there. `None`: the connection is gone.
    fn turn(&mut self, slot: Slot) -> Option<(ConnectionId, bool)> {
        let id = self.exchanges.get(slot).connection;
        let (_, http1) = self.connections.http1(id)?;
        Some((id, http1.first == slot))
    }

    /// Puts a large body and `tail` behind what was written to the [`sink`](Self::sink).
    pub fn append_large(
        &mut self,
        slot: Slot,
        body: &[u8],
        tail: &[u8],
        keep: impl FnOnce(&Bodies) -> Option<Rc<Body>>,
    ) {
        if let Some((id, true)) = self.turn(slot) {
            self.send_large(id, body, tail, keep);
            return;
        }
        let exchange = self.exchanges.get_mut(slot);
        let server = self.servers.get(exchange.server);
        match server.and_then(|server| keep(&server.bodies)) {
            Some(kept) => exchange.stash.keep(kept, 0),
            None => exchange.stash.end().extend_from_slice(body),
        }
        exchange.stash.end().extend_from_slice(tail);
    }

    /// Is called when a part of a reply was written.
    pub fn reply_grew(&mut self, slot: Slot) {
        match self.turn(slot) {
            Some((_, true)) if self.sender.is_full() => self.flush_cork(),
            Some((id, false)) => self.bound_stash(id, slot),
            Some((_, true)) | None => {}
        }
    }

    /// Is called when the end of a reply was written.
    pub fn reply_done(&mut self, slot: Slot) {
        match self.turn(slot) {
            Some((id, true)) => self.finish_first(id),
            Some((id, false)) => {
                self.exchanges.get_mut(slot).state = State::Done;
                self.bound_stash(id, slot);
            }
            None => {}
        }
    }

    /// Puts the part of a reply that came before its turn into the cork, or sends it. Gives false when the connection
    /// is gone.
    pub fn unstash(&mut self, id: ConnectionId, slot: Slot) -> bool {
        let exchange = self.exchanges.get_mut(slot);
        let mut stash = std::mem::take(&mut exchange.stash);
        let server = exchange.server;
        if let Some(server) = self.servers.get_mut(server) {
            stash.uncount(&mut server.waiting);
        }
        while !stash.is_empty() {
            let (mut own, body) = stash.take_first();
            self.sender.gathered().append(&mut own);
            let Some(body) = body else {
                break;
            };
            let Some(bytes) = body.bytes() else {
                self.reset_connection(id, abort::ERROR);
                break;
            };
            self.send_large(id, bytes, b"", |_| Some(body.clone()));
            if self.connections.get(id).is_none() {
                break;
            }
        }
        self.connections.get(id).is_some()
    }

    /// Gives the number of bytes in replies that wait for earlier replies.
    pub fn held_by_stashes(&self, id: ConnectionId) -> usize {
        let Some(Protocol::Http1(http1)) = self.connections.protocol(id) else {
            return 0;
        };
        let mut held = 0;
        let mut slot = http1.first;
        while slot != Slot::NONE {
            let exchange = self.exchanges.get(slot);
            held += exchange.stash.share();
            slot = exchange.next;
        }
        held
    }

    /// Does what [`bound_waiting`](Self::bound_waiting) does, for a reply that came before its turn.
    fn bound_stash(&mut self, id: ConnectionId, slot: Slot) {
        let exchange = self.exchanges.get_mut(slot);
        if let Some(server) = self.servers.get_mut(exchange.server) {
            exchange.stash.count(&mut server.waiting);
        }
        self.bound_waiting(id);
    }
}
