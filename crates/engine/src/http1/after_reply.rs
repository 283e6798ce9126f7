//! Decides what follows a reply: the replies that waited behind it, the unread body, the next request, or the end.

use super::request_body::{Discard, Remaining};
use crate::connection::ConnectionId;
use crate::engine::Core;
use crate::exchange::{Slot, State};
use crate::http1::Inbound;
use crate::server::Phase;
use crate::slice::abort;

impl Core {
    /// Gives whether the connection ends with this exchange's reply, and the reply must say so.
    pub fn closes(&mut self, slot: Slot) -> bool {
        let exchange = self.exchanges.get(slot);
        if exchange.close {
            return true;
        }
        let id = exchange.connection;
        let Some((connection, http1, server)) =
            self.connections.http1_with_server(&mut self.servers, id)
        else {
            return true;
        };
        // If a refusal follows, the refusal says it.
        if http1.last != slot || http1.refused.is_some() {
            return false;
        }
        let limits = &server.config.limits;
        let leaves = server.phase != Phase::Open
            || self.clock.now() - connection.opened > limits.max_connection_age;
        let is_all = connection.input.is_empty();
        // Requests that were received behind this one are served, and the reply of the last one says it.
        (leaves && (is_all || !matches!(http1.inbound, Inbound::Head)))
            || (connection.life.has_ended() && is_all)
            || match &http1.inbound {
                Inbound::Head | Inbound::Buffering(_) => false,
                Inbound::Closed => true,
                Inbound::Streaming(body) => {
                    body.expects_continue
                        || matches!(body.remaining, Remaining::Length(left) if left > limits.drain_limit)
                }
                Inbound::Discard(body) => body.budget == 0 && !body.remaining.is_done(),
            }
    }

    /// Gives whether nothing was received behind the request of this exchange.
    pub fn is_newest(&mut self, slot: Slot) -> bool {
        let id = self.exchanges.get(slot).connection;
        self.connections
            .http1(id)
            .is_some_and(|(connection, http1)| {
                http1.last == slot && http1.refused.is_none() && connection.input.is_empty()
            })
    }

    /// Is called when the reply of the oldest exchange is complete in the cork. Lets the next replies follow.
    pub fn finish_first(&mut self, id: ConnectionId) {
        loop {
            let Some((connection, http1, server)) =
                self.connections.http1_with_server(&mut self.servers, id)
            else {
                return;
            };
            let slot = http1.first;
            let exchange = self.exchanges.get(slot);
            http1.first = exchange.next;
            http1.in_flight -= 1;
            http1.mid_reply = false;
            if exchange.close {
                connection.life.close();
            }
            self.exchanges.release(slot);
            server.stats.in_flight -= 1;
            if connection.life.is_closing() && http1.first != Slot::NONE {
                // This reply ends the connection, so the requests behind it get no reply.
                self.abort_exchanges(id, abort::ERROR);
            }
            let Some((connection, http1)) = self.connections.http1(id) else {
                return;
            };
            let next = http1.first;
            if next == Slot::NONE {
                http1.last = Slot::NONE;
                http1.exclusive = false;
                self.after_last_reply(id);
                return;
            }
            let blocked = std::mem::take(&mut connection.parse_blocked);
            let exchange = self.exchanges.get_mut(next);
            if let State::Streaming(_) = exchange.state {
                http1.mid_reply = true;
            }
            let state = exchange.state;
            if !exchange.stash.is_empty() && !self.unstash(id, next) {
                return;
            }
            if self.sender.is_full() {
                self.flush_cork();
                self.cork_for(id);
            }
            if blocked {
                self.queue(id);
            }
            if state != State::Done {
                return;
            }
        }
    }

