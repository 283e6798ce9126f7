//! A second protocol over two transports: what a connection sends comes back, whatever the sockets do.

mod bytes;
mod ends;

use crate::driver::{Driver, answer};
use engine::Delays;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};

/// The transports: the plain one, and cuts from bytes to a few records.
fn transports() -> Vec<Option<Delays>> {
    let delays = [
        (1, 7, 7, 0),
        (2, 1_500, 40, 0),
        // What comes back was opened and sealed again, so the client sees what it sent.
        (3, 40, 1_500, 0x5a),
        (4, 70_000, 70_000, 0),
    ];
    let delays = delays.map(|(seed, receive, send, mask)| Delays {
        seed,
        receive,
        send,
        mask,
    });
    [None].into_iter().chain(delays.map(Some)).collect()
}

/// Those that fill the buffers of two sockets in a short time.
fn fast() -> [Option<Delays>; 2] {
    [None, transports()[4]]
}

/// `xorshift64*`: reproducible anywhere from its seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// The same bytes come again at multiples of a prime, which no buffer has as its length.
    fn bytes(&mut self, length: usize) -> Vec<u8> {
        let first: Vec<u8> = (0..length.min(99_991)).map(|_| self.next() as u8).collect();
        first.iter().copied().cycle().take(length).collect()
    }
}

/// A client with the bytes it sends and those it got back.
struct Client {
    socket: TcpStream,
    to_send: Vec<u8>,
    sent: usize,
    received: Vec<u8>,
    /// The connection has ended, and whether it was reset.
    end: Option<bool>,
}

impl Client {
    fn new(driver: &Driver, to_send: Vec<u8>) -> Self {
        Self {
            socket: driver.client(),
            to_send,
            sent: 0,
            received: Vec::new(),
            end: None,
        }
    }

    /// Sends at most `most` bytes of what is left; gives how many the kernel took.
    fn send(&mut self, most: usize) -> usize {
        let end = self.to_send.len().min(self.sent.saturating_add(most));
        match self.socket.write(&self.to_send[self.sent..end]) {
            Ok(count) => {
                self.sent += count;
                count
            }
            // A reset is seen by the next read.
            Err(_) => 0,
        }
    }

    fn receive(&mut self) {
        if self.end.is_some() {
            return;
        }
        let mut buffer = [0; 16_384];
        match self.socket.read(&mut buffer) {
            Ok(0) => {
                self.end = Some(false);
                let _ = self.socket.shutdown(Shutdown::Write);
            }
            Ok(count) => self.received.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => self.end = Some(true),
        }
    }

    fn has_all(&self) -> bool {
        self.received.len() >= self.to_send.len()
    }

    fn shows_what_it_sent(&self) {
        assert!(
            self.to_send.starts_with(&self.received),
            "the bytes sent, in their order"
        );
    }
}

/// Turns and sweeps until `done`.
fn until(driver: &mut Driver, mut done: impl FnMut(&mut Driver) -> bool) {
    driver.serve_until(answer, |driver| {
        driver.engine.sweep();
        done(driver)
    });
}

fn panics(driver: &Driver) -> u64 {
    driver.engine.stats(driver.server).unwrap().panics
}

/// What a new client sends comes back.
fn works(driver: &mut Driver) {
    let mut client = Client::new(driver, b"still here".to_vec());
    until(driver, |_| {
        client.send(usize::MAX);
        client.receive();
        client.has_all()
    });
    client.shows_what_it_sent();
}
