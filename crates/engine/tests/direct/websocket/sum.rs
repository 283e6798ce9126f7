//! The limit on what waits to be sent to all clients of a server together.

use engine::SocketSpec;
use ring::layout::{limit, operation, record};

use super::client::{Client, apply, message, publish, spec, stats, subscribe};
use crate::driver::retained_body::Shared;
use crate::driver::{Driver, Seen, limits, make, send};

/// Much more than the kernel takes of what already waits for a client that does not read.
const SUM: usize = 8_000_000;
const CHUNK: usize = 20_000;

/// A server on which so many bytes may wait, and any part of them for one socket.
fn driver_with(sum: usize) -> Driver {
    let mut values = limits();
    values[limit::MAX_BUFFERED_REPLIES] = sum as f64;
    let max_buffered = 16 << 20;
    Driver::prompt_sockets(
        &values,
        SocketSpec {
            max_buffered,
            ..spec()
        },
    )
}

fn waiting(driver: &Driver, socket: &Seen) -> usize {
    let (slot, generation) = (socket.slot() as u32, socket.generation() as u32);
    driver.engine.unsent(slot, generation)
}

/// Sends numbered messages to a client that does not read, until so many bytes wait for it or another socket has ended.
/// Gives how many were sent.
fn fill(driver: &mut Driver, client: &Client, least: usize) -> usize {
    let (_, _, sockets) = stats(driver);
    let mut sent = 0;
    while waiting(driver, &client.socket) < least && stats(driver).2 == sockets {
        message(driver, &client.socket, 0, &vec![sent as u8; CHUNK]);
        apply(driver);
        driver.turn(|_, _| {});
        sent += 1;
    }
    sent
}

fn read(driver: &mut Driver, client: &mut Client, count: usize) {
    for number in 0..count {
        assert_eq!(client.frame(driver), (0x82, vec![number as u8; CHUNK]));
    }
}

#[test]
fn past_the_sum_the_socket_that_most_waits_for_is_reset() {
    let mut driver = driver_with(SUM);
    let mut slow = Client::open(&mut driver, b"");
    let mut other = Client::open(&mut driver, b"");
    let mut lively = Client::open(&mut driver, b"");
    fill(&mut driver, &slow, SUM / 2);
    let of_other = fill(&mut driver, &other, SUM / 4);
    let of_lively = fill(&mut driver, &lively, SUM);
    assert!(waiting(&driver, &lively.socket) < SUM / 2);
    assert_eq!(slow.told(&mut driver), (1006, String::new()));
    slow.until_end(&mut driver);
    assert_eq!(driver.engine.stats(driver.server).unwrap().dropped, 1);
    assert_eq!(stats(&driver).2, 2);
    read(&mut driver, &mut other, of_other);
    read(&mut driver, &mut lively, of_lively);
}

#[test]
fn a_socket_that_more_waits_for_than_for_any_other_is_reset_itself() {
    let mut driver = driver_with(SUM);
    let mut greedy = Client::open(&mut driver, b"");
    let mut other = Client::open(&mut driver, b"");
    let of_other = fill(&mut driver, &other, SUM / 4);
    fill(&mut driver, &greedy, SUM);
    assert_eq!(greedy.told(&mut driver), (1006, String::new()));
    greedy.until_end(&mut driver);
    read(&mut driver, &mut other, of_other);
}

#[test]
fn a_socket_whose_end_would_free_nothing_stays() {
    const PUBLISHED: usize = 4;
    let large = vec![b'p'; SUM / 100 * 45 / PUBLISHED];
    let mut driver = driver_with(SUM);
    let mut sharers: Vec<_> = (0..2).map(|_| Client::open(&mut driver, b"")).collect();
    let slow = Client::open(&mut driver, b"");
    let mut lively = Client::open(&mut driver, b"");
    let mut sent = Vec::new();
    for client in &sharers {
        subscribe(&mut driver, &client.socket, b"t");
        // From here on the kernel takes nothing of what is published.
        sent.push(fill(&mut driver, client, 1));
    }
    for _ in 0..PUBLISHED {
        publish(&mut driver, None, b"t", &large);
        apply(&mut driver);
    }
    fill(&mut driver, &slow, SUM / 100 * 32);
    for client in &sharers {
        assert!(waiting(&driver, &client.socket) > waiting(&driver, &slow.socket));
    }
    let of_lively = fill(&mut driver, &lively, SUM);
    assert_eq!(slow.told(&mut driver).0, 1006);
    assert_eq!(stats(&driver).2, 3);
    read(&mut driver, &mut lively, of_lively);
    for (client, sent) in sharers.iter_mut().zip(sent) {
        read(&mut driver, client, sent);
        for _ in 0..PUBLISHED {
            assert!(client.frame(&mut driver) == (0x81, large.clone()));
        }
    }
}

#[test]
fn sockets_never_cost_a_reply() {
    // More than the kernel takes of it.
    let length = 16 << 20;
    let mut driver = driver_with(length + SUM);
    let mut reader = driver.client();
    send(&mut reader, b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
    let mut reply = make(&driver.request(), operation::END, 200);
    reply.0[record::REFERENCE] = 1;
    reply.0[record::BODY_LENGTH] = length as i32;
    driver.engine.memory().push_signal(reply);
    driver.engine.apply(&Shared::new(length));
    let client = Client::open(&mut driver, b"");
    fill(&mut driver, &client, length);
    assert_eq!(client.told(&mut driver).0, 1006);
    driver.read(&mut reader, |received| received.len() > length);
}
