//! Turns reply records into reply bytes: their order, their framing, and checks of what a record asks for.

use std::rc::Rc;

use ring::Record;
use ring::layout::{HIGH_WATER_BYTES, REFERENCE_BYTES, operation_flag};

use super::reply_head::{BodyFraming, ReplyHead};
use crate::connection::ConnectionId;
use crate::engine::Core;
use crate::exchange::{Framing, Slot, State};
use crate::faults::{self, Stage};
use crate::output::{Bodies, Body};
use crate::records::References;
use crate::sending::CORK_BYTES;
use crate::slice::abort;

impl Core {
    pub fn end(
        &mut self,
        id: ConnectionId,
        slot: Slot,
        record: &Record,
        out: &[u8],
        references: &dyn References,
    ) {
        if self.exchanges.get(slot).state != State::Waiting {
            return;
        }
        faults::check(Stage::Encode);
        let body = match record.reference() {
            // If its memory was transferred or resized since, it is not the reply any more.
            Some(index) => references
                .bytes(index)
                .filter(|body| record.body_length() == Some(body.len())),
            None => record.body(out),
        };
        let close = self.closes(id, slot);
        let first = self
            .connections
            .get(id)
            .is_some_and(|connection| connection.first == slot);
        if first {
            self.cork_for(id);
        }
        let exchange = self.exchanges.get_mut(slot);
        exchange.close = close;
        let target = if first {
            &mut self.cork.bytes
        } else {
            exchange.stash.end()
        };
        let before = target.len();
        let status = record.status();
        let head_only = exchange.head_only || status == 204 || status == 304;
        let written = body.zip(record.headers(out)).and_then(|(body, headers)| {
            let head = ReplyHead {
                status,
                content_type: record.content_type(),
                headers,
                framing: BodyFraming::Length(body.len() as u64),
                close,
                http10: exchange.http10,
            };
            self.templates.write(target, head).ok().map(|()| body)
        });
        match written {
            Some(_) if head_only => {}
            Some(body) if body.len() >= REFERENCE_BYTES => {
                let keep = |bodies: &Bodies| keep(bodies, body, record, references);
                if first {
                    self.send_large(id, body, b"", keep);
                } else {
                    self.stash_large(slot, body, keep);
                }
            }
            Some(body) => target.extend_from_slice(body),
            None => {
                target.truncate(before);
                self.templates
                    .write_problem(target, 500, "E_BAD_REPLY", close, head_only);
            }
        }
        if self.connections.get(id).is_none() {
            return;
        }
        if first {
            self.finish_first(id);
        } else {
            self.exchanges.get_mut(slot).state = State::Done;
            self.bound_stash(id, slot);
        }
    }

    /// Puts a large body behind what an exchange replied before its turn.
    fn stash_large(
        &mut self,
        slot: Slot,
        body: &[u8],
        keep: impl FnOnce(&Bodies) -> Option<Rc<Body>>,
    ) {
        let server = self.servers.get(self.exchanges.get(slot).server);
        let kept = server.and_then(|server| keep(&server.bodies));
        let stash = &mut self.exchanges.get_mut(slot).stash;
        match kept {
            Some(kept) => stash.keep(kept, 0),
            None => stash.end().extend_from_slice(body),
        }
    }

    pub fn start(&mut self, id: ConnectionId, slot: Slot, record: &Record, out: &[u8]) {
        let exchange = self.exchanges.get(slot);
        if exchange.state != State::Waiting {
            return;
        }
        faults::check(Stage::Encode);
        let status = record.status();
        let declared = record.declared_length();
        let bodiless = exchange.head_only || status == 204 || status == 304;
        let framing = match declared {
            _ if bodiless => Framing::None,
            Some(length) => Framing::Length(length),
            None if exchange.http10 => Framing::Close,
            None => Framing::Chunked,
        };
        let close = framing == Framing::Close || self.closes(id, slot);
        let first = self
            .connections
            .get(id)
            .is_some_and(|connection| connection.first == slot);
        if first {
            self.cork_for(id);
        }
        let exchange = self.exchanges.get_mut(slot);
        exchange.close = close;
        let target = if first {
            &mut self.cork.bytes
        } else {
            exchange.stash.end()
        };
        let before = target.len();
        let head = record.headers(out).map(|headers| ReplyHead {
            status,
            content_type: record.content_type(),
            headers,
            framing: match declared {
                Some(length) => BodyFraming::Length(length),
                None if exchange.http10 => BodyFraming::UntilClose,
                None => BodyFraming::Chunked,
            },
            close,
            http10: exchange.http10,
        });
        if head.is_some_and(|head| self.templates.write(target, head).is_ok()) {
            exchange.state = State::Streaming(framing);
            if first && let Some(connection) = self.connections.get_mut(id) {
                connection.mid_reply = true;
            }
            return;
        }
        target.truncate(before);
        self.templates
            .write_problem(target, 500, "E_BAD_REPLY", close, bodiless);
        // The problem is the whole reply: what the handler writes from now on is ignored.
        if first {
            self.finish_first(id);
        } else {
            exchange.state = State::Done;
            self.bound_stash(id, slot);
        }
    }

