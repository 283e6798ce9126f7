//! Turns reply records into frames. Records are checked as for HTTP/1. A reply that cannot be completed ends only its
//! stream.

use h2::{ErrorCode, Key};
use ring::Record;
use ring::layout::{HIGH_WATER_BYTES, operation, operation_flag};

use crate::connection::ConnectionId;
use crate::engine::Core;
use crate::exchange::{Framing, Slot, State};
use crate::faults::{self, Stage};
use crate::http1::interim::INTERIM_BYTES;
use crate::http1::replies::{body_of, keep};
use crate::http1::reply_head::{BodyFraming, ReplyHead, problem};
use crate::output::Bodies;
use crate::records::References;
use crate::slice::abort;

use super::End;
use super::bodies::Upload;
use super::reply_head::{write_interim, write_trailers};

impl Core {
    /// Executes the operation of a record.
    #[inline(never)]
    pub fn reply_on_stream(
        &mut self,
        id: ConnectionId,
        slot: Slot,
        record: &Record,
        out: &[u8],
        references: &dyn References,
    ) {
        let key = Key(self.exchanges.get(slot).stream);
        match record.operation() {
            operation::END => self.end_reply(id, key, slot, record, out, references),
            operation::START => self.start_reply(id, key, slot, record, out),
            operation::DATA => self.continue_reply(id, key, slot, record, out, references),
            operation::FINISH => self.finish_reply(id, key, slot, record, out),
            operation::DESTROY => self.reset_exchange(slot),
            operation::READ | operation::CREDIT => self.grant_stream(id, slot, record),
            operation::UPGRADE => self.upgrade_stream(id, key, slot, record, out),
            operation::INFORM => self.inform_stream(id, key, slot, record, out),
            _ => {}
        }
        self.send_control(id);
    }

    fn end_reply(
        &mut self,
        id: ConnectionId,
        key: Key,
        slot: Slot,
        record: &Record,
        out: &[u8],
        references: &dyn References,
    ) {
        let exchange = self.exchanges.get(slot);
        if exchange.state != State::Waiting {
            return;
        }
        faults::check(Stage::Encode);
        let status = record.status();
        let version = exchange.version;
        let head_only = exchange.head_only || status == 204 || status == 304;
        let body = body_of(record, out, references);
        let mut block = std::mem::take(&mut self.shared.block);
        let written = body.zip(record.headers(out)).and_then(|(body, headers)| {
            let head = ReplyHead {
                status,
                content_type: record.content_type(),
                headers,
                framing: BodyFraming::Length(body.len() as u64),
                close: false,
                version,
            };
            let written = self.shared.blocks.write(&mut block, head);
            written.ok().map(|()| body)
        });
        self.finish_exchange(id, key);
        match written {
            Some(body) if head_only || body.is_empty() => self.send_head(id, key, &block, true),
            Some(body) => {
                self.send_head(id, key, &block, false);
                let keep = |bodies: &Bodies| keep(bodies, body, record, references);
                self.send_data(id, key, body, End::Whole, keep);
            }
            None => self.send_problem(id, key, 500, "E_BAD_REPLY", head_only),
        }
        self.shared.block = block;
    }

    fn start_reply(&mut self, id: ConnectionId, key: Key, slot: Slot, record: &Record, out: &[u8]) {
        let exchange = self.exchanges.get(slot);
        if exchange.state != State::Waiting {
            return;
        }
        faults::check(Stage::Encode);
        let status = record.status();
        let declared = record.declared_length();
        let bodiless = exchange.head_only || status == 204 || status == 304;
        let version = exchange.version;
        let mut block = std::mem::take(&mut self.shared.block);
        let head = record.headers(out).map(|headers| ReplyHead {
            status,
            content_type: record.content_type(),
            headers,
            framing: declared.map_or(BodyFraming::Chunked, BodyFraming::Length),
            close: false,
            version,
        });
        if head.is_some_and(|head| self.shared.blocks.write(&mut block, head).is_ok()) {
            self.exchanges.get_mut(slot).state = State::Streaming(match declared {
                _ if bodiless => Framing::None,
                Some(length) => Framing::Length(length),
                None => Framing::Chunked,
            });
            self.send_head(id, key, &block, false);
        } else {
            // The problem is the whole reply. Further records of the handler are ignored.
            self.finish_exchange(id, key);
            self.send_problem(id, key, 500, "E_BAD_REPLY", bodiless);
        }
        self.shared.block = block;
    }

