//! What comes back, and what a turn does of it.

use super::{Client, Random, fast, panics, transports, until, works};
use crate::driver::{Driver, answer, limits, send, text};
use engine::faults::{Stage, arm};
use ring::layout::{HIGH_WATER_BYTES, RECEIVE_BYTES, limit};
use std::io::Read;
use std::net::Shutdown;

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
fn one_turn_serves_tunnels_and_requests() {
    for delays in transports() {
        let mut driver = Driver::tunnel(&limits(), delays);
        let tunnel = driver.address;
        driver.add_server(&limits(), &crate::driver::ROUTES);
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
