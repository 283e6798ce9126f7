//! WebSockets on streams (RFC 8441).

mod ends;
mod messages;
mod opening;

use super::client::Client;
use crate::driver::http2::{HEADERS, block, data, headers};
use crate::driver::{Driver, Seen, frames, limits, make};
use engine::{NoReferences, SocketSpec};
use ring::layout::{RECORD_WORDS, kind, operation, operation_flag, record, request};

const TEXT: u8 = 0x81;

const CLOSE: u8 = 0x88;

const PING: u8 = 0x89;

const PONG: u8 = 0x8a;

const CANCEL: u32 = 8;

fn spec() -> SocketSpec {
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

fn server() -> Driver {
    server_of(spec())
}

fn server_of(spec: SocketSpec) -> Driver {
    with_http2(Driver::sockets(&limits(), spec))
}

fn with_http2(mut driver: Driver) -> Driver {
    driver.engine.set_http2(driver.server, true);
    driver
}

/// A WebSocket on a stream.
struct Socket {
    id: u32,
    seen: Seen,
}

fn ask(client: &mut Client, path: &str) -> u32 {
    let id = client.id();
    let fields = [(":protocol", "websocket"), ("sec-websocket-version", "13")];
    client.send(&headers(id, &block("CONNECT", path, &fields), false));
    id
}

fn record(driver: &mut Driver, to: &Seen, op: i32, flags: i32, body: &[u8]) {
    let record = make(to, op, flags);
    driver.engine.memory().push_record(record, &[], body);
}

fn apply(driver: &mut Driver) {
    driver.engine.apply(&NoReferences);
}

fn message(driver: &mut Driver, to: &Seen, body: &[u8]) {
    record(driver, to, operation::MESSAGE, operation_flag::TEXT, body);
}

fn publish(driver: &mut Driver, topic: &[u8], body: &[u8]) {
    let mut words = [0; RECORD_WORDS];
    words[record::SLOT] = -1;
    words[record::GENERATION] = i32::from(driver.server);
    words[record::OPERATION] = operation::PUBLISH | operation_flag::TEXT << 16;
    let memory = driver.engine.memory();
    memory.push_record(ring::Record(words), topic, body);
}

/// Gives the numbers of connections, of exchanges in flight, and of sockets.
fn stats(driver: &Driver) -> (u64, u64, u64) {
    let stats = driver.engine.stats(driver.server).unwrap();
    (stats.connections, stats.in_flight, stats.sockets)
}

impl Socket {
    fn open(driver: &mut Driver, client: &mut Client) -> Self {
        let id = ask(client, "/ws/a");
        let seen = driver.request();
        record(driver, &seen, operation::UPGRADE, 0, b"");
        apply(driver);
        client.until(driver, |client| {
            client.frames_of(id).any(|frame| frame.kind == HEADERS)
        });
        let reply = client.reply_so_far(id);
        assert_eq!(
            (reply.status, reply.fields, reply.whole),
            (200, vec![], false)
        );
        Self { id, seen }
    }

    /// Gives the received frames of the socket.
    fn frames(&self, client: &Client) -> Vec<(u8, Vec<u8>)> {
        let mut bytes = client.reply_so_far(self.id).body;
        std::iter::from_fn(|| frames::take(&mut bytes)).collect()
    }

    /// Runs turns until this many frames have arrived, and gives the last.
    fn frame(&self, driver: &mut Driver, client: &mut Client, count: usize) -> (u8, Vec<u8>) {
        client.until(driver, |client| {
            client.ended || self.frames(client).len() >= count
        });
        self.frames(client)[count - 1].clone()
    }

    fn send(&self, client: &mut Client, first: u8, payload: &[u8]) {
        client.send(&data(self.id, &frames::frame(first, payload), false));
    }

    /// Gives the close code that JavaScript is told.
    fn told(&self, driver: &mut Driver) -> i32 {
        loop {
            let seen = driver.event(kind::CLOSED_SOCKET);
            if (seen.slot(), seen.generation()) == (self.seen.slot(), self.seen.generation()) {
                return seen.words[request::ALLOW];
            }
        }
    }
}
