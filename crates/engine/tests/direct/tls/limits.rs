//! Limits on handshakes, and on the connections of an address.

use std::io::Write;
use std::net::TcpStream;

use ring::layout::{kind, limit};

use super::client::{Client, World};
use crate::driver::{Driver, limits, pass, send};

const GET: &[u8] = b"GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Gives the first bytes of a client.
fn hello(world: &World, driver: &Driver) -> Vec<u8> {
    let mut client = world.client(driver);
    let mut hello = Vec::new();
    client.tls.write_tls(&mut hello).unwrap();
    hello
}

#[test]
fn a_stalled_handshake_ends_after_its_own_time() {
    let world = World::new();
    let mut values = limits();
    values[limit::TLS_HANDSHAKE_TIMEOUT] = 100.0;
    let mut driver = world.driver(&values);
    let hello = hello(&world, &driver);
    let mut clients: Vec<TcpStream> = (0..3).map(|_| driver.client()).collect();
    send(&mut clients[1], &hello[..hello.len() / 2]);
    send(&mut clients[2], &hello);
    driver.until(|driver| driver.engine.connection_count() > 2);
    let mut healthy = world.connected(&mut driver);
    pass(&mut driver, 99);
    assert_eq!(driver.engine.connection_count(), 4);
    pass(&mut driver, 1);
    driver.until(|driver| driver.engine.connection_count() == 1);
    // The headers timeout is longer, and runs from the end of the handshake.
    let seen = healthy.ask(&mut driver, GET);
    driver.reply(&seen, 200, b"reply");
    healthy.hear(&mut driver, b"reply");
}

#[test]
fn after_the_handshake_the_headers_timeout_counts() {
    let world = World::new();
    let mut values = limits();
    values[limit::HEADERS_TIMEOUT] = 100.0;
    let mut driver = world.driver(&values);
    let mut client = world.connected(&mut driver);
    pass(&mut driver, 99);
    client.pump();
    assert!(client.end.is_none());
    pass(&mut driver, 1);
    client.await_end(&mut driver);
    driver.until(|driver| driver.engine.connection_count() == 0);
}

#[test]
fn past_the_limit_the_oldest_unfinished_handshake_is_reset() {
    let world = World::new();
    let mut values = limits();
    values[limit::MAX_HANDSHAKES] = 2.0;
    let mut driver = world.driver(&values);
    // Connections whose handshake is done do not count.
    let mut done: Vec<Client> = (0..4).map(|_| world.connected(&mut driver)).collect();
    let mut stalled = Vec::new();
    for count in 1..=2 {
        stalled.push(driver.client());
        driver.until(|driver| driver.engine.connection_count() == 4 + count);
    }
    stalled.push(driver.client());
    let (_, ended) = driver.read(&mut stalled.remove(0), |_| false);
    assert!(ended, "the oldest is gone");
    assert_eq!(driver.engine.connection_count(), 6);
    assert_eq!(driver.engine.stats(driver.server).unwrap().refused, 1);
    for client in &mut done {
        let seen = client.ask(&mut driver, GET);
        driver.reply(&seen, 200, b"reply");
        client.hear(&mut driver, b"reply");
    }
    drop(stalled);
    driver.until(|driver| driver.engine.connection_count() == 4);
    // Clients that have left do not count.
    let _two = [driver.client(), driver.client()];
    driver.until(|driver| driver.engine.connection_count() == 6);
    assert_eq!(driver.engine.stats(driver.server).unwrap().refused, 1);
}

