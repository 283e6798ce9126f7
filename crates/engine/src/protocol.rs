//! What a connection speaks. Everything that depends on it is matched here.

use ring::{Memory, Record};

use crate::connection::ConnectionId;
use crate::engine::Core;
use crate::exchange::Slot;
use crate::handshake::Handshake;
use crate::http1::Http1;
use crate::http2::Http2;
use crate::records::References;
use crate::server::Server;
use crate::slice::abort;
#[cfg(feature = "faults")]
use crate::tunnel::Tunnel;
use crate::websocket::WebSocket;

/// The protocol of a connection, with its state.
pub enum Protocol {
    /// The connection has no protocol: the TLS handshake is not done, or TLS has ended by a fault.
    Handshake(Handshake),
    Http1(Http1),
    Http2(Box<Http2>),
    WebSocket(Box<WebSocket>),
    /// For tests of what protocols share.
    #[cfg(feature = "faults")]
    Tunnel(Tunnel),
}

/// Why parsing stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// All bytes were consumed.
    Done,
    /// What the bytes begin is incomplete.
    Partial,
    /// An earlier exchange has to be answered first, or output has to be sent.
    Blocked,
    /// The page has no room.
    PageFull,
    /// Nobody takes more of a body for now.
    NoCredit,
    /// The connection speaks another protocol from here on.
    Switched,
    /// The connection is gone or reads nothing more, so the bytes are dropped.
    Closed,
}

impl Protocol {
    /// What a connection speaks that `server` has accepted.
    pub fn new(server: &Server) -> Self {
        if server.tls.is_some() {
            return Self::Handshake(Handshake::begun());
        }
        Self::agreed(server, None, 0)
    }

    /// Gives the protocol of a connection after the TLS handshake, if there is one. `alpn` is the result of ALPN.
    pub fn agreed(server: &Server, alpn: Option<&[u8]>, now: u64) -> Self {
        #[cfg(feature = "faults")]
        if server.echoes {
            return Self::Tunnel(Tunnel::default());
        }
        if alpn == Some(b"h2") {
            return Self::http2(server, now);
        }
        Self::Http1(Http1::default())
    }

    /// Returns true when it waits for a turn with time for handshakes.
    #[inline]
    pub fn is_deferred(&self) -> bool {
        matches!(self, Self::Handshake(handshake) if handshake.is_deferred())
    }

    /// Gives whether an exchange is in flight.
    #[inline]
    pub fn is_busy(&self) -> bool {
        match self {
            Self::Handshake(_) => false,
            Self::Http1(http1) => http1.is_busy(),
            Self::Http2(http2) => http2.is_busy(),
            Self::WebSocket(socket) => socket.is_busy(),
            #[cfg(feature = "faults")]
            Self::Tunnel(_) => false,
        }
    }

    /// Gives whether nothing is in flight or half received.
    pub fn is_idle(&self) -> bool {
        match self {
            Self::Handshake(_) => true,
            Self::Http1(http1) => http1.is_idle(),
            Self::Http2(http2) => http2.is_idle(),
            Self::WebSocket(_) => false,
            #[cfg(feature = "faults")]
            Self::Tunnel(tunnel) => tunnel.is_idle(),
        }
    }

    /// Gives whether it takes no input for now.
    #[inline]
    pub fn is_paused(&self) -> bool {
        match self {
            Self::Handshake(_) => false,
            Self::Http1(http1) => http1.is_paused(),
            Self::Http2(_) => false,
            Self::WebSocket(_) => false,
            #[cfg(feature = "faults")]
            Self::Tunnel(_) => false,
        }
    }

    /// Gives whether bytes of a reply were sent, but not its end, so that nothing else may be sent.
    #[inline]
    pub fn is_mid_reply(&self) -> bool {
        match self {
            Self::Handshake(_) => false,
            Self::Http1(http1) => http1.is_mid_reply(),
            Self::Http2(_) => true,
            Self::WebSocket(_) => true,
            #[cfg(feature = "faults")]
            Self::Tunnel(_) => true,
        }
    }
}

impl Core {
    /// Consumes `arena[start..end]` as far as possible. Gives the offset behind the last consumed byte.
    #[inline]
    pub fn ingest(
        &mut self,
        memory: &mut Memory,
        id: ConnectionId,
        start: usize,
        end: usize,
    ) -> (usize, Stop) {
        match self.connections.protocol(id) {
            Some(Protocol::Handshake(_)) => (end, Stop::Closed),
            Some(Protocol::Http1(_)) => match self.take_requests(memory, id, start, end) {
                (at, Stop::Switched) => self.take_frames(memory, id, at, end),
                taken => taken,
            },
            Some(Protocol::Http2(_)) => self.take_frames(memory, id, start, end),
            Some(Protocol::WebSocket(_)) => self.take_messages(memory, id, start, end),
            #[cfg(feature = "faults")]
            Some(Protocol::Tunnel(_)) => self.take_echoed(memory, id, start, end),
            None => (end, Stop::Closed),
        }
    }

