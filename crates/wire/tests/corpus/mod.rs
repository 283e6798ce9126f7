//! The requests of `conformance/wire/corpus` with their verdicts, and the ways to feed them. The files are data for the
//! wire cases in TypeScript too, which send the same bytes to a whole server.
#![allow(dead_code)]

pub mod mutants;

use wire::{Framing, Head, Limits, Progress, Refusal, chunked, parse_head};

const GROUPS: [(&str, &str); 11] = [
    (
        "request-line",
        include_str!("../../../../conformance/wire/corpus/request-line.json"),
    ),
    (
        "target",
        include_str!("../../../../conformance/wire/corpus/target.json"),
    ),
    (
        "path",
        include_str!("../../../../conformance/wire/corpus/path.json"),
    ),
    (
        "host",
        include_str!("../../../../conformance/wire/corpus/host.json"),
    ),
    (
        "header",
        include_str!("../../../../conformance/wire/corpus/header.json"),
    ),
    (
        "content-length",
        include_str!("../../../../conformance/wire/corpus/content-length.json"),
    ),
    (
        "transfer-encoding",
        include_str!("../../../../conformance/wire/corpus/transfer-encoding.json"),
    ),
    (
        "chunked",
        include_str!("../../../../conformance/wire/corpus/chunked.json"),
    ),
    (
        "trailers",
        include_str!("../../../../conformance/wire/corpus/trailers.json"),
    ),
    (
        "expect",
        include_str!("../../../../conformance/wire/corpus/expect.json"),
    ),
    (
        "smuggling",
        include_str!("../../../../conformance/wire/corpus/smuggling.json"),
    ),
];

/// What follows a request that must be refused, so that one that lacks its end is decided as well.
const CANARY: &[u8] = b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";

/// One request of the corpus.
pub struct Case {
    /// Group and id.
    pub name: String,
    pub bytes: Vec<u8>,
    /// The code of its refusal; none when it is accepted.
    pub code: Option<String>,
}

/// Every request of the corpus.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (group, text) in GROUPS {
        let rows: Vec<serde_json::Value> = serde_json::from_str(text).expect(group);
        for row in rows {
            let text = |key: &str| row[key].as_str().map(str::to_owned);
            let name = format!("{group}/{}", text("id").expect("an id"));
            // One character is one octet.
            let octet = |one: char| u8::try_from(u32::from(one)).expect("an octet");
            let mut bytes: Vec<u8> = text("bytes").expect("bytes").chars().map(octet).collect();
            let code = text("code");
            assert_eq!(code.is_some(), row.get("status").is_some(), "{name}");
            if code.is_some() {
                bytes.extend_from_slice(CANARY);
            }
            cases.push(Case { name, bytes, code });
        }
    }
    cases
}

/// The chunked bodies of the corpus, with the code of their refusal.
pub fn bodies() -> Vec<Case> {
    let limits = Limits::default();
    let mut bodies = cases();
    bodies.retain_mut(|case| match feed_head(&case.bytes, [], &limits) {
        Ok(Some(head)) if head.framing == Framing::Chunked => {
            case.bytes.drain(..head.len as usize);
            true
        }
        _ => false,
    });
    bodies
}

/// Reads head and, when it is chunked, body.
pub fn read(bytes: &[u8], limits: &Limits) -> Result<(), Refusal> {
    match feed_head(bytes, [], limits)? {
        Some(head) if head.framing == Framing::Chunked => {
            let body = feed_body(&bytes[head.len as usize..], [], limits);
            assert!(body.done || body.refusal.is_some(), "a body without end");
            body.refusal.map_or(Ok(()), Err)
        }
        Some(_) => Ok(()),
        None => panic!("a head without end"),
    }
}

/// The end of feeding: nothing wrong yet, a head, or a refusal.
pub type Verdict = Result<Option<Head>, Refusal>;

/// Feeds prefixes of `bytes` that end at `cuts`, then all of them, as reads from a socket would.
pub fn feed_head(bytes: &[u8], cuts: impl IntoIterator<Item = usize>, limits: &Limits) -> Verdict {
    let mut head = Head::new();
    let mut scanned = 0;
    for end in cuts.into_iter().chain([bytes.len()]) {
        if parse_head(&bytes[..end], &mut scanned, limits, &mut head)? == Progress::Complete {
            assert_eq!(scanned, 0, "ready for the next head");
            return Ok(Some(head));
        }
    }
    Ok(None)
}

/// What a chunked body came to: its data, the bytes consumed, and whether it is complete.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Body {
    pub data: Vec<u8>,
    /// The trailer section.
    pub trailers: Vec<u8>,
    pub consumed: usize,
    pub done: bool,
    pub refusal: Option<Refusal>,
}

/// Feeds `bytes` in pieces that end at `cuts`.
pub fn feed_body(bytes: &[u8], cuts: impl IntoIterator<Item = usize>, limits: &Limits) -> Body {
    let mut decoder = chunked::Decoder::default();
    let mut body = Body::default();
    for end in cuts.into_iter().chain([bytes.len()]) {
        while body.consumed < end && !body.done {
            let piece = &bytes[body.consumed..end];
            match decoder.step(piece, limits) {
                Ok(step) => {
                    assert!(
                        step.consumed > 0 && step.consumed <= piece.len(),
                        "progress"
                    );
                    if let Some(range) = step.data {
                        assert!(!range.is_empty() && range.end <= step.consumed);
                        body.data.extend_from_slice(&piece[range]);
                    }
                    if let Some(range) = step.trailers {
                        assert!(!range.is_empty() && range.end <= step.consumed);
                        body.trailers.extend_from_slice(&piece[range]);
                    }
                    body.consumed += step.consumed;
                    body.done = step.done;
                }
                Err(refusal) => {
                    return Body {
                        trailers: Vec::new(),
                        consumed: 0,
                        refusal: Some(refusal),
                        ..body
                    };
                }
            }
        }
    }
    assert_eq!(decoder.is_done(), body.done);
    body
}
