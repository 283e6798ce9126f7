//! HTTP/1 over a transport that delays and splits. The tests of the files below run as they stand there; `driver` sees
//! where it is.
#![allow(clippy::duplicate_mod, reason = "each of the files has its driver")]

mod driver;

#[path = "closing.rs"]
mod closing;
#[path = "connection.rs"]
mod connection;
#[path = "connection_fuzz.rs"]
mod connection_fuzz;
#[path = "../../wire/tests/corpus/mod.rs"]
mod corpus;
#[path = "deadlines.rs"]
mod deadlines;
#[path = "faults.rs"]
mod faults;
#[path = "half_close.rs"]
mod half_close;
#[path = "interim.rs"]
mod interim;
#[path = "retained.rs"]
mod retained;

use std::io::{ErrorKind, Read, Write};

use driver::{Driver, GET, POST, PURGE, Seen, end, limits, text};
use engine::Delays;
use ring::Memory;
use ring::layout::{kind, request};

const END: &[u8] = b"GET /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

/// Replies with what the descriptor says, and the bytes it points to.
fn tell(memory: &mut Memory, seen: &Seen) {
    if seen.kind() != kind::REQUEST {
        return;
    }
    let numbers = [
        request::ROUTE,
        request::KIND,
        request::QUERY_LENGTH,
        request::COUNTS,
        request::BODY_LENGTH,
        request::ALLOW,
    ];
    let numbers = numbers.map(|word| seen.words[word]);
    let head = text(&seen.head);
    let told = format!("{numbers:?} {} {head:?} {:?}", seen.path, text(&seen.body));
    end(memory, seen, 200, told.as_bytes());
}

/// The replies to `bytes` and a last request behind them, without Date.
fn replies(driver: &mut Driver, bytes: &[u8]) -> String {
    let mut client = driver.client();
    client.write_all(&[bytes, END].concat()).unwrap();
    let mut received = Vec::new();
    let mut ended = false;
    driver.serve_until(tell, |_| {
        let mut buffer = [0; 16_384];
        match client.read(&mut buffer) {
            Ok(0) => ended = true,
            Ok(count) => received.extend_from_slice(&buffer[..count]),
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}"),
        }
        ended
    });
    // Whether it is sent depends on what came of the body with the head (RFC 9110 §10.1.1).
    let received = text(&received).replace("HTTP/1.1 100 Continue\r\n\r\n", "");
    let lines = received.split("\r\n");
    let lines = lines.filter(|line| !line.starts_with("Date: "));
    lines.collect::<Vec<_>>().join("\r\n")
}

#[test]
fn the_requests_of_the_corpus_get_the_replies_that_they_get_at_once() {
    let methods = (GET..PURGE)
        .flat_map(|method| ["/echo", "/", "/a/b", "/p/*"].map(|pattern| (method, pattern, false)));
    let others = [
        (PURGE, "/purge", false),
        (POST, "/small", false),
        (GET, "/smuggled", false),
    ];
    let routes: Vec<_> = methods.chain(others).collect();
    let mut driver = Driver::prompt(&limits());
    let cases = corpus::cases();
    assert!(cases.len() > 700, "{} cases", cases.len());
    let mut servers = Vec::new();
    for seed in 0..4 {
        driver.add_server(&limits(), &routes);
        servers.push((driver.server, driver.address));
        if seed > 0 {
            let delays = Delays {
                seed,
                receive: 60,
                send: 60,
            };
            driver.engine.delay(driver.server, delays);
        }
    }
    for case in cases {
        let mut given = servers.iter().map(|&server| {
            (driver.server, driver.address) = server;
            replies(&mut driver, &case.bytes)
        });
        let at_once = given.next().unwrap();
        assert!(at_once.starts_with("HTTP/1.1 "), "{}", case.name);
        for delayed in given {
            assert_eq!(delayed, at_once, "{}", case.name);
        }
    }
}
