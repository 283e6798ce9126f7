//! The bodies of requests: buffered, passed on while there is credit, or discarded. The window of its stream bounds
//! what a client may send ahead. It grows by the bytes that were used.

use h2::{ErrorCode, Key, RequestHead};
use ring::Memory;
use ring::layout::RECEIVE_BYTES;
use wire::Method;

use crate::connection::{ConnectionId, NEVER};
use crate::engine::Core;
use crate::exchange::Identity;
use crate::protocol::Stop;
use crate::slice::{Notice, abort};
use crate::trailers;
use crate::upload::{Held, Pace};

/// How the body of a request is handled.
pub enum Upload {
    /// No more of a body is handled here: it is complete, there is none, or a WebSocket or the session takes it.
    Whole,
    /// The request is dispatched once its body is complete.
    Buffering(Box<Buffering>),
    /// The handler reads the body as it arrives.
    Streaming(Box<Streaming>),
    /// The body belongs to a WebSocket that is not accepted yet, and is kept for it: at most the window of the stream.
    Early {
        kept: Vec<u8>,
        /// True once the client has sent `END_STREAM`.
        ended: bool,
    },
    /// The body is not read.
    Discarded {
        /// The number of further bytes for which the window grows. After them it does not grow any more.
        budget: u64,
    },
}

/// A request that waits for its body.
pub struct Buffering {
    pub held: Held,
    pub limit: u64,
    pub pace: Pace,
    /// True when the body is complete, and the request waits for room in a slice.
    pub whole: bool,
}

/// A request whose handler reads the body as it comes.
pub struct Streaming {
    pub about: Identity,
    pub received: u64,
    pub limit: u64,
    /// The number of further bytes that the handler has asked for.
    pub credit: u64,
    /// Bytes that arrived before there was credit for them: at most the window of the stream.
    pub kept: Vec<u8>,
    /// True once the client has sent `END_STREAM`.
    pub ended: bool,
    /// The trailer fields as a block.
    pub trailers: Box<[u8]>,
    /// True while the client waits for 100 Continue.
    pub expects_continue: bool,
    pub pace: Pace,
    /// The time at which the credit ran out. The time since then does not count against the client.
    pub paused: u64,
}

impl Streaming {
    pub fn new(about: Identity, limit: u64, expects_continue: bool, pace: Pace) -> Self {
        Self {
            about,
            received: 0,
            limit,
            credit: 0,
            kept: Vec::new(),
            ended: false,
            trailers: Box::default(),
            expects_continue,
            pace,
            paused: pace.started,
        }
    }

    /// Returns true when JavaScript can be given more of the body.
    pub fn can_go_on(&self) -> bool {
        if self.kept.is_empty() {
            self.ended
        } else {
            self.credit > 0
        }
    }
}

impl Core {
    /// Takes a part of a body, which is at `start` in the arena.
    pub fn take_body(
        &mut self,
        memory: &mut Memory,
        id: ConnectionId,
        key: Key,
        (start, length): (usize, usize),
        last: bool,
    ) {
        let Some((_, http2, server)) = self.connections.http2_with_server(&mut self.servers, id)
        else {
            return;
        };
        let limits = &server.config.limits;
        let stream = http2.stream(key);
        if stream.socket != ConnectionId::NONE {
            self.take_socket_data(memory, id, key, (start, length), last);
            return;
        }
        match &mut stream.upload {
            Upload::Buffering(body) => {
                let data = &memory.page(self.slice.page()).arena[start..start + length];
                let whole = (body.held.data.len() + length) as u64;
                let head_only = body.held.head.method == Method::HEAD;
                let (status, code) = if whole > body.limit {
                    (413, "E_BODY_TOO_LARGE")
                } else if server.buffered + length as u64 > limits.max_buffered_bodies {
                    (503, "E_OVERLOADED")
                } else {
                    server.buffered += length as u64;
                    body.held.data.extend_from_slice(data);
                    body.pace.received += length as u64;
                    body.whole = last;
                    http2.session.consumed(key, length as u32);
                    if last {
                        http2.note_ready(key);
                    }
                    return;
                };
                self.refuse_stream(id, key, status, code, head_only);
            }
            Upload::Streaming(_) => self.take_streamed_body(memory, id, key, (start, length), last),
            Upload::Discarded { budget } => {
                let let_in = (length as u64).min(*budget);
                *budget -= let_in;
                http2.session.consumed(key, let_in as u32);
            }
            Upload::Early { kept, ended } => {
                let data = &memory.page(self.slice.page()).arena[start..start + length];
                kept.extend_from_slice(data);
                *ended = last;
                server.buffered += length as u64;
                if server.buffered > limits.max_buffered_bodies {
                    self.reset_stream(id, key, ErrorCode::EnhanceYourCalm, abort::ERROR);
                }
            }
            Upload::Whole => {}
        }
    }

