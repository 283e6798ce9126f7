//! Bodies of requests, and the windows that they use.

use super::CONNECTION;
use crate::client::{
    Client, END_HEADERS, END_STREAM, HEADERS, PADDED, POST, Seen, Sent, block, data, frame,
    last_data, post, reset, window_update,
};
use h2::{ErrorCode, Key, Limits};

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
