//! Takes frames from received bytes, and makes each stream act on them.

use h2::{Event, RequestHead, frame};
use ring::Memory;
use ring::layout::{HIGH_WATER_BYTES, RECEIVE_BYTES};

use crate::connection::ConnectionId;
use crate::engine::Core;
use crate::faults::{self, Stage};
use crate::protocol::{Protocol, Stop};
use crate::server::Server;
use crate::slice::abort;

use super::Http2;
use super::requests::Read;

/// With this much unsent output nothing is read, so that answers to frames do not accumulate. Replies are pumped only
/// up to `HIGH_WATER_BYTES`, so a long reply does not block reading.
const BACKLOG: usize = 2 * HIGH_WATER_BYTES;
const DATA: u8 = 0;
const END_STREAM: u8 = 0x1;

/// The beginning of the client's connection preface (RFC 9113 §3.4), which begins no request of HTTP/1.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\n";

/// Returns true when the first bytes of a client are the beginning of the preface of HTTP/2.
pub fn begins_preface(input: &[u8]) -> bool {
    let length = input.len().min(PREFACE.len());
    length > 0 && input[..length] == PREFACE[..length]
}

/// Gives the length, type, flags and stream of the frame at the start of `input` (RFC 9113 §4.1).
fn frame_head(input: &[u8]) -> Option<(usize, u8, u8, u32)> {
    let [a, b, c, kind, flags, stream @ ..] = input.first_chunk::<{ frame::HEAD }>()?;
    let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
    Some((length, *kind, *flags, u32::from_be_bytes(*stream)))
}

/// Returns true when `input` begins with a whole body of a stream, in one frame without padding.
pub fn is_whole_body(input: &[u8], stream: u32, most: usize) -> bool {
    frame_head(input).is_some_and(|(length, kind, flags, of)| {
        kind == DATA
            && flags == END_STREAM
            && of == stream
            && length > 0
            && length <= most
            && input.len() >= frame::HEAD + length
    })
}

impl Protocol {
    /// Makes HTTP/2 for a connection that `server` has accepted, before its first byte.
    pub fn http2(server: &Server, now: u64) -> Self {
        Self::Http2(Box::new(Http2::new(server, now)))
    }
}

impl Core {
    /// Changes a connection to HTTP/2 whose client has begun to send the preface.
    pub fn become_http2(&mut self, id: ConnectionId) {
        let now = self.clock.now();
        let Some((connection, protocol)) = self.connections.open(id) else {
            return;
        };
        if let Some(server) = self.servers.get(connection.server) {
            *protocol = Protocol::http2(server, now);
        }
    }

    /// Consumes `arena[start..end]` as far as possible. Gives the offset behind the last consumed byte.
    #[inline(never)]
    pub fn take_frames(
        &mut self,
        memory: &mut Memory,
        id: ConnectionId,
        start: usize,
        end: usize,
    ) -> (usize, Stop) {
        faults::check(Stage::Parse);
        self.leave_in_time(id);
        // SETTINGS must be the first frame that the server sends (RFC 9113 §3.4).
        self.send_control(id);
        let was_mid_block = self
            .connections
            .http2(id)
            .is_some_and(|(_, http2)| http2.session.is_mid_block());
        let mut at = start;
        let stop = loop {
            match self.take_next(memory, id, at, end) {
                Ok(next) => at = next,
                Err((next, stop)) => {
                    at = next;
                    break stop;
                }
            }
        };
        self.await_frames(id, stop == Stop::Partial, at > start && !was_mid_block);
        self.send_control(id);
        (at, stop)
    }

    /// Returns true when there is work for the kept bytes.
    pub fn can_take_frames(&mut self, id: ConnectionId) -> bool {
        let Some((connection, http2)) = self.connections.http2(id) else {
            return false;
        };
        // The slice may have become full between the frames that were read and the streams that they made ready.
        if !http2.ready.is_empty() || http2.session.is_sendable() {
            return true;
        }
        if http2.session.is_mid_body() {
            return !connection.input.is_empty();
        }
        // The first frame must be complete, except DATA, which is taken as it arrives.
        frame_head(&connection.input).is_some_and(|(length, kind, _, _)| {
            kind == DATA || length > RECEIVE_BYTES || connection.input.len() >= frame::HEAD + length
        })
    }

