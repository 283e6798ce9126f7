//! Interim replies, sent before an exchange's own (RFC 9110 §15.2).

use ring::Record;

use super::reply_head::write_interim;
use crate::connection::ConnectionId;
use crate::engine::Core;
use crate::exchange::{Slot, State};
use crate::faults::{self, Stage};
use crate::sending::CORK_BYTES;

/// How many bytes of interim replies may wait for the client to read, or for earlier replies. Interim replies are
/// advice, which is worth less the later it comes.
const INTERIM_BYTES: usize = 16_384;

impl Core {
    /// Sends 100 Continue, for which the client waits before it sends its body (RFC 9110 §10.1.1).
    pub fn send_continue(&mut self, id: ConnectionId) {
        self.cork_for(id);
        self.cork
            .bytes
            .extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
    }

    /// Sends an interim reply of a handler. It is dropped when the reply has begun, when it is malformed, and when
    /// there is no room for it.
    pub fn inform(&mut self, id: ConnectionId, slot: Slot, record: &Record, out: &[u8]) {
        let exchange = self.exchanges.get(slot);
        // A client of HTTP/1.0 would take it for the reply (RFC 9110 §15.2).
        if exchange.state != State::Waiting || exchange.http10 {
            return;
        }
        let Some(headers) = record.headers(out) else {
            return;
        };
        let Some(connection) = self.connections.get(id) else {
            return;
        };
        faults::check(Stage::Encode);
        let first = connection.first == slot;
        let waiting = if first {
            connection.unsent()
        } else {
            exchange.stash.unsent()
        };
        if first {
            self.cork_for(id);
        }
        let target = if first {
            &mut self.cork.bytes
        } else {
            self.exchanges.get_mut(slot).stash.end()
        };
        let before = target.len();
        let written = write_interim(target, record.status(), headers);
        if written.is_err() || waiting + target.len() - before > INTERIM_BYTES {
            target.truncate(before);
        }
        if first && self.cork.bytes.len() >= CORK_BYTES {
            self.flush_cork();
        }
    }
}
