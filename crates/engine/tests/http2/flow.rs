//! Flow control of replies: both windows, the order of streams, the signals to producers, and replies that wait too
//! long.

use std::net::Shutdown;

use engine::{NoReferences, References};
use ring::layout::{kind, limit, operation, record, request};

use super::client::{Client, server};
use super::driver::http2::{
    DATA, HEADERS, INITIAL_WINDOW_SIZE, SETTINGS, block, headers, settings, window_update,
};
use super::driver::{Driver, allow, data, finish, limits, make, outlast, reply_large, start};

fn bytes_of(client: &Client, id: u32) -> usize {
    client.reply_so_far(id).body.len()
}

#[test]
fn a_reply_waits_for_the_window_of_its_stream() {
    let mut driver = server(&limits());
    let mut client = Client::with(&driver, &[(INITIAL_WINDOW_SIZE, 10)]);
    let id = client.get("/a");
    let seen = driver.request();
    driver.reply(&seen, 200, b"0123456789abcdef");
    client.settle(&mut driver);
    assert_eq!(client.reply_so_far(id).body, b"0123456789");
    // Another stream has its own window.
    let other = client.get("/a");
    let seen = driver.request();
    driver.reply(&seen, 200, b"short");
    assert_eq!(client.reply(&mut driver, other).body, b"short");
    client.send(&window_update(id, 3));
    client.settle(&mut driver);
    assert_eq!(client.reply_so_far(id).body, b"0123456789abc");
    // New settings shift the windows of open streams (RFC 9113 §6.9.2).
    client.send(&settings(&[(INITIAL_WINDOW_SIZE, 13)]));
    let reply = client.reply(&mut driver, id);
    assert_eq!(
        (&reply.body[..], reply.whole),
        (&b"0123456789abcdef"[..], true)
    );
    assert_eq!(driver.engine.in_flight(), 0);
}

/// RFC 9113 §6.5.3: the acknowledgement is sent at once. A client that waits for it may drop DATA that arrives earlier.
#[test]
fn settings_are_acknowledged_before_what_they_let_go() {
    let mut driver = server(&limits());
    let mut client = Client::with(&driver, &[(INITIAL_WINDOW_SIZE, 0)]);
    let id = client.get("/a");
    let seen = driver.request();
    driver.reply(&seen, 200, b"one");
    client.settle(&mut driver);
    client.frames.clear();
    client.send(&settings(&[(INITIAL_WINDOW_SIZE, 1)]));
    client.await_frame(&mut driver, DATA);
    let kinds: Vec<u8> = client.frames.iter().map(|frame| frame.kind).collect();
    assert_eq!(kinds[..2], [SETTINGS, DATA]);
    assert_eq!(bytes_of(&client, id), 1);
}

#[test]
fn a_window_may_fall_below_zero() {
    let mut driver = server(&limits());
    let mut client = Client::with(&driver, &[(INITIAL_WINDOW_SIZE, 10)]);
    let id = client.get("/a");
    let seen = driver.request();
    driver.reply(&seen, 200, &[b'x'; 30]);
    client.settle(&mut driver);
    client.send(&settings(&[(INITIAL_WINDOW_SIZE, 0)]));
    client.settle(&mut driver);
    client.send(&window_update(id, 9));
    client.settle(&mut driver);
    assert_eq!(bytes_of(&client, id), 10);
    client.send(&window_update(id, 2));
    client.settle(&mut driver);
    assert_eq!(bytes_of(&client, id), 11);
    client.send(&window_update(id, 100));
    assert_eq!(client.reply(&mut driver, id).body.len(), 30);
}

#[test]
fn a_large_reply_comes_in_frames_of_16_kib_within_both_windows() {
    let mut driver = server(&limits());
    let mut client = Client::with(&driver, &[(INITIAL_WINDOW_SIZE, 1 << 20)]);
    let id = client.get("/a");
    let seen = driver.request();
    reply_large(&mut driver, &seen, 300_000);
    client.settle(&mut driver);
    // The window of the connection still has its initial size (RFC 9113 §6.9.2).
    assert_eq!(bytes_of(&client, id), 65_535);
    client.send(&window_update(0, 1 << 20));
    let reply = client.reply(&mut driver, id);
    assert_eq!((reply.body, reply.whole), (vec![b'L'; 300_000], true));
    let frames = client.frames_of(id);
    assert!(
        frames
            .filter(|frame| frame.kind == DATA)
            .all(|frame| frame.payload.len() <= 16_384)
    );
}

