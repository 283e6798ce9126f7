//! The time limits of a connection: what each of them counts, and what it does not.

use std::net::TcpStream;

use crate::driver::{
    Driver, allow, ends_with, limits, pass, reply_large, send, start, text, upload,
};
use ring::layout::{abort, kind, limit, operation, request};

const GET: &[u8] = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

/// Gives whether JavaScript was told that a client or its request is gone.
fn told(driver: &Driver) -> bool {
    driver.seen.iter().any(|seen| seen.kind() == kind::ABORT)
}

/// Gives whether the end of the connection has come, and nothing before it.
fn has_ended(client: &TcpStream) -> bool {
    matches!(client.peek(&mut [0]), Ok(0))
}

#[test]
fn a_handler_may_work_on_longer_than_its_streamed_body_took() {
    let mut values = limits();
    values[limit::REQUEST_TIMEOUT] = 100.0;
    let mut driver = Driver::new(&values);
    let mut client = driver.client();
    let request = upload(&mut driver, &mut client, "Content-Length: 5\r\n", b"whole");
    allow(&mut driver, &request, operation::READ, 1000);
    driver.event(kind::BODY_END);
    pass(&mut driver, 250);
    assert!(driver.seen.is_empty(), "{:?}", driver.seen);
    driver.reply(&request, 200, b"late but whole");
    driver.read(&mut client, |received| {
        received.ends_with(b"late but whole")
    });
}

#[test]
fn credit_does_not_buy_a_dripping_client_time() {
    let mut values = limits();
    values[limit::REQUEST_TIMEOUT] = 200.0;
    let mut driver = Driver::new(&values);
    let mut client = driver.client();
    let request = upload(&mut driver, &mut client, "Content-Length: 1000\r\n", b"");
    allow(&mut driver, &request, operation::READ, 100);
    // Once it is read, its client has a second at least.
    for at in (20..1_000).step_by(20) {
        send(&mut client, b".");
        pass(&mut driver, 20);
        assert!(!told(&driver), "at {at} ms");
        allow(&mut driver, &request, operation::CREDIT, 1);
    }
    send(&mut client, b".");
    pass(&mut driver, 19);
    assert!(!told(&driver), "at 999 ms");
    pass(&mut driver, 1);
    let told = driver.event(kind::ABORT);
    assert_eq!(told.words[request::BODY_LENGTH], abort::UPLOAD);
    let (received, ended) = driver.read(&mut client, |_| false);
    assert!(ended && text(&received).starts_with("HTTP/1.1 408 "));
    assert!(text(&received).contains("Connection: close"));
}

#[test]
fn a_body_too_slow_for_a_reply_that_has_begun_resets_it() {
    let mut values = limits();
    values[limit::REQUEST_TIMEOUT] = 100.0;
    let mut driver = Driver::new(&values);
    let mut client = driver.client();
    let request = upload(&mut driver, &mut client, "Content-Length: 9\r\n", b"");
    start(driver.engine.memory(), &request, None);
    allow(&mut driver, &request, operation::READ, 100);
    pass(&mut driver, 999);
    assert!(!told(&driver));
    pass(&mut driver, 1);
    let told = driver.event(kind::ABORT);
    assert_eq!(told.words[request::BODY_LENGTH], abort::UPLOAD);
    let (received, ended) = driver.read(&mut client, |_| false);
    assert!(ended && !text(&received).contains("408"));
}

#[test]
fn a_client_is_not_blamed_for_the_time_its_handler_took() {
    let mut values = limits();
    values[limit::REQUEST_TIMEOUT] = 150.0;
    let mut driver = Driver::new(&values);
    let mut client = driver.client();
    let request = upload(
        &mut driver,
        &mut client,
        "Content-Length: 40\r\n",
        &[b'.'; 20],
    );
    pass(&mut driver, 250);
    allow(&mut driver, &request, operation::READ, 10);
    pass(&mut driver, 250);
    allow(&mut driver, &request, operation::CREDIT, 100);
    pass(&mut driver, 50);
    send(&mut client, &[b'.'; 20]);
    driver.event(kind::BODY_END);
}

