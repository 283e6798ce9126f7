//! Streams that are opened and reset.

use super::rounds;
use crate::client::{
    Client, END_HEADERS, END_STREAM, GET, HEADERS, PRIORITY, Seen, block, data, frame, get,
    last_data, post, reset, window_update,
};
use h2::{ErrorCode, Limits};

/// CVE-2023-44487: rapid reset.
#[test]
fn rapid_reset_ends_after_the_burst() {
    let attack = |round| [get(1 + 2 * round), reset(1 + 2 * round)].concat();
    assert_eq!(rounds(Client::new(), attack), (201, 201));
}

#[test]
fn resets_come_back_with_time() {
    let mut client = Client::new();
    for round in 0..10_000 {
        let seen = client.feed(&[get(1 + 2 * round), reset(1 + 2 * round)].concat());
        assert!(matches!(&seen[..], [Seen::Head { .. }, Seen::Gone(_)]));
        client.sent();
        client.now += 31;
    }
}

/// CVE-2025-8671: the client makes the server send the resets.
#[test]
fn made_you_reset_ends_after_the_same_burst() {
    type Attack = fn(u32) -> Vec<u8>;
    let attacks: [(Attack, usize); 7] = [
        (|id| [get(id), window_update(id, 0)].concat(), 201),
        (|id| [get(id), window_update(id, u32::MAX)].concat(), 201),
        (|id| [get(id), data(id, b"a")].concat(), 201),
        (|id| [get(id), get(id)].concat(), 201),
        (
            |id| [get(id), frame(PRIORITY, 0, id, &[0; 6])].concat(),
            200,
        ),
        (
            |id| {
                let own = [&id.to_be_bytes()[..], &[9]].concat();
                [get(id), frame(PRIORITY, 0, id, &own)].concat()
            },
            200,
        ),
        // Malformed requests reach no handler.
        (
            |id| {
                let fields = [&GET[..], &[("A", "b")]].concat();
                frame(HEADERS, END_HEADERS | END_STREAM, id, &block(&fields))
            },
            0,
        ),
    ];
    for (attack, expected) in attacks {
        let (rounds, heads) = rounds(Client::new(), |round| attack(1 + 2 * round));
        assert!(
            rounds <= 201 && heads.abs_diff(expected) <= 1,
            "{rounds} {heads}"
        );
    }
}

#[test]
fn streams_past_the_most_end_the_connection() {
    let mut client = Client::new();
    for id in 0..100 {
        client.open(&get(1 + 2 * id));
    }
    assert_eq!(rounds(client, |round| get(201 + 2 * round)), (101, 0));
}

#[test]
fn what_ends_a_request_again_costs() {
    let early = |max_streams| {
        let mut client = Client::with(&Limits {
            max_streams,
            ..Limits::default()
        });
        for id in 0..=256 {
            let key = client.open(&post(1 + 2 * id));
            client.session.end_sent(key);
        }
        client.sent();
        client
    };
    assert_eq!(rounds(early(100), |_| reset(513)), (102, 0));
    // The stream is forgotten.
    assert_eq!(rounds(early(100), |_| reset(1)), (101, 0));
    assert_eq!(rounds(early(200), |_| reset(1)), (102, 0));
    let trailers = |id| frame(HEADERS, END_HEADERS | END_STREAM, id, &block(&[("a", "b")]));
    let open = |id| frame(HEADERS, END_HEADERS, id, &block(&[("a", "b")]));
    assert_eq!(rounds(early(100), |_| open(513)), (101, 0));
    assert_eq!(early(200).feed(&trailers(1)), []);
    early(100).fails(&trailers(1), ErrorCode::ProtocolError);
    let mut client = early(100);
    assert_eq!(client.feed(&trailers(513)), []);
    client.fails(&trailers(513), ErrorCode::StreamClosed);
    // The bucket empties after 512 KiB / 256.
    assert_eq!(rounds(early(100), |_| data(513, b"")), (2_049, 0));
    let mut client = early(100);
    assert_eq!(client.feed(&last_data(513, b"a")), []);
    client.resets(&last_data(513, b"a"), 513, ErrorCode::StreamClosed);
}
