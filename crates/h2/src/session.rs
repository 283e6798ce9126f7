//! One connection: the frames that are read, the answers of the session itself, and the order of sending.

mod bodies;
mod control;
mod heads;
mod sending;

use crate::budget::{Budget, Charge, Exhausted};
use crate::closed::{Closed, End};
use crate::flow::{Credit, Window};
use crate::frame::{self, FrameHead, MAX_PAYLOAD, kind};
use crate::hpack::Decoder;
use crate::priority::Early;
use crate::streams::Streams;
use crate::{ErrorCode, Event, Key, Limits, RequestHead};

use bodies::Body;
use heads::Block;

/// One connection of a client, from its preface to GOAWAY (RFC 9113).
///
/// With the default limits it uses at most this memory beside its own size: 64 KiB of `out`; 16 KiB of a field block in
/// parts; 17 KiB of HPACK's dynamic table; 6 KiB of streams; 3 KiB of closed and idle streams. That is less than 110
/// KiB for any behaviour of the client.
pub struct Session {
    limits: Limits,
    out: Vec<u8>,
    decoder: Decoder,
    streams: Streams,
    closed: Closed,
    early: Early,
    budget: Budget,
    now_ms: u64,
    stage: Stage,
    /// The DATA frame that is being read.
    body: Option<Body>,
    /// The field block that is being assembled.
    block: Option<Block>,
    /// The largest id of a stream that the client opened.
    last_id: u32,
    /// The window of the connection, and the initial window of a stream.
    window: Window,
    initial_window: u32,
    credit: Credit,
    /// The number of SETTINGS frames that are not acknowledged yet.
    settings_sent: u32,
    ping: Option<Ping>,
    shutdown: Shutdown,
    is_client_leaving: bool,
    /// The number of streams that want to send.
    waiting: usize,
    /// The stream that was sent last.
    turn: Key,
    /// True if `next_to_send` may give a stream that it did not give before.
    sendable: bool,
    failed: Option<ErrorCode>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Preface,
    /// The first frame must be SETTINGS (RFC 9113 §3.4).
    FirstSettings,
    Frames,
}

/// A PING of the server that is not answered yet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ping {
    Alive,
    Drain,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shutdown {
    No,
    Begun,
    Finished,
}

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The most bytes of frames that may wait to be sent. A client that causes more does not read the answers.
const MOST_OUT: usize = 64 * 1_024;
/// The identifiers of SETTINGS (RFC 9113 §6.5.2, RFC 8441 §3, RFC 9218 §2.1).
mod setting {
    pub const ENABLE_PUSH: u16 = 0x2;
    pub const MAX_CONCURRENT_STREAMS: u16 = 0x3;
    pub const INITIAL_WINDOW_SIZE: u16 = 0x4;
    pub const MAX_FRAME_SIZE: u16 = 0x5;
    pub const MAX_HEADER_LIST_SIZE: u16 = 0x6;
    pub const ENABLE_CONNECT_PROTOCOL: u16 = 0x8;
    pub const NO_RFC7540_PRIORITIES: u16 = 0x9;
}
/// The default `SETTINGS_HEADER_TABLE_SIZE`, and the default windows of streams and connection.
const TABLE_SIZE: usize = 4_096;
const DEFAULT_WINDOW: u32 = 65_535;

/// The outcome of a step: `None` if more input is needed, else the number of consumed bytes, and an event if the caller
/// has to act. An error ends the connection.
type Step = Result<Option<(usize, Option<Event>)>, ErrorCode>;

impl From<Exhausted> for ErrorCode {
    fn from(_: Exhausted) -> Self {
        Self::EnhanceYourCalm
    }
}

