//! The engine of one Node.js thread: its state, its event loop, and its listeners.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{OwnedFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use accept::Intake;
use reactor::clock;
use reactor::net::{ListenAddr, Listener, listen_tcp, listen_unix};
use ring::{Memory, Page};

use crate::connection::{Connection, ConnectionId, Connections};
use crate::exchange::{Exchanges, Slot};
use crate::handshake::Handshakes;
use crate::http1::reply_head::Templates;
use crate::http2::Shared;
use crate::polling::{Polling, Source};
use crate::receive::Ready;
use crate::routing::Scratch;
use crate::sending::Sender;
use crate::server::{Phase, Server, ServerConfig, ServerStats, Servers};
use crate::slice::Slice;
use crate::websocket::compression::Compression;
use crate::websocket::publishing::Publishing;

/// What a call to [`Engine::collect`] found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    /// Descriptors in the page; 0 means there is nothing for JavaScript.
    pub count: usize,
    pub page: Page,
}

pub struct Engine {
    pub(crate) memory: Memory,
    pub(crate) core: Core,
}

/// The state of the engine, by the stage that owns it. A stage's fields are private to its file.
pub struct Core {
    pub polling: Polling,
    /// The end of the pair by which a supervisor passes connections, in its workers.
    pub intake: Option<Intake>,
    pub connections: Connections,
    pub exchanges: Exchanges,
    pub servers: Servers,
    pub ready: Ready,
    pub scratch: Scratch,
    pub slice: Slice,
    pub sender: Sender,
    pub templates: Templates,
    pub shared: Shared,
    pub publishing: Publishing,
    pub compression: Compression,
    pub handshakes: Handshakes,
    pub clock: Clock,
    /// The last slice began with events.
    events_first: bool,
    /// The last slice told at least one stream to go on.
    drained: bool,
}

/// The monotonic clock in milliseconds, read once a turn. Tests hold it and move it on, so that a limit of an hour is
/// tested one below, at and one above in no time.
pub struct Clock {
    now: u64,
    /// Milliseconds by which a test has moved it on.
    ahead: u64,
    /// The time at which it stands while a test holds it.
    held: Option<u64>,
}

impl Clock {
    fn started() -> Self {
        Self {
            now: clock::monotonic_ms(),
            ahead: 0,
            held: None,
        }
    }

    #[inline]
    pub fn now(&self) -> u64 {
        self.now
    }

    #[inline]
    fn read(&mut self) {
        self.now = self.held.unwrap_or_else(clock::monotonic_ms) + self.ahead;
    }
}

impl Engine {
    /// # Errors
    /// When the kernel refuses another poller.
    pub fn new(memory: Memory) -> io::Result<Self> {
        Ok(Self {
            memory,
            core: Core {
                polling: Polling::new()?,
                intake: None,
                connections: Connections::default(),
                exchanges: Exchanges::default(),
                servers: Servers::default(),
                ready: Ready::default(),
                scratch: Scratch::default(),
                slice: Slice::new(),
                sender: Sender::default(),
                templates: Templates::new(clock::unix_seconds()),
                shared: Shared::new(clock::unix_seconds()),
                publishing: Publishing::default(),
                compression: Compression::default(),
                handshakes: Handshakes::default(),
                clock: Clock::started(),
                events_first: false,
                drained: false,
            },
        })
    }

