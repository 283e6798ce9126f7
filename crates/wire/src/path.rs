use crate::Refusal;

/// Writes the canonical form of a raw path to `out`, which is cleared first.
///
/// Percent-encoded unreserved bytes are decoded (RFC 3986 §6.2.2.2), the hex of other escapes is upper-cased
/// (§6.2.2.1), and `[`, `]`, `^` and `|` are percent-encoded: RFC 3986 does not allow them raw in a path, but the URL
/// parsers of clients leave them so. `%2F` stays `%2F` and empty segments stay. Everything that reads a path (router,
/// middleware, static files, logs) reads this form, so no two of them can disagree.
///
/// Errors: a malformed escape, `%00`, escapes that do not decode to valid UTF-8, a dot segment (`.` or `..` between
/// slashes, literal or encoded), a path that does not start with `/`, and the other raw bytes that RFC 3986 wants
/// encoded: controls, space, non-ASCII, `"<>\` `` ` `` `{}`, `#`, `?`. After an error `out` holds a part of the path.
/// The table with the reason for each byte is in `docs/decisions/0004`.
pub fn canonicalise(raw: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
    out.clear();
    out.reserve(raw.len());
    walk(raw, |bytes| out.extend_from_slice(bytes)).map(|_| ())
}

/// Checks a raw path as [`canonicalise`] does and tells whether its canonical form differs from it.
pub(crate) fn needs_canonicalise(raw: &[u8]) -> Result<bool, Refusal> {
    walk(raw, |_| ())
}

fn walk(raw: &[u8], mut emit: impl FnMut(&[u8])) -> Result<bool, Refusal> {
    if raw.first() != Some(&b'/') {
        return Err(Refusal::TargetForm);
    }
    let mut changed = false;
    let mut segment = Segment::default();
    let mut at = 0;
    while let Some(&byte) = raw.get(at) {
        if byte != b'%' {
            let class = CLASS[byte as usize];
            if class & (BAD_PATH | QUERY) != 0 {
                return Err(Refusal::TargetByte);
            }
            segment.push(byte)?;
            if class & ENCODE == 0 {
                emit(&[byte]);
            } else {
                emit(&[b'%', hex(byte >> 4), hex(byte & 15)]);
                changed = true;
            }
            at += 1;
            continue;
        }
        let decoded = escape_at(raw, at)?;
        match decoded {
            0 => return Err(Refusal::PathNul),
            0x80.. => {
                let run = utf8_run(raw, at, decoded)?;
                for escape in raw[at..at + run].chunks_exact(3) {
                    changed |= emit_upper(escape, &mut emit);
                }
                segment.push(b'%')?;
                at += run;
            }
            _ if is_unreserved(decoded) => {
                segment.push(decoded)?;
                emit(&[decoded]);
                changed = true;
                at += 3;
            }
            _ => {
                changed |= emit_upper(&raw[at..at + 3], &mut emit);
                segment.push(b'%')?;
                at += 3;
            }
        }
    }
    segment.end()?;
    Ok(changed)
}

/// The byte that the escape at `at` stands for.
fn escape_at(raw: &[u8], at: usize) -> Result<u8, Refusal> {
    let digit = |offset: usize| {
        raw.get(at + offset)
            .and_then(|byte| char::from(*byte).to_digit(16))
    };
    match (raw.get(at), digit(1), digit(2)) {
        (Some(b'%'), Some(high), Some(low)) => Ok((high << 4 | low) as u8),
        _ => Err(Refusal::PathEscape),
    }
}

/// The length of the escapes at `at` that together are one character beyond ASCII; `lead` is the first byte, decoded.
fn utf8_run(raw: &[u8], at: usize, lead: u8) -> Result<usize, Refusal> {
    let count = match lead {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Err(Refusal::PathUtf8),
    };
    let mut character = [lead, 0, 0, 0];
    for (index, byte) in character.iter_mut().enumerate().take(count).skip(1) {
        let next = at + index * 3;
        if raw.get(next) != Some(&b'%') {
            return Err(Refusal::PathUtf8);
        }
        *byte = escape_at(raw, next)?;
    }
    std::str::from_utf8(&character[..count]).map_err(|_| Refusal::PathUtf8)?;
    Ok(count * 3)
}

/// The digit of a number below 16.
fn hex(digit: u8) -> u8 {
    match digit {
        0..=9 => b'0' + digit,
        _ => b'A' + digit - 10,
    }
}

fn emit_upper(escape: &[u8], emit: &mut impl FnMut(&[u8])) -> bool {
    let upper = [
        b'%',
        escape[1].to_ascii_uppercase(),
        escape[2].to_ascii_uppercase(),
    ];
    emit(&upper);
    upper != escape
}

/// Watches the current segment of the canonical path for `.` and `..`.
#[derive(Default)]
struct Segment {
    /// 0 = empty, 1 = `.`, 2 = `..`, 3 = anything else.
    dots: u8,
}

impl Segment {
    #[inline]
    fn push(&mut self, byte: u8) -> Result<(), Refusal> {
        match byte {
            b'/' => {
                self.end()?;
                self.dots = 0;
            }
            b'.' => self.dots = (self.dots + 1).min(3),
            _ => self.dots = 3,
        }
        Ok(())
    }

    #[inline]
    fn end(&self) -> Result<(), Refusal> {
        if matches!(self.dots, 1 | 2) {
            Err(Refusal::DotSegment)
        } else {
            Ok(())
        }
    }
}

/// unreserved = ALPHA / DIGIT / "-" / "." / "_" / "~" (RFC 3986 §2.3)
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// A byte that no part of a target may hold: controls, space, `#`, non-ASCII.
pub(crate) const BAD: u8 = 1;
/// A byte that a path may not hold. Browsers leave some of these raw in a query, so there they pass.
pub(crate) const BAD_PATH: u8 = 2;
/// `%`, `.` or a byte to encode: the path must be walked to know its canonical form.
pub(crate) const CHECK: u8 = 4;
/// `?`
pub(crate) const QUERY: u8 = 8;
/// A byte that clients leave raw in a path and that its canonical form has percent-encoded.
const ENCODE: u8 = 16;

pub(crate) static CLASS: [u8; 256] = {
    let mut table = [0; 256];
    let mut b = 0;
    while b < 256 {
        table[b] = match b as u8 {
            0..=b' ' | b'#' | 0x7f..=0xff => BAD | BAD_PATH,
            b'"' | b'<' | b'>' | b'\\' | b'`' | b'{' | b'}' => BAD_PATH,
            b'[' | b']' | b'^' | b'|' => CHECK | ENCODE,
            b'%' | b'.' => CHECK,
            b'?' => QUERY,
            _ => 0,
        };
        b += 1;
    }
    table
};
