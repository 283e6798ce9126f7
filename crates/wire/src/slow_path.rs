//! Reads a head line by line: the slow path, for heads that arrive in pieces, and to name the fault of a wrong one.
//!
//! A refusal here depends on a prefix of the bytes alone, and faults are found in the order of the bytes, so the cut of
//! the reads cannot change a verdict. The work is linear in the head however it is cut: LF is searched from where the
//! last call stopped, each complete line is checked once, and an open request line is checked only while its first
//! bytes or the nine after the longest target arrive.

use crate::field::{is_token_byte, is_value_byte};
use crate::target::Target;
use crate::{Limits, Method, Refusal};
use memchr::{memchr, memrchr};

/// The length of the longest method. A longer one is unknown, whatever it is.
const MAX_METHOD: usize = Method::LONGEST;
/// The length of `HTTP/1.1`.
const VERSION: usize = 8;

/// How a line ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// The end is not there yet.
    Open,
    Crlf,
    Lf,
}

/// Checks `window` from `scanned` on. Gives the length of the head if its end is there.
pub(crate) fn scan(
    window: &[u8],
    scanned: usize,
    limits: &Limits,
) -> Result<Option<usize>, Refusal> {
    let mut from = scanned.min(window.len());
    while let Some(at) = memchr(b'\n', &window[from..]) {
        let lf = from + at;
        let start = memrchr(b'\n', &window[..lf]).map_or(0, |before| before + 1);
        let line = &window[start..lf];
        let (content, end) = match line.strip_suffix(b"\r") {
            Some(content) => (content, End::Crlf),
            None => (line, End::Lf),
        };
        if start == 0 && content.is_empty() && end == End::Crlf {
            // An empty line before the request line is ignored (RFC 9112 §2.2).
        } else if start == request_start(window) {
            if start > 0 && content.is_empty() && end == End::Crlf {
                return Err(Refusal::EmptyLines);
            }
            request_line(content, end, limits)?;
        } else if content.is_empty() && end == End::Crlf {
            return Ok(Some(lf + 1));
        } else {
            field_line(content, end, limits)?;
        }
        from = lf + 1;
    }
    open_request_line(window, scanned, limits)?;
    Ok(None)
}

/// The offset of the request line: after one leading empty line, if there is one.
fn request_start(window: &[u8]) -> usize {
    if window.starts_with(b"\r\n") { 2 } else { 0 }
}

/// Refuses a request line before its end is there, if it begins with garbage or its target is past the limit.
///
/// `last` is the greatest length of an open request line that these checks let pass. To check the line again after that
/// would find nothing, and would cost time for each byte of a slow client.
fn open_request_line(window: &[u8], scanned: usize, limits: &Limits) -> Result<(), Refusal> {
    let start = request_start(window);
    let longest = limits.max_url_length as usize;
    let last = start + MAX_METHOD + 1 + longest + 1 + VERSION + 1;
    let past_target = window.len() > start + longest && scanned <= last;
    let in_method = scanned <= start + MAX_METHOD + 1;
    if !(in_method || past_target) || memchr(b'\n', &window[start..]).is_some() {
        return Ok(());
    }
    let line = &window[start..];
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if past_target {
        request_line(line, End::Open, limits)
    } else {
        method_length(line).map(|_| ())
    }
}

/// Checks a request line. Faults that an open line can have are looked for first, so that the complete line is refused
/// for the same reason.
fn request_line(line: &[u8], end: End, limits: &Limits) -> Result<(), Refusal> {
    let Some(space) = method_length(line)? else {
        return unfinished(end);
    };
    let rest = &line[space + 1..];
    let longest = limits.max_url_length as usize;
    let Some(length) = memchr(b' ', &rest[..rest.len().min(longest + 1)]) else {
        return if rest.len() > longest {
            Err(Refusal::TargetTooLong)
        } else {
            unfinished(end)
        };
    };
    let (target, version) = (&rest[..length], &rest[length + 1..]);
    if target.is_empty() {
        return Err(Refusal::RequestLine);
    }
    if version.len() > VERSION {
        return Err(Refusal::VersionSyntax);
    }
    match end {
        End::Open => return Ok(()),
        End::Lf => return Err(Refusal::BareLf),
        End::Crlf => {}
    }
    match version {
        b"HTTP/1.1" | b"HTTP/1.0" => {}
        [b'H', b'T', b'T', b'P', b'/', b'0'..=b'9', b'.', b'0'..=b'9'] => {
            return Err(Refusal::VersionUnknown);
        }
        _ => return Err(Refusal::VersionSyntax),
    }
    let method =
        Method::from_bytes(&line[..space], &limits.methods).ok_or(Refusal::MethodUnknown)?;
    if target.contains(&b'\r') {
        return Err(Refusal::BareCr);
    }
    Target::parse(target, method).map(|_| ())
}

/// Judges a line that lacks some of its parts, such as one of HTTP/0.9 (RFC 1945 §4.1).
fn unfinished(end: End) -> Result<(), Refusal> {
    match end {
        End::Open => Ok(()),
        End::Lf => Err(Refusal::BareLf),
        End::Crlf => Err(Refusal::RequestLine),
    }
}

/// Gives the length of the method, or nothing if its end is not in the line.
fn method_length(line: &[u8]) -> Result<Option<usize>, Refusal> {
    for (at, &byte) in line.iter().take(MAX_METHOD + 1).enumerate() {
        match byte {
            b' ' if at > 0 => return Ok(Some(at)),
            b'\r' => return Err(Refusal::BareCr),
            _ if !is_token_byte(byte) => return Err(Refusal::MethodSyntax),
            _ => {}
        }
    }
    if line.len() > MAX_METHOD {
        Err(Refusal::MethodUnknown)
    } else {
        Ok(None)
    }
}

/// Checks a complete line between the request line and the empty line.
fn field_line(line: &[u8], end: End, limits: &Limits) -> Result<(), Refusal> {
    if line.len() > limits.max_header_line as usize {
        return Err(Refusal::FieldLineTooLong);
    }
    if end == End::Lf {
        return Err(Refusal::BareLf);
    }
    let length = line
        .iter()
        .position(|byte| !is_token_byte(*byte))
        .unwrap_or(line.len());
    let (name, rest) = line.split_at(length);
    match rest.first() {
        Some(b' ' | b'\t') if name.is_empty() => return Err(Refusal::FieldFold),
        Some(b':') if !name.is_empty() => {}
        Some(b'\r') => return Err(Refusal::BareCr),
        Some(b' ' | b'\t') if rest.trim_ascii_start().starts_with(b":") => {
            return Err(Refusal::FieldSpace);
        }
        Some(_) if rest.contains(&b':') => return Err(Refusal::FieldName),
        _ => return Err(Refusal::FieldColon),
    }
    match rest[1..].iter().find(|byte| !is_value_byte(**byte)) {
        None => Ok(()),
        Some(b'\r') => Err(Refusal::BareCr),
        Some(_) => Err(Refusal::FieldValue),
    }
}
