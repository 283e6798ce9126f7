//! Trailer fields (RFC 9110 §6.5): which of them a message may have, and those of a chunked body.

/// Fields of framing, routing, authentication and the content, in lower case. A request with one of them in its
/// trailers is an error of the client, or an attempt to smuggle, so it is refused.
pub(crate) const REFUSED: [&[u8]; 16] = [
    b"authorization",
    b"connection",
    b"content-encoding",
    b"content-length",
    b"content-range",
    b"content-type",
    b"cookie",
    b"expect",
    b"host",
    b"keep-alive",
    b"proxy-connection",
    b"te",
    b"trailer",
    b"transfer-encoding",
    b"upgrade",
    b"range",
];

/// Fields that modify a request, control a reply or concern the connection. The recipient has acted without them when
/// the trailer section arrives, so they are left out.
const DROPPED: [&[u8]; 20] = [
    b"age",
    b"cache-control",
    b"date",
    b"expires",
    b"http2-settings",
    b"if-match",
    b"if-modified-since",
    b"if-none-match",
    b"if-range",
    b"if-unmodified-since",
    b"location",
    b"max-forwards",
    b"pragma",
    b"proxy-authenticate",
    b"proxy-authorization",
    b"retry-after",
    b"set-cookie",
    b"vary",
    b"warning",
    b"www-authenticate",
];

/// Returns true when a request with this trailer is refused. The name must be in lower case.
pub fn is_refused(name: &[u8]) -> bool {
    REFUSED.contains(&name)
}

/// Returns true when a field may be a trailer, by its name in upper or lower case (RFC 9110 §6.5.1).
pub fn allowed(name: &[u8]) -> bool {
    !REFUSED
        .iter()
        .chain(&DROPPED)
        .any(|forbidden| name.eq_ignore_ascii_case(forbidden))
}

/// Gives name and value of each field of a trailer section that [`chunked::Decoder`](crate::chunked::Decoder) has
/// accepted. White space around a value is not a part of it.
pub fn fields(section: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    section.split(|byte| *byte == b'\n').filter_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (name, rest) = line.split_at(colon);
        // The value ends with a CR and perhaps spaces and tabs. The decoder has accepted no other control characters.
        Some((name, rest.get(1..)?.trim_ascii()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_no_white_space_around_their_values() {
        let section = b"A: b\r\nC-d:\r\nE: \t\xff x\t \r\nF: a:b\r\n\r\n";
        let expected: [(&[u8], &[u8]); 4] = [
            (b"A", b"b"),
            (b"C-d", b""),
            (b"E", b"\xff x"),
            (b"F", b"a:b"),
        ];
        assert!(fields(section).eq(expected));
        assert!(fields(b"\r\n").next().is_none());
    }

    #[test]
    fn fields_of_framing_and_control_are_not_allowed() {
        for name in REFUSED.iter().chain(&DROPPED) {
            assert_eq!(name.to_ascii_lowercase(), *name);
            assert!(!allowed(name) && !allowed(&name.to_ascii_uppercase()));
        }
        for name in [
            "grpc-status",
            "x-checksum",
            "etag",
            "server-timing",
            "dates",
        ] {
            assert!(allowed(name.as_bytes()), "{name}");
        }
    }
}
