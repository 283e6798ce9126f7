//! The preface, SETTINGS, and the rules of each type of frame (RFC 9113 §3.4, §4, §6).

use crate::client::{
    ACK, CONTINUATION, Client, DATA, END_HEADERS, END_STREAM, GET, GOAWAY, HEADERS, PADDED, PING,
    PREFACE, PRIORITIZED, PRIORITY, PRIORITY_UPDATE, PUSH_PROMISE, RST_STREAM, SETTINGS, Seen,
    Sent, WINDOW_UPDATE, block, data, frame, get, post, settings,
};
use h2::{ErrorCode, Limits};

#[test]
fn the_server_sends_its_settings_before_it_reads_anything() {
    let mut client = Client::fresh(&Limits {
        connect_protocol: true,
        ..Limits::default()
    });
    let settings = vec![(3, 100), (4, 65_536), (6, 16_384), (9, 1), (8, 1)];
    let window = Sent::WindowUpdate(0, (1 << 20) - 65_535);
    assert_eq!(client.sent(), [Sent::Settings(settings), window]);
}

/// RFC 9113 §3.4.
#[test]
fn a_preface_that_differs_fails_at_its_first_wrong_byte() {
    for length in 0..PREFACE.len() {
        let mut client = Client::fresh(&Limits::default());
        client.sent();
        assert_eq!(client.feed(&PREFACE[..length]), []);
        client.fails(b"x", ErrorCode::ProtocolError);
    }
}

#[test]
fn the_first_frame_must_be_settings() {
    for first in [
        get(1),
        frame(PING, 0, 0, &[0; 8]),
        frame(SETTINGS, ACK, 0, &[]),
    ] {
        let mut client = Client::fresh(&Limits::default());
        client.sent();
        assert_eq!(client.feed(PREFACE), []);
        client.fails(&first, ErrorCode::ProtocolError);
    }
}

/// RFC 9113 §6.5.
#[test]
fn settings_are_acknowledged_and_unknown_ones_ignored() {
    let mut client = Client::new();
    let usual = [
        (1, 0),
        (2, 0),
        (3, 0),
        (4, 0),
        (5, 16_384),
        (6, 1),
        (0xff, 7),
    ];
    assert_eq!(client.feed(&settings(&usual)), []);
    assert_eq!(client.sent(), [Sent::SettingsAck]);
}

#[test]
fn settings_that_are_wrong_fail() {
    for (bytes, code) in [
        (settings(&[(2, 2)]), ErrorCode::ProtocolError),
        (settings(&[(4, 1 << 31)]), ErrorCode::FlowControlError),
        (settings(&[(5, 16_383)]), ErrorCode::ProtocolError),
        (settings(&[(5, 1 << 24)]), ErrorCode::ProtocolError),
        (settings(&[(9, 2)]), ErrorCode::ProtocolError),
        (frame(SETTINGS, 0, 1, &[]), ErrorCode::ProtocolError),
        (frame(SETTINGS, 0, 0, &[0; 5]), ErrorCode::FrameSizeError),
        (frame(SETTINGS, ACK, 0, &[0; 6]), ErrorCode::FrameSizeError),
    ] {
        Client::new().fails(&bytes, code);
    }
}

/// RFC 9113 §4.2: a frame of a wrong length fails before its payload has arrived.
#[test]
fn a_frame_above_16384_bytes_fails() {
    for kind in [DATA, HEADERS, SETTINGS, PING, CONTINUATION, 0x77] {
        let mut client = Client::new();
        client.open(&post(1));
        let head = &frame(kind, 0, 1, &vec![0; 16_385])[..9];
        client.fails(head, ErrorCode::FrameSizeError);
    }
    let mut client = Client::new();
    let key = client.open(&post(1));
    let seen = client.feed(&data(1, &vec![7; 16_384]));
    let bytes = vec![7; 16_384];
    assert_eq!(
        seen,
        [Seen::Data {
            key,
            bytes,
            end: false
        }]
    );
}

/// RFC 9113 §4.1, §5.5.
#[test]
fn unknown_frames_and_flags_are_ignored() {
    let mut client = Client::new();
    assert_eq!(client.feed(&frame(0x77, 0xff, 0, b"anything")), []);
    assert_eq!(client.feed(&frame(0x78, 0xff, 5, b"")), []);
    let ping = frame(PING, 0xfe, 0, b"12345678");
    assert_eq!(client.feed(&ping), []);
    assert_eq!(client.sent(), [Sent::PingAck(b"12345678".to_vec())]);
    // The reserved bit of the stream id is ignored.
    client.open(&frame(
        HEADERS,
        END_HEADERS | END_STREAM,
        1 | 1 << 31,
        &block(&GET),
    ));
}

