//! Writes the heads of replies as field blocks (RFC 9113 §8.3.2): status, Date, Content-Type and length, then the
//! fields of the record. Connection, Transfer-Encoding and Upgrade do not exist in HTTP/2 (§8.2.2).

use h2::hpack::encode;
use ring::HeaderBlock;
use ring::layout::CONTENT_TYPES;
use wire::reply::{Date, forbidden_name, valid_name, valid_value, write_decimal};

use crate::http1::reply_head::{BodyFraming, Invalid, PROBLEM, ReplyHead};
use crate::trailers::sendable;

/// Indexes of names in the static table (RFC 7541, Appendix A).
const CONTENT_LENGTH: u8 = 28;
const CONTENT_TYPE: u8 = 31;
const DATE: u8 = 33;
const RETRY_AFTER: u8 = 53;

/// The first fields of most replies, rendered once a second: status 200, Date and Content-Type.
pub struct Blocks {
    second: u64,
    date: [u8; 29],
    ok: [Vec<u8>; CONTENT_TYPES.len()],
}

impl Blocks {
    pub fn new(second: u64) -> Self {
        let mut blocks = Self {
            second: u64::MAX,
            date: [0; 29],
            ok: Default::default(),
        };
        blocks.refresh(second);
        blocks
    }

    pub fn refresh(&mut self, second: u64) {
        if self.second == second {
            return;
        }
        self.second = second;
        self.date = Date::render(second);
        for (id, block) in self.ok.iter_mut().enumerate() {
            block.clear();
            write_common(block, 200, id, &self.date);
        }
    }

    /// Writes the head of a reply to `out`, which is cleared first.
    pub fn write(&self, out: &mut Vec<u8>, head: ReplyHead) -> Result<(), Invalid> {
        out.clear();
        let content_type = usize::from(head.content_type);
        if content_type >= CONTENT_TYPES.len() || !(200..600).contains(&head.status) {
            return Err(Invalid);
        }
        if head.status == 200 {
            out.extend_from_slice(&self.ok[content_type]);
        } else {
            write_common(out, head.status, content_type, &self.date);
        }
        // A 204 has no Content-Length (RFC 9110 §8.6).
        if let BodyFraming::Length(length) = head.framing
            && head.status != 204
            && head.status != 304
        {
            write_length(out, length);
        }
        write_fields(out, head.headers, content_type != 0)
    }

    /// Writes the head of a problem of the engine to `out`, which is cleared first.
    pub fn write_problem(&self, out: &mut Vec<u8>, status: u16, length: usize) {
        out.clear();
        write_common(out, status, PROBLEM, &self.date);
        write_length(out, length as u64);
        if status == 503 {
            encode::indexed_name(out, RETRY_AFTER, b"1");
        }
    }
}

/// Writes the head of an interim reply (102 to 199) to `out`, which is cleared first.
pub fn write_interim(out: &mut Vec<u8>, status: u16, headers: HeaderBlock) -> Result<(), Invalid> {
    out.clear();
    // Only the engine sends 100, and HTTP/2 has no 101 (RFC 9113 §8.6).
    if !(102..200).contains(&status) {
        return Err(Invalid);
    }
    encode::status(out, status);
    write_fields(out, headers, false)
}

/// Writes the head of a reply that accepts a WebSocket (RFC 8441 §5) to `out`, which is cleared first.
pub fn write_acceptance(
    out: &mut Vec<u8>,
    extensions: Option<&str>,
    headers: HeaderBlock,
) -> Result<(), Invalid> {
    out.clear();
    encode::status(out, 200);
    if let Some(extensions) = extensions {
        encode::field(out, b"sec-websocket-extensions", extensions.as_bytes());
    }
    write_fields(out, headers, false)
}

/// Writes the trailer fields of a reply.
pub fn write_trailers(trailers: HeaderBlock) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in sendable(trailers) {
        encode::field(&mut block, name, value.trim_ascii());
    }
    block
}

/// Adds the fields of a block. `typed`: Content-Type was written, and must not be among them.
fn write_fields(out: &mut Vec<u8>, headers: HeaderBlock, typed: bool) -> Result<(), Invalid> {
    for pair in headers {
        let (name, value) = pair.ok_or(Invalid)?;
        if typed && name.eq_ignore_ascii_case(b"content-type") {
            return Err(Invalid);
        }
        if !valid_name(name) || forbidden_name(name) || !valid_value(value) {
            return Err(Invalid);
        }
        // A value with white space at either end makes the reply malformed (RFC 9113 §8.2.1).
        encode::field(out, name, value.trim_ascii());
    }
    Ok(())
}

fn write_common(out: &mut Vec<u8>, status: u16, content_type: usize, date: &[u8; 29]) {
    encode::status(out, status);
    encode::indexed_name(out, DATE, date);
    if content_type != 0 {
        encode::indexed_name(out, CONTENT_TYPE, CONTENT_TYPES[content_type].as_bytes());
    }
}

fn write_length(out: &mut Vec<u8>, length: u64) {
    // The field is a literal without indexing (RFC 7541 §6.2.2). The index of its name, 28, is 15 in the prefix and 13.
    out.extend([0x0f, CONTENT_LENGTH - 0x0f, 0]);
    let digits = out.len();
    write_decimal(out, length);
    out[digits - 1] = (out.len() - digits) as u8;
}
