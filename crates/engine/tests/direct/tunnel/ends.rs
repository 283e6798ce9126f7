//! How tunnels end: by silence, by a panic, by a close, by time limits, and by a reset.

use super::{Client, Random, fast, panics, transports, until, works};
use crate::driver::{Driver, answer, limits, pass};
use engine::Delays;
use engine::faults::{Stage, arm};
use ring::layout::{RECEIVE_BYTES, kind, limit};

#[test]
fn idle_connections_end_and_those_that_send_do_not() {
    for delays in fast() {
        let mut values = limits();
        values[limit::KEEP_ALIVE_TIMEOUT] = 1_500.0;
        values[limit::HEADERS_TIMEOUT] = 1_500.0;
        let mut driver = Driver::tunnel(&values, delays);
        let mut silent = Client::new(&driver, Vec::new());
        let mut once = Client::new(&driver, b"once".to_vec());
        let mut busy = Client::new(&driver, b"busy".to_vec());
        once.send(usize::MAX);
        until(&mut driver, |_| {
            once.receive();
            once.has_all()
        });
        for sent in 1..=4 {
            busy.send(1);
            until(&mut driver, |_| {
                busy.receive();
                busy.received.len() == sent
            });
            pass(&mut driver, 1_499);
            assert_eq!(
                driver.engine.connection_count(),
                if sent == 1 { 3 } else { 1 }
            );
        }
        busy.shows_what_it_sent();
        pass(&mut driver, 1);
        until(&mut driver, |_| {
            for client in [&mut silent, &mut once, &mut busy] {
                client.receive();
            }
            silent.end.is_some() && once.end.is_some() && busy.end.is_some()
        });
    }
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
        pass(&mut driver, 299);
        idle.receive();
        silent.receive();
        assert!(idle.end.is_none() && silent.end.is_none());
        pass(&mut driver, 1);
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
            pass(&mut driver, 1_499);
            assert!(driver.engine.keeps_alive());
            // The kernel may have taken some more bytes meanwhile, after which the time to send begins again.
            let mut rest = 0;
            driver.serve_until(answer, |driver| {
                rest += 1;
                driver.engine.advance_clock(1);
                driver.engine.sweep();
                driver.engine.connection_count() == usize::from(!closes)
            });
            assert!(rest == 1 || !closes && rest < 3_000, "{rest} ms more");
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
