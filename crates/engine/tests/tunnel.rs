//! A second protocol over two transports: what a connection sends comes back, whatever the sockets do.

mod driver;

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};

use driver::{Driver, answer, limits, send, text};
use engine::Delays;
use engine::faults::{Stage, arm};
use ring::layout::{HIGH_WATER_BYTES, RECEIVE_BYTES, kind, limit};

/// The transports: the plain one, and cuts from bytes to a few records.
fn transports() -> Vec<Option<Delays>> {
    let delays = [
        (1, 7, 7, 0),
        (2, 1_500, 40, 0),
        // What comes back was opened and sealed again, so the client sees what it sent.
        (3, 40, 1_500, 0x5a),
        (4, 70_000, 70_000, 0),
    ];
    let delays = delays.map(|(seed, receive, send, mask)| Delays {
        seed,
        receive,
        send,
        mask,
    });
    [None].into_iter().chain(delays.map(Some)).collect()
}

/// Those that fill the buffers of two sockets in a short time.
fn fast() -> [Option<Delays>; 2] {
    [None, transports()[4]]
}

/// `xorshift64*`: reproducible anywhere from its seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// The same bytes come again at multiples of a prime, which no buffer has as its length.
    fn bytes(&mut self, length: usize) -> Vec<u8> {
        let first: Vec<u8> = (0..length.min(99_991)).map(|_| self.next() as u8).collect();
        first.iter().copied().cycle().take(length).collect()
    }
}

/// A client with the bytes it sends and those it got back.
struct Client {
    socket: TcpStream,
    to_send: Vec<u8>,
    sent: usize,
    received: Vec<u8>,
    /// The connection has ended, and whether it was reset.
    end: Option<bool>,
}

impl Client {
    fn new(driver: &Driver, to_send: Vec<u8>) -> Self {
        Self {
            socket: driver.client(),
            to_send,
            sent: 0,
            received: Vec::new(),
            end: None,
        }
    }

    /// Sends at most `most` bytes of what is left; gives how many the kernel took.
    fn send(&mut self, most: usize) -> usize {
        let end = self.to_send.len().min(self.sent.saturating_add(most));
        match self.socket.write(&self.to_send[self.sent..end]) {
            Ok(count) => {
                self.sent += count;
                count
            }
            // A reset is seen by the next read.
            Err(_) => 0,
        }
    }

    fn receive(&mut self) {
        if self.end.is_some() {
            return;
        }
        let mut buffer = [0; 16_384];
        match self.socket.read(&mut buffer) {
            Ok(0) => {
                self.end = Some(false);
                let _ = self.socket.shutdown(Shutdown::Write);
            }
            Ok(count) => self.received.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => self.end = Some(true),
        }
    }

    fn has_all(&self) -> bool {
        self.received.len() >= self.to_send.len()
    }

    fn shows_what_it_sent(&self) {
        assert!(
            self.to_send.starts_with(&self.received),
            "the bytes sent, in their order"
        );
    }
}

/// Turns and sweeps until `done`.
fn until(driver: &mut Driver, mut done: impl FnMut(&mut Driver) -> bool) {
    driver.serve_until(answer, |driver| {
        driver.engine.sweep();
        done(driver)
    });
}

fn panics(driver: &Driver) -> u64 {
    driver.engine.stats(driver.server).unwrap().panics
}

/// What a new client sends comes back.
fn works(driver: &mut Driver) {
    let mut client = Client::new(driver, b"still here".to_vec());
    until(driver, |_| {
        client.send(usize::MAX);
        client.receive();
        client.has_all()
    });
    client.shows_what_it_sent();
}

#[test]
fn every_byte_comes_back_in_its_order() {
    for (at, delays) in transports().into_iter().enumerate() {
        let mut random = Random(0x9e37_79b9 + at as u64);
        let mut driver = Driver::tunnel(&limits(), delays);
        let most = if fast().contains(&delays) {
            300_000
        } else {
            30_000
        };
        for length in [1, 2, 100, 16_384, 65_535, 65_536, 65_537, most] {
            let length = length.min(most);
            let bytes = random.bytes(length);
            let mut client = Client::new(&driver, bytes);
            let most = 1 + random.below(length.min(100_000));
            until(&mut driver, |_| {
                client.send(1 + random.below(most));
                client.receive();
                client.has_all()
            });
            client.shows_what_it_sent();
        }
        assert_eq!(panics(&driver), 0);
    }
}

