//! What happens on a socket: what comes is read and compared, what is to be sent is sent.

use reactor::net::{Recv, Send};
use reactor::{Interest, clock};

use crate::frames::{self, CLOSE, Fault, PING, PONG, Part};
use crate::handshake;
use crate::peer::State;
use crate::run::{Failure, Run};
use crate::spec::{Mode, OWN};

impl Run<'_> {
    pub fn receive(&mut self, index: usize) -> Result<(), Failure> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let received = self.peers[index]
            .socket
            .as_ref()
            .map(|socket| socket.recv(&mut buffer));
        let result = match received {
            Some(Recv::Data(count)) => {
                self.tally.received += count as u64;
                if self.peers[index].state == State::Open {
                    self.read(index, &buffer[..count])
                } else {
                    self.answered(index, &buffer[..count])
                }
            }
            Some(Recv::End) => {
                self.closed(index, "the server ended a connection without a close frame");
                Ok(())
            }
            Some(Recv::Failed(error)) => {
                self.closed(index, &format!("a connection failed: {error}"));
                Ok(())
            }
            Some(Recv::WouldBlock) | None => Ok(()),
        };
        self.buffer = buffer;
        result
    }

    /// The reply to the handshake, or a part of it. What is behind it belongs to the socket.
    fn answered(&mut self, index: usize, bytes: &[u8]) -> Result<(), Failure> {
        let peer = &mut self.peers[index];
        peer.reply.extend_from_slice(bytes);
        match handshake::check(&peer.reply) {
            Ok(None) => Ok(()),
            Ok(Some(end)) => {
                let reply = std::mem::take(&mut peer.reply);
                peer.state = State::Open;
                self.opened += 1;
                self.read(index, &reply[end..])
            }
            Err(what) => {
                self.faults
                    .add("refused", 1, &format!("the handshake failed: {what}"));
                Ok(())
            }
        }
    }

    fn read(&mut self, index: usize, bytes: &[u8]) -> Result<(), Failure> {
        let now = clock::monotonic_ns();
        let mut input = bytes;
        while self.peers[index].state == State::Open {
            let peer = &mut self.peers[index];
            match peer.reader.read(&mut input) {
                Ok(None) => break,
                Ok(Some(Part::Data {
                    opcode,
                    at,
                    bytes,
                    end,
                })) => {
                    if self.is_right(index, opcode, at as usize, bytes, end) && end {
                        self.whole_message(index, now)?;
                    }
                }
                Ok(Some(Part::Control(opcode))) => self.control(index, opcode)?,
                Err(Fault::Masked) => {
                    self.faults
                        .add("masked", 1, "a frame of the server is masked");
                }
                Err(Fault::Malformed(what)) => {
                    self.faults
                        .add("malformed", 1, &format!("a malformed frame: {what}"));
                }
            }
            if self.faults.any() {
                break;
            }
        }
        Ok(())
    }

    /// Compares a part of a message that begins at byte `at` of it, and keeps what is its own.
    fn is_right(&mut self, index: usize, opcode: u8, at: usize, bytes: &[u8], end: bool) -> bool {
        let until = at + bytes.len();
        if opcode != self.opcode {
            let what = format!("a message of opcode {opcode} came, not {}", self.opcode);
            self.faults.add("wrongType", 1, &what);
            return false;
        }
        if until > self.plan.bytes || (end && until < self.plan.bytes) {
            let what = format!("a message of {until} bytes came, not {}", self.plan.bytes);
            self.faults.add("wrongLength", 1, &what);
            return false;
        }
        let (own, rest) = bytes.split_at(bytes.len().min(OWN.saturating_sub(at)));
        if !own.is_empty() {
            self.peers[index].own[at..][..own.len()].copy_from_slice(own);
        }
        if rest.is_empty() || *rest == self.rest[until - rest.len() - OWN..until - OWN] {
            return true;
        }
        self.faults.add(
            "wrongContent",
            1,
            "a message has other bytes than the one that was sent",
        );
        false
    }

    fn whole_message(&mut self, index: usize, now: u64) -> Result<(), Failure> {
        match self.plan.mode {
            Mode::Echo | Mode::Held => self.echoed(index, now),
            Mode::Publish => {
                self.delivered(index, now);
                Ok(())
            }
        }
    }

    fn control(&mut self, index: usize, opcode: u8) -> Result<(), Failure> {
        if opcode == CLOSE {
            let code = match self.peers[index].reader.control.as_slice() {
                [first, second, ..] => u16::from_be_bytes([*first, *second]),
                _ => 1005,
            };
            self.closed(index, &format!("the server closed a socket with {code}"));
            return Ok(());
        }
        if opcode == PING {
            self.whole.pings += 1;
            let payload = std::mem::take(&mut self.peers[index].reader.control);
            let mut frame = Vec::new();
            frames::write(&mut frame, PONG, &payload, &[], self.random.number() as u32);
            self.send(index, &frame)?;
        }
        Ok(())
    }

    fn closed(&mut self, index: usize, what: &str) {
        let peer = &mut self.peers[index];
        peer.state = State::Closed;
        peer.socket = None;
        self.faults.add("closed", 1, what);
    }

    /// Sends a message that was never sent before; gives its own part.
    pub fn send_message(&mut self, index: usize) -> Result<[u8; OWN], Failure> {
        let mut own = [0; OWN];
        let mut number = self.random.number();
        for digit in &mut own {
            *digit = b"0123456789abcdef"[(number & 15) as usize];
            number >>= 4;
        }
        let mut frame = std::mem::take(&mut self.scratch);
        frame.clear();
        frames::write(
            &mut frame,
            self.opcode,
            &own,
            &self.rest,
            self.random.number() as u32,
        );
        let sent = self.send(index, &frame);
        self.scratch = frame;
        sent.map(|()| own)
    }

    pub fn send(&mut self, index: usize, bytes: &[u8]) -> Result<(), Failure> {
        let peer = &mut self.peers[index];
        let Some(socket) = &peer.socket else {
            return Ok(());
        };
        if !peer.unsent.is_empty() {
            peer.unsent.extend_from_slice(bytes);
            return Ok(());
        }
        let taken = match socket.send(bytes) {
            Send::Sent(count) => count,
            Send::WouldBlock => 0,
            Send::Failed(error) => {
                self.closed(index, &format!("a connection failed: {error}"));
                return Ok(());
            }
        };
        if taken < bytes.len() {
            peer.unsent.extend_from_slice(&bytes[taken..]);
        }
        self.watch(index)
    }

    pub fn flush(&mut self, index: usize) -> Result<(), Failure> {
        let peer = &mut self.peers[index];
        if let Some(socket) = &peer.socket
            && !peer.unsent.is_empty()
        {
            match socket.send(&peer.unsent[peer.taken..]) {
                Send::Sent(count) => peer.taken += count,
                Send::WouldBlock => {}
                Send::Failed(error) => {
                    self.closed(index, &format!("a connection failed: {error}"));
                    return Ok(());
                }
            }
            if peer.taken == peer.unsent.len() {
                peer.unsent.clear();
                peer.taken = 0;
            }
        }
        self.watch(index)
    }

    fn watch(&mut self, index: usize) -> Result<(), Failure> {
        let peer = &mut self.peers[index];
        let wanted = if peer.unsent.is_empty() {
            Interest::READ
        } else {
            Interest::READ_WRITE
        };
        if let Some(socket) = &peer.socket
            && wanted != peer.interest
        {
            self.poller
                .modify(socket.fd(), index as u64, peer.interest, wanted)?;
            peer.interest = wanted;
        }
        Ok(())
    }
}
