//! Sends replies as far as the windows of the client and the output of the connection have room. The rest waits in its
//! stream, and is sent later in the order of RFC 9218.

use std::rc::Rc;

use h2::{ErrorCode, Key, Session, frame};
use ring::layout::{HIGH_WATER_BYTES, REFERENCE_BYTES};

use crate::connection::{ConnectionId, NEVER};
use crate::engine::Core;
use crate::output::{Bodies, Body};
use crate::slice::abort;

use super::End;

impl Core {
    /// Sends the head of a reply, which needs no window. `end`: the head is the whole reply.
    pub fn send_head(&mut self, id: ConnectionId, key: Key, block: &[u8], end: bool) {
        self.cork_for(id);
        let Some((_, http2)) = self.connections.http2(id) else {
            return;
        };
        let session = &mut http2.session;
        let (stream, longest) = (session.id(key), frame::MAX_PAYLOAD);
        debug_assert!(stream != 0, "the stream is open");
        frame::headers(self.sender.gathered(), stream, block, end, longest);
        if end {
            self.reply_sent(id, key);
        }
    }

    /// Sends a part of a body, and the end of the reply.
    pub fn send_data(
        &mut self,
        id: ConnectionId,
        key: Key,
        data: &[u8],
        end: End,
        keep: impl FnOnce(&Bodies) -> Option<Rc<Body>>,
    ) {
        let now = self.clock.now();
        self.cork_for(id);
        let Some((connection, http2, server)) =
            self.connections.http2_with_server(&mut self.servers, id)
        else {
            return;
        };
        let bytes = self.sender.gathered();
        let room = HIGH_WATER_BYTES.saturating_sub(connection.unsent() + bytes.len());
        let Some(stream) = http2.streams.get_mut(usize::from(key.0)) else {
            return;
        };
        if !stream.waiting.is_empty() {
            stream.waiting.end().extend_from_slice(data);
            stream.end = end;
            stream.waiting.count(&mut server.waiting);
            self.bound_stream(id, key);
            return;
        }
        let ends = matches!(end, End::Whole);
        let sent = write_data(&mut http2.session, key, data, ends, room, bytes);
        if sent == data.len() {
            let ended = write_end(&http2.session, key, &end, sent > 0, bytes);
            if ended {
                self.reply_sent(id, key);
            }
            if self.sender.is_full() {
                self.flush_cork();
            }
            return;
        }
        let kept = (data.len() - sent >= REFERENCE_BYTES)
            .then(|| keep(&server.bodies))
            .flatten();
        match kept {
            Some(kept) => stream.waiting.keep(kept, sent),
            None => stream.waiting.end().extend_from_slice(&data[sent..]),
        }
        stream.waiting.count(&mut server.waiting);
        stream.end = end;
        stream.send_until = now.saturating_add(server.config.limits.send_timeout);
        connection.deadline = connection.deadline.min(stream.send_until);
        http2.session.wants_to_send(key, true);
        self.bound_stream(id, key);
    }

    /// Checks `maxBufferedReplies` after the reply of a stream has grown. Above the limit the client with the most
    /// unsent bytes is cut off first.
    fn bound_stream(&mut self, id: ConnectionId, key: Key) {
        let Some((_, _, server)) = self.connections.http2_with_server(&mut self.servers, id) else {
            return;
        };
        if server.holds_too_much() {
            self.make_room(id, Some(key));
        }
    }

    /// Writes what the windows allow now. It is sent at the end of the step.
    pub fn pump_later(&mut self, id: ConnectionId) {
        if self.pump(id) {
            self.send_later(id);
        }
        self.send_control(id);
    }

    /// Is called when all output of the connection was sent. Continues with the waiting bytes, and signals the
    /// producers of replies of which nothing waits.
    pub fn tell_streams(&mut self, id: ConnectionId) {
        if self.pump(id) {
            self.bound_waiting(id);
            self.await_socket(id);
        }
        self.send_control(id);
        let Some((connection, http2)) = self.connections.http2(id) else {
            return;
        };
        let has_ended = connection.life.has_ended();
        if std::mem::take(&mut http2.producers_wait) {
            for stream in http2.streams.iter().filter(|stream| stream.has_exchange()) {
                let exchange = self.exchanges.get_mut(stream.slot);
                if !stream.waiting.is_empty() {
                    http2.producers_wait |= exchange.want_drain;
                } else if std::mem::take(&mut exchange.want_drain) {
                    self.slice.let_go_on(self.exchanges.identity(stream.slot));
                }
            }
        }
        if has_ended {
            self.finish_half_closed(id);
        }
    }

