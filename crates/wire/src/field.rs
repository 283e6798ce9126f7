use crate::Span;

/// One field line of a head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// The name as sent.
    pub name: Span,
    /// The value without the white space around it.
    pub value: Span,
    /// Which well-known field this is.
    pub known: Known,
}

macro_rules! known {
    ($($variant:ident = $id:literal $name:literal,)*) => {
        /// Field names that have an id. Presence of all of them is one `u32`, and JavaScript finds one without
        /// comparing names.
        #[repr(u8)]
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
        pub enum Known {
            #[default]
            Other = 0,
            $($variant = $id,)*
        }

        /// Lower-case names by id; the name of `Known::Other` is empty.
        pub const KNOWN_NAMES: [&str; 32] = ["", $($name,)*];

        impl Known {
            /// All ids; `ALL[k as usize] == k`.
            pub const ALL: [Self; 32] = [Self::Other, $(Self::$variant,)*];
        }
    };
}

known! {
    Host = 1 "host",
    ContentLength = 2 "content-length",
    ContentType = 3 "content-type",
    TransferEncoding = 4 "transfer-encoding",
    Connection = 5 "connection",
    Expect = 6 "expect",
    Cookie = 7 "cookie",
    Authorization = 8 "authorization",
    Accept = 9 "accept",
    AcceptEncoding = 10 "accept-encoding",
    Origin = 11 "origin",
    UserAgent = 12 "user-agent",
    IfNoneMatch = 13 "if-none-match",
    IfModifiedSince = 14 "if-modified-since",
    XRequestId = 15 "x-request-id",
    XForwardedFor = 16 "x-forwarded-for",
    Traceparent = 17 "traceparent",
    Range = 18 "range",
    Upgrade = 19 "upgrade",
    AcceptLanguage = 20 "accept-language",
    Referer = 21 "referer",
    CacheControl = 22 "cache-control",
    ContentEncoding = 23 "content-encoding",
    XForwardedProto = 24 "x-forwarded-proto",
    XForwardedHost = 25 "x-forwarded-host",
    Tracestate = 26 "tracestate",
    AccessControlRequestMethod = 27 "access-control-request-method",
    AccessControlRequestHeaders = 28 "access-control-request-headers",
    IfMatch = 29 "if-match",
    IfRange = 30 "if-range",
    Forwarded = 31 "forwarded",
}

impl Known {
    /// `1 << id`, as in [`Head::known`](crate::Head::known).
    #[inline]
    pub const fn bit(self) -> u32 {
        1 << self as u8
    }

    /// The lower-case name; empty for `Other`.
    pub const fn name(self) -> &'static str {
        KNOWN_NAMES[self as usize]
    }

    /// The id of a field name, in any case.
    ///
    /// `name` must be a token: length and first byte leave one candidate, and that is compared with bit 5 set in every
    /// byte, which for tokens is exact (the only other byte that would become `-` is CR).
    #[inline]
    pub fn of(name: &[u8]) -> Self {
        let Some(first) = name.first() else {
            return Self::Other;
        };
        let first = first | 0x20;
        match (name.len(), first) {
            (4, b'h') => Self::Host.if_named(name, b"host"),
            (5, b'r') => Self::Range.if_named(name, b"range"),
            (6, b'a') => Self::Accept.if_named(name, b"accept"),
            (6, b'c') => Self::Cookie.if_named(name, b"cookie"),
            (6, b'e') => Self::Expect.if_named(name, b"expect"),
            (6, b'o') => Self::Origin.if_named(name, b"origin"),
            (7, b'r') => Self::Referer.if_named(name, b"referer"),
            (7, b'u') => Self::Upgrade.if_named(name, b"upgrade"),
            (8, b'i') if name[3] | 0x20 == b'm' => Self::IfMatch.if_named(name, b"if-match"),
            (8, b'i') => Self::IfRange.if_named(name, b"if-range"),
            (9, b'f') => Self::Forwarded.if_named(name, b"forwarded"),
            (10, b'c') => Self::Connection.if_named(name, b"connection"),
            (10, b't') => Self::Tracestate.if_named(name, b"tracestate"),
            (10, b'u') => Self::UserAgent.if_named(name, b"user-agent"),
            (11, b't') => Self::Traceparent.if_named(name, b"traceparent"),
            (12, b'c') => Self::ContentType.if_named(name, b"content-type"),
            (12, b'x') => Self::XRequestId.if_named(name, b"x-request-id"),
            (13, b'a') => Self::Authorization.if_named(name, b"authorization"),
            (13, b'c') => Self::CacheControl.if_named(name, b"cache-control"),
            (13, b'i') => Self::IfNoneMatch.if_named(name, b"if-none-match"),
            (14, b'c') => Self::ContentLength.if_named(name, b"content-length"),
            (15, b'a') if name[7] | 0x20 == b'e' => {
                Self::AcceptEncoding.if_named(name, b"accept-encoding")
            }
            (15, b'a') => Self::AcceptLanguage.if_named(name, b"accept-language"),
            (15, b'x') => Self::XForwardedFor.if_named(name, b"x-forwarded-for"),
            (16, b'c') => Self::ContentEncoding.if_named(name, b"content-encoding"),
            (16, b'x') => Self::XForwardedHost.if_named(name, b"x-forwarded-host"),
            (17, b'i') => Self::IfModifiedSince.if_named(name, b"if-modified-since"),
            (17, b't') => Self::TransferEncoding.if_named(name, b"transfer-encoding"),
            (17, b'x') => Self::XForwardedProto.if_named(name, b"x-forwarded-proto"),
            (29, b'a') => {
                Self::AccessControlRequestMethod.if_named(name, b"access-control-request-method")
            }
            (30, b'a') => {
                Self::AccessControlRequestHeaders.if_named(name, b"access-control-request-headers")
            }
            _ => Self::Other,
        }
    }

    #[inline(always)]
    fn if_named<const N: usize>(self, name: &[u8], lower: &[u8; N]) -> Self {
        let Some(name) = name.first_chunk::<N>() else {
            return Self::Other;
        };
        let differ = name
            .iter()
            .zip(lower)
            .fold(0, |differ, (a, b)| differ | ((a | 0x20) ^ b));
        if differ == 0 { self } else { Self::Other }
    }
}

