//! The layout of frames (RFC 9113 §4.1, §6), and the functions that write them.

use crate::ErrorCode;

/// The length of a frame's head, in bytes.
pub const HEAD: usize = 9;
/// The length of the longest payload that a client may send, in bytes: `SETTINGS_MAX_FRAME_SIZE` keeps its default (RFC
/// 9113 §6.5.2).
pub const MAX_PAYLOAD: usize = 16_384;

pub(crate) mod kind {
    pub const DATA: u8 = 0x0;
    pub const HEADERS: u8 = 0x1;
    pub const PRIORITY: u8 = 0x2;
    pub const RST_STREAM: u8 = 0x3;
    pub const SETTINGS: u8 = 0x4;
    pub const PUSH_PROMISE: u8 = 0x5;
    pub const PING: u8 = 0x6;
    pub const GOAWAY: u8 = 0x7;
    pub const WINDOW_UPDATE: u8 = 0x8;
    pub const CONTINUATION: u8 = 0x9;
    /// The type of RFC 9218 §7.1.
    pub const PRIORITY_UPDATE: u8 = 0x10;
}

pub(crate) mod flag {
    pub const ACK: u8 = 0x1;
    pub const END_STREAM: u8 = 0x1;
    pub const END_HEADERS: u8 = 0x4;
    pub const PADDED: u8 = 0x8;
    pub const PRIORITY: u8 = 0x20;
}

/// The head of a received frame. The reserved bit of the stream id is ignored (RFC 9113 §4.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FrameHead {
    pub length: usize,
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
}

impl FrameHead {
    #[inline]
    pub fn read(input: &[u8]) -> Option<Self> {
        let [high, middle, low, kind, flags, stream @ ..] = input.first_chunk::<HEAD>()?;
        Some(Self {
            length: usize::from(*high) << 16 | usize::from(*middle) << 8 | usize::from(*low),
            kind: *kind,
            flags: *flags,
            stream: u32::from_be_bytes(*stream) & MAX_ID,
        })
    }

    #[inline]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// The largest stream id, with 31 bits.
pub(crate) const MAX_ID: u32 = (1 << 31) - 1;

/// Appends a field block as HEADERS, and as CONTINUATION frames if it is longer than `max_frame` bytes.
pub fn headers(out: &mut Vec<u8>, id: u32, block: &[u8], end_stream: bool, max_frame: usize) {
    let (first, mut rest) = block.split_at(block.len().min(max_frame));
    let ends = |rest: &[u8]| {
        if rest.is_empty() {
            flag::END_HEADERS
        } else {
            0
        }
    };
    let end_stream = if end_stream { flag::END_STREAM } else { 0 };
    head(out, first.len(), kind::HEADERS, end_stream | ends(rest), id);
    out.extend_from_slice(first);
    while !rest.is_empty() {
        let (part, after) = rest.split_at(rest.len().min(max_frame.max(1)));
        rest = after;
        head(out, part.len(), kind::CONTINUATION, ends(rest), id);
        out.extend_from_slice(part);
    }
}

/// Appends the head of a DATA frame. Its payload of `length` bytes follows. [`Session::reserve`] gives the length.
///
/// [`Session::reserve`]: crate::Session::reserve
pub fn data_head(out: &mut Vec<u8>, id: u32, length: usize, end_stream: bool) {
    let flags = if end_stream { flag::END_STREAM } else { 0 };
    head(out, length, kind::DATA, flags, id);
}

pub(crate) fn head(out: &mut Vec<u8>, length: usize, kind: u8, flags: u8, id: u32) {
    let mut bytes = [0; HEAD];
    bytes[..3].copy_from_slice(&(length as u32).to_be_bytes()[1..]);
    bytes[3] = kind;
    bytes[4] = flags;
    bytes[5..].copy_from_slice(&id.to_be_bytes());
    out.extend_from_slice(&bytes);
}

pub(crate) fn settings(out: &mut Vec<u8>, settings: &[(u16, u32)]) {
    head(out, settings.len() * 6, kind::SETTINGS, 0, 0);
    for (name, value) in settings {
        out.extend_from_slice(&name.to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
}

pub(crate) fn settings_ack(out: &mut Vec<u8>) {
    head(out, 0, kind::SETTINGS, flag::ACK, 0);
}

pub(crate) fn ping(out: &mut Vec<u8>, opaque: [u8; 8], flags: u8) {
    head(out, 8, kind::PING, flags, 0);
    out.extend_from_slice(&opaque);
}

pub(crate) fn window_update(out: &mut Vec<u8>, id: u32, increment: u32) {
    head(out, 4, kind::WINDOW_UPDATE, 0, id);
    out.extend_from_slice(&increment.to_be_bytes());
}

pub(crate) fn reset(out: &mut Vec<u8>, id: u32, code: ErrorCode) {
    head(out, 4, kind::RST_STREAM, 0, id);
    out.extend_from_slice(&(code as u32).to_be_bytes());
}

pub(crate) fn go_away(out: &mut Vec<u8>, last: u32, code: ErrorCode) {
    head(out, 8, kind::GOAWAY, 0, 0);
    out.extend_from_slice(&last.to_be_bytes());
    out.extend_from_slice(&(code as u32).to_be_bytes());
}
