use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest, Sha1};

/// The bytes of Sec-WebSocket-Key: 16 bytes in base64.
pub const KEY: usize = 24;
/// The bytes of Sec-WebSocket-Accept: 20 bytes in base64.
pub const ACCEPT: usize = 28;

/// What RFC 6455 §1.3 has the server append to the key.
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Gives the value of Sec-WebSocket-Accept for a value of Sec-WebSocket-Key (RFC 6455 §4.2.2). Gives `None` where the key
/// is not 16 bytes in base64 (§4.2.1), which a server answers with 400.
pub fn accept_key(key: &[u8]) -> Option<[u8; ACCEPT]> {
    let digits: &[u8; 22] = key.strip_suffix(b"==")?.try_into().ok()?;
    // The last digit may have any bits behind the 16th byte, as RFC 4648 §3.5 lets us accept: the key is never decoded.
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    if !digits.iter().all(is_digit) {
        return None;
    }
    let hash = Sha1::new().chain_update(key).chain_update(GUID).finalize();
    let mut accept = [0; ACCEPT];
    STANDARD.encode_slice(hash, &mut accept).ok()?;
    Some(accept)
}
