//! One listening app: its sockets, routes and limits.

use reactor::net::{Listener, Peer};
use ring::layout::limit;
use route::Router;

use crate::addresses::Addresses;
use crate::handshake::ServerTls;
use crate::output::Bodies;
use crate::websocket::SocketSpec;
use crate::websocket::topics::Topics;

/// Every limit the engine enforces, in milliseconds, bytes or counts. The table of defaults and bounds is
/// `packages/volant/src/options/limits.ts`; nothing here has a default of its own.
#[derive(Clone, Debug)]
pub struct Limits {
    pub headers_timeout: u64,
    pub request_timeout: u64,
    /// 0 means that there is no limit.
    pub handler_timeout: u64,
    pub send_timeout: u64,
    pub keep_alive_timeout: u64,
    pub max_connection_age: u64,
    pub max_connections: usize,
    pub max_in_flight: usize,
    pub max_param_length: u32,
    pub max_buffered_bodies: u64,
    pub max_buffered_replies: u64,
    pub max_pipelined: u16,
    pub drain_limit: u64,
    pub drain_timeout: u64,
    pub drain_idle: u64,
    pub shutdown_timeout: u64,
    pub max_connections_per_address: usize,
    pub tls_handshake_timeout: u64,
    pub max_handshakes: usize,
    pub http2_idle_timeout: u64,
    pub max_streams: u32,
    pub max_stream_resets: u32,
    pub wire: wire::Limits,
}

impl Limits {
    /// Reads the array JavaScript fills in the order of `ring::layout::limit`.
    ///
    /// # Errors
    /// When the array is not as long as the layout says.
    pub fn from_array(values: &[f64]) -> Result<Self, &'static str> {
        if values.len() != limit::COUNT {
            return Err("the limits array does not have the length of the layout");
        }
        // `as` saturates, and JavaScript has refused NaN, fractions and negatives.
        let at = |index: usize| values[index] as u64;
        let small = |index: usize| values[index] as u32;
        let unless_off = |index: usize| match at(index) {
            0 => OFF,
            value => value,
        };
        Ok(Self {
            headers_timeout: unless_off(limit::HEADERS_TIMEOUT),
            request_timeout: unless_off(limit::REQUEST_TIMEOUT),
            handler_timeout: at(limit::HANDLER_TIMEOUT),
            send_timeout: unless_off(limit::SEND_TIMEOUT),
            keep_alive_timeout: unless_off(limit::KEEP_ALIVE_TIMEOUT),
            max_connection_age: unless_off(limit::MAX_CONNECTION_AGE),
            max_connections: unless_off(limit::MAX_CONNECTIONS) as usize,
            max_in_flight: unless_off(limit::MAX_IN_FLIGHT) as usize,
            max_param_length: small(limit::MAX_PARAM_LENGTH),
            max_buffered_bodies: at(limit::MAX_BUFFERED_BODIES),
            max_buffered_replies: at(limit::MAX_BUFFERED_REPLIES),
            max_pipelined: values[limit::MAX_PIPELINED] as u16,
            drain_limit: at(limit::DRAIN_LIMIT),
            drain_timeout: at(limit::DRAIN_TIMEOUT),
            drain_idle: at(limit::DRAIN_IDLE),
            shutdown_timeout: at(limit::SHUTDOWN_TIMEOUT),
            max_connections_per_address: unless_off(limit::MAX_CONNECTIONS_PER_ADDRESS) as usize,
            tls_handshake_timeout: unless_off(limit::TLS_HANDSHAKE_TIMEOUT),
            max_handshakes: unless_off(limit::MAX_HANDSHAKES) as usize,
            http2_idle_timeout: unless_off(limit::HTTP2_IDLE_TIMEOUT),
            max_streams: small(limit::MAX_STREAMS),
            max_stream_resets: small(limit::MAX_STREAM_RESETS),
            wire: wire::Limits {
                max_header_size: small(limit::MAX_HEADER_SIZE),
                // A descriptor has 16 bits for the length of a field name.
                max_header_line: small(limit::MAX_HEADER_LINE).min(u16::MAX.into()),
                max_headers: values[limit::MAX_HEADERS] as u16,
                max_url_length: small(limit::MAX_URL_LENGTH),
                max_chunk_extensions: small(limit::MAX_CHUNK_EXTENSIONS),
                max_chunk_extensions_total: small(limit::MAX_CHUNK_EXTENSIONS_TOTAL),
                ..wire::Limits::default()
            },
        })
    }
}

/// Stands for a limit that is off. No process lives so long, and no sum with the clock overflows.
pub const OFF: u64 = 1 << 53;

/// When a request is dispatched, if it has a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BodyMode {
    /// With its whole body.
    Buffer,
    /// At once; its body is streamed.
    Stream,
    /// At once; its body is streamed unless all of it came with the head.
    Late,
}

/// How a route wants its body.
#[derive(Clone, Copy, Debug)]
pub struct RouteSpec {
    pub body: BodyMode,
    pub max_body: u64,
    /// The milliseconds that its requests may take; [`OFF`] for no limit.
    pub request_timeout: u64,
    /// The last parameter is the rest of the path, which only the limit on the target bounds.
    pub wildcard: bool,
    /// The index of its settings in [`ServerConfig::sockets`], if the route is for WebSockets.
    pub socket: Option<u16>,
}