#[test]
fn streams_take_turns() {
    let mut driver = server(&limits());
    let mut client = Client::with(&driver, &[(INITIAL_WINDOW_SIZE, 1 << 20)]);
    let fields = [("priority", "u=3, i")];
    let ids = [(); 3].map(|()| {
        let id = client.id();
        let block = super::driver::http2::block("GET", "/a", &fields);
        client.send(&super::driver::http2::headers(id, &block, true));
        id
    });
    let seen = [driver.request(), driver.request(), driver.request()];
    for seen in &seen {
        reply_large(&mut driver, seen, 200_000);
    }
    client.settle(&mut driver);
    client.send(&window_update(0, 300_000));
    client.until(&mut driver, |client| {
        ids.iter().map(|&id| bytes_of(client, id)).sum::<usize>() == 365_535
    });
    for id in &ids[1..] {
        let bytes = bytes_of(&client, *id);
        assert!(bytes >= 65_536, "stream {id} has {bytes} bytes");
    }
    client.send(&window_update(0, 1 << 20));
    for id in ids {
        assert_eq!(client.reply(&mut driver, id).body.len(), 200_000);
    }
}

#[test]
fn windows_that_grow_before_a_request_that_fills_the_slice_are_used() {
    let mut driver = server(&limits());
    let mut client = Client::with(&driver, &[(INITIAL_WINDOW_SIZE, 10)]);
    let id = client.get("/a");
    let seen = driver.request();
    driver.reply(&seen, 200, &[1; 30]);
    client.until(&mut driver, |client| bytes_of(client, id) == 10);
    driver.engine.set_slice_target(1);
    let next = client.id();
    let head = headers(next, &block("GET", "/a", &[]), true);
    client.send(&[window_update(id, 100), head].concat());
    let last = driver.request();
    assert_eq!(client.reply(&mut driver, id).body, [1; 30]);
    driver.reply(&last, 200, b"ok");
    assert_eq!(client.reply(&mut driver, next).body, b"ok");
}

#[test]
fn a_producer_is_told_to_go_on_when_nothing_of_it_waits() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    let id = client.get("/a");
    let seen = driver.request();
    start(driver.engine.memory(), &seen, None);
    data(driver.engine.memory(), &seen, &vec![1; 60_000], false);
    data(driver.engine.memory(), &seen, &vec![1; 60_000], true);
    driver.engine.apply(&NoReferences);
    client.settle(&mut driver);
    assert!(driver.seen.iter().all(|seen| seen.kind() != kind::DRAIN));
    client.send(&window_update(id, 1 << 20));
    client.send(&window_update(0, 1 << 20));
    assert_eq!(driver.event(kind::DRAIN).slot(), seen.slot());
    finish(driver.engine.memory(), &seen);
    driver.engine.apply(&NoReferences);
    assert_eq!(client.reply(&mut driver, id).body.len(), 120_000);
}

#[test]
fn a_producer_is_told_to_go_on_although_its_client_has_closed_its_side() {
    let mut driver = server(&limits());
    let windows = [(INITIAL_WINDOW_SIZE, 1 << 20)];
    let mut client = Client::with(&driver, &windows);
    client.send(&window_update(0, 1 << 20));
    let id = client.get("/a");
    let seen = driver.request();
    client.stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(driver.event(kind::ABORT).slot(), seen.slot());
    start(driver.engine.memory(), &seen, None);
    data(driver.engine.memory(), &seen, &vec![1; 300_000], true);
    driver.engine.apply(&NoReferences);
    client.until(&mut driver, |client| bytes_of(client, id) == 300_000);
    assert_eq!(driver.event(kind::DRAIN).slot(), seen.slot());
    finish(driver.engine.memory(), &seen);
    driver.engine.apply(&NoReferences);
    assert!(client.reply(&mut driver, id).whole);
    client.until(&mut driver, |client| client.ended);
}

#[test]
fn a_producer_of_little_is_told_at_once() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    client.get("/a");
    let seen = driver.request();
    start(driver.engine.memory(), &seen, None);
    data(driver.engine.memory(), &seen, b"little", true);
    driver.engine.apply(&NoReferences);
    assert_eq!(driver.event(kind::DRAIN).slot(), seen.slot());
}

#[test]
fn a_reply_that_its_client_does_not_take_is_reset() {
    let mut values = limits();
    values[limit::SEND_TIMEOUT] = 200.0;
    let mut driver = server(&values);
    let mut client = Client::with(&driver, &[(INITIAL_WINDOW_SIZE, 0)]);
    let (whole, streamed) = (client.get("/a"), client.get("/a"));
    let works = client.get("/a");
    let seen = [driver.request(), driver.request(), driver.request()];
    driver.reply(&seen[0], 200, b"whole");
    start(driver.engine.memory(), &seen[1], None);
    data(driver.engine.memory(), &seen[1], b"a part", false);
    driver.engine.apply(&NoReferences);
    outlast(&mut driver, 400);
    for id in [whole, streamed] {
        assert_eq!(client.reply(&mut driver, id).reset, Some(8));
    }
    let aborted = driver.event(kind::ABORT);
    assert_eq!(aborted.slot(), seen[1].slot());
    assert_eq!(driver.engine.in_flight(), 1);
    // The connection continues for the remaining stream.
    client.send(&settings(&[(INITIAL_WINDOW_SIZE, 100)]));
    driver.reply(&seen[2], 200, b"ok");
    assert_eq!(client.reply(&mut driver, works).body, b"ok");
}

