//! What the client of a WebSocket sends and gets: the request for one, and frames.

/// Without the fields that JavaScript reads: the key, and the offers of extensions.
pub const HEAD: &[u8] =
    b"GET /ws/a HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
/// That of RFC 6455 §1.3.
pub const KEY: &[u8] = b"dGhlIHNhbXBsZSBub25jZQ==";
pub const ACCEPT: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

pub const MASK: [u8; 4] = [1, 2, 3, 4];

/// Appends a masked frame, as clients send them.
pub fn push(bytes: &mut Vec<u8>, first: u8, payload: &[u8], mask: [u8; 4]) {
    bytes.push(first);
    match payload.len() {
        length @ 0..126 => bytes.push(0x80 | length as u8),
        length @ 126..65_536 => {
            bytes.push(0xfe);
            bytes.extend((length as u16).to_be_bytes());
        }
        length => {
            bytes.push(0xff);
            bytes.extend((length as u64).to_be_bytes());
        }
    }
    bytes.extend(mask);
    let masks = mask.iter().cycle();
    bytes.extend(payload.iter().zip(masks).map(|(byte, mask)| byte ^ mask));
}

/// A masked frame.
pub fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    push(&mut bytes, first, payload, MASK);
    bytes
}

/// Takes a frame of the server: its first byte and its payload. Gives `None` while it is incomplete.
pub fn take(bytes: &mut Vec<u8>) -> Option<(u8, Vec<u8>)> {
    let (&first, rest) = bytes.split_first()?;
    let (&second, rest) = rest.split_first()?;
    assert!(second & 0x80 == 0, "a server does not mask");
    let (length, head) = match second {
        126 => (u64::from(u16::from_be_bytes(*rest.first_chunk()?)), 4),
        127 => (u64::from_be_bytes(*rest.first_chunk()?), 10),
        short => (u64::from(short), 2),
    };
    let end = head + length as usize;
    let payload = bytes.get(head..end)?.to_vec();
    bytes.drain(..end);
    Some((first, payload))
}
