//! One connection, and the table of all connections. An idle connection owns no buffer: it owns this struct alone (see
//! the size test below), and everything else lives in the slice's arena.

use reactor::Interest;
use reactor::net::Peer;

use crate::life::Life;
use crate::output::Output;
use crate::protocol::Protocol;
use crate::sending::Sending;
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

/// # Invariants
/// These hold between two steps, that is, whenever `Core::flush` has returned:
/// - `parse_blocked` is set only while a reply is awaited or output is unsent: the end of either queues the connection.
/// - `queued` is set exactly while the token is on the ready list.
/// - While `life` is `Lingering`, there is no exchange, no `input` and no `output`.
pub struct Connection {
    pub transport: Transport,
    pub peer: Peer,
    pub server: u16,
    pub interest: Interest,
    /// Parsing waits for a reply or for output to be sent. After that the connection must be put on the ready list.
    pub parse_blocked: bool,
    /// The connection is on the ready list.
    pub queued: bool,
    pub life: Life,
    /// Bytes that were received and not consumed. Most of the time it is empty and has no capacity.
    pub input: Vec<u8>,
    /// Bytes that the socket has not taken yet.
    pub output: Output,
    pub sending: Sending,
    /// Milliseconds of the engine's clock; `NEVER` while nothing is awaited from the client.
    pub deadline: u64,
    pub opened: u64,
}

impl Connection {
    pub fn new(transport: Transport, peer: Peer, server: u16, now: u64, deadline: u64) -> Self {
        Self {
            transport,
            peer,
            server,
            interest: Interest::READ,
            parse_blocked: false,
            queued: false,
            life: Life::default(),
            input: Vec::new(),
            output: Output::default(),
            sending: Sending::default(),
            deadline,
            opened: now,
        }
    }

    /// Adds what the protocol says to the output, as the transport sends it. Only bodies that are kept where JavaScript
    /// has them come into the output by another way.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) {
        self.transport.seal(bytes, self.output.end());
    }

    pub fn unsent(&self) -> usize {
        self.output.unsent()
    }

    /// Gives whether its transport holds input for it that no readiness event will announce.
    #[inline]
    pub fn wants_pending(&self) -> bool {
        self.interest.read && self.transport.pending()
    }
}

struct Entry {
    generation: u32,
    open: Option<(Connection, Protocol)>,
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

    pub fn insert(&mut self, connection: Connection, protocol: Protocol) -> ConnectionId {
        self.count += 1;
        let open = Some((connection, protocol));
        if let Some(id) = self.free.pop() {
            self.entries[id.0 as usize].open = open;
            return id;
        }
        self.entries.push(Entry {
            generation: 0,
            open,
        });
        ConnectionId(self.entries.len() as u32 - 1)
    }

    pub fn remove(&mut self, id: ConnectionId) -> Option<Connection> {
        let entry = self.entries.get_mut(id.0 as usize)?;
        let (connection, _) = entry.open.take()?;
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
        (entry.open.is_some() && u64::from(entry.generation) == token >> 32).then_some(id)
    }

    #[inline]
    pub fn protocol(&self, id: ConnectionId) -> Option<&Protocol> {
        let (_, protocol) = self.entries.get(id.0 as usize)?.open.as_ref()?;
        Some(protocol)
    }

    /// A connection and what it speaks.
    #[inline]
    pub fn open(&mut self, id: ConnectionId) -> Option<(&mut Connection, &mut Protocol)> {
        let (connection, protocol) = self.entries.get_mut(id.0 as usize)?.open.as_mut()?;
        Some((connection, protocol))
    }

    /// Gives whether nothing is in flight, half received or unsent.
    pub fn is_idle(&self, id: ConnectionId) -> bool {
        let entry = self.entries.get(id.0 as usize);
        entry
            .and_then(|entry| entry.open.as_ref())
            .is_some_and(|(connection, protocol)| {
                connection.output.is_empty()
                    && connection.input.is_empty()
                    && !connection.transport.pending()
                    && protocol.is_idle()
            })
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
        let (connection, _) = self.entries.get(id.0 as usize)?.open.as_ref()?;
        Some(connection)
    }

    pub fn get_mut(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        let (connection, _) = self.open(id)?;
        Some(connection)
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
