//! A client that knows the frames by itself, and the records that JavaScript would write for its socket.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;

use engine::{NoReferences, SocketSpec};
use ring::layout::{RECORD_WORDS, kind, operation, operation_flag, record, request};

use crate::driver::frames::{ACCEPT, HEAD, KEY, frame, take};
use crate::driver::{Driver, Seen, make, send, text};

pub fn spec() -> SocketSpec {
    SocketSpec {
        limits: ws::Limits {
            message: 1 << 20,
            fragments: 1_024,
        },
        idle_timeout: 120_000,
        close_timeout: 60_000,
        max_buffered: 1 << 20,
        drops: false,
        compress_from: None,
    }
}

pub struct Client {
    pub stream: TcpStream,
    pub received: Vec<u8>,
    pub ended: bool,
    pub socket: Seen,
}

impl Client {
    /// Opens a socket; bytes of `behind` come with the request.
    pub fn open(driver: &mut Driver, behind: &[u8]) -> Self {
        Self::offer(driver, behind, b"").0
    }

    /// Opens a socket that offers extensions; gives the head of the reply too.
    pub fn offer(driver: &mut Driver, behind: &[u8], offers: &[u8]) -> (Self, String) {
        let mut stream = driver.client();
        send(&mut stream, &[HEAD, behind].concat());
        let socket = driver.request();
        upgrade(driver, &socket, &[KEY, offers].concat());
        apply(driver);
        let mut client = Self {
            stream,
            received: Vec::new(),
            ended: false,
            socket,
        };
        client.read_until(driver, |client| {
            find(&client.received, b"\r\n\r\n").is_some()
        });
        let end = find(&client.received, b"\r\n\r\n").unwrap() + 4;
        let head = text(&client.received[..end]);
        assert!(
            head.starts_with("HTTP/1.1 101 Switching Protocols\r\n"),
            "{head}"
        );
        assert!(head.contains(&format!("\r\nSec-WebSocket-Accept: {ACCEPT}\r\n")));
        client.received.drain(..end);
        (client, head)
    }

    pub fn receive(&mut self) {
        let mut buffer = [0; 16_384];
        match self.stream.read(&mut buffer) {
            Ok(0) => self.ended = true,
            Ok(count) => self.received.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => self.ended = true,
        }
    }

    pub fn read_until(&mut self, driver: &mut Driver, done: impl Fn(&Self) -> bool) {
        driver.until(|_| {
            self.receive();
            done(self)
        });
    }

    /// The next frame.
    pub fn frame(&mut self, driver: &mut Driver) -> (u8, Vec<u8>) {
        self.read_until(driver, |client| {
            take(&mut client.received.clone()).is_some()
        });
        take(&mut self.received).unwrap()
    }

    pub fn until_end(&mut self, driver: &mut Driver) {
        self.read_until(driver, |client| client.ended);
    }

    pub fn send(&mut self, first: u8, payload: &[u8]) {
        send(&mut self.stream, &frame(first, payload));
    }

    /// The code and the reason that JavaScript is told.
    pub fn told(&self, driver: &mut Driver) -> (i32, String) {
        loop {
            let seen = driver.event(kind::CLOSED_SOCKET);
            if (seen.slot(), seen.generation()) == (self.socket.slot(), self.socket.generation()) {
                return (seen.words[request::ALLOW], text(&seen.body));
            }
        }
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

pub fn apply(driver: &mut Driver) {
    driver.engine.apply(&NoReferences);
}

/// Has the engine accept a socket: `handshake` is its key and the offers of extensions.
pub fn upgrade(driver: &mut Driver, to: &Seen, handshake: &[u8]) {
    let record = make(to, operation::UPGRADE, 0);
    driver.engine.memory().push_record(record, &[], handshake);
}

pub fn message(driver: &mut Driver, to: &Seen, flags: i32, body: &[u8]) {
    let record = make(to, operation::MESSAGE, flags);
    driver.engine.memory().push_record(record, &[], body);
}

pub fn subscribe(driver: &mut Driver, to: &Seen, topic: &[u8]) {
    let record = make(to, operation::SUBSCRIBE, 0);
    driver.engine.memory().push_record(record, &[], topic);
}

pub fn unsubscribe(driver: &mut Driver, to: &Seen, topic: &[u8]) {
    let record = make(to, operation::UNSUBSCRIBE, 0);
    driver.engine.memory().push_record(record, &[], topic);
}

pub fn publish(driver: &mut Driver, from: Option<&Seen>, topic: &[u8], body: &[u8]) {
    let record = if let Some(socket) = from {
        make(socket, operation::PUBLISH, operation_flag::TEXT)
    } else {
        let mut words = [0; RECORD_WORDS];
        words[record::SLOT] = -1;
        words[record::GENERATION] = i32::from(driver.server);
        words[record::OPERATION] = operation::PUBLISH | operation_flag::TEXT << 16;
        ring::Record(words)
    };
    driver.engine.memory().push_record(record, topic, body);
}

pub fn close(driver: &mut Driver, to: &Seen, payload: &[u8]) {
    let record = make(to, operation::CLOSE, 0);
    driver.engine.memory().push_record(record, &[], payload);
}

/// The numbers of connections, of exchanges in flight, and of sockets.
pub fn stats(driver: &Driver) -> (u64, u64, u64) {
    let stats = driver.engine.stats(driver.server).unwrap();
    (stats.connections, stats.in_flight, stats.sockets)
}
