//! The loop and the sockets: what is the same in every mode. One thread, one epoll loop.

use std::io;

use reactor::net::connect_tcp;
use reactor::{Event, Events, Interest, Poller, clock, process};
use volant_load::random::Random;

use crate::frames;
use crate::handshake;
use crate::peer::{Peer, State};
use crate::spec::{OWN, Plan, Type};
use crate::tally::{Faults, Report, Tally, Whole};

const EVENTS: usize = 1024;
const RECEIVE: usize = 64 * 1024;
/// Attempts at once: fewer than the shortest usual accept queue, 128, since the kernel tries again only after a second.
const CONNECTING: usize = 64;
/// The longest wait for events, in ms: how late a time limit may be.
pub const TICK: i32 = 20;

/// What a run tells while it goes on.
pub enum Progress {
    Connected,
    Warm,
    Measured,
}

pub enum Failure {
    /// Not all sockets could be opened; why.
    Connect(String),
    System(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

pub struct Run<'a> {
    pub plan: &'a Plan,
    pub poller: Poller,
    events: Option<Events>,
    pub buffer: Vec<u8>,
    pub peers: Vec<Peer>,
    pub opened: usize,
    pub random: Random,
    pub opcode: u8,
    /// What all messages have behind their own part.
    pub rest: Vec<u8>,
    pub scratch: Vec<u8>,
    pub tally: Tally,
    pub whole: Whole,
    pub faults: Faults,
    /// Echo: another message follows each one that has come back.
    pub again: bool,
    /// Echo: sockets whose message has not come back.
    pub waiting: usize,
    /// Echo: when those that wait for too long are looked for next.
    pub sweep: u64,
    /// Publish: what was sent last, and before it, by publisher; when, and how often it has come.
    pub news: Vec<[u8; OWN]>,
    pub before: Vec<[u8; OWN]>,
    pub round: u64,
    pub published: u64,
    pub arrived: usize,
}

impl<'a> Run<'a> {
    pub fn new(plan: &'a Plan) -> io::Result<Self> {
        let (opcode, first, many) = match plan.r#type {
            Type::Text => (frames::TEXT, b'a', 26),
            Type::Binary => (frames::BINARY, 0, 256),
        };
        let rest = (OWN..plan.bytes).map(|at| first + (at % many) as u8);
        Ok(Self {
            plan,
            poller: Poller::new()?,
            events: Some(Events::with_capacity(EVENTS)),
            buffer: vec![0; RECEIVE],
            peers: Vec::with_capacity(plan.sockets + plan.publishers),
            opened: 0,
            random: Random::new(plan.seed),
            opcode,
            rest: rest.collect(),
            scratch: Vec::new(),
            tally: Tally::new(clock::monotonic_ns()),
            whole: Whole::default(),
            faults: Faults::default(),
            again: false,
            waiting: 0,
            sweep: 0,
            news: Vec::new(),
            before: Vec::new(),
            round: 0,
            published: 0,
            arrived: 0,
        })
    }

    /// Whether there is no point in going on.
    pub fn over(&self) -> bool {
        self.faults.any() || process::stop_requested()
    }

    /// Ends what was counted so far, at `now`.
    pub fn next_tally(&mut self, now: u64) -> Tally {
        let done = std::mem::replace(&mut self.tally, Tally::new(now));
        self.whole.messages += done.messages;
        self.whole.deliveries += done.deliveries;
        done
    }

    /// `window` is what was measured, which ended at `end`; what came after it belongs to the whole.
    pub fn report(&mut self, window: Tally, end: u64) -> Report {
        self.next_tally(end);
        self.whole.messages -= window.messages;
        self.whole.deliveries -= window.deliveries;
        let open = |peer: &&Peer| peer.state == State::Open;
        self.whole.open = self
            .peers
            .iter()
            .take(self.plan.sockets)
            .filter(open)
            .count();
        window.report(end, &self.whole, std::mem::take(&mut self.faults))
    }

    /// Ends all connections by a reset, so that none of their ports is kept by the kernel for a minute.
    pub fn close(&mut self) {
        for peer in self.peers.drain(..) {
            if let Some(socket) = peer.socket {
                socket.reset();
            }
        }
    }

    /// Opens sockets until there are `count`. A refused handshake is a fault.
    pub fn open_until(&mut self, count: usize) -> Result<(), Failure> {
        let mut progress = clock::monotonic_ns();
        while self.opened < count && !self.faults.any() {
            while self.peers.len() < count && self.peers.len() - self.opened < CONNECTING {
                self.connect()?;
            }
            let before = self.opened;
            self.pump(TICK)?;
            let now = clock::monotonic_ns();
            if self.opened > before {
                progress = now;
            }
            let failed = if process::stop_requested() {
                "asked to stop".to_string()
            } else if now > progress + self.plan.timeout {
                format!(
                    "{} were open when none was opened for {} s",
                    self.opened, self.plan.timeout_seconds
                )
            } else {
                continue;
            };
            return Err(Failure::Connect(failed));
        }
        Ok(())
    }

    fn connect(&mut self) -> Result<(), Failure> {
        let since = clock::monotonic_ns();
        let socket =
            connect_tcp(self.plan.address).map_err(|error| Failure::Connect(error.to_string()))?;
        let token = self.peers.len() as u64;
        self.poller.add(socket.fd(), token, Interest::WRITE)?;
        self.peers.push(Peer::new(socket, Interest::WRITE, since));
        Ok(())
    }

    /// Handles what has happened; waits for `wait` ms at most.
    pub fn pump(&mut self, wait: i32) -> Result<(), Failure> {
        let Some(mut events) = self.events.take() else {
            return Ok(());
        };
        let count = self.poller.poll(&mut events, wait)?;
        for position in 0..count {
            self.handle(events.get(position))?;
        }
        self.events = Some(events);
        Ok(())
    }

    fn handle(&mut self, event: Event) -> Result<(), Failure> {
        let index = event.token as usize;
        match self.peers[index].state {
            State::Closed => Ok(()),
            State::Connecting => self.connected(index),
            State::Asking | State::Open => {
                if event.writable {
                    self.flush(index)?;
                }
                if event.readable || event.hangup || event.error {
                    self.receive(index)?;
                }
                Ok(())
            }
        }
    }

    fn connected(&mut self, index: usize) -> Result<(), Failure> {
        let peer = &mut self.peers[index];
        let Some(socket) = &peer.socket else {
            return Ok(());
        };
        let failed = socket
            .take_error()
            .or_else(|| socket.set_nodelay(true).err());
        if let Some(error) = failed {
            return Err(Failure::Connect(error.to_string()));
        }
        peer.state = State::Asking;
        let request = handshake::request(self.plan.address, &self.plan.path);
        self.send(index, &request)
    }
}
