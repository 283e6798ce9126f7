//! Turns the heads of streams into requests: limits, routing, and how the body is handled.

use h2::{Event, Key, RequestHead};
use ring::Memory;
use ring::layout::INLINE_BODY_BYTES;
use route::Params;
use wire::{Head, Method};

use crate::connection::{ConnectionId, NEVER};
use crate::engine::Core;
use crate::exchange::Identity;
use crate::routing::{self, Destination, Refused};
use crate::server::{BodyMode, RouteSpec};
use crate::slice::{DispatchedBody, Routed};
use crate::upload::{Held, Pace};

use super::Stream;
use super::bodies::{Buffering, Streaming, Upload};
use super::frames::is_whole_body;

/// A request that was read, and the bytes behind it.
pub struct Read<'a> {
    pub request: &'a RequestHead,
    /// True when a body follows.
    pub has_body: bool,
    /// The length of the body, if the client has declared it.
    pub declared: Option<u64>,
    /// The offset in the arena of the bytes behind the request.
    pub next: usize,
    pub end: usize,
}

/// The number of bytes behind a request that were read with it, and their event if it is not the body.
type Followed = (usize, Option<Event>);

impl Core {
    /// Opens the place of a stream.
    pub fn open_stream(&mut self, id: ConnectionId, key: Key) {
        if let Some((_, http2)) = self.connections.http2(id) {
            debug_assert!(!http2.stream(key).open, "the session gives no key twice");
            *http2.stream(key) = Stream {
                open: true,
                ..Stream::default()
            };
            http2.open += 1;
            http2.idle_until = NEVER;
        }
    }

    /// Takes a request whose head is complete. The slice must have room for it.
    pub fn take_stream(
        &mut self,
        memory: &mut Memory,
        id: ConnectionId,
        key: Key,
        read: &Read,
    ) -> Followed {
        self.open_stream(id, key);
        let mut params = self.scratch.params.take().unwrap_or_default();
        let admitted = self.admit_stream(memory, id, key, read, &mut params);
        self.scratch.params = Some(params);
        admitted.unwrap_or_else(|(status, code)| {
            let head_only = read.request.head.method == Method::HEAD;
            if read.has_body {
                self.discard_body(id, key);
            }
            self.refuse_stream(id, key, status, code, head_only);
            (0, None)
        })
    }