#[test]
fn the_keep_alive_time_begins_when_the_reply_is_sent() {
    let mut values = limits();
    values[limit::KEEP_ALIVE_TIMEOUT] = 100.0;
    values[limit::HEADERS_TIMEOUT] = 100.0;
    let mut driver = Driver::new(&values);
    let mut client = driver.client();
    send(&mut client, GET);
    let request = driver.request();
    let length = 16 << 20;
    reply_large(&mut driver, &request, length);
    // Waits for the reply before it; that is no slow head.
    send(&mut client, GET);
    pass(&mut driver, 300);
    let (received, ended) = driver.read(&mut client, |received| received.len() > length);
    assert!(
        !ended && received.len() > length,
        "{} bytes",
        received.len()
    );
    let next = driver.request();
    driver.reply(&next, 200, b"next");
    driver.read(&mut client, |received| received.ends_with(b"next"));
    pass(&mut driver, 99);
    assert!(!has_ended(&client));
    pass(&mut driver, 1);
    driver.until(|_| has_ended(&client));
}

#[test]
fn timeouts_are_kept() {
    let mut values = limits();
    values[limit::HEADERS_TIMEOUT] = 100.0;
    values[limit::KEEP_ALIVE_TIMEOUT] = 200.0;
    values[limit::HANDLER_TIMEOUT] = 150.0;
    let mut driver = Driver::new(&values);
    assert_eq!(driver.engine.sweep_interval(), 25);
    let mut slow = driver.client();
    send(&mut slow, b"GET /a HT");
    let mut waiting = driver.client();
    send(&mut waiting, GET);
    let mut idle = driver.client();
    send(&mut idle, GET);
    let first = driver.request();
    let second = driver.request();
    driver.reply(&second, 200, b"ok");
    driver.read(&mut idle, ends_with("ok"));
    pass(&mut driver, 99);
    assert!(slow.peek(&mut [0]).is_err());
    pass(&mut driver, 1);
    let (received, ended) = driver.read(&mut slow, |_| false);
    assert!(ended && text(&received).starts_with("HTTP/1.1 408 "));
    pass(&mut driver, 49);
    assert!(driver.seen.is_empty() && waiting.peek(&mut [0]).is_err());
    pass(&mut driver, 1);
    let told = driver.event(kind::ABORT);
    assert_eq!(told.words[request::BODY_LENGTH], abort::TIMEOUT);
    assert_eq!(told.slot(), first.slot());
    let (received, _) = driver.read(&mut waiting, |received| !received.is_empty());
    assert!(text(&received).starts_with("HTTP/1.1 503 "));
    pass(&mut driver, 49);
    assert!(!has_ended(&idle));
    pass(&mut driver, 1);
    driver.until(|_| has_ended(&idle));
}

#[test]
fn limits_that_are_off_never_fire() {
    let mut values = limits();
    for off in [
        limit::HEADERS_TIMEOUT,
        limit::REQUEST_TIMEOUT,
        limit::SEND_TIMEOUT,
        limit::KEEP_ALIVE_TIMEOUT,
        limit::MAX_CONNECTION_AGE,
        limit::MAX_CONNECTIONS,
        limit::MAX_IN_FLIGHT,
    ] {
        values[off] = 0.0;
    }
    let mut driver = Driver::new(&values);
    let mut client = driver.client();
    send(&mut client, &GET[..10]);
    driver.turn(|_, _| {});
    driver.engine.sweep();
    send(&mut client, &GET[10..]);
    let request = driver.request();
    driver.reply(&request, 200, b"one");
    driver.engine.sweep();
    send(
        &mut client,
        b"POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n.",
    );
    driver.turn(|_, _| {});
    driver.engine.sweep();
    send(&mut client, b".");
    let request = driver.request();
    driver.reply(&request, 200, b"two");
    driver.read(&mut client, ends_with("two"));
}
