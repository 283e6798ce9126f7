//! Large bodies stay where they are until they are sent, are counted once, and are given back.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::driver::retained_body::Shared;
use crate::driver::{Driver, Seen, data, finish, limits, make, send, start};
use engine::NoReferences;
use ring::layout::{kind, limit, operation, record};

const GET: &[u8] = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
/// More than the buffers of two sockets take.
const LENGTH: usize = 16 << 20;

fn reply(driver: &mut Driver, to: &Seen, body: &Shared) {
    let mut words = make(to, operation::END, 200);
    words.0[record::REFERENCE] = 1;
    words.0[record::BODY_LENGTH] = body.bytes.len() as i32;
    driver.engine.memory().push_signal(words);
    driver.engine.apply(body);
}

fn ask(driver: &mut Driver) -> (TcpStream, Seen) {
    let mut client = driver.client();
    send(&mut client, GET);
    let request = driver.request();
    (client, request)
}

/// Reads `count` whole replies with a length, a part at a time; gives their bodies.
fn read_replies(driver: &mut Driver, client: &mut TcpStream, count: usize) -> Vec<Vec<u8>> {
    let mut received = Vec::new();
    let mut buffer = vec![0; 100_000];
    let mut bodies = Vec::new();
    let started = Instant::now();
    while bodies.len() < count {
        assert!(
            started.elapsed() < Duration::from_secs(300),
            "{}",
            bodies.len()
        );
        driver.turn(|_, _| {});
        match client.read(&mut buffer) {
            Ok(0) => panic!("the connection ended after {} bytes", received.len()),
            Ok(count) => received.extend_from_slice(&buffer[..count]),
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}"),
        }
        while let Some(head) = received.windows(4).position(|four| four == b"\r\n\r\n") {
            let text = String::from_utf8_lossy(&received[..head]).into_owned();
            let length = text.split("Content-Length: ").nth(1).unwrap();
            let length: usize = length.split("\r\n").next().unwrap().parse().unwrap();
            let body = head + 4;
            if received.len() < body + length {
                break;
            }
            bodies.push(received[body..body + length].to_vec());
            received.drain(..body + length);
        }
    }
    assert!(received.is_empty());
    bodies
}

fn dropped(driver: &Driver) -> u64 {
    driver.engine.stats(driver.server).unwrap().dropped
}

#[test]
fn a_body_many_clients_wait_for_is_kept_once_and_each_gets_all_of_it() {
    let mut driver = Driver::new(&limits());
    let body = Shared::new(LENGTH);
    let mut clients = Vec::new();
    for _ in 0..6 {
        let (client, request) = ask(&mut driver);
        reply(&mut driver, &request, &body);
        clients.push(client);
    }
    assert_eq!(body.held.get(), 1);
    for client in &mut clients {
        assert!(read_replies(&mut driver, client, 1)[0] == *body.bytes);
    }
    assert_eq!(body.held.get(), 0);
    // The connections are as they were.
    send(&mut clients[0], GET);
    let request = driver.request();
    driver.reply(&request, 200, b"next");
    driver.read(&mut clients[0], |received| received.ends_with(b"next"));
}

#[test]
fn a_body_that_waits_for_an_earlier_reply_is_kept_too() {
    let mut driver = Driver::new(&limits());
    let body = Shared::new(LENGTH);
    let mut client = driver.client();
    send(&mut client, &GET.repeat(4));
    let requests: Vec<_> = (0..4).map(|_| driver.request()).collect();
    driver.reply(&requests[2], 200, b"third");
    for at in [3, 1] {
        reply(&mut driver, &requests[at], &body);
    }
    assert_eq!(body.held.get(), 1);
    driver.reply(&requests[0], 200, b"first");
    let replies = read_replies(&mut driver, &mut client, 4);
    assert!(replies[0] == b"first" && replies[2] == b"third");
    assert!(replies[1] == *body.bytes && replies[3] == *body.bytes);
    assert_eq!(body.held.get(), 0);
}

