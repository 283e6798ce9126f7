//! The cork: the replies of one connection, gathered for one send.

use reactor::net::Send;
use ring::layout::HIGH_WATER_BYTES;

use super::Sender;
use crate::connection::ConnectionId;
use crate::engine::Core;
use crate::faults::{self, Stage};
use crate::protocol::Protocol;
use crate::slice::abort;

/// A cork with this many bytes is sent at once. A larger one gives its memory back.
const CORK_BYTES: usize = 4 * HIGH_WATER_BYTES;

/// Replies of one connection gathered for one send.
pub(super) struct Cork {
    pub(super) bytes: Vec<u8>,
    pub(super) connection: ConnectionId,
    /// The length before the current record. If it panics, the cork is cut to it.
    pub(super) mark: usize,
    /// The same bytes as TLS records, if the transport encrypts.
    sealed: Vec<u8>,
    /// The cork begins inside a reply whose head was sent already.
    continues: bool,
}

impl Default for Cork {
    fn default() -> Self {
        Self {
            bytes: Vec::with_capacity(HIGH_WATER_BYTES),
            connection: ConnectionId::NONE,
            mark: 0,
            sealed: Vec::new(),
            continues: false,
        }
    }
}

impl Sender {
    /// Gives whether bytes are gathered for this connection.
    #[inline]
    pub fn gathers_for(&self, id: ConnectionId) -> bool {
        self.cork.connection == id
    }

    /// How many bytes are gathered for this connection.
    #[inline]
    pub fn corked(&self, id: ConnectionId) -> usize {
        if self.cork.connection == id {
            self.cork.bytes.len()
        } else {
            0
        }
    }

    /// The bytes that are gathered.
    #[inline]
    pub fn gathered(&mut self) -> &mut Vec<u8> {
        &mut self.cork.bytes
    }

    /// Gives whether so much is gathered that it should be sent.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.cork.bytes.len() >= CORK_BYTES
    }

    /// Remembers where the next record begins to write.
    #[inline]
    pub fn mark(&mut self) {
        self.cork.mark = self.cork.bytes.len();
    }

    /// Returns true when nothing is gathered for any connection.
    pub fn is_free(&self) -> bool {
        self.cork.connection == ConnectionId::NONE
    }

    /// Takes back what a record wrote for this connection before it panicked.
    pub fn rewind(&mut self, id: ConnectionId) {
        if self.cork.connection == id {
            self.cork.bytes.truncate(self.cork.mark);
        }
    }

    pub(super) fn drop_cork(&mut self) {
        self.cork.bytes.clear();
        self.cork.connection = ConnectionId::NONE;
    }
}

impl Core {
    /// Gathers bytes for this connection from here on.
    #[inline]
    pub fn cork_for(&mut self, id: ConnectionId) {
        if self.sender.cork.connection == id {
            return;
        }
        self.leave_cork();
        self.sender.cork.bytes.clear();
        self.sender.cork.connection = id;
        self.sender.cork.mark = 0;
        self.sender.cork.continues = self
            .connections
            .protocol(id)
            .is_some_and(Protocol::is_mid_reply);
    }

    /// Is called when the step turns to another connection: sends the cork, or leaves it for the end of the step if its
    /// connection was sent before in this step.
    #[inline(always)]
    pub fn leave_cork(&mut self) {
        let id = self.sender.cork.connection;
        let again = self
            .connections
            .get(id)
            .is_some_and(|connection| connection.sending.step == self.sender.step);
        if again && !self.sender.cork.bytes.is_empty() {
            self.set_cork_aside(id);
        } else {
            self.flush_cork();
        }
    }

    fn set_cork_aside(&mut self, id: ConnectionId) {
        if let Some(connection) = self.connections.get_mut(id) {
            connection.push(&self.sender.cork.bytes);
        }
        self.sender.drop_cork();
        self.send_later(id);
    }

    /// Sends the bytes that were gathered for one connection.
    #[inline]
    pub fn flush_cork(&mut self) {
        let id = self.sender.cork.connection;
        if id == ConnectionId::NONE {
            return;
        }
        if self.connections.get(id).is_some_and(|connection| {
            connection.sending.dirty || connection.transport.place().is_some()
        }) {
            self.set_cork_aside(id);
        } else {
            // If the end of a reply is lost with the cork, a 500 in its place would be read as content.
            let continues = self.sender.cork.continues;
            self.guarded_send(id, continues, |core| core.send_cork(id));
        }
    }

    fn send_cork(&mut self, id: ConnectionId) {
        let Some(connection) = self.connections.get_mut(id) else {
            self.sender.drop_cork();
            return;
        };
        let cork = &mut self.sender.cork;
        if !cork.bytes.is_empty() {
            faults::check(Stage::Flush);
            if connection.output.is_empty() {
                connection.sending.step = self.sender.step;
                let bytes = if connection.transport.seals() {
                    cork.sealed.clear();
                    connection.transport.seal(&cork.bytes, &mut cork.sealed);
                    if connection.transport.has_failed() && !connection.life.is_closing() {
                        self.reset_connection(id, abort::ERROR);
                        return;
                    }
                    &cork.sealed
                } else {
                    &cork.bytes
                };
                match connection.transport.send(bytes) {
                    Send::Sent(length) if length == bytes.len() => {}
                    Send::Sent(length) => {
                        connection.output.end().extend_from_slice(&bytes[length..]);
                    }
                    Send::WouldBlock => connection.output.end().extend_from_slice(bytes),
                    Send::Failed(_) => {
                        self.remove(id, abort::CLIENT);
                        return;
                    }
                }
                if cork.sealed.capacity() > CORK_BYTES {
                    cork.sealed = Vec::new();
                }
            } else {
                connection.push(&cork.bytes);
            }
            cork.bytes.clear();
            if cork.bytes.capacity() > CORK_BYTES {
                cork.bytes = Vec::with_capacity(HIGH_WATER_BYTES);
            }
        }
        cork.connection = ConnectionId::NONE;
        if connection.output.is_empty() {
            self.after_sent(id);
        } else {
            self.await_socket(id);
            self.bound_waiting(id);
        }
    }
}