    /// Is called when every request received so far is answered.
    pub fn after_last_reply(&mut self, id: ConnectionId) {
        let now = self.clock.now();
        let Some((connection, http1, server)) =
            self.connections.http1_with_server(&mut self.servers, id)
        else {
            return;
        };
        let limits = &server.config.limits;
        let (keep_alive, headers) = (limits.keep_alive_timeout, limits.headers_timeout);
        let (drain_limit, drain_timeout) = (limits.drain_limit, limits.drain_timeout);
        let leave = server.is_closing() || now - connection.opened > limits.max_connection_age;
        // A client that does not wait for its replies may have sent more before it learned that this is the last one.
        if connection.life.is_closing() && server.phase != Phase::Open {
            connection.life.expect_more();
        }
        // No refusal follows a reply that ends the connection.
        if let Some(refused) = http1.refused.take()
            && !connection.life.is_closing()
        {
            self.write_refusal(id, refused);
            return;
        }
        match std::mem::replace(&mut http1.inbound, Inbound::Head) {
            Inbound::Head => {
                connection.deadline = now
                    + if connection.input.is_empty() {
                        keep_alive
                    } else {
                        headers
                    };
                if leave && connection.input.is_empty() && !connection.life.is_closing() {
                    // The reply did not say it, since it began before.
                    connection.life.close();
                    connection.life.expect_more();
                }
            }
            Inbound::Streaming(body) if connection.life.is_closing() => {
                // If the body was received whole, nothing more is awaited.
                http1.inbound = Inbound::Closed;
                if !body.remaining.is_done() {
                    connection.life.expect_more();
                }
            }
            Inbound::Streaming(body) => {
                http1.inbound = Inbound::Discard(Discard {
                    remaining: body.remaining,
                    budget: drain_limit,
                });
                connection.deadline = now + drain_timeout;
                connection.parse_blocked = true;
            }
            Inbound::Discard(body) if connection.life.is_closing() => {
                http1.inbound = Inbound::Closed;
                if !body.remaining.is_done() {
                    connection.life.expect_more();
                }
            }
            Inbound::Discard(body) => {
                http1.inbound = Inbound::Discard(body);
                connection.deadline = now + drain_timeout;
            }
            Inbound::Closed => {
                http1.inbound = Inbound::Closed;
                connection.life.close();
            }
            buffering @ Inbound::Buffering(_) => http1.inbound = buffering,
        }
        if connection.life.is_closing() {
            // Requests behind the last one are not answered.
            if !connection.input.is_empty() {
                connection.life.expect_more();
            }
            connection.input = Vec::new();
            http1.inbound = Inbound::Closed;
        }
        if std::mem::take(&mut connection.parse_blocked) {
            self.queue(id);
            self.throttle(id);
        }
    }

    /// Is called when a body that was thrown away has ended. `last`: nothing was received behind it.
    pub fn after_body(&mut self, id: ConnectionId, last: bool) {
        let now = self.clock.now();
        let Some((connection, http1, server)) =
            self.connections.http1_with_server(&mut self.servers, id)
        else {
            return;
        };
        if http1.in_flight > 0 {
            return;
        }
        let limits = &server.config.limits;
        connection.deadline = now + limits.keep_alive_timeout;
        let leave = server.is_closing() || now - connection.opened > limits.max_connection_age;
        if leave && last {
            http1.inbound = Inbound::Closed;
            connection.life.close();
            connection.life.expect_more();
            if connection.unsent() == 0 && !self.sender.gathers_for(id) {
                self.close_or_linger(id);
            }
        }
    }

    /// Is called when all output was sent: only now the time of the next request begins.
    pub fn await_request(&mut self, id: ConnectionId) {
        let now = self.clock.now();
        let Some((connection, http1, server)) =
            self.connections.http1_with_server(&mut self.servers, id)
        else {
            return;
        };
        // Bytes that were sent before the first request belong to the TLS handshake.
        if http1.fresh || http1.in_flight > 0 || !matches!(http1.inbound, Inbound::Head) {
            return;
        }
        let limits = &server.config.limits;
        if connection.input.is_empty() && server.is_closing() {
            // The reply did not say it, since it began before.
            connection.life.close();
            connection.life.expect_more();
            http1.inbound = Inbound::Closed;
        }
        connection.deadline = now
            + if connection.input.is_empty() {
                limits.keep_alive_timeout
            } else {
                limits.headers_timeout
            };
    }

    /// Tells the oldest exchange that its stream may go on, if it asked.
    #[inline]
    pub fn tell_stream(&mut self, id: ConnectionId) {
        let Some((_, http1)) = self.connections.http1(id) else {
            return;
        };
        let first = http1.first;
        let exchange = self.exchanges.get_mut(first);
        if std::mem::take(&mut exchange.want_drain) {
            self.slice.let_go_on(self.exchanges.identity(first));
        }
    }
}
