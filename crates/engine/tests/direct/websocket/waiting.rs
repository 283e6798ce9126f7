//! What waits to be sent, and the limits on it.

use std::io::Write;

use engine::SocketSpec;
use ring::layout::{kind, operation_flag, request};

use super::client::{Client, apply, message, publish, spec, stats, subscribe};
use crate::driver::frames::frame;
use crate::driver::{Driver, Seen, limits, pass};

/// Sends until the kernel takes no more and `max_buffered` is reached; gives how often.
fn fill(driver: &mut Driver, socket: &Seen) -> usize {
    let chunk = vec![b'x'; 60_000];
    for count in 0..10_000 {
        if driver
            .seen
            .iter()
            .any(|seen| matches!(seen.kind(), kind::CLOSED_SOCKET | kind::DROPPED))
        {
            return count;
        }
        message(driver, socket, 0, &chunk);
        apply(driver);
        driver.turn(|_, _| {});
    }
    panic!("nothing was refused");
}

#[test]
fn a_client_that_does_not_read_is_closed_with_1013() {
    let mut driver = Driver::prompt_sockets(
        &limits(),
        SocketSpec {
            close_timeout: 300,
            ..spec()
        },
    );
    let client = Client::open(&mut driver, b"");
    let mut other = Client::open(&mut driver, b"");
    let socket = client.socket.clone();
    fill(&mut driver, &socket);
    assert_eq!(
        client.told(&mut driver),
        (1013, "too much waits to be sent".to_owned())
    );
    let socket = other.socket.clone();
    message(&mut driver, &socket, 0, b"fine");
    apply(&mut driver);
    assert_eq!(other.frame(&mut driver), (0x82, b"fine".to_vec()));
    pass(&mut driver, 299);
    assert_eq!(stats(&driver).0, 2);
    pass(&mut driver, 1);
    assert_eq!(stats(&driver), (1, 0, 1));
}

#[test]
fn a_route_that_drops_tells_how_many_were_dropped() {
    let mut driver = Driver::sockets(
        &limits(),
        SocketSpec {
            drops: true,
            ..spec()
        },
    );
    let mut client = Client::open(&mut driver, b"");
    let socket = client.socket.clone();
    fill(&mut driver, &socket);
    let first = driver.event(kind::DROPPED);
    assert!(first.words[request::BODY_LENGTH] >= 1);
    for _ in 0..3 {
        message(&mut driver, &socket, 0, &vec![b'y'; 60_000]);
    }
    apply(&mut driver);
    assert_eq!(driver.event(kind::DROPPED).words[request::BODY_LENGTH], 3);
    // It goes on once the client reads.
    let mut read = 0;
    while read < 1 << 20 {
        let (_, payload) = client.frame(&mut driver);
        assert!(payload.iter().all(|&byte| byte == b'x'));
        read += payload.len();
    }
    assert_eq!(stats(&driver).2, 1);
}

#[test]
fn a_sender_that_asked_is_told_when_all_is_sent() {
    let mut driver = Driver::sockets(
        &limits(),
        SocketSpec {
            max_buffered: 64 << 20,
            ..spec()
        },
    );
    let mut client = Client::open(&mut driver, b"");
    let socket = client.socket.clone();
    let mut sent = 0;
    while driver
        .engine
        .unsent(socket.slot() as u32, socket.generation() as u32)
        < 200_000
    {
        message(
            &mut driver,
            &socket,
            operation_flag::WANT_DRAIN,
            &vec![b'x'; 60_000],
        );
        apply(&mut driver);
        sent += 1;
    }
    let told = driver
        .seen
        .iter()
        .filter(|seen| seen.kind() == kind::DRAIN)
        .count();
    driver.seen.clear();
    for _ in 0..sent {
        client.frame(&mut driver);
    }
    let drain = driver.event(kind::DRAIN);
    assert_eq!(drain.slot(), socket.slot());
    assert!(told <= sent);
    assert_eq!(
        driver
            .engine
            .unsent(socket.slot() as u32, socket.generation() as u32),
        0
    );
}

#[test]
fn a_client_that_only_sends_waits_until_it_reads() {
    let mut driver = Driver::sockets(
        &limits(),
        SocketSpec {
            max_buffered: 64 << 20,
            ..spec()
        },
    );
    let mut client = Client::open(&mut driver, b"");
    let mut sent = 0;
    let bytes = frame(0x89, &[b'p'; 125]).repeat(500);
    let mut at = 0;
    let mut full_since = 0;
    // It stops when the kernel's buffers are full, because nobody takes what it sends.
    driver.until(|_| {
        match client.stream.write(&bytes[at..]) {
            Ok(count) => {
                at = (at + count) % bytes.len();
                sent += count;
                full_since = 0;
            }
            Err(_) => full_since += 1,
        }
        full_since > 200
    });
    let slot = client.socket.clone();
    let waiting = driver
        .engine
        .unsent(slot.slot() as u32, slot.generation() as u32);
    assert!(waiting < 1 << 20, "{waiting} bytes wait");
    let (first, payload) = client.frame(&mut driver);
    assert_eq!((first, payload.len()), (0x8a, 125));
    assert!(sent > 0);
}

#[test]
fn what_many_wait_for_counts_once() {
    let mut values = limits();
    values[ring::layout::limit::MAX_BUFFERED_REPLIES] = 4_000_000.0;
    let mut driver = Driver::sockets(
        &values,
        SocketSpec {
            max_buffered: 16 << 20,
            ..spec()
        },
    );
    let mut clients: Vec<_> = (0..20).map(|_| Client::open(&mut driver, b"")).collect();
    for client in &clients {
        let socket = client.socket.clone();
        subscribe(&mut driver, &socket, b"t");
    }
    // More than the kernel takes for each, in one step.
    for round in 0..1_500 {
        publish(
            &mut driver,
            None,
            b"t",
            &vec![b'a' + (round % 26) as u8; 1_000],
        );
        if round % 500 == 499 {
            apply(&mut driver);
        }
    }
    for client in &mut clients {
        for round in 0..1_500 {
            let (_, payload) = client.frame(&mut driver);
            assert_eq!(payload, vec![b'a' + (round % 26) as u8; 1_000]);
        }
    }
    assert_eq!(stats(&driver).2, 20);
}
