//! What is sent within the windows of the client, and in which order.

use crate::client::{Client, PRIORITY_UPDATE, Seen, frame, get, get_with, settings, window_update};
use h2::{ErrorCode, Limits};

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
