//! Feeds frames behind a preface: whole, in pieces of the size in the first byte, and byte by byte. Heads, bodies and
//! sent frames must be the same, and the counts must be consistent.
#![no_main]

use h2::{Event, Limits, RequestHead, Session};
use libfuzzer_sys::fuzz_target;

/// The preface and SETTINGS.
const START: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

fuzz_target!(|data: &[u8]| {
    let Some((&piece, bytes)) = data.split_first() else {
        return;
    };
    let whole = feed(bytes, bytes.len().max(1));
    assert_eq!(feed(bytes, usize::from(piece).max(1)), whole);
    assert_eq!(feed(bytes, 1), whole);
});

/// Gives the texts and the bytes of each body, in the order in which they began, and the bytes that were sent.
fn feed(bytes: &[u8], piece: usize) -> (Vec<(u16, Vec<u8>)>, Vec<u8>) {
    let mut session = Session::new(&Limits::default(), 0);
    let mut head = RequestHead::new();
    let mut seen: Vec<(u16, Vec<u8>)> = Vec::new();
    let mut sent = Vec::new();
    let mut waiting = START.to_vec();
    for input in [&[][..]].into_iter().chain(bytes.chunks(piece)) {
        waiting.extend_from_slice(input);
        loop {
            let (used, event) = session.read(&waiting, true, &mut head, 0);
            assert!(session.is_consistent() && session.memory() < 110 * 1_024);
            match event {
                Event::Head { key, .. } | Event::Trailers { key } => {
                    seen.push((key.0, head.text.clone()));
                }
                Event::Data {
                    key, start, length, ..
                } => {
                    let part = &waiting[start..start + length];
                    match seen.last_mut() {
                        Some(last) if last.0 == key.0 => last.1.extend_from_slice(part),
                        _ => seen.push((key.0, part.to_vec())),
                    }
                }
                Event::Refused { key, status, .. } => seen.push((key.0, vec![status as u8])),
                Event::Gone { key } => seen.push((key.0, b"gone".to_vec())),
                Event::More
                | Event::NoRoom
                | Event::Sendable
                | Event::Drained
                | Event::Failed(_) => {}
            }
            waiting.drain(..used);
            if matches!(event, Event::More | Event::Failed(_)) {
                break;
            }
        }
        sent.append(session.out());
    }
    (seen, sent)
}
