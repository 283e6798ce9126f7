//! Replies that are slow, short or wrong.

use super::GET;
use crate::driver::{Driver, data, ends_with, finish, limits, send, start, text};
use ring::layout::{kind, operation};

#[test]
fn a_slow_reader_stops_its_producer() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, GET);
    let request = driver.request();
    start(driver.engine.memory(), &request, None);
    driver.engine.apply(&engine::NoReferences);
    let chunk = vec![b'd'; 60_000];
    let mut written = 0;
    // The socket buffers of both sides fill; then no drain comes back.
    for _ in 0..200 {
        data(driver.engine.memory(), &request, &chunk, true);
        driver.engine.apply(&engine::NoReferences);
        written += 1;
        driver.turn(|_, _| {});
        if driver.seen.drain(..).all(|seen| seen.kind() != kind::DRAIN) {
            break;
        }
    }
    assert!(written < 200, "12 MB were taken without back-pressure");
    let (_, ended) = driver.read(&mut client, |received| {
        received.len() > (written - 1) * 60_000
    });
    assert!(!ended);
    driver.event(kind::DRAIN);
    finish(driver.engine.memory(), &request);
    driver.engine.apply(&engine::NoReferences);
    driver.read(&mut client, ends_with("0\r\n\r\n"));
}

#[test]
fn a_short_body_resets_instead_of_ending() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, GET);
    let request = driver.request();
    start(driver.engine.memory(), &request, Some(10));
    data(driver.engine.memory(), &request, b"12345", false);
    finish(driver.engine.memory(), &request);
    driver.engine.apply(&engine::NoReferences);
    let (received, ended) = driver.read(&mut client, |_| false);
    assert!(ended && !received.ends_with(b"67890"));
    assert_eq!(driver.engine.in_flight(), 0);
}

#[test]
fn a_reply_with_a_bad_header_block_becomes_a_500() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, GET);
    let request = driver.request();
    let block = [1u8, 0, 4, 0, b'x', b'a', b'\r', b'\n', b'b'];
    let record = crate::driver::make(&request, operation::END, 200);
    driver.engine.memory().push_record(record, &block, b"body");
    driver.engine.apply(&engine::NoReferences);
    let (received, _) = driver.read(&mut client, ends_with("}"));
    assert!(
        text(&received).starts_with("HTTP/1.1 500 "),
        "{}",
        text(&received)
    );
}
