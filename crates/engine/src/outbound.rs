//! From reply records to bytes on the wire: order, framing, one send per connection and slice, back-pressure.

use std::io::IoSlice;

use reactor::net::Send;
use ring::Record;
use ring::layout::{
    HIGH_WATER_BYTES, RECORD_WORDS, REFERENCE_BYTES, kind, operation, operation_flag,
};

use crate::body::{Discard, Remaining};
use crate::connection::{Inbound, NEVER, NONE};
use crate::engine::{Core, Engine};
use crate::exchange::{Framing, State};
use crate::faults::{self, Stage};
use crate::reply::{BodyFraming, ReplyHead};
use crate::slice::{Notice, abort};

/// The cork is sent when it holds this much, and its memory is given back beyond it.
const CORK_BYTES: usize = 4 * HIGH_WATER_BYTES;

/// Bodies that JavaScript handed over by reference. Valid until JavaScript runs again.
pub trait References {
    fn bytes(&self, index: u32) -> Option<&[u8]>;
}

/// For callers without JavaScript.
pub struct NoReferences;

impl References for NoReferences {
    fn bytes(&self, _: u32) -> Option<&[u8]> {
        None
    }
}

/// Replies of one connection gathered for one send.
pub struct Cork {
    pub bytes: Vec<u8>,
    pub connection: u32,
    /// Length before the step at work, for what must be taken back when it panics.
    pub mark: usize,
    pub flushing: bool,
}

impl Default for Cork {
    fn default() -> Self {
        Self {
            bytes: Vec::with_capacity(HIGH_WATER_BYTES),
            connection: NONE,
            mark: 0,
            flushing: false,
        }
    }
}

impl Engine {
    /// Applies every record JavaScript wrote since the last call and sends what became ready.
    pub fn apply(&mut self, references: &dyn References) {
        let Self { memory, core } = self;
        for index in 0..memory.records() {
            core.apply_record(&memory.record(index), memory.out(), references);
        }
        memory.clear_records();
        core.flush_cork();
    }

    /// Applies a chunk of records JavaScript set aside when the shared memory was full. Chunks are older
    /// than what [`apply`](Self::apply) reads, and come first.
    pub fn apply_chunk(&mut self, records: &[i32], out: &[u8], references: &dyn References) {
        for words in records.chunks_exact(RECORD_WORDS) {
            let mut record = [0; RECORD_WORDS];
            record.copy_from_slice(words);
            self.core.apply_record(&Record(record), out, references);
        }
    }

    /// Records wait to be applied.
    pub fn has_records(&self) -> bool {
        self.memory.records() > 0 || self.memory.control(ring::layout::control::OVERFLOW) > 0
    }

    /// A record names a body by reference.
    pub fn has_references(&self) -> bool {
        self.memory.control(ring::layout::control::REFERENCES) > 0
    }

    pub fn overflow(&self) -> usize {
        self.memory.control(ring::layout::control::OVERFLOW).max(0) as usize
    }

    pub fn clear_overflow(&mut self) {
        self.memory.set_control(ring::layout::control::OVERFLOW, 0);
    }
}

impl Core {
    fn apply_record(&mut self, record: &Record, out: &[u8], references: &dyn References) {
        let Some(exchange) = self.exchanges.live(record.slot(), record.generation()) else {
            return;
        };
        let id = exchange.connection;
        let slot = record.slot();
        self.guarded(id, |core| {
            if core.cork.connection != id {
                core.flush_cork();
                core.current = id;
                if core.exchanges.live(slot, record.generation()).is_none() {
                    return;
                }
            }
            core.cork.mark = core.cork.bytes.len();
            match record.operation() {
                operation::END => core.end(id, slot, record, out, references),
                operation::START => core.start(id, slot, record, out),
                operation::DATA => core.data(id, slot, record, out, references),
                operation::FINISH => core.finish(id, slot),
                operation::DESTROY => core.reset(id, abort::ERROR),
                operation::READ | operation::CREDIT => core.grant(id, slot, record),
                _ => {}
            }
        });
    }

    fn cork_for(&mut self, id: u32) {
        if self.cork.connection != id {
            self.flush_cork();
            self.cork.connection = id;
            self.cork.mark = 0;
        }
    }

    fn end(
        &mut self,
        id: u32,
        slot: u32,
        record: &Record,
        out: &[u8],
        references: &dyn References,
    ) {
        if self.exchanges.get(slot).state != State::Waiting {
            return;
        }
        faults::check(Stage::Encode);
        let body = match record.reference() {
            // The memory may have been transferred or resized since: what is left is not the reply.
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
            &mut exchange.stash
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
            Some(body) if first && body.len() >= REFERENCE_BYTES => self.send_large(id, &[body]),
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
        }
    }

