//! Request bodies as they arrive: waited for, streamed while there is credit, or thrown away.

use ring::layout::INLINE_BODY_BYTES;
use ring::{Memory, Record};
use wire::chunked::Decoder;
use wire::{Framing, Head, Limits, Refusal};

use crate::connection::{ConnectionId, NEVER};
use crate::engine::Core;
use crate::exchange::{Identity, Slot, State};
use crate::http1::Inbound;
use crate::protocol::Stop;
use crate::slice::{DispatchedBody, Notice, Routed};

/// What is left of a message body.
pub enum Remaining {
    Length(u64),
    Chunked(Decoder),
    Nothing,
}

impl Remaining {
    pub fn new(framing: Framing) -> Self {
        match framing {
            Framing::None | Framing::Length(0) => Self::Nothing,
            Framing::Length(length) => Self::Length(length),
            Framing::Chunked => Self::Chunked(Decoder::default()),
        }
    }

    pub fn is_done(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    /// The least length of the whole body when `received` bytes of it have come, by its declared length or by the chunk
    /// sizes so far.
    pub fn at_least(&self, received: u64) -> u64 {
        match self {
            Self::Length(left) => received.saturating_add(*left),
            Self::Chunked(decoder) => decoder.announced(),
            Self::Nothing => received,
        }
    }

    /// Takes the next part of the body from `input`. Gives how many bytes were used, and where in them the data is.
    pub fn take(&mut self, input: &[u8], limits: &Limits) -> Result<Taken, Refusal> {
        match self {
            Self::Nothing => Ok(Taken::default()),
            Self::Length(left) => {
                let length = input
                    .len()
                    .min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= length as u64;
                if *left == 0 {
                    *self = Self::Nothing;
                }
                Ok(Taken {
                    used: length,
                    start: 0,
                    length,
                })
            }
            Self::Chunked(decoder) => {
                let step = decoder.step(input, limits)?;
                let data = step.data.unwrap_or(0..0);
                if step.done {
                    *self = Self::Nothing;
                }
                Ok(Taken {
                    used: step.consumed,
                    start: data.start,
                    length: data.len(),
                })
            }
        }
    }
}

#[derive(Clone, Copy, Default)]
pub struct Taken {
    pub used: usize,
    pub start: usize,
    pub length: usize,
}

/// A request that waits for its body. Its head is kept here, because the arena is reused meanwhile.
pub struct Buffering {
    pub head: Head,
    pub head_bytes: Vec<u8>,
    /// The canonical path, if the head does not contain it.
    pub path: Option<Vec<u8>>,
    pub routed: Routed,
    pub params: route::Params,
    pub data: Vec<u8>,
    pub remaining: Remaining,
    pub limit: u64,
    pub pace: Pace,
}

/// A request whose handler reads the body as it comes.
pub struct Streaming {
    pub about: Identity,
    pub remaining: Remaining,
    pub received: u64,
    pub limit: u64,
    /// How many more bytes the handler lets in.
    pub credit: u64,
    /// The client waits for 100 Continue.
    pub expects_continue: bool,
    pub pace: Pace,
    /// When the credit ran out. The time since then is not counted against the client.
    pub paused: u64,
}

/// A body that nobody reads.
pub struct Discard {
    pub remaining: Remaining,
    pub budget: u64,
}

/// Judges whether a body arrives fast enough. It has `requestTimeout`, then more time while it keeps 1 KiB/s on
/// average, but at most 300 s (or `requestTimeout`, if that is longer).
#[derive(Clone, Copy)]
pub struct Pace {
    pub started: u64,
    pub received: u64,
}

/// The rate, in bytes per second, that extends a body's deadline.
const MINIMUM_RATE: u64 = 1024;
/// The most milliseconds that a body may take.
const HARD_CAP: u64 = 300_000;
/// After so many milliseconds a slow body is looked at again.
const EXTENSION: u64 = 1000;

impl Pace {
    pub fn new(now: u64) -> Self {
        Self {
            started: now,
            received: 0,
        }
    }

    /// The next deadline once `requestTimeout` has passed, or `None` if the client is too slow.
    pub fn extend(&self, now: u64, request_timeout: u64) -> Option<u64> {
        let elapsed = now - self.started;
        (elapsed < HARD_CAP.max(request_timeout) && self.received * 1000 >= elapsed * MINIMUM_RATE)
            .then_some(now + EXTENSION)
    }

