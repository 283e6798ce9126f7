//! WebSockets (RFC 6455): from received bytes to messages, and from records to frames. `crates/ws` knows the frames; this
//! folder knows connections, topics and time. A WebSocket begins as an exchange, whose slot it keeps.

pub mod closing;
pub mod compression;
pub mod messages;
pub mod publishing;
pub mod sends;
pub mod topics;
pub mod upgrade;

use ws::Receiver;

use crate::connection::{Connection, ConnectionId, Connections};
use crate::exchange::Slot;
use crate::protocol::Protocol;
use crate::server::{Server, Servers};
use topics::Subscription;

/// The server goes down (RFC 6455 §7.4.1).
const GOING_AWAY: u16 = 1001;
/// A close frame had no code. It is never sent.
const NO_STATUS: u16 = 1005;
/// There was no close frame. It is never sent.
const ABNORMAL: u16 = 1006;
/// The server is overloaded (IANA's registry of close codes).
const TRY_AGAIN_LATER: u16 = 1013;
/// The reasons that go with them, the same on every adapter.
const CLOSING: &[u8] = b"the server is closing";
const FULL: &[u8] = b"too much waits to be sent";
const CROWDED: &[u8] = b"too many messages are incomplete";

/// How far the end of a socket has come (RFC 6455 §7.1).
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Phase {
    Open,
    /// A close frame was sent, and the client's is awaited. What else it sends is dropped.
    CloseSent {
        code: u16,
        reason: Box<[u8]>,
    },
    /// JavaScript knows that the socket is closed. The connection closes once its output is sent.
    Closed,
}

/// What a connection that is a WebSocket knows.
pub struct WebSocket {
    slot: Slot,
    receiver: Receiver,
    phase: Phase,
    /// The index of its route's settings in the server's configuration.
    spec: u16,
    /// The most bytes of a message that may be compressed for this client; 0 without permessage-deflate.
    longest: usize,
    /// The number of the last slice that has a message of this socket.
    told: Option<u32>,
    /// A ping was sent since something was last received.
    pinged: bool,
    /// When something was last received.
    heard: u64,
    /// How many bytes of unfinished messages are in the sum of its server.
    counted: u64,
    /// How many messages were dropped since JavaScript was last told.
    dropped: u32,
    subscriptions: Vec<Subscription>,
}

/// How the sockets of a route behave. `packages/engine/src/socket.ts` describes the fields.
#[derive(Clone, Copy, Debug)]
pub struct SocketSpec {
    pub limits: ws::Limits,
    /// Milliseconds; 0 means that there is no limit.
    pub idle_timeout: u64,
    pub close_timeout: u64,
    pub max_buffered: usize,
    /// A message that does not fit is dropped, and the socket goes on.
    pub drops: bool,
    /// The least bytes of a message that is compressed; `None` without permessage-deflate.
    pub compress_from: Option<usize>,
}

impl SocketSpec {
    /// Gives whether a message of this length is compressed for a client that takes up to `longest`.
    fn compresses(&self, length: usize, longest: usize) -> bool {
        length <= longest && self.compress_from.is_some_and(|from| length >= from)
    }
}

impl WebSocket {
    pub fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Gives whether JavaScript has yet to be told that the socket is closed.
    pub fn is_busy(&self) -> bool {
        self.phase != Phase::Closed
    }
}

impl Connections {
    /// A connection that is a WebSocket.
    #[inline]
    fn socket(&mut self, id: ConnectionId) -> Option<(&mut Connection, &mut WebSocket)> {
        match self.open(id)? {
            (connection, Protocol::WebSocket(socket)) => Some((connection, socket)),
            _ => None,
        }
    }

    /// A connection that is a WebSocket, its server, and how the sockets of its route behave.
    #[inline]
    fn socket_with_server<'a>(
        &'a mut self,
        servers: &'a mut Servers,
        id: ConnectionId,
    ) -> Option<(
        &'a mut Connection,
        &'a mut WebSocket,
        &'a mut Server,
        SocketSpec,
    )> {
        let (connection, socket) = self.socket(id)?;
        let server = servers.get_mut(connection.server)?;
        let spec = *server.config.sockets.get(usize::from(socket.spec))?;
        Some((connection, socket, server, spec))
    }
}
