//! Frames, as a client writes them.

pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const PRIORITY: u8 = 2;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PUSH_PROMISE: u8 = 5;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;
pub const PRIORITY_UPDATE: u8 = 16;

pub const ACK: u8 = 1;
pub const END_STREAM: u8 = 1;
pub const END_HEADERS: u8 = 4;
pub const PADDED: u8 = 8;
pub const PRIORITIZED: u8 = 0x20;

pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// Writes a block of literals without indexing and without Huffman codes (RFC 7541 §6.2.2).
pub fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.push(0);
        for text in [name, value] {
            let mut length = text.len();
            if length < 127 {
                block.push(length as u8);
            } else {
                block.push(127);
                length -= 127;
                while length >= 128 {
                    block.push(length as u8 | 128);
                    length >>= 7;
                }
                block.push(length as u8);
            }
            block.extend(text.as_bytes());
        }
    }
    block
}

pub const GET: [(&str, &str); 4] = [
    (":method", "GET"),
    (":scheme", "https"),
    (":path", "/"),
    (":authority", "a.test"),
];
pub const POST: [(&str, &str); 4] = [
    (":method", "POST"),
    (":scheme", "https"),
    (":path", "/"),
    (":authority", "a.test"),
];

/// Writes a request without a body.
pub fn get(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, stream, &block(&GET))
}

/// Writes the head of a request whose body follows.
pub fn post(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_HEADERS, stream, &block(&POST))
}

/// Writes a request with these fields behind those of `GET`.
pub fn get_with(stream: u32, fields: &[(&str, &str)]) -> Vec<u8> {
    let fields = [&GET, fields].concat();
    frame(HEADERS, END_HEADERS | END_STREAM, stream, &block(&fields))
}

pub fn data(stream: u32, payload: &[u8]) -> Vec<u8> {
    frame(DATA, 0, stream, payload)
}

pub fn last_data(stream: u32, payload: &[u8]) -> Vec<u8> {
    frame(DATA, END_STREAM, stream, payload)
}

pub fn reset(stream: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, stream, &8_u32.to_be_bytes())
}

pub fn window_update(stream: u32, increment: u32) -> Vec<u8> {
    frame(WINDOW_UPDATE, 0, stream, &increment.to_be_bytes())
}

pub fn settings(settings: &[(u16, u32)]) -> Vec<u8> {
    let mut payload = Vec::new();
    for (name, value) in settings {
        payload.extend(name.to_be_bytes());
        payload.extend(value.to_be_bytes());
    }
    frame(SETTINGS, 0, 0, &payload)
}
