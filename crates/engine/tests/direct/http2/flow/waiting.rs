//! Replies that wait for a window: for how long, and how much of them.

use crate::driver::http2::{HEADERS, INITIAL_WINDOW_SIZE, block, headers, settings, window_update};
use crate::driver::{allow, data, limits, make, pass, reply_large, start};
use crate::http2::client::{Client, server};
use engine::{NoReferences, References};
use ring::layout::{kind, limit, operation, record};

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
    pass(&mut driver, 199);
    client.receive();
    assert!(!client.is_over(whole) && !client.is_over(streamed));
    pass(&mut driver, 1);
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
    for ms in [99, 1, 1, 1_400] {
        pass(&mut driver, ms);
    }
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
    pass(&mut driver, 199);
    client.receive();
    assert!(!client.ended);
    pass(&mut driver, 1);
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
