//! From reply bytes to the socket: one send per connection and slice, and what it did not take.

use std::io::IoSlice;

use reactor::net::Send;
use ring::layout::{HIGH_WATER_BYTES, kind};

use crate::connection::{Inbound, NEVER, NONE};
use crate::engine::Core;
use crate::faults::{self, Stage};
use crate::slice::{Notice, abort};

/// The cork is sent when it holds this much, and its memory is given back beyond it.
pub const CORK_BYTES: usize = 4 * HIGH_WATER_BYTES;

/// Replies of one connection gathered for one send.
pub struct Cork {
    pub bytes: Vec<u8>,
    pub connection: u32,
    /// Length before the step at work, for what must be taken back when it panics.
    pub mark: usize,
    /// It begins inside a reply whose head is out already.
    pub continues: bool,
}

impl Default for Cork {
    fn default() -> Self {
        Self {
            bytes: Vec::with_capacity(HIGH_WATER_BYTES),
            connection: NONE,
            mark: 0,
            continues: false,
        }
    }
}

impl Core {
    pub fn cork_for(&mut self, id: u32) {
        if self.cork.connection != id {
            self.flush_cork();
            self.cork.connection = id;
            self.cork.mark = 0;
            self.cork.continues = self
                .connections
                .get(id)
                .is_some_and(|connection| connection.mid_reply);
        }
    }

    /// Sends the cork, then `parts`, without copying what the socket takes at once.
    pub fn send_large(&mut self, id: u32, parts: &[&[u8]]) {
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        let mut skip = 0;
        if connection.unsent() == 0 {
            faults::check(Stage::Flush);
            let mut slices = Vec::with_capacity(parts.len() + 1);
            slices.push(IoSlice::new(&self.cork.bytes));
            slices.extend(parts.iter().map(|part| IoSlice::new(part)));
            match connection.socket.send_vectored(&slices) {
                Send::Sent(sent) => skip = sent,
                Send::WouldBlock => {}
                Send::Failed(_) => {
                    self.remove(id, abort::CLIENT);
                    return;
                }
            }
        }
        // JavaScript may reuse the bytes when this returns: the rest is copied.
        let cork = std::mem::take(&mut self.cork.bytes);
        for part in std::iter::once(&cork[..]).chain(parts.iter().copied()) {
            let taken = skip.min(part.len());
            skip -= taken;
            connection.output.extend_from_slice(&part[taken..]);
        }
        self.cork.bytes = cork;
        self.cork.bytes.clear();
        self.cork.mark = 0;
    }

    /// Sends what was gathered for one connection.
    pub fn flush_cork(&mut self) {
        let id = self.cork.connection;
        if id == NONE {
            return;
        }
        let outer = std::mem::replace(&mut self.current, id);
        let sent = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.send_cork(id)));
        if sent.is_err() {
            self.cork.bytes.clear();
            self.cork.connection = NONE;
            if let Some(connection) = self.connections.get_mut(id) {
                // The end of a reply is lost with the cork: a 500 in its place would be read as content.
                connection.mid_reply |= self.cork.continues;
            }
            self.current = id;
            self.after_panic();
        }
        self.current = outer;
    }

    pub fn send_cork(&mut self, id: u32) {
        let timeout = self.limits(id).map_or(NEVER, |limits| limits.send_timeout);
        let Some(connection) = self.connections.get_mut(id) else {
            self.cork.bytes.clear();
            self.cork.connection = NONE;
            return;
        };
        if !self.cork.bytes.is_empty() {
            faults::check(Stage::Flush);
            let mut sent = 0;
            if connection.unsent() == 0 {
                match connection.socket.send(&self.cork.bytes) {
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
                .extend_from_slice(&self.cork.bytes[sent..]);
            self.cork.bytes.clear();
            if self.cork.bytes.capacity() > CORK_BYTES {
                self.cork.bytes = Vec::with_capacity(HIGH_WATER_BYTES);
            }
        }
        self.cork.connection = NONE;
        if connection.unsent() == 0 {
            self.after_sent(id);
        } else {
            if connection.send_deadline == NEVER {
                connection.send_deadline = self.now.saturating_add(timeout).min(NEVER - 1);
                self.sending += 1;
            }
            self.throttle(id);
        }
    }

    /// The socket takes bytes again.
    pub fn flush_output(&mut self, id: u32) {
        let now = self.now;
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        let Some(server) = self
            .servers
            .get(usize::from(connection.server))
            .and_then(Option::as_ref)
        else {
            return;
        };
        let limits = &server.config.limits;
        if connection.unsent() == 0 {
            return;
        }
        match connection
            .socket
            .send(&connection.output[connection.sent..])
        {
            Send::Sent(length) => {
                connection.advance(length);
                connection.send_deadline = now + limits.send_timeout;
            }
            Send::WouldBlock => return,
            Send::Failed(_) => {
                self.remove(id, abort::CLIENT);
                return;
            }
        }
        if connection.unsent() > 0 {
            return;
        }
        connection.output = Vec::new();
        connection.sent = 0;
        if connection.in_flight == 0 && matches!(connection.inbound, Inbound::Head) {
            connection.close_after |= connection.input.is_empty() && server.closing;
            connection.deadline = now
                + if connection.input.is_empty() {
                    limits.keep_alive_timeout
                } else {
                    limits.headers_timeout
                };
        }
        if std::mem::take(&mut connection.held) {
            self.queue(id);
        }
        self.after_sent(id);
        self.throttle(id);
    }

    /// Nothing waits to be sent.
    pub fn after_sent(&mut self, id: u32) {
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
        let (first, server) = (connection.first, connection.server);
        if first != NONE {
            let exchange = self.exchanges.get_mut(first);
            if std::mem::take(&mut exchange.want_drain) {
                let notice = Notice {
                    kind: kind::DRAIN,
                    slot: first,
                    generation: exchange.generation,
                    value: 0,
                    detail: 0,
                    server,
                };
                self.slice.notify(None, notice);
            }
        } else if connection.half_closed {
            self.finish_half_closed(id);
        }
    }
}
