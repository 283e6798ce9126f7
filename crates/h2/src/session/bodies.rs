//! DATA frames (RFC 9113 §6.1), and the windows of received data (§6.9).

use super::{Session, Step};
use crate::budget::Charge;
use crate::closed::End;
use crate::frame::{self, FrameHead, flag};
use crate::{ErrorCode, Event, Key};

/// The rest of a DATA frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Body {
    /// The stream; `None` if the rest is discarded.
    pub key: Option<Key>,
    pub data: u32,
    padding: u32,
    end: bool,
}

impl Body {
    fn padding(length: u32) -> Self {
        Self {
            key: None,
            data: 0,
            padding: length,
            end: false,
        }
    }
}

impl Session {
    /// Records that the handler has consumed this many bytes of the body, so that the windows of stream and connection
    /// may grow. The bytes that a stream still holds when it is gone return to the connection without this call.
    pub fn consumed(&mut self, key: Key, bytes: u32) {
        let Some(stream) = self.streams.get_mut(key) else {
            return;
        };
        let bytes = bytes.min(stream.held);
        if bytes == 0 {
            return;
        }
        // The cost of small frames is returned in proportion to the consumed bytes.
        let short = (u64::from(stream.short) * u64::from(bytes) / u64::from(stream.held)) as u32;
        stream.short -= short;
        stream.held -= bytes;
        self.budget.taken(short);
        self.return_to_stream(key, bytes);
        self.give_back(bytes);
    }

    /// Reads the head of a DATA frame, and the length of its padding. The whole payload counts for the windows.
    #[inline]
    pub(super) fn begin_body(&mut self, frame: &FrameHead, input: &[u8]) -> Step {
        let id = frame.stream;
        if id == 0 || self.is_idle(id) {
            return Err(ErrorCode::ProtocolError);
        }
        let payload = frame.length as u32;
        let (head, overhead, padding) = if frame.has(flag::PADDED) {
            if frame.length == 0 {
                return Err(ErrorCode::FrameSizeError);
            }
            let Some(&padding) = input.get(frame::HEAD) else {
                return Ok(None);
            };
            let padding = u32::from(padding);
            if padding >= payload {
                return Err(ErrorCode::ProtocolError);
            }
            (frame::HEAD + 1, padding + 1, padding)
        } else {
            (frame::HEAD, 0, 0)
        };
        if !self.credit.spend(payload) {
            return Err(ErrorCode::FlowControlError);
        }
        // Padding is consumed when it arrives.
        self.give_back(overhead);
        let end = frame.has(flag::END_STREAM);
        let data = payload - overhead;
        let key = self.streams.find(id);
        self.body = Some(Body {
            key,
            data,
            padding,
            end,
        });
        let mut event = match key {
            Some(key) => self.data_of(key, payload, overhead, end)?,
            None => self.data_of_closed(id, data, end)?,
        };
        if data == 0 {
            let body = self.body.take();
            if event.is_none() {
                event = body.and_then(|body| self.end_body(body));
            }
            if padding > 0 {
                self.body = Some(Body::padding(padding));
            }
        }
        Ok(Some((head, event)))
    }

    /// Checks the head of a DATA frame of an open stream.
    fn data_of(
        &mut self,
        key: Key,
        payload: u32,
        overhead: u32,
        end: bool,
    ) -> Result<Option<Event>, ErrorCode> {
        let Some(stream) = self.streams.get_mut(key) else {
            return Ok(None);
        };
        let data = payload - overhead;
        if stream.ended {
            return self.stream_error(key, ErrorCode::StreamClosed);
        }
        if !stream.credit.spend(payload) {
            return self.stream_error(key, ErrorCode::FlowControlError);
        }
        if let Some(missing) = &mut stream.missing {
            // The body must have the declared length (RFC 9113 §8.1.1).
            match missing.checked_sub(u64::from(data)) {
                Some(left) if left == 0 || !end => *missing = left,
                _ => return self.stream_error(key, ErrorCode::ProtocolError),
            }
        }
        if overhead > 0 {
            self.return_to_stream(key, overhead);
        }
        let Some(stream) = self.streams.get_mut(key) else {
            return Ok(None);
        };
        if data == 0 && !end {
            self.charge(Charge::Invalid)?;
        } else if stream.discards {
            stream.ended = end;
            self.discard(key, data, end)?;
        } else if !end {
            stream.short += self.budget.data(data, self.now_ms)?;
        }
        Ok(None)
    }

    /// Discards data. Small frames cost their sender, because nobody will consume them; the last frame does not.
    fn discard(&mut self, key: Key, data: u32, end: bool) -> Result<(), ErrorCode> {
        if let Some(body) = &mut self.body
            && body.key == Some(key)
        {
            body.key = None;
        }
        if !end {
            self.budget.data(data, self.now_ms)?;
        }
        Ok(())
    }

    /// Handles DATA of a closed stream. It is ignored after a reset of the server, otherwise it is an error of the
    /// stream (RFC 9113 §5.1). The end of a small request whose reply was sent before it costs nothing.
    #[cold]
    fn data_of_closed(
        &mut self,
        id: u32,
        data: u32,
        end: bool,
    ) -> Result<Option<Event>, ErrorCode> {
        if end && self.closed.leave(id, End::Complete) {
            return Ok(None);
        }
        self.budget.data(data, self.now_ms)?;
        if self.closed.find(id) != Some(End::Server) {
            self.closed.ignore(id);
            self.send_reset(id, ErrorCode::StreamClosed)?;
        }
        Ok(None)
    }

    /// Reads the available part of a DATA frame: its data, then its padding.
    #[inline]
    pub(super) fn read_body(&mut self, input: &[u8]) -> Option<(usize, Option<Event>)> {
        let body = self.body.as_mut()?;
        if body.data == 0 {
            let length = input.len().min(body.padding as usize);
            body.padding -= length as u32;
            if body.padding == 0 {
                self.body = None;
            } else if length == 0 {
                return None;
            }
            return Some((length, None));
        }
        let length = input.len().min(body.data as usize);
        if length == 0 {
            return None;
        }
        body.data -= length as u32;
        let read = *body;
        if read.data == 0 && read.padding == 0 {
            self.body = None;
        }
        self.budget.useful(length);
        let Some(key) = read.key else {
            self.give_back(length as u32);
            return Some((length, None));
        };
        let end = read.end && read.data == 0;
        if let Some(stream) = self.streams.get_mut(key) {
            stream.held += length as u32;
            stream.ended |= end;
        }
        let event = Event::Data {
            key,
            start: 0,
            length,
            end,
        };
        Some((length, Some(event)))
    }

    /// Ends a body with a frame without data.
    fn end_body(&mut self, body: Body) -> Option<Event> {
        let key = body.key.filter(|_| body.end)?;
        self.streams.get_mut(key)?.ended = true;
        Some(Event::Data {
            key,
            start: 0,
            length: 0,
            end: true,
        })
    }

    /// Lets the window of the stream grow, if more of its body may follow.
    fn return_to_stream(&mut self, key: Key, bytes: u32) {
        let Some(stream) = self.streams.get_mut(key) else {
            return;
        };
        if let Some(increment) = stream.credit.give_back(bytes)
            && !stream.ended
            && self.failed.is_none()
        {
            frame::window_update(&mut self.out, stream.id, increment);
        }
    }
}
