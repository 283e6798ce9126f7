//! Sends the bytes of replies.
//!
//! Most bytes take the fast path: the replies of one connection are gathered in the cork and go out with one call when
//! the step turns to another connection, without a copy. A connection that the step comes back to, and one whose
//! protocol writes into `Connection::output` itself, goes on the list of those that are sent once, at the end of the
//! step: one turn serves many connections, however their bytes alternate. What a socket does not take waits in
//! `Connection::output` until the poller says that it takes bytes again; that goes out after the requests of a slice.

mod cork;
mod room;

use std::collections::VecDeque;
use std::io::IoSlice;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use reactor::net::Send;
use ring::Memory;
use ring::layout::REFERENCE_BYTES;

use crate::connection::{Connection, ConnectionId, NEVER};
use crate::engine::Core;
use crate::faults::{self, Stage};
use crate::output::{Bodies, Body, Output};
use crate::slice::abort;
use cork::Cork;

/// How many bytes of waiting output go out with one slice. They take the kernel some 100 µs, and requests come first.
const SENT_BYTES: usize = 524_288;

/// What is to be sent.
#[derive(Default)]
pub struct Sender {
    cork: Cork,
    /// The tokens of connections that are sent at the end of the step.
    dirty: VecDeque<u64>,
    /// The tokens of connections whose sockets take bytes again.
    writable: VecDeque<u64>,
    /// How many connections have output that their sockets did not take yet.
    waiting: usize,
    /// Counts the steps. A connection that was sent in this one has its number.
    step: u32,
}

/// What the sending stage knows of one connection.
///
/// # Invariants
/// These hold between two steps, that is, whenever `Core::flush` has returned:
/// - `writable` is set only while the token is on that list of the [`Sender`]; if the output is sent by another way, the
///   flag goes and the token stays, which does no harm.
/// - `dirty` is not set: it lives within a step.
/// - `deadline` is set exactly while the connection has output, which then waits for the socket.
pub struct Sending {
    writable: bool,
    pub dirty: bool,
    /// The number of the step in which bytes were last sent at once.
    step: u32,
    /// When output that waits for the client to read has waited too long; `NEVER` while none waits.
    deadline: u64,
}

impl Default for Sending {
    fn default() -> Self {
        Self {
            writable: false,
            dirty: false,
            step: u32::MAX,
            deadline: NEVER,
        }
    }
}

impl Sending {
    /// Gives whether the client did not read for too long.
    pub fn is_late(&self, now: u64) -> bool {
        self.deadline <= now
    }
}

impl Sender {
    /// Gives whether work is left that no readiness event will announce.
    pub fn has_work(&self) -> bool {
        !self.writable.is_empty()
    }

    /// Gives whether a socket has to take bytes yet.
    pub fn is_waiting(&self) -> bool {
        self.waiting > 0
    }

    /// Is called when the socket of a connection takes bytes again.
    pub fn note_writable(&mut self, connection: &mut Connection, token: u64) {
        if !std::mem::replace(&mut connection.sending.writable, true) {
            self.writable.push_back(token);
        }
    }

    /// Forgets a connection that is closed.
    pub fn forget(&mut self, id: ConnectionId, connection: &Connection) {
        if self.cork.connection == id {
            self.drop_cork();
        }
        if connection.sending.deadline != NEVER {
            self.waiting -= 1;
        }
    }
}

impl Core {
    /// Is called when a protocol has added output: has it sent at the end of the step.
    pub fn send_later(&mut self, id: ConnectionId) {
        self.send_uncounted(id);
        self.bound_waiting(id);
    }

    /// Like `send_later`, but does not check `maxBufferedReplies`.
    pub fn send_uncounted(&mut self, id: ConnectionId) {
        let token = self.connections.token(id);
        if let Some(connection) = self.connections.get_mut(id)
            && !std::mem::replace(&mut connection.sending.dirty, true)
        {
            self.sender.dirty.push_back(token);
        }
    }

