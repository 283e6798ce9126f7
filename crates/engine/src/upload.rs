//! The common part of request bodies: how fast they must arrive, and requests that wait for their bodies.

use ring::Memory;
use ring::layout::INLINE_BODY_BYTES;
use route::Params;
use wire::Head;

use crate::slice::{DispatchedBody, Routed, Slice};

/// A request that waits for its body. Its head is kept here, because the arena is reused meanwhile.
pub struct Held {
    pub head: Head,
    head_bytes: Vec<u8>,
    /// The canonical path, if it is not a part of the head.
    path: Option<Vec<u8>>,
    /// The route. The offset of its path is relative to the head.
    routed: Routed,
    pub params: Params,
    pub data: Vec<u8>,
}

impl Held {
    /// Keeps the request whose head is at `at` in `arena`.
    pub fn new(arena: &[u8], at: usize, head: &Head, routed: &Routed, params: &Params) -> Self {
        let path = routed.path..routed.path + routed.path_length;
        Self {
            head: head.clone(),
            head_bytes: arena[at..at + head.len as usize].to_vec(),
            path: routed.escaped.then(|| arena[path].to_vec()),
            routed: Routed {
                path: routed.path.wrapping_sub(at),
                ..*routed
            },
            params: params.clone(),
            data: Vec::new(),
        }
    }

    /// Gives the bytes of memory that it takes. A head of HTTP/2 may be 1,000 times as long as its compressed form.
    pub fn memory(&self) -> usize {
        size_of::<Self>()
            + self.head_bytes.capacity()
            + self.path.as_ref().map_or(0, Vec::capacity)
            + self.head.fields.capacity() * size_of::<wire::Field>()
            + self.data.len()
    }

    /// Returns true when the slice has room for it.
    pub fn fits(&self, slice: &Slice) -> bool {
        let path_bytes = self.path.as_ref().map_or(0, Vec::len);
        let inline = Some(self.data.len()).filter(|&length| length <= INLINE_BODY_BYTES);
        let needed = self.head_bytes.len() + path_bytes + inline.unwrap_or(0);
        slice.takes_request()
            && slice.free() >= needed
            && slice.has_spans(&self.head, route::MAX_PARAMS)
    }

    /// Puts its head, its path and its body into the slice, which must have room. Gives the offset of the head, that of
    /// the path, and the body.
    pub fn place(
        &mut self,
        memory: &mut Memory,
        slice: &mut Slice,
    ) -> (usize, Routed, DispatchedBody) {
        let at = slice.store(memory, &self.head_bytes);
        let path = match &self.path {
            Some(path) => slice.store(memory, path),
            None => at + self.routed.path,
        };
        let data = std::mem::take(&mut self.data);
        let body = if data.len() <= INLINE_BODY_BYTES {
            DispatchedBody::Inline(slice.store(memory, &data), data.len())
        } else {
            slice.list_body(data)
        };
        let routed = Routed {
            path,
            ..self.routed
        };
        (at, routed, body)
    }
}

/// Decides whether a body arrives fast enough. It has `requestTimeout`, then more time while it keeps 1 KiB/s on
/// average, but at most 300 s (or `requestTimeout`, if that is longer).
#[derive(Clone, Copy)]
pub struct Pace {
    pub started: u64,
    pub received: u64,
    /// The `requestTimeout` of its route.
    timeout: u64,
}

/// The rate, in bytes per second, that extends a body's deadline.
const MINIMUM_RATE: u64 = 1024;
/// The most milliseconds that a body may take.
const HARD_CAP: u64 = 300_000;
/// The interval in milliseconds at which a slow body is checked again.
const EXTENSION: u64 = 1000;

impl Pace {
    pub fn new(now: u64, timeout: u64) -> Self {
        Self {
            started: now,
            received: 0,
            timeout,
        }
    }

    /// Gives the first deadline of a body that nothing pauses.
    pub fn deadline(&self) -> u64 {
        self.started + self.timeout
    }

    /// Gives the next deadline once `requestTimeout` has passed, or `None` if the client is too slow.
    pub fn extend(&self, now: u64) -> Option<u64> {
        let elapsed = now - self.started;
        (elapsed < HARD_CAP.max(self.timeout) && self.received * 1000 >= elapsed * MINIMUM_RATE)
            .then_some(now + EXTENSION)
    }

    /// Gives the deadline of a body that was paused at `paused` and may continue.
    pub fn resume(&mut self, paused: u64, now: u64) -> u64 {
        self.started += now - paused;
        self.deadline().max(now + EXTENSION)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_has_its_time_and_more_while_it_keeps_the_rate() {
        let mut pace = Pace::new(1000, 60_000);
        pace.received = 61 * 1024;
        assert_eq!(pace.extend(61_000), Some(62_000));
        pace.received = 60 * 1024 - 1;
        assert_eq!(pace.extend(61_000), None);
        pace.received = u64::MAX / 2000;
        assert_eq!(pace.extend(301_000), None);
    }

    #[test]
    fn time_without_credit_does_not_count() {
        let mut pace = Pace::new(1000, 60_000);
        assert_eq!(pace.resume(1500, 91_500), 151_000);
        assert_eq!(pace.started, 91_000);
        assert_eq!(pace.resume(151_900, 151_900), 152_900);
    }
}