    /// The shared memory, for callers that stand in for JavaScript.
    pub fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }

    /// The descriptor that the outer event loop watches. It is readable when there is work.
    pub fn fd(&self) -> RawFd {
        self.core.polling.fd()
    }

    /// Starts a turn: reads the clock, and allows one poll.
    pub fn begin_turn(&mut self) {
        self.read_clock();
        self.core.polling.ask_again();
        self.core.handshakes.begin_turn();
    }

    /// Reads the clock, for replies that come outside a turn or long after it began: time limits and Date count from
    /// now.
    pub fn read_clock(&mut self) {
        self.core.clock.read();
        let second = clock::unix_seconds();
        self.core.templates.refresh(second);
        self.core.shared.refresh(second);
    }

    /// Has the clock stand still (`true`), or go on by what has gone by meanwhile, never back (`false`). For tests: Date
    /// is not held.
    pub fn hold_clock(&mut self, hold: bool) {
        self.core.clock.held = hold.then(clock::monotonic_ms);
        self.read_clock();
    }

    /// Moves the clock on by `ms`, held or not. For tests; what is late is ended by the next [`sweep`](Self::sweep).
    pub fn advance_clock(&mut self, ms: u64) {
        self.core.clock.ahead += ms;
        self.read_clock();
    }

    /// Fills the next page from ready connections and, once a turn, from the poller. Call again after
    /// [`apply`](Self::apply) until `count` is 0.
    pub fn collect(&mut self) -> Turn {
        let Self { memory, core } = self;
        core.slice.begin(memory);
        // Streams that go on take time, and the requests that came meanwhile go before the rest of the streams.
        if std::mem::take(&mut core.drained) {
            core.polling.ask_again();
        }
        core.gather(memory);
        core.flush();
        core.slice.deliver(memory);
        core.drained = core.slice.deliver_drains(memory);
        Turn {
            count: core.slice.count(),
            page: core.slice.page(),
        }
    }

    /// Fills the page with queued notices only, and reads no socket.
    pub fn collect_notices(&mut self) -> Turn {
        let Self { memory, core } = self;
        if core.slice.has_notices() {
            core.slice.begin(memory);
            return Turn {
                count: core.slice.count(),
                page: core.slice.page(),
            };
        }
        Turn {
            count: 0,
            page: core.slice.page(),
        }
    }

    /// The bodies of this slice that are too large for the arena, by the index in their descriptors.
    pub fn bodies(&self) -> &[Vec<u8>] {
        self.core.slice.bodies()
    }

    /// How many descriptors fill a slice, between 1 and `MOST_REQUESTS`.
    pub fn set_slice_target(&mut self, target: usize) {
        self.core.slice.set_target(target);
    }

    /// Gives whether work is left that no readiness event will announce.
    pub fn has_work(&self) -> bool {
        self.core.ready.len() > 0
            || self.core.sender.has_work()
            || self.core.slice.has_work()
            || self.core.polling.has_events()
            || self.core.handshakes.has_work()
    }

    pub fn has_notices(&self) -> bool {
        self.core.slice.has_notices()
    }

    pub fn connection_count(&self) -> usize {
        self.core.connections.len()
    }

    pub fn in_flight(&self) -> usize {
        self.core.exchanges.in_flight()
    }

    /// Gives whether limits must be watched: there are connections, or accepting is paused.
    pub fn needs_sweep(&self) -> bool {
        self.core.connections.len() > 0 || self.core.servers.iter().any(|s| s.accept_again != 0)
    }

    /// Gives whether the process must not end now: a server listens or is closing, a request is unanswered or a reply
    /// unsent.
    pub fn keeps_alive(&self) -> bool {
        self.core.exchanges.in_flight() > 0
            || self.core.sender.is_waiting()
            || self.core.servers.iter().any(|server| {
                server.phase != Phase::Open || (server.listens() && server.referenced)
            })
    }

    /// Decides whether a server that listens keeps the process alive. By default it does.
    pub fn set_referenced(&mut self, id: u16, on: bool) {
        if let Some(server) = self.core.servers.get_mut(id) {
            server.referenced = on;
        }
    }

    /// Adds a server that does not listen yet and gives its id.
    pub fn create_server(&mut self, config: ServerConfig) -> u16 {
        let core = &mut self.core;
        core.servers.add(Server::new(config))
    }

    /// # Errors
    /// What `bind` and `listen` refuse, `AddrInUse` and `PermissionDenied` among them.
    pub fn listen_tcp(
        &mut self,
        server: u16,
        address: SocketAddr,
        backlog: i32,
        ipv6_only: bool,
        reuse_port: bool,
    ) -> io::Result<ListenAddr> {
        let listener = listen_tcp(address, backlog, ipv6_only, reuse_port)?;
        self.listen(server, listener)
    }

    /// # Errors
    /// As [`listen_tcp`](Self::listen_tcp).
    pub fn listen_unix(
        &mut self,
        server: u16,
        path: &Path,
        backlog: i32,
    ) -> io::Result<ListenAddr> {
        let listener = listen_unix(path, backlog)?;
        self.listen(server, listener)
    }

    /// Listens on a socket that listens already, whose descriptor the process was given.
    ///
    /// # Errors
    /// `InvalidInput` if the descriptor is no such socket.
    pub fn listen_on(&mut self, server: u16, fd: OwnedFd) -> io::Result<ListenAddr> {
        let listener = Listener::from_owned(fd)?;
        self.listen(server, listener)
    }

    fn listen(&mut self, id: u16, listener: Listener) -> io::Result<ListenAddr> {
        let core = &mut self.core;
        let server = core
            .servers
            .get_mut(id)
            .filter(|server| server.phase == Phase::Open);
        let Some(server) = server else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let address = listener.local_addr()?;
        core.polling.listen(listener.fd(), id)?;
        server.listener = Some(listener);
        Ok(address)
    }

    /// How many bytes wait to be sent to a WebSocket, of those that were applied.
    pub fn unsent(&self, slot: u32, generation: u32) -> usize {
        let exchange = self.core.exchanges.live(Slot(slot), generation);
        exchange
            .and_then(|exchange| self.core.connections.get(exchange.connection))
            .map_or(0, Connection::unsent)
    }

    /// How many topics of a server have subscribers.
    pub fn topics(&self, id: u16) -> usize {
        self.core
            .servers
            .get(id)
            .map_or(0, |server| server.topics.len())
    }

    /// How many bytes of request bodies and unfinished messages a server has buffered.
    pub fn buffered(&self, id: u16) -> u64 {
        self.core
            .servers
            .get(id)
            .map_or(0, |server| server.buffered)
    }

    pub fn stats(&self, id: u16) -> Option<ServerStats> {
        self.core.servers.get(id).map(|server| server.stats)
    }

    /// Forgets a server whose `closed` notice was delivered.
    pub fn drop_server(&mut self, id: u16) {
        self.core.servers.remove(id);
    }
}

