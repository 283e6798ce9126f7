use std::net::Ipv6Addr;

/// Whether this is `uri-host [ ":" port ]` (RFC 9110 §7.2, RFC 3986 §3.2.2) with a host that is not empty.
///
/// Stricter than the grammar in two places: no comma (a joined list of two hosts must not pass as one) and no
/// `IPvFuture`. The port may be empty, as in `example.org:`, and is at most 65,535.
#[inline]
pub(crate) fn is_authority(bytes: &[u8]) -> bool {
    if bytes.first() == Some(&b'[') {
        return is_literal(bytes);
    }
    let mut seen = 0;
    let mut end = bytes.len();
    for (at, &byte) in bytes.iter().enumerate() {
        if byte == b':' {
            end = at;
            break;
        }
        seen |= CLASS[byte as usize];
    }
    seen & BAD == 0
        && end > 0
        && is_port(&bytes[end..])
        && (seen & ESCAPE == 0 || escapes_are_whole(&bytes[..end]))
}

/// `[` IPv6 `]` `[ ":" port ]`, without a zone.
#[cold]
fn is_literal(bytes: &[u8]) -> bool {
    let Some(close) = memchr::memchr(b']', bytes) else {
        return false;
    };
    let Ok(address) = std::str::from_utf8(&bytes[1..close]) else {
        return false;
    };
    address.parse::<Ipv6Addr>().is_ok() && is_port(&bytes[close + 1..])
}

/// Nothing, or `:` and up to five digits that are at most 65,535.
#[inline]
fn is_port(bytes: &[u8]) -> bool {
    let Some((colon, digits)) = bytes.split_first() else {
        return true;
    };
    *colon == b':'
        && digits.len() <= 5
        && digits.iter().all(u8::is_ascii_digit)
        && digits
            .iter()
            .fold(0, |port, digit| port * 10 + u32::from(digit - b'0'))
            <= 65_535
}

#[cold]
fn escapes_are_whole(host: &[u8]) -> bool {
    host.iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'%')
        .all(|(at, _)| {
            host.get(at + 1..at + 3)
                .is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit))
        })
}

const BAD: u8 = 1;
const ESCAPE: u8 = 2;

/// reg-name = *( unreserved / pct-encoded / sub-delims ), less the comma.
static CLASS: [u8; 256] = {
    let mut table = [BAD; 256];
    let mut b = 0;
    while b < 256 {
        let byte = b as u8;
        if byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'-' | b'.'
                    | b'_'
                    | b'~'
                    | b'!'
                    | b'$'
                    | b'&'
                    | b'\''
                    | b'('
                    | b')'
                    | b'*'
                    | b'+'
                    | b';'
                    | b'='
            )
        {
            table[b] = 0;
        } else if byte == b'%' {
            table[b] = ESCAPE;
        }
        b += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::is_authority;

    #[test]
    fn accepts() {
        for ok in [
            "a",
            "example.org",
            "EXAMPLE.org:80",
            "127.0.0.1:3000",
            "a:",
            "a:0",
            "a:65535",
            "a:00080",
            "my_host",
            "xn--bcher-kva.example",
            "a%20b",
            "[::1]",
            "[::1]:8080",
            "[2001:db8::1.2.3.4]",
            "a;b",
            "999.999.999.999",
            "~",
            "a..b",
        ] {
            assert!(is_authority(ok.as_bytes()), "{ok}");
        }
    }

    #[test]
    fn refuses() {
        for bad in [
            "",
            ":80",
            "a:65536",
            "a:99999",
            "a:000080",
            "a:-1",
            "a:8o",
            "a:80:80",
            "u@a",
            "u:p@a",
            "a/b",
            "a?b",
            "a#b",
            "a,b",
            "a, b",
            "a b",
            "a\tb",
            "http://a",
            "a%2",
            "a%zz",
            "a%",
            "[",
            "[]",
            "[::1",
            "::1",
            "[::1]x",
            "[::1]:x",
            "[fe80::1%25eth0]",
            "[v1.a]",
            "[1.2.3.4]",
            "a\\b",
            "a\"b",
            "<a>",
            "a|b",
            "a\u{e9}",
            "a\0",
            "a\u{7f}",
            "a]",
            "a[",
        ] {
            assert!(!is_authority(bad.as_bytes()), "{bad:?}");
        }
    }
}
