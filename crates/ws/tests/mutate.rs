//! Seeded mutation fuzzing on stable Rust. `FUZZ_SECONDS` (default 1) bounds each test, `FUZZ_SEED` repeats a run.
//!
//! Holds: no panic; the cut of the receives changes nothing; memory stays within the limit (`client::feed` looks after each
//! step); what is received is what a second, naive reading of the same bytes gives; what is compressed comes back.

#[path = "messages/client/mod.rs"]
mod client;
mod streams;

use client::{CLOSE, CONTINUATION, Event, FIN, PING, PONG, TEXT, feed, feed_with, frame};
use streams::{run, seeds};
use ws::{Deflater, Inflater, Limits};

const USUAL: Limits = Limits {
    message: 100_000,
    fragments: 1_000,
};
const SMALL: Limits = Limits {
    message: 200,
    fragments: 3,
};

#[test]
fn frames() {
    run("frames", &seeds(), |bytes, random| {
        let limits = if random.below(3) == 0 { SMALL } else { USUAL };
        let whole = feed(bytes, [], &limits);
        assert_eq!(feed(bytes, random.cuts(bytes.len()), &limits), whole);
        if bytes.len() < 3_000 {
            let pieces = feed(bytes, 0..bytes.len(), &limits);
            assert_eq!(pieces, whole, "byte by byte");
        }
        let naive = naive(bytes);
        assert_eq!(whole.events, naive[..whole.events.len()]);
        if whole.fault.is_none() {
            assert_eq!(whole.events, naive);
        }
    });
}

#[test]
fn compressed_frames() {
    let mut inflater = Inflater::new();
    run("compressed frames", &seeds(), |bytes, random| {
        let limits = if random.below(3) == 0 { SMALL } else { USUAL };
        let mut feed =
            |cuts: &[usize]| feed_with(bytes, cuts.iter().copied(), &limits, Some(&mut inflater));
        let whole = feed(&[]);
        assert_eq!(feed(&random.cuts(bytes.len())), whole);
        if bytes.len() < 3_000 {
            let all: Vec<usize> = (0..bytes.len()).collect();
            assert_eq!(feed(&all), whole, "byte by byte");
        }
    });
}

/// Any bytes as DEFLATE: a message or a fault, and a message that was compressed comes back.
#[test]
fn deflate() {
    let (mut deflater, mut inflater) = (Deflater::new(), Inflater::new());
    let compressed = FIN | 0x40 | 0x2;
    run("deflate", &seeds(), |bytes, _| {
        let any = frame(compressed, bytes);
        let whole = feed_with(&any, [], &USUAL, Some(&mut inflater));
        assert!(whole.events.is_empty() == whole.fault.is_some());

        let mut sent = Vec::new();
        deflater.deflate(bytes, &mut sent);
        let limits = Limits {
            message: bytes.len(),
            fragments: 1,
        };
        let received = frame(compressed, &sent);
        let received = feed_with(&received, [], &limits, Some(&mut inflater));
        assert_eq!(received.fault, None);
        assert_eq!(received.events, [Event::Binary(bytes.to_vec())]);
    });
}

/// Reads frames that are right in the simplest way, and stops where one is wrong or incomplete.
fn naive(bytes: &[u8]) -> Vec<Event> {
    let mut events = Vec::new();
    let mut open: Option<(bool, Vec<u8>)> = None;
    let mut rest = bytes;
    while let Some((first, payload, after)) = naive_frame(rest) {
        rest = after;
        let (fin, opcode) = (first & FIN != 0, first & 0x0f);
        match opcode {
            PING => events.push(Event::Ping(payload)),
            PONG => events.push(Event::Pong),
            CLOSE => {
                let (code, reason) = match payload.split_at_checked(2) {
                    Some((code, reason)) => (u16::from_be_bytes([code[0], code[1]]), reason),
                    None => (1005, &[][..]),
                };
                events
                    .extend(str::from_utf8(reason).map(|reason| Event::Close(code, reason.into())));
                break;
            }
            CONTINUATION => match &mut open {
                Some((_, data)) => data.extend(payload),
                None => break,
            },
            _ => open = Some((opcode == TEXT, payload)),
        }
        if fin && opcode < CLOSE {
            match open.take() {
                Some((false, data)) => events.push(Event::Binary(data)),
                Some((true, data)) => match String::from_utf8(data) {
                    Ok(text) => events.push(Event::Text(text)),
                    Err(_) => break,
                },
                None => break,
            }
        }
    }
    events
}

/// The first byte of a frame, its payload, and what follows.
fn naive_frame(bytes: &[u8]) -> Option<(u8, Vec<u8>, &[u8])> {
    let (head, rest) = bytes.split_at_checked(2)?;
    let wide = match head[1] & 0x7f {
        126 => 2,
        127 => 8,
        _ => 0,
    };
    let (length, rest) = rest.split_at_checked(wide)?;
    let length = match wide {
        0 => u64::from(head[1] & 0x7f),
        _ => length
            .iter()
            .fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
    };
    let (mask, rest) = rest.split_at_checked(4)?;
    let (payload, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
    let plain = payload
        .iter()
        .enumerate()
        .map(|(at, byte)| byte ^ mask[at % 4]);
    Some((head[0], plain.collect(), rest))
}
