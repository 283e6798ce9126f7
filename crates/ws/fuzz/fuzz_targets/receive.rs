//! Frames whole, in pieces of the size the first byte says, and byte by byte: the same messages, the same fault.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ws::{Fault, Inflater, Limits, Receiver, Step};

const LIMITS: Limits = Limits {
    message: 1_000,
    fragments: 8,
};

fuzz_target!(|data: &[u8]| {
    let Some((&piece, bytes)) = data.split_first() else {
        return;
    };
    for deflate in [false, true] {
        let whole = feed(bytes, bytes.len().max(1), deflate);
        assert_eq!(feed(bytes, usize::from(piece).max(1), deflate), whole);
        assert_eq!(feed(bytes, 1, deflate), whole);
    }
});

/// What was received, each as its kind or code and its bytes.
type Events = Vec<(u16, Vec<u8>)>;

fn feed(bytes: &[u8], piece: usize, deflate: bool) -> (Events, Option<Fault>) {
    let mut inflater = deflate.then(Inflater::new);
    let mut receiver = Receiver::new(deflate);
    let mut events = Vec::new();
    let mut waiting = Vec::new();
    for input in bytes.chunks(piece) {
        waiting.extend_from_slice(input);
        loop {
            let may_end = receiver.may_end(&waiting);
            let step = match receiver.next(&mut waiting, &LIMITS, inflater.as_mut()) {
                Ok(step) => step,
                Err(fault) => return (events, Some(fault)),
            };
            assert!(receiver.held() < 1_200);
            let used = match step {
                Step::Partial { used } => {
                    waiting.drain(..used);
                    assert!(waiting.len() <= 131);
                    break;
                }
                Step::Fragments { used } => used,
                Step::Message { used, text, at, .. } => {
                    events.push((u16::from(text), waiting[at].to_vec()));
                    used
                }
                Step::Gathered { used, text, data } => {
                    assert!(!text || str::from_utf8(&data).is_ok());
                    events.push((u16::from(text), data));
                    used
                }
                Step::Ping { used, at } => {
                    events.push((2, waiting[at].to_vec()));
                    used
                }
                Step::Pong { used } => {
                    events.push((3, Vec::new()));
                    used
                }
                Step::Close { code, reason, .. } => {
                    assert!(may_end);
                    assert!(str::from_utf8(&waiting[reason.clone()]).is_ok());
                    events.push((code, waiting[reason].to_vec()));
                    return (events, None);
                }
            };
            waiting.drain(..used);
        }
    }
    (events, None)
}
