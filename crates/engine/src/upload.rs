//! Request bodies as they arrive: waited for, streamed while there is credit, or thrown away.

use ring::Memory;
use ring::layout::{INLINE_BODY_BYTES, kind};

use crate::connection::{Inbound, NEVER};
use crate::engine::Core;
use crate::inbound::Stop;
use crate::slice::{DispatchedBody, Notice};

impl Core {
    pub fn take_buffered(
        &mut self,
        memory: &mut Memory,
        id: u32,
        at: usize,
        end: usize,
    ) -> Result<usize, Stop> {
        let Some(connection) = self.connections.get_mut(id) else {
            return Err(Stop::Closed);
        };
        let Some(server) = self
            .servers
            .get_mut(usize::from(connection.server))
            .and_then(Option::as_mut)
        else {
            return Err(Stop::Closed);
        };
        let Inbound::Buffering(body) = &mut connection.inbound else {
            return Err(Stop::Closed);
        };
        if body.remaining.is_done() {
            return self.dispatch_buffered(memory, id).map(|()| at);
        }
        if at == end {
            return Err(Stop::Done);
        }
        let arena = memory.page(self.slice.page()).arena;
        let taken = match body
            .remaining
            .take(&arena[at..end], &server.config.limits.wire)
        {
            Ok(taken) => taken,
            Err(refusal) => {
                self.refuse(id, refusal.status(), refusal.code());
                return Err(Stop::Closed);
            }
        };
        let data = &arena[at + taken.start..at + taken.start + taken.length];
        body.pace.received += taken.used as u64;
        let whole = (body.data.len() + data.len()) as u64;
        let (status, code) = if body.remaining.at_least(whole) > body.limit {
            (413, "E_BODY_TOO_LARGE")
        } else if server.buffered + data.len() as u64 > server.config.limits.max_buffered_bodies {
            (503, "E_OVERLOADED")
        } else {
            server.buffered += data.len() as u64;
            body.data.extend_from_slice(data);
            // A decoder that uses nothing waits for more than it was given.
            return if taken.used == 0 && !body.remaining.is_done() {
                Err(Stop::Partial)
            } else {
                Ok(at + taken.used)
            };
        };
        self.refuse(id, status, code);
        Err(Stop::Closed)
    }

    pub fn dispatch_buffered(&mut self, memory: &mut Memory, id: u32) -> Result<(), Stop> {
        let Some(connection) = self.connections.get_mut(id) else {
            return Err(Stop::Closed);
        };
        let Inbound::Buffering(body) = &mut connection.inbound else {
            return Err(Stop::Closed);
        };
        let inline = body.data.len() <= INLINE_BODY_BYTES;
        let path_bytes = body.path.as_ref().map_or(0, Vec::len);
        let needed = body.head_bytes.len() + path_bytes + if inline { body.data.len() } else { 0 };
        if !self.slice.takes_request()
            || self.slice.free() < needed
            || !self.slice.has_spans(&body.head, route::MAX_PARAMS)
        {
            return Err(Stop::PageFull);
        }
        let Inbound::Buffering(mut body) =
            std::mem::replace(&mut connection.inbound, Inbound::Head)
        else {
            return Err(Stop::Closed);
        };
        let server = connection.server;
        let length = body.data.len();
        if let Some(server) = self.server_mut(server) {
            server.buffered -= length as u64;
        }
        let at = self.slice.store(memory, &body.head_bytes);
        body.routed.path = match &body.path {
            Some(path) => self.slice.store(memory, path),
            None => at + body.routed.path,
        };
        let dispatched = if inline {
            DispatchedBody::Inline(self.slice.store(memory, &body.data), length)
        } else {
            self.slice.bodies.push(body.data);
            DispatchedBody::Listed(self.slice.bodies.len() - 1, length)
        };
        self.dispatch(
            memory,
            id,
            at,
            &body.head,
            &body.routed,
            &body.params,
            dispatched,
            true,
        );
        self.expect_head(id);
        Ok(())
    }

