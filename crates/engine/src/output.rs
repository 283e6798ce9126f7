//! Output that waits to be sent: the engine's own bytes, and bodies that stay where JavaScript has them.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::io::IoSlice;
use std::rc::{Rc, Weak};

use reactor::net::Send;
use ring::layout::HIGH_WATER_BYTES;

use crate::transport::Transport;

/// The most bytes of waiting output that one call sends: other connections wait for it.
const SEND_BYTES: usize = 262_144;

/// A body whose owner leaves it where it is until this is dropped.
pub trait Retained {
    /// Gives its bytes, valid until JavaScript runs again, or `None` when the memory was moved or resized since.
    fn bytes(&self) -> Option<&[u8]>;
}

/// The bodies that wait to be sent on connections of one server. Each is kept and counted once, on however many it
/// waits.
#[derive(Clone, Default)]
pub struct Bodies(Rc<RefCell<Table>>);

#[derive(Default)]
struct Table {
    /// The kept bodies by address and length. Their memory is not freed, so nothing else can lie there, unless it was
    /// moved to another owner, and then `bytes` gives nothing.
    by_place: HashMap<(usize, usize), Weak<Body>>,
    bytes: u64,
}

/// A body that is kept until its last owner drops it.
pub struct Body {
    retained: Box<dyn Retained>,
    place: (usize, usize),
    table: Rc<RefCell<Table>>,
}

impl Bodies {
    /// The number of bytes of all kept bodies.
    pub fn bytes(&self) -> u64 {
        self.0.borrow().bytes
    }

    /// Keeps the body that lies at `bytes`, by `retain` unless it is kept already; `None` when it cannot be kept.
    pub fn keep(
        &self,
        bytes: &[u8],
        retain: impl FnOnce() -> Option<Box<dyn Retained>>,
    ) -> Option<Rc<Body>> {
        let place = (bytes.as_ptr() as usize, bytes.len());
        let known = self.0.borrow().by_place.get(&place).and_then(Weak::upgrade);
        if known.as_ref().is_some_and(|body| body.bytes().is_some()) {
            return known;
        }
        let body = Rc::new(Body {
            retained: retain()?,
            place,
            table: self.0.clone(),
        });
        let mut table = self.0.borrow_mut();
        table.bytes += bytes.len() as u64;
        table.by_place.insert(place, Rc::downgrade(&body));
        Some(body)
    }
}

impl Body {
    pub fn bytes(&self) -> Option<&[u8]> {
        self.retained
            .bytes()
            .filter(|bytes| bytes.len() == self.place.1)
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        let mut table = self.table.borrow_mut();
        table.bytes -= self.place.1 as u64;
        // Another body may have come in its place.
        if table
            .by_place
            .get(&self.place)
            .is_some_and(|body| body.strong_count() == 0)
        {
            table.by_place.remove(&self.place);
        }
    }
}

/// A kept body from `at` on, and the engine's own bytes behind it.
struct Part {
    body: Rc<Body>,
    at: usize,
    behind: Vec<u8>,
}

/// Output in the order it is sent: the engine's own bytes, then each kept body with the own bytes behind it. Most
/// output has no kept body.
#[derive(Default)]
pub struct Output {
    own: Vec<u8>,
    /// How many bytes of `own` were sent.
    sent: usize,
    parts: VecDeque<Part>,
    /// How many of its own bytes are in the sum of its server.
    counted: usize,
}