/// The waiting bytes of a reply are not mixed with a second reply when the rest of the request times out.
#[test]
fn a_reply_that_waits_outlasts_the_time_limit_of_its_request() {
    let mut values = limits();
    values[limit::REQUEST_TIMEOUT] = 100.0;
    let mut driver = server(&values);
    let mut client = Client::with(&driver, &[(INITIAL_WINDOW_SIZE, 4)]);
    let id = client.id();
    client.send(&headers(id, &block("POST", "/s", &[]), false));
    let seen = driver.request();
    allow(&mut driver, &seen, operation::READ, 1000);
    driver.reply(&seen, 200, b"first and only");
    outlast(&mut driver, 1_500);
    client.send(&window_update(id, 1000));
    let reply = client.reply(&mut driver, id);
    assert_eq!(
        (reply.status, &reply.body[..]),
        (200, &b"first and only"[..])
    );
    let heads = client.frames_of(id).filter(|frame| frame.kind == HEADERS);
    assert_eq!(heads.count(), 1);
}

/// RFC 9113 §8.1: the client learns at once that the rest of its request is not needed, although it sends nothing more.
#[test]
fn the_end_of_a_reply_that_waited_stops_the_upload() {
    let mut driver = server(&limits());
    let mut client = Client::with(&driver, &[(INITIAL_WINDOW_SIZE, 1 << 20)]);
    client.send(&window_update(0, 1 << 20));
    let id = client.id();
    client.send(&headers(id, &block("POST", "/s", &[]), false));
    let seen = driver.request();
    reply_large(&mut driver, &seen, 300_000);
    client.until(&mut driver, |client| {
        client.reply_so_far(id).reset.is_some()
    });
    let reply = client.reply_so_far(id);
    assert_eq!(
        (reply.body.len(), reply.whole, reply.reset),
        (300_000, true, Some(0))
    );
}

#[test]
fn a_client_that_takes_none_of_its_replies_is_left() {
    let mut values = limits();
    values[limit::SEND_TIMEOUT] = 200.0;
    let mut driver = server(&values);
    let mut client = Client::with(&driver, &[(INITIAL_WINDOW_SIZE, 0)]);
    for _ in 0..3 {
        client.get("/a");
        let seen = driver.request();
        driver.reply(&seen, 200, b"whole");
    }
    outlast(&mut driver, 400);
    assert_eq!(client.end(&mut driver), Some(0));
}

#[test]
fn what_waits_is_bounded_by_the_limit_of_the_server() {
    let mut values = limits();
    values[limit::MAX_BUFFERED_REPLIES] = 100_000.0;
    let mut driver = server(&values);
    let mut client = Client::with(&driver, &[(INITIAL_WINDOW_SIZE, 0)]);
    let ids = [(); 3].map(|()| client.get("/a"));
    for _ in ids {
        let seen = driver.request();
        driver.reply(&seen, 200, &[b'x'; 15_000].repeat(3));
    }
    assert_eq!(client.reply(&mut driver, ids[2]).reset, Some(2));
    assert_eq!(driver.engine.stats(driver.server).unwrap().dropped, 1);
    client.send(&settings(&[(INITIAL_WINDOW_SIZE, 65_535)]));
    client.send(&window_update(0, 1 << 20));
    for id in &ids[..2] {
        assert_eq!(client.reply(&mut driver, *id).body.len(), 45_000);
    }
}

/// Gives no body, as if its memory had been transferred to a worker.
struct Moved;

impl References for Moved {
    fn bytes(&self, _: u32) -> Option<&[u8]> {
        None
    }
}

#[test]
fn a_body_whose_memory_is_gone_makes_500() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    let id = client.get("/a");
    let seen = driver.request();
    let mut words = make(&seen, operation::END, 200);
    words.0[record::REFERENCE] = 1;
    words.0[record::BODY_LENGTH] = 20_000;
    driver.engine.memory().push_signal(words);
    driver.engine.apply(&Moved);
    assert_eq!(client.reply(&mut driver, id).status, 500);
}

/// Gives the number of requests that reached JavaScript.
pub fn requests(driver: &Driver) -> usize {
    let seen = driver.seen.iter();
    seen.filter(|seen| seen.kind() == kind::REQUEST && seen.words[request::ROUTE] >= 0)
        .count()
}
