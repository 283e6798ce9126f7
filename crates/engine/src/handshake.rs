//! TLS handshakes: the time they may take, the number that may be unfinished, and how they end. A handshake takes about
//! 200 µs on the one thread that serves all connections. So each turn spends a limited time on handshakes, and the
//! others wait.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use ::tls::{Config, ConfigFault, Fault, Info, Link, Scratch, Settings};
use ring::Memory;

use crate::connection::{ConnectionId, Connections};
use crate::engine::{Core, Engine};
use crate::exchange::Slot;
use crate::protocol::Protocol;
use crate::server::Limits;
use crate::slice::abort;
use crate::transport::{Opened, Transport};

/// The most time that one turn spends on handshakes, unless the first takes longer.
const BUDGET: Duration = Duration::from_micros(500);
/// When a handshake begins, the list may have this many more tokens of finished handshakes than of unfinished ones.
const STALE: usize = 64;

/// The state of a connection that has no protocol yet, before the TLS handshake is done, or none any more, after a
/// fault of TLS.
#[derive(Default)]
pub struct Handshake {
    /// True while the server counts it as unfinished.
    counted: bool,
    /// The time since which it waits for a turn with time for handshakes. The socket is not read meanwhile.
    deferred: Option<u64>,
}

impl Handshake {
    pub fn begun() -> Self {
        Self {
            counted: true,
            deferred: None,
        }
    }

    pub fn is_deferred(&self) -> bool {
        self.deferred.is_some()
    }
}

/// The handshakes of an engine.
#[derive(Default)]
pub struct Handshakes {
    /// The tokens of connections that wait; the one that has waited longest is first.
    deferred: VecDeque<u64>,
    /// The time that this turn has spent on handshakes; `None` before the first one.
    spent: Option<Duration>,
    scratch: Scratch,
}

impl Handshakes {
    pub fn begin_turn(&mut self) {
        self.spent = None;
    }

    pub fn has_work(&self) -> bool {
        !self.deferred.is_empty()
    }

    fn may_work(&self) -> bool {
        self.spent.is_none_or(|spent| spent < BUDGET)
    }
}

/// The TLS of one server.
pub struct ServerTls {
    pub settings: Settings,
    /// The number of unfinished handshakes.
    unfinished: usize,
    /// The tokens of unfinished handshakes, the oldest first, among some of finished ones.
    order: VecDeque<u64>,
}

impl Engine {
    /// Makes a server use this TLS configuration for new connections. Nothing changes on an error.
    ///
    /// # Errors
    ///
    /// Fails if the configuration is not valid, and says what is wrong.
    pub fn set_tls(&mut self, id: u16, config: &Config) -> Result<(), ConfigFault> {
        let Some(server) = self.core.servers.get_mut(id) else {
            return Ok(());
        };
        let previous = server.tls.as_ref().map(|tls| &tls.settings);
        let settings = config.build(previous)?;
        match &mut server.tls {
            Some(tls) => tls.settings = settings,
            None => {
                server.tls = Some(Box::new(ServerTls {
                    settings,
                    unfinished: 0,
                    order: VecDeque::new(),
                }));
            }
        }
        Ok(())
    }

    /// Gives the result of the TLS handshake of an exchange's connection, if the exchange lives and its connection is
    /// TLS.
    pub fn tls_info(&self, slot: u32, generation: u32) -> Option<Info<'_>> {
        let exchange = self.core.exchanges.live(Slot(slot), generation)?;
        let mut connection = self.core.connections.get(exchange.connection)?;
        // A WebSocket over HTTP/2 is a stream of the connection that has TLS.
        if let Some(place) = connection.transport.place() {
            connection = self.core.connections.get(place.parent)?;
        }
        Some(connection.transport.link()?.info())
    }
}

impl Connections {
    fn handshake(&mut self, id: ConnectionId) -> Option<&mut Handshake> {
        match self.open(id)? {
            (_, Protocol::Handshake(handshake)) => Some(handshake),
            _ => None,
        }
    }

    fn is_unfinished(&self, id: ConnectionId) -> bool {
        matches!(self.protocol(id), Some(Protocol::Handshake(handshake)) if handshake.counted)
    }
}

impl Core {
    /// Counts a connection whose handshake begins. Above the limit of its server, resets the oldest unfinished one.
    pub fn begin_handshake(&mut self, server: u16, token: u64) {
        let Some((tls, limits)) = self.server_tls(server) else {
            return;
        };
        let most = limits.max_handshakes;
        tls.order.push_back(token);
        tls.unfinished += 1;
        if tls.order.len() > 2 * tls.unfinished + STALE {
            let mut order = std::mem::take(&mut tls.order);
            order.retain(|&token| self.unfinished(token).is_some());
            if let Some((tls, _)) = self.server_tls(server) {
                tls.order = order;
            }
        }
        while let Some((tls, _)) = self.server_tls(server)
            && tls.unfinished > most
            && let Some(token) = tls.order.pop_front()
        {
            if let Some(oldest) = self.unfinished(token) {
                self.count_refused(server);
                self.reset_connection(oldest, abort::CLIENT);
            }
        }
    }

    fn server_tls(&mut self, id: u16) -> Option<(&mut ServerTls, &Limits)> {
        let server = self.servers.get_mut(id)?;
        Some((server.tls.as_mut()?, &server.config.limits))
    }

    fn unfinished(&self, token: u64) -> Option<ConnectionId> {
        let id = self.connections.resolve(token)?;
        self.connections.is_unfinished(id).then_some(id)
    }

    fn count_refused(&mut self, server: u16) {
        if let Some(server) = self.servers.get_mut(server) {
            server.stats.refused += 1;
        }
    }

