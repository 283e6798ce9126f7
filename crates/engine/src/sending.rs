//! Sends reply bytes: one call per connection and slice, and later the bytes that the socket did not take.

use std::io::IoSlice;
use std::rc::Rc;

use reactor::net::Send;
use ring::layout::{HIGH_WATER_BYTES, REFERENCE_BYTES};

use crate::connection::{ConnectionId, Inbound, NEVER};
use crate::engine::Core;
use crate::exchange::{Slot, State};
use crate::faults::{self, Stage};
use crate::http1::reply_head::Templates;
use crate::output::{Bodies, Body, Output};
use crate::slice::abort;

/// A cork with this many bytes is sent at once. A larger one gives its memory back.
pub const CORK_BYTES: usize = 4 * HIGH_WATER_BYTES;

/// Replies of one connection gathered for one send.
pub struct Cork {
    pub bytes: Vec<u8>,
    pub connection: ConnectionId,
    /// The length before the current step. If the step panics, the cork is cut to it.
    pub mark: usize,
    /// The cork begins inside a reply whose head was sent already.
    pub continues: bool,
}

impl Default for Cork {
    fn default() -> Self {
        Self {
            bytes: Vec::with_capacity(HIGH_WATER_BYTES),
            connection: ConnectionId::NONE,
            mark: 0,
            continues: false,
        }
    }
}

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
                &mut self.cork.bytes
            }
            _ => self.exchanges.get_mut(slot).stash.end(),
        };
        Sink {
            bytes,
            templates: &self.templates,
        }
    }

    /// The connection of an exchange, and whether the exchange is the oldest there. `None`: the connection is gone.
    fn turn(&self, slot: Slot) -> Option<(ConnectionId, bool)> {
        let id = self.exchanges.get(slot).connection;
        let connection = self.connections.get(id)?;
        Some((id, connection.first == slot))
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
            Some((_, true)) if self.cork.bytes.len() >= CORK_BYTES => self.flush_cork(),
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

    pub fn cork_for(&mut self, id: ConnectionId) {
        if self.cork.connection != id {
            self.flush_cork();
            // Bytes that are left here were for a connection that is gone.
            self.cork.bytes.clear();
            self.cork.connection = id;
            self.cork.mark = 0;
            self.cork.continues = self
                .connections
                .get(id)
                .is_some_and(|connection| connection.mid_reply);
        }
    }

    /// Sends the cork, `body` and `tail`. The part of the body that the socket does not take stays where it is if
    /// `keep` gives an owner for it. Otherwise it is copied, because JavaScript may reuse the bytes when it runs again.
    fn send_large(
        &mut self,
        id: ConnectionId,
        body: &[u8],
        tail: &[u8],
        keep: impl FnOnce(&Bodies) -> Option<Rc<Body>>,
    ) {
        let Some((connection, server)) = self.connections.with_server(&mut self.servers, id) else {
            return;
        };
        let mut sent = 0;
        if connection.output.is_empty() {
            faults::check(Stage::Flush);
            let slices = [&self.cork.bytes, body, tail].map(IoSlice::new);
            match connection.transport.send_vectored(&slices) {
                Send::Sent(length) => sent = length,
                Send::WouldBlock => {}
                Send::Failed(_) => {
                    self.remove(id, abort::CLIENT);
                    return;
                }
            }
        }
        let of_cork = sent.min(self.cork.bytes.len());
        let of_body = (sent - of_cork).min(body.len());
        let of_tail = sent - of_cork - of_body;
        let output = &mut connection.output;
        output.end().extend_from_slice(&self.cork.bytes[of_cork..]);
        let kept = Some(server)
            .filter(|_| body.len() - of_body >= REFERENCE_BYTES)
            .and_then(|server| keep(&server.bodies));
        match kept {
            Some(kept) => output.keep(kept, of_body),
            None => output.end().extend_from_slice(&body[of_body..]),
        }
        output.end().extend_from_slice(&tail[of_tail..]);
        self.cork.bytes.clear();
        self.cork.mark = 0;
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
            self.cork.bytes.append(&mut own);
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

    /// Counts the output of a connection after it grew. Past the limit of its server the connection is reset: the other
    /// connections keep what was accepted for them, and its client sees that the reply is not whole.
    fn bound_waiting(&mut self, id: ConnectionId) {
        let Some((connection, server)) = self.connections.with_server(&mut self.servers, id) else {
            return;
        };
        connection.output.count(&mut server.waiting);
        if server.waiting + server.bodies.bytes() > server.config.limits.max_buffered_replies {
            server.stats.dropped += 1;
            self.reset_connection(id, abort::ERROR);
        }
    }

    /// Does what [`bound_waiting`](Self::bound_waiting) does, for a reply that came before its turn.
    fn bound_stash(&mut self, id: ConnectionId, slot: Slot) {
        let exchange = self.exchanges.get_mut(slot);
        if let Some(server) = self.servers.get_mut(exchange.server) {
            exchange.stash.count(&mut server.waiting);
        }
        self.bound_waiting(id);
    }

    /// Sends the bytes that were gathered for one connection.
    pub fn flush_cork(&mut self) {
        let id = self.cork.connection;
        if id == ConnectionId::NONE {
            return;
        }
        let outer = std::mem::replace(&mut self.current, id);
        let sent = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.send_cork(id)));
        if sent.is_err() {
            self.cork.bytes.clear();
            self.cork.connection = ConnectionId::NONE;
            if let Some(connection) = self.connections.get_mut(id) {
                // The end of a reply is lost with the cork: a 500 in its place would be read as content.
                connection.mid_reply |= self.cork.continues;
            }
            self.current = id;
            self.after_panic();
        }
        self.current = outer;
    }

    fn send_cork(&mut self, id: ConnectionId) {
        let timeout = self.limits(id).map_or(NEVER, |limits| limits.send_timeout);
        let Some(connection) = self.connections.get_mut(id) else {
            self.cork.bytes.clear();
            self.cork.connection = ConnectionId::NONE;
            return;
        };
        if !self.cork.bytes.is_empty() {
            faults::check(Stage::Flush);
            let mut sent = 0;
            if connection.output.is_empty() {
                match connection.transport.send(&self.cork.bytes) {
                    Send::Sent(length) => sent = length,
                    Send::WouldBlock => {}
                    Send::Failed(_) => {
                        self.remove(id, abort::CLIENT);
                        return;
                    }
                }
            }
            connection
                .output
                .end()
                .extend_from_slice(&self.cork.bytes[sent..]);
            self.cork.bytes.clear();
            if self.cork.bytes.capacity() > CORK_BYTES {
                self.cork.bytes = Vec::with_capacity(HIGH_WATER_BYTES);
            }
        }
        self.cork.connection = ConnectionId::NONE;
        if connection.output.is_empty() {
            self.after_sent(id);
        } else {
            if connection.send_deadline == NEVER {
                connection.send_deadline = self.now.saturating_add(timeout).min(NEVER - 1);
                self.sending += 1;
            }
            self.bound_waiting(id);
            self.throttle(id);
        }
    }

    /// Is called when the socket takes bytes again. Gives how many it took.
    pub fn flush_output(&mut self, id: ConnectionId) -> usize {
        let now = self.now;
        let Some((connection, server)) = self.connections.with_server(&mut self.servers, id) else {
            return 0;
        };
        connection.sending = false;
        let limits = &server.config.limits;
        if connection.output.is_empty() {
            return 0;
        }
        let taken = match connection.output.send(&mut connection.transport) {
            Some(Send::Sent(length)) => length,
            Some(Send::WouldBlock) => return 0,
            Some(Send::Failed(_)) => {
                self.remove(id, abort::CLIENT);
                return 0;
            }
            // The user moved, shrank or grew the memory of a reply that is half sent.
            None => {
                self.reset_connection(id, abort::ERROR);
                return 0;
            }
        };
        connection.output.advance(taken);
        connection.output.count(&mut server.waiting);
        connection.send_deadline = now + limits.send_timeout;
        if !connection.output.is_empty() {
            return taken;
        }
        connection.output = Output::default();
        if connection.in_flight == 0 && matches!(connection.inbound, Inbound::Head) {
            if connection.input.is_empty() && server.is_closing() {
                // The reply did not say it, since it began before.
                connection.close_after = true;
                connection.client_may_send = true;
                connection.inbound = Inbound::Closed;
            }
            connection.deadline = now
                + if connection.input.is_empty() {
                    limits.keep_alive_timeout
                } else {
                    limits.headers_timeout
                };
        }
        if std::mem::take(&mut connection.parse_blocked) {
            self.queue(id);
        }
        self.after_sent(id);
        self.throttle(id);
        taken
    }

    /// Is called when nothing more waits to be sent.
    pub fn after_sent(&mut self, id: ConnectionId) {
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        if connection.send_deadline != NEVER {
            connection.send_deadline = NEVER;
            self.sending -= 1;
        }
        if connection.close_after && connection.in_flight == 0 {
            self.close_or_linger(id);
            return;
        }
        let first = connection.first;
        if first != Slot::NONE {
            let exchange = self.exchanges.get_mut(first);
            if std::mem::take(&mut exchange.want_drain) {
                self.slice.drains.push_back(self.exchanges.identity(first));
            }
        } else if connection.half_closed {
            self.finish_half_closed(id);
        }
    }
}