    /// The deadline of a body that was paused at `paused` and may come again.
    pub fn resume(&mut self, paused: u64, now: u64, request_timeout: u64) -> u64 {
        self.started += now - paused;
        (self.started + request_timeout).max(now + EXTENSION)
    }
}

impl Core {
    pub fn take_buffered(
        &mut self,
        memory: &mut Memory,
        id: ConnectionId,
        at: usize,
        end: usize,
    ) -> Result<usize, Stop> {
        let Some((_, http1, server)) = self.connections.http1_with_server(&mut self.servers, id)
        else {
            return Err(Stop::Closed);
        };
        let Inbound::Buffering(body) = &mut http1.inbound else {
            return Err(Stop::Closed);
        };
        if body.remaining.is_done() {
            return self.dispatch_buffered(memory, id).map(|()| at);
        }
        if at == end {
            return Err(Stop::Done);
        }
        let arena = memory.page(self.slice.page()).arena;
        let taken = match body
            .remaining
            .take(&arena[at..end], &server.config.limits.wire)
        {
            Ok(taken) => taken,
            Err(refusal) => {
                self.refuse(id, refusal.status(), refusal.code());
                return Err(Stop::Closed);
            }
        };
        let data = &arena[at + taken.start..at + taken.start + taken.length];
        body.pace.received += taken.used as u64;
        let whole = (body.data.len() + data.len()) as u64;
        let (status, code) = if body.remaining.at_least(whole) > body.limit {
            (413, "E_BODY_TOO_LARGE")
        } else if server.buffered + data.len() as u64 > server.config.limits.max_buffered_bodies {
            (503, "E_OVERLOADED")
        } else {
            server.buffered += data.len() as u64;
            body.data.extend_from_slice(data);
            // A decoder that uses nothing waits for more than it was given.
            return if taken.used == 0 && !body.remaining.is_done() {
                Err(Stop::Partial)
            } else {
                Ok(at + taken.used)
            };
        };
        self.refuse(id, status, code);
        Err(Stop::Closed)
    }

    pub fn dispatch_buffered(&mut self, memory: &mut Memory, id: ConnectionId) -> Result<(), Stop> {
        let Some((_, http1, server)) = self.connections.http1_with_server(&mut self.servers, id)
        else {
            return Err(Stop::Closed);
        };
        let Inbound::Buffering(body) = &mut http1.inbound else {
            return Err(Stop::Closed);
        };
        let inline = body.data.len() <= INLINE_BODY_BYTES;
        let path_bytes = body.path.as_ref().map_or(0, Vec::len);
        let needed = body.head_bytes.len() + path_bytes + if inline { body.data.len() } else { 0 };
        if !self.slice.takes_request()
            || self.slice.free() < needed
            || !self.slice.has_spans(&body.head, route::MAX_PARAMS)
        {
            return Err(Stop::PageFull);
        }
        let Inbound::Buffering(mut body) = std::mem::replace(&mut http1.inbound, Inbound::Head)
        else {
            return Err(Stop::Closed);
        };
        let length = body.data.len();
        server.buffered -= length as u64;
        let at = self.slice.store(memory, &body.head_bytes);
        body.routed.path = match &body.path {
            Some(path) => self.slice.store(memory, path),
            None => at + body.routed.path,
        };
        let dispatched = if inline {
            DispatchedBody::Inline(self.slice.store(memory, &body.data), length)
        } else {
            self.slice.list_body(body.data)
        };
        self.dispatch(
            memory,
            id,
            at,
            &body.head,
            &body.routed,
            &body.params,
            dispatched,
            true,
        );
        self.expect_head(id);
        Ok(())
    }

