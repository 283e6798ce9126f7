//! The worker's end: takes connections that the supervisor passes, and says so.

use std::collections::VecDeque;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use reactor::net::{MOST_PASSED, Recv, Send, Socket, receive_with, send_with};

use crate::origin::{ACKNOWLEDGEMENT_BYTES, Acknowledgement, ORIGIN_BYTES, Origin};

/// The socket by which a worker gets connections.
pub struct Intake {
    fd: OwnedFd,
    /// The part of an origin whose rest has not come.
    part: Vec<u8>,
    /// The descriptors that came for origins whose bytes have not all come.
    fds: VecDeque<OwnedFd>,
    received: u32,
    lost: u32,
    /// What the supervisor knows.
    said: Acknowledgement,
    /// The part of an acknowledgement that the kernel has not taken.
    unsent: Vec<u8>,
    ended: bool,
}

impl Intake {
    /// `fd` is the end of a pair, which does not block, that this process has inherited.
    pub fn new(fd: OwnedFd) -> Self {
        Self {
            fd,
            part: Vec::new(),
            fds: VecDeque::new(),
            received: 0,
            lost: 0,
            said: Acknowledgement::default(),
            unsent: Vec::new(),
            ended: false,
        }
    }

    pub fn fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// Gives whether the supervisor is gone.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Receives one message and adds its connections to `into`. Gives whether there may be more.
    pub fn receive(&mut self, into: &mut Vec<(Origin, Socket)>) -> bool {
        let mut bytes = [0; ORIGIN_BYTES * MOST_PASSED];
        let mut fds = Vec::new();
        let outcome = receive_with(self.fd(), &mut bytes, &mut fds);
        self.fds.extend(fds);
        match outcome {
            Recv::Data(length) => self.part.extend_from_slice(&bytes[..length]),
            Recv::WouldBlock => return false,
            // ENOMEM, say: the supervisor is there, and the poller reports again what waits.
            Recv::Failed(error) if !is_end(&error) => return false,
            Recv::End | Recv::Failed(_) => {
                self.ended = true;
                return false;
            }
        }
        let whole = self.part.len() / ORIGIN_BYTES * ORIGIN_BYTES;
        for bytes in self.part[..whole].chunks_exact(ORIGIN_BYTES) {
            self.received = self.received.wrapping_add(1);
            // This process has no room for the descriptor. The supervisor gives its copy to another worker.
            let Some(fd) = self.fds.pop_front() else {
                self.lost = self.lost.wrapping_add(1);
                continue;
            };
            let mut origin = [0; ORIGIN_BYTES];
            origin.copy_from_slice(bytes);
            if let Some(origin) = Origin::from_bytes(&origin) {
                into.push((origin, Socket::from_passed(fd)));
            }
        }
        self.part.drain(..whole);
        if self.part.is_empty() {
            self.fds.clear();
        }
        true
    }

    /// Tells the supervisor how many connections came and how many are open, if it does not know yet.
    pub fn acknowledge(&mut self, open: u32) {
        let now = self.state(open);
        if now == self.said && self.unsent.is_empty() || self.ended {
            return;
        }
        if self.unsent.is_empty() {
            self.unsent.extend_from_slice(&now.to_bytes());
            self.said = now;
        }
        match send_with(self.fd(), &self.unsent, &[]) {
            Send::Sent(count) => {
                self.unsent.drain(..count);
            }
            // The supervisor reads nothing for the time being. What was not begun is said anew.
            Send::WouldBlock if self.unsent.len() == ACKNOWLEDGEMENT_BYTES => {
                self.unsent.clear();
                self.said = Acknowledgement {
                    received: now.received.wrapping_sub(1),
                    ..now
                };
            }
            Send::WouldBlock => {}
            Send::Failed(_) => self.ended = true,
        }
    }

    /// Gives whether something waits to be said.
    pub fn has_news(&self, open: u32) -> bool {
        !self.ended && (!self.unsent.is_empty() || self.said != self.state(open))
    }

    fn state(&self, open: u32) -> Acknowledgement {
        Acknowledgement {
            received: self.received,
            lost: self.lost,
            open,
        }
    }
}

/// Gives whether the other end is closed.
fn is_end(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionReset, NotConnected};
    matches!(error.kind(), BrokenPipe | ConnectionReset | NotConnected)
}
