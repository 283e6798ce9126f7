//! Drives an engine without Node: what JavaScript would do, in Rust, and clients on real sockets.
#![allow(dead_code, unused_imports, reason = "each test uses its part")]

pub mod frames;
pub mod http2;
mod limits;
mod records;
pub mod retained_body;
mod seen;
mod time;

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use engine::{BodyMode, Engine, Limits, NoReferences, RouteSpec, ServerConfig, SocketSpec};
use reactor::net::ListenAddr;
use ring::Memory;
use ring::layout::{kind, limit};
use route::{Options, Router};

pub use limits::limits;
pub use records::{allow, answer, data, end, finish, grant, inform, make, reply_large, start};
pub use seen::Seen;
pub use time::{arrive, pass, settle};

pub const GET: u8 = 0;
pub const POST: u8 = 2;
/// A registered method.
pub const PURGE: u8 = 8;

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

    /// A server whose sockets take and give at once what they can, for cases that count what waits. Its clock stands
    /// still: see [`pass`].
    pub fn prompt(values: &[f64]) -> Self {
        let mut driver = Self {
            engine: Engine::new(Memory::owned()).unwrap(),
            server: 0,
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            seen: VecDeque::new(),
        };
        driver.engine.hold_clock(true);
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
            let seen = seen::read(self.engine.memory(), turn.page, index, &bodies);
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
                started.elapsed() < Duration::from_secs(300),
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

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub fn upload(driver: &mut Driver, client: &mut TcpStream, fields: &str, body: &[u8]) -> Seen {
    let head = format!("POST /s HTTP/1.1\r\nHost: x\r\n{fields}\r\n");
    send(client, &[head.as_bytes(), body].concat());
    driver.request()
}

pub fn ends_with(suffix: &'static str) -> impl Fn(&[u8]) -> bool {
    move |received| received.ends_with(suffix.as_bytes())
}