#[test]
fn a_part_of_a_stream_is_kept_and_its_producer_waits_until_it_is_sent() {
    let mut driver = Driver::new(&limits());
    let body = Shared::new(LENGTH);
    let (mut client, request) = ask(&mut driver);
    start(driver.engine.memory(), &request, None);
    let mut words = make(&request, operation::DATA, 1);
    words.0[record::REFERENCE] = 1;
    words.0[record::BODY_LENGTH] = LENGTH as i32;
    driver.engine.memory().push_signal(words);
    driver.engine.apply(&body);
    assert_eq!(body.held.get(), 1);
    let (received, _) = driver.read(&mut client, |received| received.len() > LENGTH);
    assert!(received.ends_with(b"\xfe\xff\r\n"));
    driver.event(kind::DRAIN);
    assert_eq!(body.held.get(), 0);
    data(driver.engine.memory(), &request, b"last", false);
    finish(driver.engine.memory(), &request);
    driver.engine.apply(&NoReferences);
    driver.read(&mut client, |received| {
        received.ends_with(b"4\r\nlast\r\n0\r\n\r\n")
    });
}

#[test]
fn a_reply_whose_memory_has_changed_is_cut_off_with_a_reset() {
    let mut driver = Driver::new(&limits());
    let body = Shared::new(LENGTH);
    let (mut client, request) = ask(&mut driver);
    reply(&mut driver, &request, &body);
    // And one that waits behind an earlier reply.
    let mut behind = driver.client();
    send(&mut behind, &GET.repeat(2));
    let requests = [driver.request(), driver.request()];
    reply(&mut driver, &requests[1], &body);
    body.whole.set(false);
    let (received, ended) = driver.read(&mut client, |_| false);
    assert!(ended && received.len() < LENGTH);
    driver.reply(&requests[0], 200, b"first");
    let (received, ended) = driver.read(&mut behind, |_| false);
    assert!(ended && received.len() < LENGTH);
    assert_eq!((driver.engine.connection_count(), body.held.get()), (0, 0));
    // Another body lies there now.
    body.whole.set(true);
    let (mut client, request) = ask(&mut driver);
    reply(&mut driver, &request, &body);
    assert!(read_replies(&mut driver, &mut client, 1)[0] == *body.bytes);
}

#[test]
fn a_body_is_given_back_when_its_clients_leave() {
    let mut driver = Driver::new(&limits());
    let body = Shared::new(LENGTH);
    let (first, request) = ask(&mut driver);
    reply(&mut driver, &request, &body);
    let (second, request) = ask(&mut driver);
    reply(&mut driver, &request, &body);
    drop(first);
    driver.until(|driver| driver.engine.connection_count() == 1);
    assert_eq!(body.held.get(), 1);
    drop(second);
    driver.until(|driver| driver.engine.connection_count() == 0);
    assert_eq!(body.held.get(), 0);
}

#[test]
fn what_waited_for_a_client_that_reset_its_connection_goes_to_nobody_else() {
    let mut driver = Driver::prompt(&limits());
    let body = Shared::new(LENGTH);
    let mut client = driver.client();
    send(&mut client, &GET.repeat(3));
    let requests: Vec<_> = (0..3).map(|_| driver.request()).collect();
    start(driver.engine.memory(), &requests[2], None);
    let mut words = make(&requests[2], operation::DATA, 0);
    words.0[record::REFERENCE] = 1;
    words.0[record::BODY_LENGTH] = LENGTH as i32;
    driver.engine.memory().push_signal(words);
    data(driver.engine.memory(), &requests[2], b"secret", false);
    finish(driver.engine.memory(), &requests[2]);
    driver.engine.apply(&body);
    driver.reply(&requests[0], 200, b"first");
    client.set_nonblocking(false).unwrap();
    client.peek(&mut [0]).unwrap();
    // The kernel resets a connection that is closed with something unread.
    drop(client);
    driver.reply(&requests[1], 200, b"second");
    assert_eq!(driver.engine.connection_count(), 0);
    let (mut other, request) = ask(&mut driver);
    driver.reply(&request, 200, b"other");
    let (received, _) = driver.read(&mut other, |received| received.ends_with(b"other"));
    assert!(received.starts_with(b"HTTP/1.1 200 OK"), "{received:?}");
}

