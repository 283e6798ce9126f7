//! Attacks of clients: the number of frames after which the connection ends, and the number of heads that were given
//! until then. The clock does not move, so that no bucket fills.

mod client;

use client::{
    ACK, CONTINUATION, Client, END_HEADERS, END_STREAM, GET, HEADERS, PING, PRIORITY, SETTINGS,
    Seen, Sent, block, data, frame, get, last_data, post, reset, settings, window_update,
};
use h2::{ErrorCode, Limits};

/// Gives the number of times that `attack` was fed until the session failed, and the number of heads. The output of the
/// session is taken away, as by a client that reads it.
fn rounds(mut client: Client, attack: impl Fn(u32) -> Vec<u8>) -> (u32, usize) {
    let mut heads = 0;
    for round in 0..2_000_000 {
        for seen in client.feed(&attack(round)) {
            match seen {
                Seen::Head { .. } => heads += 1,
                Seen::Failed(code) => {
                    assert_eq!(code, ErrorCode::EnhanceYourCalm);
                    return (round + 1, heads);
                }
                _ => {}
            }
        }
        client.sent();
        assert!(client.session.memory() < 110 * 1_024);
    }
    panic!("no end");
}

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

/// CVE-2024-27316 and others: CONTINUATION floods.
#[test]
fn continuation_ends_after_eight_frames_or_the_size_of_a_head() {
    let mut client = Client::new();
    assert_eq!(client.feed(&frame(HEADERS, 0, 1, b"")), []);
    let attack = |_| frame(CONTINUATION, 0, 1, b"");
    assert_eq!(rounds(client, attack), (9, 0));
    let mut client = Client::new();
    assert_eq!(client.feed(&frame(HEADERS, 0, 1, &vec![0; 10_000])), []);
    let attack = |_| frame(CONTINUATION, 0, 1, &vec![0; 6_385]);
    assert_eq!(rounds(client, attack), (1, 0));
}

#[test]
fn control_frames_end_after_their_budget() {
    let update = |round: u32| {
        let payload = [&(1 + 2 * (round % 90)).to_be_bytes()[..], b"u=1"].concat();
        frame(client::PRIORITY_UPDATE, 0, 0, &payload)
    };
    assert_eq!(
        rounds(Client::new(), |_| frame(PING, 0, 0, &[0; 8])),
        (11, 0)
    );
    assert_eq!(
        rounds(Client::new(), |_| frame(PING, ACK, 0, &[0; 8])),
        (101, 0)
    );
    // One SETTINGS frame came with the preface.
    assert_eq!(rounds(Client::new(), |_| settings(&[])), (10, 0));
    assert_eq!(
        rounds(Client::new(), |_| frame(SETTINGS, ACK, 0, &[])),
        (101, 0)
    );
    let many = vec![(4, 65_535); 2_730];
    assert_eq!(rounds(Client::new(), |_| settings(&many)), (1, 0));
    assert_eq!(
        rounds(Client::new(), |_| frame(PRIORITY, 0, 1, &[0; 5])),
        (201, 0)
    );
    assert_eq!(rounds(Client::new(), update), (201, 0));
    assert_eq!(rounds(Client::new(), |_| frame(0x77, 0, 0, &[])), (201, 0));
    assert_eq!(rounds(Client::new(), |_| window_update(0, 1)), (1_001, 0));
    let go_away = |_| frame(client::GOAWAY, 0, 0, &[0; 8]);
    assert_eq!(rounds(Client::new(), go_away), (101, 0));
}

/// CVE-2019-9518, RUSTSEC-2026-0258: frames without data.
#[test]
fn data_frames_without_much_data_end() {
    let open = || {
        let mut client = Client::new();
        client.open(&post(1));
        client
    };
    assert_eq!(rounds(open(), |_| data(1, b"")), (101, 0));
    // The data is never consumed, so the bucket empties after 512 KiB / 255.
    assert_eq!(rounds(open(), |_| data(1, b"a")), (2_057, 0));
    let padding = |_| frame(0, client::PADDED, 1, &[255; 256]);
    assert_eq!(rounds(open(), padding), (101, 0));
}