    fn start(&mut self, id: u32, slot: u32, record: &Record, out: &[u8]) {
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
            &mut exchange.stash
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
        // What the handler goes on to write has no place in this answer.
        if first {
            self.finish_first(id);
        } else {
            exchange.state = State::Done;
        }
    }

    fn data(
        &mut self,
        id: u32,
        slot: u32,
        record: &Record,
        out: &[u8],
        references: &dyn References,
    ) {
        let State::Streaming(framing) = self.exchanges.get(slot).state else {
            return;
        };
        faults::check(Stage::Encode);
        let body = match record.reference() {
            Some(index) => references.bytes(index),
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
                // More than was declared would be read as the next reply.
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
            &mut exchange.stash
        };
        if chunked {
            write_chunk_size(target, body.len());
        }
        if first && body.len() >= REFERENCE_BYTES {
            let end: &[u8] = if chunked { b"\r\n" } else { b"" };
            self.send_large(id, &[body, end]);
            return;
        }
        target.extend_from_slice(body);
        if chunked {
            target.extend_from_slice(b"\r\n");
        }
        if first && self.cork.bytes.len() >= CORK_BYTES {
            self.flush_cork();
        }
    }

    fn finish(&mut self, id: u32, slot: u32) {
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
            &mut exchange.stash
        };
        if framing == Framing::Chunked {
            target.extend_from_slice(b"0\r\n\r\n");
        }
        if first {
            self.finish_first(id);
        } else {
            exchange.state = State::Done;
        }
    }

    /// Lets more of a streamed body in.
    fn grant(&mut self, id: u32, slot: u32, record: &Record) {
        let amount = u64::from(record.amount());
        let Some(timeout) = self.limits(id).map(|limits| limits.request_timeout) else {
            return;
        };
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        let Inbound::Streaming(body) = &mut connection.inbound else {
            return;
        };
        if body.slot != slot || amount == 0 {
            return;
        }
        // More credit is no more time: a client that drips would get it for every byte.
        if body.credit == 0 {
            connection.deadline = body.pace.resume(body.paused, self.now, timeout);
        }
        body.credit += amount;
        let asks = std::mem::take(&mut body.expects_continue);
        // In the middle of a reply it would be taken for a part of it.
        if asks && self.exchanges.get(slot).state == State::Waiting {
            self.send_continue(id);
        }
        self.queue(id);
        self.throttle(id);
    }

    /// RFC 9110 §10.1.1: the client waits for leave to send its body.
    pub fn send_continue(&mut self, id: u32) {
        self.cork_for(id);
        self.cork
            .bytes
            .extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
    }

    /// Whether the connection ends with this exchange's reply, and the reply must say so.
    fn closes(&self, id: u32, slot: u32) -> bool {
        if self.exchanges.get(slot).close {
            return true;
        }
        let Some(connection) = self.connections.get(id) else {
            return true;
        };
        // A refusal that follows is the one that says so.
        if connection.last != slot || connection.refused.is_some() {
            return false;
        }
        let Some(server) = self.server(connection.server) else {
            return true;
        };
        let limits = &server.config.limits;
        server.closing
            || (connection.ended && connection.input.is_empty())
            || self.now - connection.opened > limits.max_connection_age
            || match &connection.inbound {
                Inbound::Head | Inbound::Buffering(_) => false,
                Inbound::Closed => true,
                Inbound::Streaming(body) => {
                    body.expects_continue
                        || matches!(body.remaining, Remaining::Length(left) if left > limits.drain_limit)
                }
                Inbound::Discard(body) => body.budget == 0 && !body.remaining.is_done(),
            }
    }

    /// The oldest exchange's reply is complete in the cork: let the next ones follow.
    pub fn finish_first(&mut self, id: u32) {
        loop {
            let Some(connection) = self.connections.get_mut(id) else {
                return;
            };
            let slot = connection.first;
            let exchange = self.exchanges.get(slot);
            connection.first = exchange.next;
            connection.in_flight -= 1;
            connection.mid_reply = false;
            connection.close_after |= exchange.close;
            let server = exchange.server;
            self.exchanges.release(slot);
            if let Some(server) = self
                .servers
                .get_mut(usize::from(server))
                .and_then(Option::as_mut)
            {
                server.stats.in_flight -= 1;
            }
            if connection.close_after && connection.first != NONE {
                // This reply ends the connection: what was asked behind it gets no answer on it.
                self.abort_exchanges(id, abort::ERROR);
            }
            let Some(connection) = self.connections.get_mut(id) else {
                return;
            };
            let next = connection.first;
            if next == NONE {
                connection.last = NONE;
                connection.exclusive = false;
                self.after_last_reply(id);
                return;
            }
            let held = std::mem::take(&mut connection.held);
            let exchange = self.exchanges.get_mut(next);
            if let State::Streaming(_) = exchange.state {
                connection.mid_reply = true;
            }
            let state = exchange.state;
            self.cork.bytes.append(&mut exchange.stash);
            if self.cork.bytes.len() >= CORK_BYTES {
                self.flush_cork();
                self.cork_for(id);
            }
            if held {
                self.queue(id);
            }
            if state != State::Done {
                return;
            }
        }
    }

    /// Every request received so far is answered: what comes next on this connection.
    fn after_last_reply(&mut self, id: u32) {
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
        let (keep_alive, headers) = (limits.keep_alive_timeout, limits.headers_timeout);
        let (drain_limit, drain_timeout) = (limits.drain_limit, limits.drain_timeout);
        let leave = server.closing || now - connection.opened > limits.max_connection_age;
        // Behind a reply that ends the connection there is no other.
        if let Some(refused) = connection.refused.take()
            && !connection.close_after
        {
            self.cork_for(id);
            self.templates.write_problem(
                &mut self.cork.bytes,
                refused.status,
                refused.code,
                true,
                refused.head_only,
            );
            self.stop_reading(id);
            return;
        }
        match std::mem::replace(&mut connection.inbound, Inbound::Head) {
            Inbound::Head => {
                connection.deadline = now
                    + if connection.input.is_empty() {
                        keep_alive
                    } else {
                        headers
                    };
                connection.close_after |= connection.input.is_empty() && leave;
            }
            Inbound::Streaming(body) if connection.close_after => {
                // A body received whole leaves nothing to wait for.
                connection.inbound = Inbound::Closed;
                connection.lingered += u64::from(!body.remaining.is_done());
            }
            Inbound::Streaming(body) => {
                connection.inbound = Inbound::Discard(Discard {
                    remaining: body.remaining,
                    budget: drain_limit,
                });
                connection.deadline = now + drain_timeout;
                connection.held = true;
            }
            Inbound::Discard(body) if connection.close_after => {
                connection.inbound = Inbound::Closed;
                connection.lingered += u64::from(!body.remaining.is_done());
            }
            Inbound::Discard(body) => {
                connection.inbound = Inbound::Discard(body);
                connection.deadline = now + drain_timeout;
            }
            Inbound::Closed => {
                connection.inbound = Inbound::Closed;
                connection.close_after = true;
            }
            buffering @ Inbound::Buffering(_) => connection.inbound = buffering,
        }
        if connection.close_after {
            // What was received behind the last request is not answered; it is no reason to wait either.
            connection.lingered += connection.input.len() as u64;
            connection.input = Vec::new();
            connection.inbound = Inbound::Closed;
        }
        if std::mem::take(&mut connection.held) {
            self.queue(id);
            self.throttle(id);
        }
    }

    /// The body that was thrown away has ended; `last`: nothing follows it yet.
    pub fn after_body(&mut self, id: u32, last: bool) {
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
        if connection.in_flight > 0 {
            return;
        }
        let limits = &server.config.limits;
        connection.deadline = now + limits.keep_alive_timeout;
        let leave = server.closing || now - connection.opened > limits.max_connection_age;
        if leave && last {
            connection.inbound = Inbound::Closed;
            connection.close_after = true;
            if connection.unsent() == 0 && self.cork.connection != id {
                self.close_or_linger(id);
            }
        }
    }

    /// Sends the cork, then `parts`, without copying what the socket takes at once.
    fn send_large(&mut self, id: u32, parts: &[&[u8]]) {
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
        self.cork.flushing = true;
        let sent = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.send_cork(id)));
        self.cork.flushing = false;
        if sent.is_err() {
            self.cork.bytes.clear();
            self.cork.connection = NONE;
            self.current = id;
            self.after_panic();
        }
        self.current = outer;
    }

    fn send_cork(&mut self, id: u32) {
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
    fn after_sent(&mut self, id: u32) {
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

    /// A reply by the engine in place of a handler's.
    pub fn answer(&mut self, slot: u32, status: u16, code: &str) {
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
            &mut exchange.stash
        };
        self.templates
            .write_problem(target, status, code, close, exchange.head_only);
        if first {
            self.finish_first(id);
        } else {
            exchange.state = State::Done;
        }
    }
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
