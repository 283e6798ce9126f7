//! Closing a server: what is still answered, and what ends its connection.

mod driver;

use driver::{
    Driver, answer, data, ends_with, finish, idle, limits, reply_large, send, start, text, upload,
};
use engine::NoReferences;
use ring::layout::{abort, kind, limit, request};
use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::time::Duration;

const GET: &[u8] = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

/// A driver whose idle connections stay for so many milliseconds.
fn driver_for(drain_idle: f64) -> Driver {
    let mut values = limits();
    values[limit::DRAIN_IDLE] = drain_idle;
    Driver::new(&values)
}

/// Serves until the connection ends, and gives all of its replies. The client is gone then.
fn replies(driver: &mut Driver, mut client: TcpStream) -> String {
    let mut received = Vec::new();
    let mut ended = false;
    driver.serve_until(answer, |driver| {
        driver.engine.sweep();
        let mut buffer = [0; 4_096];
        match client.read(&mut buffer) {
            Ok(0) => ended = true,
            Ok(count) => received.extend_from_slice(&buffer[..count]),
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
        ended
    });
    text(&received)
}

fn says_close(reply: &str) -> usize {
    reply.matches("Connection: close").count()
}

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
    idle(&mut driver, 20);
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
    let closed = |seen: &driver::Seen| seen.kind() == kind::CLOSED;
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
        std::thread::sleep(Duration::from_millis(5));
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
    std::thread::sleep(Duration::from_millis(5));
    driver.engine.sweep();
    send(&mut client, GET);
    // `replies` fails for a reset.
    assert_eq!(replies(&mut driver, client), "");
    driver.event(kind::CLOSED);
}

#[test]
fn the_last_reply_of_what_was_received_says_close() {
    let mut driver = driver_for(5_000.0);
    let mut client = driver.client();
    // The POST waits for the GET, and the GET behind it for the POST.
    let post = b"POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab";
    send(&mut client, &[GET, post, GET, GET].concat());
    let request = driver.request();
    driver.engine.close(driver.server);
    driver.reply(&request, 200, b"!");
    let reply = replies(&mut driver, client);
    assert_eq!(reply.matches("HTTP/1.1 200 OK").count(), 4);
    assert_eq!(says_close(&reply), 1, "{reply}");
    assert!(reply.rfind("HTTP/1.1") < reply.find("Connection: close"));
    driver.event(kind::CLOSED);
}

#[test]
fn a_reply_ahead_of_its_body_says_close() {
    let mut driver = driver_for(5_000.0);
    let mut client = driver.client();
    // Nobody reads the body, so it waits.
    let request = upload(&mut driver, &mut client, "Content-Length: 10\r\n", b"12345");
    driver.engine.close(driver.server);
    driver.reply(&request, 200, b"early");
    let reply = replies(&mut driver, client);
    assert!(
        reply.ends_with("early") && says_close(&reply) == 1,
        "{reply}"
    );
    driver.event(kind::CLOSED);
}

#[test]
fn requests_behind_the_last_reply_do_not_reset_it() {
    let mut driver = driver_for(5_000.0);
    let mut client = driver.client();
    send(&mut client, GET);
    let request = driver.request();
    driver.engine.close(driver.server);
    driver.reply(&request, 200, b"!");
    // The client did not wait for the reply.
    send(&mut client, GET);
    let reply = replies(&mut driver, client);
    assert_eq!(reply.matches("HTTP/1.1 200 OK").count(), 1);
    driver.event(kind::CLOSED);
}

#[test]
fn half_received_requests_are_completed_and_answered() {
    // Whether idle connections are closed meanwhile does not matter.
    for drain_idle in [0.0, 5_000.0] {
        let mut driver = driver_for(drain_idle);
        let post = b"POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nabcd";
        for cut in [5, post.len() - 2] {
            let mut client = driver.client();
            send(&mut client, &post[..cut]);
            idle(&mut driver, 5);
            driver.engine.close(driver.server);
            idle(&mut driver, 5);
            send(&mut client, &post[cut..]);
            let reply = replies(&mut driver, client);
            assert!(reply.ends_with('!') && says_close(&reply) == 1, "{reply}");
            driver.event(kind::CLOSED);
            driver = driver_for(drain_idle);
        }
    }
}

