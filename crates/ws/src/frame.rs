use std::ops::Deref;

pub(crate) const FIN: u8 = 0x80;
/// RSV1: on the first frame of a message it says that the message is compressed (RFC 7692 §6).
pub(crate) const COMPRESSED: u8 = 0x40;
/// RSV2 and RSV3: no extension that we know defines them.
pub(crate) const RESERVED: u8 = 0x30;
pub(crate) const OPCODE: u8 = 0x0f;
pub(crate) const MASKED: u8 = 0x80;
/// The 7-bit length that says that 16 bits follow.
pub(crate) const LENGTH_16: u8 = 126;
/// The 7-bit length that says that 64 bits follow.
pub(crate) const LENGTH_64: u8 = 127;
/// The most bytes of a control frame's payload (RFC 6455 §5.5).
pub(crate) const LONGEST_CONTROL: u8 = 125;

/// What a server sends. It never fragments a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opcode {
    Text = 0x1,
    Binary = 0x2,
    Close = 0x8,
    Ping = 0x9,
    Pong = 0xa,
}

/// The head of a frame that a server sends, 2 to 10 bytes.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    bytes: [u8; 10],
    length: u8,
}

impl Deref for Head {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// Writes the head of a whole message or control frame with `length` bytes of payload: FIN is set, nothing is masked
/// (RFC 6455 §5.2). `compressed` sets RSV1, for a message that permessage-deflate has compressed. The caller keeps
/// control frames within 125 bytes and uncompressed.
pub fn frame_head(opcode: Opcode, length: usize, compressed: bool) -> Head {
    let mut bytes = [0; 10];
    bytes[0] = FIN | opcode as u8 | if compressed { COMPRESSED } else { 0 };
    let size = if length <= usize::from(LONGEST_CONTROL) {
        bytes[1] = length as u8;
        2
    } else if let Ok(short) = u16::try_from(length) {
        bytes[1] = LENGTH_16;
        bytes[2..4].copy_from_slice(&short.to_be_bytes());
        4
    } else {
        bytes[1] = LENGTH_64;
        bytes[2..].copy_from_slice(&(length as u64).to_be_bytes());
        10
    };
    Head {
        bytes,
        length: size,
    }
}
