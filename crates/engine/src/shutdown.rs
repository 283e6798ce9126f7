//! Graceful close of one server.

use crate::connection::ConnectionId;
use crate::engine::{Core, Engine};
use crate::slice::{Notice, abort};

impl Engine {
    /// Stops accepting and closes idle connections. Requests in flight are answered with `Connection: close`.
    /// Connections that are left after `shutdownTimeout` are reset. A `closed` notice follows when none is left.
    pub fn close(&mut self, id: u16) {
        let core = &mut self.core;
        let now = core.now;
        let Some(server) = core.servers.get_mut(id) else {
            return;
        };
        if server.closing {
            return;
        }
        server.closing = true;
        server.deadline = now + server.config.limits.shutdown_timeout;
        if let Some(listener) = server.listener.take() {
            let _ = core.poller.remove(listener.fd());
        }
        core.close_idle(id);
        if core
            .servers
            .get(id)
            .is_some_and(|server| server.stats.connections == 0)
        {
            core.notify_closed(id);
        }
    }
}

impl Core {
    fn connections_of(&self, server: u16) -> Vec<ConnectionId> {
        self.connections
            .ids()
            .filter(|&id| {
                self.connections
                    .get(id)
                    .is_some_and(|connection| connection.server == server)
            })
            .collect()
    }

    fn close_idle(&mut self, server: u16) {
        for id in self.connections_of(server) {
            if self
                .connections
                .get(id)
                .is_some_and(crate::connection::Connection::is_idle)
            {
                // The notice comes from `close` itself when this was the last.
                self.remove_quietly(id);
            }
        }
    }

    /// Removes an idle connection without a notice. It has no exchange to abort, so the only notice that `remove` can
    /// write is `closed`, and `notify(None, …)` puts that one at the end of the queue.
    fn remove_quietly(&mut self, id: ConnectionId) {
        let notices = self.slice.notices.len();
        self.remove(id, abort::SHUTDOWN);
        self.slice.notices.truncate(notices);
    }

    pub fn reset_all(&mut self, server: u16) {
        for id in self.connections_of(server) {
            self.reset_connection(id, abort::SHUTDOWN);
        }
    }

    pub fn notify_closed(&mut self, id: u16) {
        self.slice.notify(None, Notice::closed(id));
    }
}