    fn take_streamed_body(
        &mut self,
        memory: &mut Memory,
        id: ConnectionId,
        key: Key,
        (start, length): (usize, usize),
        last: bool,
    ) {
        let now = self.clock.now();
        let Some((_, http2, server)) = self.connections.http2_with_server(&mut self.servers, id)
        else {
            return;
        };
        let limits = &server.config.limits;
        let stream = http2.stream(key);
        let Upload::Streaming(body) = &mut stream.upload else {
            return;
        };
        body.received += length as u64;
        body.pace.received += length as u64;
        body.expects_continue = false;
        body.ended = last;
        if body.received > body.limit {
            let notice = Notice::body_failed(body.about, 413);
            // The handler still answers. The rest of the body is discarded.
            self.drop_upload(id, key);
            self.slice.notify(Some(memory), notice);
            return;
        }
        // Bytes that arrived earlier are given first.
        let given = if body.kept.is_empty() {
            usize::try_from(body.credit).map_or(length, |credit| credit.min(length))
        } else {
            0
        };
        if given > 0 {
            body.give(given as u64, now);
            self.slice.write_chunk(memory, body.about, start, given);
        }
        if given < length {
            let rest = &memory.page(self.slice.page()).arena[start + given..start + length];
            server.buffered += rest.len() as u64;
            body.kept.extend_from_slice(rest);
        }
        if last || body.credit == 0 {
            stream.deadline = NEVER;
        }
        if body.can_go_on() {
            http2.note_ready(key);
        }
        http2.session.consumed(key, given as u32);
        if server.buffered > limits.max_buffered_bodies {
            self.reset_stream(id, key, ErrorCode::EnhanceYourCalm, abort::ERROR);
        }
    }

    /// Takes the trailer fields that end a body.
    pub fn take_trailers(&mut self, id: ConnectionId, key: Key, request: &RequestHead) {
        let Some((_, http2)) = self.connections.http2(id) else {
            return;
        };
        let stream = http2.stream(key);
        let socket = stream.socket;
        if socket != ConnectionId::NONE {
            self.half_close(socket, true);
            return;
        }
        match &mut stream.upload {
            Upload::Buffering(body) => body.whole = true,
            Upload::Streaming(body) => {
                let fields = request.head.fields.iter();
                body.trailers =
                    trailers::pack(fields.map(|field| {
                        (field.name.of(&request.text), field.value.of(&request.text))
                    }));
                body.ended = true;
                stream.deadline = NEVER;
                if !body.can_go_on() {
                    return;
                }
            }
            Upload::Early { ended, .. } => {
                *ended = true;
                return;
            }
            Upload::Whole | Upload::Discarded { .. } => return,
        }
        http2.note_ready(key);
    }

    /// Continues the body of a stream that is [ready](super::Http2::ready).
    pub fn go_on(&mut self, memory: &mut Memory, id: ConnectionId, key: Key) -> Result<(), Stop> {
        let now = self.clock.now();
        let Some((_, http2, server)) = self.connections.http2_with_server(&mut self.servers, id)
        else {
            return Err(Stop::Closed);
        };
        let stream = http2.stream(key);
        match &mut stream.upload {
            Upload::Buffering(body) if body.whole => {
                if !body.held.fits(&self.slice) {
                    http2.note_ready(key);
                    return Err(Stop::PageFull);
                }
                if server.is_full() {
                    let head_only = body.held.head.method == Method::HEAD;
                    self.refuse_stream(id, key, 503, "E_OVERLOADED", head_only);
                    return Ok(());
                }
                let Upload::Buffering(mut body) =
                    std::mem::replace(&mut stream.upload, Upload::Whole)
                else {
                    return Ok(());
                };
                stream.deadline = NEVER;
                let held = &mut body.held;
                server.buffered -= held.memory() as u64;
                let (at, routed, whole) = held.place(memory, &mut self.slice);
                self.dispatch_stream(
                    memory,
                    id,
                    key,
                    at,
                    &held.head,
                    &routed,
                    &held.params,
                    whole,
                );
            }
            Upload::Streaming(body) if body.can_go_on() => {
                if body.kept.is_empty() {
                    let trailers = std::mem::take(&mut body.trailers);
                    let notice = Notice::body_end(body.about, trailers);
                    stream.upload = Upload::Whole;
                    stream.deadline = NEVER;
                    self.slice.notify(Some(memory), notice);
                    return Ok(());
                }
                let most = body.kept.len().min(RECEIVE_BYTES);
                let given = usize::try_from(body.credit).map_or(most, |credit| credit.min(most));
                let at = self.slice.store(memory, &body.kept[..given]);
                if given == body.kept.len() {
                    body.kept = Vec::new();
                } else {
                    body.kept.drain(..given);
                }
                body.give(given as u64, now);
                self.slice.write_chunk(memory, body.about, at, given);
                server.buffered -= given as u64;
                if body.credit == 0 {
                    stream.deadline = NEVER;
                }
                if body.can_go_on() {
                    http2.note_ready(key);
                }
                http2.session.consumed(key, given as u32);
            }
            _ => {}
        }
        Ok(())
    }

    /// Frees the kept bytes of a body. The rest is discarded as it arrives.
    pub fn drop_upload(&mut self, id: ConnectionId, key: Key) {
        let Some((_, http2, server)) = self.connections.http2_with_server(&mut self.servers, id)
        else {
            return;
        };
        let budget = server.config.limits.drain_limit;
        let stream = http2.stream(key);
        stream.deadline = NEVER;
        let next = match &stream.upload {
            Upload::Whole => Upload::Whole,
            _ => Upload::Discarded { budget },
        };
        server.buffered -= std::mem::replace(&mut stream.upload, next).kept();
    }
}

impl Streaming {
    /// Takes this many bytes off the credit.
    fn give(&mut self, length: u64, now: u64) {
        self.credit -= length;
        if self.credit == 0 {
            self.paused = now;
        }
    }
}

impl Upload {
    /// Gives the number of its bytes that its server counts as buffered.
    pub fn kept(&self) -> u64 {
        match self {
            Self::Buffering(body) => body.held.memory() as u64,
            Self::Streaming(body) => body.kept.len() as u64,
            Self::Early { kept, .. } => kept.len() as u64,
            Self::Whole | Self::Discarded { .. } => 0,
        }
    }
}
