//! Time limits of connections and streams.

use super::stays;
use crate::driver::http2::{HEADERS, PING, block, data, frame, headers};
use crate::driver::{allow, limits, pass};
use crate::http2::client::{Client, server};
use ring::layout::{kind, limit, operation, request};

#[test]
fn a_connection_without_streams_ends() {
    let mut values = limits();
    values[limit::HTTP2_IDLE_TIMEOUT] = 100.0;
    let mut driver = server(&values);
    let mut client = Client::new(&driver);
    let id = client.get("/a");
    let seen = driver.request();
    // A stream is open.
    stays(&mut client, &mut driver, 300);
    driver.reply(&seen, 200, b"ok");
    assert_eq!(client.reply(&mut driver, id).body, b"ok");
    stays(&mut client, &mut driver, 99);
    pass(&mut driver, 1);
    assert_eq!(client.end(&mut driver), Some(0));
}

#[test]
fn a_connection_with_a_stream_does_not_end() {
    let mut values = limits();
    values[limit::HEADERS_TIMEOUT] = 100.0;
    values[limit::HTTP2_IDLE_TIMEOUT] = 100.0;
    let mut driver = server(&values);
    let mut client = Client::new(&driver);
    // The first time is that since the start of the connection, the second that since the last stream.
    for path in ["/a", "/b"] {
        let id = client.get(path);
        let seen = driver.request();
        stays(&mut client, &mut driver, 300);
        driver.reply(&seen, 200, b"ok");
        assert_eq!(client.reply(&mut driver, id).body, b"ok");
        stays(&mut client, &mut driver, 99);
    }
}

#[test]
fn a_client_that_sends_nothing_ends() {
    let mut values = limits();
    values[limit::HEADERS_TIMEOUT] = 100.0;
    let mut driver = server(&values);
    let mut client = Client::new(&driver);
    driver.until(|driver| driver.engine.connection_count() == 1);
    stays(&mut client, &mut driver, 99);
    pass(&mut driver, 1);
    assert_eq!(client.end(&mut driver), Some(0));
}

#[test]
fn a_frame_that_stays_incomplete_ends_the_connection() {
    let mut values = limits();
    values[limit::HEADERS_TIMEOUT] = 200.0;
    let mut driver = server(&values);
    for cut in [5, 12] {
        let mut client = Client::new(&driver);
        client.get("/a");
        let seen = driver.request();
        let id = client.id();
        client.send(&headers(id, &block("GET", "/a", &[]), true)[..cut]);
        stays(&mut client, &mut driver, 199);
        pass(&mut driver, 1);
        assert_eq!(client.end(&mut driver), Some(11));
        assert_eq!(driver.event(kind::ABORT).slot(), seen.slot());
    }
}

#[test]
fn each_frame_has_its_own_time() {
    let mut values = limits();
    values[limit::HEADERS_TIMEOUT] = 400.0;
    let mut driver = server(&values);
    let mut client = Client::new(&driver);
    let held = client.get("/a");
    let seen = driver.request();
    // Each receive ends in the middle of a frame, and the next one completes the frame.
    let ping = frame(PING, 0, 0, &[0; 8]);
    client.send(&ping[..5]);
    for _ in 0..6 {
        pass(&mut driver, 399);
        client.send(&[&ping[5..], &ping[..5]].concat());
    }
    pass(&mut driver, 399);
    driver.reply(&seen, 200, b"ok");
    assert_eq!(client.reply(&mut driver, held).body, b"ok");
}

#[test]
fn a_head_that_is_never_continued_ends_the_connection() {
    let mut values = limits();
    values[limit::HEADERS_TIMEOUT] = 200.0;
    let mut driver = server(&values);
    let mut client = Client::new(&driver);
    client.get("/a");
    driver.request();
    let id = client.id();
    client.send(&frame(HEADERS, 1, id, &block("GET", "/a", &[])));
    stays(&mut client, &mut driver, 199);
    pass(&mut driver, 1);
    assert_eq!(client.end(&mut driver), Some(11));
}

#[test]
fn bodies_that_come_too_slowly_cost_their_streams_alone() {
    let mut values = limits();
    values[limit::REQUEST_TIMEOUT] = 200.0;
    let mut driver = server(&values);
    let mut client = Client::new(&driver);
    let buffered = client.id();
    client.send(&headers(buffered, &block("POST", "/b", &[]), false));
    let streamed = client.id();
    client.send(&headers(streamed, &block("POST", "/s", &[]), false));
    let seen = driver.request();
    allow(&mut driver, &seen, operation::READ, 1000);
    let waits = client.id();
    client.send(&headers(waits, &block("POST", "/s", &[]), false));
    let unread = driver.request();
    stays(&mut client, &mut driver, 199);
    assert!(!client.is_over(buffered));
    pass(&mut driver, 1);
    assert_eq!(client.reply(&mut driver, buffered).status, 408);
    // Once a body is read, its client has a second at least.
    stays(&mut client, &mut driver, 799);
    assert!(!client.is_over(streamed));
    pass(&mut driver, 1);
    assert_eq!(client.reply(&mut driver, streamed).status, 408);
    let aborted = driver.event(kind::ABORT);
    assert_eq!(
        (aborted.slot(), aborted.words[request::BODY_LENGTH]),
        (seen.slot(), 4)
    );
    // Time without credit does not count.
    client.send(&data(waits, b"late", true));
    driver.reply(&unread, 200, b"ok");
    assert_eq!(client.reply(&mut driver, waits).body, b"ok");
}

#[test]
fn a_handler_that_is_too_slow_is_answered_for() {
    let mut values = limits();
    values[limit::HANDLER_TIMEOUT] = 100.0;
    let mut driver = server(&values);
    let mut client = Client::new(&driver);
    let id = client.get("/a");
    let seen = driver.request();
    stays(&mut client, &mut driver, 99);
    assert!(driver.seen.is_empty() && !client.is_over(id));
    pass(&mut driver, 1);
    assert_eq!(client.reply(&mut driver, id).status, 503);
    let aborted = driver.event(kind::ABORT);
    assert_eq!(
        (aborted.slot(), aborted.words[request::BODY_LENGTH]),
        (seen.slot(), 1)
    );
}
