//! Closing a server: what is still answered, and what ends its connection.

mod idle;
mod limits;
mod replies;

use crate::driver::{Driver, answer, limits, text};
use ring::layout::limit;
use std::io::{ErrorKind, Read};
use std::net::TcpStream;

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
