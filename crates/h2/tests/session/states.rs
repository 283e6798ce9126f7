//! The states of a stream (RFC 9113 §5.1), and the errors of one stream.

use crate::client::{
    Client, END_HEADERS, END_STREAM, GET, HEADERS, PRIORITIZED, PRIORITY, Seen, Sent, block, data,
    frame, get, last_data, post, reset, settings, window_update,
};
use h2::{ErrorCode, Limits};

#[test]
fn on_an_idle_stream_only_headers_and_priority_are_allowed() {
    for bytes in [data(1, b"a"), reset(1), window_update(1, 9), data(2, b"a")] {
        Client::new().fails(&bytes, ErrorCode::ProtocolError);
    }
    let mut client = Client::new();
    assert_eq!(client.feed(&frame(PRIORITY, 0, 1, &[0, 0, 0, 0, 9])), []);
    assert_eq!(client.sent(), []);
}

/// Half-closed (remote): h2spec 5.1/5 and 5.1/6.
#[test]
fn after_the_end_of_a_request_data_and_headers_are_stream_closed() {
    for bytes in [data(1, b"a"), get(1)] {
        let mut client = Client::new();
        let key = client.open(&get(1));
        let seen = client.resets(&bytes, 1, ErrorCode::StreamClosed);
        assert_eq!(seen, [Seen::Gone(key)]);
        // Other streams continue.
        client.open(&get(3));
    }
}

/// h2spec 5.1/8, 5.1/9.
#[test]
fn after_a_reset_of_the_client_data_is_stream_closed_and_headers_fail() {
    let mut client = Client::new();
    let key = client.open(&post(1));
    assert_eq!(client.feed(&reset(1)), [Seen::Gone(key)]);
    assert_eq!(client.feed(&window_update(1, 1)), []);
    assert_eq!(client.feed(&window_update(1, 0)), []);
    assert_eq!(client.feed(&reset(1)), []);
    assert_eq!(client.feed(&frame(PRIORITY, 0, 1, &[0, 0, 0, 0, 9])), []);
    assert_eq!(client.sent(), []);
    let seen = client.resets(&data(1, b"a"), 1, ErrorCode::StreamClosed);
    assert_eq!(seen, []);

    let mut client = Client::new();
    client.open(&post(1));
    client.feed(&reset(1));
    client.fails(&get(1), ErrorCode::StreamClosed);
}

/// h2spec 5.1/11, 5.1/12.
#[test]
fn after_both_ends_data_is_stream_closed_and_headers_fail() {
    let mut client = Client::new();
    let key = client.open(&get(1));
    client.session.end_sent(key);
    assert_eq!(client.sent(), []);
    client.resets(&data(1, b"a"), 1, ErrorCode::StreamClosed);

    let mut client = Client::new();
    let key = client.open(&get(1));
    client.session.end_sent(key);
    client.fails(&get(1), ErrorCode::StreamClosed);
}

#[test]
fn after_a_reset_of_the_server_all_frames_are_ignored() {
    let mut client = Client::new();
    let key = client.open(&post(1));
    client.session.reset(key, ErrorCode::InternalError);
    assert_eq!(client.sent(), [Sent::Reset(1, ErrorCode::InternalError)]);
    let trailers = frame(HEADERS, END_HEADERS | END_STREAM, 1, &block(&[("a", "b")]));
    let late = [data(1, b"abc"), trailers, window_update(1, 5), reset(1)].concat();
    assert_eq!(client.feed(&late), []);
    assert_eq!(client.sent(), []);
}

/// RFC 9113 §5.4.2: what a client has sent before it reads the reset of its malformed request is ignored.
#[test]
fn after_a_malformed_request_all_frames_are_ignored() {
    let malformed = frame(HEADERS, END_HEADERS, 1, &block(&[(":method", "POST")]));
    let trailers = frame(HEADERS, END_HEADERS | END_STREAM, 1, &block(&[("a", "b")]));
    for late in [[data(1, b"abc"), trailers.clone()].concat(), trailers] {
        let mut client = Client::new();
        assert_eq!(client.resets(&malformed, 1, ErrorCode::ProtocolError), []);
        assert_eq!(client.feed(&late), []);
        assert_eq!(client.sent(), []);
        client.open(&get(3));
    }
}

/// Many streams are open and are reset at once, while trailers of each are in transit.
#[test]
fn twice_as_many_streams_as_may_be_open_are_remembered() {
    let mut client = Client::with(&Limits {
        max_streams: 1_000,
        ..Limits::default()
    });
    let trailers = |id| frame(HEADERS, END_HEADERS | END_STREAM, id, &block(&[("a", "b")]));
    for id in 0..2_048 {
        let key = client.open(&post(1 + 2 * id));
        client.session.end_sent(key);
    }
    client.sent();
    for id in 0..2_048 {
        assert_eq!(client.feed(&trailers(1 + 2 * id)), [], "{id}");
        client.now += 100;
    }
    assert_eq!(client.sent(), []);
}