/// Small frames whose data the handler consumes are no attack: a stream of short messages.
#[test]
fn small_messages_that_are_taken_go_on() {
    let mut client = Client::new();
    let key = client.open(&post(1));
    for _ in 0..20_000 {
        assert_eq!(client.feed(&data(1, b"12345")).len(), 1);
        client.session.consumed(key, 5);
        client.sent();
    }
}

/// A client may measure its connection with a PING for each DATA that it receives (gRPC).
#[test]
fn a_ping_for_each_data_frame_goes_on() {
    let mut client = Client::new();
    let key = client.open(&get(1));
    for _ in 0..1_000 {
        assert_eq!(client.session.reserve(key, 10), 10);
        let ping = frame(PING, 0, 0, &[0; 8]);
        let updates = [window_update(0, 10), window_update(1, 10)];
        assert_eq!(client.feed(&[&ping[..], &updates.concat()].concat()), []);
        client.sent();
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

/// The HTTP/2 Bomb of June 2026: indices of one large field. The text ends at its limit.
#[test]
fn a_block_that_stands_for_much_more_is_refused_and_costs_no_memory() {
    let value = "v".repeat(3_900);
    for name in ["cookie", "a"] {
        let mut bomb = block(&GET);
        bomb.extend([0x40, name.len() as u8]);
        bomb.extend(name.as_bytes());
        bomb.extend([127, (3_900 - 127) as u8 | 128, ((3_900 - 127) >> 7) as u8]);
        bomb.extend(value.as_bytes());
        // The block has 12,000 indices of the newest field: 47 MB.
        bomb.extend([0xbe; 12_000]);
        let mut client = Client::new();
        let seen = client.feed(&frame(HEADERS, END_HEADERS | END_STREAM, 1, &bomb));
        assert!(
            matches!(&seen[..], [Seen::Refused { status: 431, .. }]),
            "{seen:?}"
        );
        assert!(client.head.text.capacity() <= 3 * 16_384);
        assert!(client.session.memory() < 64 * 1_024);
        // The tables of both sides are still equal.
        let block = [&block(&GET)[..], &[0xbe]].concat();
        let seen = client.feed(&frame(HEADERS, END_HEADERS | END_STREAM, 3, &block));
        assert!(matches!(&seen[..], [Seen::Head { text, .. }] if text.contains(&value)));
    }
}

/// Indices of a field that adds no text count like others: `host` beside an equal `:authority`, and a name that cannot
/// be a trailer and is left out.
#[test]
fn a_block_of_fields_that_are_left_out_is_refused() {
    let name = "v".repeat(3_900);
    let value_of = |value: &str| [&[127, 189, 29], value.as_bytes()].concat();
    assert_eq!(127 + 61 + (29 << 7), name.len());
    // `:authority` is inserted under its name, then `host`, and 8,000 indices of `host` follow.
    let bomb = [
        &block(&GET[..3])[..],
        &[0x41],
        &value_of(&name),
        &[0x66],
        &value_of(&name),
        &[0xbe; 8_000],
    ];
    let mut client = Client::new();
    let seen = client.feed(&frame(HEADERS, END_HEADERS | END_STREAM, 1, &bomb.concat()));
    let is_refused = |seen: &[Seen]| matches!(seen, [Seen::Refused { status, code, .. }] if *status == 400 && *code == "E_HOST_REPEATED");
    assert!(is_refused(&seen), "{seen:?}");
    let small = Limits {
        wire: wire::Limits {
            max_header_size: 7_831,
            ..wire::Limits::default()
        },
        ..Limits::default()
    };
    let once = bomb[..5].concat();
    let mut client = Client::with(&small);
    let seen = client.feed(&frame(HEADERS, END_HEADERS | END_STREAM, 1, &once));
    assert!(
        matches!(
            &seen[..],
            [Seen::Refused {
                code: "E_HEAD_TOO_LARGE",
                ..
            }]
        ),
        "{seen:?}"
    );

    let age = |value: &str, times: usize| {
        let mut fields = block(&[("a", "b")]);
        fields.push(0x55);
        fields.extend(value_of(value));
        fields.extend(vec![0xbe; times - 1]);
        frame(HEADERS, END_HEADERS | END_STREAM, 1, &fields)
    };
    // Twice 3,907 bytes and six more pass; three times do not.
    let mut client = Client::new();
    let key = client.open(&post(1));
    let text = "a: b\r\n".to_string();
    assert_eq!(client.feed(&age(&name, 2)), [Seen::Trailers { key, text }]);
    for trailers in [
        age(&name, 3),
        frame(
            HEADERS,
            END_HEADERS | END_STREAM,
            1,
            &block(&[("age", ""); 33]),
        ),
    ] {
        let mut client = Client::new();
        let key = client.open(&post(1));
        let seen = client.resets(&trailers, 1, ErrorCode::EnhanceYourCalm);
        assert_eq!(seen, [Seen::Gone(key)]);
    }
}

/// As in nginx, an eighth of all bytes must be useful.
#[test]
fn mostly_useless_bytes_end_the_connection() {
    let mut client = Client::new();
    client.open(&post(1));
    let mut bytes = 0_u64;
    let end = loop {
        let round = frame(0x77, 0, 0, &vec![0; 16_384]);
        bytes += round.len() as u64;
        client.now += 1_000;
        if let Some(Seen::Failed(code)) = client.feed(&round).last() {
            break *code;
        }
    };
    assert_eq!(end, ErrorCode::EnhanceYourCalm);
    assert!((8 << 20..9 << 20).contains(&bytes), "{bytes}");
}

/// Uploads that are answered early: each client ends its request once, in its own way.
#[test]
fn a_client_that_learns_late_of_an_early_reply_goes_on() {
    let trailers = |id| frame(HEADERS, END_HEADERS | END_STREAM, id, &block(&[("a", "b")]));
    let no_error = |id| frame(client::RST_STREAM, 0, id, &[0; 4]);
    let ways: [&dyn Fn(u32) -> Vec<u8>; 6] = [
        &reset,
        &no_error,
        &trailers,
        &|id| last_data(id, b""),
        &|id| last_data(id, b"{}"),
        &|id| [trailers(id), reset(id)].concat(),
    ];
    for way in ways {
        let mut client = Client::new();
        for round in 0..5_000 {
            let id = 1 + 2 * round;
            let key = client.open(&post(id));
            client.session.end_sent(key);
            assert_eq!(client.feed(&way(id)), []);
            assert_eq!(client.sent(), [Sent::Reset(id, ErrorCode::NoError)]);
        }
    }
    // The reply is complete, and the client resets the stream before it reads it.
    let mut client = Client::new();
    for round in 0..5_000 {
        let id = 1 + 2 * round;
        let key = client.open(&get(id));
        client.session.end_sent(key);
        assert_eq!(client.feed(&reset(id)), []);
        assert_eq!(client.sent(), []);
    }
    // The end of a refused request arrives before the answer.
    let mut client = Client::new();
    let fields = [&GET[..2], &[(":path", "/#"), GET[3]]].concat();
    for round in 0..5_000 {
        let id = 1 + 2 * round;
        let head = frame(HEADERS, END_HEADERS, id, &block(&fields));
        let seen = client.feed(&[head, last_data(id, b"{}")].concat());
        let [Seen::Refused { key, .. }] = seen[..] else {
            panic!("{seen:?}");
        };
        client.session.end_sent(key);
        assert_eq!(client.sent(), []);
    }
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

/// A client does not read the answers that it asks for.
#[test]
fn what_waits_to_be_sent_is_bounded() {
    let mut client = Client::with(&Limits {
        max_resets: 1_000_000,
        ..Limits::default()
    });
    let mut most = 0;
    for round in 0..100_000 {
        let id = 1 + 2 * round;
        let seen = client.feed(&[get(id), window_update(id, 0)].concat());
        most = most.max(client.session.out().len());
        if let Some(Seen::Failed(code)) = seen.last() {
            assert_eq!(*code, ErrorCode::EnhanceYourCalm);
            assert!((64 * 1_024..66 * 1_024).contains(&most), "{most}");
            return;
        }
    }
    panic!("no end");
}

/// The end of a body in time is no attack, in any number.
#[test]
fn requests_go_on() {
    let mut client = Client::new();
    for round in 0..10_000 {
        let id = 1 + 2 * round;
        let key = client.open(&post(id));
        let seen = client.feed(&last_data(id, b"ab"));
        assert!(matches!(&seen[..], [Seen::Data { end: true, .. }]));
        client.session.end_sent(key);
        client.sent();
    }
}
