//! The time limits of a connection of HTTP/2: for incomplete frames, slow bodies, replies that the client does not
//! take, and connections without streams. `Connection::deadline` is never after the first of them.

use h2::{ErrorCode, Key};

use crate::connection::{ConnectionId, NEVER};
use crate::engine::Core;
use crate::exchange::State;
use crate::slice::{Notice, abort};

use super::Http2;
use super::bodies::Upload;

impl Http2 {
    /// Gives the earliest of all limits.
    fn deadline(&self) -> u64 {
        let streams = self.streams.iter().filter(|stream| stream.open);
        let first = streams.map(|stream| stream.deadline.min(stream.send_until));
        let first = first.min().unwrap_or(NEVER);
        let own = self.idle_until.min(self.frame_until);
        first.min(own).min(self.leaving.until().unwrap_or(NEVER))
    }
}

impl Core {
    /// Is called when received frames were taken. `partial`: the last of them is incomplete. `moved`: another frame was
    /// completed that was no part of a field block. The CONTINUATION frames of a field block share the time of one
    /// frame.
    pub fn await_frames(&mut self, id: ConnectionId, partial: bool, moved: bool) {
        let now = self.clock.now();
        let Some((connection, http2, server)) =
            self.connections.http2_with_server(&mut self.servers, id)
        else {
            return;
        };
        if !partial && !http2.session.is_mid_block() {
            http2.frame_until = NEVER;
        } else if http2.frame_until == NEVER || moved {
            // The time runs from the first byte. Later bytes do not extend it.
            http2.frame_until = now + server.config.limits.headers_timeout;
            connection.deadline = connection.deadline.min(http2.frame_until);
        }
    }

    /// Is called when the deadline of the connection has passed.
    pub fn time_out_http2(&mut self, id: ConnectionId) {
        let now = self.clock.now();
        let Some((_, http2)) = self.connections.http2(id) else {
            return;
        };
        if http2.frame_until <= now {
            http2.session.fail(ErrorCode::EnhanceYourCalm);
            self.abandon(id, abort::CLIENT);
            return;
        }
        let leaves = http2.leaving.until().is_some_and(|until| until <= now);
        if leaves || http2.idle_until <= now {
            self.leave(id);
        }
        let Some((_, http2)) = self.connections.http2(id) else {
            return;
        };
        let mut untaken = false;
        for key in http2.keys() {
            untaken |= self.time_out_stream(id, key);
        }
        // A client that does not read its replies would ask for more, so its connection ends with its last stream.
        let is_left = |(_, http2): (_, &mut Http2)| untaken && http2.open == 0;
        if self.connections.http2(id).is_some_and(is_left) {
            self.leave(id);
        }
        self.send_control(id);
        if let Some((connection, http2)) = self.connections.http2(id)
            && !http2.failed
        {
            connection.deadline = http2.deadline();
        }
    }

    /// Returns true when the client did not take the reply of the stream in time.
    fn time_out_stream(&mut self, id: ConnectionId, key: Key) -> bool {
        let now = self.clock.now();
        let Some((_, http2)) = self.connections.http2(id) else {
            return false;
        };
        let stream = http2.stream(key);
        if stream.send_until <= now {
            self.reset_stream(id, key, ErrorCode::Cancel, abort::CLIENT);
            return true;
        }
        if stream.deadline > now {
            return false;
        }
        let (pace, dispatched) = match &stream.upload {
            Upload::Buffering(body) => (body.pace, false),
            Upload::Streaming(body) => (body.pace, true),
            Upload::Whole | Upload::Early { .. } | Upload::Discarded { .. } => {
                stream.deadline = NEVER;
                return false;
            }
        };
        if let Some(deadline) = pace.extend(now) {
            stream.deadline = deadline;
            return false;
        }
        let slot = stream.slot;
        if !dispatched {
            self.refuse_stream(id, key, 408, "E_REQUEST_TIMEOUT", false);
        } else if self.exchanges.get(slot).state == State::Waiting {
            let notice = Notice::abort(self.exchanges.identity(slot), abort::UPLOAD);
            self.slice.notify(None, notice);
            self.drop_upload(id, key);
            self.answer_stream(slot, 408, "E_REQUEST_TIMEOUT");
        } else {
            self.reset_stream(id, key, ErrorCode::Cancel, abort::UPLOAD);
        }
        false
    }
}
