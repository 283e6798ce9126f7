//! HTTP/1.1 and HTTP/1.0: from received bytes to requests, and from reply records to reply bytes.

pub mod after_reply;
pub mod ending;
pub mod interim;
pub mod refuse;
pub mod replies;
pub mod reply_head;
pub mod request_body;
pub mod requests;
pub mod sink;

use crate::connection::{Connection, ConnectionId, Connections};
use crate::exchange::Slot;
use crate::protocol::Protocol;
use crate::server::{Server, Servers};
use request_body::{Buffering, Discard, Streaming};

/// What HTTP/1 knows of a connection: the exchanges whose replies go out in the order of their requests, and what is
/// received next.
///
/// # Invariants
/// These hold between two steps, that is, whenever `Core::flush` has returned:
/// - `exclusive` and `mid_reply` are set only while an exchange is in flight or the connection is about to close.
/// - `fresh` is cleared by the first request and never set again; `last_request` is decided anew by each request.
pub struct Http1 {
    /// The oldest and the newest exchange whose replies are not complete on the wire.
    first: Slot,
    last: Slot,
    in_flight: u16,
    /// The only exchange in flight is unsafe or has a body, so nothing behind it may start (RFC 9112 §9.3.2).
    exclusive: bool,
    /// The head of the oldest exchange's streamed reply was sent, but not its end.
    mid_reply: bool,
    /// No request was dispatched yet: the deadline of the first head runs from accept.
    fresh: bool,
    /// The request being received is the last this connection may send.
    last_request: bool,
    /// The number of bytes of the kept input in which the end of a head was looked for already.
    scanned: u32,
    /// The request in flight may be upgraded to a WebSocket. It is the index of its route's settings.
    upgrade: Option<u16>,
    inbound: Inbound,
    refused: Option<Refused>,
}

/// What the next bytes from the client are.
enum Inbound {
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
struct Refused {
    status: u16,
    code: &'static str,
    /// The request was HEAD, so the reply has no content (RFC 9110 §9.3.2).
    head_only: bool,
}

impl Default for Http1 {
    fn default() -> Self {
        Self {
            first: Slot::NONE,
            last: Slot::NONE,
            in_flight: 0,
            exclusive: false,
            mid_reply: false,
            fresh: true,
            last_request: false,
            scanned: 0,
            upgrade: None,
            inbound: Inbound::Head,
            refused: None,
        }
    }
}

impl Http1 {
    #[inline]
    pub fn is_busy(&self) -> bool {
        self.in_flight > 0
    }

    pub fn is_idle(&self) -> bool {
        self.in_flight == 0 && self.refused.is_none() && matches!(self.inbound, Inbound::Head)
    }

    #[inline]
    pub fn is_paused(&self) -> bool {
        matches!(&self.inbound, Inbound::Streaming(body) if body.credit == 0)
    }

    #[inline]
    pub fn is_mid_reply(&self) -> bool {
        self.mid_reply
    }
}

impl Connections {
    /// A connection that speaks HTTP/1.
    #[inline]
    fn http1(&mut self, id: ConnectionId) -> Option<(&mut Connection, &mut Http1)> {
        match self.open(id)? {
            (connection, Protocol::Http1(http1)) => Some((connection, http1)),
            _ => None,
        }
    }

    /// The settings of the sockets that this exchange may become, by their index. It is the only one of its connection.
    pub fn upgradable(&mut self, id: ConnectionId, slot: Slot) -> Option<u16> {
        let (_, http1) = self.http1(id)?;
        http1
            .upgrade
            .filter(|_| http1.first == slot && http1.last == slot)
    }

    /// A connection that speaks HTTP/1, and its server.
    #[inline]
    fn http1_with_server<'a>(
        &'a mut self,
        servers: &'a mut Servers,
        id: ConnectionId,
    ) -> Option<(&'a mut Connection, &'a mut Http1, &'a mut Server)> {
        let (connection, http1) = self.http1(id)?;
        let server = servers.get_mut(connection.server)?;
        Some((connection, http1, server))
    }
}
