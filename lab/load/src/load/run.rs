//! A run: connections are opened, loaded through warm-up and window, and reported on. One thread, one epoll loop.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;

use reactor::net::connect_tcp;
use reactor::{Event, Events, Interest, Poller, clock, process};

use crate::connection::{Connection, State};
use crate::draw::Draw;
use crate::gauge::Gauge;
use crate::plan::Plan;
use crate::reply::Known;
use crate::schedule::Schedule;
use crate::tally::{Outcome, Report, Tally};

const EVENTS: usize = 1024;
const RECEIVE: usize = 64 * 1024;
/// Attempts at once before the load begins: fewer than the shortest usual accept queue, 128, since the kernel tries
/// again only after a second.
const CONNECTING: usize = 64;
/// How often everything that waits is looked at, in ns.
const SWEEP: u64 = 20_000_000;
/// Before another attempt where none succeeded, or where a connection was closed without a reply, in ns.
const PAUSE: u64 = 10_000_000;
/// How long a server may take to close a connection whose end was announced, in ns. A busy machine may stop it, or the
/// generator, for 2 s.
const CLOSING: u64 = 2_500_000_000;
pub const MILLISECOND: u64 = 1_000_000;

/// What a run tells while it goes on.
pub enum Progress {
    Connected,
    /// The window begins; its time in ns of the monotonic clock.
    Warm(u64),
    Measured,
}

pub enum Failure {
    /// Not all connections could be opened; why.
    Connect(String),
    System(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Connecting,
    /// One request on each connection, and no more.
    Greeting,
    Warming,
    Measuring,
}

/// A request that must be sent again because its connection's end was announced before its reply.
#[derive(Clone, Copy)]
pub struct Again {
    /// When it was due, in an open loop.
    pub origin: u64,
    pub request: u32,
}

pub struct Run<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) poller: Poller,
    pub(crate) connections: Vec<Connection>,
    pub(crate) draw: Draw,
    pub(crate) tally: Tally,
    pub(crate) gauge: Gauge,
    /// The last head of each request of the mix.
    pub(crate) known: Vec<Known>,
    pub(crate) schedule: Option<Schedule>,
    /// Those that can take a request in an open loop; each at most once.
    pub(crate) free: VecDeque<u32>,
    /// At most as many as can be in flight.
    pub(crate) again: VecDeque<Again>,
    /// When to try again, and which; in order, since every pause is as long.
    pub(crate) reopen: VecDeque<(u64, u32)>,
    /// When to give up, which, and its generation.
    pub(crate) aborts: BinaryHeap<Reverse<(u64, u32, u32)>>,
    /// Bytes to send.
    pub(crate) scratch: Vec<u8>,
    /// Latency of the last reply, in ns: aborts come within about that time.
    pub(crate) typical: u64,
    /// When there last was a reply, or nothing to wait for.
    pub(crate) alive: u64,
    /// When the load began: connections made before were not made for its requests.
    pub(crate) loaded: u64,
    pub(crate) phase: Phase,
    opened: usize,
    /// Connections whose first attempt has begun.
    begun: usize,
}

impl<'a> Run<'a> {
    pub fn new(plan: &'a Plan) -> io::Result<Self> {
        Ok(Self {
            plan,
            poller: Poller::new()?,
            connections: (0..plan.connections).map(|_| Connection::new()).collect(),
            draw: Draw::new(plan),
            tally: Tally::new(plan, clock::monotonic_ns()),
            gauge: Gauge::default(),
            known: plan.requests.iter().map(|_| Known::default()).collect(),
            schedule: None,
            free: VecDeque::new(),
            again: VecDeque::new(),
            reopen: VecDeque::new(),
            aborts: BinaryHeap::new(),
            scratch: Vec::new(),
            typical: MILLISECOND,
            alive: 0,
            loaded: 0,
            phase: Phase::Connecting,
            opened: 0,
            begun: 0,
        })
    }

