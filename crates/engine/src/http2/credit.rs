//! Credit that handlers give for more of a body, and 100 Continue for clients that wait for it before they send a body.

use h2::Key;
use ring::Record;

use crate::connection::ConnectionId;
use crate::engine::Core;
use crate::exchange::{Slot, State};

use super::bodies::Upload;

impl Core {
    /// Adds credit for more of the body of a stream.
    pub fn grant_stream(&mut self, id: ConnectionId, slot: Slot, record: &Record) {
        let now = self.clock.now();
        let exchange = self.exchanges.get(slot);
        let (key, waits) = (Key(exchange.stream), exchange.state == State::Waiting);
        let amount = u64::from(record.amount());
        let Some((connection, http2)) = self.connections.http2(id) else {
            return;
        };
        let stream = http2.stream(key);
        let Upload::Streaming(body) = &mut stream.upload else {
            return;
        };
        if amount == 0 {
            return;
        }
        // More credit does not mean more time. Otherwise a client that sends byte by byte would get time for each byte.
        if body.credit == 0 && !body.ended {
            stream.deadline = body.pace.resume(body.paused, now);
            connection.deadline = connection.deadline.min(stream.deadline);
        }
        body.credit = body.credit.saturating_add(amount);
        let asks = std::mem::take(&mut body.expects_continue) && waits;
        if body.can_go_on() {
            http2.note_ready(key);
            self.queue(id);
        }
        if asks {
            self.send_continue_on(id, key);
        }
    }

    /// Sends 100 Continue, for which the client waits before it sends its body (RFC 9110 §10.1.1).
    pub fn send_continue_on(&mut self, id: ConnectionId, key: Key) {
        let mut block = std::mem::take(&mut self.shared.block);
        block.clear();
        h2::hpack::encode::status(&mut block, 100);
        self.send_head(id, key, &block, false);
        self.shared.block = block;
    }
}
