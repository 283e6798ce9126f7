//! Takes messages from received bytes, and answers control frames.

use ring::Memory;
use ring::layout::{HIGH_WATER_BYTES, INLINE_BODY_BYTES, message_flag};
use ws::{Fault, Opcode, Step};

use super::Phase;
use crate::connection::ConnectionId;
use crate::engine::Core;
use crate::exchange::Identity;
use crate::faults::{self, Stage};
use crate::protocol::Stop;
use crate::slice::DispatchedBody;

impl Core {
    /// Consumes `arena[start..end]` as far as possible. Gives the offset behind the last consumed byte.
    pub fn take_messages(
        &mut self,
        memory: &mut Memory,
        id: ConnectionId,
        start: usize,
        end: usize,
    ) -> (usize, Stop) {
        faults::check(Stage::Parse);
        let now = self.clock.now();
        if let Some((_, socket)) = self.connections.socket(id) {
            socket.heard = now;
            socket.pinged = false;
        }
        let mut at = start;
        while at < end {
            match self.take_frame(memory, id, at, end) {
                Ok(next) => at = next,
                Err((next, stop)) => {
                    self.count_held(id);
                    return (next, stop);
                }
            }
        }
        self.count_held(id);
        (at, Stop::Done)
    }

    /// Gives whether something can be done with the input that was kept.
    pub fn can_take_messages(&mut self, id: ConnectionId) -> bool {
        let connection = self.connections.get(id);
        connection.is_some_and(|connection| !connection.input.is_empty())
    }

    fn take_frame(
        &mut self,
        memory: &mut Memory,
        id: ConnectionId,
        at: usize,
        end: usize,
    ) -> Result<usize, (usize, Stop)> {
        let (step, about) = self.next_step(memory, id, at, end)?;
        match step {
            Step::Partial { used } if at + used == end => Ok(end),
            Step::Partial { used } => Err((at + used, Stop::Partial)),
            Step::Fragments { used } | Step::Pong { used } => Ok(at + used),
            Step::Message {
                used,
                text,
                ascii,
                at: span,
            } => {
                if let Some(about) = about {
                    let body = DispatchedBody::Inline(at + span.start, span.len());
                    self.slice
                        .write_message(memory, about, body, flags(text, ascii));
                }
                Ok(at + used)
            }
            Step::Gathered { used, text, data } => {
                if let Some(about) = about {
                    let body = if data.len() <= INLINE_BODY_BYTES && self.slice.takes(data.len()) {
                        DispatchedBody::Inline(self.slice.store(memory, &data), data.len())
                    } else {
                        self.slice.list_body(data)
                    };
                    self.slice
                        .write_message(memory, about, body, flags(text, false));
                }
                Ok(at + used)
            }
            Step::Ping { used, at: span } => {
                if about.is_some() {
                    let (from, to) = (at + span.start, at + span.end);
                    let payload = &memory.page(self.slice.page()).arena[from..to];
                    self.push_frame(id, Opcode::Pong, payload);
                }
                Ok(at + used)
            }
            Step::Close { code, reason, .. } => {
                let (from, to) = (at + reason.start, at + reason.end);
                let reason: Box<[u8]> = memory.page(self.slice.page()).arena[from..to].into();
                self.answer_close(id, code, &reason);
                Err((end, Stop::Closed))
            }
        }
    }

    /// Has the receiver of a socket take a step, if it may take one now. Gives what came, and what JavaScript knows the
    /// socket by, unless it is being closed, so that messages are dropped.
    #[inline]
    fn next_step(
        &mut self,
        memory: &mut Memory,
        id: ConnectionId,
        at: usize,
        end: usize,
    ) -> Result<(Step, Option<Identity>), (usize, Stop)> {
        let Some((connection, socket, _, spec)) =
            self.connections.socket_with_server(&mut self.servers, id)
        else {
            return Err((end, Stop::Closed));
        };
        if socket.phase == Phase::Closed {
            connection.life.expect_more();
            return Err((end, Stop::Closed));
        }
        // A client that sends and does not read waits, so that its echoes and pongs do not pile up.
        if connection.unsent() > HIGH_WATER_BYTES && socket.is_open() {
            return Err((at, Stop::Blocked));
        }
        if !self.slice.takes_request() {
            return Err((at, Stop::PageFull));
        }
        let input = &mut memory.page(self.slice.page()).arena[at..end];
        let number = self.slice.number();
        // What JavaScript answers to a message goes out before what ends the socket, also where both came at once. So the
        // end waits for the next slice.
        let has_told = socket.told == Some(number);
        if has_told && socket.receiver.may_end(input) {
            return Err((at, Stop::PageFull));
        }
        let deflates = socket.longest > 0;
        let inflater = deflates.then(|| self.compression.inflater());
        let step = match socket.receiver.next(input, &spec.limits, inflater) {
            Ok(step) => step,
            Err(_) if has_told => return Err((at, Stop::PageFull)),
            Err(fault) => {
                self.fail_socket(id, fault);
                return Err((end, Stop::Closed));
            }
        };
        if matches!(step, Step::Message { .. } | Step::Gathered { .. }) {
            socket.told = Some(number);
        }
        let about = socket
            .is_open()
            .then(|| self.exchanges.identity(socket.slot));
        Ok((step, about))
    }

    /// Counts the bytes of unfinished messages. Past the limit of the server the socket is closed.
    fn count_held(&mut self, id: ConnectionId) {
        let Some((_, socket, server, _)) =
            self.connections.socket_with_server(&mut self.servers, id)
        else {
            return;
        };
        let held = socket.receiver.held() as u64;
        if held == socket.counted {
            return;
        }
        server.buffered = server.buffered - socket.counted + held;
        let grew = held > socket.counted;
        socket.counted = held;
        if grew && server.buffered > server.config.limits.max_buffered_bodies {
            self.end_with(id, super::TRY_AGAIN_LATER, super::CROWDED);
        }
    }

    /// The client broke the protocol or a limit, so nothing more of what it sends can be understood.
    fn fail_socket(&mut self, id: ConnectionId, fault: Fault) {
        self.end_with(id, fault.code(), fault.reason().as_bytes());
    }
}

fn flags(text: bool, ascii: bool) -> i32 {
    let text_flag = if text { message_flag::TEXT } else { 0 };
    let ascii_flag = if ascii { message_flag::ASCII } else { 0 };
    text_flag | ascii_flag
}