impl Output {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.sent == self.own.len() && self.parts.is_empty()
    }

    /// Drops everything. `uncount` has to be called before.
    #[inline]
    pub fn clear(&mut self) {
        if self.own.capacity() > 0 || !self.parts.is_empty() {
            *self = Self::default();
        }
    }

    /// The number of bytes that wait.
    pub fn unsent(&self) -> usize {
        let left = |part: &Part| part.body.place.1 - part.at + part.behind.len();
        self.own.len() - self.sent + self.parts.iter().map(left).sum::<usize>()
    }

    /// The end, where own bytes are added.
    #[inline]
    pub fn end(&mut self) -> &mut Vec<u8> {
        match self.parts.back_mut() {
            None => &mut self.own,
            Some(part) => &mut part.behind,
        }
    }

    /// Adds the part of a body that begins at `at`.
    pub fn keep(&mut self, body: Rc<Body>, at: usize) {
        let behind = Vec::new();
        self.parts.push_back(Part { body, at, behind });
    }

    /// Takes the first own bytes, and the kept body behind them if there is one.
    pub fn take_first(&mut self) -> (Vec<u8>, Option<Rc<Body>>) {
        debug_assert!(self.sent == 0, "of a stash nothing is sent");
        let own = std::mem::take(&mut self.own);
        let Some(part) = self.parts.pop_front() else {
            return (own, None);
        };
        self.own = part.behind;
        (own, Some(part.body))
    }

    /// Gives the first contiguous bytes that wait; `None` if a kept body is gone.
    pub fn first(&self) -> Option<&[u8]> {
        match self.parts.front() {
            Some(part) if self.sent == self.own.len() => part.body.bytes()?.get(part.at..),
            _ => self.own.get(self.sent..),
        }
    }

    /// Sends some of it, or gives `None` when a kept body is not there any more. The caller tells `advance` how much
    /// was sent.
    pub fn send(&self, transport: &mut Transport) -> Option<Send> {
        let own = &self.own[self.sent..];
        let own = &own[..own.len().min(SEND_BYTES)];
        let Some(part) = self.parts.front() else {
            return Some(transport.send(own));
        };
        let body = &part.body.bytes()?[part.at..];
        let left = SEND_BYTES - own.len();
        if body.len() > left {
            return Some(
                transport.send_vectored(&[IoSlice::new(own), IoSlice::new(&body[..left])]),
            );
        }
        Some(transport.send_vectored(&[
            IoSlice::new(own),
            IoSlice::new(body),
            IoSlice::new(&part.behind),
        ]))
    }

    /// Forgets `length` bytes, which the socket took. Their memory is freed even if the client never takes the rest.
    pub fn advance(&mut self, length: usize) {
        let mut left = length;
        loop {
            let taken = left.min(self.own.len() - self.sent);
            self.sent += taken;
            left -= taken;
            if self.sent < self.own.len() {
                break;
            }
            let Some(part) = self.parts.front_mut() else {
                break;
            };
            self.own = Vec::new();
            self.sent = 0;
            let taken = left.min(part.body.place.1 - part.at);
            part.at += taken;
            left -= taken;
            if part.at < part.body.place.1 {
                break;
            }
            self.take_first();
        }
        if self.sent > HIGH_WATER_BYTES && self.sent > self.own.len() - self.sent {
            self.own.drain(..self.sent);
            self.sent = 0;
        }
    }

    /// Gives its share of the bytes that wait on its server: its own bytes, and for each kept body an equal part with
    /// all others that wait for it.
    pub fn share(&self) -> usize {
        let bodies = self.parts.iter().map(|part| &part.body);
        let parts = bodies.map(|body| body.place.1 / Rc::strong_count(body));
        self.counted + parts.sum::<usize>()
    }

    /// Takes its bytes out of a sum that `count` put them in.
    pub fn uncount(&mut self, sum: &mut u64) {
        *sum -= std::mem::take(&mut self.counted) as u64;
    }

    /// Brings a sum of own bytes up to date, of which this output's are a part.
    pub fn count(&mut self, sum: &mut u64) {
        let behind = self.parts.iter().map(|part| part.behind.len());
        let own = self.own.len() - self.sent + behind.sum::<usize>();
        *sum = *sum - self.counted as u64 + own as u64;
        self.counted = own;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(Vec<u8>);

    impl Retained for Fixed {
        fn bytes(&self) -> Option<&[u8]> {
            Some(&self.0)
        }
    }

    #[test]
    fn output_that_never_runs_dry_does_not_grow() {
        let mut output = Output::default();
        output.end().extend_from_slice(&[1; 1000]);
        for round in 0..1000_usize {
            output.end().extend_from_slice(&[round as u8; 10_000]);
            output.advance(10_000);
            assert_eq!(output.unsent(), 1000);
            assert_eq!(output.own.last(), Some(&(round as u8)));
        }
        assert!(output.own.capacity() < 4 * HIGH_WATER_BYTES);
    }

    #[test]
    fn own_bytes_and_kept_bodies_leave_in_order_whatever_the_socket_takes() {
        let bodies = Bodies::default();
        for step in [1, 2, 3, 5, 7, 11, 40] {
            let mut output = Output::default();
            let mut expected = Vec::new();
            let mut sum = 0;
            for (own, body) in [(3, 10), (0, 4), (5, 6)] {
                output.end().extend_from_slice(&vec![b'o'; own]);
                expected.extend(vec![b'o'; own]);
                let bytes: Vec<u8> = (0..body).map(|at| at + own as u8).collect();
                expected.extend(&bytes[1..]);
                let fixed = Fixed(bytes.clone());
                let kept = bodies.keep(&fixed.0.clone(), || Some(Box::new(fixed)));
                output.keep(kept.unwrap(), 1);
            }
            output.end().extend_from_slice(b"end");
            expected.extend(b"end");
            output.count(&mut sum);
            assert_eq!((sum, bodies.bytes()), (11, 20));
            let mut sent = Vec::new();
            while !output.is_empty() {
                let mut next = output.own[output.sent..].to_vec();
                if let Some(part) = output.parts.front() {
                    next.extend(&part.body.bytes().unwrap()[part.at..]);
                    next.extend(&part.behind);
                }
                next.truncate(step);
                output.advance(next.len());
                sent.extend(next);
                output.count(&mut sum);
            }
            assert_eq!(sent, expected, "{step} at a time");
            assert_eq!((sum, bodies.bytes()), (0, 0));
        }
    }
}
