//! Resets: the handler is told, and all resources of the stream are freed exactly once.

use engine::{NoReferences, ServerStats};
use ring::layout::{kind, limit, operation, request};

use super::client::{Client, server};
use crate::driver::http2::{INITIAL_WINDOW_SIZE, block, data, headers, reset};
use crate::driver::{Driver, Seen, allow, answer, end, limits, make, start};

/// Asserts that no stream holds resources.
fn all_is_back(driver: &mut Driver) {
    assert_eq!(driver.engine.in_flight(), 0);
    assert_eq!(driver.engine.buffered(driver.server), 0);
    let ServerStats { in_flight, .. } = driver.engine.stats(driver.server).unwrap();
    assert_eq!(in_flight, 0);
}

#[test]
fn a_handler_is_told_that_its_stream_was_reset() {
    let mut driver = server(&limits());
    let mut client = Client::new(&driver);
    let (id, other) = (client.get("/a"), client.get("/a"));
    let (seen, waits) = (driver.request(), driver.request());
    client.send(&reset(id, 8));
    let aborted = driver.event(kind::ABORT);
    assert_eq!(
        (
            aborted.slot(),
            aborted.generation(),
            aborted.words[request::BODY_LENGTH]
        ),
        (seen.slot(), seen.generation(), 0)
    );
    // The late reply is dropped, and the other stream continues.
    end(driver.engine.memory(), &seen, 200, b"late");
    driver.reply(&waits, 200, b"ok");
    assert_eq!(client.reply(&mut driver, other).body, b"ok");
    assert_eq!(client.frames_of(id).count(), 0);
    all_is_back(&mut driver);
}

#[test]
fn a_stream_reset_in_the_receive_that_opened_it_reaches_no_handler() {
    // The transport must not split the frames: all of them have to arrive in one receive.
    let mut driver = Driver::prompt(&limits());
    driver.engine.set_http2(driver.server, true);
    let mut client = Client::new(&driver);
    client.settle(&mut driver);
    let mut bytes = Vec::new();
    for round in 0..20 {
        let id = client.id();
        match round % 4 {
            0 => bytes.extend(headers(id, &block("GET", "/a", &[]), true)),
            1 => {
                bytes.extend(headers(id, &block("POST", "/b", &[]), false));
                bytes.extend(data(id, b"whole", true));
            }
            2 => {
                bytes.extend(headers(id, &block("POST", "/s", &[]), false));
                bytes.extend(data(id, b"part", false));
            }
            _ => {
                bytes.extend(headers(id, &block("POST", "/b", &[]), false));
                bytes.extend(data(id, b"part", false));
            }
        }
        bytes.extend(reset(id, 8));
    }
    let last = client.id();
    bytes.extend(headers(last, &block("GET", "/a", &[]), true));
    client.send(&bytes);
    driver.serve_until(answer, |_| {
        client.receive();
        client.is_over(last)
    });
    assert_eq!(super::flow::requests(&driver), 1);
    all_is_back(&mut driver);
}

#[test]
fn whatever_a_stream_holds_comes_back_with_its_reset() {
    let mut driver = server(&limits());
    let mut client = Client::with(&driver, &[(INITIAL_WINDOW_SIZE, 0)]);
    // This body is being buffered.
    let buffered = client.id();
    client.send(&headers(buffered, &block("POST", "/b", &[]), false));
    client.send(&data(buffered, &[0; 10_000], false));
    // One body is not read yet, and another one is read in part.
    let kept = client.id();
    client.send(&headers(kept, &block("POST", "/s", &[]), false));
    driver.request();
    client.send(&data(kept, &[0; 10_000], false));
    let read = client.id();
    client.send(&headers(read, &block("POST", "/s", &[]), false));
    let reads = driver.request();
    allow(&mut driver, &reads, operation::READ, 100);
    client.send(&data(read, &[0; 10_000], true));
    // One reply waits for its window as a whole, and another one in part.
    let (whole, part) = (client.get("/a"), client.get("/a"));
    let seen = [driver.request(), driver.request()];
    driver.reply(&seen[0], 200, b"whole");
    start(driver.engine.memory(), &seen[1], None);
    crate::driver::data(driver.engine.memory(), &seen[1], b"part", true);
    driver.engine.apply(&NoReferences);
    client.settle(&mut driver);
    assert!(driver.engine.buffered(driver.server) > 29_000);
    driver.seen.clear();
    for id in [buffered, kept, read, whole, part] {
        client.send(&reset(id, 8));
    }
    client.settle(&mut driver);
    let mut aborted: Vec<i32> = driver
        .seen
        .iter()
        .filter(|seen| seen.kind() == kind::ABORT)
        .map(Seen::slot)
        .collect();
    aborted.sort_unstable();
    aborted.dedup();
    assert_eq!(
        aborted.len(),
        3,
        "a handler is told once, and only of its own stream"
    );
    all_is_back(&mut driver);
    for seen in &seen {
        end(driver.engine.memory(), seen, 200, b"late");
        allow(&mut driver, seen, operation::CREDIT, 100);
    }
    all_is_back(&mut driver);
}

#[test]
fn everything_comes_back_when_the_connection_is_lost() {
    let mut driver = server(&limits());
    for round in 0..3 {
        let mut client = Client::with(&driver, &[(INITIAL_WINDOW_SIZE, 0)]);
        let id = client.id();
        client.send(&headers(id, &block("POST", "/b", &[]), false));
        client.send(&data(id, &[0; 10_000], false));
        let id = client.id();
        client.send(&headers(id, &block("POST", "/s", &[]), false));
        driver.request();
        client.send(&data(id, &[0; 10_000], false));
        client.get("/a");
        let seen = driver.request();
        driver.reply(&seen, 200, b"waits");
        client.settle(&mut driver);
        match round {
            0 => drop(client),
            1 => client.send(&[0xff; 64]),
            _ => client.send(&crate::driver::http2::frame(0, 0, 0, b"x")),
        }
        let destroy = |memory: &mut ring::Memory, seen: &Seen| {
            if seen.kind() == kind::BODY_FAIL {
                memory.push_signal(make(seen, operation::DESTROY, 0));
            }
        };
        driver.serve_until(destroy, |driver| {
            driver.engine.in_flight() == 0 && driver.engine.connection_count() <= 1
        });
        all_is_back(&mut driver);
    }
}

#[test]
fn slots_are_used_again_by_streams_that_come_later() {
    let mut values = limits();
    values[limit::MAX_STREAM_RESETS] = 1_000.0;
    let mut driver = server(&values);
    let mut client = Client::new(&driver);
    for round in 0..100 {
        let ids = [client.get("/a"), client.get("/a")];
        let seen = [driver.request(), driver.request()];
        if round % 2 == 0 {
            client.send(&reset(ids[0], 8));
            client.settle(&mut driver);
        }
        for seen in &seen {
            end(driver.engine.memory(), seen, 200, b"ok");
        }
        driver.engine.apply(&NoReferences);
        assert_eq!(client.reply(&mut driver, ids[1]).body, b"ok");
        client.frames.clear();
        all_is_back(&mut driver);
    }
}
