//! The page being filled for the next entry into JavaScript: its room, and the notices and streams that wait for it.

mod descriptor;

use std::collections::VecDeque;

use ring::layout::{
    ARENA_BYTES, FIELD_SPAN_WORDS, MAX_SLICE, PARAMETER_SPAN_WORDS, PEER_WORDS, RECEIVE_BYTES,
    SPAN_WORDS, kind,
};
use ring::{Memory, Page};
use wire::Head;

use crate::exchange::{Identity, Slot};

/// Why an exchange ended before its reply, as the numbers that JavaScript sees.
pub mod abort {
    pub use ring::layout::abort::{CLIENT, ERROR, SHUTDOWN, TIMEOUT, UPLOAD};
}

/// How many streams one slice tells to go on. The bytes that each then writes are sent before the next request is
/// looked at: 64 KiB as a rule, some 50 µs with the handler's work.
const DRAINS: usize = 8;

/// The most requests in a slice. However many come, there is room to tell one stream to go on.
const MOST_REQUESTS: usize = MAX_SLICE - 1;

/// An event other than a request that JavaScript is told of. It is queued when the page has no room, and always
/// delivered before any later request, so that the next user of a slot never comes before the end of the last.
#[derive(Clone, Debug)]
pub struct Notice {
    kind: i32,
    about: Identity,
    /// The reason of an `abort`, or the status of a `bodyFail`.
    value: i32,
    /// An `abort` has 1 here when the client has closed only its sending side and still gets a reply.
    detail: i32,
    /// The close reason of a socket as UTF-8, or a block of trailer fields.
    bytes: Box<[u8]>,
}

impl Notice {
    fn new(kind: i32, about: Identity, value: i32) -> Self {
        Self {
            kind,
            about,
            value,
            detail: 0,
            bytes: Box::default(),
        }
    }

    /// A socket is closed (RFC 6455 §7.1.5).
    pub fn closed_socket(about: Identity, code: u16, reason: &[u8]) -> Self {
        Self {
            bytes: reason.into(),
            ..Self::new(kind::CLOSED_SOCKET, about, i32::from(code))
        }
    }

    /// So many messages to a socket were dropped.
    pub fn dropped(about: Identity, messages: u32) -> Self {
        Self::new(kind::DROPPED, about, messages as i32)
    }

    /// The exchange has no client any more, or is not awaited any longer.
    pub fn abort(about: Identity, reason: i32) -> Self {
        Self::new(kind::ABORT, about, reason)
    }

    /// The client closed its sending side, and may wait for the reply.
    pub fn half_closed(about: Identity) -> Self {
        Self {
            detail: 1,
            ..Self::abort(about, abort::CLIENT)
        }
    }

    /// Makes the event for the end of a streamed body. `trailers` is the block of its trailer fields.
    pub fn body_end(about: Identity, trailers: Box<[u8]>) -> Self {
        Self {
            bytes: trailers,
            ..Self::new(kind::BODY_END, about, 0)
        }
    }

    /// The rest of a streamed body does not come. `status`: what the client did wrong, 0 if it left.
    pub fn body_failed(about: Identity, status: u16) -> Self {
        Self::new(kind::BODY_FAIL, about, i32::from(status))
    }

    /// The producer of a streamed reply may go on.
    pub fn drain(about: Identity) -> Self {
        Self::new(kind::DRAIN, about, 0)
    }

    /// No connection of a closing server is left.
    pub fn closed(server: u16) -> Self {
        let about = Identity {
            slot: Slot(u32::from(server)),
            generation: 0,
            server,
        };
        Self::new(kind::CLOSED, about, 0)
    }
}

/// The router's answer for a request.
#[derive(Clone, Copy, Debug)]
pub struct Routed {
    pub route: i32,
    pub allow: i32,
    /// Offset in the arena and length of the canonical path.
    pub path: usize,
    pub path_length: usize,
    /// The canonical path is a copy in the arena, because the head spells it differently.
    pub escaped: bool,
}

/// How a dispatched request's body is handed over.
#[derive(Clone, Copy, Debug)]
pub enum DispatchedBody {
    None,
    /// Offset in the arena and length.
    Inline(usize, usize),
    /// Index in the body list, length.
    Listed(usize, usize),
    /// Declared length, if any.
    Stream(Option<u64>),
}

/// A state of the page to come back to.
#[derive(Clone, Copy)]
pub struct Mark {
    count: usize,
    arena: usize,
}

#[derive(Default)]
pub struct Slice {
    /// Tells slices apart.
    number: u32,
    page: usize,
    count: usize,
    arena: usize,
    spans: usize,
    /// After so many descriptors JavaScript is entered. Its speed decides.
    target: usize,
    notices: VecDeque<Notice>,
    /// Streams whose producers may go on, oldest first. They wait for `deliver_drains`, because each may cost as much as
    /// many requests.
    drains: VecDeque<Identity>,
    /// Bodies too large for the arena.
    bodies: Vec<Vec<u8>>,
}

impl Slice {
    pub fn new() -> Self {
        Self {
            target: MOST_REQUESTS,
            ..Self::default()
        }
    }

    pub fn number(&self) -> u32 {
        self.number
    }

    pub fn page(&self) -> Page {
        Page(self.page)
    }