#[test]
fn the_deadline_ends_what_drains() {
    let mut values = limits();
    values[limit::SHUTDOWN_TIMEOUT] = 30.0;
    let mut driver = Driver::new(&values);
    let clients = [driver.client(), driver.client()];
    driver.until(|driver| driver.engine.connection_count() == 2);
    driver.engine.close(driver.server);
    driver.until(|driver| {
        driver.engine.sweep();
        driver.seen.iter().any(|seen| seen.kind() == kind::CLOSED)
    });
    drop(clients);
}

#[test]
fn without_time_for_it_the_close_resets_at_once() {
    let mut values = limits();
    values[limit::SHUTDOWN_TIMEOUT] = 0.0;
    let mut driver = Driver::new(&values);
    let mut client = driver.client();
    send(&mut client, GET);
    driver.request();
    driver.engine.close(driver.server);
    assert_eq!(driver.engine.connection_count(), 0);
    let told = driver.event(kind::ABORT);
    assert_eq!(told.words[request::BODY_LENGTH], abort::SHUTDOWN);
    driver.event(kind::CLOSED);
}

#[test]
fn shutdown_resets_what_never_ends() {
    let mut values = limits();
    values[limit::SHUTDOWN_TIMEOUT] = 60.0;
    let mut driver = Driver::new(&values);
    let mut client = driver.client();
    send(&mut client, GET);
    driver.request();
    driver.engine.close(driver.server);
    std::thread::sleep(Duration::from_millis(80));
    driver.engine.sweep();
    let told = driver.event(kind::ABORT);
    assert_eq!(told.words[request::BODY_LENGTH], abort::SHUTDOWN);
    driver.event(kind::CLOSED);
    let (_, ended) = driver.read(&mut client, |_| false);
    assert!(ended);
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
fn a_reply_begun_before_close_does_not_end_its_connection_in_silence() {
    let mut driver = driver_for(5_000.0);
    let mut client = driver.client();
    send(&mut client, GET);
    let request = driver.request();
    start(driver.engine.memory(), &request, None);
    data(driver.engine.memory(), &request, b"begun", false);
    driver.engine.apply(&NoReferences);
    driver.engine.close(driver.server);
    finish(driver.engine.memory(), &request);
    driver.engine.apply(&NoReferences);
    let (received, ended) = driver.read(&mut client, ends_with("0\r\n\r\n"));
    assert!(!ended && says_close(&text(&received)) == 0);
    // Its client could not know, so the next request is answered, too.
    send(&mut client, GET);
    assert_eq!(says_close(&replies(&mut driver, client)), 1);
    driver.event(kind::CLOSED);
}

#[test]
fn a_reply_begun_before_close_ends_its_connection_once_idle_ones_are_closed() {
    let mut driver = driver_for(0.0);
    let mut client = driver.client();
    send(&mut client, GET);
    let request = driver.request();
    start(driver.engine.memory(), &request, None);
    data(driver.engine.memory(), &request, b"begun", false);
    driver.engine.apply(&NoReferences);
    driver.engine.close(driver.server);
    finish(driver.engine.memory(), &request);
    driver.engine.apply(&NoReferences);
    let received = replies(&mut driver, client);
    assert!(received.ends_with("0\r\n\r\n"));
    driver.event(kind::CLOSED);
}

#[test]
fn a_reply_still_being_sent_at_close_ends_its_connection() {
    for drain_idle in [0.0, 5_000.0] {
        let mut driver = driver_for(drain_idle);
        let mut client = driver.client();
        send(&mut client, GET);
        let request = driver.request();
        let length = 16 << 20;
        reply_large(&mut driver, &request, length);
        driver.engine.close(driver.server);
        let (received, ended) = driver.read(&mut client, |received| received.len() > length);
        assert!(!ended && received.len() > length);
        if drain_idle > 0.0 {
            send(&mut client, GET);
        }
        replies(&mut driver, client);
        driver.event(kind::CLOSED);
    }
}

#[test]
fn a_discarded_body_does_not_keep_a_closing_server_open() {
    let mut driver = driver_for(0.0);
    let mut client = driver.client();
    let request = upload(&mut driver, &mut client, "Content-Length: 10\r\n", b"");
    driver.reply(&request, 200, b"early");
    driver.read(&mut client, |received| received.ends_with(b"early"));
    driver.engine.close(driver.server);
    send(&mut client, &[b'.'; 10]);
    assert_eq!(replies(&mut driver, client), "");
    driver.event(kind::CLOSED);
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
