//! Turns readiness events into bytes in the arena: accepting, receiving, back-pressure, and the end of input.

use std::collections::VecDeque;

use reactor::net::{Peer, Recv, Socket};
use reactor::{Event, Interest};
use ring::Memory;
use ring::layout::{HIGH_WATER_BYTES, RECEIVE_BYTES};

use crate::connection::{Connection, ConnectionId};
use crate::engine::Core;
use crate::protocol::{Protocol, Stop};
use crate::slice::abort;
use crate::transport::Transport;

/// The most connections accepted at once, so that a flood of them does not starve those being served.
const ACCEPT_BUDGET: usize = 64;
/// After so many milliseconds accepting is tried again, when the process had run out of file descriptors.
const ACCEPT_PAUSE: u64 = 200;
/// Seconds between probes of a client that closed its sending side while a handler works on its request. If the client
/// is gone, its kernel answers with a reset once it has forgotten the connection (60 s on Linux). Without probes, a
/// handler that never settles would never give its slot back.
const HALF_CLOSED_PROBE: i32 = 10;
/// How much input is kept for a connection whose parsing waits. Beyond it the socket is not read.
const BLOCKED_INPUT: usize = RECEIVE_BYTES;

/// The connections whose input was kept and can be parsed further.
#[derive(Default)]
pub struct Ready(VecDeque<u64>);

impl Ready {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The token of the connection that waits the longest.
    pub fn next(&mut self) -> Option<u64> {
        self.0.pop_front()
    }
}

impl Core {
    /// Gives whether more connections may wait in the queue.
    pub fn accept(&mut self, id: u16) -> bool {
        for _ in 0..ACCEPT_BUDGET {
            let now = self.clock.now();
            let Some(server) = self.servers.get_mut(id) else {
                return false;
            };
            let Some(listener) = &server.listener else {
                return false;
            };
            let (socket, peer) = match listener.accept() {
                Ok(Some(accepted)) => accepted,
                Ok(None) => return false,
                Err(_) => {
                    // EMFILE, ENFILE, ENOBUFS or ENOMEM: the poller is level-triggered and would report it in a loop.
                    let fd = listener.fd();
                    server.accept_again = now + ACCEPT_PAUSE;
                    self.polling.pause(fd, id, true);
                    return false;
                }
            };
            if matches!(peer, Peer::Tcp(_)) && socket.set_nodelay(true).is_err() {
                continue;
            }
            self.open(id, socket, peer);
        }
        true
    }

    /// Makes a connection of a socket that was accepted for a server.
    pub fn open(&mut self, id: u16, socket: Socket, peer: Peer) {
        let now = self.clock.now();
        let Some(server) = self.servers.get_mut(id) else {
            return;
        };
        if server.stats.connections as usize >= server.config.limits.max_connections
            || !server.admit_address(&peer)
        {
            server.stats.refused += 1;
            return;
        }
        let limits = &server.config.limits;
        let deadline = now
            + if server.tls.is_some() {
                limits.tls_handshake_timeout
            } else {
                limits.headers_timeout
            };
        server.stats.connections += 1;
        let fd = socket.fd();
        let Some(transport) = Transport::new(socket, server) else {
            server.release_address(&peer);
            server.stats.connections -= 1;
            return;
        };
        let connection = Connection::new(transport, peer, id, now, deadline);
        let encrypted = server.tls.is_some();
        let protocol = Protocol::new(server);
        let connection = self.connections.insert(connection, protocol);
        let token = self.connections.token(connection);
        if encrypted {
            self.begin_handshake(id, token);
        }
        if self.polling.add(fd, token, Interest::READ).is_err() {
            self.remove(connection, abort::ERROR);
        }
    }

    #[inline]
    pub fn on_event(&mut self, memory: &mut Memory, id: ConnectionId, event: Event) {
        if event.writable
            && let Some(connection) = self.connections.get_mut(id)
        {
            self.sender.note_writable(connection, event.token);
        }
        if event.readable {
            self.receive(memory, id);
        } else if event.error {
            self.remove(id, abort::CLIENT);
        } else if event.hangup {
            // The socket is not read, so more may have come before the end.
            self.half_close(id, false);
        }
    }

