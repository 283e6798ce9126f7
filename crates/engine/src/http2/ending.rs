//! How streams end, one by one or all at once: by a reply, a reset, a time limit, or the end of their connection. The
//! resources of a stream are freed exactly once, when its place is freed.

use h2::{ErrorCode, Key};
use ring::Memory;

use crate::connection::ConnectionId;
use crate::engine::Core;
use crate::exchange::Slot;
use crate::slice::{Notice, abort};

use super::Stream;
use super::bodies::Upload;

impl Core {
    /// Frees the place of a stream that the session has dropped, and its resources. `aborted`: the reason for which its
    /// handler is aborted.
    pub fn end_stream(&mut self, id: ConnectionId, key: Key, aborted: Option<i32>) {
        self.drop_upload(id, key);
        let Some((_, http2, server)) = self.connections.http2_with_server(&mut self.servers, id)
        else {
            return;
        };
        let mut stream = std::mem::take(http2.stream(key));
        if !stream.open {
            return;
        }
        http2.open -= 1;
        let was_last = http2.open == 0;
        stream.waiting.uncount(&mut server.waiting);
        if stream.slot != Slot::NONE {
            server.stats.in_flight -= 1;
            if let Some(reason) = aborted {
                let notice = Notice::abort(self.exchanges.identity(stream.slot), reason);
                self.slice.notify(None, notice);
            }
            self.exchanges.release(stream.slot);
        }
        if stream.socket != ConnectionId::NONE {
            self.remove(stream.socket, aborted.unwrap_or(abort::CLIENT));
        }
        if was_last {
            self.after_streams(id);
        }
    }

    /// Resets a stream, and tells its handler why.
    pub fn reset_stream(&mut self, id: ConnectionId, key: Key, code: ErrorCode, reason: i32) {
        if let Some((_, http2)) = self.connections.http2(id) {
            http2.session.reset(key, code);
            self.end_stream(id, key, Some(reason));
        }
    }

    /// Is called when the client has reset a stream. A request that JavaScript has not seen yet is withdrawn.
    pub fn lose_stream(&mut self, memory: &mut Memory, id: ConnectionId, key: Key) {
        let Some((_, http2)) = self.connections.http2(id) else {
            return;
        };
        let slot = http2.stream(key).slot;
        let withdrawn = slot != Slot::NONE
            && self
                .slice
                .withdraw(memory, self.exchanges.identity(slot), abort::CLIENT);
        self.end_stream(id, key, (!withdrawn).then_some(abort::CLIENT));
        self.slice.deliver(memory);
    }

    /// Ends all streams at once. Nothing more is read.
    pub fn end_streams(&mut self, id: ConnectionId, reason: i32) {
        let Some((_, http2)) = self.connections.http2(id) else {
            return;
        };
        http2.failed = true;
        for key in http2.keys() {
            self.end_stream(id, key, Some(reason));
        }
    }

    /// Ends a connection whose session has failed, once GOAWAY is sent.
    pub fn abandon(&mut self, id: ConnectionId, reason: i32) {
        self.end_streams(id, reason);
        self.end_connection(id);
    }

    /// Ends the work of the connection after a caught panic. `lost`: a part of a frame was lost.
    pub fn recover_http2(&mut self, id: ConnectionId, lost: bool) {
        let Some((_, http2)) = self.connections.http2(id) else {
            return;
        };
        if lost {
            self.reset_connection(id, abort::ERROR);
            return;
        }
        // The dynamic table may differ from the client's.
        http2.session.fail(ErrorCode::InternalError);
        self.abandon(id, abort::ERROR);
    }

    /// Tells the handlers of all streams that the client closed its sending side.
    pub fn tell_stream_handlers(&mut self, id: ConnectionId) {
        let Some((_, http2)) = self.connections.http2(id) else {
            return;
        };
        for stream in http2.streams.iter().filter(|stream| stream.has_exchange()) {
            let notice = Notice::half_closed(self.exchanges.identity(stream.slot));
            self.slice.notify(None, notice);
        }
    }

    /// Ends everything that waits for a client that sends nothing more: bodies whose rest will never arrive, and
    /// replies whose windows will never grow. Returns true when a handler waited for a body.
    pub fn fail_streams(&mut self, id: ConnectionId) -> bool {
        let Some((connection, http2)) = self.connections.http2(id) else {
            return false;
        };
        if connection.queued || connection.parse_blocked {
            return false;
        }
        let is_stuck = connection.unsent() == 0 && http2.session.next_to_send().is_none();
        let mut told = false;
        for key in http2.keys() {
            let Some((_, http2)) = self.connections.http2(id) else {
                break;
            };
            let stream = http2.stream(key);
            let socket = stream.socket;
            if socket != ConnectionId::NONE {
                self.half_close(socket, true);
                continue;
            }
            let waits = is_stuck && !stream.waiting.is_empty();
            match &stream.upload {
                Upload::Buffering(body) if !body.whole => {
                    self.reset_stream(id, key, ErrorCode::Cancel, abort::CLIENT);
                }
                _ if waits => self.reset_stream(id, key, ErrorCode::Cancel, abort::CLIENT),
                Upload::Streaming(body) if !body.ended => {
                    let notice = Notice::body_failed(body.about, 0);
                    self.drop_upload(id, key);
                    self.slice.notify(None, notice);
                    told = true;
                }
                _ => {}
            }
        }
        told
    }
}

impl Stream {
    /// Returns true when a handler works on a request.
    pub fn has_exchange(&self) -> bool {
        self.open && self.slot != Slot::NONE
    }
}
