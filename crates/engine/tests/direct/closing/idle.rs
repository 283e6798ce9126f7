//! Connections without a request when their server closes.

use super::{GET, driver_for, replies, says_close};
use crate::driver::{Driver, ends_with, limits, pass, reply_large, send, text};
use ring::layout::{kind, request};

#[test]
fn close_answers_what_is_in_flight_and_then_reports() {
    let mut driver = driver_for(0.0);
    let mut busy = driver.client();
    let mut idle = driver.client();
    send(&mut busy, GET);
    let request = driver.request();
    driver.until(|driver| driver.engine.connection_count() == 2);
    driver.engine.close(driver.server);
    let (_, ended) = driver.read(&mut idle, |_| false);
    assert!(ended);
    driver.reply(&request, 200, b"last");
    let (received, ended) = driver.read(&mut busy, |_| false);
    assert!(ended && received.ends_with(b"last"));
    assert!(text(&received).contains("Connection: close"));
    drop(busy);
    let closed = driver.event(kind::CLOSED);
    assert_eq!(closed.words[request::SERVER], i32::from(driver.server));
    assert!(std::net::TcpStream::connect(driver.address).is_err());
}

#[test]
fn idle_connections_stay_and_are_answered() {
    let mut driver = driver_for(5_000.0);
    let mut served = driver.client();
    let fresh = driver.client();
    send(&mut served, GET);
    let request = driver.request();
    driver.reply(&request, 200, b"first");
    driver.read(&mut served, ends_with("first"));
    driver.until(|driver| driver.engine.connection_count() == 2);
    driver.engine.close(driver.server);
    pass(&mut driver, 4_999);
    assert_eq!(driver.engine.connection_count(), 2);
    for mut client in [served, fresh] {
        send(&mut client, GET);
        let reply = replies(&mut driver, client);
        assert!(reply.ends_with('!') && says_close(&reply) == 1, "{reply}");
    }
    // Nothing is left, so the close ends long before `drainIdle`.
    driver.event(kind::CLOSED);
}

#[test]
fn what_waits_in_the_accept_queue_is_served() {
    // More than one call accepts.
    let mut driver = driver_for(5_000.0);
    let mut clients: Vec<_> = (0..150).map(|_| driver.client()).collect();
    for client in &mut clients {
        send(client, GET);
    }
    assert_eq!(driver.engine.connection_count(), 0);
    driver.engine.close(driver.server);
    assert_eq!(driver.engine.connection_count(), 150);
    for client in clients {
        assert_eq!(says_close(&replies(&mut driver, client)), 1);
    }
    driver.event(kind::CLOSED);
}

#[test]
fn without_a_connection_the_close_ends_at_once() {
    let mut driver = driver_for(5_000.0);
    driver.engine.close(driver.server);
    driver.engine.close(driver.server);
    driver.turn(|_, _| {});
    let closed = |seen: &crate::driver::Seen| seen.kind() == kind::CLOSED;
    assert_eq!(driver.seen.iter().filter(|&seen| closed(seen)).count(), 1);
}

#[test]
fn an_idle_connection_is_read_once_more() {
    // With 0 that is inside `close` itself, else when `drainIdle` is over.
    for drain_idle in [0.0, 1.0] {
        let mut driver = driver_for(drain_idle);
        let mut late = driver.client();
        let quiet = driver.client();
        driver.until(|driver| driver.engine.connection_count() == 2);
        send(&mut late, GET);
        driver.engine.close(driver.server);
        driver.engine.advance_clock(drain_idle as u64);
        driver.engine.sweep();
        let reply = replies(&mut driver, late);
        assert!(reply.ends_with('!') && says_close(&reply) == 1, "{reply}");
        assert_eq!(replies(&mut driver, quiet), "");
        driver.event(kind::CLOSED);
    }
}

#[test]
fn a_request_that_crosses_the_end_meets_no_reset() {
    let mut driver = driver_for(1.0);
    let mut client = driver.client();
    driver.until(|driver| driver.engine.connection_count() == 1);
    driver.engine.close(driver.server);
    driver.engine.advance_clock(1);
    driver.engine.sweep();
    send(&mut client, GET);
    // `replies` fails for a reset.
    assert_eq!(replies(&mut driver, client), "");
    driver.event(kind::CLOSED);
}

#[test]
fn an_unreferenced_server_keeps_the_process_until_its_output_is_sent() {
    let mut driver = Driver::new(&limits());
    driver.engine.set_referenced(driver.server, false);
    let mut client = driver.client();
    send(&mut client, GET);
    let request = driver.request();
    assert!(driver.engine.keeps_alive());
    let length = 16 << 20;
    reply_large(&mut driver, &request, length);
    assert_eq!(driver.engine.in_flight(), 0);
    assert!(driver.engine.keeps_alive());
    driver.read(&mut client, |received| received.len() > length);
    driver.until(|driver| !driver.engine.keeps_alive());
    // A client that leaves in the middle is let go as well.
    send(&mut client, GET);
    let request = driver.request();
    reply_large(&mut driver, &request, length);
    assert!(driver.engine.keeps_alive());
    drop(client);
    driver.until(|driver| !driver.engine.keeps_alive());
}

#[test]
fn a_closing_server_does_not_listen_again() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, GET);
    driver.request();
    driver.engine.close(driver.server);
    let any = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    assert!(
        driver
            .engine
            .listen_tcp(driver.server, any, 1, false, false)
            .is_err()
    );
}