    /// Takes a connection out of the count of unfinished handshakes, if it is in it.
    pub fn uncount_handshake(&mut self, id: ConnectionId) {
        let counted = self
            .connections
            .handshake(id)
            .is_some_and(|handshake| std::mem::take(&mut handshake.counted));
        if !counted {
            return;
        }
        let server = self.connections.get(id).map(|connection| connection.server);
        if let Some((tls, _)) = server.and_then(|server| self.server_tls(server)) {
            tls.unfinished -= 1;
        }
    }

    /// Continues a handshake that waits, unless this turn has continued one already. Requests may fill every slice of a
    /// turn, so this comes before them.
    pub fn advance_one_handshake(&mut self, memory: &mut Memory) {
        while self.handshakes.spent.is_none() && self.advance_handshake(memory) {}
    }

    /// Continues waiting handshakes as long as the turn has time for them.
    pub fn advance_handshakes(&mut self, memory: &mut Memory) {
        while self.handshakes.may_work() && self.advance_handshake(memory) {}
    }

    /// Takes the first token of the list. Returns false if there is none, or no room for the bytes of its client.
    fn advance_handshake(&mut self, memory: &mut Memory) -> bool {
        if !self.handshakes.has_work() || !self.slice.has_room(memory) {
            return false;
        }
        let Some(token) = self.handshakes.deferred.pop_front() else {
            return false;
        };
        if let Some(id) = self.connections.resolve(token) {
            self.guarded(id, |core| core.take_up(memory, id));
        }
        true
    }

    fn take_up(&mut self, memory: &mut Memory, id: ConnectionId) {
        let now = self.clock.now();
        if let Some((connection, Protocol::Handshake(handshake))) = self.connections.open(id)
            && let Some(since) = handshake.deferred.take()
        {
            // The time in which its bytes wait for the server does not count against the client.
            connection.deadline = connection.deadline.saturating_add(now - since);
        }
        self.open_records(memory, id, true);
        self.throttle(id);
    }

    /// Puts a handshake on the list of those that wait, and leaves its received bytes in the kernel.
    fn defer(&mut self, id: ConnectionId) {
        let now = self.clock.now();
        let token = self.connections.token(id);
        if let Some(handshake) = self.connections.handshake(id)
            && handshake.deferred.is_none()
        {
            handshake.deferred = Some(now);
            self.handshakes.deferred.push_back(token);
            self.throttle(id);
        }
    }

    /// Receives from a connection with TLS.
    #[inline(never)]
    pub fn receive_sealed(&mut self, memory: &mut Memory, id: ConnectionId) {
        let handshaking = self.connections.is_unfinished(id);
        if handshaking && (self.handshakes.has_work() || !self.handshakes.may_work()) {
            self.defer(id);
        } else {
            self.open_records(memory, id, handshaking);
        }
    }

    fn open_records(&mut self, memory: &mut Memory, id: ConnectionId, handshaking: bool) {
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        let Transport::Tls(tls) = &mut connection.transport else {
            return;
        };
        let begun = handshaking.then(Instant::now);
        let (start, room) = self.slice.room(memory);
        let output = connection.output.end();
        let before = output.len();
        let opened = tls.receive(&mut self.handshakes.scratch, room, output);
        let wrote = output.len() > before;
        let done = handshaking && !tls.link().handshaking();
        if let Some(begun) = begun {
            *self.handshakes.spent.get_or_insert_default() += begun.elapsed();
        }
        let received = match opened {
            Opened::Received(received) => received,
            Opened::Fault(fault) => {
                self.end_link(id, &fault);
                return;
            }
        };
        if done {
            self.finish_handshake(id);
        }
        if wrote {
            self.send_later(id);
        }
        self.take_received(memory, id, start, &received);
    }

    /// Ends a handshake that took too long.
    pub fn time_out_handshake(&mut self, id: ConnectionId) {
        let handshake = self.connections.handshake(id);
        // The client of a deferred handshake is not late: its bytes wait for the server.
        if handshake.is_some_and(|handshake| !handshake.is_deferred()) {
            self.remove(id, abort::CLIENT);
        }
    }

    /// Makes the connection speak the protocol that the handshake has chosen.
    fn finish_handshake(&mut self, id: ConnectionId) {
        let now = self.clock.now();
        self.uncount_handshake(id);
        let Some((connection, protocol)) = self.connections.open(id) else {
            return;
        };
        let Some(server) = self.servers.get(connection.server) else {
            return;
        };
        let alpn = connection.transport.link().and_then(Link::alpn);
        *protocol = Protocol::agreed(server, alpn, now);
        connection.deadline = now + server.config.limits.headers_timeout;
    }

    /// Ends a connection whose client broke a rule of TLS. The client gets an alert, or a reply in plain HTTP if it
    /// speaks that.
    fn end_link(&mut self, id: ConnectionId, fault: &Fault) {
        self.uncount_handshake(id);
        self.release(id, abort::CLIENT);
        let Some((connection, protocol)) = self.connections.open(id) else {
            return;
        };
        *protocol = Protocol::Handshake(Handshake::default());
        connection.input = Vec::new();
        connection.life.expect_more();
        connection.life.close();
        if *fault == Fault::PlainHttp {
            let server = connection.server;
            self.templates.write_explained_problem(
                connection.output.end(),
                400,
                "E_TLS_REQUIRED",
                "This port speaks TLS. Use https:// in place of http://.",
            );
            self.count_refused(server);
        }
        self.send_later(id);
        if self
            .connections
            .get(id)
            .is_some_and(|connection| connection.unsent() == 0)
        {
            self.close_or_linger(id);
        }
    }
}