impl Core {
    /// Fills the page. Kept input and new events take turns at going first, so that a flood of either fills at most
    /// every other slice.
    fn gather(&mut self, memory: &mut Memory) {
        self.advance_one_handshake(memory);
        self.events_first = !self.events_first;
        if self.events_first {
            self.take_events(memory);
        }
        // Only what is ready at the start counts: a connection that queues itself again waits for the next round.
        let mut round = self.ready.len();
        while round > 0 && self.slice.has_room(memory) {
            round -= 1;
            if let Some(id) = self
                .ready
                .next()
                .and_then(|token| self.connections.resolve(token))
            {
                self.guarded(id, |core| core.resume(memory, id));
            }
        }
        self.take_events(memory);
        self.advance_handshakes(memory);
        self.send_waiting(memory);
    }

    /// Handles events until the slice is full or there are none left. It asks the poller at most once.
    fn take_events(&mut self, memory: &mut Memory) {
        let mut asked = false;
        loop {
            while self.polling.has_events() {
                if !self.slice.has_room(memory) {
                    return;
                }
                match self.polling.next_event() {
                    (Source::Listener(server), _) => {
                        // The poller reports again what is left in the queue.
                        let _ = self.accept(server);
                    }
                    (Source::Intake, _) => {
                        let _ = self.take_in();
                    }
                    (Source::Connection(token), event) => {
                        if let Some(id) = self.connections.resolve(token) {
                            self.guarded(id, |core| core.on_event(memory, id, event));
                        }
                    }
                }
            }
            if asked || !self.slice.has_room(memory) || !self.polling.ask() {
                return;
            }
            asked = true;
        }
    }

    /// Does something for one connection. A panic costs that connection and nothing else.
    pub fn guarded(&mut self, id: ConnectionId, work: impl FnOnce(&mut Self)) {
        if catch_unwind(AssertUnwindSafe(|| work(self))).is_err() {
            self.after_panic(id, false);
        }
    }
}
