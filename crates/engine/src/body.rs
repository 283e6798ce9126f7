//! Request bodies on their way in: waited for, streamed with a credit window, or thrown away.

use wire::chunked::Decoder;
use wire::{Framing, Head, Limits, Refusal};

use crate::slice::Routed;

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

    /// The least the whole body will measure, by its declared length or its chunk sizes so far, when
    /// `received` bytes of it have come.
    pub fn at_least(&self, received: u64) -> u64 {
        match self {
            Self::Length(left) => received.saturating_add(*left),
            Self::Chunked(decoder) => decoder.announced(),
            Self::Nothing => received,
        }
    }

    /// Takes the next part of the body from `input`: how many bytes were used, and where the data among
    /// them is.
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

/// A request that waits for its body. Its head is kept here meanwhile; the arena is long reused.
pub struct Buffering {
    pub head: Head,
    pub head_bytes: Vec<u8>,
    /// The canonical path when it is not a part of the head.
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
    pub slot: u32,
    pub generation: u32,
    pub remaining: Remaining,
    pub received: u64,
    pub limit: u64,
    /// Bytes the handler still lets in.
    pub credit: u64,
    /// The client waits for 100 Continue.
    pub expects_continue: bool,
    pub pace: Pace,
    /// Since when there is no credit. That time is not the client's.
    pub paused: u64,
}

/// A body nobody reads.
pub struct Discard {
    pub remaining: Remaining,
    pub budget: u64,
}

/// Whether a body arrives fast enough: 60 s for all of it, longer while at least 1 KiB/s come, at most 300 s.
#[derive(Clone, Copy)]
pub struct Pace {
    pub started: u64,
    pub received: u64,
}

/// Bytes per second that extend a body's deadline.
const MINIMUM_RATE: u64 = 1024;
/// Milliseconds no body may take longer than.
const HARD_CAP: u64 = 300_000;
/// Milliseconds until a slow body is looked at again.
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

    /// The deadline of a body that may come again after `paused`.
    pub fn resume(&mut self, paused: u64, now: u64, request_timeout: u64) -> u64 {
        self.started += now - paused;
        (self.started + request_timeout).max(now + EXTENSION)
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
