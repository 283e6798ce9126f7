//! A socket whose bytes come late and in pieces, for tests: what encryption does to a protocol, and what a bad network
//! does to both. It is compiled only with the `faults` feature.

use std::io::IoSlice;

use reactor::net::{Recv, Send, Socket};

use crate::engine::Engine;

/// How a [`Delayed`] transport cuts. The same seed gives the same cuts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delays {
    pub seed: u64,
    /// The most bytes that one receive gives.
    pub receive: usize,
    /// The most bytes that one send takes.
    pub send: usize,
    /// On the socket each byte is combined with this by XOR, as a stand-in for encryption; 0 leaves it as it is.
    pub mask: u8,
}

impl Engine {
    /// Delays and splits the bytes of each connection that `server` accepts from now on.
    pub fn delay(&mut self, server: u16, delays: Delays) {
        if let Some(server) = self.core.servers.get_mut(server) {
            server.delays = Some(delays);
        }
    }
}

/// The most bytes that are taken from the socket at once, as TLS takes a whole record (RFC 8446 §5.1).
const HELD_BYTES: usize = 16_384;

/// # Invariants
/// - `receive` gives `WouldBlock` only while nothing is held: then the bytes are in the kernel, and the poller reports
///   them again. Nobody reports what is held, so `pending` has to be asked.
/// - After a refused send the kernel takes bytes or will report that it does.
pub struct Delayed {
    socket: Socket,
    cuts: Delays,
    /// Bytes that were taken from the socket. Those from `given` on were not received yet.
    held: Vec<u8>,
    given: usize,
}

impl Delayed {
    pub fn new(socket: Socket, cuts: Delays) -> Self {
        // Seeds that follow each other must not begin alike, and from 0 all numbers would be 0.
        let seed = cuts.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        Self {
            socket,
            cuts: Delays { seed, ..cuts },
            held: Vec::new(),
            given: 0,
        }
    }

    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    pub fn into_socket(self) -> Socket {
        self.socket
    }

    pub fn pending(&self) -> bool {
        self.given < self.held.len()
    }

    pub fn receive(&mut self, room: &mut [u8]) -> Recv {
        if !self.pending() {
            if self.refuses() {
                return Recv::WouldBlock;
            }
            self.given = 0;
            self.held.resize(HELD_BYTES, 0);
            let received = self.socket.recv(&mut self.held);
            let Recv::Data(length) = received else {
                self.held.clear();
                return received;
            };
            self.held.truncate(length);
            for byte in &mut self.held {
                *byte ^= self.cuts.mask;
            }
        }
        let rest = &self.held[self.given..];
        let length = rest.len().min(room.len());
        let length = length.min(cut(&mut self.cuts.seed, self.cuts.receive));
        room[..length].copy_from_slice(&rest[..length]);
        self.given += length;
        Recv::Data(length)
    }

    pub fn peek(&self) -> Recv {
        match self.held.len() - self.given {
            0 => self.socket.peek(),
            length => Recv::Data(length),
        }
    }

    pub fn seals(&self) -> bool {
        self.cuts.mask != 0
    }

    pub fn seal(&self, bytes: &[u8], output: &mut Vec<u8>) {
        output.extend(bytes.iter().map(|byte| byte ^ self.cuts.mask));
    }

    pub fn send(&mut self, bytes: &[u8]) -> Send {
        self.send_vectored(&[IoSlice::new(bytes)])
    }

    pub fn send_vectored(&mut self, slices: &[IoSlice]) -> Send {
        if self.refuses() {
            return Send::WouldBlock;
        }
        let length = cut(&mut self.cuts.seed, self.cuts.send);
        let bytes = slices.iter().flat_map(|slice| slice.iter().copied());
        self.socket.send(&bytes.take(length).collect::<Vec<_>>())
    }

    fn refuses(&mut self) -> bool {
        random(&mut self.cuts.seed).is_multiple_of(4)
    }
}

/// A length from 1 to `most`. One below 8 is as frequent as one in the upper half.
fn cut(state: &mut u64, most: usize) -> usize {
    let bits = usize::BITS - most.leading_zeros();
    let most = most >> (random(state) % u64::from(bits));
    1 + random(state) as usize % most
}

/// `xorshift64*`.
fn random(state: &mut u64) -> u64 {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32
}
