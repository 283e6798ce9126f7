//! Ends connections of any protocol: lingering close, reset, and the aftermath of a caught panic.

use crate::connection::{Connection, ConnectionId};
use crate::engine::Core;
use crate::protocol::Protocol;
use crate::server::{Limits, Phase};
use crate::slice::abort;

impl Core {
    pub fn limits(&self, id: ConnectionId) -> Option<&Limits> {
        let connection = self.connections.get(id)?;
        self.servers
            .get(connection.server)
            .map(|server| &server.config.limits)
    }

    pub fn drain_limit(&self, id: ConnectionId) -> u64 {
        self.limits(id).map_or(0, |limits| limits.drain_limit)
    }

    /// Closes at once when the client can have sent nothing more. Otherwise it closes our side and reads on for a
    /// while, because closing with unread input resets the connection and destroys the reply (RFC 9112 §9.6).
    pub fn close_or_linger(&mut self, id: ConnectionId) {
        let now = self.clock.now();
        let Some((connection, server)) = self.connections.with_server(&mut self.servers, id) else {
            return;
        };
        let timeout = server.config.limits.drain_timeout;
        if connection.life.is_lingering() {
            return;
        }
        // A stream ends by a frame, whatever its client sends.
        if !connection.life.must_linger() || connection.transport.place().is_some() {
            self.remove(id, abort::CLIENT);
            return;
        }
        connection.transport.shutdown_write();
        connection.life.linger();
        connection.input = Vec::new();
        connection.deadline = now + timeout;
        self.throttle(id);
    }

    /// Closes with a reset, so that the client does not take a part of a reply for the whole.
    pub fn reset_connection(&mut self, id: ConnectionId, reason: i32) {
        if let Some(connection) = self.detach(id, reason) {
            if let Some(place) = connection.transport.place() {
                self.end_socket_stream(place, false);
            }
            connection.transport.reset();
        }
    }

    /// Closes, and aborts the exchanges still in flight.
    pub fn remove(&mut self, id: ConnectionId, reason: i32) {
        let is_whole = self.is_whole(id);
        let Some(mut connection) = self.detach(id, reason) else {
            return;
        };
        if let Some(place) = connection.transport.place() {
            self.end_socket_stream(place, is_whole);
        } else if is_whole {
            connection.transport.say_goodbye();
        }
    }

    /// Returns true when everything that was begun has been sent to the client.
    fn is_whole(&self, id: ConnectionId) -> bool {
        let connection = self.connections.get(id);
        connection.is_some_and(|connection| connection.output.is_empty())
            && !matches!(self.connections.protocol(id), Some(Protocol::Http1(http1)) if http1.is_mid_reply())
    }

    /// Takes a connection out of everything that knows it. The exchanges go first, since their notices must come before
    /// `closed`, and before any request that gets their slots.
    fn detach(&mut self, id: ConnectionId, reason: i32) -> Option<Connection> {
        self.release(id, reason);
        self.uncount_handshake(id);
        let mut connection = self.connections.remove(id)?;
        self.sender.forget(id, &connection);
        let server_id = connection.server;
        let fd = connection.transport.fd();
        if let Some(fd) = fd {
            self.polling.remove(fd);
        }
        if let Some(server) = self.servers.get_mut(server_id) {
            connection.output.uncount(&mut server.waiting);
            // A stream is counted with its connection.
            if fd.is_none() {
                return Some(connection);
            }
            server.release_address(&connection.peer);
            server.stats.connections -= 1;
            if server.phase != Phase::Open && server.stats.connections == 0 {
                self.notify_closed(server_id);
            }
        }
        Some(connection)
    }

    /// Closes a connection after a caught panic. `lost`: a part of a reply was lost.
    pub fn after_panic(&mut self, id: ConnectionId, lost: bool) {
        let Some((_, server)) = self.connections.with_server(&mut self.servers, id) else {
            return;
        };
        server.stats.panics += 1;
        self.sender.rewind(id);
        self.recover(id, lost);
    }
}