    /// How many descriptors are in the page.
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }

    pub fn bodies(&self) -> &[Vec<u8>] {
        &self.bodies
    }

    /// Hands over a body that is too large for the arena.
    pub fn list_body(&mut self, body: Vec<u8>) -> DispatchedBody {
        let length = body.len();
        self.bodies.push(body);
        DispatchedBody::Listed(self.bodies.len() - 1, length)
    }

    /// Decides how many descriptors fill the slice.
    pub fn set_target(&mut self, target: usize) {
        self.target = target.clamp(1, MOST_REQUESTS);
    }

    pub fn has_notices(&self) -> bool {
        !self.notices.is_empty()
    }

    /// Gives whether JavaScript has to be told of something.
    pub fn has_work(&self) -> bool {
        !self.notices.is_empty() || !self.drains.is_empty()
    }

    /// Has JavaScript told, by and by, that a stream may go on.
    pub fn let_go_on(&mut self, stream: Identity) {
        self.drains.push_back(stream);
    }

    /// The place in the arena where the next bytes may be received, and its offset.
    #[inline]
    pub fn room<'a>(&self, memory: &'a mut Memory) -> (usize, &'a mut [u8]) {
        let arena = memory.page(self.page()).arena;
        (
            self.arena,
            &mut arena[self.arena..self.arena + RECEIVE_BYTES],
        )
    }

    /// Keeps bytes that were received into the [`room`](Self::room).
    #[inline]
    pub fn take(&mut self, length: usize) {
        self.arena += length;
    }

    #[inline]
    pub fn mark(&self) -> Mark {
        Mark {
            count: self.count,
            arena: self.arena,
        }
    }

    /// Frees what was put into the arena since the mark, if no descriptor was written since: then nothing refers to it.
    #[inline]
    pub fn give_back(&mut self, mark: Mark) {
        if self.count == mark.count {
            self.arena = mark.arena;
        }
    }

    /// Starts the next page. A page JavaScript has seen is left alone for one more slice: requests that
    /// are still unanswered are copied out of it when JavaScript is entered next.
    pub fn begin(&mut self, memory: &mut Memory) {
        if self.count > 0 {
            self.page = self.page().other().0;
        }
        self.number = self.number.wrapping_add(1);
        self.count = 0;
        self.arena = 0;
        self.spans = 0;
        self.bodies.clear();
        self.deliver(memory);
    }

    /// Writes the notices that wait, as far as the page has room.
    #[inline]
    pub fn deliver(&mut self, memory: &mut Memory) {
        if !self.notices.is_empty() {
            self.write_notices(memory);
        }
    }

    fn write_notices(&mut self, memory: &mut Memory) {
        while !self.notices.is_empty() && self.count < MAX_SLICE {
            if let Some(notice) = self.notices.pop_front() {
                self.write_notice(memory, &notice);
            }
        }
    }

    /// Tells some of the waiting streams that they may go on, and gives whether it told any. Later slices tell the
    /// others, after the requests that have come by then.
    #[inline]
    pub fn deliver_drains(&mut self, memory: &mut Memory) -> bool {
        if self.drains.is_empty() {
            return false;
        }
        let room = DRAINS.min(self.target.saturating_sub(self.count).max(1));
        let before = self.count;
        while self.count - before < room && self.count < MAX_SLICE {
            let Some(stream) = self.drains.pop_front() else {
                break;
            };
            self.write_notice(memory, &Notice::drain(stream));
        }
        self.count > before
    }

    /// Writes the notices that wait. Gives whether there is room to receive once more, with the requests in it.
    #[inline]
    pub fn has_room(&mut self, memory: &mut Memory) -> bool {
        self.deliver(memory);
        self.count < self.target
            && self.arena + 2 * RECEIVE_BYTES <= ARENA_BYTES
            && self.notices.is_empty()
    }

    /// Gives whether there is room for one more request that is in the arena already: for its descriptor, its spans,
    /// and its canonical path (at most `RECEIVE_BYTES`) where that has to be stored.
    #[inline]
    pub fn takes_request(&self) -> bool {
        self.count < self.target
            && self.arena + RECEIVE_BYTES <= ARENA_BYTES
            && self.notices.is_empty()
    }

    /// Gives whether the spans of one more head fit.
    #[inline]
    pub fn has_spans(&self, head: &Head, params: usize) -> bool {
        self.has_spans_for(head.fields.len(), params)
    }

    /// Returns true when the spans of one more head with this many fields fit.
    #[inline]
    pub fn has_spans_for(&self, fields: usize, params: usize) -> bool {
        self.spans + params * PARAMETER_SPAN_WORDS + fields * FIELD_SPAN_WORDS + PEER_WORDS
            <= SPAN_WORDS
    }

    /// How many bytes of the arena are free.
    pub fn free(&self) -> usize {
        ARENA_BYTES - self.arena
    }

    /// Gives whether bytes may be copied into the arena, with room left for a canonical path.
    pub fn takes(&self, length: usize) -> bool {
        self.arena + length + RECEIVE_BYTES <= ARENA_BYTES
    }

    /// Copies bytes into the arena, which must have room, and gives their offset.
    pub fn store(&mut self, memory: &mut Memory, bytes: &[u8]) -> usize {
        let at = self.arena;
        memory.page(self.page()).arena[at..at + bytes.len()].copy_from_slice(bytes);
        self.arena = at + bytes.len();
        at
    }

    pub fn notify(&mut self, memory: Option<&mut Memory>, notice: Notice) {
        match memory {
            Some(memory) if self.count < MAX_SLICE && self.notices.is_empty() => {
                self.write_notice(memory, &notice);
            }
            _ => self.notices.push_back(notice),
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn field_names_are_those_of_the_wire_crate() {
        assert_eq!(ring::layout::FIELD_NAMES, wire::KNOWN_NAMES);
    }
}
