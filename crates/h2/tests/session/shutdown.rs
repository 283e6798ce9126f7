//! The end of a connection (RFC 9113 §6.8), and PING.

use crate::client::{ACK, Client, GOAWAY, PING, Seen, Sent, frame, get, post};
use h2::ErrorCode;

#[test]
fn shutdown_takes_two_steps() {
    let mut client = Client::new();
    let key = client.open(&get(1));
    client.session.begin_shutdown();
    client.session.begin_shutdown();
    let opaque = match &client.sent()[..] {
        [
            Sent::GoAway(0x7fff_ffff, ErrorCode::NoError),
            Sent::Ping(opaque),
        ] => opaque.clone(),
        sent => panic!("{sent:?}"),
    };
    // A request that was sent before the client read the GOAWAY is taken.
    client.open(&get(3));
    assert_eq!(client.feed(&frame(PING, ACK, 0, &opaque)), [Seen::Drained]);
    client.session.finish_shutdown();
    client.session.finish_shutdown();
    assert_eq!(client.sent(), [Sent::GoAway(3, ErrorCode::NoError)]);
    client.resets(&post(5), 5, ErrorCode::RefusedStream);
    assert_eq!(client.session.open_streams(), 2);
    client.session.end_sent(key);
    assert_eq!(client.session.open_streams(), 1);
}

#[test]
fn a_failed_session_sends_nothing_more() {
    let mut client = Client::new();
    let key = client.open(&post(1));
    client.session.fail(ErrorCode::InternalError);
    client.session.fail(ErrorCode::NoError);
    assert_eq!(client.sent(), [Sent::GoAway(1, ErrorCode::InternalError)]);
    client.session.reset(key, ErrorCode::Cancel);
    client.session.ping();
    client.session.begin_shutdown();
    client.session.finish_shutdown();
    assert_eq!(client.sent(), []);
    assert_eq!(
        client.feed(b"anything"),
        [Seen::Failed(ErrorCode::InternalError)]
    );
}

#[test]
fn a_ping_is_unanswered_until_its_answer_comes() {
    let mut client = Client::new();
    client.session.ping();
    client.session.ping();
    let opaque = match &client.sent()[..] {
        [Sent::Ping(opaque)] => opaque.clone(),
        sent => panic!("{sent:?}"),
    };
    assert_eq!(client.feed(&frame(PING, ACK, 0, &[0; 8])), []);
    assert!(client.session.is_ping_unanswered());
    assert_eq!(client.feed(&frame(PING, ACK, 0, &opaque)), []);
    assert!(!client.session.is_ping_unanswered());
}

#[test]
fn a_client_that_leaves_says_so() {
    let mut client = Client::new();
    assert!(!client.session.is_client_leaving());
    assert_eq!(client.feed(&frame(GOAWAY, 0, 0, b"12345678why")), []);
    assert!(client.session.is_client_leaving());
    assert_eq!(client.sent(), []);
}
