//! Graceful close of one server.

use reactor::net::Recv;

use crate::connection::ConnectionId;
use crate::engine::{Core, Engine};
use crate::server::{Phase, Server};
use crate::slice::{Notice, abort};

/// How often `close` accepts what waits in the queue, 64 connections each time: as many as the kernel queues by default
/// (`net.core.somaxconn`). A flood of them cannot hold the close up.
const LAST_ACCEPTS: usize = 64;

impl Engine {
    /// Replaces `drainIdle` for the close that comes next.
    pub fn set_drain_idle(&mut self, id: u16, milliseconds: u64) {
        if let Some(server) = self.core.servers.get_mut(id) {
            server.config.limits.drain_idle = milliseconds;
        }
    }

    /// Begins the close (see [`Phase`]): accepts the connections that wait, since the kernel told their clients that
    /// they are connected and would reset them, and then no more. A `closed` notice follows when none is left.
    pub fn close(&mut self, id: u16) {
        self.read_clock();
        let core = &mut self.core;
        let now = core.clock.now();
        if core
            .servers
            .get(id)
            .is_none_or(|server| server.phase != Phase::Open)
        {
            return;
        }
        for _ in 0..LAST_ACCEPTS {
            if !core.accept(id) {
                break;
            }
        }
        // The supervisor passes no more of this server, so what it has passed is all there.
        for _ in 0..LAST_ACCEPTS {
            if !core.take_in() {
                break;
            }
        }
        let Some(server) = core.servers.get_mut(id) else {
            return;
        };
        server.passed = None;
        let limits = &server.config.limits;
        server.phase = Phase::Draining {
            until: now + limits.drain_idle,
            deadline: now + limits.shutdown_timeout,
        };
        let connections = server.stats.connections;
        if let Some(listener) = server.listener.take() {
            core.polling.remove(listener.fd());
        }
        if connections == 0 {
            core.notify_closed(id);
        } else {
            core.close_sockets(id);
            core.leave_all(id);
            core.flush();
            core.advance_close(id);
        }
    }
}

impl Server {
    /// Gives whether a connection is closed as soon as it is idle.
    pub fn is_closing(&self) -> bool {
        matches!(self.phase, Phase::Closing { .. })
    }
}

impl Core {
    /// Does what is due in the close of a server.
    pub fn advance_close(&mut self, id: u16) {
        let now = self.clock.now();
        let Some(server) = self.servers.get_mut(id) else {
            return;
        };
        let deadline = match server.phase {
            Phase::Open => return,
            Phase::Draining { deadline, .. } | Phase::Closing { deadline } => deadline,
        };
        if let Phase::Draining { until, .. } = server.phase
            && until <= now
        {
            server.phase = Phase::Closing { deadline };
        }
        let is_closing = server.is_closing();
        for connection in self.connections_of(id) {
            if deadline <= now {
                self.end_late(connection);
            } else if is_closing {
                self.close_if_idle(connection);
            }
        }
    }

    pub fn connections_of(&self, server: u16) -> Vec<ConnectionId> {
        self.connections
            .ids()
            .filter(|&id| {
                self.connections
                    .get(id)
                    .is_some_and(|connection| connection.server == server)
            })
            .collect()
    }

    /// Reads an idle connection once more: what has arrived is served, and its reply closes the connection.
    fn close_if_idle(&mut self, id: ConnectionId) {
        if !self.connections.is_idle(id) {
            return;
        }
        let Some((connection, server)) = self.connections.with_server(&mut self.servers, id) else {
            return;
        };
        let lingers = server.config.limits.drain_idle > 0;
        match connection.transport.peek() {
            Recv::Data(_) => {}
            // A request that crosses the end of our side is thrown away, and its client sees the end, not a reset.
            Recv::WouldBlock if lingers => self.retire(id),
            Recv::WouldBlock | Recv::End | Recv::Failed(_) => self.remove(id, abort::SHUTDOWN),
        }
    }

    fn end_late(&mut self, id: ConnectionId) {
        if self.connections.is_idle(id) {
            self.remove(id, abort::SHUTDOWN);
        } else {
            self.reset_connection(id, abort::SHUTDOWN);
        }
    }

    pub fn notify_closed(&mut self, id: u16) {
        self.slice.notify(None, Notice::closed(id));
    }
}
