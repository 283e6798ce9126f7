//! Decodes with the `h2` crate. It takes blocks in frames, and sorts and checks their fields, so `agrees` compares the
//! results.

use std::io::Cursor;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use h2_oracle::Codec;
use h2_oracle::frame::{Frame, Headers};

use super::{Error, Fields, has_three_size_updates};

pub struct Rival {
    codec: Codec<Cursor<Vec<u8>>, &'static [u8]>,
}

#[derive(Debug)]
pub enum Verdict {
    /// The fields, sorted by name. Values of one name keep their order.
    Fields(Fields),
    /// The fields make no valid message. The table is still equal.
    Malformed,
    Error,
}

impl Rival {
    pub fn new() -> Self {
        let mut codec = Codec::new(Cursor::default());
        codec.set_max_recv_frame_size((1 << 24) - 1);
        Self { codec }
    }

    pub fn decode(&mut self, block: &[u8]) -> Verdict {
        let io = self.codec.get_mut();
        io.set_position(0);
        let frame = io.get_mut();
        frame.clear();
        frame.extend(&(block.len() as u32).to_be_bytes()[1..]);
        // The frame is HEADERS with END_HEADERS and END_STREAM on stream 1.
        frame.extend([0x1, 0x5, 0, 0, 0, 1]);
        frame.extend(block);
        let mut context = Context::from_waker(Waker::noop());
        match Pin::new(&mut self.codec).poll_next(&mut context) {
            Poll::Ready(Some(Ok(Frame::Headers(headers)))) => Verdict::Fields(sorted(headers)),
            Poll::Ready(Some(Err(h2_oracle::proto::Error::Reset(..)))) => Verdict::Malformed,
            Poll::Ready(Some(Err(h2_oracle::proto::Error::GoAway(..)))) => Verdict::Error,
            other => panic!("{other:?}"),
        }
    }
}

/// Returns true when the verdict of `h2` is the same, except for intended differences: it refuses fields that HTTP/2
/// does not allow, and it allows more than two size updates.
pub fn agrees(block: &[u8], ours: &Result<Fields, Error>, verdict: &Verdict) -> bool {
    let Ok(fields) = ours else {
        return matches!(verdict, Verdict::Error) || has_three_size_updates(block);
    };
    if fields.iter().any(|(name, value)| !is_allowed(name, value)) {
        return matches!(verdict, Verdict::Error);
    }
    match verdict {
        Verdict::Error => false,
        Verdict::Malformed => is_malformed(fields),
        Verdict::Fields(theirs) => {
            let mut ours = fields.clone();
            ours.sort_by(|a, b| a.0.cmp(&b.0));
            !is_malformed(fields) && ours == *theirs
        }
    }
}

#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the types have no name here"
)]
fn sorted(headers: Headers) -> Fields {
    let (pseudo, map) = headers.into_parts();
    let text = |name: &str, value: Option<&str>| {
        value.map(|value| (format!(":{name}").into_bytes(), value.as_bytes().to_vec()))
    };
    let named = [
        text("method", pseudo.method.as_ref().map(|it| it.as_str())),
        text("scheme", pseudo.scheme.as_deref()),
        text("authority", pseudo.authority.as_deref()),
        text("path", pseudo.path.as_deref()),
        text("protocol", pseudo.protocol.as_ref().map(|it| it.as_str())),
        text("status", pseudo.status.as_ref().map(|it| it.as_str())),
    ];
    let others = map
        .iter()
        .map(|(name, value)| (name.as_str().into(), value.as_bytes().to_vec()));
    let mut fields: Fields = named.into_iter().flatten().chain(others).collect();
    fields.sort_by(|a, b| a.0.cmp(&b.0));
    fields
}

/// Returns true when `h2` accepts the field in HTTP/2.
fn is_allowed(name: &[u8], value: &[u8]) -> bool {
    let is_token = |text: &[u8]| {
        let mut bytes = text.iter();
        let others = b"!#$%&'*+-.^_`|~";
        !text.is_empty() && bytes.all(|byte| byte.is_ascii_alphanumeric() || others.contains(byte))
    };
    // A quotation mark is not allowed in a token, but `h2` allows it in a name.
    let is_name = |text: &[u8]| {
        let marked = text
            .iter()
            .map(|byte| if *byte == b'"' { b'-' } else { *byte });
        is_token(&marked.collect::<Vec<u8>>()) && !text.iter().any(u8::is_ascii_uppercase)
    };
    match name {
        b":authority" | b":scheme" | b":path" | b":protocol" => str::from_utf8(value).is_ok(),
        b":method" => is_token(value),
        b":status" => value.len() == 3 && value[0] != b'0' && value.iter().all(u8::is_ascii_digit),
        _ => {
            let is_text = |byte: &u8| *byte == b'\t' || *byte >= 0x20 && *byte != 0x7f;
            is_name(name) && value.iter().all(is_text)
        }
    }
}

fn is_malformed(fields: &Fields) -> bool {
    let mut seen: Vec<&[u8]> = Vec::new();
    let mut is_regular = false;
    fields.iter().any(|(name, value)| match &name[..] {
        [b':', ..] => {
            let is_again = is_regular || seen.contains(&&name[..]);
            seen.push(name);
            is_again
        }
        b"connection" | b"transfer-encoding" | b"upgrade" | b"keep-alive" | b"proxy-connection" => {
            true
        }
        b"te" if value != b"trailers" => true,
        _ => {
            is_regular = true;
            false
        }
    })
}
