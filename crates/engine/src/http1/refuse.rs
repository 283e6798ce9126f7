//! Refuses requests that JavaScript never sees: the reply, and the end of reading.

use crate::connection::{ConnectionId, Inbound, Refused};
use crate::engine::Core;

impl Core {
    /// Answers a request that JavaScript never sees, after all earlier ones, and closes.
    pub fn refuse(&mut self, id: ConnectionId, status: u16, code: &'static str) {
        self.refuse_request(id, status, code, false);
    }

    /// Does what [`refuse`](Self::refuse) does, for a request whose method is known.
    pub fn refuse_request(
        &mut self,
        id: ConnectionId,
        status: u16,
        code: &'static str,
        head_only: bool,
    ) {
        let Some((connection, server)) = self.connections.with_server(&mut self.servers, id) else {
            return;
        };
        server.stats.refused += 1;
        connection.refused = Some(Refused {
            status,
            code,
            head_only,
        });
        let waits = connection.in_flight > 0;
        self.release_body(id);
        if waits {
            if let Some(connection) = self.connections.get_mut(id) {
                connection.inbound = Inbound::Closed;
                connection.client_may_send = true;
            }
        } else {
            self.give_refusal(id);
        }
    }

    pub fn give_refusal(&mut self, id: ConnectionId) {
        let Some(refused) = self.connections.get_mut(id).and_then(|c| c.refused.take()) else {
            return;
        };
        self.cork_for(id);
        let Refused {
            status,
            code,
            head_only,
        } = refused;
        self.templates
            .write_problem(&mut self.cork.bytes, status, code, true, head_only);
        self.stop_reading(id);
    }

    /// Parses no more bytes, and closes the connection once its replies are sent.
    pub fn stop_reading(&mut self, id: ConnectionId) {
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        connection.inbound = Inbound::Closed;
        connection.client_may_send = true;
        connection.close_after = true;
        connection.input = Vec::new();
        if connection.in_flight == 0 && connection.unsent() == 0 && self.cork.connection != id {
            self.close_or_linger(id);
        }
    }

    /// Gives the bytes of a half received body back to the server's budget.
    pub fn release_body(&mut self, id: ConnectionId) {
        let Some((connection, server)) = self.connections.with_server(&mut self.servers, id) else {
            return;
        };
        if let Inbound::Buffering(body) = &connection.inbound {
            server.buffered -= body.data.len() as u64;
            connection.inbound = Inbound::Closed;
        }
    }
}
