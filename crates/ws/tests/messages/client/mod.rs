//! Frames as clients write them, right and wrong, and what a receiver makes of them however they are cut.
#![allow(dead_code, reason = "each test file uses a part")]

use ws::{Fault, Inflater, Limits, Receiver, Step};

pub const FIN: u8 = 0x80;
pub const CONTINUATION: u8 = 0x0;
pub const TEXT: u8 = 0x1;
pub const BINARY: u8 = 0x2;
pub const CLOSE: u8 = 0x8;
pub const PING: u8 = 0x9;
pub const PONG: u8 = 0xa;

pub const LIMITS: Limits = Limits {
    message: 100_000,
    fragments: 100,
};

const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

/// A masked frame with its length in the fewest bytes. `first` is the first byte: FIN, reserved bits and opcode.
pub fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let length = payload.len();
    let mut bytes = vec![first];
    match length {
        0..=125 => bytes.push(0x80 | length as u8),
        126..=0xffff => {
            bytes.push(0xfe);
            bytes.extend((length as u16).to_be_bytes());
        }
        _ => {
            bytes.push(0xff);
            bytes.extend((length as u64).to_be_bytes());
        }
    }
    bytes.extend(MASK);
    bytes.extend(payload.iter().zip(MASK.iter().cycle()).map(|(a, b)| a ^ b));
    bytes
}

/// A message or control frame, without what depends on the cuts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    Text(String),
    Binary(Vec<u8>),
    Ping(Vec<u8>),
    Pong,
    Close(u16, String),
}

/// All that came, and the fault that ended it.
#[derive(PartialEq, Eq, Debug, Default)]
pub struct Verdict {
    pub events: Vec<Event>,
    pub fault: Option<Fault>,
}

/// Feeds `bytes` in receives that end at `cuts` and at the end, as an engine does.
pub fn feed(bytes: &[u8], cuts: impl IntoIterator<Item = usize>, limits: &Limits) -> Verdict {
    feed_with(bytes, cuts, limits, None)
}

/// The same where an `inflater` says that permessage-deflate was negotiated.
pub fn feed_with(
    bytes: &[u8],
    cuts: impl IntoIterator<Item = usize>,
    limits: &Limits,
    mut inflater: Option<&mut Inflater>,
) -> Verdict {
    let mut receiver = Receiver::new(inflater.is_some());
    let mut verdict = Verdict::default();
    let mut waiting = Vec::new();
    let mut from = 0;
    for to in cuts.into_iter().chain([bytes.len()]) {
        waiting.extend_from_slice(&bytes[from..to]);
        from = to;
        loop {
            let may_end = receiver.may_end(&waiting);
            let step = match receiver.next(&mut waiting, limits, inflater.as_deref_mut()) {
                Ok(step) => step,
                Err(fault) => {
                    verdict.fault = Some(fault);
                    return verdict;
                }
            };
            assert!(receiver.held() <= limits.message + limits.message / 7 + 32);
            if let Step::Gathered { data, .. } = &step {
                assert!(data.capacity() <= limits.message + 1, "{}", data.capacity());
            }
            let (used, event, done) = event(step, &waiting);
            let ended = matches!(event, Some(Event::Close(..)));
            assert!(may_end || !ended, "a close frame is foreseen");
            verdict.events.extend(event);
            waiting.drain(..used);
            if ended {
                return verdict;
            }
            if done {
                assert!(waiting.len() <= 131, "at most a control frame waits");
                break;
            }
        }
    }
    verdict
}

fn event(step: Step, input: &[u8]) -> (usize, Option<Event>, bool) {
    let data = |text, data: Vec<u8>| {
        if text {
            Event::Text(String::from_utf8(data).expect("UTF-8"))
        } else {
            Event::Binary(data)
        }
    };
    match step {
        Step::Partial { used } => (used, None, true),
        Step::Fragments { used } => (used, None, false),
        Step::Message {
            used,
            text,
            ascii,
            at,
        } => {
            assert_eq!(ascii, text && input[at.clone()].is_ascii());
            (used, Some(data(text, input[at].to_vec())), false)
        }
        Step::Gathered {
            used,
            text,
            data: bytes,
        } => (used, Some(data(text, bytes)), false),
        Step::Ping { used, at } => (used, Some(Event::Ping(input[at].to_vec())), false),
        Step::Pong { used } => (used, Some(Event::Pong), false),
        Step::Close { used, code, reason } => {
            let reason = String::from_utf8(input[reason].to_vec()).expect("UTF-8");
            (used, Some(Event::Close(code, reason)), false)
        }
    }
}
