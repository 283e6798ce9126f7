//! Field blocks: HEADERS and CONTINUATION (RFC 9113 §4.3, §6.2, §6.10).

use super::{Session, Shutdown};
use crate::budget::Charge;
use crate::closed::End;
use crate::flow::{Credit, Window};
use crate::frame::{FrameHead, flag};
use crate::head::{Fault, Request, TrailerFault, Trailers};
use crate::priority::Priority;
use crate::streams::Stream;
use crate::{ErrorCode, Event, Key, RequestHead};

/// A field block in several frames.
pub(super) struct Block {
    opening: Opening,
    bytes: Vec<u8>,
    continuations: u32,
}

impl Block {
    pub fn memory(&self) -> usize {
        self.bytes.capacity()
    }
}

/// The flags and the dependency of a HEADERS frame.
#[derive(Clone, Copy)]
struct Opening {
    stream: u32,
    end: bool,
    /// True if the stream depends on itself (RFC 7540 §5.3.1).
    is_own_parent: bool,
}

/// The most CONTINUATION frames of one block. nghttp2 accepts as many (CVE-2024-27316).
const MOST_CONTINUATIONS: u32 = 8;

impl Session {
    #[inline]
    pub(super) fn headers(
        &mut self,
        frame: &FrameHead,
        payload: &[u8],
        room: bool,
        head: &mut RequestHead,
    ) -> Result<Option<Event>, ErrorCode> {
        let id = frame.stream;
        if id.is_multiple_of(2) {
            return Err(ErrorCode::ProtocolError);
        }
        let is_whole = frame.has(flag::END_HEADERS);
        if is_whole && !room {
            return Ok(Some(Event::NoRoom));
        }
        let mut block = unpad(frame, payload)?;
        let mut is_own_parent = false;
        if frame.has(flag::PRIORITY) {
            let (priority, rest) = block
                .split_first_chunk::<5>()
                .ok_or(ErrorCode::FrameSizeError)?;
            is_own_parent = super::control::parent(*priority) == id;
            block = rest;
        }
        let opening = Opening {
            stream: id,
            end: frame.has(flag::END_STREAM),
            is_own_parent,
        };
        if is_whole {
            return self.field_block(opening, block, head);
        }
        if block.len() > self.limits.wire.max_header_size as usize {
            return Err(ErrorCode::EnhanceYourCalm);
        }
        self.block = Some(Block {
            opening,
            bytes: block.to_vec(),
            continuations: 0,
        });
        Ok(None)
    }

    pub(super) fn continuation(
        &mut self,
        frame: &FrameHead,
        payload: &[u8],
        room: bool,
        head: &mut RequestHead,
    ) -> Result<Option<Event>, ErrorCode> {
        let most = self.limits.wire.max_header_size as usize;
        let block = self.block.as_mut().ok_or(ErrorCode::ProtocolError)?;
        if frame.stream != block.opening.stream {
            return Err(ErrorCode::ProtocolError);
        }
        if block.continuations == MOST_CONTINUATIONS || block.bytes.len() + payload.len() > most {
            return Err(ErrorCode::EnhanceYourCalm);
        }
        let is_last = frame.has(flag::END_HEADERS);
        if is_last && !room {
            return Ok(Some(Event::NoRoom));
        }
        block.continuations += 1;
        block.bytes.extend_from_slice(payload);
        match self.block.take_if(|_| is_last) {
            Some(block) => self.field_block(block.opening, &block.bytes, head),
            None => Ok(None),
        }
    }

    /// Reads a whole field block. It is decoded even if the stream is gone, because later blocks refer to it.
    fn field_block(
        &mut self,
        opening: Opening,
        block: &[u8],
        head: &mut RequestHead,
    ) -> Result<Option<Event>, ErrorCode> {
        self.budget.useful(block.len());
        let id = opening.stream;
        if let Some(key) = self.streams.find(id) {
            return self.trailers(key, opening, block, head);
        }
        if id <= self.last_id {
            // HEADERS that the client sent before it knew of the server's reset are ignored (RFC 9113 §5.1). The end of
            // the request is no error of the client, and is accepted once. Ids never decrease.
            return match self.closed.find(id) {
                Some(End::Server) => {
                    self.decode_for_nobody(block)?;
                    if !opening.end || !self.closed.leave(id, End::Complete) {
                        self.charge(Charge::Invalid)?;
                    }
                    Ok(None)
                }
                Some(End::Client | End::Complete) => Err(ErrorCode::StreamClosed),
                None => Err(ErrorCode::ProtocolError),
            };
        }
        self.last_id = id;
        let early = self.early.take(id);
        if self.streams.is_full() || self.shutdown == Shutdown::Finished {
            self.decode_for_nobody(block)?;
            self.charge(Charge::RefusedStream)?;
            self.closed.remember(id, End::Server);
            crate::frame::reset(&mut self.out, id, ErrorCode::RefusedStream);
            return Ok(None);
        }
        if opening.is_own_parent {
            self.decode_for_nobody(block)?;
            return self.malformed(id);
        }
        self.request(opening, early, block, head)
    }

