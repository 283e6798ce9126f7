//! Clients, which look at what they get.

use std::collections::HashSet;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};

use super::Reached;
use super::driver::Driver;
use super::driver::frames::{MASK, push, take};
use mutants::Random;

/// Stands at the beginning of what hooks send; behind it stands a number, so that clients see its order.
const MARK: &[u8] = b"numbered";

pub struct Client {
    socket: TcpStream,
    to_send: Vec<u8>,
    received: Vec<u8>,
    /// It got 101.
    open: bool,
    /// The number of the last message that it got.
    last: u64,
    reads: bool,
    shut: bool,
    pub gone: bool,
}

impl Client {
    pub fn new(driver: &Driver, random: &mut Random, to_send: Vec<u8>) -> Self {
        Self {
            socket: driver.client(),
            to_send,
            received: Vec::new(),
            open: false,
            last: 0,
            reads: !random.chance(6),
            shut: false,
            gone: false,
        }
    }

    pub fn step(&mut self, random: &mut Random, seen: &mut Sent, reached: &mut Reached) {
        if !self.to_send.is_empty() {
            let most = if random.chance(4) { 70_000 } else { 300 };
            let count = 1 + random.below(self.to_send.len().min(most));
            match self.socket.write(&self.to_send[..count]) {
                Ok(written) => drop(self.to_send.drain(..written)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => self.gone = true,
            }
        } else if !self.shut && random.chance(40) {
            let _ = self.socket.shutdown(Shutdown::Write);
            self.shut = true;
        }
        if self.reads {
            let mut buffer = [0; 16_000];
            match self.socket.read(&mut buffer) {
                Ok(0) => self.gone = true,
                Ok(count) => self.received.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => self.gone = true,
            }
            self.look(seen, reached);
        }
        self.gone |= random.chance(400);
    }

    /// Takes the frames that came: they are right, and what hooks sent is in order.
    fn look(&mut self, seen: &mut Sent, reached: &mut Reached) {
        if !self.open {
            let find =
                |bytes: &[u8], what: &[u8]| bytes.windows(what.len()).position(|at| at == what);
            let Some(at) = find(&self.received, b"HTTP/1.1 101 ") else {
                return;
            };
            let Some(end) = find(&self.received[at..], b"\r\n\r\n") else {
                return;
            };
            self.received.drain(..at + end + 4);
            self.open = true;
        }
        while let Some((first, mut payload)) = take(&mut self.received) {
            reached.received += 1;
            match first {
                0x81 | 0x82 => {}
                0xc1 | 0xc2 => {
                    reached.deflated += 1;
                    payload = inflate(&payload);
                }
                0x88 => assert!(payload.len() != 1 && payload.len() <= 125),
                0x89 | 0x8a => assert!(payload.len() <= 125),
                _ => panic!("a frame begins with {first:x}"),
            }
            let number = payload
                .strip_prefix(MARK)
                .and_then(|rest| rest.first_chunk());
            if let Some(number) = number.map(|number| u64::from_be_bytes(*number)) {
                assert!(number > self.last, "{number} came after {}", self.last);
                self.last = number;
                reached.shared += usize::from(!seen.got.insert(number));
            }
        }
    }
}

/// As binary: what hooks send as text may be anything.
fn inflate(payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    push(&mut bytes, 0xc2, payload, MASK);
    let limits = ws::Limits {
        message: 1 << 20,
        fragments: 1,
    };
    let inflater = &mut ws::Inflater::new();
    match ws::Receiver::new(true).next(&mut bytes, &limits, Some(inflater)) {
        Ok(ws::Step::Gathered { data, .. }) => data,
        step => panic!("{step:?}"),
    }
}

/// What hooks have sent: how much, and the numbers that came to a client.
#[derive(Default)]
pub struct Sent {
    pub server: u16,
    count: u64,
    got: HashSet<u64>,
}

impl Sent {
    pub fn of(server: u16) -> Self {
        Self {
            server,
            ..Self::default()
        }
    }

    pub fn payload(&mut self, random: &mut Random) -> Vec<u8> {
        self.count += 1;
        let most = if random.chance(10) { 9_000 } else { 200 };
        let rest = vec![b'm'; random.below(most)];
        [MARK, &self.count.to_be_bytes(), &rest].concat()
    }
}