impl Session {
    /// Makes a session that has read nothing. The server's SETTINGS and the connection's `WINDOW_UPDATE` are in `out`.
    pub fn new(limits: &Limits, now_ms: u64) -> Self {
        let connection_window = limits
            .connection_window
            .clamp(DEFAULT_WINDOW, crate::flow::MAX_WINDOW);
        let mut limits = limits.clone();
        limits.stream_window = limits.stream_window.min(crate::flow::MAX_WINDOW);
        let mut out = Vec::new();
        let mut settings = vec![
            (setting::MAX_CONCURRENT_STREAMS, limits.max_streams),
            (setting::INITIAL_WINDOW_SIZE, limits.stream_window),
            (setting::MAX_HEADER_LIST_SIZE, limits.wire.max_header_size),
            (setting::NO_RFC7540_PRIORITIES, 1),
        ];
        if limits.connect_protocol {
            settings.push((setting::ENABLE_CONNECT_PROTOCOL, 1));
        }
        frame::settings(&mut out, &settings);
        if connection_window > DEFAULT_WINDOW {
            frame::window_update(&mut out, 0, connection_window - DEFAULT_WINDOW);
        }
        let streams = Streams::new(limits.max_streams);
        Self {
            out,
            decoder: Decoder::new(TABLE_SIZE),
            closed: Closed::new(streams.most()),
            streams,
            early: Early::default(),
            budget: Budget::new(&limits, now_ms),
            now_ms,
            stage: Stage::Preface,
            body: None,
            block: None,
            last_id: 0,
            window: Window::new(DEFAULT_WINDOW),
            initial_window: DEFAULT_WINDOW,
            credit: Credit::new(connection_window),
            settings_sent: 1,
            ping: None,
            shutdown: Shutdown::No,
            is_client_leaving: false,
            waiting: 0,
            turn: Key(0),
            sendable: false,
            failed: None,
            limits,
        }
    }

    /// Reads up to the first event that concerns the caller. Gives the number of consumed bytes of `input`. The caller
    /// keeps the others, and passes them again with the bytes that follow. Frames are consumed whole, at most 16,393
    /// bytes, except DATA, which is consumed in the parts in which it arrives.
    ///
    /// `room` says whether a request head can be taken. Without room the session stops before the end of a field block
    /// and gives [`Event::NoRoom`]. `now_ms` is any monotonic clock in milliseconds.
    pub fn read(
        &mut self,
        input: &[u8],
        room: bool,
        head: &mut RequestHead,
        now_ms: u64,
    ) -> (usize, Event) {
        self.now_ms = now_ms;
        let mut used = 0;
        while self.failed.is_none() {
            let rest = &input[used..];
            match self.step(rest, room, head) {
                Ok(None) => {
                    let event = if std::mem::take(&mut self.sendable) {
                        Event::Sendable
                    } else {
                        Event::More
                    };
                    return (used, event);
                }
                Ok(Some((consumed, event))) => {
                    let at = used;
                    used += consumed;
                    if self.out.len() > MOST_OUT || self.budget.received(consumed).is_err() {
                        self.fail(ErrorCode::EnhanceYourCalm);
                    } else if let Some(event) = event {
                        return (used, event.behind(at));
                    }
                }
                Err(code) => self.fail(code),
            }
        }
        let code = self.failed.unwrap_or(ErrorCode::InternalError);
        (input.len(), Event::Failed(code))
    }

    /// Gives the frames that wait to be sent: SETTINGS, PING, `WINDOW_UPDATE`, `RST_STREAM`, GOAWAY. The caller takes
    /// and clears them after each step. With more than 64 KiB the session fails.
    pub fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Returns true when a field block has begun and is not complete.
    pub fn is_mid_block(&self) -> bool {
        self.block.is_some()
    }

    /// Gives the id of the stream; 0 if the key names none.
    #[inline]
    pub fn id(&self, key: Key) -> u32 {
        self.streams.get(key).map_or(0, |stream| stream.id)
    }

    /// Gives the number of open streams.
    pub fn open_streams(&self) -> usize {
        self.streams.open()
    }

