//! Seeded mutation fuzz of HTTP/2 on stable Rust: interleaved streams, bodies, resets, windows, splits, and handlers
//! that misbehave, against an engine on real sockets. `FUZZ_SECONDS` (default 1) and `FUZZ_SEED` configure it.

#[path = "../direct/driver/mod.rs"]
mod driver;

mod script;

use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use driver::http2::{DATA, Frame};
use driver::retained_body::Shared;
use driver::{Driver, Seen, data, end, finish, grant, inform, limits, make, start};
use engine::NoReferences;
use mutants::Random;
use ring::Memory;
use ring::layout::{kind, limit, operation, record};
use script::{Windows, script};

struct Client {
    socket: TcpStream,
    to_send: Vec<u8>,
    received: Vec<u8>,
    windows: Option<Windows>,
    /// The bytes of DATA of each stream, and of all streams.
    data: HashMap<u32, u64>,
    reads: bool,
    shut: bool,
    gone: bool,
}

impl Client {
    fn step(&mut self, random: &mut Random) {
        if !self.to_send.is_empty() {
            let count = 1 + random.below(self.to_send.len().min(20_000));
            match self.socket.write(&self.to_send[..count]) {
                Ok(written) => drop(self.to_send.drain(..written)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => self.gone = true,
            }
        } else if !self.shut && random.chance(40) {
            let _ = self.socket.shutdown(Shutdown::Write);
            self.shut = true;
        }
        let mut buffer = [0; 16_384];
        if self.reads {
            match self.socket.read(&mut buffer) {
                Ok(0) => self.gone = true,
                Ok(count) => self.received.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => self.gone = true,
            }
        }
        if let Some(windows) = &self.windows {
            while let Some(frame) = Frame::take(&mut self.received) {
                assert!(frame.payload.len() <= 16_384, "{frame:?}");
                if frame.kind == DATA {
                    let length = frame.payload.len() as u64;
                    for (id, most) in [(frame.stream, windows.stream), (0, windows.connection)] {
                        let sent = self.data.entry(id).or_default();
                        *sent += length;
                        assert!(*sent <= most, "stream {id} was sent {sent} of {most} bytes");
                    }
                }
            }
        } else {
            self.received.clear();
        }
        // Sometimes the client closes with bytes unread or unsent.
        self.gone |= random.chance(300);
    }
}

/// The length of a body that is larger than any window.
const LARGE: usize = 3_000_000;

/// Does one random thing with an exchange. Returns true when the handler is done with it.
fn misbehave(memory: &mut Memory, seen: &Seen, random: &mut Random) -> bool {
    match random.below(15) {
        0..=4 => {
            end(memory, seen, 200, &vec![b'r'; random.below(30_000)]);
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
            let part = vec![b's'; random.below(20_000)];
            data(memory, seen, &part, random.chance(3));
            let whole = random.chance(2);
            if whole {
                finish(memory, seen);
            }
            whole
        }
        7 | 8 => {
            let credit = random.below(20_000) as i32;
            let first = random.chance(2);
            let op = if first {
                operation::READ
            } else {
                operation::CREDIT
            };
            grant(memory, seen, op, credit);
            false
        }
        9 => {
            memory.push_signal(make(seen, operation::DESTROY, 0));
            true
        }
        10 => {
            // This record has random ranges and numbers.
            let mut garbage = make(seen, random.below(15) as i32, random.next() as i32 & 0xfff);
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
            // The declared length is mostly the real one. The body is kept if the windows of the client are smaller.
            let length = LARGE - usize::from(random.chance(10));
            let streams = random.chance(3);
            if streams {
                start(memory, seen, None);
            }
            let (op, high) = if streams {
                (operation::DATA, 1)
            } else {
                (operation::END, 200)
            };
            let mut large = make(seen, op, high);
            large.0[record::REFERENCE] = 1;
            large.0[record::BODY_LENGTH] = length as i32;
            memory.push_signal(large);
            let whole = streams && random.chance(2);
            if whole {
                data(memory, seen, b"behind it", true);
                finish(memory, seen);
            }
            !streams || whole
        }
        // The handler answers later.
        _ => false,
    }
}

fn round(driver: &mut Driver, random: &mut Random, shared: &Shared) -> usize {
    let mut clients: Vec<_> = (0..2 + random.below(4))
        .map(|_| {
            let script = script(random);
            Client {
                socket: driver.client(),
                to_send: script.bytes,
                received: Vec::new(),
                windows: script.windows,
                data: HashMap::new(),
                reads: !random.chance(8),
                shut: false,
                gone: false,
            }
        })
        .collect();
    let mut pending: Vec<Seen> = Vec::new();
    let mut requests = Vec::new();
    for step in 0..400 {
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
        clients.retain(|client| !client.gone);
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
    // Handlers that never answered answer now, after their clients have left. Replies that were begun are abandoned.
    for seen in &requests {
        end(driver.engine.memory(), seen, 200, b"late");
        let given_up = make(seen, operation::DESTROY, 0);
        driver.engine.memory().push_signal(given_up);
    }
    driver.engine.apply(&NoReferences);
    let started = Instant::now();
    while driver.engine.connection_count() > 0 || driver.engine.in_flight() > 0 {
        assert!(
            started.elapsed() < Duration::from_secs(30),
            "{} connections and {} exchanges are left",
            driver.engine.connection_count(),
            driver.engine.in_flight()
        );
        driver.turn(|memory, seen| {
            if seen.kind() == kind::REQUEST {
                end(memory, seen, 200, b"");
            } else if seen.kind() == kind::BODY_FAIL {
                memory.push_signal(make(seen, operation::DESTROY, 0));
            }
        });
        driver.seen.clear();
        // What is left ends by its limits.
        driver.engine.advance_clock(20);
        driver.engine.sweep();
    }
    assert_eq!(driver.engine.buffered(driver.server), 0);
    requests.len()
}

#[test]
fn everything_that_streams_hold_comes_back_and_nothing_panics() {
    let (seconds, seed) = (mutants::seconds(), mutants::seed());
    println!("FUZZ_SEED={seed}");
    let mut values = limits();
    for (name, value) in [
        (limit::SEND_TIMEOUT, 300.0),
        (limit::DRAIN_TIMEOUT, 200.0),
        (limit::KEEP_ALIVE_TIMEOUT, 300.0),
        (limit::HTTP2_IDLE_TIMEOUT, 300.0),
        (limit::REQUEST_TIMEOUT, 300.0),
        (limit::HEADERS_TIMEOUT, 300.0),
        (limit::MAX_BUFFERED_BODIES, 200_000.0),
        (limit::MAX_STREAM_RESETS, 20.0),
        // There is room for one body and little more.
        (limit::MAX_BUFFERED_REPLIES, LARGE as f64 + 100_000.0),
    ] {
        values[name] = value;
    }
    let mut driver = Driver::new(&values);
    driver.engine.set_http2(driver.server, true);
    let shared = Shared::new(LARGE);
    let mut random = Random::new(seed);
    let started = Instant::now();
    let (mut rounds, mut requests) = (0, 0);
    while started.elapsed() < Duration::from_secs(seconds) {
        requests += round(&mut driver, &mut random, &shared);
        rounds += 1;
    }
    let stats = driver.engine.stats(driver.server).unwrap();
    assert_eq!(stats.panics, 0, "FUZZ_SEED={seed}");
    assert_eq!(
        (stats.connections, stats.in_flight),
        (0, 0),
        "FUZZ_SEED={seed}"
    );
    assert_eq!(shared.held.get(), 0, "FUZZ_SEED={seed}");
    assert!(requests > 0, "no request was dispatched: FUZZ_SEED={seed}");
    println!(
        "{rounds} rounds, {requests} requests dispatched, {} refused, {} dropped",
        stats.refused, stats.dropped
    );
}
