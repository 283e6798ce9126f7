//! Takes requests from received bytes: heads, routing, limits, and the choice of what happens to the body.

use ring::Memory;
use ring::layout::{HIGH_WATER_BYTES, INLINE_BODY_BYTES};
use route::Params;
use wire::{Framing, Head, Progress, Refusal};

use super::request_body::{Buffering, Discard, Remaining, Streaming};
use crate::connection::{ConnectionId, NEVER};
use crate::engine::Core;
use crate::exchange::Slot;
use crate::faults::{self, Stage};
use crate::http1::Inbound;
use crate::http2::frames::begins_preface;
use crate::protocol::Stop;
use crate::routing::{self, Destination};
use crate::server::{BodyMode, RouteSpec};
use crate::slice::{DispatchedBody, Routed, abort};
use crate::upload::{Held, Pace};

impl Core {
    /// Consumes `arena[start..end]` as far as possible. Gives the offset behind the last consumed byte.
    pub fn take_requests(
        &mut self,
        memory: &mut Memory,
        id: ConnectionId,
        start: usize,
        end: usize,
    ) -> (usize, Stop) {
        let mut at = start;
        loop {
            let Some((connection, http1)) = self.connections.http1(id) else {
                return (end, Stop::Closed);
            };
            let step = match &http1.inbound {
                Inbound::Head if at == end => return (at, Stop::Done),
                Inbound::Head => self.take_head(memory, id, at, end),
                Inbound::Buffering(_) => self.take_buffered(memory, id, at, end),
                Inbound::Streaming(_) => self.take_streamed(memory, id, at, end),
                Inbound::Discard(_) => self.take_discarded(memory, id, at, end),
                Inbound::Closed => {
                    if at < end {
                        connection.life.expect_more();
                    }
                    return (end, Stop::Closed);
                }
            };
            match step {
                Ok(next) => at = next,
                Err(reason) => return (at, reason),
            }
        }
    }

    /// Gives whether something can be done with the input that was kept.
    pub fn can_take_requests(&mut self, id: ConnectionId) -> bool {
        let Some((connection, http1)) = self.connections.http1(id) else {
            return false;
        };
        match &http1.inbound {
            Inbound::Buffering(body) if body.remaining.is_done() => true,
            _ if connection.input.is_empty() => false,
            Inbound::Head => !self.must_wait_for_bytes(id),
            Inbound::Buffering(_)
            | Inbound::Streaming(_)
            | Inbound::Discard(_)
            | Inbound::Closed => true,
        }
    }

    /// Gives whether kept input has no complete head yet, so that nothing can be done with it. A head that must be
    /// refused counts as complete: the usual path refuses it.
    fn must_wait_for_bytes(&mut self, id: ConnectionId) -> bool {
        let Some((connection, http1, server)) =
            self.connections.http1_with_server(&mut self.servers, id)
        else {
            return true;
        };
        let mut head = self.scratch.head.take().unwrap_or_default();
        let limits = &server.config.limits.wire;
        let progress = wire::parse_head(&connection.input, &mut http1.scanned, limits, &mut head);
        self.scratch.head = Some(head);
        if matches!(progress, Ok(Progress::Partial)) {
            return true;
        }
        http1.scanned = 0;
        false
    }

