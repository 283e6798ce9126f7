//! The engine of one Node.js thread: its state, its event loop, and its listeners.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::os::fd::RawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use reactor::net::{ListenAddr, Listener, listen_tcp, listen_unix};
use reactor::{Events, Interest, Poller, clock};
use ring::{Memory, Page};
use wire::Head;

use crate::connection::{ConnectionId, Connections};
use crate::exchange::Exchanges;
use crate::http1::reply_head::Templates;
use crate::output::Bodies;
use crate::sending::Sender;
use crate::server::{Phase, Server, ServerConfig, ServerStats, Servers};
use crate::slice::{MOST_REQUESTS, Slice};

/// The most events that one call of the poller gives.
const EVENTS: usize = 1024;
/// This bit is set in the token of a listener; the other bits are the server's id.
const LISTENER: u64 = 1 << 63;

/// What the poller is told of a server's listener.
pub fn listener_token(server: u16) -> u64 {
    LISTENER | u64::from(server)
}

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

pub struct Core {
    pub poller: Poller,
    pub events: Events,
    /// How many events of the last poll were handled, and how many it gave.
    event: usize,
    event_count: usize,
    /// In this turn the poller gave all events it had.
    polled: bool,
    /// Whether the last slice began with events.
    events_first: bool,
    pub connections: Connections,
    pub exchanges: Exchanges,
    pub servers: Servers,
    /// The tokens of connections whose kept input can be parsed further.
    pub ready: VecDeque<u64>,
    /// The last slice told at least one stream to go on.
    drained: bool,
    pub slice: Slice,
    pub head: Option<Box<Head>>,
    pub params: Option<Box<route::Params>>,
    pub path: Vec<u8>,
    pub sender: Sender,
    pub templates: Templates,
    /// The monotonic clock in milliseconds, read once a turn.
    pub now: u64,
    /// The connection that is worked on, which `after_panic` closes.
    pub current: ConnectionId,
    /// At least one server has a handler timeout.
    pub handler_timeouts: bool,
}

impl Engine {
    /// # Errors
    /// When the kernel refuses another poller.
    pub fn new(memory: Memory) -> io::Result<Self> {
        Ok(Self {
            memory,
            core: Core {
                poller: Poller::new()?,
                events: Events::with_capacity(EVENTS),
                event: 0,
                event_count: 0,
                polled: false,
                events_first: false,
                connections: Connections::default(),
                exchanges: Exchanges::default(),
                servers: Servers::default(),
                ready: VecDeque::new(),
                drained: false,
                slice: Slice::new(),
                head: Some(Box::new(Head::new())),
                params: None,
                path: Vec::new(),
                sender: Sender::default(),
                templates: Templates::new(clock::unix_seconds()),
                now: clock::monotonic_ms(),
                current: ConnectionId::NONE,
                handler_timeouts: false,
            },
        })
    }

