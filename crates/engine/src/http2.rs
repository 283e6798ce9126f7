//! HTTP/2 (RFC 9113): turns frames into requests, and reply records into frames. `crates/h2` handles frames, streams
//! and windows; this folder handles exchanges, bodies, limits and time. For JavaScript a stream is an exchange like any
//! other.

pub mod bodies;
pub mod credit;
pub mod deadlines;
pub mod ending;
pub mod frames;
pub mod holding;
pub mod leaving;
pub mod pumping;
pub mod replies;
pub mod reply_head;
pub mod requests;
pub mod sockets;

use h2::{Key, RequestHead, Session};

use crate::connection::{Connection, ConnectionId, Connections, NEVER};
use crate::exchange::Slot;
use crate::output::Output;
use crate::protocol::Protocol;
use crate::server::{Limits, Server, Servers};
use bodies::Upload;
use leaving::Leaving;
use reply_head::Blocks;

/// The state of HTTP/2 on a connection.
///
/// # Invariants
/// These hold between two steps, that is, whenever `Core::flush` has returned:
/// - A place of `streams` is open exactly while the session has a stream of that key.
/// - `session.out()` is empty.
pub struct Http2 {
    session: Session,
    /// The streams by their keys.
    streams: Vec<Stream>,
    /// The number of open streams.
    open: usize,
    /// Streams with more of a body for JavaScript, or with a request that waits for room in a slice.
    ready: Vec<Key>,
    /// True while a producer of a reply waits for the signal to continue.
    producers_wait: bool,
    leaving: Leaving,
    /// The time at which a connection without streams ends.
    idle_until: u64,
    /// The time by which a head, or another frame that has begun, must be complete.
    frame_until: u64,
    /// True once the session has failed, or the connection ends. Nothing more is read then.
    failed: bool,
}

/// One request and its reply, until the reply is written or the stream is reset.
struct Stream {
    open: bool,
    /// The exchange, until its reply is complete. A request that JavaScript never sees has none.
    slot: Slot,
    /// The index of the socket settings of its route, if the request asks for a WebSocket (RFC 8441).
    upgrade: Option<u16>,
    /// The WebSocket on this stream.
    socket: ConnectionId,
    /// The number of bytes that the socket has received and not consumed.
    held: usize,
    upload: Upload,
    /// The time by which the body of the request must be complete.
    deadline: u64,
    /// Bytes that wait for the flow-control windows, or for room in the output of the connection.
    waiting: Output,
    /// How the reply ends behind `waiting`.
    end: End,
    /// The time by which some bytes of `waiting` must be sent.
    send_until: u64,
}

/// How a reply continues behind the bytes that it has.
pub enum End {
    /// The producer gives more.
    Open,
    /// The reply is complete.
    Whole,
    /// A block of trailer fields follows.
    Trailers(Vec<u8>),
}

impl Default for Stream {
    fn default() -> Self {
        Self {
            open: false,
            slot: Slot::NONE,
            upgrade: None,
            socket: ConnectionId::NONE,
            held: 0,
            upload: Upload::Whole,
            deadline: NEVER,
            waiting: Output::default(),
            end: End::Open,
            send_until: NEVER,
        }
    }
}

/// State that all connections of an engine share, so that a request allocates nothing.
pub struct Shared {
    blocks: Blocks,
    head: Option<Box<RequestHead>>,
    /// The field block that is being written.
    block: Vec<u8>,
    /// Frames that are being written.
    frames: Vec<u8>,
}

impl Shared {
    pub fn new(second: u64) -> Self {
        Self {
            blocks: Blocks::new(second),
            head: None,
            block: Vec::new(),
            frames: Vec::new(),
        }
    }

    /// Updates the Date field.
    pub fn refresh(&mut self, second: u64) {
        self.blocks.refresh(second);
    }
}

impl Http2 {
    pub fn new(server: &Server, now: u64) -> Self {
        let limits = &server.config.limits;
        Self {
            session: Session::new(&session_limits(server), now),
            streams: Vec::new(),
            open: 0,
            ready: Vec::new(),
            producers_wait: false,
            leaving: Leaving::No,
            idle_until: now + limits.headers_timeout,
            frame_until: NEVER,
            failed: false,
        }
    }

    /// Returns true when a stream is open.
    #[inline]
    pub fn is_busy(&self) -> bool {
        self.open > 0
    }

    /// Returns true when nothing is in flight, half received, or passed to JavaScript and not answered.
    pub fn is_idle(&self) -> bool {
        self.open == 0 && !self.failed && !self.leaving.is_asked()
    }

    /// Gives the place of a stream in the table, which grows when needed.
    fn stream(&mut self, key: Key) -> &mut Stream {
        let index = usize::from(key.0);
        if index >= self.streams.len() {
            self.streams.resize_with(index + 1, Stream::default);
        }
        &mut self.streams[index]
    }

    /// Notes that JavaScript can be given more of the body of a stream, or its request.
    fn note_ready(&mut self, key: Key) {
        if !self.ready.contains(&key) {
            self.ready.push(key);
        }
    }

    /// The keys of the streams that are open.
    fn keys(&self) -> Vec<Key> {
        let streams = self.streams.iter().enumerate();
        let open = streams.filter(|(_, stream)| stream.open);
        open.map(|(index, _)| Key(index as u16)).collect()
    }
}

fn session_limits(server: &Server) -> h2::Limits {
    let limits: &Limits = &server.config.limits;
    h2::Limits {
        wire: limits.wire.clone(),
        max_streams: limits.max_streams,
        max_resets: limits.max_stream_resets,
        connect_protocol: !server.config.sockets.is_empty(),
        ..h2::Limits::default()
    }
}

impl Connections {
    /// Gives a connection that speaks HTTP/2.
    #[inline]
    fn http2(&mut self, id: ConnectionId) -> Option<(&mut Connection, &mut Http2)> {
        match self.open(id)? {
            (connection, Protocol::Http2(http2)) => Some((connection, http2)),
            _ => None,
        }
    }

    /// Gives a connection that speaks HTTP/2, and its server.
    #[inline]
    fn http2_with_server<'a>(
        &'a mut self,
        servers: &'a mut Servers,
        id: ConnectionId,
    ) -> Option<(&'a mut Connection, &'a mut Http2, &'a mut Server)> {
        let (connection, http2) = self.http2(id)?;
        let server = servers.get_mut(connection.server)?;
        Some((connection, http2, server))
    }
}
