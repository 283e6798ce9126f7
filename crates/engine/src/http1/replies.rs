//! Turns reply records into reply bytes: their order, their framing, and checks of what a record asks for.

use std::rc::Rc;

use ring::Record;
use ring::layout::{HIGH_WATER_BYTES, REFERENCE_BYTES, operation, operation_flag};

use wire::Version;

use super::reply_head::{BodyFraming, ReplyHead};
use super::sink::Sink;
use crate::engine::Core;
use crate::exchange::{Framing, Slot, State};
use crate::faults::{self, Stage};
use crate::output::{Bodies, Body};
use crate::records::References;
use crate::trailers;

impl Core {
    /// Does what a record asks an exchange for.
    #[inline(always)]
    pub fn reply(&mut self, slot: Slot, record: &Record, out: &[u8], references: &dyn References) {
        match record.operation() {
            operation::END => self.end(slot, record, out, references),
            operation::START => self.start(slot, record, out),
            operation::DATA => self.data(slot, record, out, references),
            operation::FINISH => self.finish(slot, record, out),
            operation::DESTROY => self.reset_exchange(slot),
            operation::READ | operation::CREDIT => self.grant(slot, record),
            operation::INFORM => self.inform(slot, record, out),
            operation::UPGRADE => self.upgrade(slot, record, out),
            _ => {}
        }
    }

    fn end(&mut self, slot: Slot, record: &Record, out: &[u8], references: &dyn References) {
        if self.exchanges.get(slot).state != State::Waiting {
            return;
        }
        faults::check(Stage::Encode);
        let body = body_of(record, out, references);
        let close = self.closes(slot);
        let exchange = self.exchanges.get_mut(slot);
        exchange.close = close;
        let version = exchange.version;
        let status = record.status();
        let head_only = exchange.head_only || status == 204 || status == 304;
        let Sink { bytes, templates } = self.sink(slot);
        let before = bytes.len();
        let written = body.zip(record.headers(out)).and_then(|(body, headers)| {
            let head = ReplyHead {
                status,
                content_type: record.content_type(),
                headers,
                framing: BodyFraming::Length(body.len() as u64),
                close,
                version,
            };
            templates.write(bytes, head).ok().map(|()| body)
        });
        match written {
            Some(_) if head_only => {}
            Some(body) if body.len() >= REFERENCE_BYTES => {
                let keep = |bodies: &Bodies| keep(bodies, body, record, references);
                self.append_large(slot, body, b"", keep);
            }
            Some(body) => bytes.extend_from_slice(body),
            None => {
                bytes.truncate(before);
                templates.write_problem(bytes, 500, "E_BAD_REPLY", close, head_only);
            }
        }
        self.reply_done(slot);
    }

    fn start(&mut self, slot: Slot, record: &Record, out: &[u8]) {
        let exchange = self.exchanges.get(slot);
        if exchange.state != State::Waiting {
            return;
        }
        faults::check(Stage::Encode);
        let status = record.status();
        let declared = record.declared_length();
        let bodiless = exchange.head_only || status == 204 || status == 304;
        let version = exchange.version;
        let framing = match declared {
            _ if bodiless => Framing::None,
            Some(length) => Framing::Length(length),
            None if version == Version::Http10 => Framing::Close,
            None => Framing::Chunked,
        };
        let close = framing == Framing::Close || self.closes(slot);
        self.exchanges.get_mut(slot).close = close;
        let Sink { bytes, templates } = self.sink(slot);
        let before = bytes.len();
        let head = record.headers(out).map(|headers| ReplyHead {
            status,
            content_type: record.content_type(),
            headers,
            framing: match declared {
                Some(length) => BodyFraming::Length(length),
                None if version == Version::Http10 => BodyFraming::UntilClose,
                None => BodyFraming::Chunked,
            },
            close,
            version,
        });
        if head.is_some_and(|head| templates.write(bytes, head).is_ok()) {
            let exchange = self.exchanges.get_mut(slot);
            exchange.state = State::Streaming(framing);
            if let Some((_, http1)) = self.connections.http1(exchange.connection) {
                http1.mid_reply |= http1.first == slot;
            }
            return;
        }
        bytes.truncate(before);
        templates.write_problem(bytes, 500, "E_BAD_REPLY", close, bodiless);
        // The problem is the whole reply: what the handler writes from now on is ignored.
        self.reply_done(slot);
    }

