//! The upgrade: the reply 101, after which an exchange's connection is a WebSocket (RFC 6455 §4.2.2).

use ring::Record;
use ws::Deflate;

use super::{Phase, WebSocket};
use crate::connection::ConnectionId;
use crate::engine::Core;
use crate::exchange::{Slot, State};
use crate::faults::{self, Stage};
use crate::http1::reply_head::write_switch;
use crate::http1::sink::Sink;
use crate::protocol::Protocol;
use crate::server;
use crate::slice::Notice;

impl Core {
    /// Sends 101 and makes a WebSocket of the connection. JavaScript takes the socket for open already, so it is told if
    /// that fails.
    pub fn upgrade(&mut self, slot: Slot, record: &Record, out: &[u8]) {
        if self.exchanges.get(slot).state != State::Waiting {
            return;
        }
        faults::check(Stage::Encode);
        match self.write_handshake(slot, record, out) {
            Some((spec, deflate)) => {
                let id = self.exchanges.get(slot).connection;
                self.open_socket(id, slot, spec, deflate);
            }
            None => self.fail_upgrade(slot),
        }
    }

    /// Writes 101. Gives the index of the settings of the socket and what was negotiated, or `None` if nothing was
    /// written: the route is none for WebSockets, the key is none, or a field is malformed.
    fn write_handshake(
        &mut self,
        slot: Slot,
        record: &Record,
        out: &[u8],
    ) -> Option<(u16, Option<Deflate>)> {
        let (spec, compresses) = self.socket_spec(slot)?;
        let (key, offers) = record.body(out)?.split_at_checked(ws::KEY)?;
        let accept = ws::accept_key(key)?;
        let headers = record.headers(out)?;
        let offers = std::str::from_utf8(offers).unwrap_or_default();
        let deflate = compresses.then(|| ws::negotiate(offers)).flatten();
        let answer = deflate.map(|deflate| deflate.answer);
        let Sink { bytes, .. } = self.sink(slot);
        let before = bytes.len();
        if write_switch(bytes, &accept, answer, headers).is_err() {
            bytes.truncate(before);
            return None;
        }
        Some((spec, deflate))
    }

    /// Makes a WebSocket of a connection that was accepted.
    pub fn open_socket(
        &mut self,
        id: ConnectionId,
        slot: Slot,
        spec: u16,
        deflate: Option<Deflate>,
    ) {
        let now = self.clock.now();
        let Some((connection, server)) = self.connections.with_server(&mut self.servers, id) else {
            return;
        };
        let idle = server.config.sockets[usize::from(spec)].idle_timeout;
        server.stats.in_flight -= 1;
        server.stats.sockets += 1;
        let closes = server.phase != server::Phase::Open;
        connection.deadline = super::closing::half(now, idle);
        let blocked = std::mem::take(&mut connection.parse_blocked);
        self.exchanges.become_socket(slot);
        let socket = WebSocket {
            slot,
            receiver: ws::Receiver::new(deflate.is_some()),
            phase: Phase::Open,
            spec,
            longest: deflate.map_or(0, |deflate| deflate.longest),
            told: None,
            pinged: false,
            heard: now,
            counted: 0,
            dropped: 0,
            subscriptions: Vec::new(),
        };
        if let Some((_, protocol)) = self.connections.open(id) {
            *protocol = Protocol::WebSocket(Box::new(socket));
        }
        // What came behind the request belongs to the socket.
        if blocked {
            self.queue(id);
        }
        if closes {
            self.close_socket(id, super::GOING_AWAY, super::CLOSING);
        }
        // The client may have closed its sending side before the reply.
        self.finish_half_closed(id);
    }

    /// The index of the settings of the sockets that the exchange may become, and whether their messages are compressed.
    fn socket_spec(&mut self, slot: Slot) -> Option<(u16, bool)> {
        let exchange = self.exchanges.get(slot);
        let index = self.connections.upgradable(exchange.connection, slot)?;
        let server = self.servers.get(exchange.server)?;
        let spec = server.config.sockets.get(usize::from(index))?;
        Some((index, spec.compress_from.is_some()))
    }

    /// Tells JavaScript that the socket is closed, and answers the client with 500.
    pub fn fail_upgrade(&mut self, slot: Slot) {
        let about = self.exchanges.identity(slot);
        self.slice
            .notify(None, Notice::closed_socket(about, super::ABNORMAL, b""));
        self.answer(slot, 500, "E_BAD_REPLY");
    }
}
