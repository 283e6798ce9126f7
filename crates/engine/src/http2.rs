//! HTTP/2 (RFC 9113): from frames to requests, and from reply records to frames. `crates/h2` knows frames, streams and
//! windows; this folder knows exchanges, bodies, limits and time. A stream is an exchange like any other for JavaScript.

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

/// What HTTP/2 knows of a connection.
///
/// # Invariants
/// These hold between two steps, that is, whenever `Core::flush` has returned:
/// - A place of `streams` is open exactly while the session has a stream of that key.
/// - `session.out()` is empty.
pub struct Http2 {
    session: Session,
    /// The streams by their keys.
    streams: Vec<Stream>,
    /// How many of them are open.
    open: usize,
    /// Streams whose bodies JavaScript may be given more of, or whose requests wait for room in a slice.
    ready: Vec<Key>,
    /// A producer of a reply waits for the word that it may go on.
    producers_wait: bool,
    leaving: Leaving,
    /// When the connection has been without a stream for too long.
    idle_until: u64,
    /// When a head, or another frame that began, has to be whole.
    frame_until: u64,
    /// The session has failed: nothing more is read.
    failed: bool,
}

/// One request and its reply, as far as either has bytes to come.
struct Stream {
    open: bool,
    /// The exchange, until its reply is complete. A request that JavaScript never sees has none.
    slot: Slot,
    /// The index of the settings of the sockets of its route, if the request asks for a WebSocket (RFC 8441).
    upgrade: Option<u16>,
    /// The WebSocket that it has become.
    socket: ConnectionId,
    /// How many bytes of it the socket has received and not consumed.
    held: usize,
    upload: Upload,
    /// When the body of the request has to be there.
    deadline: u64,
    /// What waits for windows of the client, or for room in the output of the connection.
    waiting: Output,
    /// What follows behind `waiting`.
    end: End,
    /// When something of `waiting` has to be sent.
    send_until: u64,
}

/// How a reply goes on behind the bytes that are there.
pub enum End {
    /// More comes from its producer.
    Open,
    /// Nothing comes.
    Whole,
    /// A block of trailer fields comes.
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

/// What the connections of an engine share, so that a request allocates nothing.
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

    /// Brings Date up to date.
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

    /// Gives whether a stream is open.
    #[inline]
    pub fn is_busy(&self) -> bool {
        self.open > 0
    }

    /// Gives whether nothing is in flight, half received, or told and not answered.
    pub fn is_idle(&self) -> bool {
        self.open == 0 && !self.failed && !self.leaving.is_asked()
    }

    /// The place of a stream in its table, which grows as streams come.
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
    /// A connection that speaks HTTP/2.
    #[inline]
    fn http2(&mut self, id: ConnectionId) -> Option<(&mut Connection, &mut Http2)> {
        match self.open(id)? {
            (connection, Protocol::Http2(http2)) => Some((connection, http2)),
            _ => None,
        }
    }

    /// A connection that speaks HTTP/2, and its server.
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
