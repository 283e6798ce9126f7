//! One connection and the table of all. A connection that idles holds no buffer: what it owns is this
//! struct (see the size test below), everything else lives in the slice's arena.

use reactor::Interest;
use reactor::net::{Peer, Socket};

use crate::body::{Buffering, Discard, Streaming};
use crate::output::Output;

/// No exchange, no connection.
pub const NONE: u32 = u32::MAX;
/// No deadline.
pub const NEVER: u64 = u64::MAX;

/// What the next bytes from the client are.
pub enum Inbound {
    /// A request head.
    Head,
    /// The body of a request that is dispatched once it is whole.
    Buffering(Box<Buffering>),
    /// The body of a request that was dispatched with a stream.
    Streaming(Box<Streaming>),
    /// The rest of a body nobody reads, thrown away up to the drain limit.
    Discard(Discard),
    /// Nothing more is read as a request: the connection closes once its replies are out.
    Closed,
}

/// A last answer by the engine itself, given when all earlier exchanges are answered.
#[derive(Clone, Copy)]
pub struct Refused {
    pub status: u16,
    pub code: &'static str,
    /// The request was HEAD: the answer has no content (RFC 9110 §9.3.2).
    pub head_only: bool,
}

pub struct Connection {
    pub socket: Socket,
    pub peer: Peer,
    pub server: u16,
    pub interest: Interest,
    /// Oldest and newest exchange not yet answered on the wire.
    pub first: u32,
    pub last: u32,
    pub in_flight: u16,
    /// The only exchange in flight is an unsafe one or has a body: nothing behind it may start (RFC 9112 §9.3.2).
    pub exclusive: bool,
    /// Parsing waits for a reply; the connection must be put on the ready list when one completes.
    pub held: bool,
    /// On the ready list.
    pub queued: bool,
    /// On the list of those whose sockets take bytes again.
    pub sending: bool,
    /// The client closed its writing side: replies are still sent.
    pub half_closed: bool,
    /// All it sent before was received.
    pub ended: bool,
    /// Close once the output is sent.
    pub close_after: bool,
    /// Our writing side is closed; what arrives is thrown away until the client closes too.
    pub lingering: bool,
    /// The head of the oldest exchange's streamed reply is out, its end is not.
    pub mid_reply: bool,
    /// No request has begun yet: the head's deadline runs from accept.
    pub fresh: bool,
    /// The request being received is the last this connection may send.
    pub last_request: bool,
    /// Bytes of `input` an earlier look for the end of a head has covered.
    pub scanned: u32,
    /// Received and not yet consumed. Empty and without capacity most of the time.
    pub input: Vec<u8>,
    pub inbound: Inbound,
    pub refused: Option<Refused>,
    /// Bytes that the socket has not taken yet.
    pub output: Output,
    /// Milliseconds of the engine's clock; `NEVER` while nothing is awaited from the client.
    pub deadline: u64,
    /// Set while output waits for the client to read.
    pub send_deadline: u64,
    pub opened: u64,
    /// Before the connection lingers: not 0 if the client may still be sending, so that closing has to
    /// linger. While it lingers: bytes received and thrown away.
    pub lingered: u64,
}

impl Connection {
    pub fn new(socket: Socket, peer: Peer, server: u16, now: u64, deadline: u64) -> Self {
        Self {
            socket,
            peer,
            server,
            interest: Interest::READ,
            first: NONE,
            last: NONE,
            in_flight: 0,
            exclusive: false,
            held: false,
            queued: false,
            sending: false,
            half_closed: false,
            ended: false,
            close_after: false,
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
            lingered: 0,
        }
    }

    pub fn unsent(&self) -> usize {
        self.output.unsent()
    }

    /// Nothing in flight, nothing half received, nothing to send.
    pub fn is_idle(&self) -> bool {
        self.in_flight == 0
            && self.output.is_empty()
            && self.input.is_empty()
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
    free: Vec<u32>,
    count: usize,
}

impl Connections {
    pub fn len(&self) -> usize {
        self.count
    }

    pub fn capacity(&self) -> u32 {
        self.entries.len() as u32
    }

    pub fn insert(&mut self, connection: Connection) -> u32 {
        self.count += 1;
        if let Some(id) = self.free.pop() {
            self.entries[id as usize].connection = Some(connection);
            return id;
        }
        self.entries.push(Entry {
            generation: 0,
            connection: Some(connection),
        });
        self.entries.len() as u32 - 1
    }

    pub fn remove(&mut self, id: u32) -> Option<Connection> {
        let entry = self.entries.get_mut(id as usize)?;
        let connection = entry.connection.take()?;
        // 31 bits: the top bit of a token marks listeners.
        entry.generation = (entry.generation + 1) & 0x7fff_ffff;
        self.free.push(id);
        self.count -= 1;
        Some(connection)
    }

    pub fn token(&self, id: u32) -> u64 {
        u64::from(self.entries[id as usize].generation) << 32 | u64::from(id)
    }

    /// The index behind a token, if that connection still lives.
    pub fn resolve(&self, token: u64) -> Option<u32> {
        let id = token as u32;
        let entry = self.entries.get(id as usize)?;
        (entry.connection.is_some() && u64::from(entry.generation) == token >> 32).then_some(id)
    }

    pub fn get(&self, id: u32) -> Option<&Connection> {
        self.entries.get(id as usize)?.connection.as_ref()
    }

    pub fn get_mut(&mut self, id: u32) -> Option<&mut Connection> {
        self.entries.get_mut(id as usize)?.connection.as_mut()
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
