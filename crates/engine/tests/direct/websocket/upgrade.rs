//! Which exchanges become WebSockets.

use ring::layout::{kind, request};

use super::client::{Client, apply, spec, stats, upgrade};
use crate::driver::frames::{HEAD, KEY, frame};
use crate::driver::{Driver, limits, send, text};

#[test]
fn bytes_behind_the_request_belong_to_the_socket() {
    let mut driver = Driver::sockets(&limits(), spec());
    let behind = [
        frame(0x81, b"one"),
        frame(0x89, b"ping"),
        frame(0x81, b"two"),
    ]
    .concat();
    let mut client = Client::open(&mut driver, &behind);
    assert_eq!(driver.event(kind::MESSAGE).body, b"one");
    assert_eq!(driver.event(kind::MESSAGE).body, b"two");
    assert_eq!(client.frame(&mut driver), (0x8a, b"ping".to_vec()));
}

#[test]
fn a_request_that_is_not_upgraded_is_answered_as_any_other() {
    let mut driver = Driver::sockets(&limits(), spec());
    let mut stream = driver.client();
    for _ in 0..2 {
        send(&mut stream, HEAD);
        let seen = driver.request();
        driver.reply(&seen, 403, b"no");
        let (reply, ended) = driver.read(&mut stream, |bytes| bytes.ends_with(b"no"));
        assert!(
            text(&reply).starts_with("HTTP/1.1 403 "),
            "{}",
            text(&reply)
        );
        assert!(!ended);
    }
    // Nothing but a request for a WebSocket may be upgraded.
    send(&mut stream, b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
    let seen = driver.request();
    upgrade(&mut driver, &seen, KEY);
    apply(&mut driver);
    let (reply, _) = driver.read(&mut stream, |bytes| bytes.ends_with(b"}"));
    assert!(
        text(&reply).starts_with("HTTP/1.1 500 "),
        "{}",
        text(&reply)
    );
    // A path that only the routes for sockets have is none for other requests.
    send(&mut stream, b"GET /ws/a HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(driver.request().route(), -1);
}

#[test]
fn a_wrong_key_is_never_accepted() {
    let mut driver = Driver::sockets(&limits(), spec());
    for key in [&b""[..], &KEY[1..], b"dGhlIHNhbXBsZSBub25jZQ=!"] {
        let mut stream = driver.client();
        send(&mut stream, HEAD);
        let seen = driver.request();
        upgrade(&mut driver, &seen, key);
        apply(&mut driver);
        let (reply, _) = driver.read(&mut stream, |bytes| bytes.ends_with(b"}"));
        assert!(
            text(&reply).starts_with("HTTP/1.1 500 "),
            "{}",
            text(&reply)
        );
        assert_eq!(
            driver.event(kind::CLOSED_SOCKET).words[request::ALLOW],
            1006
        );
    }
    assert_eq!(stats(&driver).2, 0);
}