#[test]
fn frames_of_a_wrong_length_or_stream_fail() {
    for (bytes, code) in [
        (frame(PING, 0, 0, &[0; 7]), ErrorCode::FrameSizeError),
        (frame(PING, 0, 0, &[0; 9]), ErrorCode::FrameSizeError),
        (frame(PING, 0, 1, &[0; 8]), ErrorCode::ProtocolError),
        (frame(GOAWAY, 0, 0, &[0; 7]), ErrorCode::FrameSizeError),
        (frame(GOAWAY, 0, 1, &[0; 8]), ErrorCode::ProtocolError),
        (
            frame(WINDOW_UPDATE, 0, 0, &[0; 3]),
            ErrorCode::FrameSizeError,
        ),
        (
            frame(WINDOW_UPDATE, 0, 0, &[0; 4]),
            ErrorCode::ProtocolError,
        ),
        (frame(RST_STREAM, 0, 1, &[0; 3]), ErrorCode::FrameSizeError),
        (frame(RST_STREAM, 0, 0, &[0; 4]), ErrorCode::ProtocolError),
        (frame(PRIORITY, 0, 0, &[0; 5]), ErrorCode::ProtocolError),
        (
            frame(PRIORITY_UPDATE, 0, 1, &[0; 4]),
            ErrorCode::ProtocolError,
        ),
        (
            frame(PRIORITY_UPDATE, 0, 0, &[0; 3]),
            ErrorCode::FrameSizeError,
        ),
        (
            frame(PRIORITY_UPDATE, 0, 0, &[0; 4]),
            ErrorCode::ProtocolError,
        ),
        (frame(DATA, 0, 0, b"a"), ErrorCode::ProtocolError),
        (frame(HEADERS, 4, 0, &block(&GET)), ErrorCode::ProtocolError),
        (frame(HEADERS, 4, 2, &block(&GET)), ErrorCode::ProtocolError),
        (frame(CONTINUATION, 4, 1, b""), ErrorCode::ProtocolError),
        (frame(PUSH_PROMISE, 4, 1, &[0; 4]), ErrorCode::ProtocolError),
        (
            frame(HEADERS, 4 | PRIORITIZED, 1, &[0; 4]),
            ErrorCode::FrameSizeError,
        ),
        (
            frame(HEADERS, 4, 1, &[0xff; 9]),
            ErrorCode::CompressionError,
        ),
    ] {
        Client::new().fails(&bytes, code);
    }
}

/// RFC 9113 §6.1, §6.2.
#[test]
fn padding_is_taken_off_and_may_not_be_longer_than_the_payload() {
    let padded = |kind, flags, payload: &[u8], padding: usize| {
        let payload = [&[padding as u8], payload, &vec![0; padding]].concat();
        frame(kind, flags | PADDED, 1, &payload)
    };
    let mut client = Client::new();
    let key = client.open(&padded(
        HEADERS,
        END_HEADERS,
        &block(&crate::client::POST),
        255,
    ));
    let bytes = b"hello".to_vec();
    assert_eq!(
        client.feed(&padded(DATA, 0, b"hello", 9)),
        [Seen::Data {
            key,
            bytes,
            end: false
        }]
    );
    // RFC 9113 §6.1: the last frame may consist of padding.
    let bytes = Vec::new();
    assert_eq!(
        client.feed(&padded(DATA, END_STREAM, b"", 9)),
        [Seen::Data {
            key,
            bytes,
            end: true
        }]
    );

    for (kind, payload, code) in [
        (DATA, &b""[..], ErrorCode::FrameSizeError),
        (HEADERS, b"", ErrorCode::FrameSizeError),
        (DATA, &[3, 0, 0], ErrorCode::ProtocolError),
        (HEADERS, &[3, 0, 0], ErrorCode::ProtocolError),
    ] {
        let mut client = Client::new();
        client.open(&post(1));
        let stream = if kind == DATA { 1 } else { 3 };
        client.fails(&frame(kind, END_HEADERS | PADDED, stream, payload), code);
    }
}

/// RFC 9113 §6.10.
#[test]
fn a_block_in_parts_is_one_head() {
    let block = block(&GET);
    let mut client = Client::new();
    let mut bytes = frame(HEADERS, END_STREAM, 1, &block[..5]);
    bytes.extend(frame(CONTINUATION, 0, 1, &block[5..9]));
    assert_eq!(client.feed(&bytes), []);
    let seen = client.feed(&frame(CONTINUATION, END_HEADERS, 1, &block[9..]));
    assert!(
        matches!(&seen[..], [Seen::Head { end: true, .. }]),
        "{seen:?}"
    );

    for other in [
        data(1, b"a"),
        frame(CONTINUATION, END_HEADERS, 3, b""),
        frame(PING, 0, 0, &[0; 8]),
        frame(0x77, 0, 0, b""),
        get(3),
    ] {
        let mut client = Client::new();
        assert_eq!(client.feed(&frame(HEADERS, 0, 1, &block)), []);
        client.fails(&other, ErrorCode::ProtocolError);
    }
}

/// Without room nothing of a head is consumed, but everything before it is.
#[test]
fn a_head_waits_for_room() {
    let block = block(&GET);
    let mut client = Client::new();
    client.room = false;
    let ping = frame(PING, 0, 0, b"12345678");
    let headers = frame(HEADERS, 0, 1, &block[..5]);
    let last = frame(CONTINUATION, END_HEADERS, 1, &block[5..]);
    assert_eq!(
        client.feed(&[ping, headers, last.clone()].concat()),
        [Seen::NoRoom]
    );
    assert_eq!(client.sent(), [Sent::PingAck(b"12345678".to_vec())]);
    assert_eq!(client.kept, last);
    assert_eq!(client.feed(b""), [Seen::NoRoom]);
    client.room = true;
    let seen = client.feed(b"");
    assert!(matches!(&seen[..], [Seen::Head { .. }]), "{seen:?}");
}
