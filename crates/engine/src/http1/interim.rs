//! Interim replies, sent before an exchange's own (RFC 9110 §15.2).

use ring::Record;

use super::reply_head::write_interim;
use super::sink::Sink;
use crate::connection::ConnectionId;
use crate::engine::Core;
use crate::exchange::{Slot, State};
use crate::faults::{self, Stage};

/// How many bytes of interim replies may wait for the client to read, or for earlier replies. Interim replies are
/// advice, which is worth less the later it comes.
pub const INTERIM_BYTES: usize = 16_384;

impl Core {
    /// Sends 100 Continue, for which the client waits before it sends its body (RFC 9110 §10.1.1).
    pub fn send_continue(&mut self, id: ConnectionId) {
        self.cork_for(id);
        self.sender
            .gathered()
            .extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
    }

    /// Sends an interim reply of a handler. It is dropped when the reply has begun, when it is malformed, and when
    /// there is no room for it.
    pub fn inform(&mut self, slot: Slot, record: &Record, out: &[u8]) {
        let exchange = self.exchanges.get(slot);
        // A client of HTTP/1.0 would take it for the reply (RFC 9110 §15.2).
        if exchange.state != State::Waiting || exchange.version == wire::Version::Http10 {
            return;
        }
        let Some(headers) = record.headers(out) else {
            return;
        };
        let Some((connection, http1)) = self.connections.http1(exchange.connection) else {
            return;
        };
        faults::check(Stage::Encode);
        let waiting = if http1.first == slot {
            connection.unsent()
        } else {
            exchange.stash.unsent()
        };
        let Sink { bytes, .. } = self.sink(slot);
        let before = bytes.len();
        let written = write_interim(bytes, record.status(), headers);
        if written.is_err() || waiting + bytes.len() - before > INTERIM_BYTES {
            bytes.truncate(before);
        }
        self.reply_grew(slot);
    }
}
