//! How connections end: by a server that closes, by age, by silence, by a client that leaves, and by time limits.

use std::net::Shutdown;
use std::time::Duration;

use engine::NoReferences;
use ring::layout::{kind, limit, operation, request};

use super::client::{Client, server};
use super::driver::http2::{
    ACK, GOAWAY, HEADERS, INITIAL_WINDOW_SIZE, PING, block, data, frame, headers, window_update,
};
use super::driver::{Driver, allow, idle, limits, make, outlast, reply_large};

fn last_stream(client: &Client) -> Vec<u32> {
    let frames = client.frames.iter().filter(|frame| frame.kind == GOAWAY);
    frames
        .map(|frame| u32::from_be_bytes(frame.payload[..4].try_into().unwrap()))
        .collect()
}

fn answer_ping(client: &mut Client, driver: &mut Driver) {
    let ping = client.await_frame(driver, PING);
    client.send(&frame(PING, ACK, 0, &ping.payload));
}

fn close(driver: &mut Driver) {
    let server = driver.server;
    driver.engine.close(server);
}

#[test]
fn a_server_that_closes_serves_what_was_sent_before_the_client_knew() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    let first = client.get("/a");
    let seen = driver.request();
    close(&mut driver);
    client.until(&mut driver, |client| client.has(PING));
    assert_eq!(last_stream(&client), [(1 << 31) - 1]);
    // This request was sent before the client could read the GOAWAY.
    let second = client.get("/a");
    let late = driver.request();
    answer_ping(&mut client, &mut driver);
    client.until(&mut driver, |client| last_stream(client).len() == 2);
    assert_eq!(last_stream(&client)[1], second);
    let third = client.get("/a");
    driver.reply(&seen, 200, b"first");
    driver.reply(&late, 200, b"second");
    assert_eq!(client.reply(&mut driver, first).body, b"first");
    assert_eq!(client.reply(&mut driver, second).body, b"second");
    assert_eq!(client.end(&mut driver), Some(0));
    assert!(matches!(client.reply_so_far(third).reset, None | Some(7)));
    drop(client);
    driver.event(kind::CLOSED);
    assert_eq!(driver.engine.connection_count(), 0);
}

/// The pump writes the end of the last reply, behind the bytes that the window allowed before.
#[test]
fn a_long_reply_is_sent_to_its_end_before_its_connection_closes() {
    for window in [1 << 20, 60_000] {
        let mut driver = server(&limits());
        let mut client = Client::with(&driver, &[(INITIAL_WINDOW_SIZE, window)]);
        let id = client.get("/a");
        let seen = driver.request();
        client.send(&window_update(0, 1 << 20));
        client.settle(&mut driver);
        close(&mut driver);
        answer_ping(&mut client, &mut driver);
        client.until(&mut driver, |client| last_stream(client).len() == 2);
        reply_large(&mut driver, &seen, 300_000);
        if window == 60_000 {
            client.until(&mut driver, |client| {
                client.reply_so_far(id).body.len() == 60_000
            });
            client.send(&window_update(id, 1 << 20));
        }
        let reply = client.reply(&mut driver, id);
        assert_eq!((reply.body.len(), reply.whole), (300_000, true));
        assert_eq!(client.end(&mut driver), Some(0));
    }
}

#[test]
fn an_idle_connection_of_a_server_that_closes_ends_after_a_round_trip() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    client.settle(&mut driver);
    close(&mut driver);
    answer_ping(&mut client, &mut driver);
    assert_eq!(client.end(&mut driver), Some(0));
    drop(client);
    driver.event(kind::CLOSED);
}

#[test]
fn a_client_that_does_not_answer_is_awaited_for_a_second() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    client.settle(&mut driver);
    close(&mut driver);
    outlast(&mut driver, 1_500);
    assert_eq!(client.end(&mut driver), Some(0));
    assert_eq!(last_stream(&client).len(), 2);
}

