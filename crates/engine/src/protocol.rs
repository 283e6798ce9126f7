//! What a connection speaks. Everything that depends on it is matched here.

use ring::{Memory, Record};

use crate::connection::ConnectionId;
use crate::engine::Core;
use crate::exchange::Slot;
use crate::http1::Http1;
use crate::records::References;
use crate::server::Server;
use crate::slice::abort;
#[cfg(feature = "faults")]
use crate::tunnel::Tunnel;
use crate::websocket::WebSocket;

/// The protocol of a connection, with its state.
pub enum Protocol {
    Http1(Http1),
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
    /// The connection is gone or reads nothing more, so the bytes are dropped.
    Closed,
}

impl Protocol {
    /// What a connection speaks that `server` has accepted.
    pub fn new(server: &Server) -> Self {
        #[cfg(feature = "faults")]
        if server.echoes {
            return Self::Tunnel(Tunnel::default());
        }
        let _ = server;
        Self::Http1(Http1::default())
    }

    /// Gives whether an exchange is in flight.
    #[inline]
    pub fn is_busy(&self) -> bool {
        match self {
            Self::Http1(http1) => http1.is_busy(),
            Self::WebSocket(socket) => socket.is_busy(),
            #[cfg(feature = "faults")]
            Self::Tunnel(_) => false,
        }
    }

    /// Gives whether nothing is in flight or half received.
    pub fn is_idle(&self) -> bool {
        match self {
            Self::Http1(http1) => http1.is_idle(),
            Self::WebSocket(_) => false,
            #[cfg(feature = "faults")]
            Self::Tunnel(tunnel) => tunnel.is_idle(),
        }
    }

    /// Gives whether it takes no input for now.
    #[inline]
    pub fn is_paused(&self) -> bool {
        match self {
            Self::Http1(http1) => http1.is_paused(),
            Self::WebSocket(_) => false,
            #[cfg(feature = "faults")]
            Self::Tunnel(_) => false,
        }
    }

    /// Gives whether bytes of a reply were sent, but not its end, so that nothing else may be sent.
    #[inline]
    pub fn is_mid_reply(&self) -> bool {
        match self {
            Self::Http1(http1) => http1.is_mid_reply(),
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
            Some(Protocol::Http1(_)) => self.take_requests(memory, id, start, end),
            Some(Protocol::WebSocket(_)) => self.take_messages(memory, id, start, end),
            #[cfg(feature = "faults")]
            Some(Protocol::Tunnel(_)) => self.take_echoed(memory, id, start, end),
            None => (end, Stop::Closed),
        }
    }

    /// Gives whether something can be done with the input that was kept.
    pub fn can_resume(&mut self, id: ConnectionId) -> bool {
        match self.connections.protocol(id) {
            Some(Protocol::Http1(_)) => self.can_take_requests(id),
            Some(Protocol::WebSocket(_)) => self.can_take_messages(id),
            #[cfg(feature = "faults")]
            Some(Protocol::Tunnel(_)) => self.can_echo(id),
            None => false,
        }
    }

    /// Does what a record asks an exchange for.
    #[inline]
    pub fn operate(
        &mut self,
        id: ConnectionId,
        slot: Slot,
        record: &Record,
        out: &[u8],
        references: &dyn References,
    ) {
        match self.connections.protocol(id) {
            Some(Protocol::Http1(_)) => self.reply(slot, record, out, references),
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
            Some(Protocol::Http1(_)) => self.reply_problem(slot, status, code),
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
            // HTTP/1 has no other way to end a reply.
            Some(Protocol::Http1(_) | Protocol::WebSocket(_)) => {
                self.reset_connection(id, abort::ERROR);
            }
            #[cfg(feature = "faults")]
            Some(Protocol::Tunnel(_)) => {}
            None => {}
        }
    }

    /// Is called when the output that waited was sent, before [`after_sent`](Self::after_sent).
    pub fn after_output(&mut self, id: ConnectionId) {
        match self.connections.protocol(id) {
            Some(Protocol::Http1(_)) => self.await_request(id),
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
            Some(Protocol::Http1(_)) => self.tell_stream(id),
            Some(Protocol::WebSocket(_)) => self.tell_socket_drained(id),
            #[cfg(feature = "faults")]
            Some(Protocol::Tunnel(_)) => {}
            None => {}
        }
    }

    /// Tells all exchanges that the client closed its sending side.
    pub fn tell_half_closed(&mut self, id: ConnectionId) {
        match self.connections.protocol(id) {
            Some(Protocol::Http1(_)) => self.tell_handlers(id),
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
            Some(Protocol::Http1(_)) => self.fail_upload(id),
            Some(Protocol::WebSocket(_)) => self.lose_socket(id),
            #[cfg(feature = "faults")]
            Some(Protocol::Tunnel(_)) => false,
            None => false,
        }
    }

    /// Is called when the deadline of a connection has passed.
    pub fn time_out(&mut self, id: ConnectionId) {
        match self.connections.protocol(id) {
            Some(Protocol::Http1(_)) => self.time_out_request(id),
            Some(Protocol::WebSocket(_)) => self.time_out_socket(id),
            #[cfg(feature = "faults")]
            Some(Protocol::Tunnel(_)) => self.remove(id, abort::CLIENT),
            None => {}
        }
    }

    /// Gives the connection that is reset because more waits to be sent than the server allows, since the output of this
    /// one grew.
    pub fn gives_way(&self, id: ConnectionId) -> ConnectionId {
        match self.connections.protocol(id) {
            Some(Protocol::WebSocket(_)) => self.fullest_socket(id),
            // Its client sees that the reply is not whole.
            Some(Protocol::Http1(_)) => id,
            #[cfg(feature = "faults")]
            Some(Protocol::Tunnel(_)) => id,
            None => id,
        }
    }

    /// Takes no more requests, and closes the connection once its output is sent.
    pub fn retire(&mut self, id: ConnectionId) {
        match self.connections.protocol(id) {
            Some(Protocol::Http1(_)) => self.stop_reading(id),
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
            Some(Protocol::Http1(_)) => {
                self.release_body(id);
                self.abort_exchanges(id, reason);
            }
            Some(Protocol::WebSocket(_)) => self.release_socket(id),
            #[cfg(feature = "faults")]
            Some(Protocol::Tunnel(_)) => {}
            None => {}
        }
    }

    /// Ends what a connection was doing when a panic was caught. `lost`: a part of a reply was lost.
    pub fn recover(&mut self, id: ConnectionId, lost: bool) {
        match self.connections.protocol(id) {
            Some(Protocol::Http1(_)) => self.recover_http1(id, lost),
            // A part of a frame may be lost, and with it where the next one begins.
            Some(Protocol::WebSocket(_)) => self.reset_connection(id, abort::ERROR),
            #[cfg(feature = "faults")]
            Some(Protocol::Tunnel(_)) => self.reset_connection(id, abort::ERROR),
            None => {}
        }
    }
}