    /// Ends a step: sends what it gathered.
    pub fn flush(&mut self) {
        self.deliver_published();
        loop {
            // After a panic a 500, or the end of a stream, may have to be sent.
            self.flush_cork();
            let Some(token) = self.sender.dirty.pop_front() else {
                if self.sender.is_free() {
                    break;
                }
                continue;
            };
            if let Some(id) = self.connections.resolve(token) {
                self.guarded_send(id, false, |core| {
                    core.flush_output(id);
                });
            }
        }
        self.tell_of_dropped();
        self.sender.step = self.sender.step.wrapping_add(1);
    }

    /// Sends waiting output to sockets that take bytes again. The rest goes with the next slice, after the requests
    /// that have come by then.
    pub fn send_waiting(&mut self, memory: &mut Memory) {
        let mut left = SENT_BYTES;
        while left > 0
            && let Some(token) = self.sender.writable.pop_front()
        {
            if let Some(id) = self.connections.resolve(token) {
                self.guarded(id, |core| left = left.saturating_sub(core.flush_output(id)));
                self.slice.deliver(memory);
            }
        }
    }

    /// Sends bytes of a connection at once if nothing waits and nothing was sent in this step, else at the end of the step.
    /// What the socket does not take stays where it is if `keep` gives an owner for it; otherwise it is copied.
    pub fn send_at_once(
        &mut self,
        id: ConnectionId,
        bytes: &[u8],
        keep: impl FnOnce(&Bodies) -> Option<Rc<Body>>,
    ) {
        let Some((connection, server)) = self.connections.with_server(&mut self.servers, id) else {
            return;
        };
        let waits = !connection.output.is_empty() || connection.transport.seals();
        if waits || connection.sending.step == self.sender.step {
            let kept = Some(server).filter(|_| !connection.transport.seals());
            match kept.and_then(|server| keep(&server.bodies)) {
                Some(kept) => connection.output.keep(kept, 0),
                None => connection.push(bytes),
            }
            self.send_later(id);
            return;
        }
        faults::check(Stage::Flush);
        connection.sending.step = self.sender.step;
        let sent = match connection.transport.send(bytes) {
            Send::Sent(length) => length,
            Send::WouldBlock => 0,
            Send::Failed(_) => {
                self.remove(id, abort::CLIENT);
                return;
            }
        };
        if sent == bytes.len() {
            return;
        }
        match keep(&server.bodies) {
            Some(kept) => connection.output.keep(kept, sent),
            None => connection.push(&bytes[sent..]),
        }
        self.await_socket(id);
        self.bound_waiting(id);
    }

    /// Sends the cork, `body` and `tail`. The part of the body that the socket does not take stays where it is if
    /// `keep` gives an owner for it. Otherwise it is copied, because JavaScript may reuse the bytes when it runs again.
    pub fn send_large(
        &mut self,
        id: ConnectionId,
        body: &[u8],
        tail: &[u8],
        keep: impl FnOnce(&Bodies) -> Option<Rc<Body>>,
    ) {
        if self
            .connections
            .get(id)
            .is_some_and(|connection| connection.sending.dirty)
        {
            // The body need not be copied if it finds no output before it.
            self.flush_output(id);
        }
        let Some((connection, server)) = self.connections.with_server(&mut self.servers, id) else {
            return;
        };
        let cork = &mut self.sender.cork;
        if connection.transport.seals() {
            for bytes in [&cork.bytes, body, tail] {
                connection.push(bytes);
            }
            cork.bytes.clear();
            cork.mark = 0;
            // Bytes that the socket takes now do not count as waiting.
            self.flush_output(id);
            return;
        }
        let mut sent = 0;
        if connection.output.is_empty() {
            faults::check(Stage::Flush);
            connection.sending.step = self.sender.step;
            let slices = [&cork.bytes, body, tail].map(IoSlice::new);
            match connection.transport.send_vectored(&slices) {
                Send::Sent(length) => sent = length,
                Send::WouldBlock => {}
                Send::Failed(_) => {
                    self.remove(id, abort::CLIENT);
                    return;
                }
            }
        }
        let of_cork = sent.min(cork.bytes.len());
        let of_body = (sent - of_cork).min(body.len());
        let of_tail = sent - of_cork - of_body;
        connection.push(&cork.bytes[of_cork..]);
        let kept = Some(server)
            .filter(|_| body.len() - of_body >= REFERENCE_BYTES)
            .and_then(|server| keep(&server.bodies));
        match kept {
            Some(kept) => connection.output.keep(kept, of_body),
            None => connection.push(&body[of_body..]),
        }
        connection.push(&tail[of_tail..]);
        cork.bytes.clear();
        cork.mark = 0;
    }