    /// Resets the stream, which is gone then. A code that blames the client costs the budget of `max_resets`. If that
    /// is used up, the next `read` fails.
    pub fn reset(&mut self, key: Key, code: ErrorCode) {
        let Some(id) = self.forget(key, End::Server) else {
            return;
        };
        if self.failed.is_some() {
            return;
        }
        frame::reset(&mut self.out, id, code);
        if code.blames_client() && self.budget.charge(Charge::Reset, self.now_ms).is_err() {
            self.fail(ErrorCode::EnhanceYourCalm);
        }
    }

    /// Announces the end of the connection, with a GOAWAY with the largest id and a PING. [`Event::Drained`] follows
    /// when the PING is answered (RFC 9113 §6.8).
    pub fn begin_shutdown(&mut self) {
        if self.failed.is_none() && self.shutdown == Shutdown::No {
            self.shutdown = Shutdown::Begun;
            frame::go_away(&mut self.out, frame::MAX_ID, ErrorCode::NoError);
            self.ping = Some(Ping::Drain);
            frame::ping(&mut self.out, DRAIN_PING, 0);
        }
    }

    /// Sends GOAWAY with the id of the last stream; streams above it are refused.
    pub fn finish_shutdown(&mut self) {
        if self.failed.is_none() && self.shutdown != Shutdown::Finished {
            self.shutdown = Shutdown::Finished;
            frame::go_away(&mut self.out, self.last_id, ErrorCode::NoError);
        }
    }

    /// Ends the connection: GOAWAY with `code`. Nothing more is read.
    pub fn fail(&mut self, code: ErrorCode) {
        if self.failed.is_none() {
            self.failed = Some(code);
            frame::go_away(&mut self.out, self.last_id, code);
        }
    }

    /// Returns true when a window has grown for a waiting stream and the caller does not know it yet. `read` reports it
    /// once it needs more input, for any input.
    pub fn is_sendable(&self) -> bool {
        self.sendable
    }

    /// Returns true when the next bytes belong to a DATA frame.
    pub fn is_mid_body(&self) -> bool {
        self.body.is_some()
    }

    /// Sends a PING, unless one is unanswered.
    pub fn ping(&mut self) {
        if self.failed.is_none() && self.ping.is_none() {
            self.ping = Some(Ping::Alive);
            frame::ping(&mut self.out, ALIVE_PING, 0);
        }
    }

    /// Returns true when a PING of the session is not answered yet.
    pub fn is_ping_unanswered(&self) -> bool {
        self.ping.is_some()
    }

    /// Returns true when the client has sent GOAWAY: it opens no more streams.
    pub fn is_client_leaving(&self) -> bool {
        self.is_client_leaving
    }

    /// Returns true when the counts are consistent, such as the sum of the streams' held bytes and that of the
    /// connection. For tests.
    #[doc(hidden)]
    pub fn is_consistent(&self) -> bool {
        let in_frame = self.body.map_or(0, |body| body.data);
        let mut held = in_frame;
        let mut waiting = 0;
        let mut of_streams = true;
        for (key, stream) in self.streams.keys() {
            held += stream.held;
            waiting += usize::from(stream.wants_to_send);
            let part = self.body.filter(|body| body.key == Some(key));
            let part = part.map_or(0, |body| body.data);
            of_streams &= stream.discards || stream.credit.held() == stream.held + part;
            of_streams &= self.streams.find(stream.id) == Some(key);
        }
        of_streams && held == self.credit.held() && waiting == self.waiting
    }

    /// Gives the bytes of memory that the session takes beside itself and `out`. For tests.
    #[doc(hidden)]
    pub fn memory(&self) -> usize {
        let block = self.block.as_ref().map_or(0, Block::memory);
        let streams = self.streams.memory() + self.closed.memory() + self.early.memory();
        self.decoder.memory() + block + streams
    }