    fn data(&mut self, slot: Slot, record: &Record, out: &[u8], references: &dyn References) {
        let exchange = self.exchanges.get_mut(slot);
        let State::Streaming(framing) = exchange.state else {
            return;
        };
        faults::check(Stage::Encode);
        exchange.want_drain |= record.flags() & operation_flag::WANT_DRAIN != 0;
        let Some(body) = body_of(record, out, references) else {
            self.reset_exchange(slot);
            return;
        };
        match framing {
            Framing::Length(left) if body.len() as u64 > left => {
                // The client would read the excess as the next reply.
                self.reset_exchange(slot);
                return;
            }
            Framing::Length(left) => {
                exchange.state = State::Streaming(Framing::Length(left - body.len() as u64));
            }
            Framing::Chunked | Framing::Close | Framing::None => {}
        }
        let chunked = framing == Framing::Chunked;
        let end: &[u8] = if chunked { b"\r\n" } else { b"" };
        // Also where nothing is to be sent: the end of the step tells the stream then that it may go on.
        let Sink { bytes, .. } = self.sink(slot);
        if framing == Framing::None || body.is_empty() {
            return;
        }
        if chunked {
            write_chunk_size(bytes, body.len());
        }
        if body.len() >= REFERENCE_BYTES {
            // A chunk of the usual size is copied: if it were kept, it would live on until the next full collection.
            let keep = |bodies: &Bodies| {
                (body.len() > HIGH_WATER_BYTES)
                    .then(|| keep(bodies, body, record, references))
                    .flatten()
            };
            self.append_large(slot, body, end, keep);
        } else {
            bytes.extend_from_slice(body);
            bytes.extend_from_slice(end);
        }
        self.reply_grew(slot);
    }

    fn finish(&mut self, slot: Slot, record: &Record, out: &[u8]) {
        let State::Streaming(framing) = self.exchanges.get(slot).state else {
            return;
        };
        // The server closes, and the head was sent before that was known.
        let is_last = record.amount() > 0;
        if is_last && self.is_newest(slot) {
            self.exchanges.get_mut(slot).close = true;
        }
        if let Framing::Length(1..) = framing {
            // The client must not take a short body for a whole one.
            self.reset_exchange(slot);
            return;
        }
        let Sink { bytes, .. } = self.sink(slot);
        if framing == Framing::Chunked {
            bytes.extend_from_slice(b"0\r\n");
            for (name, value) in record.headers(out).into_iter().flat_map(trailers::sendable) {
                bytes.extend_from_slice(name);
                bytes.extend_from_slice(b": ");
                bytes.extend_from_slice(value);
                bytes.extend_from_slice(b"\r\n");
            }
            bytes.extend_from_slice(b"\r\n");
        }
        self.reply_done(slot);
    }

    /// Gives a reply of the engine in place of the handler's.
    pub fn reply_problem(&mut self, slot: Slot, status: u16, code: &str) {
        let close = self.closes(slot);
        let exchange = self.exchanges.get_mut(slot);
        exchange.close = close;
        let head_only = exchange.head_only;
        let Sink { bytes, templates } = self.sink(slot);
        templates.write_problem(bytes, status, code, close, head_only);
        self.reply_done(slot);
    }
}

/// The body that a record names, or `None` if its memory was transferred or resized since: then it must not be sent as
/// if it were whole.
pub fn body_of<'a>(
    record: &Record,
    out: &'a [u8],
    references: &'a dyn References,
) -> Option<&'a [u8]> {
    match record.reference() {
        Some(index) => references
            .bytes(index)
            .filter(|body| record.body_length() == Some(body.len())),
        None => record.body(out),
    }
}

pub fn keep(
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