    fn take_head(
        &mut self,
        memory: &mut Memory,
        id: ConnectionId,
        at: usize,
        end: usize,
    ) -> Result<usize, Stop> {
        let Some((connection, http1, server)) =
            self.connections.http1_with_server(&mut self.servers, id)
        else {
            return Err(Stop::Closed);
        };
        let limits = &server.config.limits;
        if http1.exclusive
            || http1.in_flight >= limits.max_pipelined
            || connection.unsent() > HIGH_WATER_BYTES
        {
            return Err(Stop::Blocked);
        }
        if !self.slice.takes_request() {
            return Err(Stop::PageFull);
        }
        faults::check(Stage::Parse);
        let mut head = self.scratch.head.take().unwrap_or_default();
        let input = &memory.page(self.slice.page()).arena[at..end];
        let step = match wire::parse_head(input, &mut http1.scanned, &limits.wire, &mut head) {
            Ok(Progress::Complete) => {
                http1.scanned = 0;
                self.admit(memory, id, at, end, &head)
            }
            Ok(Progress::Partial) => {
                // The deadline runs from the first byte of the head and is not moved by later ones.
                if connection.input.is_empty() && !http1.fresh && http1.in_flight == 0 {
                    connection.deadline = self.clock.now() + limits.headers_timeout;
                }
                Err(Stop::Partial)
            }
            Err(_) if http1.fresh && server.http2 && begins_preface(input) => {
                self.become_http2(id);
                Err(Stop::Switched)
            }
            // The client may have meant any version, so the connection ends without a reply (RFC 9113 §3.4).
            Err(Refusal::MethodSyntax | Refusal::RequestLine | Refusal::VersionSyntax)
                if http1.fresh && server.http2 =>
            {
                server.stats.refused += 1;
                self.remove(id, abort::CLIENT);
                Err(Stop::Closed)
            }
            Err(refusal) => {
                let head_only = input.starts_with(b"HEAD ");
                self.refuse_request(id, refusal.status(), refusal.code(), head_only);
                Err(Stop::Closed)
            }
        };
        self.scratch.head = Some(head);
        step
    }

