//! Writes the frames of a client of HTTP/2, and reads those of the server.

use h2::hpack::encode;

pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

pub const END_STREAM: u8 = 0x1;
pub const ACK: u8 = 0x1;
pub const END_HEADERS: u8 = 0x4;

/// A frame with its header and payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

impl Frame {
    /// Takes the first frame from `bytes`, unless it is incomplete.
    pub fn take(bytes: &mut Vec<u8>) -> Option<Self> {
        let [a, b, c, kind, flags, stream @ ..] = *bytes.first_chunk::<9>()?;
        let length = u32::from_be_bytes([0, a, b, c]) as usize;
        let payload = bytes.get(9..9 + length)?.to_vec();
        bytes.drain(..9 + length);
        Some(Self {
            kind,
            flags,
            stream: u32::from_be_bytes(stream),
            payload,
        })
    }

    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Gives the error code of `RST_STREAM` or GOAWAY.
    pub fn code(&self) -> u32 {
        let at = self
            .payload
            .len()
            .min(if self.kind == GOAWAY { 8 } else { 4 });
        u32::from_be_bytes(self.payload[at - 4..at].try_into().unwrap())
    }
}

pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

pub fn settings(pairs: &[(u16, u32)]) -> Vec<u8> {
    let mut payload = Vec::new();
    for (name, value) in pairs {
        payload.extend(name.to_be_bytes());
        payload.extend(value.to_be_bytes());
    }
    frame(SETTINGS, 0, 0, &payload)
}

pub const MAX_CONCURRENT_STREAMS: u16 = 3;
pub const INITIAL_WINDOW_SIZE: u16 = 4;

pub fn block(method: &str, path: &str, fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in [
        (":method", method),
        (":scheme", "http"),
        (":path", path),
        (":authority", "x"),
    ]
    .iter()
    .chain(fields)
    {
        encode::field(&mut block, name.as_bytes(), value.as_bytes());
    }
    block
}

/// Writes HEADERS. `end`: the request has no body.
pub fn headers(stream: u32, block: &[u8], end: bool) -> Vec<u8> {
    let flags = END_HEADERS | if end { END_STREAM } else { 0 };
    frame(HEADERS, flags, stream, block)
}

pub fn data(stream: u32, bytes: &[u8], end: bool) -> Vec<u8> {
    frame(DATA, if end { END_STREAM } else { 0 }, stream, bytes)
}

pub fn reset(stream: u32, code: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, stream, &code.to_be_bytes())
}

pub fn window_update(stream: u32, increment: u32) -> Vec<u8> {
    frame(WINDOW_UPDATE, 0, stream, &increment.to_be_bytes())
}
