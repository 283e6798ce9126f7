//! One connection, and the table of all connections. An idle connection owns no buffer: it owns this struct alone (see
//! the size test below), and everything else lives in the slice's arena.

use reactor::Interest;
use reactor::net::Peer;

use crate::exchange::Slot;
use crate::http1::request_body::{Buffering, Discard, Streaming};
use crate::output::Output;
use crate::server::{Server, Servers};
use crate::transport::Transport;

/// The index of a connection in the table. It names the next connection there once this one is closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConnectionId(pub u32);

impl ConnectionId {
    pub const NONE: Self = Self(u32::MAX);
}

/// Stands for no deadline.
pub const NEVER: u64 = u64::MAX;

/// What the next bytes from the client are.
pub enum Inbound {
    /// A request head.
    Head,
    /// The body of a request that is dispatched once it is whole.
    Buffering(Box<Buffering>),
    /// The body of a request that was dispatched with a stream.
    Streaming(Box<Streaming>),
    /// The rest of a body that nobody reads. It is thrown away, up to the drain limit.
    Discard(Discard),
    /// Nothing more is read as a request: the connection closes once its replies are out.
    Closed,
}

/// A last reply, which the engine itself gives once all earlier exchanges are answered.
#[derive(Clone, Copy)]
pub struct Refused {
    pub status: u16,
    pub code: &'static str,
    /// The request was HEAD, so the reply has no content (RFC 9110 §9.3.2).
    pub head_only: bool,
}

/// # Invariants
/// These hold between two steps of the engine (a call of `Core::guarded`):
/// - `exclusive` and `mid_reply` are set only while an exchange is in flight or the connection is about to close.
/// - `parse_blocked` is set only while a reply is awaited or output is unsent: the end of either queues the connection.
/// - `queued` and `sending` are each set exactly while the token is on their list, `Core::ready` or `Core::writable`.
/// - `ended` implies `half_closed`.
/// - `close_after` implies that no other request is parsed: `inbound` is `Closed`.
/// - `lingering` implies `close_after`, not `ended`, no exchange, no `input` and no output.
/// - `client_may_send` is read once, when the connection closes: it decides between closing at once and lingering.
/// - `fresh` is cleared by the first request and never set again; `last_request` is decided anew by each request.
pub struct Connection {
    pub transport: Transport,
    pub peer: Peer,
    pub server: u16,
    pub interest: Interest,
    /// The oldest and the newest exchange whose replies are not complete on the wire.
    pub first: Slot,
    pub last: Slot,
    pub in_flight: u16,
    /// The only exchange in flight is unsafe or has a body, so nothing behind it may start (RFC 9112 §9.3.2).
    pub exclusive: bool,
    /// Parsing waits for a reply. When one completes, the connection must be put on the ready list.
    pub parse_blocked: bool,
    /// The connection is on the ready list.
    pub queued: bool,
    /// The connection is on the list of those whose sockets take bytes again.
    pub sending: bool,
    /// The client closed its sending side. Replies are still sent.
    pub half_closed: bool,
    /// The client closed its sending side, and all it sent before was received.
    pub ended: bool,
    /// Close once the output is sent.
    pub close_after: bool,
    /// The client may have sent more than was received, so closing has to linger.
    pub client_may_send: bool,
    /// Our sending side is closed. What arrives is thrown away until the client closes, too.
    pub lingering: bool,
    /// The head of the oldest exchange's streamed reply was sent, but not its end.
    pub mid_reply: bool,
    /// No request was dispatched yet: the deadline of the first head runs from accept.
    pub fresh: bool,
    /// The request being received is the last this connection may send.
    pub last_request: bool,
    /// The number of bytes of `input` in which the end of a head was looked for already.
    pub scanned: u32,
    /// Bytes that were received and not consumed. Most of the time it is empty and has no capacity.
    pub input: Vec<u8>,
    pub inbound: Inbound,
    pub refused: Option<Refused>,
    /// Bytes that the socket has not taken yet.
    pub output: Output,
    /// Milliseconds of the engine's clock; `NEVER` while nothing is awaited from the client.
    pub deadline: u64,
    /// When output that waits for the client to read has waited too long; `NEVER` while none waits.
    pub send_deadline: u64,
    pub opened: u64,
    /// Bytes received and thrown away while the connection lingers.
    pub drained: u64,
}