    /// Counts the output of a connection after it grew. Above `maxBufferedReplies` clients are cut off.
    pub fn bound_waiting(&mut self, id: ConnectionId) {
        let Some((connection, server)) = self.connections.with_server(&mut self.servers, id) else {
            return;
        };
        connection.output.count(&mut server.waiting);
        if server.holds_too_much() {
            self.make_room(id, None);
        }
    }

    /// Sends for one connection while the engine may be at work for another. `continues`: after a panic the client would read a
    /// new reply as a part of the one that was being sent.
    #[inline]
    fn guarded_send(&mut self, id: ConnectionId, continues: bool, send: impl FnOnce(&mut Self)) {
        if catch_unwind(AssertUnwindSafe(|| send(self))).is_err() {
            if self.sender.cork.connection == id {
                self.sender.drop_cork();
            }
            self.after_panic(id, continues);
        }
    }

    /// Sends output that waits. Gives how many bytes the socket took.
    pub fn flush_output(&mut self, id: ConnectionId) -> usize {
        let Some(connection) = self.connections.get_mut(id) else {
            return 0;
        };
        connection.sending.writable = false;
        connection.sending.dirty = false;
        if connection.output.is_empty() {
            return 0;
        }
        faults::check(Stage::Flush);
        if let Some(place) = connection.transport.place() {
            return self.flush_to_stream(id, place);
        }
        let taken = match connection.output.send(&mut connection.transport) {
            Some(Send::Sent(length)) => length,
            Some(Send::WouldBlock) => 0,
            Some(Send::Failed(_)) => {
                self.remove(id, abort::CLIENT);
                return 0;
            }
            // The user moved, shrank or grew the memory of a reply that is half sent.
            None => {
                self.reset_connection(id, abort::ERROR);
                return 0;
            }
        };
        connection.output.advance(taken);
        self.after_taken(id, taken);
        taken
    }

    /// Is called when a part of the output that waited was taken.
    pub fn after_taken(&mut self, id: ConnectionId, taken: usize) {
        let now = self.clock.now();
        let Some((connection, server)) = self.connections.with_server(&mut self.servers, id) else {
            return;
        };
        connection.output.count(&mut server.waiting);
        if !connection.output.is_empty() {
            if taken > 0 && connection.sending.deadline != NEVER {
                connection.sending.deadline = now + server.config.limits.send_timeout;
            }
            self.await_socket(id);
            return;
        }
        connection.output = Output::default();
        if connection.transport.has_failed() && !connection.life.is_closing() {
            self.reset_connection(id, abort::ERROR);
            return;
        }
        if std::mem::take(&mut connection.parse_blocked) {
            self.queue(id);
        }
        self.after_output(id);
        self.after_sent(id);
        self.throttle(id);
    }

    /// Is called when the socket did not take all output.
    pub fn await_socket(&mut self, id: ConnectionId) {
        let now = self.clock.now();
        let Some((connection, server)) = self.connections.with_server(&mut self.servers, id) else {
            return;
        };
        if connection.sending.deadline == NEVER {
            let timeout = server.config.limits.send_timeout;
            connection.sending.deadline = now.saturating_add(timeout).min(NEVER - 1);
            self.sender.waiting += 1;
        }
        self.throttle(id);
    }

    /// Is called when nothing more waits to be sent.
    fn after_sent(&mut self, id: ConnectionId) {
        let Some((connection, protocol)) = self.connections.open(id) else {
            return;
        };
        if connection.sending.deadline != NEVER {
            connection.sending.deadline = NEVER;
            self.sender.waiting -= 1;
        }
        if protocol.is_busy() {
            self.tell_drained(id);
        } else if connection.life.is_closing() {
            // The gathered bytes may be a refusal, behind the rest of a TLS handshake that is sent now.
            if !self.sender.gathers_for(id) {
                self.close_or_linger(id);
            }
        } else if connection.life.is_half_closed() {
            self.finish_half_closed(id);
        }
    }
}
