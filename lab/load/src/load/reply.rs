//! Replies out of bytes that come in any pieces (RFC 9112 §2, §6, §7.1).

use std::sync::LazyLock;

use memchr::memmem::Finder;
use memchr::{memchr, memmem};

use crate::chunked::{Chunked, Progress};

/// Longest head that is waited for.
const MAX_HEAD: usize = 64 * 1024;
/// Length of a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
const DATE: usize = 29;

static HEAD_END: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\r\n\r\n"));

/// A whole reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    pub status: u16,
    /// Content-Length, if the head has it.
    pub declared: Option<u64>,
    /// Bytes of the body that came.
    pub length: u64,
    /// The connection ends after this reply.
    pub close: bool,
}

/// Where the beginning of a body is kept.
pub struct Keep<'a> {
    pub bytes: &'a mut Vec<u8>,
    /// So many bytes of it and no more.
    pub most: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// All bytes are used and the reply is not complete.
    More,
    Whole(Reply),
    /// No reply begins or goes on like this; why, in half a sentence.
    Malformed(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Head {
    status: u16,
    declared: Option<u64>,
    framing: Framing,
    close: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    Fixed,
    Chunked,
    UntilClose,
}

/// The head that came last, read. A server repeats itself but for the date: comparing 130 bytes costs a tenth of
/// reading them.
#[derive(Default)]
pub struct Known {
    bytes: Vec<u8>,
    /// Where the value of Date begins; the length of the head when it has none.
    date: usize,
    head: Option<Head>,
}

/// What one connection must remember between two receives.
pub struct Reader {
    state: State,
    /// The beginning of a head that is not complete.
    partial: Vec<u8>,
    head: Head,
    /// Bytes of the body so far.
    length: u64,
}

enum State {
    Head,
    /// So many bytes of the body are left.
    Fixed(u64),
    Chunked(Chunked),
    UntilClose,
}

impl Reader {
    pub fn new() -> Self {
        Self {
            state: State::Head,
            partial: Vec::new(),
            head: Head {
                status: 0,
                declared: None,
                framing: Framing::Fixed,
                close: false,
            },
            length: 0,
        }
    }

    /// Reads on in `bytes` until they are used or one reply is complete, and says how many were used. `bodiless`: the
    /// request was HEAD. The body is appended to `keep`, if given.
    pub fn next(
        &mut self,
        bytes: &[u8],
        known: &mut Known,
        bodiless: bool,
        mut keep: Option<Keep>,
    ) -> (usize, Step) {
        let mut used = 0;
        loop {
            let rest = &bytes[used..];
            match &mut self.state {
                State::Head => {
                    let (taken, head) = match self.head(rest, known) {
                        Ok(found) => found,
                        Err(why) => return (bytes.len(), Step::Malformed(why)),
                    };
                    used += taken;
                    let Some(head) = head else {
                        return (used, Step::More);
                    };
                    self.head = head;
                    self.length = 0;
                    // RFC 9110 §15.2: any number of interim replies comes before the reply.
                    if head.status == 101 {
                        return (
                            used,
                            Step::Malformed("101 without an Upgrade in the request"),
                        );
                    }
                    if head.status < 200 {
                        continue;
                    }
                    // RFC 9112 §6.3 (1)
                    if bodiless || matches!(head.status, 204 | 304) {
                        return (used, self.whole());
                    }
                    self.state = match head.framing {
                        Framing::Fixed if head.declared == Some(0) => return (used, self.whole()),
                        Framing::Fixed => State::Fixed(head.declared.unwrap_or(0)),
                        Framing::Chunked => State::Chunked(Chunked::new()),
                        Framing::UntilClose => {
                            self.head.close = true;
                            State::UntilClose
                        }
                    };
                }
                State::Fixed(left) => {
                    let taken = rest.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                    *left -= taken as u64;
                    let complete = *left == 0;
                    used += taken;
                    self.body(&rest[..taken], keep.as_mut());
                    if complete {
                        return (used, self.whole());
                    }
                    return (used, Step::More);
                }
                State::Chunked(chunked) => match chunked.next(rest) {
                    Progress::Skip(taken) => used += taken,
                    Progress::Body(taken) => {
                        used += taken;
                        self.body(&rest[..taken], keep.as_mut());
                    }
                    Progress::More => return (bytes.len(), Step::More),
                    Progress::End(taken) => return (used + taken, self.whole()),
                    Progress::Malformed(why) => return (bytes.len(), Step::Malformed(why)),
                },
                State::UntilClose => {
                    self.body(rest, keep.as_mut());
                    return (bytes.len(), Step::More);
                }
            }
        }
    }

    /// The server has closed: the reply that ends with the connection, if it is one.
    pub fn end(&mut self) -> Option<Reply> {
        if !matches!(self.state, State::UntilClose) {
            return None;
        }
        match self.whole() {
            Step::Whole(reply) => Some(reply),
            Step::More | Step::Malformed(_) => None,
        }
    }

    /// Ready for a new connection.
    pub fn clear(&mut self) {
        self.state = State::Head;
        self.partial.clear();
    }

    fn whole(&mut self) -> Step {
        self.state = State::Head;
        Step::Whole(Reply {
            status: self.head.status,
            declared: self.head.declared,
            length: self.length,
            close: self.head.close,
        })
    }

    fn body(&mut self, bytes: &[u8], keep: Option<&mut Keep>) {
        self.length += bytes.len() as u64;
        if let Some(keep) = keep {
            let room = keep.most.saturating_sub(keep.bytes.len());
            keep.bytes
                .extend_from_slice(&bytes[..room.min(bytes.len())]);
        }
    }

    /// How many bytes belong to the head, and the head if that completes it.
    fn head(
        &mut self,
        bytes: &[u8],
        known: &mut Known,
    ) -> Result<(usize, Option<Head>), &'static str> {
        if self.partial.is_empty()
            && let Some(end) = HEAD_END.find(bytes)
        {
            let head = known.read(&bytes[..end + 4])?;
            return Ok((end + 4, Some(head)));
        }
        let before = self.partial.len();
        self.partial.extend_from_slice(bytes);
        let begun = self.partial.len().min(7);
        if self.partial[..begun] != b"HTTP/1."[..begun] {
            return Err("the reply does not begin with HTTP/1.");
        }
        // The blank line may have begun in an earlier piece.
        let from = before.saturating_sub(3);
        match HEAD_END.find(&self.partial[from..]) {
            Some(at) => {
                let end = from + at + 4;
                let head = known.read(&self.partial[..end]);
                self.partial.clear();
                Ok((end - before, Some(head?)))
            }
            None if self.partial.len() > MAX_HEAD => Err("the head is longer than 64 KiB"),
            None => Ok((bytes.len(), None)),
        }
    }
}

