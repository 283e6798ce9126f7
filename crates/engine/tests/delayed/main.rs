//! Runs the tests of HTTP/1, HTTP/2 and WebSockets over a transport that delays and splits the bytes. The files
//! of `direct` are included unchanged. `driver` detects that it runs here.

#[path = "../../../wire/tests/corpus/mod.rs"]
mod corpus;
#[path = "../direct/driver/mod.rs"]
mod driver;

#[path = "../direct/closing/mod.rs"]
mod closing;
#[path = "../direct/connection/mod.rs"]
mod connection;
#[path = "../connection_fuzz/fuzz.rs"]
mod connection_fuzz;
#[path = "../direct/deadlines.rs"]
mod deadlines;
#[path = "../direct/faults.rs"]
mod faults;
#[path = "../direct/half_close.rs"]
mod half_close;
#[path = "../direct/http2/mod.rs"]
mod http2;
#[path = "../direct/interim.rs"]
mod interim;
#[path = "../direct/retained.rs"]
mod retained;
#[path = "../direct/websocket/mod.rs"]
mod websocket;

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use driver::{Driver, GET, POST, PURGE, Seen, end, limits, text};
use engine::BodyMode;
use engine::{Delays, NoReferences};
use ring::Memory;
use ring::layout::{kind, operation, record, request};

/// What the bytes on the socket are combined with where the transport has to seal them.
const MASK: u8 = 0x5a;

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

fn masked(bytes: &[u8], mask: u8) -> Vec<u8> {
    bytes.iter().map(|byte| byte ^ mask).collect()
}

/// Reads until the server closes. Gives what came without its mask.
fn read_all(driver: &mut Driver, client: &mut TcpStream, mask: u8) -> Vec<u8> {
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
    masked(&received, mask)
}

/// The replies to `bytes` and a last request behind them, without Date.
fn replies(driver: &mut Driver, bytes: &[u8], mask: u8) -> String {
    let mut client = driver.client();
    let sent = masked(&[bytes, END].concat(), mask);
    client.write_all(&sent).unwrap();
    let received = read_all(driver, &mut client, mask);
    // Whether it is sent depends on what came of the body with the head (RFC 9110 §10.1.1).
    let received = text(&received).replace("HTTP/1.1 100 Continue\r\n\r\n", "");
    let lines = received.split("\r\n");
    let lines = lines.filter(|line| !line.starts_with("Date: "));
    lines.collect::<Vec<_>>().join("\r\n")
}

#[test]
fn the_requests_of_the_corpus_get_the_replies_that_they_get_at_once() {
    let methods = (GET..PURGE).flat_map(|method| {
        ["/echo", "/", "/a/b", "/p/*"].map(|pattern| (method, pattern, BodyMode::Buffer))
    });
    let others = [
        (PURGE, "/purge", BodyMode::Buffer),
        (POST, "/small", BodyMode::Buffer),
        (GET, "/smuggled", BodyMode::Buffer),
    ];
    let routes: Vec<_> = methods.chain(others).collect();
    let mut driver = Driver::prompt(&limits());
    let cases = corpus::cases();
    assert!(cases.len() > 700, "{} cases", cases.len());
    let mut servers = Vec::new();
    for (seed, mask) in [(0, 0), (1, 0), (2, 0), (3, MASK)] {
        driver.add_server(&limits(), &routes);
        servers.push((driver.server, driver.address, mask));
        if seed > 0 {
            let delays = Delays {
                seed,
                receive: 60,
                send: 60,
                mask,
            };
            driver.engine.delay(driver.server, delays);
        }
    }
    for case in cases {
        let mut given = servers.iter().map(|&(server, address, mask)| {
            (driver.server, driver.address) = (server, address);
            replies(&mut driver, &case.bytes, mask)
        });
        let at_once = given.next().unwrap();
        assert!(at_once.starts_with("HTTP/1.1 "), "{}", case.name);
        for delayed in given {
            assert_eq!(delayed, at_once, "{}", case.name);
        }
    }
}

/// A pipeline of a streamed reply, a large one that JavaScript keeps, and a small one, written in the other order.
fn pipeline(mask: u8) -> String {
    let mut driver = Driver::prompt(&limits());
    let delays = Delays {
        seed: 7,
        receive: 1000,
        send: 30_000,
        mask,
    };
    driver.engine.delay(driver.server, delays);
    let mut client = driver.client();
    let last = b"GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    let first = b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n";
    let sent = masked(&[&first[..], first, last].concat(), mask);
    client.write_all(&sent).unwrap();
    let requests = [driver.request(), driver.request(), driver.request()];
    driver.reply(&requests[2], 200, b"small");
    let shared = driver::retained_body::Shared::new(300_000);
    let mut large = driver::make(&requests[1], operation::END, 200);
    large.0[record::REFERENCE] = 1;
    large.0[record::BODY_LENGTH] = 300_000;
    driver.engine.memory().push_signal(large);
    driver.engine.apply(&shared);
    let memory = driver.engine.memory();
    driver::start(memory, &requests[0], None);
    for length in [1, 100, 20_000] {
        driver::data(memory, &requests[0], &vec![b's'; length], false);
    }
    driver::finish(memory, &requests[0]);
    driver.engine.apply(&NoReferences);
    let received = text(&read_all(&mut driver, &mut client, mask));
    let lines = received.split("\r\n");
    let lines = lines.filter(|line| !line.starts_with("Date: "));
    lines.collect::<Vec<_>>().join("\r\n")
}

#[test]
fn all_that_reaches_the_socket_went_through_the_transport() {
    let plain = pipeline(0);
    assert!(plain.ends_with("small") && plain.len() > 320_000);
    assert!(pipeline(MASK) == plain);
}
