//! One listening app: its sockets, routes and limits.

use reactor::net::Listener;
use ring::layout::limit;
use route::Router;

use crate::output::Bodies;

/// Every limit the engine enforces, in milliseconds, bytes or counts. The table of defaults and bounds is
/// `packages/volant/src/options/limits.ts`; nothing here has a default of its own.
#[derive(Clone, Debug)]
pub struct Limits {
    pub headers_timeout: u64,
    pub request_timeout: u64,
    /// 0 = off.
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
    pub shutdown_timeout: u64,
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
            shutdown_timeout: at(limit::SHUTDOWN_TIMEOUT),
            wire: wire::Limits {
                max_header_size: small(limit::MAX_HEADER_SIZE),
                max_header_line: small(limit::MAX_HEADER_LINE),
                max_headers: values[limit::MAX_HEADERS] as u16,
                max_url_length: small(limit::MAX_URL_LENGTH),
                max_chunk_extensions: small(limit::MAX_CHUNK_EXTENSIONS),
                max_chunk_extensions_total: small(limit::MAX_CHUNK_EXTENSIONS_TOTAL),
                ..wire::Limits::default()
            },
        })
    }
}

/// A limit that is off: further away than any process lives, and no sum with the clock overflows.
const OFF: u64 = 1 << 53;

/// How a route wants its body.
#[derive(Clone, Copy, Debug)]
pub struct RouteSpec {
    /// Dispatch at once and stream the body, instead of waiting for it.
    pub stream: bool,
    pub max_body: u64,
    /// Its last parameter is the rest of the path, which only the target's own limit bounds.
    pub wildcard: bool,
}

pub struct ServerConfig {
    pub limits: Limits,
    pub router: Router,
    /// By route id.
    pub routes: Vec<RouteSpec>,
}

/// Counters of one server.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct ServerStats {
    pub connections: u64,
    pub in_flight: u64,
    pub requests: u64,
    pub refused: u64,
    /// Connections reset because what waits to be sent had reached `max_buffered_replies`.
    pub dropped: u64,
    pub panics: u64,
}

pub struct Server {
    pub config: ServerConfig,
    pub listener: Option<Listener>,
    /// Accepting is paused until then, because the process ran out of file descriptors.
    pub accept_again: u64,
    pub stats: ServerStats,
    /// Bytes of bodies being buffered.
    pub buffered: u64,
    /// How many bytes of the engine's own wait to be sent.
    pub waiting: u64,
    /// The bodies that wait to be sent where JavaScript has them.
    pub bodies: Bodies,
    pub closing: bool,
    /// Keeps the process alive while it listens.
    pub referenced: bool,
    /// When `closing`: the connections left are reset then.
    pub deadline: u64,
}
