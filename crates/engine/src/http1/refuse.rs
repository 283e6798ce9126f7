//! Refuses requests that JavaScript never sees: the reply, and the end of reading.

use crate::connection::ConnectionId;
use crate::engine::Core;
use crate::http1::{Inbound, Refused};

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
        let Some((_, http1, server)) = self.connections.http1_with_server(&mut self.servers, id)
        else {
            return;
        };
        server.stats.refused += 1;
        http1.refused = Some(Refused {
            status,
            code,
            head_only,
        });
        let waits = http1.in_flight > 0;
        self.release_body(id);
        if waits {
            if let Some((connection, http1)) = self.connections.http1(id) {
                http1.inbound = Inbound::Closed;
                connection.life.expect_more();
            }
        } else {
            self.give_refusal(id);
        }
    }

    pub fn give_refusal(&mut self, id: ConnectionId) {
        let refused = self
            .connections
            .http1(id)
            .and_then(|(_, http1)| http1.refused.take());
        if let Some(refused) = refused {
            self.write_refusal(id, refused);
        }
    }

    pub(super) fn write_refusal(&mut self, id: ConnectionId, refused: Refused) {
        let Refused {
            status,
            code,
            head_only,
        } = refused;
        self.cork_for(id);
        let bytes = self.sender.gathered();
        self.templates
            .write_problem(bytes, status, code, true, head_only);
        self.stop_reading(id);
    }

    /// Parses no more bytes, and closes the connection once its replies are sent.
    pub fn stop_reading(&mut self, id: ConnectionId) {
        let Some((connection, http1)) = self.connections.http1(id) else {
            return;
        };
        http1.inbound = Inbound::Closed;
        connection.life.expect_more();
        connection.life.close();
        connection.input = Vec::new();
        if http1.in_flight == 0 && connection.unsent() == 0 && !self.sender.gathers_for(id) {
            self.close_or_linger(id);
        }
    }
}
