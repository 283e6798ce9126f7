use std::ops::{Deref, Range};

use crate::fault::Fault;

/// The most bytes of a reason: a control frame carries 125, and the code takes two (RFC 6455 §5.5).
pub const LONGEST_REASON: usize = 123;
/// Stands for a close frame without a code; it is never sent (RFC 6455 §7.4.1).
pub(crate) const NO_CODE: u16 = 1005;

/// Whether a peer may send this code in a close frame (RFC 6455 §7.4 and its registry at IANA): 1000 to 1003, 1007 to
/// 1014, and 3000 to 4999, which belong to libraries and applications.
pub const fn is_close_code(code: u16) -> bool {
    matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
}

/// The payload of a close frame, at most 125 bytes.
#[derive(Clone, Copy, Debug)]
pub struct ClosePayload {
    bytes: [u8; 2 + LONGEST_REASON],
    length: u8,
}

impl Deref for ClosePayload {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// Writes the payload of a close frame (RFC 6455 §5.5.1). It is empty for 1005, which means that there is no code. Of a
/// reason past [`LONGEST_REASON`] bytes, the whole characters that fit are sent.
pub fn close_payload(code: u16, reason: &str) -> ClosePayload {
    let mut bytes = [0; 2 + LONGEST_REASON];
    if code == NO_CODE {
        return ClosePayload { bytes, length: 0 };
    }
    let mut end = reason.len().min(LONGEST_REASON);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    bytes[..2].copy_from_slice(&code.to_be_bytes());
    bytes[2..2 + end].copy_from_slice(&reason.as_bytes()[..end]);
    ClosePayload {
        bytes,
        length: (2 + end) as u8,
    }
}

/// Reads the payload of a received close frame, which lies at `at` of the input: its code, or 1005, and where its reason
/// lies.
pub(crate) fn read(input: &[u8], at: Range<usize>) -> Result<(u16, Range<usize>), Fault> {
    match input[at.clone()] {
        [] => Ok((NO_CODE, at)),
        [_] => Err(Fault::CloseLength),
        [high, low, ref reason @ ..] => {
            let code = u16::from_be_bytes([high, low]);
            if !is_close_code(code) {
                return Err(Fault::CloseCode);
            }
            if str::from_utf8(reason).is_err() {
                return Err(Fault::CloseReason);
            }
            Ok((code, at.start + 2..at.end))
        }
    }
}
