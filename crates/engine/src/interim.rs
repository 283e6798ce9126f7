//! Interim replies, sent before an exchange's own (RFC 9110 §15.2).

use ring::Record;

use crate::engine::Core;
use crate::exchange::State;
use crate::faults::{self, Stage};
use crate::reply::write_interim;
use crate::sending::CORK_BYTES;

/// Bytes of interim replies that may wait, for the client to read or for those before it: they are advice, and
/// worth less the later they come.
const INTERIM_BYTES: usize = 16_384;

impl Core {
    /// RFC 9110 §10.1.1: the client waits for leave to send its body.
    pub fn send_continue(&mut self, id: u32) {
        self.cork_for(id);
        self.cork
            .bytes
            .extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
    }

    /// What a handler tells ahead of its reply. Dropped when the reply has begun, when it is malformed, and when
    /// there is no room for it.
    pub fn inform(&mut self, id: u32, slot: u32, record: &Record, out: &[u8]) {
        let exchange = self.exchanges.get(slot);
        // RFC 9110 §15.2: a client of HTTP/1.0 would take it for the reply.
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