    /// Writes frames of waiting bytes until the output of the connection is full. Returns true when the output grew.
    fn pump(&mut self, id: ConnectionId) -> bool {
        let mut frames = std::mem::take(&mut self.shared.frames);
        let mut sockets: Vec<(ConnectionId, usize)> = Vec::new();
        let mut ended: Vec<Key> = Vec::new();
        let mut missing: Vec<Key> = Vec::new();
        // Gathered bytes go before those of the pump.
        let gathers = self.sender.gathers_for(id);
        loop {
            let bytes = if gathers {
                self.sender.gathered()
            } else {
                &mut frames
            };
            let Some((connection, _)) = self.connections.http2(id) else {
                break;
            };
            let written = connection.unsent() + bytes.len();
            if written >= HIGH_WATER_BYTES {
                break;
            }
            match self.pump_one(id, HIGH_WATER_BYTES - written, &mut frames, gathers) {
                Pumped::Nothing => break,
                Pumped::Part => {}
                Pumped::Socket(socket, sent) => match sockets.last_mut() {
                    Some((last, sum)) if *last == socket => *sum += sent,
                    _ => sockets.push((socket, sent)),
                },
                Pumped::End(key) => ended.push(key),
                Pumped::Lost(key) => {
                    if let Some((_, http2)) = self.connections.http2(id) {
                        http2.session.wants_to_send(key, false);
                    }
                    missing.push(key);
                }
            }
        }
        let grew = !frames.is_empty();
        if let Some(connection) = self.connections.get_mut(id).filter(|_| grew) {
            connection.push(&frames);
        }
        frames.clear();
        self.shared.frames = frames;
        // The streams end after their frames are in the output, because a leaving connection closes with its last
        // stream.
        for key in ended {
            self.reply_sent(id, key);
        }
        for key in missing {
            self.reset_stream(id, key, ErrorCode::InternalError, abort::ERROR);
        }
        for (socket, sent) in sockets {
            self.after_taken(socket, sent);
        }
        grew
    }

    /// Writes one frame of the next stream in the order.
    fn pump_one(
        &mut self,
        id: ConnectionId,
        room: usize,
        frames: &mut Vec<u8>,
        gathers: bool,
    ) -> Pumped {
        let now = self.clock.now();
        let Some((_, http2, server)) = self.connections.http2_with_server(&mut self.servers, id)
        else {
            return Pumped::Nothing;
        };
        let Some(key) = http2.session.next_to_send() else {
            return Pumped::Nothing;
        };
        let Some(stream) = http2.streams.get_mut(usize::from(key.0)) else {
            return Pumped::Nothing;
        };
        if stream.socket != ConnectionId::NONE {
            let socket = stream.socket;
            return self.pump_socket(id, key, socket, room, (frames, gathers));
        }
        let bytes = if gathers {
            self.sender.gathered()
        } else {
            frames
        };
        let all = stream.waiting.unsent();
        // The body is gone if the user has transferred, shrunk or grown its memory while it was being sent.
        let Some(piece) = stream.waiting.first() else {
            return Pumped::Lost(key);
        };
        let ends = matches!(stream.end, End::Whole) && piece.len() == all;
        let session = &mut http2.session;
        let sent = write_data(session, key, piece, ends, room, bytes);
        if sent == 0 {
            return Pumped::Nothing;
        }
        stream.waiting.advance(sent);
        stream.waiting.count(&mut server.waiting);
        if sent < all {
            stream.send_until = now.saturating_add(server.config.limits.send_timeout);
            return Pumped::Part;
        }
        stream.send_until = NEVER;
        session.wants_to_send(key, false);
        if write_end(session, key, &stream.end, true, bytes) {
            Pumped::End(key)
        } else {
            Pumped::Part
        }
    }

    /// Is called when the end of a reply was written.
    pub fn reply_sent(&mut self, id: ConnectionId, key: Key) {
        if let Some((_, http2)) = self.connections.http2(id) {
            http2.session.end_sent(key);
        }
        self.end_stream(id, key, None);
    }
}

/// The result of one step of the pump.
pub enum Pumped {
    Nothing,
    Part,
    /// This many bytes of the output of a socket were written.
    Socket(ConnectionId, usize),
    /// The whole reply of this stream was written.
    End(Key),
    /// A kept body of this stream is gone.
    Lost(Key),
}

/// Writes DATA as far as the windows and `room` allow. Gives the number of bytes of `data` that were written. `ends`:
/// the stream ends with them.
pub fn write_data(
    session: &mut Session,
    key: Key,
    data: &[u8],
    ends: bool,
    room: usize,
    bytes: &mut Vec<u8>,
) -> usize {
    let most = data.len().min(room);
    let mut sent = 0;
    while sent < most {
        let length = session.reserve(key, most - sent);
        if length == 0 {
            break;
        }
        let part = &data[sent..sent + length];
        sent += length;
        frame::data_head(bytes, session.id(key), length, ends && sent == data.len());
        bytes.extend_from_slice(part);
    }
    sent
}

/// Writes the end of a reply behind its data. `marked`: the last DATA frame had `END_STREAM`. Returns true when the
/// reply is complete.
fn write_end(session: &Session, key: Key, end: &End, marked: bool, bytes: &mut Vec<u8>) -> bool {
    match end {
        End::Open => return false,
        End::Whole if marked => {}
        End::Whole => frame::data_head(bytes, session.id(key), 0, true),
        End::Trailers(block) => {
            frame::headers(bytes, session.id(key), block, true, frame::MAX_PAYLOAD);
        }
    }
    true
}
