//! Request bodies as they arrive: waited for, streamed while there is credit, or thrown away.

use std::ops::Range;

use ring::{Memory, Record};
use wire::chunked::Decoder;
use wire::{Framing, Limits, Refusal};

use crate::connection::{ConnectionId, NEVER};
use crate::engine::Core;
use crate::exchange::{Identity, Slot, State};
use crate::http1::Inbound;
use crate::protocol::Stop;
use crate::slice::Notice;
use crate::trailers;
use crate::upload::{Held, Pace};

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
                    length,
                    ..Taken::default()
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
                    trailers: step.trailers.unwrap_or(0..0),
                })
            }
        }
    }
}

#[derive(Clone, Default)]
pub struct Taken {
    pub used: usize,
    pub start: usize,
    pub length: usize,
    /// The range of the received bytes that belong to the trailer section.
    pub trailers: Range<usize>,
}

/// A request that waits for its body.
pub struct Buffering {
    pub held: Held,
    pub remaining: Remaining,
    pub limit: u64,
    pub pace: Pace,
}

/// A request whose handler reads the body as it comes.
pub struct Streaming {
    pub about: Identity,
    pub remaining: Remaining,
    pub received: u64,
    /// The trailer section, as far as it was received: at most `max_trailer_size` bytes.
    pub trailers: Vec<u8>,
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
        let whole = (body.held.data.len() + data.len()) as u64;
        let (status, code) = if body.remaining.at_least(whole) > body.limit {
            (413, "E_BODY_TOO_LARGE")
        } else if server.buffered + data.len() as u64 > server.config.limits.max_buffered_bodies {
            (503, "E_OVERLOADED")
        } else {
            server.buffered += data.len() as u64;
            body.held.data.extend_from_slice(data);
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
        if !body.held.fits(&self.slice) {
            return Err(Stop::PageFull);
        }
        let Inbound::Buffering(mut body) = std::mem::replace(&mut http1.inbound, Inbound::Head)
        else {
            return Err(Stop::Closed);
        };
        let held = &mut body.held;
        server.buffered -= held.data.len() as u64;
        let (at, routed, whole) = held.place(memory, &mut self.slice);
        self.dispatch(
            memory,
            id,
            at,
            &held.head,
            &routed,
            &held.params,
            whole,
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
            let trailers = trailers::pack(wire::trailers::fields(&body.trailers));
            self.slice
                .notify(Some(memory), Notice::body_end(body.about, trailers));
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
                body.trailers.extend_from_slice(&input[taken.trailers]);
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
        let Some((connection, http1)) = self.connections.http1(id) else {
            return;
        };
        let Inbound::Streaming(body) = &mut http1.inbound else {
            return;
        };
        if body.about.slot != slot || amount == 0 {
            return;
        }
        // More credit does not mean more time: a client that sends byte by byte would get time for each.
        if body.credit == 0 {
            connection.deadline = body.pace.resume(body.paused, self.clock.now());
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