#[test]
fn a_turn_does_some_handshakes_and_leaves_the_rest_to_the_next() {
    const CLIENTS: usize = 60;
    let world = World::new();
    let mut driver = world.driver(&limits());
    let config = world.config(&rustls::version::TLS13);
    let mut served = world.connected(&mut driver);
    let mut clients: Vec<Client> = (0..CLIENTS)
        .map(|_| Client::new(&driver, &config))
        .collect();
    driver.until(|driver| driver.engine.connection_count() == CLIENTS + 1);
    for client in &mut clients {
        client.pump();
    }
    driver.turn(|_, _| {});
    let answered = |clients: &mut Vec<Client>| {
        clients.iter_mut().for_each(Client::pump);
        clients
            .iter()
            .filter(|client| !client.tls.is_handshaking())
            .count()
    };
    let first = answered(&mut clients);
    assert!(first >= 1, "at least one");
    assert!(first < CLIENTS, "not all: each takes some 200 µs");
    assert!(driver.engine.has_work(), "no event announces the rest");
    // Other connections are served meanwhile.
    served.say(GET);
    driver.turn(|memory, seen| crate::driver::end(memory, seen, 200, b"!"));
    served.pump();
    assert!(served.received.ends_with(b"!"));
    driver.seen.clear();
    driver.until(|_| answered(&mut clients) == CLIENTS);
    for client in &mut clients {
        let seen = client.ask(&mut driver, GET);
        driver.reply(&seen, 200, b"reply");
        client.hear(&mut driver, b"reply");
    }
}

#[test]
fn handshakes_go_on_while_requests_fill_every_slice() {
    const CLIENTS: usize = 20;
    let world = World::new();
    let mut driver = world.driver(&limits());
    let config = world.config(&rustls::version::TLS13);
    let mut busy = world.connected(&mut driver);
    let mut clients: Vec<Client> = (0..CLIENTS)
        .map(|_| Client::new(&driver, &config))
        .collect();
    driver.until(|driver| driver.engine.connection_count() == CLIENTS + 1);
    clients.iter_mut().for_each(Client::pump);
    driver.engine.set_slice_target(1);
    let mut replies = 0;
    let mut turns = 0;
    while clients.iter().any(|client| client.tls.is_handshaking()) {
        turns += 1;
        assert!(turns < 5_000, "a turn does at least one");
        busy.say(&GET.repeat(16));
        driver.turn_of(1, |memory, seen| {
            if seen.kind() == kind::REQUEST {
                replies += 1;
                crate::driver::end(memory, seen, 200, b"!");
            }
        });
        driver.seen.clear();
        busy.pump();
        clients.iter_mut().for_each(Client::pump);
    }
    assert!(replies >= turns / 2, "{replies} replies in {turns} turns");
}

#[test]
fn a_client_that_leaves_while_its_handshake_waits_is_forgotten() {
    let world = World::new();
    let mut driver = world.driver(&limits());
    let hello = hello(&world, &driver);
    let mut clients: Vec<TcpStream> = (0..40).map(|_| driver.client()).collect();
    driver.until(|driver| driver.engine.connection_count() == 40);
    for client in &mut clients {
        client.write_all(&hello).unwrap();
    }
    driver.turn(|_, _| {});
    drop(clients);
    driver.until(|driver| driver.engine.connection_count() == 0);
    driver.until(|driver| !driver.engine.has_work());
}

#[test]
fn an_address_has_its_share_of_connections_with_and_without_tls() {
    let world = World::new();
    let mut values = limits();
    values[limit::MAX_CONNECTIONS_PER_ADDRESS] = 2.0;
    for mut driver in [world.driver(&values), Driver::prompt(&values)] {
        let mut clients: Vec<TcpStream> = (0..3).map(|_| driver.client()).collect();
        let (received, ended) = driver.read(&mut clients[2], |_| false);
        assert!(received.is_empty() && ended);
        assert_eq!(driver.engine.connection_count(), 2);
        assert_eq!(driver.engine.stats(driver.server).unwrap().refused, 1);
        clients.remove(0);
        driver.until(|driver| driver.engine.connection_count() == 1);
        let _again = driver.client();
        driver.until(|driver| driver.engine.connection_count() == 2);
    }
}

#[test]
fn what_the_socket_takes_at_once_does_not_count_as_waiting() {
    let world = World::new();
    let mut values = limits();
    values[limit::MAX_BUFFERED_REPLIES] = 20_000.0;
    let mut driver = world.driver(&values);
    let mut client = world.connected(&mut driver);
    for _ in 0..3 {
        let seen = client.ask(&mut driver, GET);
        crate::driver::reply_large(&mut driver, &seen, 20_000);
        client.hear(&mut driver, &vec![b'L'; 20_000]);
    }
    assert_eq!(driver.engine.stats(driver.server).unwrap().dropped, 0);
}
