//! Turns the fields of a block into the text and the [`wire::Head`] of the same request in HTTP/1.1.

mod fields;
mod pseudo;
mod trailers;

pub(crate) use fields::Request;
pub(crate) use trailers::{TrailerFault, Trailers};

use wire::{Field, Known, Refusal, Span};

/// A request head in the form of HTTP/1.1, or trailer fields. One value serves any number of requests and connections.
/// Each of them clears it and keeps its memory, which is at most three times `max_header_size`.
#[derive(Clone, Debug, Default)]
pub struct RequestHead {
    /// `METHOD SP target SP HTTP/2 CRLF`, then a line `name: value CRLF` for each field, then CRLF. `host` is the first
    /// field if the client sent `:authority`. The Cookie fields are joined into one, which is the last. It is never
    /// longer than `max_header_size`.
    pub text: Vec<u8>,
    /// Spans into `text`. `framing` is `Length` if the client sent Content-Length, else `None`, even if a body follows.
    pub head: wire::Head,
    /// True if `:scheme` is `https`.
    pub https: bool,
    /// The pseudo-header fields while the block is read, and the Cookie fields.
    pseudo: pseudo::Pseudo,
    cookie: Vec<u8>,
}

impl RequestHead {
    pub fn new() -> Self {
        Self {
            head: wire::Head::new(),
            ..Self::default()
        }
    }

    /// Appends a line, and gives the spans of its name and its value.
    #[inline]
    fn line(&mut self, name: &[u8], value: &[u8], known: Known) -> Field {
        let start = self.text.len() as u32;
        self.text.extend_from_slice(name);
        self.text.extend_from_slice(b": ");
        self.text.extend_from_slice(value);
        self.text.extend_from_slice(b"\r\n");
        Field {
            name: Span {
                start,
                len: name.len() as u32,
            },
            value: Span {
                start: start + name.len() as u32 + 2,
                len: value.len() as u32,
            },
            known,
        }
    }
}

/// An error in a field section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// The stream must be reset with `PROTOCOL_ERROR` (RFC 9113 §8.1.1).
    Malformed,
    /// The request must be answered.
    Refused(Refusal),
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Gives the known field of a name, if HTTP/2 allows name and value (RFC 9113 §8.2.1, §8.2.2). `index` is the index of
/// the name in the static table, whose names need no check.
#[inline]
fn check(name: &[u8], index: u8, value: &[u8]) -> Result<Known, Fault> {
    if !wire::is_trimmed_value(value) {
        return Err(Fault::Malformed);
    }
    if index != 0 {
        return match known_by_index(index) {
            Known::TransferEncoding => Err(Fault::Malformed),
            known => Ok(known),
        };
    }
    if !wire::is_lower_name(name) {
        return Err(Fault::Malformed);
    }
    match Known::of(name) {
        Known::Connection | Known::TransferEncoding | Known::Upgrade => Err(Fault::Malformed),
        Known::Other => match name {
            b"keep-alive" | b"proxy-connection" => Err(Fault::Malformed),
            b"te" if !value.eq_ignore_ascii_case(b"trailers") => Err(Fault::Malformed),
            _ => Ok(Known::Other),
        },
        known => Ok(known),
    }
}

/// Gives the known field whose name is at an index of the static table (RFC 7541 Appendix A).
#[inline]
fn known_by_index(index: u8) -> Known {
    match index {
        16 => Known::AcceptEncoding,
        17 => Known::AcceptLanguage,
        19 => Known::Accept,
        23 => Known::Authorization,
        24 => Known::CacheControl,
        26 => Known::ContentEncoding,
        28 => Known::ContentLength,
        31 => Known::ContentType,
        32 => Known::Cookie,
        35 => Known::Expect,
        38 => Known::Host,
        39 => Known::IfMatch,
        40 => Known::IfModifiedSince,
        41 => Known::IfNoneMatch,
        42 => Known::IfRange,
        50 => Known::Range,
        51 => Known::Referer,
        57 => Known::TransferEncoding,
        58 => Known::UserAgent,
        _ => Known::Other,
    }
}

#[cfg(test)]
mod tests {
    use wire::Known;

    use super::known_by_index;
    use crate::hpack::Decoder;

    #[test]
    fn indices_of_the_static_table_name_the_known_fields() {
        for index in 1..=61_u8 {
            let mut decoder = Decoder::new(4_096);
            let mut names = Vec::new();
            let result = decoder.decode(&[0x80 | index], &mut |field| {
                names.push((field.name.to_vec(), field.name_index));
            });
            assert_eq!(result, Ok(()));
            let [(name, name_index)] = &names[..] else {
                panic!("one field");
            };
            let known = match name.first() {
                Some(b':') => Known::Other,
                _ => Known::of(name),
            };
            assert_eq!(known_by_index(*name_index), known, "{index}");
        }
    }
}