    /// Gives whether something can be done with the input that was kept.
    pub fn can_resume(&mut self, id: ConnectionId) -> bool {
        match self.connections.protocol(id) {
            Some(Protocol::Handshake(_)) => false,
            Some(Protocol::Http1(_)) => self.can_take_requests(id),
            Some(Protocol::Http2(_)) => self.can_take_frames(id),
            Some(Protocol::WebSocket(_)) => self.can_take_messages(id),
            #[cfg(feature = "faults")]
            Some(Protocol::Tunnel(_)) => self.can_echo(id),
            None => false,
        }
    }

    /// Does what a record asks an exchange for.
    #[inline(always)]
    pub fn operate(
        &mut self,
        id: ConnectionId,
        slot: Slot,
        record: &Record,
        out: &[u8],
        references: &dyn References,
    ) {
        match self.connections.protocol(id) {
            Some(Protocol::Handshake(_)) => {}
            Some(Protocol::Http1(_)) => self.reply(slot, record, out, references),
            Some(Protocol::Http2(_)) => self.reply_on_stream(id, slot, record, out, references),
            Some(Protocol::WebSocket(_)) => self.operate_socket(id, slot, record, out, references),
            #[cfg(feature = "faults")]
            Some(Protocol::Tunnel(_)) => {}
            None => {}
        }
    }

    /// Gives a reply of the engine in place of the handler's.
    pub fn answer(&mut self, slot: Slot, status: u16, code: &str) {
        match self
            .connections
            .protocol(self.exchanges.get(slot).connection)
        {
            Some(Protocol::Handshake(_)) => {}
            Some(Protocol::Http1(_)) => self.reply_problem(slot, status, code),
            Some(Protocol::Http2(_)) => self.answer_stream(slot, status, code),
            Some(Protocol::WebSocket(_)) => {}
            #[cfg(feature = "faults")]
            Some(Protocol::Tunnel(_)) => {}
            None => {}
        }
    }

    /// Takes back an exchange whose reply cannot be completed, so that the client does not take a part for the whole.
    pub fn reset_exchange(&mut self, slot: Slot) {
        let id = self.exchanges.get(slot).connection;
        match self.connections.protocol(id) {
            Some(Protocol::Handshake(_)) => {}
            // HTTP/1 has no other way to end a reply.
            Some(Protocol::Http1(_) | Protocol::WebSocket(_)) => {
                self.reset_connection(id, abort::ERROR);
            }
            Some(Protocol::Http2(_)) => self.reset_stream_of(id, slot),
            #[cfg(feature = "faults")]
            Some(Protocol::Tunnel(_)) => {}
            None => {}
        }
    }

    /// Is called when the output that waited was sent, before [`after_sent`](Self::after_sent).
    pub fn after_output(&mut self, id: ConnectionId) {
        match self.connections.protocol(id) {
            Some(Protocol::Handshake(_)) => {}
            Some(Protocol::Http1(_)) => self.await_request(id),
            Some(Protocol::Http2(_)) => {}
            Some(Protocol::WebSocket(_)) => {}
            #[cfg(feature = "faults")]
            Some(Protocol::Tunnel(_)) => self.await_bytes(id),
            None => {}
        }
    }

    /// Tells those who wait for output to be sent that they may go on.
    #[inline]
    pub fn tell_drained(&mut self, id: ConnectionId) {
        match self.connections.protocol(id) {
            Some(Protocol::Handshake(_)) => {}
            Some(Protocol::Http1(_)) => self.tell_stream(id),
            Some(Protocol::Http2(_)) => self.tell_streams(id),
            Some(Protocol::WebSocket(_)) => self.tell_socket_drained(id),
            #[cfg(feature = "faults")]
            Some(Protocol::Tunnel(_)) => {}
            None => {}
        }
    }

    /// Tells all exchanges that the client closed its sending side.
    pub fn tell_half_closed(&mut self, id: ConnectionId) {
        match self.connections.protocol(id) {
            Some(Protocol::Handshake(_)) => {}
            Some(Protocol::Http1(_)) => self.tell_handlers(id),
            Some(Protocol::Http2(_)) => self.tell_stream_handlers(id),
            Some(Protocol::WebSocket(_)) => {}
            #[cfg(feature = "faults")]
            Some(Protocol::Tunnel(_)) => {}
            None => {}
        }
    }

    /// Is called when nothing more comes from the client and all input was parsed that could be. Gives true if that
    /// ended something half received, so that the connection has to go on for a while.
    pub fn fail_rest(&mut self, id: ConnectionId) -> bool {
        match self.connections.protocol(id) {
            Some(Protocol::Handshake(_)) => false,
            Some(Protocol::Http1(_)) => self.fail_upload(id),
            Some(Protocol::Http2(_)) => self.fail_streams(id),
            Some(Protocol::WebSocket(_)) => self.lose_socket(id),
            #[cfg(feature = "faults")]
            Some(Protocol::Tunnel(_)) => false,
            None => false,
        }
    }