    /// Runs to the end of the window. The connections stay open as long as `self` lives.
    pub fn run(
        &mut self,
        mut tell: impl FnMut(Progress) -> io::Result<()>,
    ) -> Result<Report, Failure> {
        let mut events = Events::with_capacity(EVENTS);
        let mut buffer = vec![0; RECEIVE];
        self.connect_all(&mut events, &mut buffer)?;
        tell(Progress::Connected)?;

        self.alive = clock::monotonic_ns();
        let (greeted, ungreeted) = self.greet(&mut events, &mut buffer)?;
        let begin = clock::monotonic_ns();
        if greeted > 0 {
            // One that did not answer has made all wait for the whole timeout.
            self.alive = begin;
        }
        self.loaded = begin;
        let warm = begin + self.plan.warmup;
        self.phase = Phase::Warming;
        self.schedule = self.plan.rate.map(|rate| Schedule::new(begin, rate));
        self.tally = Tally::new(self.plan, begin);
        for index in 0..self.plan.connections as u32 {
            self.ready(index);
        }

        let mut end = warm + self.plan.window;
        let mut earlier = 0;
        let mut gave_up = None;
        let mut next_sweep = begin;
        let mut is_silent = false;
        loop {
            let now = clock::monotonic_ns();
            let stop = process::stop_requested();
            // Replies that came while this process stood still were not read yet, and timeouts not counted: silence
            // has to be found twice, with a sweep and a poll between.
            let was_silent = is_silent;
            is_silent = self.alive + self.plan.timeout + 2 * SWEEP <= now;
            let silent = was_silent && is_silent;
            if self.phase == Phase::Warming && (now >= warm || stop || silent) {
                self.phase = Phase::Measuring;
                end = now + self.plan.window;
                earlier = greeted + self.tally.requests;
                self.tally = Tally::new(self.plan, now);
                self.gauge.restart(now);
                tell(Progress::Warm(now))?;
            }
            if self.phase == Phase::Measuring {
                if silent {
                    gave_up = Some(format!("no reply for {} s", self.plan.timeout_seconds));
                }
                if silent || stop || now >= end || self.enough() {
                    break;
                }
            }
            if now >= next_sweep {
                self.sweep(now)?;
                next_sweep = now + SWEEP;
            }
            self.timers(now)?;
            self.dispatch(now);
            let mut wake = next_sweep.min(if self.phase == Phase::Warming {
                warm
            } else {
                end
            });
            if let Some((time, _)) = self.reopen.front() {
                wake = wake.min(*time);
            }
            if let Some(Reverse((time, ..))) = self.aborts.peek() {
                wake = wake.min(*time);
            }
            // A request that is due and waits for a connection is woken by a reply, not by the clock.
            if let Some(schedule) = &self.schedule
                && !self.free.is_empty()
            {
                wake = wake.min(schedule.next());
            }
            // Below a millisecond the loop spins: the generator has a core of its own.
            let wait = wake.saturating_sub(clock::monotonic_ns()) / MILLISECOND;
            let count = self.poller.poll(&mut events, wait as i32)?;
            for position in 0..count {
                self.handle(events.get(position), &mut buffer)?;
            }
        }
        let now = clock::monotonic_ns();
        let unfinished = self.finish(now);
        tell(Progress::Measured)?;
        let outcome = Outcome {
            earlier,
            ungreeted,
            unfinished,
            oldest: self.oldest(now),
            in_flight: self.gauge.mean(now),
            gave_up,
        };
        let tally = std::mem::replace(&mut self.tally, Tally::new(self.plan, now));
        Ok(tally.report(self.plan, now, outcome))
    }

