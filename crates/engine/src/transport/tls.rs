//! TLS over another transport.

use reactor::net::Recv;
use tls::{Fault, Link, Scratch};

use super::Transport;

/// What the client said of the end of its side.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    None,
    /// Its `close_notify` came, and nobody was told yet. No event announces it.
    Untold,
    Told,
}

pub struct Tls {
    /// What carries the ciphertext.
    pub(super) below: Transport,
    link: Link,
    end: End,
}

/// What became of a receive.
pub enum Opened {
    Received(Recv),
    /// The client broke a rule. What it is told is in the output.
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

    /// Receives, and puts plaintext into `room`, which takes all that one receive gives. What the link itself sends is
    /// added to `output`. `Data` has the number of bytes of plaintext, or that of ciphertext which was thrown away;
    /// `WouldBlock` also stands for a record of which a part came.
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

    /// Tells the client that nothing more comes, as far as the socket takes it: nothing waits to be sent before it.
    pub fn close(&mut self) {
        let mut output = Vec::new();
        self.link.close(&mut output);
        if !output.is_empty() {
            let _ = self.below.send(&output);
        }
    }
}
