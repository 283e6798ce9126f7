//! Drives an engine without Node: what JavaScript would do, in Rust, and clients on real sockets.
#![allow(dead_code, reason = "each test uses its part")]

pub mod frames;
pub mod http2;
pub mod retained_body;

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use engine::{
    BodyMode, Engine, Limits, NoReferences, References, RouteSpec, ServerConfig, SocketSpec,
};
use reactor::net::ListenAddr;
use ring::layout::{RECORD_WORDS, REQUEST_WORDS, kind, limit, operation, record, request};
use ring::{Memory, Record};
use route::{Options, Router};

pub const GET: u8 = 0;
pub const POST: u8 = 2;
/// A registered method.
pub const PURGE: u8 = 8;

/// A descriptor as JavaScript would see it.
#[derive(Clone, Debug)]
pub struct Seen {
    pub words: [i32; REQUEST_WORDS],
    pub path: String,
    pub head: Vec<u8>,
    pub body: Vec<u8>,
}

impl Seen {
    pub fn kind(&self) -> i32 {
        self.words[request::KIND] & 0xff
    }

    pub fn slot(&self) -> i32 {
        self.words[request::SLOT]
    }

    pub fn generation(&self) -> i32 {
        self.words[request::GENERATION]
    }

    pub fn route(&self) -> i32 {
        self.words[request::ROUTE]
    }
}

/// The defaults of an app, but for the limits of time that end connections: a test that is about one sets it.
pub fn limits() -> [f64; limit::COUNT] {
    let mut values = [0.0; limit::COUNT];
    for (index, value) in [
        (limit::HEADERS_TIMEOUT, 120_000.0),
        (limit::REQUEST_TIMEOUT, 120_000.0),
        (limit::SEND_TIMEOUT, 120_000.0),
        (limit::KEEP_ALIVE_TIMEOUT, 120_000.0),
        (limit::MAX_CONNECTION_AGE, 3_600_000.0),
        (limit::MAX_CONNECTIONS, 10_000.0),
        (limit::MAX_IN_FLIGHT, 10_000.0),
        (limit::MAX_HEADER_SIZE, 16_384.0),
        (limit::MAX_HEADER_LINE, 8_192.0),
        (limit::MAX_HEADERS, 100.0),
        (limit::MAX_URL_LENGTH, 8_192.0),
        (limit::MAX_PARAM_LENGTH, 256.0),
        (limit::MAX_BODY_SIZE, 1_048_576.0),
        (limit::MAX_BUFFERED_BODIES, 268_435_456.0),
        (limit::MAX_BUFFERED_REPLIES, 268_435_456.0),
        (limit::MAX_PIPELINED, 16.0),
        (limit::MAX_CHUNK_EXTENSIONS, 1_024.0),
        (limit::MAX_CHUNK_EXTENSIONS_TOTAL, 16_384.0),
        (limit::DRAIN_LIMIT, 65_536.0),
        (limit::DRAIN_TIMEOUT, 2_000.0),
        (limit::DRAIN_IDLE, 5_000.0),
        (limit::SHUTDOWN_TIMEOUT, 120_000.0),
        (limit::TLS_HANDSHAKE_TIMEOUT, 120_000.0),
        (limit::MAX_HANDSHAKES, 1_000.0),
        (limit::HTTP2_IDLE_TIMEOUT, 120_000.0),
        (limit::MAX_STREAMS, 100.0),
        (limit::MAX_STREAM_RESETS, 200.0),
    ] {
        values[index] = value;
    }
    values
}

pub struct Driver {
    pub engine: Engine,
    pub server: u16,
    pub address: SocketAddr,
    /// Every descriptor seen, in order, until the test takes it.
    pub seen: VecDeque<Seen>,
}