    fn connect_all(&mut self, events: &mut Events, buffer: &mut [u8]) -> Result<(), Failure> {
        let begin = clock::monotonic_ns();
        while self.begun < self.plan.connections.min(CONNECTING) {
            self.begun += 1;
            self.open(self.begun as u32 - 1)?;
        }
        loop {
            if self.opened == self.plan.connections {
                return Ok(());
            }
            let now = clock::monotonic_ns();
            let reason = if process::stop_requested() {
                "asked to stop".to_string()
            } else if now > begin + self.plan.timeout {
                format!(
                    "{} of {} connections were open after {} s",
                    self.opened, self.plan.connections, self.plan.timeout_seconds
                )
            } else {
                self.timers(now)?;
                let count = self.poller.poll(events, 10)?;
                for position in 0..count {
                    self.handle(events.get(position), buffer)?;
                }
                continue;
            };
            return Err(Failure::Connect(reason));
        }
    }

    /// Before a warm-up each connection is answered once, without more to do for the server: under full load libuv takes
    /// new connections one by one between requests, and the last of 100 waits for more than a second, into the window.
    /// Gives the number of replies, and of connections without one whose request was not given up on purpose. Who does
    /// not answer within the timeout is not waited for.
    fn greet(&mut self, events: &mut Events, buffer: &mut [u8]) -> Result<(u64, u64), Failure> {
        if self.plan.warmup == 0 || self.plan.close {
            return Ok((0, 0));
        }
        self.phase = Phase::Greeting;
        self.tally = Tally::new(self.plan, self.alive);
        self.gauge.restart(self.alive);
        for index in 0..self.plan.connections as u32 {
            self.fill(index, 1);
        }
        let end = self.alive + self.plan.timeout;
        while self.gauge.level() > 0 && !process::stop_requested() {
            let now = clock::monotonic_ns();
            if now >= end {
                break;
            }
            self.timers(now)?;
            let count = self.poller.poll(events, 10)?;
            for position in 0..count {
                self.handle(events.get(position), buffer)?;
            }
        }
        let replies = self.tally.requests;
        let without = (self.plan.connections as u64).saturating_sub(replies + self.tally.aborted);
        Ok((replies, without))
    }

    /// Begins to connect.
    pub(crate) fn open(&mut self, index: u32) -> Result<(), Failure> {
        let now = clock::monotonic_ns();
        match connect_tcp(self.plan.address) {
            Ok(socket) => {
                let connection = &mut self.connections[index as usize];
                let token = connection.token(index);
                self.poller.add(socket.fd(), token, Interest::WRITE)?;
                connection.interest = Interest::WRITE;
                connection.socket = Some(socket);
                connection.state = State::Connecting;
                connection.since = now;
                Ok(())
            }
            Err(error) => self.refused(index, &error, now),
        }
    }

    fn handle(&mut self, event: Event, buffer: &mut [u8]) -> Result<(), Failure> {
        let index = event.token as u32;
        let connection = &mut self.connections[index as usize];
        if connection.generation != (event.token >> 32) as u32 {
            return Ok(());
        }
        match connection.state {
            State::Closed => Ok(()),
            State::Connecting => self.connected(index),
            State::Open | State::Ending => {
                if event.writable && !connection.unsent.is_empty() {
                    self.flush(index)?;
                }
                if event.readable || event.hangup || event.error {
                    self.receive(index, buffer)?;
                }
                if self.schedule.is_some() {
                    self.dispatch(clock::monotonic_ns());
                }
                Ok(())
            }
        }
    }

    fn connected(&mut self, index: u32) -> Result<(), Failure> {
        let connection = &mut self.connections[index as usize];
        let Some(socket) = &connection.socket else {
            return Ok(());
        };
        let failed = socket
            .take_error()
            .or_else(|| socket.set_nodelay(true).err());
        if let Some(error) = failed {
            return self.refused(index, &error, clock::monotonic_ns());
        }
        let token = connection.token(index);
        self.poller
            .modify(socket.fd(), token, connection.interest, Interest::READ)?;
        connection.interest = Interest::READ;
        connection.state = State::Open;
        if self.phase != Phase::Connecting {
            self.ready(index);
            return Ok(());
        }
        self.opened += 1;
        if self.begun < self.plan.connections {
            self.begun += 1;
            self.open(self.begun as u32 - 1)?;
        }
        Ok(())
    }

