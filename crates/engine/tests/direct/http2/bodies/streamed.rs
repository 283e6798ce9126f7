//! Bodies that the handler reads while they come.

use crate::driver::http2::{
    END_HEADERS, END_STREAM, HEADERS, WINDOW_UPDATE, block, data, frame, headers,
};
use crate::driver::{allow, chunks, finish, limits, start};
use crate::http2::client::{Client, server};
use engine::NoReferences;
use ring::layout::{flag, kind, operation, request};

#[test]
fn a_streamed_body_comes_as_far_as_there_is_credit() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    let id = client.id();
    client.send(&headers(id, &block("POST", "/s", &[]), false));
    let seen = driver.request();
    assert_ne!(seen.words[request::KIND] >> 16 & flag::BODY_STREAM, 0);
    client.send(&data(id, &[1; 1000], false));
    client.settle(&mut driver);
    assert!(chunks(&driver).is_empty());
    assert_eq!(driver.engine.buffered(driver.server), 1000);
    allow(&mut driver, &seen, operation::READ, 600);
    driver.until(|driver| chunks(driver).len() == 600);
    client.send(&data(id, &[2; 200], true));
    client.settle(&mut driver);
    assert_eq!(chunks(&driver).len(), 600);
    // Another stream continues meanwhile.
    let other = client.get("/a");
    let beside = loop {
        let next = driver.event(kind::REQUEST);
        if next.slot() != seen.slot() {
            break next;
        }
    };
    driver.reply(&beside, 200, b"beside");
    assert_eq!(client.reply(&mut driver, other).body, b"beside");
    allow(&mut driver, &seen, operation::CREDIT, 10_000);
    driver.event(kind::BODY_END);
    assert_eq!(driver.engine.buffered(driver.server), 0);
    driver.reply(&seen, 200, b"done");
    let reply = client.reply(&mut driver, id);
    assert_eq!((&reply.body[..], reply.reset), (&b"done"[..], None));
}

#[test]
fn a_handler_that_reads_nothing_bounds_what_is_kept() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    let id = client.id();
    client.send(&headers(id, &block("POST", "/s", &[]), false));
    let seen = driver.request();
    for _ in 0..4 {
        client.send(&data(id, &[1; 16_384], false));
    }
    client.settle(&mut driver);
    assert_eq!(driver.engine.buffered(driver.server), 65_536);
    assert!(
        !client
            .frames_of(id)
            .any(|frame| frame.kind == WINDOW_UPDATE)
    );
    // The reply does not wait for the body. The client is told to send no more of it (RFC 9113 §8.1).
    driver.reply(&seen, 200, b"enough");
    client.until(&mut driver, |client| {
        client.reply_so_far(id).reset.is_some()
    });
    let reply = client.reply_so_far(id);
    assert_eq!((&reply.body[..], reply.whole), (&b"enough"[..], true));
    assert_eq!(reply.reset, Some(0));
    assert_eq!(driver.engine.buffered(driver.server), 0);
}

#[test]
fn the_window_of_the_connection_comes_back_with_the_streams() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    // The sum of 40 times 64 KiB is larger than the window of the connection.
    for _ in 0..40 {
        let id = client.id();
        client.send(&headers(id, &block("POST", "/s", &[]), false));
        let seen = driver.request();
        for _ in 0..4 {
            client.send(&data(id, &[1; 16_384], false));
        }
        client.settle(&mut driver);
        driver.reply(&seen, 200, b"");
        assert_eq!(client.reply(&mut driver, id).status, 200);
    }
    assert!(!client.ended);
}

#[test]
fn a_late_body_is_streamed_unless_it_came_with_the_head() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    let id = client.id();
    let head = headers(id, &block("POST", "/late", &[]), false);
    client.send(&[head, data(id, b"first", false)].concat());
    let seen = driver.request();
    assert_ne!(seen.words[request::KIND] >> 16 & flag::BODY_STREAM, 0);
    allow(&mut driver, &seen, operation::READ, 100);
    driver.until(|driver| chunks(driver) == b"first");
    client.send(&data(id, b"second", true));
    driver.event(kind::BODY_END);
    driver.reply(&seen, 200, b"ok");
    assert_eq!(client.reply(&mut driver, id).body, b"ok");
}

#[test]
fn a_client_that_waits_is_told_to_continue() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    let fields = [("expect", "100-continue"), ("content-length", "3")];
    for path in ["/b", "/s"] {
        let id = client.id();
        client.send(&headers(id, &block("POST", path, &fields), false));
        let early = (path == "/s").then(|| driver.request());
        if let Some(seen) = &early {
            client.settle(&mut driver);
            assert!(client.reply_so_far(id).interim.is_empty());
            allow(&mut driver, seen, operation::READ, 100);
        }
        client.until(&mut driver, |client| {
            client.reply_so_far(id).interim == [100]
        });
        client.send(&data(id, b"abc", true));
        let seen = early.unwrap_or_else(|| driver.request());
        driver.reply(&seen, 200, b"ok");
        let reply = client.reply(&mut driver, id);
        assert_eq!((reply.interim, reply.status), (vec![100], 200));
    }
}

/// The stream is reset before the server can send 100 Continue (RFC 9113 §8.1.1).
#[test]
fn a_body_of_another_length_than_declared_is_not_asked_for() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    let fields = [("expect", "100-continue"), ("content-length", "5")];
    for path in ["/b", "/late", "/s"] {
        let id = client.id();
        let head = headers(id, &block("POST", path, &fields), false);
        client.send(&[head, data(id, b"four", true)].concat());
        let reply = client.reply(&mut driver, id);
        assert_eq!(
            (reply.reset, reply.interim, reply.status),
            (Some(1), vec![], 0)
        );
    }
    client.settle(&mut driver);
    assert!(client.frames_of(0).all(|frame| frame.kind != HEADERS));
    assert_eq!(driver.engine.in_flight(), 0);
}

#[test]
fn a_streamed_body_that_is_too_large_fails_and_the_handler_answers() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    let id = client.id();
    client.send(&headers(id, &block("POST", "/s", &[]), false));
    let seen = driver.request();
    allow(&mut driver, &seen, operation::READ, 1 << 20);
    for _ in 0..7 {
        client.send(&data(id, &[1; 16_000], false));
        client.settle(&mut driver);
    }
    let failed = driver.event(kind::BODY_FAIL);
    assert_eq!(failed.words[request::BODY_LENGTH], 413);
    driver.reply(&seen, 413, b"mine");
    let reply = client.reply(&mut driver, id);
    assert_eq!((reply.status, &reply.body[..]), (413, &b"mine"[..]));
}

#[test]
fn trailer_fields_come_with_the_end_of_a_streamed_body() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    let id = client.id();
    let mut trailers = Vec::new();
    h2::hpack::encode::field(&mut trailers, b"x-sum", b"42");
    client.send(&headers(id, &block("POST", "/s", &[]), false));
    let seen = driver.request();
    client.send(&data(id, b"abc", false));
    client.send(&frame(HEADERS, END_HEADERS | END_STREAM, id, &trailers));
    client.settle(&mut driver);
    allow(&mut driver, &seen, operation::READ, 100);
    driver.until(|driver| driver.seen.iter().any(|seen| seen.kind() == kind::BODY_END));
    assert_eq!(chunks(&driver), b"abc");
    let end = driver.event(kind::BODY_END);
    assert_eq!(end.body, b"\x05\0\x02\0x-sum42");
    start(driver.engine.memory(), &seen, None);
    finish(driver.engine.memory(), &seen);
    driver.engine.apply(&NoReferences);
    assert!(client.reply(&mut driver, id).whole);
}