#[test]
fn a_turn_sends_once_for_each_of_its_connections() {
    const CONNECTIONS: usize = 100;
    for delays in transports() {
        let mut driver = Driver::tunnel(&limits(), delays);
        let mut clients: Vec<_> = (0..CONNECTIONS)
            .map(|at| Client::new(&driver, vec![at as u8; 500 + at]))
            .collect();
        until(&mut driver, |driver| {
            driver.engine.connection_count() == CONNECTIONS
        });
        for client in &mut clients {
            client.send(usize::MAX);
        }
        // One more send than there are connections would panic.
        arm(Stage::Flush, CONNECTIONS as u32 + 1);
        driver.turn(answer);
        arm(Stage::Flush, u32::MAX);
        assert_eq!(panics(&driver), 0);
        if delays.is_none() {
            clients.iter_mut().for_each(Client::receive);
            assert!(clients.iter().all(Client::has_all), "in this turn");
        }
        until(&mut driver, |_| {
            clients.iter_mut().for_each(Client::receive);
            clients.iter().all(Client::has_all)
        });
        clients.iter().for_each(Client::shows_what_it_sent);
    }
}

#[test]
fn who_does_not_read_is_not_read_and_loses_nothing() {
    // Past this, the engine drops the connection that buffers.
    let most = HIGH_WATER_BYTES + 3 * RECEIVE_BYTES;
    for delays in fast() {
        let mut values = limits();
        values[limit::MAX_BUFFERED_REPLIES] = most as f64;
        let mut driver = Driver::tunnel(&values, delays);
        let bytes = Random(7).bytes(64 << 20);
        let mut client = Client::new(&driver, bytes);
        let mut refused = 0;
        until(&mut driver, |_| {
            refused = if client.send(1 << 20) == 0 {
                refused + 1
            } else {
                0
            };
            refused == 300
        });
        assert!(client.sent < client.to_send.len(), "all was taken");
        assert!(
            client.sent > 2 * most,
            "{} bytes prove nothing",
            client.sent
        );
        works(&mut driver);
        client.to_send.truncate(client.sent);
        until(&mut driver, |_| {
            client.receive();
            client.has_all()
        });
        client.shows_what_it_sent();
        assert_eq!(driver.engine.stats(driver.server).unwrap().dropped, 0);
    }
}

#[test]
fn the_end_of_what_the_client_sends_comes_back_behind_it() {
    for delays in transports() {
        let mut driver = Driver::tunnel(&limits(), delays);
        for length in [0, 1, 5_000, 200_000] {
            let mut client = Client::new(&driver, Random(9).bytes(length));
            until(&mut driver, |_| {
                client.send(usize::MAX);
                client.sent == length
            });
            client.socket.shutdown(Shutdown::Write).unwrap();
            until(&mut driver, |_| {
                client.receive();
                client.end.is_some()
            });
            assert_eq!((client.received.len(), client.end), (length, Some(false)));
            client.shows_what_it_sent();
            until(&mut driver, |driver| driver.engine.connection_count() == 0);
        }
    }
}

#[test]
fn idle_connections_end_and_those_that_send_do_not() {
    for delays in fast() {
        // A busy machine may let more time pass between two turns than a client has to send.
        let mut attempts = [1_500.0, 6_000.0, 20_000.0].into_iter();
        assert!(attempts.any(|time| one_that_sends_outlives_idle_ones(delays, time)));
    }
}

fn one_that_sends_outlives_idle_ones(delays: Option<Delays>, time: f64) -> bool {
    let mut values = limits();
    values[limit::KEEP_ALIVE_TIMEOUT] = time;
    values[limit::HEADERS_TIMEOUT] = time;
    let mut driver = Driver::tunnel(&values, delays);
    let mut silent = Client::new(&driver, Vec::new());
    let mut once = Client::new(&driver, b"once".to_vec());
    let mut busy = Client::new(&driver, vec![b'b'; 1 << 20]);
    once.send(usize::MAX);
    until(&mut driver, |_| {
        if busy.received.len() == busy.sent {
            busy.send(1);
        }
        for client in [&mut silent, &mut once, &mut busy] {
            client.receive();
        }
        silent.end.is_some() && once.end.is_some()
    });
    busy.shows_what_it_sent();
    once.has_all() && busy.end.is_none() && driver.engine.connection_count() == 1
}

#[test]
fn a_panic_in_any_stage_costs_its_connection_alone() {
    for delays in transports() {
        for stage in [Stage::Parse, Stage::Encode, Stage::Flush] {
            for nth in [1, 3] {
                let mut driver = Driver::tunnel(&limits(), delays);
                let mut other = Client::new(&driver, vec![b'o'; 50_000]);
                until(&mut driver, |_| {
                    other.send(25_000 - other.sent);
                    other.receive();
                    other.received.len() == 25_000
                });
                let mut client = Client::new(&driver, vec![b'c'; 5_000]);
                arm(stage, nth);
                until(&mut driver, |_| {
                    // The other is quiet meanwhile, so that it is this one that panics.
                    if client.received.len() == client.sent {
                        client.send(1_000);
                    }
                    client.receive();
                    client.end.is_some()
                });
                assert_eq!(client.end, Some(true), "{stage:?}: it is reset");
                client.shows_what_it_sent();
                assert_eq!(panics(&driver), 1);
                until(&mut driver, |_| {
                    other.send(usize::MAX);
                    other.receive();
                    other.has_all()
                });
                other.shows_what_it_sent();
                assert_eq!(driver.engine.connection_count(), 1);
                works(&mut driver);
            }
        }
    }
}