    /// A connection could not be made.
    fn refused(&mut self, index: u32, error: &io::Error, now: u64) -> Result<(), Failure> {
        if self.phase == Phase::Connecting {
            return Err(Failure::Connect(error.to_string()));
        }
        self.tally.errors.connect += 1;
        self.close(index, false, now);
        self.reopen.push_back((now + PAUSE, index));
        Ok(())
    }

    /// Closes the socket; what was in flight on it is forgotten, and must have been counted.
    pub(crate) fn close(&mut self, index: u32, reset: bool, now: u64) {
        let connection = &mut self.connections[index as usize];
        if self.phase == Phase::Connecting && connection.state == State::Open {
            self.opened -= 1;
        }
        self.gauge.fall(now, connection.in_flight.len());
        match connection.clear(now) {
            Some(socket) if reset => socket.reset(),
            Some(_) | None => {}
        }
    }

    /// Closes the socket and opens another, after a pause if this one was of no use.
    pub(crate) fn renew(&mut self, index: u32, reset: bool, now: u64) -> Result<(), Failure> {
        let useful = self.connections[index as usize].answered
            || self.connections[index as usize].abort.is_some();
        self.close(index, reset, now);
        if useful {
            return self.open(index);
        }
        self.reopen.push_back((now + PAUSE, index));
        Ok(())
    }

    fn timers(&mut self, now: u64) -> Result<(), Failure> {
        while let Some((time, index)) = self.reopen.front().copied() {
            if time > now {
                break;
            }
            self.reopen.pop_front();
            self.open(index)?;
        }
        while let Some(Reverse((time, index, generation))) = self.aborts.peek().copied() {
            if time > now {
                break;
            }
            self.aborts.pop();
            if self.connections[index as usize].generation == generation {
                self.abort(index, now)?;
            }
        }
        Ok(())
    }

    /// Closes what has waited too long.
    fn sweep(&mut self, now: u64) -> Result<(), Failure> {
        for index in 0..self.connections.len() as u32 {
            let connection = &mut self.connections[index as usize];
            match connection.state {
                State::Connecting if connection.since + self.plan.timeout <= now => {
                    self.refused(index, &io::ErrorKind::TimedOut.into(), now)?;
                }
                State::Ending if connection.since + CLOSING <= now => {
                    self.tally.close_ignored += 1;
                    self.renew(index, false, now)?;
                }
                State::Open => {
                    let oldest = connection.in_flight.front();
                    if oldest.is_some_and(|oldest| oldest.at + self.plan.timeout <= now) {
                        self.time_out(index, now)?;
                    }
                }
                State::Closed | State::Connecting | State::Ending => {}
            }
        }
        // In an open loop of a low rate there may be nothing to wait for.
        let idle = self
            .schedule
            .as_ref()
            .is_some_and(|schedule| schedule.next() > now);
        if idle && self.gauge.level() == 0 && self.again.is_empty() {
            self.alive = now;
        }
        Ok(())
    }

    /// Whether the window has all the replies it was asked for.
    pub(crate) fn enough(&self) -> bool {
        self.phase == Phase::Measuring && self.tally.requests >= self.plan.max_requests
    }

    /// Whether another request may be sent, after `more`, without exceeding `maxRequests`.
    #[inline]
    pub(crate) fn may_send(&self, more: usize) -> bool {
        (more as u64) < self.left()
    }

    /// How many requests may be sent without exceeding `maxRequests`.
    #[inline]
    pub(crate) fn left(&self) -> u64 {
        if self.phase != Phase::Measuring {
            return u64::MAX;
        }
        let taken = self.tally.requests + self.gauge.level();
        self.plan.max_requests.saturating_sub(taken)
    }
}