    fn receive(&mut self, memory: &mut Memory, id: ConnectionId) {
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        if !connection.interest.read {
            return;
        }
        let (start, room) = self.slice.room(memory);
        if connection.transport.is_encrypted() {
            self.receive_sealed(memory, id);
            return;
        }
        let received = connection.transport.receive(room);
        self.take_received(memory, id, start, &received);
    }

    /// Processes the bytes in the arena from `start` on.
    #[inline(always)]
    pub fn take_received(
        &mut self,
        memory: &mut Memory,
        id: ConnectionId,
        start: usize,
        received: &Recv,
    ) {
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        match *received {
            Recv::Data(length) if connection.life.is_lingering() => {
                let thrown_away = connection.life.throw_away(length as u64);
                if thrown_away > self.drain_limit(id) {
                    self.remove(id, abort::CLIENT);
                }
            }
            Recv::Data(length) if connection.input.is_empty() => {
                self.ingest_arena(memory, id, start, start + length);
            }
            Recv::Data(length) => {
                let arena = &memory.page(self.slice.page()).arena;
                connection
                    .input
                    .extend_from_slice(&arena[start..start + length]);
                self.parse_kept(memory, id);
                self.throttle(id);
            }
            Recv::WouldBlock => {}
            Recv::End => self.half_close(id, true),
            Recv::Failed(_) => self.remove(id, abort::CLIENT),
        }
        self.queue_pending(id);
    }

    /// Has a connection received from again that wants input and whose transport holds some.
    #[inline]
    fn queue_pending(&mut self, id: ConnectionId) {
        if let Some(connection) = self.connections.get(id)
            && connection.wants_pending()
        {
            self.queue(id);
        }
    }

    /// Parses bytes that were received into the arena, and keeps those that cannot be consumed now.
    fn ingest_arena(&mut self, memory: &mut Memory, id: ConnectionId, start: usize, end: usize) {
        let mark = self.slice.mark();
        self.slice.take(end - start);
        let (at, stop) = self.ingest(memory, id, start, end);
        self.slice.give_back(mark);
        self.keep_rest(memory, id, (at, end), stop);
    }

    /// Takes bytes for this connection that another one received, into a part of the arena of its own.
    pub fn take_carried(
        &mut self,
        memory: &mut Memory,
        id: ConnectionId,
        start: usize,
        end: usize,
    ) {
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        if connection.input.is_empty() {
            let (at, stop) = self.ingest(memory, id, start, end);
            self.keep_rest(memory, id, (at, end), stop);
            return;
        }
        let arena = &memory.page(self.slice.page()).arena;
        connection.input.extend_from_slice(&arena[start..end]);
        // If parsing waits, each small part would copy all of the input.
        if !connection.queued && !connection.parse_blocked {
            self.parse_kept(memory, id);
        }
    }

    /// Keeps received bytes that were not consumed, and schedules parsing them again.
    #[inline(always)]
    fn keep_rest(
        &mut self,
        memory: &mut Memory,
        id: ConnectionId,
        (at, end): (usize, usize),
        stop: Stop,
    ) {
        if stop == Stop::Done {
            return;
        }
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        if stop != Stop::Closed {
            // The arena is reused, so the rest is copied out of it.
            connection
                .input
                .extend_from_slice(&memory.page(self.slice.page()).arena[at..end]);
        }
        self.after_stop(id, stop);
    }

    /// Arranges that kept input is parsed again later.
    fn after_stop(&mut self, id: ConnectionId, stop: Stop) {
        match stop {
            Stop::PageFull => self.queue(id),
            Stop::Blocked => {
                if let Some(connection) = self.connections.get_mut(id) {
                    connection.parse_blocked = true;
                }
            }
            Stop::Partial | Stop::NoCredit | Stop::Done | Stop::Switched | Stop::Closed => {}
        }
        self.throttle(id);
    }

    /// Puts a connection on the ready list once.
    pub fn queue(&mut self, id: ConnectionId) {
        let token = self.connections.token(id);
        if let Some(connection) = self.connections.get_mut(id)
            && !connection.queued
        {
            connection.queued = true;
            self.ready.0.push_back(token);
        }
    }