const TOKEN: u8 = 1;
const VALUE: u8 = 2;

/// Which bytes may stand in a token (RFC 9110 §5.6.2) and in a field value (§5.5: HTAB, SP, VCHAR, obs-text).
static BYTES: [u8; 256] = {
    let mut table = [0; 256];
    let mut b = 0;
    while b < 256 {
        let byte = b as u8;
        if byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'!' | b'#'
                    | b'$'
                    | b'%'
                    | b'&'
                    | b'\''
                    | b'*'
                    | b'+'
                    | b'-'
                    | b'.'
                    | b'^'
                    | b'_'
                    | b'`'
                    | b'|'
                    | b'~'
            )
        {
            table[b] |= TOKEN;
        }
        if byte == b'\t' || (byte >= b' ' && byte != 0x7f) {
            table[b] |= VALUE;
        }
        b += 1;
    }
    table
};

/// Returns true when this byte may appear in a token (RFC 9110 §5.6.2).
#[inline]
pub fn is_token_byte(byte: u8) -> bool {
    BYTES[byte as usize] & TOKEN != 0
}

#[inline]
pub(crate) fn is_value_byte(byte: u8) -> bool {
    BYTES[byte as usize] & VALUE != 0
}

/// Returns true when this is a field name of HTTP/2: a token without capital letters (RFC 9113 §8.2.1).
#[inline]
pub fn is_lower_name(name: &[u8]) -> bool {
    !name.is_empty()
        && name
            .iter()
            .all(|byte| is_token_byte(*byte) && !byte.is_ascii_uppercase())
}

/// Returns true when this is a field value without white space around it: HTAB, SP, VCHAR and obs-text (RFC 9110 §5.5).
#[inline]
pub fn is_trimmed_value(value: &[u8]) -> bool {
    // The loop has no branch for each byte, so that the compiler checks sixteen bytes at a time.
    let bad = value.iter().fold(0, |bad, &byte| {
        let is_control = u8::from(byte < b' ') & u8::from(byte != b'\t');
        bad | is_control | u8::from(byte == 0x7f)
    });
    let is_blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    bad == 0 && !is_blank(value.first()) && !is_blank(value.last())
}

#[cfg(test)]
mod tests {
    use super::{KNOWN_NAMES, Known, is_lower_name, is_trimmed_value, is_value_byte};

    #[test]
    fn names_of_http2_are_tokens_without_capitals() {
        for byte in 0..=255_u8 {
            let is_name = super::is_token_byte(byte) && !byte.is_ascii_uppercase();
            assert_eq!(is_lower_name(&[b'a', byte]), is_name, "{byte}");
        }
        assert!(!is_lower_name(b""));
    }

    #[test]
    fn trimmed_values_have_no_control_and_no_white_space_around() {
        for byte in 0..=255_u8 {
            assert_eq!(
                is_trimmed_value(&[b'a', byte, b'a']),
                is_value_byte(byte),
                "{byte}"
            );
            let ends = is_value_byte(byte) && byte != b' ' && byte != b'\t';
            assert_eq!(is_trimmed_value(&[byte]), ends, "{byte}");
            assert_eq!(is_trimmed_value(&[byte, b'a']), ends, "{byte}");
            assert_eq!(is_trimmed_value(&[b'a', byte]), ends, "{byte}");
        }
        assert!(is_trimmed_value(b""));
    }

    #[test]
    fn every_name_is_recognised_in_any_case() {
        for (id, known) in Known::ALL.into_iter().enumerate().skip(1) {
            assert_eq!(known as usize, id);
            let name = KNOWN_NAMES[id];
            assert_eq!(name, name.to_lowercase());
            let mixed: String = name
                .char_indices()
                .map(|(i, c)| {
                    if i % 2 == 0 {
                        c.to_ascii_uppercase()
                    } else {
                        c
                    }
                })
                .collect();
            for spelling in [name.to_string(), name.to_uppercase(), mixed] {
                assert_eq!(Known::of(spelling.as_bytes()), known, "{spelling}");
            }
        }
    }

    #[test]
    fn one_other_byte_makes_it_other() {
        for name in &KNOWN_NAMES[1..] {
            for at in 0..name.len() {
                let mut bytes = name.as_bytes().to_vec();
                bytes[at] = b'_';
                assert_eq!(Known::of(&bytes), Known::Other, "{name} {at}");
            }
            assert_eq!(Known::of(format!("{name}x").as_bytes()), Known::Other);
            assert_eq!(Known::of(&name.as_bytes()[1..]), Known::Other);
        }
        assert_eq!(Known::of(b""), Known::Other);
    }
}