    pub fn take_streamed(
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
        let Inbound::Streaming(body) = &mut http1.inbound else {
            return Err(Stop::Closed);
        };
        if body.remaining.is_done() {
            self.slice
                .notify(Some(memory), Notice::body_end(body.about));
            // From here on the client owes nothing, so only the handler's own limit applies.
            connection.deadline = NEVER;
            self.expect_head(id);
            return Ok(at);
        }
        if at == end {
            return Err(Stop::Done);
        }
        let window = usize::try_from(body.credit)
            .unwrap_or(usize::MAX)
            .min(end - at);
        if window == 0 {
            return Err(Stop::NoCredit);
        }
        if !self.slice.takes_request() {
            return Err(Stop::PageFull);
        }
        let arena = memory.page(self.slice.page()).arena;
        let input = &arena[at..at + window];
        let failed = match body.remaining.take(input, &server.config.limits.wire) {
            Ok(taken)
                if body.remaining.at_least(body.received + taken.length as u64) <= body.limit =>
            {
                body.expects_continue = false;
                body.received += taken.length as u64;
                body.pace.received += taken.used as u64;
                body.credit -= taken.length as u64;
                if body.credit == 0 {
                    body.paused = self.clock.now();
                    connection.deadline = NEVER;
                }
                if taken.length > 0 {
                    self.slice
                        .write_chunk(memory, body.about, at + taken.start, taken.length);
                } else if taken.used == 0 && !body.remaining.is_done() {
                    return Err(Stop::Partial);
                }
                return Ok(at + taken.used);
            }
            Ok(_) => 413,
            Err(refusal) => refusal.status(),
        };
        let failed = Notice::body_failed(body.about, failed);
        self.slice.notify(Some(memory), failed);
        if let Some((connection, http1)) = self.connections.http1(id) {
            // The handler still answers. After that, nobody knows where the next request would begin.
            http1.inbound = Inbound::Closed;
            connection.deadline = NEVER;
            connection.life.expect_more();
            let last = http1.last;
            self.exchanges.get_mut(last).close = true;
        }
        Err(Stop::Closed)
    }

    pub fn take_discarded(
        &mut self,
        memory: &mut Memory,
        id: ConnectionId,
        at: usize,
        end: usize,
    ) -> Result<usize, Stop> {
        let Some((_, http1, server)) = self.connections.http1_with_server(&mut self.servers, id)
        else {
            return Err(Stop::Closed);
        };
        let Inbound::Discard(body) = &mut http1.inbound else {
            return Err(Stop::Closed);
        };
        if body.remaining.is_done() {
            self.expect_head(id);
            self.after_body(id, at == end);
            return Ok(at);
        }
        if at == end {
            return Err(Stop::Done);
        }
        let input = &memory.page(self.slice.page()).arena[at..end];
        match body.remaining.take(input, &server.config.limits.wire) {
            Ok(taken) if taken.used as u64 <= body.budget => {
                body.budget -= taken.used as u64;
                if taken.used == 0 && !body.remaining.is_done() {
                    return Err(Stop::Partial);
                }
                Ok(at + taken.used)
            }
            Ok(_) | Err(_) => {
                // The body is too large or malformed: no byte of it may be parsed as a request.
                self.stop_reading(id);
                Err(Stop::Closed)
            }
        }
    }

    /// Gives the client credit for more of a streamed body.
    pub fn grant(&mut self, slot: Slot, record: &Record) {
        let id = self.exchanges.get(slot).connection;
        let amount = u64::from(record.amount());
        let Some((connection, http1, server)) =
            self.connections.http1_with_server(&mut self.servers, id)
        else {
            return;
        };
        let timeout = server.config.limits.request_timeout;
        let Inbound::Streaming(body) = &mut http1.inbound else {
            return;
        };
        if body.about.slot != slot || amount == 0 {
            return;
        }
        // More credit does not mean more time: a client that sends byte by byte would get time for each.
        if body.credit == 0 {
            connection.deadline = body.pace.resume(body.paused, self.clock.now(), timeout);
        }
        body.credit += amount;
        let asks = std::mem::take(&mut body.expects_continue);
        // In the middle of a reply, 100 Continue would be read as a part of it.
        if asks && self.exchanges.get(slot).state == State::Waiting {
            self.send_continue(id);
        }
        self.queue(id);
        self.throttle(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_has_its_time_and_more_while_it_keeps_the_rate() {
        let mut pace = Pace::new(1000);
        pace.received = 61 * 1024;
        assert_eq!(pace.extend(61_000, 60_000), Some(62_000));
        pace.received = 60 * 1024 - 1;
        assert_eq!(pace.extend(61_000, 60_000), None);
        pace.received = u64::MAX / 2000;
        assert_eq!(pace.extend(301_000, 60_000), None);
    }

    #[test]
    fn time_without_credit_does_not_count() {
        let mut pace = Pace::new(1000);
        assert_eq!(pace.resume(1500, 91_500, 60_000), 151_000);
        assert_eq!(pace.started, 91_000);
        assert_eq!(pace.resume(151_900, 151_900, 60_000), 152_900);
    }

    #[test]
    fn a_declared_length_is_taken_exactly() {
        let limits = Limits::default();
        let mut remaining = Remaining::new(Framing::Length(5));
        let taken = remaining.take(b"abc", &limits).unwrap();
        assert_eq!((taken.used, taken.length), (3, 3));
        let taken = remaining.take(b"defg", &limits).unwrap();
        assert_eq!((taken.used, taken.length), (2, 2));
        assert!(remaining.is_done());
    }
}