    /// Takes a head that opens a stream.
    #[inline]
    fn request(
        &mut self,
        opening: Opening,
        early: Option<Priority>,
        block: &[u8],
        head: &mut RequestHead,
    ) -> Result<Option<Event>, ErrorCode> {
        let mut request = Request::new(head, &self.limits.wire, self.limits.connect_protocol);
        self.decoder
            .decode(block, &mut |field| request.field(field))
            .map_err(|_| ErrorCode::CompressionError)?;
        let Opening {
            stream: id, end, ..
        } = opening;
        self.budget.opened();
        let finished = request.finish(end);
        let mut stream = Stream {
            id,
            window: Window::new(self.initial_window),
            credit: Credit::new(self.limits.stream_window),
            held: 0,
            ended: end,
            discards: false,
            wants_to_send: false,
            priority: early.unwrap_or_default(),
            short: 0,
            missing: None,
        };
        match finished {
            Ok(facts) => {
                stream.missing = facts.declared;
                if early.is_none()
                    && let Some(priority) = facts.priority
                {
                    stream.priority = priority;
                }
                let declared = facts.declared;
                let opened = self.streams.insert(stream);
                Ok(opened.map(|key| Event::Head { key, end, declared }))
            }
            Err(Fault::Malformed) => self.malformed(id),
            Err(Fault::Refused(refusal)) => {
                let head_only = request.is_head();
                stream.discards = true;
                let opened = self.streams.insert(stream);
                Ok(opened.map(|key| Event::Refused {
                    key,
                    status: refusal.status(),
                    code: refusal.code(),
                    head_only,
                }))
            }
        }
    }

    /// Resets a stream that no handler knows (RFC 9113 §8.1.1).
    fn malformed(&mut self, id: u32) -> Result<Option<Event>, ErrorCode> {
        self.closed.remember(id, End::Server);
        self.send_reset(id, ErrorCode::ProtocolError)?;
        Ok(None)
    }

    /// Takes HEADERS of an open stream, which end its body (RFC 9113 §8.1).
    #[cold]
    fn trailers(
        &mut self,
        key: Key,
        opening: Opening,
        block: &[u8],
        head: &mut RequestHead,
    ) -> Result<Option<Event>, ErrorCode> {
        let mut trailers = Trailers::new(head, &self.limits.wire);
        self.decoder
            .decode(block, &mut |field| trailers.field(field))
            .map_err(|_| ErrorCode::CompressionError)?;
        let finished = trailers.finish();
        let Some(stream) = self.streams.get_mut(key) else {
            return Ok(None);
        };
        if stream.ended {
            return self.stream_error(key, ErrorCode::StreamClosed);
        }
        let is_short = stream.missing.is_some_and(|missing| missing > 0);
        if !opening.end || opening.is_own_parent || is_short {
            return self.stream_error(key, ErrorCode::ProtocolError);
        }
        if stream.discards {
            stream.ended = true;
            return Ok(None);
        }
        match finished {
            Ok(()) => {
                stream.ended = true;
                Ok(Some(Event::Trailers { key }))
            }
            Err(TrailerFault::Malformed) => self.stream_error(key, ErrorCode::ProtocolError),
            Err(TrailerFault::TooLarge) => self.stream_error(key, ErrorCode::EnhanceYourCalm),
        }
    }

    fn decode_for_nobody(&mut self, block: &[u8]) -> Result<(), ErrorCode> {
        let decoded = self.decoder.decode(block, &mut |_| {});
        decoded.map_err(|_| ErrorCode::CompressionError)
    }
}

/// Gives the payload without its padding (RFC 9113 §6.2).
#[inline]
fn unpad<'p>(frame: &FrameHead, payload: &'p [u8]) -> Result<&'p [u8], ErrorCode> {
    if !frame.has(flag::PADDED) {
        return Ok(payload);
    }
    let (&padding, rest) = payload.split_first().ok_or(ErrorCode::FrameSizeError)?;
    let length = rest.len().checked_sub(usize::from(padding));
    length
        .and_then(|length| rest.get(..length))
        .ok_or(ErrorCode::ProtocolError)
}