    /// Routes a complete head and decides what happens to its body.
    fn admit(
        &mut self,
        memory: &mut Memory,
        id: ConnectionId,
        at: usize,
        end: usize,
        head: &Head,
    ) -> Result<usize, Stop> {
        let Some((_, http1, server)) = self.connections.http1_with_server(&mut self.servers, id)
        else {
            return Err(Stop::Closed);
        };
        let bodiless = matches!(head.framing, Framing::None | Framing::Length(0));
        // RFC 9112 §9.3.2: safe requests may be worked on together. Any other waits for the requests before it and
        // holds back those after it; so does a request with a body, since the body comes in between, and one of
        // HTTP/1.0, whose reply may turn out to end with the connection.
        // A WebSocket ends the requests of its connection.
        let exclusive = !(bodiless && head.method.is_safe())
            || head.version == wire::Version::Http10
            || head.websocket;
        if exclusive && http1.in_flight > 0 {
            return Err(Stop::Blocked);
        }
        if !self.slice.has_spans(head, route::MAX_PARAMS) {
            return Err(Stop::PageFull);
        }
        if server.is_full() {
            self.refuse_request(id, 503, "E_OVERLOADED", head.method == wire::Method::HEAD);
            return Err(Stop::Closed);
        }
        let mut params = self.scratch.params.take().unwrap_or_default();
        let destination = match routing::find(
            &server.config,
            &mut self.slice,
            memory,
            &mut self.scratch.path,
            &mut params,
            at,
            head,
        ) {
            Ok(destination) => destination,
            Err((status, code)) => {
                self.scratch.params = Some(params);
                self.refuse_request(id, status, code, head.method == wire::Method::HEAD);
                return Err(Stop::Closed);
            }
        };
        let Destination { routed, spec } = destination;
        http1.upgrade = spec.and_then(|spec| spec.socket);
        let found = destination.params(&params);
        let next = at + head.len as usize;
        let result = if bodiless {
            let none = DispatchedBody::None;
            self.dispatch(memory, id, at, head, &routed, found, none, exclusive);
            self.expect_head(id);
            Ok(next)
        } else {
            self.admit_body(memory, id, (at, next, end), head, &routed, found, spec)
        };
        self.scratch.params = Some(params);
        result
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "continues admit with all it found out"
    )]
    fn admit_body(
        &mut self,
        memory: &mut Memory,
        id: ConnectionId,
        (at, next, end): (usize, usize, usize),
        head: &Head,
        routed: &Routed,
        params: &Params,
        spec: Option<RouteSpec>,
    ) -> Result<usize, Stop> {
        let now = self.clock.now();
        let Some(limits) = self.limits(id) else {
            return Err(Stop::Closed);
        };
        let drain_limit = limits.drain_limit;
        let declared = match head.framing {
            Framing::Length(length) => Some(length),
            Framing::None | Framing::Chunked => None,
        };
        let Some(spec) = spec else {
            // Without a route the request is answered at once, and nobody reads the body.
            let none = DispatchedBody::None;
            self.dispatch(memory, id, at, head, routed, params, none, true);
            let wait = head.expect_continue && next == end;
            self.set_inbound(
                id,
                Inbound::Discard(Discard {
                    remaining: Remaining::new(head.framing),
                    // A client that waits for 100 Continue may or may not send the body, so nothing is read as one.
                    budget: if wait || declared.is_some_and(|length| length > drain_limit) {
                        0
                    } else {
                        drain_limit
                    },
                }),
            );
            return Ok(next);
        };
        if declared.is_some_and(|length| length > spec.max_body) {
            self.refuse(id, 413, "E_BODY_TOO_LARGE");
            return Err(Stop::Closed);
        }
        if spec.body != BodyMode::Stream
            && let Some(length) = declared.map(|length| length as usize)
            && length <= INLINE_BODY_BYTES
            && end - next >= length
        {
            let body = DispatchedBody::Inline(next, length);
            self.dispatch(memory, id, at, head, routed, params, body, true);
            self.expect_head(id);
            return Ok(next + length);
        }
        if spec.body != BodyMode::Buffer {
            let stream = DispatchedBody::Stream(declared);
            let slot = self.dispatch(memory, id, at, head, routed, params, stream, true);
            self.set_inbound(
                id,
                Inbound::Streaming(Box::new(Streaming {
                    about: self.exchanges.identity(slot),
                    remaining: Remaining::new(head.framing),
                    received: 0,
                    trailers: Vec::new(),
                    limit: spec.max_body,
                    credit: 0,
                    expects_continue: head.expect_continue && next == end,
                    pace: Pace::new(now, spec.request_timeout),
                    paused: now,
                })),
            );
            return Ok(next);
        }
        let arena = memory.page(self.slice.page()).arena;
        let buffering = Buffering {
            held: Held::new(arena, at, head, routed, params),
            remaining: Remaining::new(head.framing),
            limit: spec.max_body,
            pace: Pace::new(now, spec.request_timeout),
        };
        let deadline = buffering.pace.deadline();
        self.set_inbound(id, Inbound::Buffering(Box::new(buffering)));
        if let Some((connection, http1)) = self.connections.http1(id) {
            connection.deadline = deadline;
            http1.fresh = false;
        }
        if head.expect_continue && next == end {
            self.send_continue(id);
        }
        Ok(next)
    }

    /// Gives the request an exchange and writes its descriptor.
    #[expect(clippy::too_many_arguments, reason = "the descriptor needs all of it")]
    pub fn dispatch(
        &mut self,
        memory: &mut Memory,
        id: ConnectionId,
        at: usize,
        head: &Head,
        routed: &Routed,
        params: &Params,
        body: DispatchedBody,
        exclusive: bool,
    ) -> Slot {
        let Some((connection, http1, server)) =
            self.connections.http1_with_server(&mut self.servers, id)
        else {
            return Slot::NONE;
        };
        let now = self.clock.now();
        let about = self
            .exchanges
            .begin(id, connection.server, server, head, now);
        let slot = about.slot;
        if http1.first == Slot::NONE {
            http1.first = slot;
        } else {
            self.exchanges.get_mut(http1.last).next = slot;
        }
        http1.last = slot;
        http1.in_flight += 1;
        http1.exclusive = exclusive;
        http1.last_request = !head.keep_alive;
        http1.fresh = false;
        connection.deadline = NEVER;
        self.slice
            .write_request(memory, about, at, head, routed, params, body, connection);
        slot
    }

    fn set_inbound(&mut self, id: ConnectionId, inbound: Inbound) {
        if let Some((_, http1)) = self.connections.http1(id) {
            http1.inbound = inbound;
        }
    }

    /// Is called when a request was received whole. The next head follows, unless this request was the last.
    pub fn expect_head(&mut self, id: ConnectionId) {
        if let Some((_, http1)) = self.connections.http1(id) {
            http1.inbound = if http1.last_request {
                Inbound::Closed
            } else {
                Inbound::Head
            };
        }
    }
}
