//! Closing a server: what is still answered, and what ends its connection.

mod driver;

use driver::{Driver, data, finish, limits, reply_large, send, start, text, upload};
use engine::NoReferences;
use ring::layout::{abort, kind, limit, request};
use std::time::Duration;

const GET: &[u8] = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

#[test]
fn close_answers_what_is_in_flight_and_then_reports() {
    let mut driver = Driver::new(&limits());
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
    let closed = driver.event(kind::CLOSED);
    assert_eq!(closed.words[request::SERVER], i32::from(driver.server));
    assert!(std::net::TcpStream::connect(driver.address).is_err());
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
fn a_reply_begun_before_close_ends_its_connection() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, GET);
    let request = driver.request();
    start(driver.engine.memory(), &request, None);
    data(driver.engine.memory(), &request, b"begun", false);
    driver.engine.apply(&NoReferences);
    driver.engine.close(driver.server);
    finish(driver.engine.memory(), &request);
    driver.engine.apply(&NoReferences);
    driver.event(kind::CLOSED);
    let (received, ended) = driver.read(&mut client, |_| false);
    assert!(ended && received.ends_with(b"0\r\n\r\n"));
}

#[test]
fn a_reply_still_being_sent_at_close_ends_its_connection() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    send(&mut client, GET);
    let request = driver.request();
    let length = 16 << 20;
    reply_large(&mut driver, &request, length);
    driver.engine.close(driver.server);
    let (received, ended) = driver.read(&mut client, |_| false);
    assert!(ended && received.len() > length);
    driver.event(kind::CLOSED);
}

#[test]
fn a_discarded_body_does_not_keep_a_closing_server_open() {
    let mut driver = Driver::new(&limits());
    let mut client = driver.client();
    let request = upload(&mut driver, &mut client, "Content-Length: 10\r\n", b"");
    driver.reply(&request, 200, b"early");
    driver.read(&mut client, |received| received.ends_with(b"early"));
    driver.engine.close(driver.server);
    send(&mut client, &[b'.'; 10]);
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
