//! Does what records ask a socket for: messages, and the limit on those that wait.

use ring::Record;
use ring::layout::{HIGH_WATER_BYTES, REFERENCE_BYTES, operation, operation_flag};
use ws::Opcode;

use crate::connection::ConnectionId;
use crate::engine::Core;
use crate::exchange::Slot;
use crate::faults::{self, Stage};
use crate::http1::replies::{body_of, keep};
use crate::output::Bodies;
use crate::records::References;

impl Core {
    /// Does what a record asks a socket for.
    #[inline]
    pub fn operate_socket(
        &mut self,
        id: ConnectionId,
        slot: Slot,
        record: &Record,
        out: &[u8],
        references: &dyn References,
    ) {
        match record.operation() {
            operation::MESSAGE => self.send_message(id, slot, record, out, references),
            operation::CLOSE => self.close_by_record(id, record, out),
            operation::DESTROY => self.terminate(id),
            operation::SUBSCRIBE => {
                self.subscribe(id, body_of(record, out, references).unwrap_or_default());
            }
            operation::UNSUBSCRIBE => {
                self.unsubscribe(id, body_of(record, out, references).unwrap_or_default());
            }
            _ => {}
        }
    }

    fn send_message(
        &mut self,
        id: ConnectionId,
        slot: Slot,
        record: &Record,
        out: &[u8],
        references: &dyn References,
    ) {
        // Messages of topics that were published before come first.
        if self.publishing.has_work() {
            self.deliver_published();
        }
        let Some((_, socket, _, spec)) = self.connections.socket_with_server(&mut self.servers, id)
        else {
            return;
        };
        if !socket.is_open() {
            return;
        }
        let longest = socket.longest;
        faults::check(Stage::Encode);
        let flags = record.flags();
        if flags & operation_flag::WANT_DRAIN != 0 {
            self.exchanges.get_mut(slot).want_drain = true;
        }
        let Some(data) = body_of(record, out, references) else {
            self.terminate(id);
            return;
        };
        if !self.fits(id, data.len(), 1) {
            return;
        }
        let opcode = opcode(flags & operation_flag::TEXT != 0);
        self.cork_for(id);
        let bytes = self.sender.gathered();
        if spec.compresses(data.len(), longest) {
            self.compression.frame(opcode, data, bytes);
            if self.sender.is_full() {
                self.flush_cork();
            }
            return;
        }
        bytes.extend_from_slice(&ws::frame_head(opcode, data.len(), false));
        if data.len() >= REFERENCE_BYTES {
            let keep = |bodies: &Bodies| {
                (data.len() > HIGH_WATER_BYTES)
                    .then(|| keep(bodies, data, record, references))
                    .flatten()
            };
            self.send_large(id, data, b"", keep);
            return;
        }
        bytes.extend_from_slice(data);
        if self.sender.is_full() {
            self.flush_cork();
        }
    }

    /// Gives whether messages of this length together may wait behind what waits already. If they may not, the socket is
    /// closed or the messages counted as dropped. Where nothing waits, a message of any length may be sent.
    pub fn fits(&mut self, id: ConnectionId, length: usize, messages: usize) -> bool {
        let corked = self.sender.corked(id);
        let Some((connection, socket, _, spec)) =
            self.connections.socket_with_server(&mut self.servers, id)
        else {
            return false;
        };
        let waiting = connection.unsent() + corked;
        if waiting == 0 || waiting + length <= spec.max_buffered {
            return true;
        }
        // What this step has left to be sent at its end, and what is in the cork, may still be taken at once.
        if connection.sending.dirty {
            self.flush_output(id);
            return self.fits(id, length, messages);
        }
        if corked > 0 {
            self.flush_cork();
            return self.fits(id, length, messages);
        }
        if spec.drops {
            let first = socket.dropped == 0;
            socket.dropped = socket.dropped.saturating_add(messages as u32);
            if first {
                let token = self.connections.token(id);
                self.publishing.tell_dropped(token);
            }
        } else {
            self.end_with(id, super::TRY_AGAIN_LATER, super::FULL);
        }
        false
    }

    /// Adds a control frame behind what waits to be sent.
    pub fn push_frame(&mut self, id: ConnectionId, opcode: Opcode, payload: &[u8]) {
        if self.sender.gathers_for(id) {
            self.leave_cork();
        }
        if let Some(connection) = self.connections.get_mut(id) {
            connection.push(&ws::frame_head(opcode, payload.len(), false));
            connection.push(payload);
            self.send_later(id);
        }
    }
}

pub fn opcode(text: bool) -> Opcode {
    if text { Opcode::Text } else { Opcode::Binary }
}