/// RFC 9113 §8.1: the reply may be complete before the request is.
#[test]
fn a_reply_before_the_end_of_the_request_is_followed_by_a_reset_without_error() {
    let mut client = Client::new();
    let key = client.open(&post(1));
    client.session.end_sent(key);
    assert_eq!(client.sent(), [Sent::Reset(1, ErrorCode::NoError)]);
    assert_eq!(client.feed(&last_data(1, b"late")), []);
    assert_eq!(client.sent(), []);
}

/// RFC 9113 §5.1.1: h2spec 5.1.1/2.
#[test]
fn ids_that_go_back_fail() {
    let mut client = Client::new();
    client.open(&get(5));
    client.fails(&get(3), ErrorCode::ProtocolError);
}

/// RFC 9113 §5.1.2. The HPACK tables stay equal, because the block of a refused stream is decoded.
#[test]
fn streams_past_the_most_are_refused() {
    let mut client = Client::with(&Limits {
        max_streams: 2,
        ..Limits::default()
    });
    let first = client.open(&get(1));
    client.open(&get(3));
    // A literal that is added to the table (RFC 7541 §6.2.1), then an index of it.
    let indexed = [&block(&GET)[..], b"\x40\x01a\x01b"].concat();
    let seen = client.resets(
        &frame(HEADERS, END_HEADERS | END_STREAM, 5, &indexed),
        5,
        ErrorCode::RefusedStream,
    );
    assert_eq!(seen, []);
    assert_eq!(client.session.open_streams(), 2);
    client.session.end_sent(first);
    let index = [&block(&GET)[..], &[0xbe]].concat();
    let seen = client.feed(&frame(HEADERS, END_HEADERS | END_STREAM, 7, &index));
    assert!(
        matches!(&seen[..], [Seen::Head { text, .. }] if text.ends_with("\r\na: b\r\n\r\n")),
        "{seen:?}"
    );
}

/// RFC 7540 §5.3.1: h2spec 5.3.1.
#[test]
fn a_stream_that_depends_on_itself_is_reset() {
    let own = [0, 0, 0, 1, 9];
    let mut client = Client::new();
    let payload = [&own[..], &block(&GET)].concat();
    let headers = frame(HEADERS, END_HEADERS | END_STREAM | PRIORITIZED, 1, &payload);
    assert_eq!(client.resets(&headers, 1, ErrorCode::ProtocolError), []);

    for (priority, code) in [
        (&own[..], ErrorCode::ProtocolError),
        (&[0; 6], ErrorCode::FrameSizeError),
    ] {
        let mut client = Client::new();
        let key = client.open(&post(1));
        let seen = client.resets(&frame(PRIORITY, 0, 1, priority), 1, code);
        assert_eq!(seen, [Seen::Gone(key)]);
        Client::new().fails(&frame(PRIORITY, 0, 1, priority), code);
    }
    // On another stream a dependency has no effect.
    let payload = [&[0x80, 0, 0, 5, 9], &block(&GET)[..]].concat();
    Client::new().open(&frame(
        HEADERS,
        END_HEADERS | END_STREAM | PRIORITIZED,
        1,
        &payload,
    ));
}

/// RFC 9113 §6.9, §6.9.1.
#[test]
fn window_updates_of_a_stream_that_are_wrong_reset_it() {
    for (increment, code) in [
        (0, ErrorCode::ProtocolError),
        ((1 << 31) - 1, ErrorCode::FlowControlError),
    ] {
        let mut client = Client::new();
        let key = client.open(&get(1));
        let seen = client.resets(&window_update(1, increment), 1, code);
        assert_eq!(seen, [Seen::Gone(key)]);
    }
    let most = (1 << 31) - 1;
    Client::new().fails(&window_update(0, most), ErrorCode::FlowControlError);
    // RFC 9113 §6.9.2: SETTINGS can also make the window of a stream overflow.
    let mut client = Client::new();
    client.open(&get(1));
    assert_eq!(client.feed(&window_update(1, most - 65_535)), []);
    client.fails(&settings(&[(4, 65_536)]), ErrorCode::FlowControlError);
}

/// A key names another stream once its stream is gone. Calls with a key without a stream have no effect.
#[test]
fn keys_are_given_again() {
    let mut client = Client::new();
    let key = client.open(&get(1));
    client.session.end_sent(key);
    assert_eq!(client.session.id(key), 0);
    client.session.end_sent(key);
    client.session.reset(key, ErrorCode::Cancel);
    client.session.consumed(key, 9);
    client.session.wants_to_send(key, true);
    assert_eq!(client.session.reserve(key, 9), 0);
    assert_eq!(client.session.next_to_send(), None);
    assert_eq!(client.sent(), []);
    assert_eq!(client.open(&get(3)), key);
    assert_eq!(client.session.id(key), 3);
}
