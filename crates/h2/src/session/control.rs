//! Frames that carry neither fields nor bodies (RFC 9113 §6.3 to §6.9, RFC 9218 §7.1).

use super::{ALIVE_PING, DRAIN_PING, Ping, Session, setting};
use crate::budget::{Charge, SETTINGS_A_TOKEN};
use crate::closed::End;
use crate::flow::MAX_WINDOW;
use crate::frame::{self, FrameHead, MAX_ID, flag, kind};
use crate::priority::Priority;
use crate::{ErrorCode, Event};

/// The result of a control frame.
type Outcome = Result<Option<Event>, ErrorCode>;

impl Session {
    pub(super) fn control(&mut self, frame: &FrameHead, payload: &[u8]) -> Outcome {
        match frame.kind {
            kind::PRIORITY => self.old_priority(frame, payload),
            kind::RST_STREAM => self.reset_by_client(frame, payload),
            kind::SETTINGS => self.settings(frame, payload),
            kind::PING => self.ping_frame(frame, payload),
            kind::GOAWAY => self.go_away(frame, payload),
            kind::WINDOW_UPDATE => self.window_update(frame, payload),
            kind::PRIORITY_UPDATE => self.priority_update(frame, payload),
            // A client cannot push (RFC 9113 §8.4).
            kind::PUSH_PROMISE => Err(ErrorCode::ProtocolError),
            _ => self.charge(Charge::Ignored).map(|()| None),
        }
    }

    /// Checks and ignores PRIORITY, on streams in any state (RFC 9113 §5.3.2, §6.3).
    fn old_priority(&mut self, frame: &FrameHead, payload: &[u8]) -> Outcome {
        let id = frame.stream;
        if id == 0 {
            return Err(ErrorCode::ProtocolError);
        }
        self.charge(Charge::Ignored)?;
        let fault = match payload.first_chunk::<5>() {
            Some(priority) if payload.len() == 5 => {
                (parent(*priority) == id).then_some(ErrorCode::ProtocolError)
            }
            _ => Some(ErrorCode::FrameSizeError),
        };
        match (fault, self.streams.find(id)) {
            (None, _) => Ok(None),
            (Some(code), Some(key)) => self.stream_error(key, code),
            // A stream that is not open cannot be reset.
            (Some(code), None) => Err(code),
        }
    }

    fn reset_by_client(&mut self, frame: &FrameHead, payload: &[u8]) -> Outcome {
        if payload.len() != 4 {
            return Err(ErrorCode::FrameSizeError);
        }
        if frame.stream == 0 || self.is_idle(frame.stream) {
            return Err(ErrorCode::ProtocolError);
        }
        let Some(key) = self.streams.find(frame.stream) else {
            // The server has ended the stream first. An honest client may reset a request whose reply ended before it,
            // and each of these has cost it HEADERS. After that the client cannot reset the stream again.
            if !self.closed.leave(frame.stream, End::Client) {
                self.charge(Charge::Invalid)?;
            }
            return Ok(None);
        };
        self.forget(key, End::Client);
        self.charge(Charge::Reset)?;
        Ok(Some(Event::Gone { key }))
    }

    fn settings(&mut self, frame: &FrameHead, payload: &[u8]) -> Outcome {
        if frame.stream != 0 {
            return Err(ErrorCode::ProtocolError);
        }
        let (settings, []) = payload.as_chunks::<6>() else {
            return Err(ErrorCode::FrameSizeError);
        };
        if frame.has(flag::ACK) {
            if !settings.is_empty() {
                return Err(ErrorCode::FrameSizeError);
            }
            if self.settings_sent == 0 {
                self.charge(Charge::Invalid)?;
            }
            self.settings_sent = self.settings_sent.saturating_sub(1);
            return Ok(None);
        }
        for _ in 0..settings.len().div_ceil(SETTINGS_A_TOKEN).max(1) {
            self.charge(Charge::Settings)?;
        }
        for [name @ .., a, b, c, d] in settings {
            self.setting(
                u16::from_be_bytes(*name),
                u32::from_be_bytes([*a, *b, *c, *d]),
            )?;
        }
        frame::settings_ack(&mut self.out);
        Ok(None)
    }

    /// Applies a setting (RFC 9113 §6.5.2). Replies use no dynamic table and no frame above 16,384 bytes, so most
    /// settings have no effect.
    fn setting(&mut self, name: u16, value: u32) -> Result<(), ErrorCode> {
        match name {
            setting::ENABLE_PUSH
            | setting::ENABLE_CONNECT_PROTOCOL
            | setting::NO_RFC7540_PRIORITIES
                if value > 1 =>
            {
                Err(ErrorCode::ProtocolError)
            }
            setting::MAX_FRAME_SIZE if !(16_384..1 << 24).contains(&value) => {
                Err(ErrorCode::ProtocolError)
            }
            setting::INITIAL_WINDOW_SIZE if value > MAX_WINDOW => Err(ErrorCode::FlowControlError),
            setting::INITIAL_WINDOW_SIZE => self.resize_windows(value),
            _ => Ok(()),
        }
    }

