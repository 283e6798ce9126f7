//! WebSockets on streams (RFC 8441). A stream that is accepted becomes an entry of its own in the table of connections,
//! and its transport is the stream. Bytes of the client are passed to the entry, and the output of the entry is pumped
//! into the stream.

use h2::{ErrorCode, Key, frame};
use ring::{Memory, Record};
use ws::Deflate;

use crate::connection::{Connection, ConnectionId, NEVER};
use crate::engine::Core;
use crate::exchange::{Slot, State};
use crate::faults::{self, Stage};
use crate::http1::Http1;
use crate::protocol::Protocol;
use crate::slice::abort;
use crate::transport::{Place, Transport};

use super::bodies::Upload;
use super::pumping::{Pumped, write_data};
use super::reply_head::write_acceptance;

impl Core {
    /// Notes that the request of a stream asks for a WebSocket. The bytes behind the head belong to the WebSocket.
    pub fn await_upgrade(&mut self, id: ConnectionId, key: Key, socket: u16, goes_on: bool) {
        if let Some((_, http2)) = self.connections.http2(id) {
            let stream = http2.stream(key);
            stream.upgrade = Some(socket);
            stream.upload = Upload::Early {
                kept: Vec::new(),
                ended: !goes_on,
            };
        }
    }

    /// Sends 200 and makes a WebSocket of the stream (RFC 8441 §5). JavaScript treats the socket as open already, so it
    /// is told if that fails.
    pub fn upgrade_stream(
        &mut self,
        id: ConnectionId,
        key: Key,
        slot: Slot,
        record: &Record,
        out: &[u8],
    ) {
        if self.exchanges.get(slot).state != State::Waiting {
            return;
        }
        faults::check(Stage::Encode);
        let mut block = std::mem::take(&mut self.shared.block);
        let accepted = self.accept_socket(id, key, record, out, &mut block);
        if accepted.is_some() {
            self.send_head(id, key, &block, false);
        }
        self.shared.block = block;
        match accepted {
            Some((spec, deflate)) => self.open_socket_on(id, key, slot, spec, deflate),
            None => self.fail_upgrade(slot),
        }
    }

    /// Writes the block of the reply. Gives the index of the settings of the socket and what was negotiated, or `None`
    /// if the route has no WebSockets or a field is malformed. There is no key, unlike in HTTP/1 (RFC 8441 §5.1).
    fn accept_socket(
        &mut self,
        id: ConnectionId,
        key: Key,
        record: &Record,
        out: &[u8],
        block: &mut Vec<u8>,
    ) -> Option<(u16, Option<Deflate>)> {
        let (_, http2, server) = self.connections.http2_with_server(&mut self.servers, id)?;
        let index = http2.stream(key).upgrade?;
        let spec = server.config.sockets.get(usize::from(index))?;
        let offers = std::str::from_utf8(record.body(out)?).unwrap_or_default();
        let negotiates = spec.compress_from.is_some();
        let deflate = negotiates.then(|| ws::negotiate(offers)).flatten();
        let answer = deflate.map(|deflate| deflate.answer);
        write_acceptance(block, answer, record.headers(out)?).ok()?;
        Some((index, deflate))
    }

    fn open_socket_on(
        &mut self,
        parent: ConnectionId,
        key: Key,
        slot: Slot,
        spec: u16,
        deflate: Option<Deflate>,
    ) {
        let now = self.clock.now();
        let Some((connection, http2, server)) = self
            .connections
            .http2_with_server(&mut self.servers, parent)
        else {
            return;
        };
        let stream = http2.stream(key);
        let mut ended = connection.life.has_ended();
        let mut input = Vec::new();
        server.buffered -= stream.upload.kept();
        if let Upload::Early { kept, ended: all } =
            std::mem::replace(&mut stream.upload, Upload::Whole)
        {
            ended |= all;
            input = kept;
        }
        stream.slot = Slot::NONE;
        stream.held = input.len();
        let has_input = !input.is_empty();
        let transport = Transport::Stream(Place { parent, key });
        let mut child = Connection::new(transport, connection.peer, connection.server, now, NEVER);
        child.input = input;
        let protocol = Protocol::Http1(Http1::default());
        let id = self.connections.insert(child, protocol);
        if let Some((_, http2)) = self.connections.http2(parent) {
            http2.stream(key).socket = id;
        }
        self.exchanges.get_mut(slot).connection = id;
        self.open_socket(id, slot, spec, deflate);
        if has_input {
            self.queue(id);
        }
        if ended {
            self.half_close(id, true);
        }
    }

