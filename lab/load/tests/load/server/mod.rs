//! A server of the standard library, a thread for each connection, that answers what a test tells it to.

use crate::standstill::own_core_waits;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

pub struct Request {
    /// Counted over all connections, from 1.
    pub number: u64,
    /// Which connection it came on, from 1.
    pub connection: u64,
    pub path: String,
    pub body: String,
    headers: Vec<(String, String)>,
}

impl Request {
    pub fn header(&self, name: &str) -> &str {
        let found = self
            .headers
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value)
    }
}

#[derive(Clone, Default)]
pub struct Answer {
    pub bytes: String,
    /// Closes the connection after the reply, and says so in one made by `reply`.
    pub close: bool,
    pub byte_by_byte: bool,
    /// Nothing is sent.
    pub silent: bool,
    /// The connection is closed without a reply.
    pub hang_up: bool,
    /// The server closes the connection without a reply and listens no more.
    pub die: bool,
}

impl Answer {
    pub fn raw(bytes: &str) -> Self {
        Self {
            bytes: bytes.into(),
            ..Self::default()
        }
    }
}

pub fn reply(status: u16, body: &str) -> Answer {
    Answer::raw(&format!(
        "HTTP/1.1 {status} Some\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    ))
}

pub fn json_reply(body: &str) -> Answer {
    reply(200, body)
}

#[derive(Default)]
struct Counts {
    requests: AtomicU64,
    connections: AtomicU64,
    open: Mutex<Vec<u64>>,
    dead: AtomicBool,
    /// For how long the threads of closed connections had waited for a core, in ns.
    core_waits: AtomicU64,
}

pub struct Server {
    pub address: SocketAddr,
    counts: Arc<Counts>,
}

impl Server {
    pub fn start(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        Self::accept(move |stream, counts, number| serve(stream, counts, number, &answer))
    }

    /// `serve` does with each connection, and its number from 1, what it likes; then the connection is closed.
    pub fn raw(serve: impl Fn(&TcpStream, u64) + Send + Sync + 'static) -> Self {
        Self::accept(move |stream, _, number| serve(stream, number))
    }

    fn accept(serve: impl Fn(&TcpStream, &Counts, u64) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let counts = Arc::new(Counts::default());
        let shared = Arc::clone(&counts);
        let serve = Arc::new(serve);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.dead.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let number = shared.connections.fetch_add(1, Ordering::SeqCst) + 1;
                shared.open.lock().unwrap().push(number);
                let (shared, serve) = (Arc::clone(&shared), Arc::clone(&serve));
                thread::spawn(move || {
                    serve(&stream, &shared, number);
                    drop(stream);
                    let waits = own_core_waits().as_nanos() as u64;
                    shared.core_waits.fetch_add(waits, Ordering::SeqCst);
                    let mut open = shared.open.lock().unwrap();
                    open.retain(|&each| each != number);
                    drop(open);
                    if shared.dead.load(Ordering::SeqCst) {
                        // The listener waits for one more.
                        let _ = TcpStream::connect(address);
                    }
                });
            }
        });
        Self { address, counts }
    }

    pub fn requests(&self) -> u64 {
        self.counts.requests.load(Ordering::SeqCst)
    }

    pub fn connections(&self) -> u64 {
        self.counts.connections.load(Ordering::SeqCst)
    }

    /// For how long the threads of its closed connections waited for a core, all together.
    pub fn core_waits(&self) -> Duration {
        Duration::from_nanos(self.counts.core_waits.load(Ordering::SeqCst))
    }

    /// The numbers of the connections that are open, in their order.
    pub fn open(&self) -> Vec<u64> {
        self.counts.open.lock().unwrap().clone()
    }
}

/// Returns when the client is gone.
fn serve(
    mut stream: &TcpStream,
    counts: &Counts,
    connection: u64,
    answer: &dyn Fn(&Request) -> Answer,
) {
    stream.set_nodelay(true).unwrap();
    let mut input = BufReader::new(stream.try_clone().unwrap());
    while let Some(request) = next(&mut input, counts, connection) {
        let answer = answer(&request);
        if answer.die {
            counts.dead.store(true, Ordering::SeqCst);
            return;
        }
        if answer.hang_up {
            return;
        }
        if answer.silent {
            continue;
        }
        let bytes = if answer.close {
            answer
                .bytes
                .replacen("\r\n", "\r\nConnection: close\r\n", 1)
        } else {
            answer.bytes
        };
        let size = if answer.byte_by_byte { 1 } else { bytes.len() };
        for piece in bytes.as_bytes().chunks(size) {
            if stream.write_all(piece).is_err() {
                return;
            }
        }
        if answer.close {
            let _ = stream.shutdown(Shutdown::Write);
            // What the client had sent ahead must not turn the close into a reset.
            let _ = input.read_to_end(&mut Vec::new());
            return;
        }
    }
}

/// The next request; `None` at the end, or when it was cut.
fn next(input: &mut BufReader<TcpStream>, counts: &Counts, connection: u64) -> Option<Request> {
    let mut line = || {
        let mut line = String::new();
        input.read_line(&mut line).ok()?;
        line.strip_suffix("\r\n").map(str::to_string)
    };
    let path = line()?.split(' ').nth(1)?.to_string();
    let mut headers = Vec::new();
    loop {
        let line = line()?;
        let Some((name, value)) = line.split_once(": ") else {
            break;
        };
        headers.push((name.to_string(), value.to_string()));
    }
    let mut request = Request {
        number: 0,
        connection,
        path,
        body: String::new(),
        headers,
    };
    let mut body = vec![0; request.header("content-length").parse().unwrap_or(0)];
    input.read_exact(&mut body).ok()?;
    request.body = String::from_utf8(body).ok()?;
    request.number = counts.requests.fetch_add(1, Ordering::SeqCst) + 1;
    Some(request)
}