    /// Does one step: reads the preface, a frame, or a part of a DATA frame.
    #[inline]
    fn step(&mut self, input: &[u8], room: bool, head: &mut RequestHead) -> Step {
        if self.body.is_some() {
            return Ok(self.read_body(input));
        }
        if self.stage == Stage::Preface {
            return self.read_preface(input);
        }
        let Some(frame) = FrameHead::read(input) else {
            return Ok(None);
        };
        if frame.length > MAX_PAYLOAD {
            return Err(ErrorCode::FrameSizeError);
        }
        if self.stage == Stage::FirstSettings {
            if frame.kind != kind::SETTINGS || frame.has(frame::flag::ACK) {
                return Err(ErrorCode::ProtocolError);
            }
            self.stage = Stage::Frames;
        }
        if self.block.is_some() && frame.kind != kind::CONTINUATION {
            // Only CONTINUATION may follow inside a field block (RFC 9113 §6.10).
            return Err(ErrorCode::ProtocolError);
        }
        if frame.kind == kind::DATA {
            return self.begin_body(&frame, input);
        }
        let end = frame::HEAD + frame.length;
        let Some(payload) = input.get(frame::HEAD..end) else {
            return Ok(None);
        };
        let event = match frame.kind {
            kind::HEADERS => self.headers(&frame, payload, room, head)?,
            kind::CONTINUATION => self.continuation(&frame, payload, room, head)?,
            _ => self.control(&frame, payload)?,
        };
        match event {
            Some(Event::NoRoom) => Ok(Some((0, event))),
            _ => Ok(Some((end, event))),
        }
    }

    fn read_preface(&mut self, input: &[u8]) -> Step {
        let length = input.len().min(PREFACE.len());
        if input[..length] != PREFACE[..length] {
            return Err(ErrorCode::ProtocolError);
        }
        if length < PREFACE.len() {
            return Ok(None);
        }
        self.stage = Stage::FirstSettings;
        Ok(Some((length, None)))
    }

    /// Returns true when the stream is idle (RFC 9113 §5.1.1). Even ids belong to the server, which opens no streams.
    fn is_idle(&self, id: u32) -> bool {
        id > self.last_id || id.is_multiple_of(2)
    }

    /// Resets a stream for an error of the client (RFC 9113 §5.4.2).
    fn stream_error(&mut self, key: Key, code: ErrorCode) -> Result<Option<Event>, ErrorCode> {
        let Some(id) = self.forget(key, End::Server) else {
            return Ok(None);
        };
        self.send_reset(id, code)?;
        Ok(Some(Event::Gone { key }))
    }

    /// Sends `RST_STREAM` for an error of the client, and charges the client for it.
    fn send_reset(&mut self, id: u32, code: ErrorCode) -> Result<(), ErrorCode> {
        frame::reset(&mut self.out, id, code);
        self.charge(Charge::Reset)
    }

    #[inline]
    fn charge(&mut self, what: Charge) -> Result<(), ErrorCode> {
        Ok(self.budget.charge(what, self.now_ms)?)
    }

    /// Removes a stream, and returns its held bytes to the connection.
    fn forget(&mut self, key: Key, end: End) -> Option<u32> {
        let stream = self.streams.remove(key)?;
        self.waiting -= usize::from(stream.wants_to_send);
        self.budget.taken(stream.short);
        self.give_back(stream.held);
        if let Some(body) = &mut self.body
            && body.key == Some(key)
        {
            body.key = None;
        }
        self.closed.remember(stream.id, end);
        Some(stream.id)
    }

    /// Returns bytes of bodies that are no longer held, so that the window of the connection may grow.
    #[inline]
    fn give_back(&mut self, bytes: u32) {
        if let Some(increment) = self.credit.give_back(bytes)
            && self.failed.is_none()
        {
            frame::window_update(&mut self.out, 0, increment);
        }
    }
}

const DRAIN_PING: [u8; 8] = *b"draining";
const ALIVE_PING: [u8; 8] = *b"anybody?";
