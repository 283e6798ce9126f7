//! Bodies and their windows (RFC 9113 §5.2, §6.1, §6.9, §8.1.1), and the order of sending (RFC 9218).

mod client;

use client::{
    Client, END_HEADERS, END_STREAM, HEADERS, PADDED, POST, PRIORITY_UPDATE, Seen, Sent, block,
    data, frame, get, get_with, last_data, post, reset, settings, window_update,
};
use h2::{ErrorCode, Key, Limits};

const CONNECTION: u32 = 1 << 20;

#[test]
fn a_body_is_given_in_the_parts_in_which_it_comes() {
    let mut client = Client::new();
    let key = client.open(&post(1));
    let bytes = last_data(1, b"hello");
    let part = |bytes: &[u8], end| Seen::Data {
        key,
        bytes: bytes.to_vec(),
        end,
    };
    assert_eq!(client.feed(&bytes[..11]), [part(b"he", false)]);
    assert_eq!(client.feed(&bytes[11..]), [part(b"llo", true)]);
    let key = client.open(&post(3));
    assert_eq!(client.feed(&data(3, b"a")).len(), 1);
    let end = Seen::Data {
        key,
        bytes: Vec::new(),
        end: true,
    };
    assert_eq!(client.feed(&last_data(3, b"")), [end]);
}

/// RFC 9113 §8.1.1.
#[test]
fn a_body_of_another_length_than_declared_is_malformed() {
    let declared = |flags| {
        let fields = [&POST[..], &[("content-length", "5")]].concat();
        frame(HEADERS, END_HEADERS | flags, 1, &block(&fields))
    };
    let mut client = Client::new();
    client.resets(&declared(END_STREAM), 1, ErrorCode::ProtocolError);
    for wrong in [
        vec![data(1, b"123456")],
        vec![data(1, b"123"), data(1, b"456")],
        vec![last_data(1, b"1234")],
        vec![data(1, b"1234"), last_data(1, b"")],
        vec![last_data(1, b"123456")],
        vec![frame(
            HEADERS,
            END_HEADERS | END_STREAM,
            1,
            &block(&[("a", "b")]),
        )],
    ] {
        let mut client = Client::new();
        let key = client.open(&declared(0));
        let seen = client.resets(&wrong.concat(), 1, ErrorCode::ProtocolError);
        assert_eq!(seen.last(), Some(&Seen::Gone(key)));
    }
    let mut client = Client::new();
    client.open(&declared(0));
    let seen = client.feed(&[data(1, b"12345"), last_data(1, b"")].concat());
    assert!(matches!(seen[1], Seen::Data { end: true, .. }), "{seen:?}");
}

#[test]
fn a_body_past_the_window_of_its_stream_resets_it() {
    let mut client = Client::new();
    let key = client.open(&post(1));
    let full = data(1, &vec![0; 16_384]).repeat(4);
    assert_eq!(client.feed(&full).len(), 4);
    let seen = client.resets(&data(1, b"a"), 1, ErrorCode::FlowControlError);
    assert_eq!(seen, [Seen::Gone(key)]);
}

#[test]
fn bodies_past_the_window_of_the_connection_fail() {
    let mut client = Client::with(&Limits {
        connection_window: 65_535,
        ..Limits::default()
    });
    client.open(&post(1));
    client.open(&post(3));
    let full = [
        data(1, &vec![0; 16_384]).repeat(3),
        data(3, &vec![0; 16_383]),
    ]
    .concat();
    assert_eq!(client.feed(&full).len(), 4);
    client.fails(&data(3, b"a"), ErrorCode::FlowControlError);
}

/// The windows grow by the consumed bytes, in steps of half the size.
#[test]
fn what_is_consumed_comes_back_once() {
    let mut client = Client::with(&Limits {
        connection_window: 65_535,
        ..Limits::default()
    });
    let key = client.open(&post(1));
    assert_eq!(client.feed(&data(1, &vec![0; 16_384]).repeat(3)).len(), 3);
    client.session.consumed(key, 32_767);
    assert_eq!(client.sent(), []);
    client.session.consumed(key, 1);
    let returned = [Sent::WindowUpdate(1, 32_768), Sent::WindowUpdate(0, 32_768)];
    assert_eq!(client.sent(), returned);
    // This is more than the stream holds.
    client.session.consumed(key, u32::MAX);
    client.session.consumed(key, u32::MAX);
    assert!(client.session.is_consistent());
    assert_eq!(client.sent(), []);
}

