//! TLS over another transport.

use reactor::net::Recv;
use tls::{Fault, Link, Scratch};

use super::Transport;

/// Tracks whether the client has ended its side, and whether that was reported.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    None,
    /// Its `close_notify` was received and not reported yet. No event announces it.
    Untold,
    Told,
}

pub struct Tls {
    /// The transport of the ciphertext.
    pub(super) below: Transport,
    link: Link,
    end: End,
}

/// The result of a receive.
pub enum Opened {
    Received(Recv),
    /// The client broke a rule. If there is an alert for it, it is in the output.
    Fault(Fault),
}

impl Tls {
    pub fn new(below: Transport, link: Link) -> Self {
        Self {
            below,
            link,
            end: End::None,
        }
    }

    pub fn link(&self) -> &Link {
        &self.link
    }

    /// Receives, and puts plaintext into `room`, which must have room for all that one receive gives. Bytes that the
    /// link itself sends are added to `output`. `Data` has the number of bytes of plaintext, or of ciphertext that was
    /// discarded. `WouldBlock` also stands for a record that is incomplete.
    pub fn receive(
        &mut self,
        scratch: &mut Scratch,
        room: &mut [u8],
        output: &mut Vec<u8>,
    ) -> Opened {
        if self.link.pending() {
            return Opened::Received(Recv::Data(self.link.take_held(room)));
        }
        if self.end != End::None && !self.link.throws_away() {
            self.end = End::Told;
            return Opened::Received(Recv::End);
        }
        let received = match self.below.receive(self.link.room(scratch)) {
            Recv::Data(received) => received,
            other => return Opened::Received(other),
        };
        let fed = match self.link.feed(scratch, received, room, output) {
            Ok(fed) => fed,
            Err(fault) => return Opened::Fault(fault),
        };
        Opened::Received(if self.link.throws_away() {
            Recv::Data(received)
        } else if fed.plaintext > 0 {
            if fed.ended {
                self.end = End::Untold;
            }
            Recv::Data(fed.plaintext)
        } else if fed.ended {
            self.end = End::Told;
            Recv::End
        } else {
            Recv::WouldBlock
        })
    }

    pub fn pending(&self) -> bool {
        self.link.pending() || self.end == End::Untold || self.below.pending()
    }

    pub fn peek(&self) -> Recv {
        if self.link.pending() {
            return Recv::Data(1);
        }
        match self.end {
            End::None => self.below.peek(),
            End::Untold | End::Told => Recv::End,
        }
    }

    pub fn seal(&mut self, bytes: &[u8], output: &mut Vec<u8>) {
        self.link.seal(bytes, output);
    }

    /// Sends a `close_notify`, as far as the socket takes it. Nothing else waits to be sent at that point.
    pub fn close(&mut self) {
        let mut output = Vec::new();
        self.link.close(&mut output);
        if !output.is_empty() {
            let _ = self.below.send(&output);
        }
    }
}
