//! Ends a connection without losing a request. GOAWAY tells the client to send no more requests. The answer to a PING
//! shows that it has read this. A second GOAWAY names the last stream that was taken (RFC 9113 §6.8). Open streams are
//! served to their ends.

use crate::connection::ConnectionId;
use crate::engine::{Core, Engine};
use crate::server::Phase;

/// The longest wait for the answer to the PING, in milliseconds.
const ROUND_TRIP: u64 = 1000;

/// The steps by which a connection tells its client that it ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leaving {
    No,
    /// The first GOAWAY and the PING were sent. The answer is awaited until this time.
    Asked {
        until: u64,
    },
    /// The last GOAWAY was sent. The connection closes with the last stream that was taken.
    Told,
}

impl Leaving {
    pub fn is_asked(self) -> bool {
        matches!(self, Self::Asked { .. })
    }

    /// Gives the time of the next step.
    pub fn until(self) -> Option<u64> {
        match self {
            Self::Asked { until } => Some(until),
            Self::No | Self::Told => None,
        }
    }
}

impl Core {
    /// Makes the connections of a closing server leave.
    pub fn leave_all(&mut self, server: u16) {
        for id in self.connections_of(server) {
            self.guarded(id, |core| core.ask_to_leave(id));
        }
    }

    /// Makes a connection leave if its server closes, or its age has reached the limit.
    pub fn leave_in_time(&mut self, id: ConnectionId) {
        let now = self.clock.now();
        let Some((connection, http2, server)) =
            self.connections.http2_with_server(&mut self.servers, id)
        else {
            return;
        };
        let is_old = now - connection.opened > server.config.limits.max_connection_age;
        if http2.leaving == Leaving::No && (is_old || server.phase != Phase::Open) {
            self.ask_to_leave(id);
        }
    }

    /// Asks the client to send no more requests.
    pub fn ask_to_leave(&mut self, id: ConnectionId) {
        let now = self.clock.now();
        let Some((connection, http2)) = self.connections.http2(id) else {
            return;
        };
        if http2.leaving != Leaving::No || http2.failed {
            return;
        }
        let until = now + ROUND_TRIP;
        http2.leaving = Leaving::Asked { until };
        connection.deadline = connection.deadline.min(until);
        http2.session.begin_shutdown();
        self.send_control(id);
    }

    /// Tells the client which of its streams were taken, and closes the connection when they are served.
    pub fn leave(&mut self, id: ConnectionId) {
        let Some((_, http2)) = self.connections.http2(id) else {
            return;
        };
        if http2.leaving == Leaving::Told || http2.failed {
            return;
        }
        http2.leaving = Leaving::Told;
        http2.session.finish_shutdown();
        if http2.open == 0 {
            self.end_connection(id);
        } else {
            self.send_control(id);
        }
    }

    /// Is called when the last stream has ended.
    pub fn after_streams(&mut self, id: ConnectionId) {
        let now = self.clock.now();
        let Some((connection, http2, server)) =
            self.connections.http2_with_server(&mut self.servers, id)
        else {
            return;
        };
        if http2.failed {
            return;
        }
        http2.idle_until = now + server.config.limits.http2_idle_timeout;
        connection.deadline = connection.deadline.min(http2.idle_until);
        if http2.leaving == Leaving::Told {
            self.end_connection(id);
        }
    }

    /// Closes the connection when all output is sent.
    pub fn end_connection(&mut self, id: ConnectionId) {
        self.send_control(id);
        let Some((connection, http2)) = self.connections.http2(id) else {
            return;
        };
        http2.failed = true;
        connection.life.expect_more();
        connection.life.close();
        connection.input = Vec::new();
        connection.deadline = crate::connection::NEVER;
        if connection.unsent() == 0 && !self.sender.gathers_for(id) {
            self.close_or_linger(id);
        }
    }
}

impl Engine {
    /// Decides whether clients may use HTTP/2 by prior knowledge on the plain connections of a server (RFC 9113 §3.3).
    pub fn set_http2(&mut self, server: u16, on: bool) {
        if let Some(server) = self.core.servers.get_mut(server) {
            server.http2 = on;
        }
    }
}
