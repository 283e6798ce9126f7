//! Counts the unsent bytes of the streams of a connection, and resets the stream with the most of them.

use h2::{ErrorCode, Key};

use crate::connection::ConnectionId;
use crate::engine::Core;
use crate::protocol::Protocol;
use crate::slice::abort;

use super::Stream;

impl Core {
    /// Gives the number of unsent bytes of the streams of a connection, and of the WebSockets on them.
    pub fn held_by_streams(&self, id: ConnectionId) -> usize {
        let streams = self.open_streams(id);
        streams.map(|(_, stream)| self.held_by_stream(stream)).sum()
    }

    fn open_streams(&self, id: ConnectionId) -> impl Iterator<Item = (Key, &Stream)> {
        let streams = match self.connections.protocol(id) {
            Some(Protocol::Http2(http2)) => http2.streams.as_slice(),
            _ => &[],
        };
        let streams = streams.iter().enumerate();
        let open = streams.filter(|(_, stream)| stream.open);
        open.map(|(index, stream)| (Key(index as u16), stream))
    }

    fn held_by_stream(&self, stream: &Stream) -> usize {
        let socket = self.connections.get(stream.socket);
        stream.waiting.share() + socket.map_or(0, |socket| socket.output.share())
    }

    /// Resets the stream with the most unsent bytes; `grown` wins ties. If it has no more than the output of the
    /// connection, and is not `grown`, the connection is reset.
    pub fn end_fullest_stream(&mut self, id: ConnectionId, grown: Option<Key>) {
        let fullest = self
            .open_streams(id)
            .map(|(key, stream)| {
                (
                    self.held_by_stream(stream),
                    grown == Some(key),
                    key,
                    stream.socket,
                )
            })
            .max_by_key(|&(held, grown, ..)| (held, grown));
        let behind = self
            .connections
            .get(id)
            .map_or(0, |connection| connection.output.share());
        match fullest {
            Some((held, has_grown, key, socket)) if held > behind || has_grown => {
                let code = if socket == ConnectionId::NONE {
                    ErrorCode::InternalError
                } else {
                    ErrorCode::Cancel
                };
                if let Some((_, http2)) = self.connections.http2(id) {
                    http2.session.reset(key, code);
                }
                self.send_reset(id);
                self.end_stream(id, key, Some(abort::ERROR));
                self.send_reset(id);
            }
            _ => self.reset_connection(id, abort::ERROR),
        }
    }

    /// Sends `RST_STREAM` without taking the cork from another connection, which may be in the middle of a reply.
    fn send_reset(&mut self, id: ConnectionId) {
        let gathers = self.sender.gathers_for(id);
        let Some((connection, http2)) = self.connections.http2(id) else {
            return;
        };
        let out = http2.session.out();
        if out.is_empty() {
            return;
        }
        if gathers {
            self.sender.gathered().append(out);
            return;
        }
        connection.push(out);
        out.clear();
        self.send_uncounted(id);
    }
}