#[test]
fn streams_that_last_past_the_limit_of_the_close_are_reset() {
    let mut values = limits();
    values[limit::DRAIN_IDLE] = 10.0;
    values[limit::SHUTDOWN_TIMEOUT] = 300.0;
    let mut driver = server(&values);
    let mut client = Client::new(&driver);
    client.get("/a");
    let seen = driver.request();
    close(&mut driver);
    outlast(&mut driver, 700);
    client.until(&mut driver, |client| client.ended);
    let aborted = driver.event(kind::ABORT);
    assert_eq!(
        (aborted.slot(), aborted.words[request::BODY_LENGTH]),
        (seen.slot(), 2)
    );
    driver.event(kind::CLOSED);
    assert_eq!(driver.engine.in_flight(), 0);
}

#[test]
fn an_old_connection_leaves_as_one_of_a_server_that_closes() {
    let mut values = limits();
    values[limit::MAX_CONNECTION_AGE] = 50.0;
    let mut driver = server(&values);
    let mut client = Client::new(&driver);
    client.settle(&mut driver);
    std::thread::sleep(Duration::from_millis(60));
    let id = client.get("/a");
    let seen = driver.request();
    answer_ping(&mut client, &mut driver);
    client.until(&mut driver, |client| last_stream(client).len() == 2);
    driver.reply(&seen, 200, b"ok");
    assert_eq!(client.reply(&mut driver, id).body, b"ok");
    assert_eq!(client.end(&mut driver), Some(0));
}

#[test]
fn a_connection_without_streams_ends() {
    let mut values = limits();
    values[limit::HTTP2_IDLE_TIMEOUT] = 100.0;
    let mut driver = server(&values);
    let mut client = Client::new(&driver);
    let id = client.get("/a");
    let seen = driver.request();
    outlast(&mut driver, 300);
    client.receive();
    assert!(!client.ended, "a stream is open");
    driver.reply(&seen, 200, b"ok");
    assert_eq!(client.reply(&mut driver, id).body, b"ok");
    outlast(&mut driver, 300);
    assert_eq!(client.end(&mut driver), Some(0));
}

#[test]
fn a_client_that_sends_nothing_ends() {
    let mut values = limits();
    values[limit::HEADERS_TIMEOUT] = 100.0;
    let mut driver = server(&values);
    let mut client = Client::new(&driver);
    driver.until(|driver| driver.engine.connection_count() == 1);
    outlast(&mut driver, 300);
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
        outlast(&mut driver, 500);
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
        idle(&mut driver, 100);
        client.send(&[&ping[5..], &ping[..5]].concat());
    }
    idle(&mut driver, 100);
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
    outlast(&mut driver, 500);
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
    outlast(&mut driver, 1_500);
    for id in [buffered, streamed] {
        assert_eq!(client.reply(&mut driver, id).status, 408);
    }
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
    outlast(&mut driver, 300);
    assert_eq!(client.reply(&mut driver, id).status, 503);
    let aborted = driver.event(kind::ABORT);
    assert_eq!(
        (aborted.slot(), aborted.words[request::BODY_LENGTH]),
        (seen.slot(), 1)
    );
}

#[test]
fn a_client_that_closed_its_side_still_gets_its_replies() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    let id = client.get("/a");
    let upload = client.id();
    client.send(&headers(upload, &block("POST", "/s", &[]), false));
    let buffered = client.id();
    client.send(&headers(buffered, &block("POST", "/b", &[]), false));
    let (seen, streamed) = (driver.request(), driver.request());
    client.stream.shutdown(Shutdown::Write).unwrap();
    let told = driver.event(kind::ABORT);
    assert_eq!(
        (told.slot(), told.words[request::BODY_OFFSET]),
        (seen.slot(), 1)
    );
    assert_eq!(driver.event(kind::BODY_FAIL).slot(), streamed.slot());
    driver
        .engine
        .memory()
        .push_signal(make(&streamed, operation::DESTROY, 0));
    driver.engine.apply(&NoReferences);
    driver.reply(&seen, 200, b"still");
    assert_eq!(client.reply(&mut driver, id).body, b"still");
    client.until(&mut driver, |client| client.ended);
    assert_eq!(driver.engine.in_flight(), 0);
}
