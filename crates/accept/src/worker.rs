//! A worker as the acceptor sees it: what it was given, and what it has acknowledged.

use std::collections::VecDeque;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use reactor::net::{MOST_PASSED, Recv, Send, receive_with, send_with};

use crate::origin::{ACKNOWLEDGEMENT_BYTES, Acknowledgement, ORIGIN_BYTES, Origin};

/// A worker with so many connections that it has not acknowledged gets no more.
const MOST_UNACKNOWLEDGED: usize = 256;

/// A connection that is kept until a worker has it.
pub struct Kept {
    pub origin: Origin,
    pub fd: OwnedFd,
}

pub struct Worker {
    fd: OwnedFd,
    /// The listeners whose connections it takes.
    pub listeners: Vec<u16>,
    /// It is ready, and its beats come.
    pub takes: bool,
    /// Since when it takes connections, in milliseconds.
    pub takes_since: u64,
    /// Until this time, in milliseconds, it is new: see [`Worker::may_take`].
    pub new_until: u64,
    /// While it is new: how many connections it may be given now.
    pub allowance: f64,
    /// The connections in the order in which they are passed; the first `sent` of them are.
    kept: VecDeque<Kept>,
    sent: usize,
    /// The bytes of an origin that was begun, whose descriptor is on its way.
    begun: Vec<u8>,
    /// The part of an acknowledgement that came.
    part: Vec<u8>,
    acknowledged: u32,
    lost: u32,
    /// The connections that it had no descriptors for.
    pub returned: Vec<Kept>,
    /// It has no descriptors left, and gets nothing until the next tick.
    pub rests: bool,
    open: u32,
    /// The kernel takes no more for now.
    pub blocked: bool,
    /// The poller reports what it says.
    pub watched: bool,
    /// Its end is closed.
    pub deserted: bool,
}

impl Worker {
    pub fn new(fd: OwnedFd) -> Self {
        Self {
            fd,
            listeners: Vec::new(),
            takes: false,
            takes_since: 0,
            new_until: 0,
            allowance: 0.0,
            kept: VecDeque::new(),
            sent: 0,
            begun: Vec::new(),
            part: Vec::new(),
            acknowledged: 0,
            lost: 0,
            returned: Vec::new(),
            rests: false,
            open: 0,
            blocked: false,
            watched: false,
            deserted: false,
        }
    }

    pub fn fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// The connections that it has, or will have.
    pub fn load(&self) -> usize {
        self.open as usize + self.kept.len()
    }

    pub fn open(&self) -> u32 {
        self.open
    }

    /// How many connections it has been given and has not acknowledged.
    pub fn unacknowledged(&self) -> usize {
        self.kept.len()
    }

    /// `last`: it is the last chance of a connection, so that it may be one of many.
    pub fn may_take(&self, listener: u16, last: bool) -> bool {
        let has_room = !self.blocked && !self.rests && self.kept.len() < MOST_UNACKNOWLEDGED;
        self.takes && !self.deserted && (has_room || last) && self.listeners.contains(&listener)
    }

    /// Adds a connection, which [`send`](Self::send) passes on.
    pub fn give(&mut self, connection: Kept) {
        self.kept.push_back(connection);
    }

    /// Gives the connections of a listener back that have not been passed on.
    pub fn take_unsent(&mut self, listener: u16) -> Vec<Kept> {
        let unsent = self.kept.split_off(self.sent);
        let (back, stay): (Vec<Kept>, Vec<Kept>) = unsent
            .into_iter()
            .partition(|kept| kept.origin.listener == listener);
        self.kept.extend(stay);
        back
    }

    /// Passes on what was given. Gives false if the worker is gone.
    pub fn send(&mut self) -> bool {
        while !self.begun.is_empty() {
            match send_with(self.fd.as_raw_fd(), &self.begun, &[]) {
                Send::Sent(count) => {
                    self.begun.drain(..count);
                }
                Send::WouldBlock => return self.wait(),
                Send::Failed(_) => return false,
            }
        }
        while self.sent < self.kept.len() {
            let batch = self.kept.iter().skip(self.sent).take(MOST_PASSED);
            let fds: Vec<RawFd> = batch.clone().map(|kept| kept.fd.as_raw_fd()).collect();
            let bytes: Vec<u8> = batch
                .flat_map(|kept| kept.origin.to_bytes())
                .collect::<Vec<u8>>();
            match send_with(self.fd.as_raw_fd(), &bytes, &fds) {
                Send::Sent(count) => {
                    // The descriptors go with the first byte, so the rest of the bytes follows by itself.
                    self.begun.extend_from_slice(&bytes[count..]);
                    self.sent += fds.len();
                    if !self.begun.is_empty() {
                        return self.wait();
                    }
                }
                Send::WouldBlock => return self.wait(),
                // Too many descriptors of this user are on their way.
                Send::Failed(error) if error.raw_os_error() == Some(TOO_MANY_REFERENCES) => {
                    return self.wait();
                }
                Send::Failed(_) => return false,
            }
        }
        self.blocked = false;
        true
    }

    fn wait(&mut self) -> bool {
        self.blocked = true;
        true
    }

    /// Reads what the worker has acknowledged, and closes the copies of these connections. Gives false if the worker is
    /// gone.
    pub fn read(&mut self) -> bool {
        let mut bytes = [0; ACKNOWLEDGEMENT_BYTES * 64];
        let mut none = Vec::new();
        loop {
            let length = match receive_with(self.fd.as_raw_fd(), &mut bytes, &mut none) {
                Recv::Data(count) => count,
                Recv::WouldBlock => return true,
                Recv::End | Recv::Failed(_) => return false,
            };
            self.part.extend_from_slice(&bytes[..length]);
            let whole = self.part.len() / ACKNOWLEDGEMENT_BYTES * ACKNOWLEDGEMENT_BYTES;
            let all: Vec<u8> = self.part.drain(..whole).collect();
            for bytes in all.chunks_exact(ACKNOWLEDGEMENT_BYTES) {
                let mut one = [0; ACKNOWLEDGEMENT_BYTES];
                one.copy_from_slice(bytes);
                self.acknowledge(Acknowledgement::from_bytes(one));
            }
            // The next call gives what is left, which is most often nothing.
            if length < bytes.len() {
                return true;
            }
        }
    }

    fn acknowledge(&mut self, said: Acknowledgement) {
        // A worker that counts wrongly cannot have what it was not sent.
        let new = (said.received.wrapping_sub(self.acknowledged) as usize).min(self.sent);
        let lost = (said.lost.wrapping_sub(self.lost) as usize).min(new);
        let taken = self.kept.drain(..new);
        self.returned.extend(taken.skip(new - lost));
        self.rests |= lost > 0;
        self.sent -= new;
        self.acknowledged = said.received;
        self.lost = said.lost;
        self.open = said.open;
    }

    /// Gives the connections back that it has not acknowledged, once it is gone.
    pub fn take_back(mut self) -> VecDeque<Kept> {
        self.read();
        self.kept.extend(self.returned);
        self.kept
    }
}

#[cfg(target_os = "macos")]
const TOO_MANY_REFERENCES: i32 = 59;
#[cfg(not(target_os = "macos"))]
const TOO_MANY_REFERENCES: i32 = 109;

const _: () = assert!(ORIGIN_BYTES * MOST_PASSED <= 4096);