/// A client that reads nothing, and sends until output waits for it.
fn fill(driver: &mut Driver, delays: Option<Delays>) -> Client {
    // A slow transport has output that waits at any time.
    let (length, turns) = if fast().contains(&delays) {
        (64 << 20, 100)
    } else {
        (50_000, 1)
    };
    let mut client = Client::new(driver, Random(3).bytes(length));
    // Then nothing but waiting output keeps the process.
    driver.engine.set_referenced(driver.server, false);
    let mut waits = 0;
    // No sweep: it could end the connection here where the machine is busy.
    driver.serve_until(answer, |driver| {
        waits = if driver.engine.keeps_alive() {
            waits + 1
        } else {
            0
        };
        if waits == 0 {
            client.send(RECEIVE_BYTES);
        }
        waits == turns
    });
    client
}

#[test]
fn a_closing_server_sends_what_it_has_and_ends_its_connections() {
    for delays in transports() {
        let mut values = limits();
        values[limit::DRAIN_IDLE] = 300.0;
        let mut driver = Driver::tunnel(&values, delays);
        let mut idle = Client::new(&driver, b"idle".to_vec());
        until(&mut driver, |_| {
            idle.send(usize::MAX);
            idle.receive();
            idle.has_all()
        });
        let mut silent = Client::new(&driver, Vec::new());
        let mut slow = fill(&mut driver, delays);
        driver.engine.close(driver.server);
        until(&mut driver, |_| {
            for client in [&mut idle, &mut silent, &mut slow] {
                client.receive();
            }
            idle.end.is_some() && silent.end.is_some() && slow.end.is_some()
        });
        for client in [&idle, &silent, &slow] {
            assert_eq!(client.end, Some(false), "it is not cut off");
            client.shows_what_it_sent();
        }
        assert_eq!(slow.received.len(), slow.sent);
        driver.event(kind::CLOSED);
        assert_eq!(driver.engine.connection_count(), 0);
    }
}

#[test]
fn a_client_that_never_reads_is_reset_in_time() {
    for delays in fast() {
        for (limit, closes) in [
            (limit::SEND_TIMEOUT, false),
            (limit::SHUTDOWN_TIMEOUT, true),
        ] {
            let mut values = limits();
            values[limit] = 1_500.0;
            let mut driver = Driver::tunnel(&values, delays);
            let mut other = Client::new(&driver, Vec::new());
            let mut client = fill(&mut driver, delays);
            if closes {
                driver.engine.close(driver.server);
            }
            until(&mut driver, |driver| {
                driver.engine.connection_count() == usize::from(!closes)
            });
            assert!(closes || !driver.engine.keeps_alive());
            until(&mut driver, |_| {
                client.receive();
                client.end.is_some()
            });
            assert_eq!(client.end, Some(true));
            client.shows_what_it_sent();
            other.receive();
            if closes {
                driver.event(kind::CLOSED);
            } else {
                assert_eq!(other.end, None);
                works(&mut driver);
            }
        }
    }
}

#[test]
fn a_reset_by_the_client_costs_its_connection_alone() {
    for delays in transports() {
        let mut driver = Driver::tunnel(&limits(), delays);
        let mut other = Client::new(&driver, Random(5).bytes(20_000));
        for length in [1, 1_000, 500_000] {
            let mut client = Client::new(&driver, vec![b'r'; length]);
            // A client that closes with unread bytes sends a reset.
            until(&mut driver, |_| {
                client.send(usize::MAX);
                client.socket.peek(&mut [0]).is_ok()
            });
            drop(client);
            until(&mut driver, |driver| driver.engine.connection_count() == 1);
        }
        until(&mut driver, |_| {
            other.send(usize::MAX);
            other.receive();
            other.has_all()
        });
        other.shows_what_it_sent();
    }
}

#[test]
fn one_turn_serves_tunnels_and_requests() {
    for delays in transports() {
        let mut driver = Driver::tunnel(&limits(), delays);
        let tunnel = driver.address;
        driver.add_server(&limits(), &driver::ROUTES);
        let mut web = driver.client();
        driver.address = tunnel;
        let mut client = Client::new(&driver, vec![b't'; 3_000]);
        client.send(usize::MAX);
        send(&mut web, &b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n".repeat(5));
        let mut replies = Vec::new();
        until(&mut driver, |_| {
            client.receive();
            let mut buffer = [0; 4_096];
            if let Ok(count) = web.read(&mut buffer) {
                replies.extend_from_slice(&buffer[..count]);
            }
            client.has_all() && text(&replies).matches('!').count() == 5
        });
        client.shows_what_it_sent();
    }
}