pub struct ServerConfig {
    pub limits: Limits,
    pub router: Router,
    /// The routes for WebSockets.
    pub socket_router: Router,
    pub sockets: Vec<SocketSpec>,
    /// The routes of both routers, by id.
    pub routes: Vec<RouteSpec>,
}

/// Counters of one server.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct ServerStats {
    pub connections: u64,
    pub in_flight: u64,
    pub requests: u64,
    pub refused: u64,
    /// Connections, and streams of HTTP/2, that were reset because the bytes that wait to be sent had reached `max_buffered_replies`.
    pub dropped: u64,
    pub panics: u64,
    /// WebSockets, which are among the connections and not in flight.
    pub sockets: u64,
}

/// The servers by id.
#[derive(Default)]
pub struct Servers {
    list: Vec<Option<Server>>,
    handler_timeouts: bool,
}

impl Servers {
    /// Gives whether a server has, or had, a handler timeout.
    pub fn have_handler_timeouts(&self) -> bool {
        self.handler_timeouts
    }

    pub fn add(&mut self, server: Server) -> u16 {
        self.handler_timeouts |= server.config.limits.handler_timeout > 0;
        let free = self.list.iter().position(Option::is_none);
        let id = free.unwrap_or_else(|| {
            self.list.push(None);
            self.list.len() - 1
        });
        self.list[id] = Some(server);
        id as u16
    }

    pub fn remove(&mut self, id: u16) {
        if let Some(server) = self.list.get_mut(usize::from(id)) {
            *server = None;
        }
    }

    pub fn ids(&self) -> impl Iterator<Item = u16> + use<> {
        0..self.list.len() as u16
    }

    pub fn iter(&self) -> impl Iterator<Item = &Server> {
        self.list.iter().flatten()
    }

    #[inline]
    pub fn get(&self, id: u16) -> Option<&Server> {
        self.list.get(usize::from(id))?.as_ref()
    }

    #[inline]
    pub fn get_mut(&mut self, id: u16) -> Option<&mut Server> {
        self.list.get_mut(usize::from(id))?.as_mut()
    }
}

/// How far the close of a server has come.
///
/// ```text
/// Open ──close()──▶ Draining ──drainIdle──▶ Closing
///                       └────────┬────────────┘
///                          shutdownTimeout: what is left is reset
/// ```
///
/// From `Draining` on, no connection is accepted and each reply that ends what was received says `Connection: close`.
/// The `closed` notice follows as soon as no connection is left, in whichever phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    Open,
    /// Idle connections stay: a client may have sent a request, or send one because it cannot know better.
    Draining {
        /// When idle connections are closed.
        until: u64,
        /// When the connections that are left are reset.
        deadline: u64,
    },
    /// Connections are closed as soon as they are idle.
    Closing {
        deadline: u64,
    },
}

pub struct Server {
    pub config: ServerConfig,
    pub listener: Option<Listener>,
    /// The listener of the supervisor whose connections it gets.
    pub passed: Option<u16>,
    /// Until this time accepting is paused, because the process ran out of file descriptors. 0: it is not paused.
    pub accept_again: u64,
    pub stats: ServerStats,
    /// How many bytes of request bodies and unfinished messages are buffered.
    pub buffered: u64,
    /// How many of the engine's own bytes wait to be sent.
    pub waiting: u64,
    /// The bodies that wait to be sent and stay where JavaScript has them.
    pub bodies: Bodies,
    pub topics: Topics,
    /// The state of TLS, if the server uses it.
    pub tls: Option<Box<ServerTls>>,
    addresses: Addresses,
    pub phase: Phase,
    /// The server keeps the process alive while it listens.
    pub referenced: bool,
    /// True if plain connections may begin with the preface of HTTP/2.
    pub http2: bool,
    #[cfg(feature = "faults")]
    pub echoes: bool,
    #[cfg(feature = "faults")]
    pub delays: Option<crate::transport::Delays>,
}

impl Server {
    /// Makes a server that does not listen yet.
    pub fn new(config: ServerConfig) -> Self {
        Self {
            config,
            listener: None,
            passed: None,
            accept_again: 0,
            stats: ServerStats::default(),
            buffered: 0,
            waiting: 0,
            bodies: Bodies::default(),
            topics: Topics::default(),
            tls: None,
            addresses: Addresses::default(),
            phase: Phase::Open,
            referenced: true,
            http2: false,
            #[cfg(feature = "faults")]
            echoes: false,
            #[cfg(feature = "faults")]
            delays: None,
        }
    }

    /// Gives whether connections come to it.
    pub fn listens(&self) -> bool {
        self.listener.is_some() || self.passed.is_some()
    }

    /// Counts a connection of `peer`. Returns false when its address has the most already.
    pub fn admit_address(&mut self, peer: &Peer) -> bool {
        let most = self.config.limits.max_connections_per_address;
        most >= OFF as usize || self.addresses.admit(peer, most)
    }

    /// Takes a connection of `peer` out of the count.
    pub fn release_address(&mut self, peer: &Peer) {
        self.addresses.release(peer);
    }

    /// Returns true when the number of requests in flight is at its limit.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.stats.in_flight as usize >= self.config.limits.max_in_flight
    }

    /// Gives whether more waits to be sent than the limit allows.
    #[inline]
    pub fn holds_too_much(&self) -> bool {
        self.waiting + self.bodies.bytes() > self.config.limits.max_buffered_replies
    }
}