    pub fn data(
        &mut self,
        id: ConnectionId,
        slot: Slot,
        record: &Record,
        out: &[u8],
        references: &dyn References,
    ) {
        let State::Streaming(framing) = self.exchanges.get(slot).state else {
            return;
        };
        faults::check(Stage::Encode);
        let body = match record.reference() {
            // A chunk whose memory was transferred or resized must not be sent as if it were whole.
            Some(index) => references
                .bytes(index)
                .filter(|body| record.body_length() == Some(body.len())),
            None => record.body(out),
        };
        let Some(body) = body else {
            self.reset(id, abort::ERROR);
            return;
        };
        let first = self
            .connections
            .get(id)
            .is_some_and(|connection| connection.first == slot);
        if first {
            self.cork_for(id);
        }
        let exchange = self.exchanges.get_mut(slot);
        exchange.want_drain |= record.flags() & operation_flag::WANT_DRAIN != 0;
        match framing {
            Framing::None => return,
            Framing::Length(left) if body.len() as u64 > left => {
                // The client would read the excess as the next reply.
                self.reset(id, abort::ERROR);
                return;
            }
            Framing::Length(left) => {
                exchange.state = State::Streaming(Framing::Length(left - body.len() as u64));
            }
            Framing::Chunked | Framing::Close => {}
        }
        if body.is_empty() {
            return;
        }
        let chunked = framing == Framing::Chunked;
        let target = if first {
            &mut self.cork.bytes
        } else {
            exchange.stash.end()
        };
        if chunked {
            write_chunk_size(target, body.len());
        }
        let end: &[u8] = if chunked { b"\r\n" } else { b"" };
        if body.len() >= REFERENCE_BYTES {
            // A chunk of the usual size is copied: if it were kept, it would live on until the next full collection.
            let keep = |bodies: &Bodies| {
                (body.len() > HIGH_WATER_BYTES)
                    .then(|| keep(bodies, body, record, references))
                    .flatten()
            };
            if first {
                self.send_large(id, body, end, keep);
                return;
            }
            self.stash_large(slot, body, keep);
            self.exchanges
                .get_mut(slot)
                .stash
                .end()
                .extend_from_slice(end);
        } else {
            target.extend_from_slice(body);
            target.extend_from_slice(end);
        }
        if !first {
            self.bound_stash(id, slot);
        } else if self.cork.bytes.len() >= CORK_BYTES {
            self.flush_cork();
        }
    }

    pub fn finish(&mut self, id: ConnectionId, slot: Slot) {
        let exchange = self.exchanges.get(slot);
        let State::Streaming(framing) = exchange.state else {
            return;
        };
        if let Framing::Length(1..) = framing {
            // The client must not take a short body for a whole one.
            self.reset(id, abort::ERROR);
            return;
        }
        let first = self
            .connections
            .get(id)
            .is_some_and(|connection| connection.first == slot);
        if first {
            self.cork_for(id);
        }
        let exchange = self.exchanges.get_mut(slot);
        let target = if first {
            &mut self.cork.bytes
        } else {
            exchange.stash.end()
        };
        if framing == Framing::Chunked {
            target.extend_from_slice(b"0\r\n\r\n");
        }
        if first {
            self.finish_first(id);
        } else {
            exchange.state = State::Done;
            self.bound_stash(id, slot);
        }
    }

    /// Gives a reply of the engine in place of the handler's.
    pub fn answer(&mut self, slot: Slot, status: u16, code: &str) {
        let id = self.exchanges.get(slot).connection;
        let close = self.closes(id, slot);
        let first = self
            .connections
            .get(id)
            .is_some_and(|connection| connection.first == slot);
        if first {
            self.cork_for(id);
        }
        let exchange = self.exchanges.get_mut(slot);
        exchange.close = close;
        let target = if first {
            &mut self.cork.bytes
        } else {
            exchange.stash.end()
        };
        self.templates
            .write_problem(target, status, code, close, exchange.head_only);
        if first {
            self.finish_first(id);
        } else {
            exchange.state = State::Done;
            self.bound_stash(id, slot);
        }
    }
}

fn keep(
    bodies: &Bodies,
    body: &[u8],
    record: &Record,
    references: &dyn References,
) -> Option<Rc<Body>> {
    let index = record.reference()?;
    bodies.keep(body, || references.retain(index))
}

fn write_chunk_size(out: &mut Vec<u8>, size: usize) {
    let digits = (usize::BITS - size.leading_zeros()).div_ceil(4);
    for digit in (0..digits).rev() {
        let nibble = (size >> (digit * 4)) as u8 & 0xf;
        out.push(b"0123456789abcdef"[usize::from(nibble)]);
    }
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunk_sizes_are_plain_hex() {
        for size in [1, 15, 16, 255, 256, 65_536, 0xdead_beef] {
            let mut out = Vec::new();
            write_chunk_size(&mut out, size);
            assert_eq!(out, format!("{size:x}\r\n").into_bytes());
        }
    }
}