    /// Changes the windows of open streams by the difference, which may make them negative (RFC 9113 §6.9.2).
    fn resize_windows(&mut self, size: u32) -> Result<(), ErrorCode> {
        let by = i64::from(size) - i64::from(self.initial_window);
        self.initial_window = size;
        for stream in self.streams.iter_mut() {
            stream
                .window
                .shift(by)
                .map_err(|_| ErrorCode::FlowControlError)?;
        }
        self.sendable |= by > 0 && self.waiting > 0;
        Ok(())
    }

    fn ping_frame(&mut self, frame: &FrameHead, payload: &[u8]) -> Outcome {
        let Some((opaque, [])) = payload.split_first_chunk::<8>() else {
            return Err(ErrorCode::FrameSizeError);
        };
        if frame.stream != 0 {
            return Err(ErrorCode::ProtocolError);
        }
        if !frame.has(flag::ACK) {
            self.charge(Charge::Ping)?;
            frame::ping(&mut self.out, *opaque, flag::ACK);
            return Ok(None);
        }
        match self.ping {
            Some(Ping::Alive) if *opaque == ALIVE_PING => self.ping = None,
            Some(Ping::Drain) if *opaque == DRAIN_PING => {
                self.ping = None;
                return Ok(Some(Event::Drained));
            }
            _ => self.charge(Charge::Invalid)?,
        }
        Ok(None)
    }

    fn go_away(&mut self, frame: &FrameHead, payload: &[u8]) -> Outcome {
        if frame.stream != 0 {
            return Err(ErrorCode::ProtocolError);
        }
        if payload.len() < 8 {
            return Err(ErrorCode::FrameSizeError);
        }
        self.charge(Charge::Invalid)?;
        self.is_client_leaving = true;
        Ok(None)
    }

    fn window_update(&mut self, frame: &FrameHead, payload: &[u8]) -> Outcome {
        let Some((increment, [])) = payload.split_first_chunk::<4>() else {
            return Err(ErrorCode::FrameSizeError);
        };
        let increment = u32::from_be_bytes(*increment) & MAX_ID;
        let id = frame.stream;
        self.charge(Charge::WindowUpdate)?;
        if id == 0 {
            if increment == 0 {
                return Err(ErrorCode::ProtocolError);
            }
            self.window
                .grow(increment)
                .map_err(|_| ErrorCode::FlowControlError)?;
            self.sendable |= self.waiting > 0;
            return Ok(None);
        }
        if self.is_idle(id) {
            return Err(ErrorCode::ProtocolError);
        }
        let Some(key) = self.streams.find(id) else {
            return Ok(None);
        };
        if increment == 0 {
            return self.stream_error(key, ErrorCode::ProtocolError);
        }
        let Some(stream) = self.streams.get_mut(key) else {
            return Ok(None);
        };
        if stream.window.grow(increment).is_err() {
            return self.stream_error(key, ErrorCode::FlowControlError);
        }
        self.sendable |= stream.wants_to_send;
        Ok(None)
    }

    /// Handles `PRIORITY_UPDATE` (RFC 9218 §7.1).
    fn priority_update(&mut self, frame: &FrameHead, payload: &[u8]) -> Outcome {
        if frame.stream != 0 {
            return Err(ErrorCode::ProtocolError);
        }
        let Some((id, value)) = payload.split_first_chunk::<4>() else {
            return Err(ErrorCode::FrameSizeError);
        };
        let id = u32::from_be_bytes(*id) & MAX_ID;
        if id.is_multiple_of(2) {
            return Err(ErrorCode::ProtocolError);
        }
        self.charge(Charge::Ignored)?;
        let priority = Priority::parse(value);
        if let Some(key) = self.streams.find(id) {
            if let Some(stream) = self.streams.get_mut(key) {
                stream.priority = priority;
                self.sendable |= stream.wants_to_send;
            }
        } else if self.is_idle(id) {
            let most = (self.limits.max_streams as usize).saturating_sub(self.streams.open());
            if !self.early.keep(id, priority, most) {
                return Err(ErrorCode::ProtocolError);
            }
        }
        Ok(None)
    }
}

/// Gives the stream on which another one depends (RFC 7540 §6.3).
pub(super) fn parent(priority: [u8; 5]) -> u32 {
    let [a, b, c, d, _] = priority;
    u32::from_be_bytes([a, b, c, d]) & MAX_ID
}