    /// The shared memory, for callers that stand in for JavaScript.
    pub fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }

    /// The descriptor that the outer event loop watches. It is readable when there is work.
    pub fn fd(&self) -> RawFd {
        self.core.poller.as_raw_fd()
    }

    /// Starts a turn: reads the clock, and allows one poll.
    pub fn begin_turn(&mut self) {
        self.read_clock();
        self.core.polled = false;
    }

    /// Reads the clock, for replies that come outside a turn or long after it began: time limits and Date count from
    /// now.
    pub fn read_clock(&mut self) {
        self.core.now = clock::monotonic_ms();
        self.core.templates.refresh(clock::unix_seconds());
    }

    /// Fills the next page from ready connections and, once a turn, from the poller. Call again after
    /// [`apply`](Self::apply) until `count` is 0.
    pub fn collect(&mut self) -> Turn {
        let Self { memory, core } = self;
        core.slice.begin(memory);
        // Streams that go on take time, and the requests that came meanwhile go before the rest of the streams.
        core.polled &= !std::mem::take(&mut core.drained);
        core.gather(memory);
        core.flush();
        core.slice.deliver(memory);
        core.drained = core.slice.deliver_drains(memory);
        Turn {
            count: core.slice.count,
            page: core.slice.page(),
        }
    }

    /// Fills the page with queued notices only, and reads no socket.
    pub fn collect_notices(&mut self) -> Turn {
        let Self { memory, core } = self;
        if !core.slice.notices.is_empty() {
            core.slice.begin(memory);
            return Turn {
                count: core.slice.count,
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
        &self.core.slice.bodies
    }

    /// How many descriptors fill a slice, between 1 and `MOST_REQUESTS`.
    pub fn set_slice_target(&mut self, target: usize) {
        self.core.slice.target = target.clamp(1, MOST_REQUESTS);
    }

    /// Whether work is left that no readiness event will announce.
    pub fn has_work(&self) -> bool {
        !self.core.ready.is_empty()
            || self.core.sender.has_work()
            || !self.core.slice.notices.is_empty()
            || !self.core.slice.drains.is_empty()
            || self.core.event < self.core.event_count
    }

    pub fn has_notices(&self) -> bool {
        !self.core.slice.notices.is_empty()
    }

    pub fn connection_count(&self) -> usize {
        self.core.connections.len()
    }

    pub fn in_flight(&self) -> usize {
        self.core.exchanges.in_flight()
    }

    /// Whether limits must be watched: there are connections, or accepting is paused.
    pub fn needs_sweep(&self) -> bool {
        self.core.connections.len() > 0 || self.core.servers.iter().any(|s| s.accept_again != 0)
    }

    /// Whether the process must not end now: a server listens or is closing, a request is unanswered or a reply unsent.
    pub fn keeps_alive(&self) -> bool {
        self.core.exchanges.in_flight() > 0
            || self.core.sender.is_waiting()
            || self.core.servers.iter().any(|server| {
                server.phase != Phase::Open || (server.listener.is_some() && server.referenced)
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
        core.handler_timeouts |= config.limits.handler_timeout > 0;
        let server = Server {
            config,
            listener: None,
            accept_again: 0,
            stats: ServerStats::default(),
            buffered: 0,
            waiting: 0,
            bodies: Bodies::default(),
            phase: Phase::Open,
            referenced: true,
            #[cfg(feature = "faults")]
            echoes: false,
            #[cfg(feature = "faults")]
            delays: None,
        };
        core.servers.add(server)
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
        core.poller
            .add(listener.fd(), listener_token(id), Interest::READ)?;
        server.listener = Some(listener);
        Ok(address)
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
        self.events_first = !self.events_first;
        if self.events_first {
            self.take_events(memory);
        }
        // Only what is ready at the start counts: a connection that queues itself again waits for the next round.
        let mut round = self.ready.len();
        while round > 0 && self.slice.has_room(memory) {
            round -= 1;
            let Some(token) = self.ready.pop_front() else {
                break;
            };
            if let Some(id) = self.connections.resolve(token) {
                self.guarded(id, |core| core.resume(memory, id));
            }
        }
        self.take_events(memory);
        self.send_waiting(memory);
    }

    /// Handles events until the slice is full or there are none left. It asks the poller at most once, and not at all
    /// when the poller gave all it had earlier in the turn.
    fn take_events(&mut self, memory: &mut Memory) {
        let mut asked = false;
        loop {
            while self.event < self.event_count {
                if !self.slice.has_room(memory) {
                    return;
                }
                let event = self.events.get(self.event);
                self.event += 1;
                if event.token & LISTENER != 0 {
                    // The poller reports again what is left in the queue.
                    let _ = self.accept((event.token & 0xffff) as u16);
                } else if let Some(id) = self.connections.resolve(event.token) {
                    self.guarded(id, |core| core.on_event(memory, id, event));
                }
            }
            if asked || self.polled || !self.slice.has_room(memory) {
                return;
            }
            asked = true;
            self.event = 0;
            self.event_count = self.poller.poll(&mut self.events, 0).unwrap_or(0);
            // The poller is level-triggered: what comes after it gave less than we could take waits for the next turn.
            self.polled = self.event_count < EVENTS;
        }
    }

    /// Runs one step for one connection. A panic costs that connection and nothing else.
    pub fn guarded(&mut self, id: ConnectionId, step: impl FnOnce(&mut Self)) {
        self.current = id;
        if catch_unwind(AssertUnwindSafe(|| step(self))).is_err() {
            self.after_panic(false);
        }
    }
}
