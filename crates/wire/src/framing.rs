use crate::Refusal;

/// Where the body of a request ends (RFC 9112 §6.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Framing {
    /// Neither Content-Length nor Transfer-Encoding: there is no body.
    #[default]
    None,
    /// Content-Length, in bytes; 0 is possible.
    Length(u64),
    /// Transfer-Encoding: chunked.
    Chunked,
}

impl Framing {
    /// Whether at least one byte of body or framing follows the head.
    pub fn has_body(self) -> bool {
        !matches!(self, Self::None | Self::Length(0))
    }
}

/// The largest length that is exact in JavaScript: 2^53 − 1.
pub(crate) const MAX_LENGTH: u64 = (1 << 53) - 1;

/// Content-Length = 1*DIGIT (RFC 9110 §8.6): no sign, no list, no white space inside. Leading zeros are digits.
pub(crate) fn content_length(value: &[u8]) -> Result<u64, Refusal> {
    if value.is_empty() {
        return Err(Refusal::LengthSyntax);
    }
    value.iter().try_fold(0, |length: u64, byte| {
        if !byte.is_ascii_digit() {
            return Err(Refusal::LengthSyntax);
        }
        // At most 2^53 · 10 + 9, so this cannot overflow.
        let length = length * 10 + u64::from(byte - b'0');
        if length > MAX_LENGTH {
            Err(Refusal::LengthSyntax)
        } else {
            Ok(length)
        }
    })
}

/// Passes exactly `chunked` in any case. Other codings are 501, unless `chunked` stands among them in a place where the
/// length of the body is unknown (RFC 9112 §6.3 (4)) or the list is malformed: then 400.
pub(crate) fn transfer_coding(value: &[u8]) -> Result<(), Refusal> {
    if value.eq_ignore_ascii_case(b"chunked") {
        return Ok(());
    }
    let mut chunked = 0;
    let mut last = false;
    for coding in value.split(|byte| *byte == b',') {
        let coding = coding.trim_ascii();
        if coding.is_empty() || !coding.iter().all(|byte| crate::field::is_token_byte(*byte)) {
            return Err(Refusal::CodingSyntax);
        }
        last = coding.eq_ignore_ascii_case(b"chunked");
        chunked += u32::from(last);
    }
    match chunked {
        0 => Err(Refusal::CodingUnknown),
        1 if last => Err(Refusal::CodingUnknown),
        _ => Err(Refusal::CodingSyntax),
    }
}

/// What the Connection fields of a head say (RFC 9110 §7.6.1). Other elements are ignored.
#[derive(Clone, Copy, Default)]
pub(crate) struct Connection {
    pub(crate) close: bool,
    pub(crate) keep_alive: bool,
    pub(crate) upgrade: bool,
}

impl Connection {
    pub(crate) fn read(&mut self, value: &[u8]) {
        for option in value.split(|byte| *byte == b',') {
            let option = option.trim_ascii();
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
            self.upgrade |= option.eq_ignore_ascii_case(b"upgrade");
        }
    }
}
