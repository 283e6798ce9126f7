//! Sends reply bytes: one call per connection and slice, and later the bytes that the socket did not take.

use std::io::IoSlice;
use std::rc::Rc;

use reactor::net::Send;
use ring::layout::{HIGH_WATER_BYTES, REFERENCE_BYTES};

use crate::connection::{ConnectionId, NEVER};
use crate::engine::Core;
use crate::faults::{self, Stage};
use crate::output::{Bodies, Body, Output};
use crate::protocol::Protocol;
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

impl Core {
    pub fn cork_for(&mut self, id: ConnectionId) {
        if self.cork.connection != id {
            self.flush_cork();
            // Bytes that are left here were for a connection that is gone.
            self.cork.bytes.clear();
            self.cork.connection = id;
            self.cork.mark = 0;
            self.cork.continues = self
                .connections
                .protocol(id)
                .is_some_and(Protocol::is_mid_reply);
        }
    }

    /// Sends the cork, `body` and `tail`. The part of the body that the socket does not take stays where it is if
    /// `keep` gives an owner for it. Otherwise it is copied, because JavaScript may reuse the bytes when it runs again.
    pub fn send_large(
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

    /// Counts the output of a connection after it grew. Past the limit of its server the connection is reset: the other
    /// connections keep what was accepted for them, and its client sees that the reply is not whole.
    pub fn bound_waiting(&mut self, id: ConnectionId) {
        let Some((connection, server)) = self.connections.with_server(&mut self.servers, id) else {
            return;
        };
        connection.output.count(&mut server.waiting);
        if server.waiting + server.bodies.bytes() > server.config.limits.max_buffered_replies {
            server.stats.dropped += 1;
            self.reset_connection(id, abort::ERROR);
        }
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
            self.current = id;
            // If the end of a reply is lost with the cork, a 500 in its place would be read as content.
            self.after_panic(self.cork.continues);
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
        connection.send_deadline = now + server.config.limits.send_timeout;
        if !connection.output.is_empty() {
            return taken;
        }
        connection.output = Output::default();
        if std::mem::take(&mut connection.parse_blocked) {
            self.queue(id);
        }
        self.after_output(id);
        self.after_sent(id);
        self.throttle(id);
        taken
    }

    /// Is called when nothing more waits to be sent.
    pub fn after_sent(&mut self, id: ConnectionId) {
        let Some((connection, protocol)) = self.connections.open(id) else {
            return;
        };
        if connection.send_deadline != NEVER {
            connection.send_deadline = NEVER;
            self.sending -= 1;
        }
        if protocol.is_busy() {
            self.tell_drained(id);
        } else if connection.close_after {
            self.close_or_linger(id);
        } else if connection.half_closed {
            self.finish_half_closed(id);
        }
    }
}
