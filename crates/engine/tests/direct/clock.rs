//! The clock that tests hold and move on.

use std::net::TcpStream;

use crate::driver::{Driver, limits, pass, send, text};
use ring::layout::limit;

/// A driver with one client that has sent a part of its head, for which it has so many milliseconds.
fn slow_client(limit: f64) -> (Driver, TcpStream) {
    let mut values = limits();
    values[limit::HEADERS_TIMEOUT] = limit;
    let mut driver = Driver::prompt(&values);
    let mut client = driver.client();
    send(&mut client, b"GET /a HTTP/1.1\r\n");
    driver.until(|driver| driver.engine.connection_count() == 1);
    (driver, client)
}

/// Ends what is late, and gives whether the client was told that it is.
fn is_late(driver: &mut Driver, client: &mut TcpStream) -> bool {
    pass(driver, 0);
    if client.peek(&mut [0]).is_err() {
        return false;
    }
    let (received, _) = driver.read(client, |received| received.ends_with(b"}"));
    assert!(text(&received).starts_with("HTTP/1.1 408 "));
    true
}

#[test]
fn a_limit_of_ten_seconds_is_tested_one_below_at_and_one_above() {
    for (ms, ends) in [(9_999, false), (10_000, true), (10_001, true)] {
        let (mut driver, mut client) = slow_client(10_000.0);
        pass(&mut driver, ms);
        assert_eq!(is_late(&mut driver, &mut client), ends, "after {ms} ms");
    }
}

#[test]
fn steps_add_up() {
    let (mut driver, mut client) = slow_client(10_000.0);
    for _ in 0..9_999 {
        driver.engine.advance_clock(1);
    }
    assert!(!is_late(&mut driver, &mut client));
    driver.engine.advance_clock(1);
    assert!(is_late(&mut driver, &mut client));
}

/// The limit and the time that the test lets pass are hours, so that the time the test itself takes does not matter.
#[test]
fn a_clock_that_is_let_go_goes_on_and_not_back() {
    const HOUR: u64 = 3_600_000;
    let (mut driver, mut client) = slow_client(2.0 * HOUR as f64);
    driver.engine.advance_clock(HOUR);
    driver.engine.hold_clock(false);
    assert!(!is_late(&mut driver, &mut client));
    driver.engine.advance_clock(HOUR);
    assert!(is_late(&mut driver, &mut client));
}

#[test]
fn a_clock_that_is_held_again_keeps_what_it_was_moved() {
    const HOUR: u64 = 3_600_000;
    let (mut driver, mut client) = slow_client(2.0 * HOUR as f64);
    driver.engine.advance_clock(HOUR);
    driver.engine.hold_clock(false);
    driver.engine.hold_clock(true);
    assert!(!is_late(&mut driver, &mut client));
    driver.engine.advance_clock(HOUR);
    assert!(is_late(&mut driver, &mut client));
}
