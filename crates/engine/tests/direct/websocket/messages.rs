//! Messages in both directions, and the limit on unfinished ones.

use ring::layout::{kind, message_flag, operation, operation_flag, request};

use super::client::{Client, apply, message, spec, stats};
use crate::driver::frames::take;
use crate::driver::{Driver, limits, make};

#[test]
fn messages_go_both_ways_and_say_what_they_are() {
    let mut driver = Driver::sockets(&limits(), spec());
    let mut client = Client::open(&mut driver, b"");
    assert_eq!(stats(&driver), (1, 0, 1));
    let large = "é".repeat(50_000);
    let cases: [(u8, &[u8], i32); 4] = [
        (0x81, b"hello", message_flag::TEXT | message_flag::ASCII),
        (0x81, "h\u{e9}".as_bytes(), message_flag::TEXT),
        (0x82, &[0, 255, 1], 0),
        (0x81, large.as_bytes(), message_flag::TEXT),
    ];
    for (first, payload, flags) in cases {
        client.send(first, payload);
        let seen = driver.event(kind::MESSAGE);
        assert_eq!(seen.body, payload);
        let may_be_gathered = seen.words[request::KIND] >> 16 & !message_flag::ASCII;
        assert_eq!(may_be_gathered, flags & !message_flag::ASCII);
        let sends = if first == 0x81 {
            operation_flag::TEXT
        } else {
            0
        };
        message(&mut driver, &seen, sends, payload);
        apply(&mut driver);
        assert_eq!(client.frame(&mut driver), (first, payload.to_vec()));
    }
}

#[test]
fn one_turn_takes_the_messages_of_many_sockets() {
    let mut driver = Driver::sockets(&limits(), spec());
    let mut clients: Vec<_> = (0..50).map(|_| Client::open(&mut driver, b"")).collect();
    for (index, client) in clients.iter_mut().enumerate() {
        client.send(0x82, &[index as u8; 3]);
        client.send(0x82, &[index as u8; 4]);
    }
    let mut got = vec![Vec::new(); 50];
    driver.serve_until(
        |memory, seen| {
            if seen.kind() == kind::MESSAGE {
                memory.push_record(make(seen, operation::MESSAGE, 0), &[], &seen.body);
            }
        },
        |_| {
            for (client, got) in clients.iter_mut().zip(&mut got) {
                client.receive();
                while let Some((_, payload)) = take(&mut client.received) {
                    got.push(payload);
                }
            }
            got.iter().all(|got| got.len() == 2)
        },
    );
    for (index, got) in got.iter().enumerate() {
        assert_eq!(*got, [vec![index as u8; 3], vec![index as u8; 4]]);
    }
}

#[test]
fn unfinished_messages_count_as_buffered_bodies() {
    let mut values = limits();
    values[ring::layout::limit::MAX_BUFFERED_BODIES] = 200_000.0;
    let mut driver = Driver::sockets(&values, spec());
    let mut first = Client::open(&mut driver, b"");
    first.send(0x02, &vec![0; 40_000]);
    let mut second = Client::open(&mut driver, b"");
    second.send(0x02, &vec![0; 150_000]);
    second.send(0x00, &vec![0; 150_000]);
    assert_eq!(
        second.told(&mut driver),
        (1013, "too many messages are incomplete".to_owned())
    );
    // What the closed socket held is free again.
    let mut third = Client::open(&mut driver, b"");
    third.send(0x02, &vec![1; 20_000]);
    third.send(0x80, &[2; 10_000]);
    assert_eq!(driver.event(kind::MESSAGE).body.len(), 30_000);
    first.send(0x80, b"");
    assert_eq!(driver.event(kind::MESSAGE).body.len(), 40_000);
}
