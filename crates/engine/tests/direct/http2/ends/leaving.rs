//! Connections of a server that closes, old ones, and those whose client closed its side.

use super::stays;
use crate::driver::http2::{
    ACK, GOAWAY, INITIAL_WINDOW_SIZE, PING, block, frame, headers, window_update,
};
use crate::driver::{Driver, limits, make, pass, reply_large};
use crate::http2::client::{Client, server};
use engine::NoReferences;
use ring::layout::{kind, limit, operation, request};
use std::net::Shutdown;

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
    stays(&mut client, &mut driver, 999);
    pass(&mut driver, 1);
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
    stays(&mut client, &mut driver, 299);
    pass(&mut driver, 1);
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
    for (age, is_old) in [(49, false), (50, false), (51, true)] {
        let mut driver = server(&values);
        let mut client = Client::new(&driver);
        client.settle(&mut driver);
        pass(&mut driver, age);
        let id = client.get("/a");
        let seen = driver.request();
        if is_old {
            answer_ping(&mut client, &mut driver);
            client.until(&mut driver, |client| last_stream(client).len() == 2);
        }
        driver.reply(&seen, 200, b"ok");
        assert_eq!(client.reply(&mut driver, id).body, b"ok");
        if is_old {
            assert_eq!(client.end(&mut driver), Some(0));
        } else {
            client.settle(&mut driver);
            assert!(!client.has(PING) && !client.has(GOAWAY), "{age} ms");
        }
    }
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
