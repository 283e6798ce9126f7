//! How HTTP/1 ends what is under way: the client closed its side, was too slow, or is gone, or a panic was caught.

use crate::connection::{ConnectionId, NEVER};
use crate::engine::Core;
use crate::exchange::{Slot, State};
use crate::http1::{Inbound, Refused};
use crate::slice::{Notice, abort};

impl Core {
    /// Tells the handlers of all exchanges that the client closed its sending side.
    pub fn tell_handlers(&mut self, id: ConnectionId) {
        let Some((_, http1)) = self.connections.http1(id) else {
            return;
        };
        let mut slot = http1.first;
        while slot != Slot::NONE {
            let exchange = self.exchanges.get(slot);
            let next = exchange.next;
            if exchange.state != State::Done {
                let notice = Notice::half_closed(self.exchanges.identity(slot));
                self.slice.notify(None, notice);
            }
            slot = next;
        }
    }

    /// Tells the handler that the rest of its request's body will never come. Gives false if no handler waits for one.
    pub fn fail_upload(&mut self, id: ConnectionId) -> bool {
        let Some((connection, http1)) = self.connections.http1(id) else {
            return false;
        };
        let Inbound::Streaming(body) = &http1.inbound else {
            return false;
        };
        if !connection.input.is_empty() {
            return false;
        }
        let notice = Notice::body_failed(body.about, 0);
        http1.inbound = Inbound::Closed;
        connection.deadline = NEVER;
        connection.life.close();
        self.slice.notify(None, notice);
        true
    }

    /// Ends the request that is received too slowly, or the connection on which none begins.
    pub fn time_out_request(&mut self, id: ConnectionId) {
        let now = self.clock.now();
        let Some((connection, http1)) = self.connections.http1(id) else {
            return;
        };
        match &http1.inbound {
            // Its time begins when the reply is sent. Until then `sendTimeout` applies.
            Inbound::Head if connection.unsent() > 0 => connection.deadline = NEVER,
            Inbound::Head if connection.input.is_empty() => self.remove(id, abort::CLIENT),
            Inbound::Head => self.refuse(id, 408, "E_HEADERS_TIMEOUT"),
            Inbound::Buffering(body) => match body.pace.extend(now) {
                Some(deadline) => connection.deadline = deadline,
                None => self.refuse(id, 408, "E_REQUEST_TIMEOUT"),
            },
            Inbound::Streaming(body) => match body.pace.extend(now) {
                Some(deadline) => connection.deadline = deadline,
                None => self.time_out_upload(id),
            },
            Inbound::Discard(_) | Inbound::Closed => self.stop_reading(id),
        }
    }

    /// Is called when a body that a handler reads comes too slowly. Replies 408 in the handler's place, unless its
    /// reply has begun.
    fn time_out_upload(&mut self, id: ConnectionId) {
        // A request with a body is the only one in flight.
        let Some(slot) = self.connections.http1(id).map(|(_, http1)| http1.first) else {
            return;
        };
        let exchange = self.exchanges.get_mut(slot);
        if exchange.state != State::Waiting {
            self.reset_connection(id, abort::UPLOAD);
            return;
        }
        exchange.close = true;
        let notice = Notice::abort(self.exchanges.identity(slot), abort::UPLOAD);
        self.slice.notify(None, notice);
        self.reply_problem(slot, 408, "E_REQUEST_TIMEOUT");
    }

    /// Aborts the exchanges of a connection after a caught panic. In the middle of a reply the connection is reset, else
    /// the client gets a 500.
    pub fn recover_http1(&mut self, id: ConnectionId, lost: bool) {
        let Some((_, http1)) = self.connections.http1(id) else {
            return;
        };
        if http1.mid_reply || lost {
            self.reset_connection(id, abort::ERROR);
            return;
        }
        self.release_body(id);
        self.abort_exchanges(id, abort::ERROR);
        if let Some((connection, http1)) = self.connections.http1(id) {
            http1.refused = Some(Refused {
                status: 500,
                code: "E_INTERNAL",
                head_only: false,
            });
            connection.deadline = NEVER;
            self.give_refusal(id);
        }
    }

    /// Gives the bytes of a half received body back to the server's budget.
    pub fn release_body(&mut self, id: ConnectionId) {
        let Some((_, http1, server)) = self.connections.http1_with_server(&mut self.servers, id)
        else {
            return;
        };
        if let Inbound::Buffering(body) = &http1.inbound {
            server.buffered -= body.held.data.len() as u64;
            http1.inbound = Inbound::Closed;
        }
    }

    /// Tells JavaScript that these exchanges have no client any more, and frees their slots.
    pub fn abort_exchanges(&mut self, id: ConnectionId, reason: i32) {
        let Some((_, http1, server)) = self.connections.http1_with_server(&mut self.servers, id)
        else {
            return;
        };
        let mut slot = std::mem::replace(&mut http1.first, Slot::NONE);
        http1.last = Slot::NONE;
        http1.in_flight = 0;
        while slot != Slot::NONE {
            let exchange = self.exchanges.get(slot);
            let next = exchange.next;
            if exchange.state != State::Done {
                let notice = Notice::abort(self.exchanges.identity(slot), reason);
                self.slice.notify(None, notice);
            }
            let stash = &mut self.exchanges.get_mut(slot).stash;
            stash.uncount(&mut server.waiting);
            server.stats.in_flight -= 1;
            self.exchanges.release(slot);
            slot = next;
        }
    }
}