    fn admit_stream(
        &mut self,
        memory: &mut Memory,
        id: ConnectionId,
        key: Key,
        read: &Read,
        params: &mut Params,
    ) -> Result<Followed, Refused> {
        let head = &read.request.head;
        let Some((_, _, server)) = self.connections.http2_with_server(&mut self.servers, id) else {
            return Ok((0, None));
        };
        if server.is_full() {
            return Err((503, "E_OVERLOADED"));
        }
        let at = self.slice.store(memory, &read.request.text);
        let destination = routing::find(
            &server.config,
            &mut self.slice,
            memory,
            &mut self.scratch.path,
            params,
            at,
            head,
        )?;
        let Destination { routed, spec } = destination;
        let params = destination.params(params);
        if let Some(socket) = spec.and_then(|spec| spec.socket) {
            let none = DispatchedBody::None;
            self.dispatch_stream(memory, id, key, at, head, &routed, params, none);
            self.await_upgrade(id, key, socket, read.has_body);
            return Ok((0, None));
        }
        if let Some(spec) = spec
            && read.has_body
            && read.declared != Some(0)
        {
            return self.admit_upload(memory, id, key, at, read, (&routed, params), spec);
        }
        let none = DispatchedBody::None;
        self.dispatch_stream(memory, id, key, at, head, &routed, params, none);
        if read.has_body {
            // A request without a route is answered at once, and its body is not read.
            self.discard_body(id, key);
        }
        Ok((0, None))
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "continues admit_stream with all it found out"
    )]
    fn admit_upload(
        &mut self,
        memory: &mut Memory,
        id: ConnectionId,
        key: Key,
        at: usize,
        read: &Read,
        (routed, params): (&Routed, &Params),
        spec: RouteSpec,
    ) -> Result<Followed, Refused> {
        let head = &read.request.head;
        let pace = Pace::new(self.clock.now(), spec.request_timeout);
        if read.declared.is_some_and(|length| length > spec.max_body) {
            return Err((413, "E_BODY_TOO_LARGE"));
        }
        let mut followed = (0, None);
        if spec.body != BodyMode::Stream {
            followed = match self.read_whole_body(memory, id, key, read) {
                (used, Some(Event::Data { start, length, .. })) => {
                    if length as u64 > spec.max_body {
                        // The session has consumed the body, so it must not read it again.
                        let head_only = head.method == Method::HEAD;
                        self.refuse_stream(id, key, 413, "E_BODY_TOO_LARGE", head_only);
                        return Ok((used, None));
                    }
                    let body = DispatchedBody::Inline(read.next + start, length);
                    self.dispatch_stream(memory, id, key, at, head, routed, params, body);
                    return Ok((used, None));
                }
                // The stream has ended while its body was read, or the connection has failed.
                ended @ (_, Some(Event::Gone { .. } | Event::Failed(_))) => return Ok(ended),
                other => other,
            };
        }
        if spec.body != BodyMode::Buffer {
            let stream = DispatchedBody::Stream(read.declared);
            let about = self.dispatch_stream(memory, id, key, at, head, routed, params, stream);
            let streaming = Streaming::new(about, spec.max_body, head.expect_continue, pace);
            if let Some((_, http2)) = self.connections.http2(id) {
                http2.stream(key).upload = Upload::Streaming(Box::new(streaming));
            }
            return Ok(followed);
        }
        let arena = &*memory.page(self.slice.page()).arena;
        let buffering = Buffering {
            held: Held::new(arena, at, head, routed, params),
            limit: spec.max_body,
            pace,
            whole: false,
        };
        if let Some((connection, http2, server)) =
            self.connections.http2_with_server(&mut self.servers, id)
        {
            let kept = buffering.held.memory() as u64;
            if server.buffered + kept > server.config.limits.max_buffered_bodies {
                return Err((503, "E_OVERLOADED"));
            }
            server.buffered += kept;
            let stream = http2.stream(key);
            stream.upload = Upload::Buffering(Box::new(buffering));
            stream.deadline = pace.deadline();
            connection.deadline = connection.deadline.min(stream.deadline);
        }
        if head.expect_continue {
            self.send_continue_on(id, key);
        }
        Ok(followed)
    }

    /// Reads the body of a request if all of it arrived with the head, in one frame. Small bodies usually do. It is
    /// then used in place.
    fn read_whole_body(
        &mut self,
        memory: &mut Memory,
        id: ConnectionId,
        key: Key,
        read: &Read,
    ) -> Followed {
        let now = self.clock.now();
        let Some((_, http2)) = self.connections.http2(id) else {
            return (0, None);
        };
        let input = &memory.page(self.slice.page()).arena[read.next..read.end];
        if !is_whole_body(input, http2.session.id(key), INLINE_BODY_BYTES) {
            return (0, None);
        }
        let (used, event) = http2
            .session
            .read(input, false, &mut RequestHead::default(), now);
        if let Event::Data { length, .. } = event {
            http2.session.consumed(key, length as u32);
        }
        (used, Some(event))
    }

    /// Gives a request an exchange, and writes its descriptor.
    #[expect(clippy::too_many_arguments, reason = "the descriptor needs all of it")]
    pub fn dispatch_stream(
        &mut self,
        memory: &mut Memory,
        id: ConnectionId,
        key: Key,
        at: usize,
        head: &Head,
        routed: &Routed,
        params: &Params,
        body: DispatchedBody,
    ) -> Identity {
        let now = self.clock.now();
        let Some((connection, http2, server)) =
            self.connections.http2_with_server(&mut self.servers, id)
        else {
            return Identity::NONE;
        };
        let about = self
            .exchanges
            .begin(id, connection.server, server, head, now);
        self.exchanges.get_mut(about.slot).stream = key.0;
        http2.stream(key).slot = about.slot;
        self.slice
            .write_request(memory, about, at, head, routed, params, body, connection);
        about
    }

    /// Discards the rest of a body.
    fn discard_body(&mut self, id: ConnectionId, key: Key) {
        if let Some((_, http2, server)) = self.connections.http2_with_server(&mut self.servers, id)
        {
            let budget = server.config.limits.drain_limit;
            http2.stream(key).upload = Upload::Discarded { budget };
        }
    }

    /// Answers a request that JavaScript never sees. The other streams go on.
    pub fn refuse_stream(
        &mut self,
        id: ConnectionId,
        key: Key,
        status: u16,
        code: &str,
        head_only: bool,
    ) {
        if let Some((_, _, server)) = self.connections.http2_with_server(&mut self.servers, id) {
            server.stats.refused += 1;
        }
        self.drop_upload(id, key);
        self.send_problem(id, key, status, code, head_only);
    }
}
