//! Frames that cost more than they carry.

use super::rounds;
use crate::client::{
    ACK, Client, END_HEADERS, END_STREAM, GET, HEADERS, PING, PRIORITY, SETTINGS, Seen, Sent,
    block, data, frame, get, last_data, post, reset, settings, window_update,
};
use h2::{ErrorCode, Limits};

#[test]
fn control_frames_end_after_their_budget() {
    let update = |round: u32| {
        let payload = [&(1 + 2 * (round % 90)).to_be_bytes()[..], b"u=1"].concat();
        frame(crate::client::PRIORITY_UPDATE, 0, 0, &payload)
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
    let go_away = |_| frame(crate::client::GOAWAY, 0, 0, &[0; 8]);
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
    let padding = |_| frame(0, crate::client::PADDED, 1, &[255; 256]);
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
    let no_error = |id| frame(crate::client::RST_STREAM, 0, id, &[0; 4]);
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