impl Connection {
    pub fn new(transport: Transport, peer: Peer, server: u16, now: u64, deadline: u64) -> Self {
        Self {
            transport,
            peer,
            server,
            interest: Interest::READ,
            first: Slot::NONE,
            last: Slot::NONE,
            in_flight: 0,
            exclusive: false,
            parse_blocked: false,
            queued: false,
            sending: false,
            half_closed: false,
            ended: false,
            close_after: false,
            client_may_send: false,
            lingering: false,
            mid_reply: false,
            fresh: true,
            last_request: false,
            scanned: 0,
            input: Vec::new(),
            inbound: Inbound::Head,
            refused: None,
            output: Output::default(),
            deadline,
            send_deadline: NEVER,
            opened: now,
            drained: 0,
        }
    }

    pub fn unsent(&self) -> usize {
        self.output.unsent()
    }

    /// Whether its transport holds input for it that no readiness event will announce.
    #[inline]
    pub fn wants_pending(&self) -> bool {
        self.interest.read && self.transport.pending()
    }

    /// Whether nothing is in flight, half received or unsent.
    pub fn is_idle(&self) -> bool {
        self.in_flight == 0
            && self.output.is_empty()
            && self.input.is_empty()
            && !self.transport.pending()
            && self.refused.is_none()
            && matches!(self.inbound, Inbound::Head)
    }
}

struct Entry {
    generation: u32,
    connection: Option<Connection>,
}

/// Connections by index. The token given to the poller carries the entry's generation, so an event for a
/// closed connection never reaches the next one with its index.
#[derive(Default)]
pub struct Connections {
    entries: Vec<Entry>,
    free: Vec<ConnectionId>,
    count: usize,
}

impl Connections {
    pub fn len(&self) -> usize {
        self.count
    }

    /// Every index that is or was in use.
    pub fn ids(&self) -> impl Iterator<Item = ConnectionId> + use<> {
        (0..self.entries.len() as u32).map(ConnectionId)
    }

    pub fn insert(&mut self, connection: Connection) -> ConnectionId {
        self.count += 1;
        if let Some(id) = self.free.pop() {
            self.entries[id.0 as usize].connection = Some(connection);
            return id;
        }
        self.entries.push(Entry {
            generation: 0,
            connection: Some(connection),
        });
        ConnectionId(self.entries.len() as u32 - 1)
    }

    pub fn remove(&mut self, id: ConnectionId) -> Option<Connection> {
        let entry = self.entries.get_mut(id.0 as usize)?;
        let connection = entry.connection.take()?;
        // A generation has 31 bits, because the top bit of a token marks listeners.
        entry.generation = (entry.generation + 1) & 0x7fff_ffff;
        self.free.push(id);
        self.count -= 1;
        Some(connection)
    }

    pub fn token(&self, id: ConnectionId) -> u64 {
        u64::from(self.entries[id.0 as usize].generation) << 32 | u64::from(id.0)
    }

    /// The index behind a token, if that connection still lives.
    pub fn resolve(&self, token: u64) -> Option<ConnectionId> {
        let id = ConnectionId(token as u32);
        let entry = self.entries.get(id.0 as usize)?;
        (entry.connection.is_some() && u64::from(entry.generation) == token >> 32).then_some(id)
    }

    /// A connection and its server.
    #[inline]
    pub fn with_server<'a>(
        &'a mut self,
        servers: &'a mut Servers,
        id: ConnectionId,
    ) -> Option<(&'a mut Connection, &'a mut Server)> {
        let connection = self.get_mut(id)?;
        let server = servers.get_mut(connection.server)?;
        Some((connection, server))
    }

    pub fn get(&self, id: ConnectionId) -> Option<&Connection> {
        self.entries.get(id.0 as usize)?.connection.as_ref()
    }

    pub fn get_mut(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        self.entries.get_mut(id.0 as usize)?.connection.as_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_connection_stays_within_its_memory_budget() {
        // The bar is 1.2 KB per idle connection with all that libuv, the kernel's user part and JavaScript add.
        assert!(size_of::<Entry>() <= 320, "{} bytes", size_of::<Entry>());
    }
}