    /// Goes on with a connection that was on the ready list.
    pub fn resume(&mut self, memory: &mut Memory, id: ConnectionId) {
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        connection.queued = false;
        self.parse_kept(memory, id);
        self.give_window_back(id);
        if self
            .connections
            .get(id)
            .is_some_and(|connection| connection.wants_pending() && !connection.queued)
        {
            if self.slice.has_room(memory) {
                self.receive(memory, id);
            } else {
                self.queue(id);
            }
        }
    }

    /// Parses input that was kept.
    fn parse_kept(&mut self, memory: &mut Memory, id: ConnectionId) {
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        connection.parse_blocked = false;
        if !self.can_resume(id) {
            self.throttle(id);
            self.finish_half_closed(id);
            return;
        }
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        let mut input = std::mem::take(&mut connection.input);
        let mark = self.slice.mark();
        let window = input.len().min(self.slice.free());
        let start = self.slice.store(memory, &input[..window]);
        let (at, stop) = self.ingest(memory, id, start, start + window);
        self.slice.give_back(mark);
        let Some(connection) = self.connections.get_mut(id) else {
            return;
        };
        let used = at - start;
        let truncated = window < input.len();
        if stop != Stop::Closed && used < input.len() {
            input.drain(..used);
            connection.input = input;
        }
        if truncated && matches!(stop, Stop::Done | Stop::Partial) {
            self.queue(id);
        }
        self.after_stop(id, stop);
        self.finish_half_closed(id);
    }

    /// Watches the socket for input only while input can be used. This is the back-pressure that the client feels.
    pub fn throttle(&mut self, id: ConnectionId) {
        let Some((connection, protocol)) = self.connections.open(id) else {
            return;
        };
        let Some(fd) = connection.transport.fd() else {
            return;
        };
        let paused = protocol.is_paused();
        let backlog = connection.unsent() > HIGH_WATER_BYTES && !connection.life.is_lingering();
        let full = connection.input.len() >= BLOCKED_INPUT
            && (connection.parse_blocked || connection.queued || paused || backlog);
        let read = !connection.life.has_ended()
            && !full
            && (!paused || connection.input.is_empty())
            && !protocol.is_deferred();
        let wanted = Interest {
            read,
            write: connection.unsent() > 0,
            // While the socket is not read, this tells once that the client has left (see `half_close`).
            hangup: !read && !connection.life.is_half_closed(),
        };
        if wanted == connection.interest {
            return;
        }
        let old = std::mem::replace(&mut connection.interest, wanted);
        let token = self.connections.token(id);
        if self.polling.modify(fd, token, old, wanted).is_err() {
            self.remove(id, abort::ERROR);
        }
        self.queue_pending(id);
    }

    /// Is called when the client closed its sending side. It may have left, or it may wait for its replies: the signals
    /// of handlers are aborted, and whatever they reply is still sent. `ended`: nothing is left to receive.
    pub fn half_close(&mut self, id: ConnectionId, ended: bool) {
        let Some((connection, protocol)) = self.connections.open(id) else {
            return;
        };
        if connection.life.is_lingering() {
            self.remove(id, abort::CLIENT);
            return;
        }
        if connection.life.half_close(ended) {
            if protocol.is_busy() {
                connection.transport.probe_peer(HALF_CLOSED_PROBE);
            }
            self.tell_half_closed(id);
        }
        self.finish_half_closed(id);
        self.throttle(id);
    }

    /// Closes a half-closed connection once every whole request it sent is answered.
    pub fn finish_half_closed(&mut self, id: ConnectionId) {
        if !self
            .connections
            .get(id)
            .is_some_and(|connection| connection.life.has_ended())
            || self.fail_rest(id)
        {
            return;
        }
        let Some((connection, protocol)) = self.connections.open(id) else {
            return;
        };
        let done = !protocol.is_busy()
            && connection.unsent() == 0
            && !connection.queued
            && !connection.parse_blocked
            && !self.sender.gathers_for(id);
        if done {
            self.remove(id, abort::CLIENT);
        }
    }
}