    /// Takes bytes that the client sent on the stream of a socket, at `start` in the arena.
    pub fn take_socket_data(
        &mut self,
        memory: &mut Memory,
        id: ConnectionId,
        key: Key,
        (start, length): (usize, usize),
        last: bool,
    ) {
        let Some((_, http2)) = self.connections.http2(id) else {
            return;
        };
        let stream = http2.stream(key);
        stream.held += length;
        let socket = stream.socket;
        if length > 0 {
            self.guarded(socket, |core| {
                core.take_carried(memory, socket, start, start + length);
            });
            self.give_window_back(socket);
        }
        if last && self.is_socket_of(Place { parent: id, key }, socket) {
            self.half_close(socket, true);
        }
    }

    fn is_socket_of(&self, place: Place, socket: ConnectionId) -> bool {
        let connection = self.connections.get(socket);
        connection.and_then(|connection| connection.transport.place()) == Some(place)
    }

    /// Lets the client of a socket on a stream send as many bytes as were consumed.
    #[inline]
    pub fn give_window_back(&mut self, id: ConnectionId) {
        let Some(connection) = self.connections.get(id) else {
            return;
        };
        let left = connection.input.len();
        if let Some(Place { parent, key }) = connection.transport.place()
            && let Some((_, http2)) = self.connections.http2(parent)
        {
            let stream = http2.stream(key);
            let held = std::mem::replace(&mut stream.held, left);
            http2
                .session
                .consumed(key, held.saturating_sub(left) as u32);
            self.send_control(parent);
        }
    }

    /// Moves output of the socket to the connection of its stream. Gives the number of bytes.
    pub fn flush_to_stream(&mut self, id: ConnectionId, place: Place) -> usize {
        let unsent = |core: &Self| core.connections.get(id).map_or(0, Connection::unsent);
        let before = unsent(self);
        if let Some((_, http2)) = self.connections.http2(place.parent) {
            http2.session.wants_to_send(place.key, true);
        }
        self.pump_later(place.parent);
        let left = unsent(self);
        if left > 0 && self.is_socket_of(place, id) {
            self.await_socket(id);
        }
        before.saturating_sub(left)
    }

    /// Writes frames of the output of a socket.
    pub fn pump_socket(
        &mut self,
        id: ConnectionId,
        key: Key,
        socket: ConnectionId,
        room: usize,
        (frames, gathers): (&mut Vec<u8>, bool),
    ) -> Pumped {
        let Some(connection) = self.connections.get_mut(socket) else {
            return Pumped::Lost(key);
        };
        let mut output = std::mem::take(&mut connection.output);
        let mut sent = 0;
        if let Some((_, http2)) = self.connections.http2(id) {
            let bytes = if gathers {
                self.sender.gathered()
            } else {
                frames
            };
            let piece = output.first().unwrap_or_default();
            sent = write_data(&mut http2.session, key, piece, false, room, bytes);
            output.advance(sent);
            http2.session.wants_to_send(key, !output.is_empty());
        }
        let waits = !output.is_empty();
        if let Some(connection) = self.connections.get_mut(socket) {
            connection.output = output;
        }
        match sent {
            0 if waits => Pumped::Nothing,
            0 => Pumped::Part,
            sent => Pumped::Socket(socket, sent),
        }
    }

    /// Ends the stream of a socket that is gone. `whole`: the client has all of its output.
    pub fn end_socket_stream(&mut self, place: Place, whole: bool) {
        let Place { parent, key } = place;
        let Some((_, http2)) = self.connections.http2(parent) else {
            return;
        };
        let stream = http2.stream(key);
        // The stream has no socket any more if the stream itself ended first.
        if std::mem::replace(&mut stream.socket, ConnectionId::NONE) == ConnectionId::NONE {
            return;
        }
        if whole {
            let mut bytes = Vec::new();
            frame::data_head(&mut bytes, http2.session.id(key), 0, true);
            if self.sender.gathers_for(parent) {
                self.sender.gathered().extend_from_slice(&bytes);
            } else if let Some(connection) = self.connections.get_mut(parent) {
                connection.push(&bytes);
                self.send_later(parent);
            }
            self.reply_sent(parent, key);
        } else {
            self.reset_stream(parent, key, ErrorCode::Cancel, abort::CLIENT);
        }
        self.send_control(parent);
    }
}