    fn continue_reply(
        &mut self,
        id: ConnectionId,
        key: Key,
        slot: Slot,
        record: &Record,
        out: &[u8],
        references: &dyn References,
    ) {
        let exchange = self.exchanges.get_mut(slot);
        let State::Streaming(framing) = exchange.state else {
            return;
        };
        faults::check(Stage::Encode);
        if record.flags() & operation_flag::WANT_DRAIN != 0 {
            exchange.want_drain = true;
            if let Some((_, http2)) = self.connections.http2(id) {
                http2.producers_wait = true;
            }
        }
        let Some(body) = body_of(record, out, references) else {
            self.reset_exchange(slot);
            return;
        };
        match framing {
            Framing::Length(left) if body.len() as u64 > left => {
                // A body whose length differs from Content-Length makes the reply malformed (RFC 9113 §8.1.1).
                self.reset_exchange(slot);
                return;
            }
            Framing::Length(left) => {
                exchange.state = State::Streaming(Framing::Length(left - body.len() as u64));
            }
            Framing::Chunked | Framing::Close | Framing::None => {}
        }
        // The cork is also needed if nothing is sent: at the end of the step the producer is told to continue.
        self.cork_for(id);
        if framing == Framing::None || body.is_empty() {
            return;
        }
        // A chunk of the usual size is copied. If it were kept, it would live until the next full garbage collection.
        let keep = |bodies: &Bodies| {
            (body.len() > HIGH_WATER_BYTES)
                .then(|| keep(bodies, body, record, references))
                .flatten()
        };
        self.send_data(id, key, body, End::Open, keep);
    }

    fn finish_reply(
        &mut self,
        id: ConnectionId,
        key: Key,
        slot: Slot,
        record: &Record,
        out: &[u8],
    ) {
        let State::Streaming(framing) = self.exchanges.get(slot).state else {
            return;
        };
        if let Framing::Length(1..) = framing {
            // A reset tells the client that the body is incomplete.
            self.reset_exchange(slot);
            return;
        }
        // A reply without content, or with a declared length, has no trailers, as over HTTP/1.
        let block = record
            .headers(out)
            .filter(|_| framing == Framing::Chunked)
            .map(write_trailers)
            .unwrap_or_default();
        let end = if block.is_empty() {
            End::Whole
        } else {
            End::Trailers(block)
        };
        self.finish_exchange(id, key);
        self.send_data(id, key, b"", end, |_| None);
    }

    /// Sends an interim reply of a handler. It is dropped when the reply has begun, when it is malformed, and when
    /// there is no room for it.
    fn inform_stream(
        &mut self,
        id: ConnectionId,
        key: Key,
        slot: Slot,
        record: &Record,
        out: &[u8],
    ) {
        let waits = self.exchanges.get(slot).state == State::Waiting;
        let unsent = self
            .connections
            .get(id)
            .map_or(0, crate::connection::Connection::unsent);
        let Some(headers) = record.headers(out).filter(|_| waits) else {
            return;
        };
        faults::check(Stage::Encode);
        let mut block = std::mem::take(&mut self.shared.block);
        let written = write_interim(&mut block, record.status(), headers);
        if written.is_ok() && unsent + block.len() <= INTERIM_BYTES {
            self.send_head(id, key, &block, false);
        }
        self.shared.block = block;
    }

    /// Sends a problem of the engine as the whole reply of a stream.
    pub fn send_problem(
        &mut self,
        id: ConnectionId,
        key: Key,
        status: u16,
        code: &str,
        head_only: bool,
    ) {
        let body = problem(status, code);
        let mut block = std::mem::take(&mut self.shared.block);
        self.shared
            .blocks
            .write_problem(&mut block, status, body.len());
        self.send_head(id, key, &block, head_only);
        self.shared.block = block;
        if !head_only {
            self.send_data(id, key, &body, End::Whole, |_| None);
        }
    }

    /// Sends a reply of the engine instead of the handler's.
    pub fn answer_stream(&mut self, slot: Slot, status: u16, code: &str) {
        let exchange = self.exchanges.get(slot);
        let (id, key) = (exchange.connection, Key(exchange.stream));
        let head_only = exchange.head_only;
        self.finish_exchange(id, key);
        self.send_problem(id, key, status, code, head_only);
        self.send_control(id);
    }

    /// Resets the stream of an exchange whose reply cannot be completed.
    pub fn reset_stream_of(&mut self, id: ConnectionId, slot: Slot) {
        let key = Key(self.exchanges.get(slot).stream);
        self.reset_stream(id, key, ErrorCode::InternalError, abort::ERROR);
    }

    /// Is called when the producer of a reply has given all of it. Frees the exchange. The stream stays until the
    /// client has the reply. The rest of the request is discarded, and its time limits stop.
    fn finish_exchange(&mut self, id: ConnectionId, key: Key) {
        let Some((_, http2, server)) = self.connections.http2_with_server(&mut self.servers, id)
        else {
            return;
        };
        let stream = http2.stream(key);
        let uploads = !matches!(stream.upload, Upload::Whole);
        let slot = std::mem::replace(&mut stream.slot, Slot::NONE);
        if slot != Slot::NONE {
            server.stats.in_flight -= 1;
            self.exchanges.release(slot);
        }
        if uploads {
            self.drop_upload(id, key);
        }
    }
}
