//! A pattern as the user writes it → segments of canonical text and parameters.

use crate::error::Reason;
use crate::params::MAX_PARAMS;

/// Bytes of a pattern; half of the default limit of a request's URL.
pub const MAX_PATTERN: usize = 4096;

/// Segments of a pattern. Bounds how deep a lookup recurses.
pub const MAX_SEGMENTS: usize = 256;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    Text(String),
    /// A parameter and the static text that ends its segment, empty for a plain one.
    Param {
        suffix: String,
    },
    Wildcard,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    segments: Vec<Segment>,
    /// How many of the last segments may be absent.
    optional: usize,
}

impl Pattern {
    pub(crate) fn parse(pattern: &str) -> Result<Self, Reason> {
        let rest = pattern.strip_prefix('/').ok_or(Reason::NoLeadingSlash)?;
        if pattern.len() > MAX_PATTERN {
            return Err(Reason::TooLong);
        }
        let mut names: Vec<&str> = Vec::new();
        let mut parsed = Self {
            segments: Vec::new(),
            optional: 0,
        };
        for text in rest.split('/') {
            if parsed.segments.last() == Some(&Segment::Wildcard) {
                return Err(Reason::WildcardNotLast);
            }
            if parsed.segments.len() == MAX_SEGMENTS {
                return Err(Reason::TooManySegments);
            }
            let segment = parsed.segment(text, &mut names)?;
            parsed.segments.push(segment);
        }
        Ok(parsed)
    }

    fn segment<'a>(&mut self, text: &'a str, names: &mut Vec<&'a str>) -> Result<Segment, Reason> {
        if let Some(name) = text.strip_prefix('*') {
            self.required()?;
            declare(if name.is_empty() { "*" } else { checked(name)? }, names)?;
            return Ok(Segment::Wildcard);
        }
        let Some(param) = text.strip_prefix(':').filter(|rest| !rest.starts_with(':')) else {
            self.required()?;
            let text = canonical(text)?;
            if text == "." || text == ".." {
                return Err(Reason::DotSegment);
            }
            return Ok(Segment::Text(text));
        };
        let end = param.find(|c: char| !is_name(c)).unwrap_or(param.len());
        let (name, rest) = param.split_at(end);
        declare(checked(name)?, names)?;
        match rest.chars().next() {
            Some('?') if rest.len() == 1 => self.optional += 1,
            Some('.' | '-') if rest.ends_with('?') => return Err(Reason::OptionalWithSuffix),
            None | Some('.' | '-') => self.required()?,
            Some(other) => return Err(Reason::BadSuffix(other)),
        }
        let suffix = canonical(rest.strip_suffix('?').unwrap_or(rest))?;
        Ok(Segment::Param { suffix })
    }

    fn required(&self) -> Result<(), Reason> {
        if self.optional > 0 {
            return Err(Reason::OptionalNotLast);
        }
        Ok(())
    }

    /// The same pattern for comparing without case: static text in lower case.
    pub(crate) fn lowercase(mut self) -> Self {
        for segment in &mut self.segments {
            match segment {
                Segment::Text(text) | Segment::Param { suffix: text } => {
                    text.make_ascii_lowercase();
                }
                Segment::Wildcard => {}
            }
        }
        self
    }

    /// The patterns without optional segments that this one stands for, the shortest first.
    pub(crate) fn expand(&self) -> impl Iterator<Item = &[Segment]> {
        let all = self.segments.len();
        (all - self.optional..=all).map(|len| &self.segments[..len])
    }
}

/// One string per set of paths: two patterns with the same shape match the same. No canonical text holds a brace.
pub(crate) fn shape(segments: &[Segment]) -> String {
    let mut shape = String::new();
    for segment in segments {
        shape.push('/');
        match segment {
            Segment::Text(text) => shape.push_str(text),
            Segment::Param { suffix } => {
                shape.push_str("{}");
                shape.push_str(suffix);
            }
            Segment::Wildcard => shape.push_str("{*}"),
        }
    }
    if shape.is_empty() {
        shape.push('/');
    }
    shape
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// `__proto__` is refused because a name becomes a key of an object.
fn checked(name: &str) -> Result<&str, Reason> {
    let starts_well = name.starts_with(|c: char| is_name(c) && !c.is_ascii_digit());
    if starts_well && name.chars().all(is_name) && name != "__proto__" {
        return Ok(name);
    }
    Err(Reason::BadName(name.to_owned()))
}

fn declare<'a>(name: &'a str, names: &mut Vec<&'a str>) -> Result<(), Reason> {
    if names.contains(&name) {
        return Err(Reason::DuplicateName(name.to_owned()));
    }
    if names.len() == MAX_PARAMS {
        return Err(Reason::TooManyParameters);
    }
    names.push(name);
    Ok(())
}

/// Static text as the canonical path spells it: unreserved characters decoded, the rest escaped in upper-case hex
/// (RFC 3986 §6.2.2), text outside ASCII, `[`, `]`, `^` and `|` percent-encoded.
fn canonical(text: &str) -> Result<String, Reason> {
    let mut out = String::with_capacity(text.len());
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        rest = after;
        match c {
            '%' => {
                let digits = after.get(..2).ok_or(Reason::BadEscape)?;
                if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
                    return Err(Reason::BadEscape);
                }
                let byte = u8::from_str_radix(digits, 16).map_err(|_| Reason::BadEscape)?;
                decoded.push(byte);
                if is_unreserved(byte) {
                    out.push(char::from(byte));
                } else {
                    escape(byte, &mut out);
                }
                rest = &after[2..];
            }
            ':' if after.starts_with(':') => {
                decoded.push(b':');
                out.push(':');
                rest = &after[1..];
            }
            ':' | '*' => return Err(Reason::NotWholeSegment(c)),
            '\0'..=' ' | '\x7f' | '"' | '#' | '<' | '>' | '?' | '\\' | '`' | '{' | '}' => {
                return Err(Reason::BadCharacter(c));
            }
            '[' | ']' | '^' | '|' => {
                decoded.push(c as u8);
                escape(c as u8, &mut out);
            }
            _ => {
                let mut bytes = [0; 4];
                for &byte in c.encode_utf8(&mut bytes).as_bytes() {
                    decoded.push(byte);
                    if byte.is_ascii() {
                        out.push(c);
                    } else {
                        escape(byte, &mut out);
                    }
                }
            }
        }
    }
    if decoded.contains(&0) || std::str::from_utf8(&decoded).is_err() {
        return Err(Reason::BadText);
    }
    Ok(out)
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

fn escape(byte: u8, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    out.push('%');
    out.push(char::from(HEX[usize::from(byte >> 4)]));
    out.push(char::from(HEX[usize::from(byte & 15)]));
}
