//! Enforces time limits by one sweep over all connections.

use crate::connection::ConnectionId;
use crate::engine::{Core, Engine};
use crate::exchange::State;
use crate::slice::{Notice, abort};

/// Milliseconds between sweeps when no limit is short. Limits are accurate to this.
const SWEEP: u64 = 1000;
/// The least milliseconds between sweeps. A limit below four times this is accurate to this.
const SHORTEST_SWEEP: u64 = 10;

impl Engine {
    /// Milliseconds until [`sweep`](Self::sweep) should be called next, while there are connections.
    pub fn sweep_interval(&self) -> u64 {
        let shortest = self.core.servers.iter().flat_map(|server| {
            let limits = &server.config.limits;
            let sockets = server.config.sockets.iter();
            let sockets = sockets.flat_map(|spec| [spec.idle_timeout / 2, spec.close_timeout]);
            sockets.chain([
                limits.headers_timeout,
                limits.tls_handshake_timeout,
                limits.request_timeout,
                limits.handler_timeout,
                limits.send_timeout,
                limits.keep_alive_timeout,
                limits.http2_idle_timeout,
                limits.drain_timeout,
                limits.drain_idle,
                limits.shutdown_timeout,
            ])
        });
        let shortest = shortest
            .filter(|&timeout| timeout > 0)
            .min()
            .unwrap_or(SWEEP);
        (shortest / 4).clamp(SHORTEST_SWEEP, SWEEP)
    }

    /// Ends whatever has taken too long.
    pub fn sweep(&mut self) {
        self.read_clock();
        let core = &mut self.core;
        for id in core.connections.ids() {
            let Some(connection) = core.connections.get(id) else {
                continue;
            };
            if connection.sending.is_late(core.clock.now()) {
                core.reset_connection(id, abort::CLIENT);
            } else if connection.deadline <= core.clock.now() {
                core.guarded(id, |core| core.expire(id));
            }
        }
        if core.servers.have_handler_timeouts() {
            core.sweep_handlers();
        }
        core.flush();
        core.sweep_servers();
    }
}

impl Core {
    fn expire(&mut self, id: ConnectionId) {
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        if connection.life.is_lingering() {
            self.remove(id, abort::CLIENT);
        } else if !connection.queued {
            // If it is queued, the client is not late: its input waits for us.
            self.time_out(id);
        }
    }

    fn sweep_handlers(&mut self) {
        for slot in self.exchanges.slots() {
            let exchange = self.exchanges.get(slot);
            if exchange.state != State::Waiting || exchange.deadline > self.clock.now() {
                continue;
            }
            let notice = Notice::abort(self.exchanges.identity(slot), abort::TIMEOUT);
            let id = exchange.connection;
            self.slice.notify(None, notice);
            self.guarded(id, |core| core.answer(slot, 503, "E_HANDLER_TIMEOUT"));
        }
    }

    fn sweep_servers(&mut self) {
        let now = self.clock.now();
        for id in self.servers.ids() {
            let Some(server) = self.servers.get_mut(id) else {
                continue;
            };
            if server.accept_again != 0 && server.accept_again <= now {
                server.accept_again = 0;
                if let Some(fd) = server.listener.as_ref().map(reactor::net::Listener::fd) {
                    self.polling.pause(fd, id, false);
                }
            } else {
                self.advance_close(id);
            }
        }
    }
}