    pub fn take_streamed(
        &mut self,
        memory: &mut Memory,
        id: u32,
        at: usize,
        end: usize,
    ) -> Result<usize, Stop> {
        let Some(connection) = self.connections.get_mut(id) else {
            return Err(Stop::Closed);
        };
        let Some(server) = self
            .servers
            .get(usize::from(connection.server))
            .and_then(Option::as_ref)
        else {
            return Err(Stop::Closed);
        };
        let server_id = connection.server;
        let Inbound::Streaming(body) = &mut connection.inbound else {
            return Err(Stop::Closed);
        };
        let notice = |kind: i32, value: i32| Notice {
            kind,
            slot: body.slot,
            generation: body.generation,
            value,
            detail: 0,
            server: server_id,
        };
        if body.remaining.is_done() {
            let end_of_body = notice(kind::BODY_END, 0);
            self.slice.notify(Some(memory), end_of_body);
            // From here on the handler takes its time, not the client.
            connection.deadline = NEVER;
            self.expect_head(id);
            return Ok(at);
        }
        if at == end {
            return Err(Stop::Done);
        }
        let window = usize::try_from(body.credit)
            .unwrap_or(usize::MAX)
            .min(end - at);
        if window == 0 {
            return Err(Stop::NoCredit);
        }
        if !self.slice.takes_request() {
            return Err(Stop::PageFull);
        }
        let arena = memory.page(self.slice.page()).arena;
        let input = &arena[at..at + window];
        let failed = match body.remaining.take(input, &server.config.limits.wire) {
            Ok(taken)
                if body.remaining.at_least(body.received + taken.length as u64) <= body.limit =>
            {
                body.expects_continue = false;
                body.received += taken.length as u64;
                body.pace.received += taken.used as u64;
                body.credit -= taken.length as u64;
                if body.credit == 0 {
                    body.paused = self.now;
                    connection.deadline = NEVER;
                }
                let identity = (body.slot, body.generation);
                if taken.length > 0 {
                    self.slice
                        .write_chunk(memory, identity, at + taken.start, taken.length);
                } else if taken.used == 0 && !body.remaining.is_done() {
                    return Err(Stop::Partial);
                }
                return Ok(at + taken.used);
            }
            Ok(_) => 413,
            Err(refusal) => refusal.status(),
        };
        let failed = notice(kind::BODY_FAIL, i32::from(failed));
        self.slice.notify(Some(memory), failed);
        if let Some(connection) = self.connections.get_mut(id) {
            // The handler still answers; after that nothing on this connection can be trusted.
            connection.inbound = Inbound::Closed;
            connection.deadline = NEVER;
            connection.lingered += 1;
            let last = connection.last;
            self.exchanges.get_mut(last).close = true;
        }
        Err(Stop::Closed)
    }

    pub fn take_discarded(
        &mut self,
        memory: &mut Memory,
        id: u32,
        at: usize,
        end: usize,
    ) -> Result<usize, Stop> {
        let Some(connection) = self.connections.get_mut(id) else {
            return Err(Stop::Closed);
        };
        let Some(server) = self
            .servers
            .get(usize::from(connection.server))
            .and_then(Option::as_ref)
        else {
            return Err(Stop::Closed);
        };
        let Inbound::Discard(body) = &mut connection.inbound else {
            return Err(Stop::Closed);
        };
        if body.remaining.is_done() {
            self.expect_head(id);
            self.after_body(id, at == end);
            return Ok(at);
        }
        if at == end {
            return Err(Stop::Done);
        }
        let input = &memory.page(self.slice.page()).arena[at..end];
        match body.remaining.take(input, &server.config.limits.wire) {
            Ok(taken) if taken.used as u64 <= body.budget => {
                body.budget -= taken.used as u64;
                if taken.used == 0 && !body.remaining.is_done() {
                    return Err(Stop::Partial);
                }
                Ok(at + taken.used)
            }
            Ok(_) | Err(_) => {
                // Too much, or not even a body: no byte of it is ever parsed as a request.
                self.stop_reading(id);
                Err(Stop::Closed)
            }
        }
    }
}