/// For every end of a stream, its held bytes return to the connection.
#[test]
fn what_a_stream_held_comes_back_when_it_is_gone() {
    type Way = fn(&mut Client, Key);
    let ways: [Way; 5] = [
        |client, key| client.session.reset(key, ErrorCode::InternalError),
        |client, key| client.session.end_sent(key),
        |client, _| drop(client.feed(&reset(1))),
        |client, _| drop(client.feed(&window_update(1, 0))),
        |client, key| {
            let part = &data(1, &[0; 100])[..59];
            assert_eq!(client.feed(part).len(), 1);
            client.session.reset(key, ErrorCode::Cancel);
            assert_eq!(client.feed(&[0; 50]), []);
        },
    ];
    for way in ways {
        let mut client = Client::with(&Limits {
            connection_window: 65_535,
            ..Limits::default()
        });
        let key = client.open(&post(1));
        assert_eq!(client.feed(&data(1, &vec![0; 16_384]).repeat(2)).len(), 2);
        way(&mut client, key);
        let returned = client
            .sent()
            .into_iter()
            .any(|sent| matches!(sent, Sent::WindowUpdate(0, increment) if increment >= 32_768));
        assert!(returned && client.session.is_consistent());
        assert_eq!(client.session.open_streams(), 0);
    }
}

/// Padding, and the bodies of streams that were refused or reset, are consumed as they come.
#[test]
fn what_nobody_reads_comes_back_at_once() {
    let mut client = Client::new();
    client.open(&post(1));
    let padded = frame(0, PADDED, 1, &[&[255], &[0; 255][..]].concat());
    for _ in 0..200 {
        client.feed(&padded);
        client.now += 100;
    }
    let grown = |sent: &[Sent], stream| -> u32 {
        sent.iter()
            .map(|one| match one {
                Sent::WindowUpdate(id, by) if *id == stream => *by,
                _ => 0,
            })
            .sum()
    };
    assert_eq!(grown(&client.sent(), 1), 32_768);

    let mut client = Client::new();
    let key = client.open(&post(1));
    client.session.reset(key, ErrorCode::Cancel);
    client.sent();
    assert_eq!(client.feed(&data(1, &vec![0; 16_384]).repeat(100)), []);
    assert_eq!(grown(&client.sent(), 0) / (CONNECTION / 2), 3);
}

/// RFC 9113 §6.9.2.
#[test]
fn what_is_sent_is_within_both_windows_and_one_frame() {
    let mut client = Client::new();
    client.feed(&settings(&[(4, 20_000)]));
    let (first, second) = (client.open(&get(1)), client.open(&get(3)));
    let session = &mut client.session;
    assert_eq!(session.reserve(first, 100_000), 16_384);
    assert_eq!(session.reserve(first, 100_000), 3_616);
    assert_eq!(session.reserve(first, 1), 0);
    session.wants_to_send(first, true);
    assert_eq!(session.next_to_send(), None);
    // 20,000 bytes were sent, so the window becomes -5,000.
    assert_eq!(client.feed(&settings(&[(4, 15_000)])), []);
    assert_eq!(client.feed(&window_update(1, 5_000)), [Seen::Sendable]);
    assert_eq!(client.session.next_to_send(), None);
    assert_eq!(client.feed(&window_update(1, 1)), [Seen::Sendable]);
    assert_eq!(client.session.next_to_send(), Some(first));
    assert_eq!(client.session.reserve(first, 9), 1);
    assert_eq!(client.feed(&settings(&[(4, 1 << 20)])), [Seen::Sendable]);
    // The window of the connection is 65,535.
    let mut sum = 20_001;
    while let bytes @ 1.. = client.session.reserve(second, 10_000) {
        sum += bytes;
    }
    assert_eq!(sum, 65_535);
    assert_eq!(client.session.next_to_send(), None);
    assert_eq!(client.feed(&window_update(0, 1)), [Seen::Sendable]);
    assert_eq!(client.session.next_to_send(), Some(first));
    client.session.wants_to_send(first, false);
    assert_eq!(client.session.next_to_send(), None);
    assert_eq!(client.feed(&window_update(0, 1)), []);
}