    /// Is called when the deadline of a connection has passed.
    pub fn time_out(&mut self, id: ConnectionId) {
        match self.connections.protocol(id) {
            Some(Protocol::Handshake(_)) => self.time_out_handshake(id),
            Some(Protocol::Http1(_)) => self.time_out_request(id),
            Some(Protocol::Http2(_)) => self.time_out_http2(id),
            Some(Protocol::WebSocket(_)) => self.time_out_socket(id),
            #[cfg(feature = "faults")]
            Some(Protocol::Tunnel(_)) => self.remove(id, abort::CLIENT),
            None => {}
        }
    }

    /// Gives the number of unsent bytes for the client of a connection. A WebSocket on a stream counts for its
    /// connection of HTTP/2.
    pub fn held_by(&self, id: ConnectionId) -> usize {
        let own = self
            .connections
            .get(id)
            .map_or(0, |connection| connection.output.share());
        own + match self.connections.protocol(id) {
            Some(Protocol::Handshake(_)) => 0,
            Some(Protocol::Http1(_)) => self.held_by_stashes(id),
            Some(Protocol::Http2(_)) => self.held_by_streams(id),
            Some(Protocol::WebSocket(_)) => 0,
            #[cfg(feature = "faults")]
            Some(Protocol::Tunnel(_)) => 0,
            None => 0,
        }
    }

    /// Returns true when a connection may be cut off to make room for the output of another one.
    pub fn gives_way(&self, id: ConnectionId) -> bool {
        match self.connections.protocol(id) {
            Some(Protocol::Handshake(_)) => false,
            // A lost part of a reply is not sent again, and a connection of HTTP/1 holds few replies.
            Some(Protocol::Http1(_)) => false,
            Some(Protocol::Http2(_)) => true,
            Some(Protocol::WebSocket(_)) => true,
            #[cfg(feature = "faults")]
            Some(Protocol::Tunnel(_)) => false,
            None => false,
        }
    }

    /// Makes room. On a connection of HTTP/2 this resets the stream with the most unsent bytes; `grown`, the stream
    /// whose reply has grown, wins ties. Any other connection is reset as a whole.
    pub fn give_way(&mut self, id: ConnectionId, grown: Option<h2::Key>) {
        match self.connections.protocol(id) {
            Some(Protocol::Http2(_)) => self.end_fullest_stream(id, grown),
            Some(Protocol::Handshake(_) | Protocol::Http1(_) | Protocol::WebSocket(_)) => {
                self.reset_connection(id, abort::ERROR);
            }
            #[cfg(feature = "faults")]
            Some(Protocol::Tunnel(_)) => self.reset_connection(id, abort::ERROR),
            None => {}
        }
    }

    /// Takes no more requests, and closes the connection once its output is sent.
    pub fn retire(&mut self, id: ConnectionId) {
        match self.connections.protocol(id) {
            Some(Protocol::Handshake(_)) => self.remove(id, abort::SHUTDOWN),
            Some(Protocol::Http1(_)) => self.stop_reading(id),
            Some(Protocol::Http2(_)) => self.ask_to_leave(id),
            Some(Protocol::WebSocket(_)) => {}
            #[cfg(feature = "faults")]
            Some(Protocol::Tunnel(_)) => self.close_tunnel(id),
            None => {}
        }
    }

    /// Ends the exchanges of a connection that is closed, and gives back what they hold.
    #[inline]
    pub fn release(&mut self, id: ConnectionId, reason: i32) {
        match self.connections.protocol(id) {
            Some(Protocol::Handshake(_)) => {}
            Some(Protocol::Http1(_)) => {
                self.release_body(id);
                self.abort_exchanges(id, reason);
            }
            Some(Protocol::Http2(_)) => self.end_streams(id, reason),
            Some(Protocol::WebSocket(_)) => self.release_socket(id),
            #[cfg(feature = "faults")]
            Some(Protocol::Tunnel(_)) => {}
            None => {}
        }
    }

    /// Ends what a connection was doing when a panic was caught. `lost`: a part of a reply was lost.
    pub fn recover(&mut self, id: ConnectionId, lost: bool) {
        match self.connections.protocol(id) {
            Some(Protocol::Handshake(_)) => self.reset_connection(id, abort::ERROR),
            Some(Protocol::Http1(_)) => self.recover_http1(id, lost),
            Some(Protocol::Http2(_)) => self.recover_http2(id, lost),
            // A part of a frame may be lost, and with it where the next one begins.
            Some(Protocol::WebSocket(_)) => self.reset_connection(id, abort::ERROR),
            #[cfg(feature = "faults")]
            Some(Protocol::Tunnel(_)) => self.reset_connection(id, abort::ERROR),
            None => {}
        }
    }
}
