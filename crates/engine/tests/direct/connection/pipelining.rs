//! Requests that follow each other on a connection, and whose replies are whose.

use super::GET;
use crate::driver::{Driver, Seen, answer, arrive, ends_with, limits, send, settle, text};
use ring::Memory;
use ring::layout::{kind, limit};

#[test]
fn replies_leave_in_the_order_of_their_requests() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, &GET.repeat(3));
    let requests: Vec<_> = (0..3).map(|_| driver.request()).collect();
    driver.reply(&requests[2], 200, b"third");
    driver.reply(&requests[0], 200, b"first");
    let (received, _) = driver.read(&mut client, ends_with("first"));
    assert!(!text(&received).contains("third"));
    driver.reply(&requests[1], 200, b"second");
    let (received, _) = driver.read(&mut client, ends_with("third"));
    assert!(text(&received).contains("second"));
}

#[test]
fn an_unsafe_request_waits_and_holds_back() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    let post = b"POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi";
    send(&mut client, &[GET, &post[..], GET].concat());
    let first = driver.request();
    driver.turn(|_, _| {});
    assert!(driver.seen.is_empty(), "RFC 9112 §9.3.2");
    driver.reply(&first, 200, b"1");
    let second = driver.request();
    assert_eq!(second.body, b"hi");
    driver.turn(|_, _| {});
    assert!(driver.seen.is_empty());
    driver.reply(&second, 200, b"2");
    let third = driver.request();
    driver.reply(&third, 200, b"3");
    driver.read(&mut client, ends_with("3"));
}

#[test]
fn pipelining_pauses_at_its_limit_and_goes_on() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, &GET.repeat(40));
    driver.until(|driver| driver.seen.len() >= 16);
    driver.turn(|_, _| {});
    assert_eq!(driver.seen.len(), 16);
    let mut answered = 0;
    while answered < 40 {
        let request = driver.request();
        driver.reply(&request, 200, b"x");
        answered += 1;
    }
    let (received, _) = driver.read(&mut client, |received| {
        text(received).matches("HTTP/1.1 200").count() == 40
    });
    assert!(received.ends_with(b"x"));
}

#[test]
fn a_late_reply_of_another_generation_is_dropped() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, GET);
    let first = driver.request();
    drop(client);
    driver.until(|driver| {
        driver.engine.connection_count() == 0
            || driver.engine.in_flight() == 0
            || !driver.seen.is_empty()
    });
    driver.reply(&first, 200, b"late");
    driver.until(|driver| driver.engine.connection_count() == 0);
    let mut client = driver.client();
    send(&mut client, GET);
    let second = driver.request();
    assert_eq!(second.slot(), first.slot());
    assert_ne!(second.generation(), first.generation());
    driver.reply(&first, 200, b"stale");
    driver.reply(&second, 200, b"fresh");
    let (received, _) = driver.read(&mut client, ends_with("fresh"));
    assert!(!text(&received).contains("stale"));
}

#[test]
fn a_reset_client_aborts_once_and_frees_its_slot() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, GET);
    let request = driver.request();
    // Unread bytes at close make the kernel send a reset.
    driver.reply(&request, 200, b"unread");
    send(&mut client, GET);
    let second = driver.request();
    driver.until(|_| client.peek(&mut [0]).is_ok());
    drop(client);
    let told = driver.event(kind::ABORT);
    assert_eq!(
        (told.slot(), told.generation()),
        (second.slot(), second.generation())
    );
    driver.until(|driver| driver.engine.connection_count() == 0);
    assert_eq!(driver.engine.in_flight(), 0);
}

#[test]
fn a_refused_head_request_has_no_content_even_when_it_waits_its_turn() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, &[GET, b"HEAD /a HTTP/1.1\r\n\r\n"].concat());
    let first = driver.request();
    driver.reply(&first, 200, b"one");
    let (received, ended) = driver.read(&mut client, |_| false);
    let received = text(&received);
    assert!(ended && received.contains("HTTP/1.1 400 "), "{received}");
    assert!(received.ends_with("\r\n\r\n"), "{received}");
}

#[test]
fn a_head_larger_than_the_held_input_is_read_on() {
    let mut values = limits();
    values[limit::MAX_HEADER_SIZE] = 131_072.0;
    values[limit::MAX_HEADER_LINE] = 131_072.0;
    let mut driver = Driver::new(&values);
    let mut client = driver.client();
    send(
        &mut client,
        b"POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n.",
    );
    let first = driver.request();
    let line = "v".repeat(45_000);
    let large = format!("GET /a HTTP/1.1\r\nHost: x\r\nX: {line}\r\nX: {line}\r\n\r\n");
    send(&mut client, &large.as_bytes()[..70_000]);
    settle(&mut driver);
    driver.reply(&first, 200, b"1");
    settle(&mut driver);
    send(&mut client, &large.as_bytes()[70_000..]);
    let second = driver.request();
    driver.reply(&second, 200, b"second");
    driver.read(&mut client, |received| received.ends_with(b"second"));
}

#[test]
fn a_flood_of_pipelined_requests_does_not_starve_a_single_one() {
    let mut driver = Driver::new(&limits());
    let mut single = driver.client();
    let mut flood: Vec<_> = (0..16).map(|_| driver.client()).collect();
    driver.until(|driver| driver.engine.connection_count() == 17);
    for client in &mut flood {
        send(client, &GET.repeat(2_000));
    }
    arrive();
    let read = |memory: &mut Memory, seen: &Seen| {
        answer(memory, seen);
        for client in &mut flood {
            use std::io::Read;
            let _ = client.read(&mut [0; 4_096]);
        }
    };
    let mut read = read;
    driver.turn_of(4, &mut read);
    send(&mut single, b"GET /p/single HTTP/1.1\r\nHost: x\r\n\r\n");
    driver.seen.clear();
    while driver.seen.iter().all(|seen| seen.path != "/p/single") {
        driver.turn_of(4, &mut read);
    }
    // The flood has some 30,000 requests to go.
    let place = driver.seen.len();
    assert!(place < 2_000, "{place}");
}
