//! A protocol for tests of what all protocols share: the bytes that a client sends come back to it. It knows no
//! exchanges and never enters JavaScript. It is compiled only with the `faults` feature.

use ring::Memory;
use ring::layout::HIGH_WATER_BYTES;

use crate::connection::{Connection, ConnectionId, NEVER};
use crate::engine::{Core, Engine};
use crate::faults::{self, Stage};
use crate::protocol::{Protocol, Stop};

/// What a tunnel knows of its connection.
#[derive(Default)]
pub struct Tunnel {
    /// Nothing more comes back: the connection closes once its output is sent.
    closed: bool,
}

impl Engine {
    /// Makes a tunnel of each connection that `server` accepts from now on.
    pub fn echo(&mut self, server: u16) {
        if let Some(server) = self.core.servers.get_mut(server) {
            server.echoes = true;
        }
    }
}

impl Tunnel {
    pub fn is_idle(&self) -> bool {
        !self.closed
    }
}

impl Core {
    fn tunnel(&mut self, id: ConnectionId) -> Option<(&mut Connection, &mut Tunnel)> {
        match self.connections.open(id)? {
            (connection, Protocol::Tunnel(tunnel)) => Some((connection, tunnel)),
            _ => None,
        }
    }

    /// Puts received bytes behind the output, unless much of that waits for the client to read.
    pub fn take_echoed(
        &mut self,
        memory: &mut Memory,
        id: ConnectionId,
        start: usize,
        end: usize,
    ) -> (usize, Stop) {
        faults::check(Stage::Parse);
        let bytes = &memory.page(self.slice.page()).arena[start..end];
        let Some((connection, tunnel)) = self.tunnel(id) else {
            return (end, Stop::Closed);
        };
        if tunnel.closed {
            return (end, Stop::Closed);
        }
        if connection.unsent() > HIGH_WATER_BYTES {
            return (start, Stop::Blocked);
        }
        faults::check(Stage::Encode);
        connection.push(bytes);
        // Until the client has read it, `sendTimeout` applies.
        connection.deadline = NEVER;
        self.send_later(id);
        (end, Stop::Done)
    }

    /// Is called when everything came back that the client sent.
    pub fn await_bytes(&mut self, id: ConnectionId) {
        let now = self.clock.now();
        let Some((connection, server)) = self.connections.with_server(&mut self.servers, id) else {
            return;
        };
        connection.deadline = now + server.config.limits.keep_alive_timeout;
    }

    /// Takes nothing more, and closes the connection once its output is sent.
    pub fn close_tunnel(&mut self, id: ConnectionId) {
        let Some((connection, tunnel)) = self.tunnel(id) else {
            return;
        };
        tunnel.closed = true;
        connection.input = Vec::new();
        connection.life.expect_more();
        connection.life.close();
        if connection.unsent() == 0 {
            self.close_or_linger(id);
        }
    }

    pub fn can_echo(&self, id: ConnectionId) -> bool {
        let connection = self.connections.get(id);
        connection.is_some_and(|connection| !connection.input.is_empty())
    }
}