/// A server that lets `most` bytes wait, and the two requests of a client: what answers the second waits for the first.
fn bounded(most: usize) -> (Driver, TcpStream, [Seen; 2]) {
    let mut values = limits();
    values[limit::MAX_BUFFERED_REPLIES] = most as f64;
    let mut driver = Driver::prompt(&values);
    let mut client = driver.client();
    send(&mut client, &GET.repeat(2));
    let requests = [driver.request(), driver.request()];
    (driver, client, requests)
}

#[test]
fn the_limit_of_what_waits_is_exact() {
    let (mut driver, mut client, requests) = bounded(1_000_000);
    driver.reply(&requests[1], 200, &[b'b'; 10_000]);
    driver.reply(&requests[0], 200, b"");
    let (received, _) = driver.read(&mut client, |received| received.ends_with(b"bbbb"));
    let second = received
        .windows(8)
        .rposition(|eight| eight == b"HTTP/1.1")
        .unwrap();
    let waits = received.len() - second;
    for (most, fits) in [(waits + 1, true), (waits, true), (waits - 1, false)] {
        let (mut driver, mut client, requests) = bounded(most);
        driver.reply(&requests[1], 200, &[b'b'; 10_000]);
        assert_eq!(dropped(&driver), u64::from(!fits), "{most} of {waits}");
        if fits {
            // Another connection: not one byte more fits, and the first keeps what it was given.
            let mut other = driver.client();
            send(&mut other, &GET.repeat(2));
            driver.request();
            let request = driver.request();
            driver.reply(&request, 200, b"");
            let (_, ended) = driver.read(&mut other, |_| false);
            assert!(ended);
            assert_eq!(dropped(&driver), 1);
            driver.reply(&requests[0], 200, b"");
            driver.read(&mut client, |received| received.ends_with(b"bbbb"));
            // It is sent, so there is room again.
            send(&mut client, &GET.repeat(2));
            driver.request();
            let request = driver.request();
            driver.reply(&request, 200, &[b'b'; 10_000]);
            assert_eq!(dropped(&driver), 1);
        } else {
            let (received, ended) = driver.read(&mut client, |_| false);
            assert!(ended && received.is_empty());
            assert_eq!(driver.engine.in_flight(), 0);
        }
    }
}

#[test]
fn a_body_counts_once_however_many_wait_for_it() {
    for (most, fits) in [(LENGTH + 10_000, true), (LENGTH, false)] {
        let mut values = limits();
        values[limit::MAX_BUFFERED_REPLIES] = most as f64;
        let mut driver = Driver::new(&values);
        let body = Shared::new(LENGTH);
        let mut clients = Vec::new();
        for _ in 0..5 {
            let mut client = driver.client();
            send(&mut client, &GET.repeat(2));
            let requests = [driver.request(), driver.request()];
            reply(&mut driver, &requests[1], &body);
            clients.push((client, requests));
        }
        assert_eq!(dropped(&driver), if fits { 0 } else { 5 });
        assert_eq!(body.held.get(), usize::from(fits));
        if !fits {
            continue;
        }
        let another = Shared::new(LENGTH);
        let mut client = driver.client();
        send(&mut client, &GET.repeat(2));
        let requests = [driver.request(), driver.request()];
        reply(&mut driver, &requests[1], &another);
        assert_eq!((dropped(&driver), another.held.get()), (1, 0));
        // Each of the others is still served.
        let (client, requests) = &mut clients[4];
        driver.reply(&requests[0], 200, b"");
        let replies = read_replies(&mut driver, client, 2);
        assert!(replies[0].is_empty() && replies[1] == *body.bytes);
    }
}
