//! Seeded mutation fuzzing on stable Rust. `FUZZ_SECONDS` (default 1) bounds the test, and `FUZZ_SEED` repeats a run.
//!
//! Valid traffic is changed in places. The test checks these rules. There is no panic. The split of the received bytes
//! changes neither the events nor the output. Windows and counts are consistent after each step (`client::feed` checks
//! them). Memory is bounded. A key names one open stream, from its head until it is gone.

#[path = "session/client/mod.rs"]
mod client;

use std::collections::HashMap;

use client::{
    CONTINUATION, Client, END_HEADERS, END_STREAM, GET, HEADERS, PADDED, PING, POST, PREFACE,
    PRIORITIZED, PRIORITY, PRIORITY_UPDATE, Seen, Sent, block, data, frame, get, get_with,
    last_data, post, reset, settings, window_update,
};
use h2::{Key, Limits};
use mutants::Random;

fn seeds() -> Vec<Vec<u8>> {
    let big = block(&GET);
    let trailers = block(&[("checksum", "a")]);
    let length = [&POST[..], &[("content-length", "5")]].concat();
    vec![
        [settings(&[(4, 10)]), get(1), get(3), window_update(1, 100)].concat(),
        [
            settings(&[]),
            post(1),
            data(1, b"hello"),
            frame(HEADERS, END_HEADERS | END_STREAM, 1, &trailers),
        ]
        .concat(),
        [
            settings(&[]),
            frame(HEADERS, END_HEADERS, 1, &block(&length)),
            data(1, b"he"),
            get(3),
            last_data(1, b"llo"),
        ]
        .concat(),
        [
            settings(&[]),
            frame(HEADERS, END_STREAM, 1, &big[..3]),
            frame(CONTINUATION, 0, 1, &big[3..9]),
            frame(CONTINUATION, END_HEADERS, 1, &big[9..]),
            reset(1),
            get(3),
        ]
        .concat(),
        [
            settings(&[(5, 20_000), (4, 0)]),
            frame(PING, 0, 0, b"12345678"),
            frame(PRIORITY, 0, 3, &[0, 0, 0, 0, 1]),
            frame(PRIORITY_UPDATE, 0, 0, b"\0\0\0\x05u=1, i"),
            frame(
                HEADERS,
                END_HEADERS | END_STREAM | PADDED | PRIORITIZED,
                1,
                &[&[3, 0, 0, 0, 0, 9], &big[..], &[0; 3]].concat(),
            ),
            get_with(5, &[("cookie", "a"), ("cookie", "b"), ("priority", "u=2")]),
            settings(&[(4, 70_000)]),
            window_update(0, 70_000),
        ]
        .concat(),
        [
            settings(&[]),
            post(1),
            frame(0, PADDED, 1, b"\x04hello\0\0\0\0"),
            frame(0, PADDED | END_STREAM, 1, b"\x02\0\0"),
            post(3),
            data(3, &vec![7; 16_384]),
            last_data(3, b""),
        ]
        .concat(),
        // The fields are indices of the static table, a field that is added to the dynamic table, and its index.
        [
            settings(&[]),
            frame(
                HEADERS,
                END_HEADERS | END_STREAM,
                1,
                b"\x82\x87\x84\x41\x01a\x40\x01x\x01y",
            ),
            frame(
                HEADERS,
                END_HEADERS | END_STREAM,
                3,
                b"\x82\x87\x84\xbf\xbe",
            ),
        ]
        .concat(),
    ]
}

fn make(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = seeds[random.below(seeds.len())].clone();
    for _ in 0..random.below(6) {
        let place = random.place(&bytes);
        random.change(&mut bytes, place, seeds);
    }
    if !random.chance(50) {
        bytes.splice(0..0, PREFACE.iter().copied());
    }
    bytes.truncate(60_000);
    bytes
}

/// Handles the events of a session. It depends on the events alone, so that its behaviour does not depend on the split
/// of the bytes.
struct Application {
    open: HashMap<Key, u32>,
    heads: usize,
}

