//! The pieces of a reply head: status lines, what a user's field may be, Date, decimal numbers.

pub use crate::date::Date;
use crate::field::{is_token_byte, is_value_byte};

/// `HTTP/1.1 200 OK\r\n` for a status from 100 to 599, with the registered reason phrase or an empty one (the space
/// before it stays, RFC 9112 §4). Other statuses give the line of 500.
#[inline]
pub fn status_line(status: u16) -> &'static [u8] {
    let line = LINES
        .get(status.wrapping_sub(100) as usize)
        .unwrap_or(&LINES[400]);
    &line.bytes[..line.len as usize]
}

/// The registered reason phrase of a status, or an empty string (RFC 9110 §15 and the IANA registry).
pub const fn reason(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        101 => "Switching Protocols",
        102 => "Processing",
        103 => "Early Hints",
        104 => "Upload Resumption Supported",
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        203 => "Non-Authoritative Information",
        204 => "No Content",
        205 => "Reset Content",
        206 => "Partial Content",
        207 => "Multi-Status",
        208 => "Already Reported",
        226 => "IM Used",
        300 => "Multiple Choices",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        305 => "Use Proxy",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        407 => "Proxy Authentication Required",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        411 => "Length Required",
        412 => "Precondition Failed",
        413 => "Content Too Large",
        414 => "URI Too Long",
        415 => "Unsupported Media Type",
        416 => "Range Not Satisfiable",
        417 => "Expectation Failed",
        421 => "Misdirected Request",
        422 => "Unprocessable Content",
        423 => "Locked",
        424 => "Failed Dependency",
        425 => "Too Early",
        426 => "Upgrade Required",
        428 => "Precondition Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        451 => "Unavailable For Legal Reasons",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        506 => "Variant Also Negotiates",
        507 => "Insufficient Storage",
        508 => "Loop Detected",
        511 => "Network Authentication Required",
        _ => "",
    }
}

/// Whether this may be a field name: a token that is not empty (RFC 9110 §5.1).
#[inline]
pub fn valid_name(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|byte| is_token_byte(*byte))
}

/// Whether these bytes may stand in a field value: HTAB, SP, VCHAR and obs-text, no CR, LF, NUL or other control
/// (RFC 9110 §5.5). Empty values and white space at either end pass: recipients strip it, it cannot end a line.
#[inline]
pub fn valid_value(value: &[u8]) -> bool {
    value
        .iter()
        .fold(true, |valid, byte| valid & is_value_byte(*byte))
}

/// Whether a handler may not set this field, in upper or lower case. The fields of the list frame the message or manage
/// the connection, which the engine does (RFC 9110 §7.6.1). Date is not among them; see [`is_date`].
pub fn forbidden_name(name: &[u8]) -> bool {
    let candidate: &[u8] = match name.len() {
        2 => b"te",
        7 if name[0] | 0x20 == b't' => b"trailer",
        7 => b"upgrade",
        10 if name[0] | 0x20 == b'c' => b"connection",
        10 => b"keep-alive",
        14 => b"content-length",
        16 => b"proxy-connection",
        17 => b"transfer-encoding",
        _ => return false,
    };
    name.eq_ignore_ascii_case(candidate)
}

/// Whether a handler's field is Date. If so, the engine leaves its own out.
pub fn is_date(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"date")
}

/// Appends `n` in decimal.
pub fn write_decimal(out: &mut Vec<u8>, mut n: u64) {
    // u64::MAX has 20 digits.
    let mut digits = [0; 20];
    let mut at = digits.len();
    while n >= 100 {
        at -= 2;
        digits[at..at + 2].copy_from_slice(&PAIRS[(n % 100) as usize]);
        n /= 100;
    }
    if n >= 10 {
        at -= 2;
        digits[at..at + 2].copy_from_slice(&PAIRS[n as usize]);
    } else {
        at -= 1;
        digits[at] = b'0' + n as u8;
    }
    out.extend_from_slice(&digits[at..]);
}

#[derive(Clone, Copy)]
struct Line {
    bytes: [u8; 47],
    len: u8,
}

static LINES: [Line; 500] = {
    let mut lines = [Line {
        bytes: [0; 47],
        len: 0,
    }; 500];
    let mut status = 100;
    while status < 600 {
        let mut line = Line {
            bytes: [0; 47],
            len: 0,
        };
        line = append(line, b"HTTP/1.1 ");
        line = append(
            line,
            &[
                b'0' + (status / 100) as u8,
                b'0' + (status / 10 % 10) as u8,
                b'0' + (status % 10) as u8,
            ],
        );
        line = append(line, b" ");
        line = append(line, reason(status).as_bytes());
        lines[status as usize - 100] = append(line, b"\r\n");
        status += 1;
    }
    lines
};

const fn append(mut line: Line, bytes: &[u8]) -> Line {
    let mut at = 0;
    while at < bytes.len() {
        line.bytes[line.len as usize] = bytes[at];
        line.len += 1;
        at += 1;
    }
    line
}

static PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut n = 0;
    while n < 100 {
        pairs[n] = [b'0' + (n / 10) as u8, b'0' + (n % 10) as u8];
        n += 1;
    }
    pairs
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_lines() {
        assert_eq!(status_line(200), b"HTTP/1.1 200 OK\r\n");
        assert_eq!(
            status_line(431),
            b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
        );
        assert_eq!(status_line(299), b"HTTP/1.1 299 \r\n");
        for status in 100..600 {
            let expected = format!("HTTP/1.1 {status} {}\r\n", reason(status));
            assert_eq!(status_line(status), expected.as_bytes());
        }
        for status in [0, 99, 600, u16::MAX] {
            assert_eq!(status_line(status), status_line(500));
        }
    }

    #[test]
    fn all_bytes_in_names_and_values() {
        for byte in 0..=255_u8 {
            let token = byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
            assert_eq!(valid_name(&[b'a', byte]), token, "{byte}");
            let value = byte == b'\t' || (byte >= 0x20 && byte != 0x7f);
            assert_eq!(valid_value(&[b'a', byte, b'b']), value, "{byte}");
        }
        assert!(!valid_name(b""));
        assert!(valid_value(b""));
        assert!(valid_value(b" a "));
    }

    #[test]
    fn forbidden_names() {
        for name in [
            "content-length",
            "transfer-encoding",
            "connection",
            "keep-alive",
            "upgrade",
            "te",
            "trailer",
            "proxy-connection",
        ] {
            assert!(forbidden_name(name.as_bytes()), "{name}");
            assert!(forbidden_name(name.to_uppercase().as_bytes()), "{name}");
        }
        for name in [
            "",
            "date",
            "content-type",
            "content-lengt",
            "content-lengthx",
            "et",
            "referer",
            "user-agent",
        ] {
            assert!(!forbidden_name(name.as_bytes()), "{name}");
        }
        assert!(is_date(b"Date") && !is_date(b"Dat"));
    }

    #[test]
    fn decimals() {
        let powers = (0..20).map(|power| 10_u64.pow(power));
        for n in powers
            .flat_map(|n| [n - 1, n, n + 1])
            .chain([0, 42, u64::MAX])
        {
            let mut out = b"x".to_vec();
            write_decimal(&mut out, n);
            assert_eq!(out, format!("x{n}").as_bytes());
        }
    }
}