/// Method, pattern, and the mode of the body. A body has at most 100,000 bytes, or 10 if the pattern is `/small`.
pub type Routes<'a> = &'a [(u8, &'a str, BodyMode)];

pub const ROUTES: [(u8, &str, BodyMode); 6] = [
    (GET, "/a", BodyMode::Buffer),
    (GET, "/p/:p", BodyMode::Buffer),
    (POST, "/b", BodyMode::Buffer),
    (POST, "/s", BodyMode::Stream),
    (POST, "/late", BodyMode::Late),
    (PURGE, "/a", BodyMode::Buffer),
];

impl Driver {
    /// A server of `ROUTES`; in `delayed.rs`, which has the tests of other files, over a transport that delays.
    pub fn new(values: &[f64]) -> Self {
        #[cfg_attr(not(feature = "faults"), allow(unused_mut))]
        let mut driver = Self::prompt(values);
        #[cfg(feature = "faults")]
        if env!("CARGO_CRATE_NAME") == "delayed" {
            driver.delay();
        }
        driver
    }

    #[cfg(feature = "faults")]
    fn delay(&mut self) {
        let delays = engine::Delays {
            seed: 1,
            receive: 20_000,
            send: 1_000_000,
            mask: 0,
        };
        self.engine.delay(self.server, delays);
    }

    /// A server whose sockets take and give at once what they can, for cases that count what waits.
    pub fn prompt(values: &[f64]) -> Self {
        let mut driver = Self {
            engine: Engine::new(Memory::owned()).unwrap(),
            server: 0,
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            seen: VecDeque::new(),
        };
        driver.add_server(values, &ROUTES);
        driver
    }

    /// A server of tunnels.
    #[cfg(feature = "faults")]
    pub fn tunnel(values: &[f64], delays: Option<engine::Delays>) -> Self {
        let mut driver = Self::prompt(values);
        driver.engine.echo(driver.server);
        if let Some(delays) = delays {
            driver.engine.delay(driver.server, delays);
        }
        driver
    }

    /// Adds a server and makes it the one of `server` and `address`.
    pub fn add_server(&mut self, values: &[f64], table: Routes) {
        self.add_server_of(values, table, None);
    }

    /// A server of `ROUTES` whose sockets are at `/ws/:name`.
    pub fn sockets(values: &[f64], spec: SocketSpec) -> Self {
        #[cfg_attr(not(feature = "faults"), allow(unused_mut))]
        let mut driver = Self::prompt_sockets(values, spec);
        #[cfg(feature = "faults")]
        if env!("CARGO_CRATE_NAME") == "delayed" {
            driver.delay();
        }
        driver
    }

    /// The same, whose transport takes and gives at once what it can.
    pub fn prompt_sockets(values: &[f64], spec: SocketSpec) -> Self {
        let mut driver = Self::prompt(values);
        driver.add_server_of(values, &ROUTES, Some(spec));
        driver
    }

    fn add_server_of(&mut self, values: &[f64], table: Routes, socket: Option<SocketSpec>) {
        let mut router = Router::new(Options {
            case_sensitive: true,
            ignore_trailing_slash: false,
        });
        for (id, &(method, pattern, _)) in table.iter().enumerate() {
            router.insert(method, pattern, id as u32).unwrap();
        }
        let spec = |&(_, pattern, body): &(u8, &str, BodyMode)| RouteSpec {
            body,
            max_body: if pattern == "/small" { 10 } else { 100_000 },
            request_timeout: values[limit::REQUEST_TIMEOUT] as u64,
            wildcard: false,
            socket: None,
        };
        let mut specs: Vec<_> = table.iter().map(spec).collect();
        let mut socket_router = Router::new(Options::default());
        if socket.is_some() {
            let id = specs.len() as u32;
            socket_router.insert(GET, "/ws/:name", id).unwrap();
            let of_socket = RouteSpec {
                socket: Some(0),
                ..spec(&(GET, "", BodyMode::Buffer))
            };
            specs.push(of_socket);
        }
        let mut limits = Limits::from_array(values).unwrap();
        limits.wire.methods.push(b"PURGE"[..].into());
        self.server = self.engine.create_server(ServerConfig {
            limits,
            router,
            socket_router,
            sockets: socket.into_iter().collect(),
            routes: specs,
        });
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listening = self.engine.listen_tcp(self.server, any, 511, false, false);
        let ListenAddr::Tcp(address) = listening.unwrap() else {
            panic!("a TCP listener has a TCP address");
        };
        self.address = address;
    }

    /// A client whose reads do not wait.
    pub fn client(&self) -> TcpStream {
        let client = TcpStream::connect(self.address).unwrap();
        client.set_nodelay(true).unwrap();
        client.set_nonblocking(true).unwrap();
        client
    }

    /// One turn; JavaScript is `answer`, which sees each descriptor and may push records.
    pub fn turn(&mut self, answer: impl FnMut(&mut Memory, &Seen)) {
        self.turn_of(usize::MAX, answer);
    }

    /// A turn that ends after so many slices, as one that took its time does.
    pub fn turn_of(&mut self, slices: usize, mut answer: impl FnMut(&mut Memory, &Seen)) {
        self.engine.begin_turn();
        for _ in 0..slices {
            if !self.slice(&mut answer) {
                break;
            }
        }
    }

    /// The next slice of a turn; gives whether there was anything in it.
    pub fn slice(&mut self, mut answer: impl FnMut(&mut Memory, &Seen)) -> bool {
        let turn = self.engine.collect();
        if turn.count == 0 {
            return false;
        }
        let bodies = self.engine.bodies().to_vec();
        for index in 0..turn.count {
            let seen = read(self.engine.memory(), turn.page, index, &bodies);
            answer(self.engine.memory(), &seen);
            self.seen.push_back(seen);
        }
        self.engine.apply(&NoReferences);
        true
    }

    /// Turns until `done`; nothing is answered.
    pub fn until(&mut self, done: impl FnMut(&mut Self) -> bool) {
        self.serve_until(|_, _| {}, done);
    }

    /// Turns in which JavaScript is `answer`, until `done`. The limit is for hangs.
    pub fn serve_until(
        &mut self,
        mut answer: impl FnMut(&mut Memory, &Seen),
        mut done: impl FnMut(&mut Self) -> bool,
    ) {
        let started = Instant::now();
        while !done(self) {
            assert!(
                started.elapsed() < Duration::from_secs(60),
                "nothing came in time"
            );
            self.turn(&mut answer);
            std::thread::yield_now();
        }
    }

    /// The next request descriptor.
    pub fn request(&mut self) -> Seen {
        self.event(kind::REQUEST)
    }

    /// The next descriptor of a kind; others are dropped.
    pub fn event(&mut self, kind: i32) -> Seen {
        self.until(|driver| driver.seen.iter().any(|seen| seen.kind() == kind));
        while let Some(seen) = self.seen.pop_front() {
            if seen.kind() == kind {
                return seen;
            }
        }
        unreachable!("`until` saw one");
    }

    /// Writes a whole reply and applies it.
    pub fn reply(&mut self, to: &Seen, status: i32, body: &[u8]) {
        end(self.engine.memory(), to, status, body);
        self.engine.apply(&NoReferences);
    }

    /// Reads until `client` has given `count` bytes or the end of the connection.
    pub fn read(
        &mut self,
        client: &mut TcpStream,
        enough: impl Fn(&[u8]) -> bool,
    ) -> (Vec<u8>, bool) {
        let mut received = Vec::new();
        let mut ended = false;
        self.until(|_| {
            let mut buffer = [0; 16_384];
            match client.read(&mut buffer) {
                Ok(0) => ended = true,
                Ok(count) => received.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => ended = true,
            }
            ended || enough(&received)
        });
        (received, ended)
    }
}

/// The parts of streamed bodies that came and were not taken yet.
pub fn chunks(driver: &Driver) -> Vec<u8> {
    let chunks = driver.seen.iter().filter(|seen| seen.kind() == kind::CHUNK);
    chunks.flat_map(|seen| seen.body.clone()).collect()
}

pub fn send(client: &mut TcpStream, bytes: &[u8]) {
    client.write_all(bytes).unwrap();
}

fn read(memory: &mut Memory, page: ring::Page, index: usize, bodies: &[Vec<u8>]) -> Seen {
    let start = page.arena_offset();
    let parts = memory.page(page);
    let mut words = [0; REQUEST_WORDS];
    words.copy_from_slice(&parts.requests[index * REQUEST_WORDS..(index + 1) * REQUEST_WORDS]);
    let slice = |offset: i32, length: i32| {
        let from = offset as usize - start;
        parts.arena[from..from + length as usize].to_vec()
    };
    let kind = words[request::KIND] & 0xff;
    let flags = words[request::KIND] >> 16;
    let (path, head) = if kind == kind::REQUEST {
        (
            slice(words[request::PATH_OFFSET], words[request::PATH_LENGTH]),
            slice(words[request::HEAD_OFFSET], words[request::HEAD_LENGTH]),
        )
    } else {
        Default::default()
    };
    let path = String::from_utf8(path).unwrap();
    let length = words[request::BODY_LENGTH];
    let complete = kind == kind::REQUEST && flags & ring::layout::flag::BODY_COMPLETE != 0;
    let whole = complete || matches!(kind, kind::MESSAGE | kind::CLOSED_SOCKET | kind::BODY_END);
    let body = if whole && words[request::BODY_OFFSET] < 0 {
        bodies[(-1 - words[request::BODY_OFFSET]) as usize].clone()
    } else if complete || matches!(kind, kind::CHUNK | kind::MESSAGE) {
        slice(words[request::BODY_OFFSET], length)
    } else {
        Vec::new()
    };
    Seen {
        words,
        path,
        head,
        body,
    }
}

pub fn make(to: &Seen, op: i32, high: i32) -> Record {
    let mut words = [0; RECORD_WORDS];
    words[record::SLOT] = to.slot();
    words[record::GENERATION] = to.generation();
    words[record::OPERATION] = op | high << 16;
    Record(words)
}

pub fn end(memory: &mut Memory, to: &Seen, status: i32, body: &[u8]) {
    memory.push_record(make(to, operation::END, status), &[], body);
}

pub fn start(memory: &mut Memory, to: &Seen, length: Option<u64>) {
    let mut head = make(to, operation::START, 200);
    head.0[record::BODY_OFFSET] = length.unwrap_or(u64::MAX) as i32;
    head.0[record::BODY_LENGTH] = length.map_or(-1, |length| (length >> 32) as i32);
    memory.push_record(head, &[], &[]);
}

pub fn data(memory: &mut Memory, to: &Seen, bytes: &[u8], want_drain: bool) {
    memory.push_record(make(to, operation::DATA, i32::from(want_drain)), &[], bytes);
}

pub fn finish(memory: &mut Memory, to: &Seen) {
    memory.push_record(make(to, operation::FINISH, 0), &[], &[]);
}

/// Early hints with one field.
pub fn inform(memory: &mut Memory, to: &Seen, name: &[u8], value: &[u8]) {
    let mut block = (name.len() as u16).to_le_bytes().to_vec();
    block.extend((value.len() as u16).to_le_bytes());
    block.extend(name);
    block.extend(value);
    memory.push_record(make(to, operation::INFORM, 103), &block, &[]);
}

/// `read` or `credit`: the amount stands where a body's offset would.
pub fn grant(memory: &mut Memory, to: &Seen, op: i32, amount: i32) {
    let mut signal = make(to, op, 0);
    signal.0[record::BODY_OFFSET] = amount;
    memory.push_signal(signal);
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// So many turns come before a sweep, as in `on_timer` of the crate node: after a pause they take what came meanwhile.
const TURNS_BEFORE_SWEEP: usize = 16;

/// Turns and sweeps for `ms` milliseconds.
pub fn idle(driver: &mut Driver, ms: u64) {
    let started = Instant::now();
    while started.elapsed() < Duration::from_millis(ms) {
        for _ in 0..TURNS_BEFORE_SWEEP {
            driver.turn(|_, _| {});
        }
        driver.engine.sweep();
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Idles until every limit of up to `ms` milliseconds has ended and is enforced. Where the machine stands still past the end
/// of a round, nothing sweeps any more in it: such a pause falls into one of the two rounds alone.
pub fn outlast(driver: &mut Driver, ms: u64) {
    idle(driver, ms);
    idle(driver, ms);
}

pub fn allow(driver: &mut Driver, to: &Seen, op: i32, amount: i32) {
    grant(driver.engine.memory(), to, op, amount);
    driver.engine.apply(&NoReferences);
}

pub fn upload(driver: &mut Driver, client: &mut TcpStream, fields: &str, body: &[u8]) -> Seen {
    let head = format!("POST /s HTTP/1.1\r\nHost: x\r\n{fields}\r\n");
    send(client, &[head.as_bytes(), body].concat());
    driver.request()
}

struct One(Vec<u8>);

impl References for One {
    fn bytes(&self, _: u32) -> Option<&[u8]> {
        Some(&self.0)
    }
}

/// Replies with `length` bytes by reference: more than the socket's buffers take at once.
pub fn reply_large(driver: &mut Driver, to: &Seen, length: usize) {
    let mut words = make(to, operation::END, 200);
    words.0[record::REFERENCE] = 1;
    words.0[record::BODY_LENGTH] = length as i32;
    driver.engine.memory().push_signal(words);
    driver.engine.apply(&One(vec![b'L'; length]));
}

pub fn answer(memory: &mut Memory, seen: &Seen) {
    if seen.kind() == kind::REQUEST {
        end(memory, seen, 200, b"!");
    }
}

pub fn ends_with(suffix: &'static str) -> impl Fn(&[u8]) -> bool {
    move |received| received.ends_with(suffix.as_bytes())
}