    fn take_next(
        &mut self,
        memory: &mut Memory,
        id: ConnectionId,
        at: usize,
        end: usize,
    ) -> Result<usize, (usize, Stop)> {
        let now = self.clock.now();
        let Some((connection, http2, server)) =
            self.connections.http2_with_server(&mut self.servers, id)
        else {
            return Err((end, Stop::Closed));
        };
        if http2.failed {
            connection.life.expect_more();
            return Err((end, Stop::Closed));
        }
        if connection.unsent() > BACKLOG {
            return Err((at, Stop::Blocked));
        }
        if !self.slice.takes_request() {
            return Err((at, Stop::PageFull));
        }
        if let Some(key) = http2.ready.pop() {
            return match self.go_on(memory, id, key) {
                Ok(()) => Ok(at),
                Err(stop) => Err((at, stop)),
            };
        }
        let limits = &server.config.limits.wire;
        // The text of a head can be longer than its frame, because the frame may refer to the client's dynamic table.
        let room = self.slice.takes(limits.max_header_size as usize)
            && self
                .slice
                .has_spans_for(limits.max_headers.into(), route::MAX_PARAMS);
        let mut head = self.shared.head.take().unwrap_or_default();
        let input = &memory.page(self.slice.page()).arena[at..end];
        let (used, event) = http2.session.read(input, room, &mut head, now);
        let step = self.take_event(memory, id, event, &head, (at, at + used, end));
        self.shared.head = Some(head);
        step
    }

    /// Handles the event of the bytes from `at` to `next`.
    fn take_event(
        &mut self,
        memory: &mut Memory,
        id: ConnectionId,
        event: Event,
        head: &RequestHead,
        (at, next, end): (usize, usize, usize),
    ) -> Result<usize, (usize, Stop)> {
        match event {
            Event::More if next == end => return Err((end, Stop::Done)),
            Event::More if next == at => return Err((at, Stop::Partial)),
            Event::More => {}
            Event::NoRoom => return Err((next, Stop::PageFull)),
            Event::Head {
                key,
                end: whole,
                declared,
            } => {
                let read = Read {
                    request: head,
                    has_body: !whole,
                    declared,
                    next,
                    end,
                };
                let (used, event) = self.take_stream(memory, id, key, &read);
                return match event {
                    Some(event) => {
                        self.take_event(memory, id, event, head, (next, next + used, end))
                    }
                    None => Ok(next + used),
                };
            }
            Event::Data {
                key,
                start,
                length,
                end: whole,
            } => self.take_body(memory, id, key, (at + start, length), whole),
            Event::Trailers { key } => self.take_trailers(id, key, head),
            Event::Refused {
                key,
                status,
                code,
                head_only,
            } => {
                self.open_stream(id, key);
                self.refuse_stream(id, key, status, code, head_only);
            }
            Event::Gone { key } => self.lose_stream(memory, id, key),
            Event::Sendable => {
                // The acknowledgement of SETTINGS is sent before the DATA that they allow (RFC 9113 §6.5.3).
                self.send_control(id);
                self.pump_later(id);
            }
            Event::Drained => self.leave(id),
            Event::Failed(_) => {
                self.abandon(id, abort::CLIENT);
                return Err((end, Stop::Closed));
            }
        }
        Ok(next)
    }

    /// Puts the frames that answer frames behind the gathered replies.
    pub fn send_control(&mut self, id: ConnectionId) {
        let Some((_, http2)) = self.connections.http2(id) else {
            return;
        };
        if http2.session.out().is_empty() {
            return;
        }
        self.cork_for(id);
        if let Some((_, http2)) = self.connections.http2(id) {
            self.sender.gathered().append(http2.session.out());
        }
    }
}
