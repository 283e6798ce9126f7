//! Subscriptions, and what is published.

use engine::SocketSpec;
use ring::layout::operation_flag;

use super::client::{Client, apply, message, publish, spec, stats, subscribe, unsubscribe};
use crate::driver::{Driver, limits};

#[test]
fn what_is_published_reaches_the_subscribers_in_order() {
    let mut driver = Driver::sockets(&limits(), spec());
    let mut clients: Vec<_> = (0..3).map(|_| Client::open(&mut driver, b"")).collect();
    let sockets: Vec<_> = clients.iter().map(|client| client.socket.clone()).collect();
    for socket in &sockets {
        subscribe(&mut driver, socket, b"t");
        subscribe(&mut driver, socket, b"t");
    }
    subscribe(&mut driver, &sockets[0], b"u");
    message(&mut driver, &sockets[0], operation_flag::TEXT, b"0 before");
    publish(&mut driver, None, b"t", b"1 all");
    publish(
        &mut driver,
        Some(&sockets[1]),
        b"t",
        b"2 all but the second",
    );
    publish(&mut driver, None, b"u", b"3 the first");
    publish(&mut driver, None, b"nobody", b"nobody");
    unsubscribe(&mut driver, &sockets[2], b"t");
    publish(&mut driver, None, b"t", b"4 first and second");
    message(&mut driver, &sockets[0], operation_flag::TEXT, b"5 after");
    apply(&mut driver);
    let expected: [&[&str]; 3] = [
        &[
            "0 before",
            "1 all",
            "2 all but the second",
            "3 the first",
            "4 first and second",
            "5 after",
        ],
        &["1 all", "4 first and second"],
        &["1 all", "2 all but the second"],
    ];
    for (client, expected) in clients.iter_mut().zip(expected) {
        for &each in expected {
            assert_eq!(client.frame(&mut driver), (0x81, each.as_bytes().to_vec()));
        }
        assert!(client.received.is_empty());
    }
    // A publisher that has left a topic, and a topic whose subscribers have left.
    drop(clients.remove(0));
    driver.until(|driver| stats(driver).2 == 2);
    publish(&mut driver, None, b"u", b"nobody");
    publish(&mut driver, None, b"t", b"second");
    publish(
        &mut driver,
        Some(&sockets[0]),
        b"t",
        b"a publisher that is gone",
    );
    apply(&mut driver);
    assert_eq!(clients[0].frame(&mut driver), (0x81, b"second".to_vec()));
    assert!(clients[0].received.is_empty());
}

#[test]
fn a_large_message_to_many_is_whole_for_each() {
    let mut driver = Driver::sockets(
        &limits(),
        SocketSpec {
            max_buffered: 16 << 20,
            ..spec()
        },
    );
    let mut clients: Vec<_> = (0..4).map(|_| Client::open(&mut driver, b"")).collect();
    let payload: Vec<u8> = (0..900_000_u32).map(|at| b'a' + (at % 23) as u8).collect();
    for client in &clients {
        let socket = client.socket.clone();
        subscribe(&mut driver, &socket, b"t");
    }
    for _ in 0..4 {
        publish(&mut driver, None, b"t", &payload);
        apply(&mut driver);
    }
    for client in &mut clients {
        for _ in 0..4 {
            let (first, received) = client.frame(&mut driver);
            assert_eq!(first, 0x81);
            assert!(received == payload, "the payload arrives as it was sent");
        }
    }
}