/// Gives the streams in the order in which they get `turns` frames of 100 bytes.
fn order(client: &mut Client, turns: usize) -> Vec<u32> {
    let mut ids = Vec::new();
    for _ in 0..turns {
        let Some(key) = client.session.next_to_send() else {
            break;
        };
        assert_eq!(client.session.reserve(key, 100), 100);
        ids.push(client.session.id(key));
    }
    ids
}

fn waiting(priorities: &[&str]) -> Client {
    let mut client = Client::new();
    for (id, priority) in (1..).step_by(2).zip(priorities) {
        let request = match *priority {
            "" => get(id),
            _ => get_with(id, &[("priority", priority)]),
        };
        let key = client.open(&request);
        client.session.wants_to_send(key, true);
    }
    client
}

/// RFC 9218 §10.
#[test]
fn priorities_order_what_is_sent() {
    // Without a Priority field, streams take turns.
    assert_eq!(order(&mut waiting(&["", "", ""]), 6), [3, 5, 1, 3, 5, 1]);
    assert_eq!(order(&mut waiting(&["u=3", "u=3", "u=1"]), 2), [5, 5]);
    assert_eq!(order(&mut waiting(&["u=3", "u=3", "u=5"]), 3), [1, 1, 1]);
    assert_eq!(
        order(&mut waiting(&["u=2, i", "u=2, i", "u=2, i"]), 3),
        [3, 5, 1]
    );
    // Streams that are not incremental have one turn together.
    let mixed = order(&mut waiting(&["u=3", "u=3, i", "u=3", "u=3, i"]), 6);
    assert_eq!(mixed, [3, 7, 1, 3, 7, 1]);
}

/// RFC 9218 §7.1.
#[test]
fn priority_update_changes_the_order() {
    let update = |stream: u32, value: &str| {
        let payload = [&stream.to_be_bytes()[..], value.as_bytes()].concat();
        frame(PRIORITY_UPDATE, 0, 0, &payload)
    };
    let mut client = waiting(&["u=3", "u=3"]);
    assert_eq!(client.feed(&update(3, "u=0")), [Seen::Sendable]);
    assert_eq!(order(&mut client, 1), [3]);
    // An update before its stream replaces the field of the stream.
    assert_eq!(client.feed(&update(9, "u=0")), []);
    assert_eq!(client.feed(&update(5, "u=0, i")), []);
    assert_eq!(client.feed(&update(7, "u=7")), []);
    let key = client.open(&get_with(7, &[("priority", "u=0")]));
    client.session.wants_to_send(key, true);
    assert_eq!(order(&mut client, 1), [3]);
    // An update for a closed stream is ignored.
    let key = client.open(&get(11));
    client.session.end_sent(key);
    assert_eq!(client.feed(&update(11, "u=0")), []);

    let mut client = Client::with(&Limits {
        max_streams: 2,
        ..Limits::default()
    });
    client.open(&get(1));
    assert_eq!(client.feed(&update(3, "u=0")), []);
    client.fails(&update(5, "u=0"), ErrorCode::ProtocolError);
}

/// The early priority of a refused stream is removed, so that there is room for those of others.
#[test]
fn early_priorities_of_refused_streams_are_forgotten() {
    let mut client = Client::with(&Limits {
        max_streams: 2,
        ..Limits::default()
    });
    let update = |stream: u32| {
        let payload = [&stream.to_be_bytes()[..], b"u=1"].concat();
        frame(PRIORITY_UPDATE, 0, 0, &payload)
    };
    let first = client.open(&get(1));
    assert_eq!(client.feed(&update(5)), []);
    client.open(&get(3));
    // There is no room for the stream.
    assert_eq!(client.feed(&get(5)), []);
    client.session.end_sent(first);
    assert_eq!(client.feed(&update(9)), []);
}
