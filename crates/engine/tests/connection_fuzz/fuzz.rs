//! Seeded mutation fuzz of the connection machine on stable Rust: pipelines, cuts, aborts and handlers that
//! misbehave, against an engine on real sockets. `FUZZ_SECONDS` (default 1) and `FUZZ_SEED` steer it.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use crate::driver::retained_body::Shared;
use crate::driver::{Driver, Seen, data, end, finish, grant, inform, limits, make, start};
use engine::NoReferences;
use mutants::Random;
use ring::Memory;
use ring::layout::{kind, operation, record};

const CORPUS: [&[u8]; 20] = [
    b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /p/value%20x?q=1 HTTP/1.1\r\nHost: x\r\nAccept: */*\r\nX-Long: 0123456789012345678901234567890123456789\r\n\r\n",
    b"HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n",
    b"POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\nhello world",
    b"POST /b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n6\r\n world\r\n0\r\nT: v\r\n\r\n",
    b"POST /s HTTP/1.1\r\nHost: x\r\nContent-Length: 40\r\n\r\n0123456789012345678901234567890123456789",
    b"POST /s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n01234567890123456789\r\n0\r\n\r\n",
    b"POST /late HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\nhello world",
    b"POST /b HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc",
    b"GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
    b"POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n12345",
    b"GET http://x/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    b"GET http://[::1]:8080?q HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /p/a|b^[c]%7c HTTP/1.1\r\nHost: x\r\n\r\n",
    b"PURGE /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n12345",
    b"TRACE /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n12345",
    b"CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /a HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
    b"GET /a HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: h2c, websocket\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
];

fn stream(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..=random.below(6) {
        bytes.extend_from_slice(CORPUS[random.below(CORPUS.len())]);
    }
    // Half of the streams stay valid, so that the machine behind the parser gets its share.
    if random.chance(2) {
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            match random.below(5) {
                0 => bytes[at] = random.next() as u8,
                1 => drop(bytes.drain(at..(at + random.below(20)).min(bytes.len()))),
                2 => bytes.insert(at, b"\r\n \0:,;0"[random.below(8)]),
                3 => {
                    let part = bytes[at..(at + random.below(60)).min(bytes.len())].to_vec();
                    let to = random.below(bytes.len() + 1);
                    bytes.splice(to..to, part);
                }
                _ => bytes.truncate(at),
            }
            if bytes.is_empty() {
                return bytes;
            }
        }
    }
    bytes
}

struct Client {
    socket: TcpStream,
    to_send: Vec<u8>,
    received: Vec<u8>,
    reads: bool,
    shut: bool,
    gone: bool,
}

impl Client {
    fn step(&mut self, random: &mut Random) {
        if !self.to_send.is_empty() {
            let count = 1 + random.below(self.to_send.len().min(400));
            match self.socket.write(&self.to_send[..count]) {
                Ok(written) => drop(self.to_send.drain(..written)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => self.gone = true,
            }
        } else if !self.shut && random.chance(20) {
            let _ = self.socket.shutdown(Shutdown::Write);
            self.shut = true;
        }
        let mut buffer = [0; 4096];
        if self.reads {
            match self.socket.read(&mut buffer) {
                Ok(0) => self.gone = true,
                Ok(count) => self.received.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => self.gone = true,
            }
        }
        // Sometimes the client just leaves, with bytes unread or unsent.
        self.gone |= random.chance(200);
    }
}

/// More than a socket takes of it at once, most of the time.
const LARGE: usize = 8_000_000;

/// One thing a handler may do with an exchange; true when it is through with it.
fn misbehave(memory: &mut Memory, seen: &Seen, random: &mut Random) -> bool {
    match random.below(15) {
        0..=4 => {
            end(memory, seen, 200, &vec![b'r'; random.below(300)]);
            true
        }
        5 => {
            end(memory, seen, 200, b"one");
            end(memory, seen, 500, b"two");
            data(memory, seen, b"three", true);
            true
        }
        6 => {
            let length = random.chance(2).then(|| random.below(20) as u64);
            start(memory, seen, length);
            data(
                memory,
                seen,
                &vec![b's'; random.below(200)],
                random.chance(3),
            );
            let whole = random.chance(2);
            if whole {
                finish(memory, seen);
            }
            whole
        }
        7 => {
            grant(memory, seen, operation::READ, random.below(30) as i32);
            false
        }
        8 => {
            grant(memory, seen, operation::CREDIT, random.below(100) as i32);
            false
        }
        9 => {
            memory.push_signal(make(seen, operation::DESTROY, 0));
            true
        }
        10 => {
            // A record whose ranges and numbers mean nothing.
            let mut garbage = make(
                seen,
                (random.below(11)) as i32,
                random.next() as i32 & 0xfff,
            );
            for word in record::HEADERS_OFFSET..=record::REFERENCE {
                garbage.0[word] = random.next() as i32;
            }
            memory.push_signal(garbage);
            false
        }
        11 => {
            let value = vec![b'v'; random.below(3000)];
            for _ in 0..=random.below(8) {
                inform(memory, seen, b"link", &value);
            }
            false
        }
        12 => {
            // Mostly as long as it is; kept where the client does not read it at once.
            let length = LARGE - usize::from(random.chance(10));
            let op = if random.chance(3) {
                start(memory, seen, None);
                operation::DATA
            } else {
                operation::END
            };
            let mut large = make(seen, op, if op == operation::END { 200 } else { 1 });
            large.0[record::REFERENCE] = 1;
            large.0[record::BODY_LENGTH] = length as i32;
            memory.push_signal(large);
            let whole = op == operation::DATA && random.chance(2);
            if whole {
                data(memory, seen, b"behind it", true);
                finish(memory, seen);
            }
            op == operation::END || whole
        }
        // Later.
        _ => false,
    }
}

fn round(driver: &mut Driver, random: &mut Random, shared: &Shared) -> usize {
    let mut clients: Vec<_> = (0..4 + random.below(8))
        .map(|_| Client {
            socket: driver.client(),
            to_send: stream(random),
            received: Vec::new(),
            reads: !random.chance(8),
            shut: false,
            gone: false,
        })
        .collect();
    let mut pending: Vec<Seen> = Vec::new();
    let mut requests = Vec::new();
    for step in 0..600 {
        for client in &mut clients {
            client.step(random);
        }
        driver.turn(|memory, seen| {
            if seen.kind() == kind::REQUEST {
                requests.push(seen.clone());
                if !misbehave(memory, seen, random) {
                    pending.push(seen.clone());
                }
            }
        });
        driver.seen.clear();
        // Clients leave before the handlers reply, so that replies meet connections that are reset.
        clients.retain(|client| {
            let text = &client.received;
            assert!(
                text.is_empty() || b"HTTP/1.1 ".starts_with(&text[..text.len().min(9)]),
                "a connection begins with something else than a status line"
            );
            !client.gone
        });
        pending
            .retain(|seen| !random.chance(3) || !misbehave(driver.engine.memory(), seen, random));
        driver.engine.apply(shared);
        shared.whole.set(!random.chance(50));
        if step % 50 == 0 {
            driver.engine.advance_clock(random.below(20) as u64);
            driver.engine.sweep();
        }
        if clients.is_empty() {
            break;
        }
    }
    drop(clients);
    // Handlers that never answered do now, to nobody; what they began is given up. (A client that closed looks
    // like one that half-closed until something is sent to it, so those would be held for a minute.)
    for seen in &requests {
        end(driver.engine.memory(), seen, 200, b"late");
        driver
            .engine
            .memory()
            .push_signal(make(seen, operation::DESTROY, 0));
    }
    driver.engine.apply(&NoReferences);
    let started = Instant::now();
    while driver.engine.connection_count() > 0 || driver.engine.in_flight() > 0 {
        assert!(
            started.elapsed() < Duration::from_secs(300),
            "{} connections and {} exchanges are left",
            driver.engine.connection_count(),
            driver.engine.in_flight()
        );
        driver.turn(|memory, seen| {
            if seen.kind() == kind::REQUEST {
                end(memory, seen, 200, b"");
            }
        });
        driver.seen.clear();
        // What is left ends by its limits.
        driver.engine.advance_clock(20);
        driver.engine.sweep();
    }
    requests.len()
}

#[test]
fn every_slot_and_connection_comes_back_and_nothing_panics() {
    let (seconds, seed) = (mutants::seconds(), mutants::seed());
    println!("FUZZ_SEED={seed}");
    let mut values = limits();
    values[ring::layout::limit::SEND_TIMEOUT] = 300.0;
    values[ring::layout::limit::DRAIN_TIMEOUT] = 200.0;
    values[ring::layout::limit::KEEP_ALIVE_TIMEOUT] = 300.0;
    values[ring::layout::limit::REQUEST_TIMEOUT] = 300.0;
    values[ring::layout::limit::HEADERS_TIMEOUT] = 300.0;
    // One body fits, and little beside it.
    values[ring::layout::limit::MAX_BUFFERED_REPLIES] = LARGE as f64 + 1_000.0;
    let mut driver = Driver::new(&values);
    let shared = Shared::new(LARGE);
    let mut random = Random::new(seed);
    let started = Instant::now();
    let (mut rounds, mut requests) = (0, 0);
    while started.elapsed() < Duration::from_secs(seconds) {
        requests += round(&mut driver, &mut random, &shared);
        rounds += 1;
    }
    assert!(requests > 0, "FUZZ_SEED={seed}");
    let stats = driver.engine.stats(driver.server).unwrap();
    assert_eq!(stats.panics, 0, "FUZZ_SEED={seed}");
    assert_eq!(stats.connections, 0, "FUZZ_SEED={seed}");
    assert_eq!(shared.held.get(), 0, "FUZZ_SEED={seed}");
    println!(
        "{rounds} rounds, {requests} requests dispatched, {} refused, {} dropped",
        stats.refused, stats.dropped
    );
}
