//! How a WebSocket ends: the closing handshake (RFC 6455 §7), limits of time, faults, and a connection that is lost.

use ring::Record;
use ws::Opcode;

use super::Phase;
use crate::connection::{ConnectionId, NEVER};
use crate::engine::Core;
use crate::slice::{Notice, abort};

/// When half of an idle timeout has passed; 0 means that there is none.
pub fn half(now: u64, timeout: u64) -> u64 {
    if timeout == 0 {
        NEVER
    } else {
        now + timeout / 2
    }
}

impl Core {
    /// Sends what a `close` record has: a code and a reason, or neither.
    pub fn close_by_record(&mut self, id: ConnectionId, record: &Record, out: &[u8]) {
        let body = record.body(out).unwrap_or_default();
        match body.split_first_chunk::<2>() {
            Some((code, reason)) => self.close_socket(id, u16::from_be_bytes(*code), reason),
            None => self.close_socket(id, super::NO_STATUS, b""),
        }
    }

    /// Starts the closing handshake, unless it has begun.
    pub fn close_socket(&mut self, id: ConnectionId, code: u16, reason: &[u8]) {
        self.deliver_published();
        let now = self.clock.now();
        let Some((connection, socket, _, spec)) =
            self.connections.socket_with_server(&mut self.servers, id)
        else {
            return;
        };
        if !socket.is_open() {
            return;
        }
        socket.phase = Phase::CloseSent {
            code,
            reason: reason.into(),
        };
        connection.deadline = now + spec.close_timeout;
        self.push_close(id, code, reason);
        // Input that waited for output to be sent holds the client's close frame, perhaps.
        if let Some(connection) = self.connections.get_mut(id)
            && std::mem::take(&mut connection.parse_blocked)
        {
            self.queue(id);
        }
    }

    /// Of a reason that is no UTF-8 or too long for the frame, the beginning is sent.
    fn push_close(&mut self, id: ConnectionId, code: u16, reason: &[u8]) {
        let mut chunks = reason.utf8_chunks();
        let reason = chunks.next().map_or("", |chunk| chunk.valid());
        self.push_frame(id, Opcode::Close, &ws::close_payload(code, reason));
    }

    /// Is called for the client's close frame: answers it with the same code and reason, unless it is the answer to ours.
    pub fn answer_close(&mut self, id: ConnectionId, code: u16, reason: &[u8]) {
        self.deliver_published();
        self.finish_closing(id, code, reason);
    }

    /// Sends a close frame and waits for none: the client broke the protocol or a limit.
    pub fn end_with(&mut self, id: ConnectionId, code: u16, reason: &[u8]) {
        let Some((connection, _)) = self.connections.socket(id) else {
            return;
        };
        connection.life.expect_more();
        self.finish_closing(id, code, reason);
    }

    /// Sends a close frame, unless one was sent before, and ends the socket.
    fn finish_closing(&mut self, id: ConnectionId, code: u16, reason: &[u8]) {
        let Some((_, socket)) = self.connections.socket(id) else {
            return;
        };
        if socket.is_open() {
            self.push_close(id, code, reason);
        }
        self.end_socket(id, code, reason);
        self.close_when_sent(id);
    }

    /// Resets the connection. JavaScript is told.
    pub fn terminate(&mut self, id: ConnectionId) {
        self.deliver_published();
        self.reset_connection(id, abort::ERROR);
    }

    /// Tells JavaScript that the socket is closed, and gives back what it held. Where we had begun to close it, our code and
    /// reason count. The connection stays until its output is sent.
    fn end_socket(&mut self, id: ConnectionId, code: u16, reason: &[u8]) {
        let now = self.clock.now();
        let Some((connection, socket, server, spec)) =
            self.connections.socket_with_server(&mut self.servers, id)
        else {
            return;
        };
        let ours;
        let (code, reason) = match std::mem::replace(&mut socket.phase, Phase::Closed) {
            Phase::Open => (code, reason),
            Phase::CloseSent { code, reason } => {
                ours = reason;
                (code, &*ours)
            }
            Phase::Closed => return,
        };
        socket.receiver = ws::Receiver::default();
        server.buffered -= std::mem::take(&mut socket.counted);
        server.stats.sockets -= 1;
        let slot = socket.slot;
        connection.input = Vec::new();
        connection.life.close();
        connection.deadline = now + spec.close_timeout;
        self.unsubscribe_all(id);
        let about = self.exchanges.identity(slot);
        self.slice
            .notify(None, Notice::closed_socket(about, code, reason));
        self.exchanges.release(slot);
    }

    fn close_when_sent(&mut self, id: ConnectionId) {
        let Some(connection) = self.connections.get(id) else {
            return;
        };
        if connection.life.is_closing() && connection.unsent() == 0 && !self.sender.gathers_for(id)
        {
            self.close_or_linger(id);
        }
    }

    /// Is called when the client closed its sending side, so that nothing more comes. Gives true if that ended the socket.
    pub fn lose_socket(&mut self, id: ConnectionId) -> bool {
        let Some((connection, socket)) = self.connections.socket(id) else {
            return false;
        };
        // Messages that came before the end are still delivered.
        if connection.queued || connection.parse_blocked || !socket.is_busy() {
            return false;
        }
        self.remove(id, abort::CLIENT);
        true
    }

    /// Tells the socket that it may send more, if it asked.
    pub fn tell_socket_drained(&mut self, id: ConnectionId) {
        let Some((_, socket)) = self.connections.socket(id) else {
            return;
        };
        let slot = socket.slot;
        if socket.is_busy() && std::mem::take(&mut self.exchanges.get_mut(slot).want_drain) {
            self.slice.let_go_on(self.exchanges.identity(slot));
        }
    }

    /// Is called when the deadline of a socket has passed.
    pub fn time_out_socket(&mut self, id: ConnectionId) {
        let now = self.clock.now();
        let Some((connection, socket, _, spec)) =
            self.connections.socket_with_server(&mut self.servers, id)
        else {
            return;
        };
        if socket.phase != Phase::Open {
            self.reset_connection(id, abort::CLIENT);
            return;
        }
        let silent = now - socket.heard;
        if silent >= spec.idle_timeout {
            self.reset_connection(id, abort::CLIENT);
        } else if silent < spec.idle_timeout / 2 {
            connection.deadline = half(socket.heard, spec.idle_timeout);
        } else {
            connection.deadline = socket.heard + spec.idle_timeout;
            if !std::mem::replace(&mut socket.pinged, true) {
                self.push_frame(id, Opcode::Ping, b"");
            }
        }
    }

    /// Ends the socket of a connection that is gone.
    pub fn release_socket(&mut self, id: ConnectionId) {
        self.end_socket(id, super::ABNORMAL, b"");
    }

    /// Closes the sockets of a server that is closing.
    pub fn close_sockets(&mut self, server: u16) {
        for id in self.connections_of(server) {
            self.guarded(id, |core| {
                core.close_socket(id, super::GOING_AWAY, super::CLOSING);
            });
        }
    }
}