impl Known {
    /// Reads `bytes`, a head up to its blank line.
    fn read(&mut self, bytes: &[u8]) -> Result<Head, &'static str> {
        if let Some(head) = self.head
            && self.matches(bytes)
        {
            return Ok(head);
        }
        self.head = None;
        let head = read_head(bytes)?;
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        let date =
            memmem::find(bytes, b"\r\nDate: ").or_else(|| memmem::find(bytes, b"\r\ndate: "));
        self.date = date
            .map(|at| at + 8)
            .filter(|at| memchr(b'\r', &bytes[*at..]) == Some(DATE))
            .unwrap_or(bytes.len());
        self.head = Some(head);
        Ok(head)
    }

    fn matches(&self, bytes: &[u8]) -> bool {
        if bytes.len() != self.bytes.len() || bytes[..self.date] != self.bytes[..self.date] {
            return false;
        }
        let after = (self.date + DATE).min(bytes.len());
        bytes[after..] == self.bytes[after..]
            && !bytes[self.date..after]
                .iter()
                .any(|byte| matches!(byte, b'\r' | b'\n' | 0))
    }
}

fn read_head(bytes: &[u8]) -> Result<Head, &'static str> {
    // The last line has its CRLF, the blank line is left out.
    let mut rest = &bytes[..bytes.len() - 2];
    let (minor, status) = status_line(take_line(&mut rest)?)?;
    let mut declared = None;
    let mut codings: Option<bool> = None;
    let mut close = false;
    let mut keep_alive = false;
    while !rest.is_empty() {
        let line = take_line(&mut rest)?;
        let colon = memchr(b':', line).ok_or("a line of the head has no colon")?;
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.is_empty() || !name.iter().all(|byte| is_token(*byte)) {
            return Err("the name of a header is not a token");
        }
        if name.eq_ignore_ascii_case(b"content-length") {
            let length = decimal(value).ok_or("Content-Length is not a number")?;
            if declared.is_some_and(|earlier| earlier != length) {
                return Err("two different Content-Length");
            }
            declared = Some(length);
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            let last = value.rsplit(|byte| *byte == b',').next().unwrap_or(b"");
            codings = Some(last.trim_ascii().eq_ignore_ascii_case(b"chunked"));
        } else if name.eq_ignore_ascii_case(b"connection") {
            for option in value.split(|byte| *byte == b',') {
                close |= option.trim_ascii().eq_ignore_ascii_case(b"close");
                keep_alive |= option.trim_ascii().eq_ignore_ascii_case(b"keep-alive");
            }
        }
    }
    // RFC 9112 §6.3
    let framing = match (codings, declared) {
        (Some(_), Some(_)) => return Err("Content-Length beside Transfer-Encoding"),
        (Some(true), None) => Framing::Chunked,
        (None, Some(_)) => Framing::Fixed,
        (Some(false) | None, None) => Framing::UntilClose,
    };
    Ok(Head {
        status,
        declared,
        framing,
        close: close || (minor == 0 && !keep_alive),
    })
}

/// The line up to its CRLF.
fn take_line<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], &'static str> {
    let end = memchr(b'\n', rest).ok_or("a line of the head does not end")?;
    let line = rest[..end]
        .strip_suffix(b"\r")
        .ok_or("a line of the head ends with a bare LF")?;
    if line.iter().any(|byte| matches!(byte, b'\r' | 0)) {
        return Err("a line of the head holds a bare CR or a NUL");
    }
    *rest = &rest[end + 1..];
    Ok(line)
}

/// Minor version and status.
fn status_line(line: &[u8]) -> Result<(u8, u16), &'static str> {
    let [
        b'H',
        b'T',
        b'T',
        b'P',
        b'/',
        b'1',
        b'.',
        minor @ (b'0' | b'1'),
        b' ',
        a,
        b,
        c,
        rest @ ..,
    ] = line
    else {
        return Err("the status line is not that of HTTP/1");
    };
    let status = decimal(&[*a, *b, *c]).filter(|status| *status >= 100);
    match (status, rest) {
        (Some(status), [] | [b' ', ..]) => Ok((minor - b'0', status as u16)),
        _ => Err("the status is not three digits"),
    }
}

fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 18 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(
        digits
            .iter()
            .fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')),
    )
}

/// RFC 9110 §5.6.2
pub fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
#[path = "reply_tests.rs"]
mod tests;