impl Application {
    fn see(&mut self, client: &mut Client, seen: &Seen) {
        match seen {
            Seen::Head { key, .. } | Seen::Refused { key, .. } => {
                let id = client.session.id(*key);
                // A later event of the same bytes may have ended the stream.
                let before = self.open.insert(*key, id);
                assert!(before.is_none(), "a key of two streams");
                self.heads += 1;
            }
            Seen::Data { key, .. } | Seen::Trailers { key, .. } => {
                assert!(self.open.contains_key(key), "{seen:?}");
            }
            Seen::Gone(key) => assert!(self.open.remove(key).is_some(), "{seen:?}"),
            Seen::NoRoom | Seen::Sendable | Seen::Drained | Seen::Failed(_) => {}
        }
    }
}

#[derive(PartialEq, Eq, Debug)]
struct Run {
    events: Vec<Seen>,
    sent: Vec<Sent>,
}

/// Joins consecutive parts of a body.
fn joined(events: Vec<Seen>) -> Vec<Seen> {
    let mut joined: Vec<Seen> = Vec::new();
    for event in events {
        match (joined.last_mut(), event) {
            (
                Some(Seen::Data {
                    key,
                    bytes,
                    end: end @ false,
                }),
                Seen::Data {
                    key: same,
                    bytes: more,
                    end: last,
                },
            ) if *key == same => {
                bytes.extend(more);
                *end = last;
            }
            // `Sendable` is reported at the end of each receive, so it depends on the split.
            (_, Seen::Sendable) => {}
            (_, event) => joined.push(event),
        }
    }
    joined
}

fn run(bytes: &[u8], cuts: impl IntoIterator<Item = usize>, limits: &Limits) -> Run {
    let mut client = Client::fresh(limits);
    let mut application = Application {
        open: HashMap::new(),
        heads: 0,
    };
    let mut events = Vec::new();
    let mut sent = Vec::new();
    let mut from = 0;
    for to in cuts.into_iter().chain([bytes.len()]) {
        for seen in client.feed(&bytes[from..to]) {
            application.see(&mut client, &seen);
            if let Seen::Trailers { text, .. } = &seen {
                // Octets that are no UTF-8 are one character here.
                assert!(text.chars().count() <= limits.wire.max_trailer_size as usize);
            }
            events.push(seen);
        }
        from = to;
        sent.extend(client.sent());
        assert!(client.session.memory() < 110 * 1_024);
        assert!(client.head.text.len() <= limits.wire.max_header_size as usize);
        assert!(client.kept.len() < 9 + 16_384, "a frame that is not taken");
        if matches!(events.last(), Some(Seen::Failed(_))) {
            break;
        }
    }
    assert!(application.open.len() == client.session.open_streams() || failed(&events));
    // All held bytes return to the windows.
    for key in application.open.into_keys() {
        client.session.wants_to_send(key, true);
        client.session.consumed(key, 3);
        client.session.reserve(key, 70_000);
        client.session.next_to_send();
        client.session.end_sent(key);
        assert!(client.session.is_consistent());
    }
    assert!(client.session.open_streams() == 0 || failed(&events));
    Run {
        events: joined(events),
        sent,
    }
}

fn failed(events: &[Seen]) -> bool {
    matches!(events.last(), Some(Seen::Failed(_)))
}

#[test]
fn frames() {
    let seeds = seeds();
    let usual = Limits::default();
    let mut small = Limits {
        max_streams: 2,
        max_resets: 2,
        stream_window: 100,
        connection_window: 65_535,
        connect_protocol: true,
        ..Limits::default()
    };
    small.wire.max_header_size = 120;
    // Trailers are written to where the head was, and have a limit of their own.
    small.wire.max_trailer_size = 60;
    small.wire.max_headers = 6;
    mutants::run(
        "frames",
        |random| make(random, &seeds),
        |bytes, random| {
            let limits = if random.chance(3) { &small } else { &usual };
            let whole = run(bytes, [], limits);
            assert_eq!(run(bytes, random.cuts(bytes.len()), limits), whole);
            if bytes.len() < 2_000 {
                let pieces = run(bytes, 0..bytes.len(), limits);
                assert_eq!(pieces, whole, "byte by byte");
            }
        },
    );
}
