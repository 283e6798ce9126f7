//! The supervisor's end: accepts connections, and passes each to the worker with the fewest. It is one file, since
//! accepting, choosing, passing and releasing work on the same two lists in one turn.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{OwnedFd, RawFd};
use std::path::Path;
use std::time::Duration;

use reactor::net::{ListenAddr, Listener, Peer, Send, Socket, listen_tcp, listen_unix, send_with};
use reactor::{Events, Interest, Poller};

use crate::clock::Clock;
use crate::listeners::{Listening, refuse};
use crate::origin::Origin;
use crate::worker::{Kept, Worker};

/// The most connections accepted from one listener before the others have their turn.
const ACCEPT_BUDGET: usize = 64;
/// The most connections that are accepted when the listeners close, of each.
const LAST_ACCEPTS: usize = 4096;
/// A turn that accepts so many connections has met a crowd, and the next one waits for [`GATHERING`]. On a core that it
/// shares with workers the acceptor would else interrupt them for every connection or two.
const CROWD: usize = 4;
/// Without it fewer than two connections are passed at a time, and each costs 1.4 times as much where supervisor and
/// worker share a core (decision 0038). Clients that come one after the other, or three at once, make no crowd.
const GATHERING: Duration = Duration::from_micros(100);
/// How long a crowd lasts, in nanoseconds.
const CROWD_LASTS: u64 = 1_000_000;
/// How long a worker is new, in milliseconds. It gets at most twice its share meanwhile: it has none, so that all would
/// come to it, and its code is not compiled yet.
const NEW: u64 = 5000;
/// How long the connection of a client that was refused is kept, in milliseconds, and how many are.
const REFUSED: u64 = 1000;
const MOST_REFUSED: usize = 1024;
const EVENTS: usize = 64;
/// A worker with so many connections that it has not acknowledged is listened to at once.
const MANY_UNACKNOWLEDGED: usize = 128;
/// This bit is set in the token of a worker; without it the token is that of a listener.
const WORKER: u64 = 1 << 32;

/// How a worker stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    /// The connections that are open in it.
    pub open: u32,
    /// Those that it was given and has not acknowledged.
    pub unacknowledged: usize,
}

/// One listener gave so many connections in a turn.
struct Batch {
    count: usize,
    /// More connections may wait.
    more: bool,
}

pub struct Acceptor {
    poller: Poller,
    events: Events,
    listeners: Vec<Option<Listening>>,
    workers: Vec<Option<Worker>>,
    /// Connections that were taken back from workers that are gone.
    returned: VecDeque<Kept>,
    /// The worker that was given a connection last, for ties.
    last: usize,
    /// Nobody has been ready for so long that clients are refused.
    refusing: bool,
    /// Clients that were refused, and when.
    refused: VecDeque<(u64, Socket)>,
    /// The listeners close: workers are given all that waits, however much they have not acknowledged.
    closing: bool,
    /// The process had no descriptors left; [`tick`](Self::tick) tries again.
    exhausted: bool,
    /// Until when there is a crowd, in nanoseconds.
    crowd_until: u64,
    clock: Clock,
}

impl Acceptor {
    /// # Errors
    /// When the kernel refuses another poller.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            poller: Poller::new()?,
            events: Events::with_capacity(EVENTS),
            listeners: Vec::new(),
            workers: Vec::new(),
            returned: VecDeque::new(),
            last: 0,
            refusing: false,
            refused: VecDeque::new(),
            closing: false,
            exhausted: false,
            crowd_until: 0,
            clock: Clock::default(),
        })
    }

    /// The clock by which workers are new and crowds last; tests hold it and move it on.
    pub fn clock(&mut self) -> &mut Clock {
        &mut self.clock
    }

    /// The descriptor that the event loop watches: when it is readable, [`turn`](Self::turn) has work.
    pub fn fd(&self) -> RawFd {
        self.poller.as_raw_fd()
    }

    /// Listens, and gives the number of the listener and its address. Its connections wait until a worker is
    /// [attached](Self::attach).
    ///
    /// # Errors
    /// What `bind` and `listen` refuse.
    pub fn listen_tcp(
        &mut self,
        address: SocketAddr,
        backlog: i32,
        ipv6_only: bool,
    ) -> io::Result<(u16, ListenAddr)> {
        let listener = listen_tcp(address, backlog, ipv6_only, false)?;
        self.add(listener)
    }

    /// # Errors
    /// As [`listen_tcp`](Self::listen_tcp).
    pub fn listen_unix(&mut self, path: &Path, backlog: i32) -> io::Result<(u16, ListenAddr)> {
        let listener = listen_unix(path, backlog)?;
        self.add(listener)
    }

    /// Takes a socket that listens already.
    ///
    /// # Errors
    /// If it is none.
    pub fn adopt(&mut self, fd: OwnedFd) -> io::Result<(u16, ListenAddr)> {
        let listener = Listener::from_owned(fd)?;
        self.add(listener)
    }

    fn add(&mut self, listener: Listener) -> io::Result<(u16, ListenAddr)> {
        let id = self.listeners.len();
        let number = u16::try_from(id).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let address = listener.local_addr()?;
        self.poller.add(listener.fd(), id as u64, Interest::NONE)?;
        self.listeners.push(Some(Listening {
            listener,
            encrypted: false,
            paused: true,
        }));
        Ok((number, address))
    }

    /// Says whether the clients of a listener speak TLS: nobody can tell them anything before the handshake.
    pub fn set_encrypted(&mut self, listener: u16, encrypted: bool) {
        if let Some(Some(listening)) = self.listeners.get_mut(usize::from(listener)) {
            listening.encrypted = encrypted;
        }
    }

    /// Closes a listener that no worker serves any more.
    pub fn close_listener(&mut self, listener: u16) {
        let listening = self.listeners.get_mut(usize::from(listener));
        if let Some(listening) = listening.and_then(Option::take) {
            let _ = self.poller.remove(listening.listener.fd());
        }
        // No worker will ever take the connections that wait.
        self.returned
            .retain(|kept| kept.origin.listener != listener);
    }

    /// Adds a worker, which reads the other end of `fd`.
    ///
    /// # Errors
    /// When the kernel refuses to watch one more.
    pub fn add_worker(&mut self, fd: OwnedFd) -> io::Result<usize> {
        let worker = Worker::new(fd);
        let free = self.workers.iter().position(Option::is_none);
        let id = free.unwrap_or(self.workers.len());
        self.poller
            .add(worker.fd(), WORKER | id as u64, Interest::NONE)?;
        if free.is_none() {
            self.workers.push(None);
        }
        self.workers[id] = Some(worker);
        Ok(id)
    }

    /// Has a worker get the connections of a listener, too.
    pub fn attach(&mut self, worker: usize, listener: u16) {
        if let Some(worker) = self.worker(worker)
            && !worker.listeners.contains(&listener)
        {
            worker.listeners.push(listener);
        }
        self.spread();
    }

    /// Has a worker get no more connections of a listener.
    pub fn detach(&mut self, worker: usize, listener: u16) {
        if let Some(worker) = self.worker(worker) {
            worker.listeners.retain(|&each| each != listener);
            // The worker reads what it has been sent before it closes, but not what comes later.
            let unsent = worker.take_unsent(listener);
            self.returned.extend(unsent);
        }
        self.spread();
    }

    /// Sends the listening socket itself to a worker, by the other pair that it has.
    ///
    /// # Errors
    /// When the worker is gone, or there is no such listener.
    pub fn hand_down(&self, listener: u16, to: RawFd) -> io::Result<()> {
        let listening = self.listeners.get(usize::from(listener));
        let Some(Some(Listening { listener, .. })) = listening else {
            return Err(io::ErrorKind::NotFound.into());
        };
        match send_with(to, &[0], &[listener.fd()]) {
            Send::Sent(_) => Ok(()),
            Send::WouldBlock => Err(io::ErrorKind::WouldBlock.into()),
            Send::Failed(error) => Err(error),
        }
    }

    /// Says whether a worker gets connections. One that begins is new for a while, unless all others are, too.
    pub fn set_takes(&mut self, worker: usize, takes: bool) {
        let now = self.clock.ms();
        let others = self.others_serve(worker, now);
        if let Some(worker) = self.worker(worker)
            && worker.takes != takes
        {
            worker.takes = takes;
            if takes {
                worker.takes_since = now;
                worker.new_until = if others { now + NEW } else { 0 };
                worker.allowance = 0.0;
            }
        }
        self.spread();
    }

    /// Gives whether another worker has got connections for some time.
    fn others_serve(&self, worker: usize, now: u64) -> bool {
        let mut all = self.workers.iter().enumerate();
        all.any(|(id, other)| {
            let serves = |other: &Worker| other.takes && other.takes_since + NEW <= now;
            id != worker && other.as_ref().is_some_and(serves)
        })
    }

    /// Lets go of a worker that is gone. What it has not acknowledged goes to others.
    pub fn remove_worker(&mut self, id: usize) {
        let Some(worker) = self.workers.get_mut(id).and_then(Option::take) else {
            return;
        };
        let _ = self.poller.remove(worker.fd());
        self.returned.extend(worker.take_back());
        self.spread();
    }

    /// Says whether clients are answered with 503 while no worker takes them; else they wait.
    pub fn set_refusing(&mut self, refusing: bool) {
        self.refusing = refusing;
        self.spread();
    }

    /// Gives how a worker stands; `None` if it is gone.
    pub fn figures(&self, worker: usize) -> Option<Figures> {
        let worker = self.workers.get(worker)?.as_ref()?;
        Some(Figures {
            open: worker.open(),
            unacknowledged: worker.unacknowledged(),
        })
    }

    /// Gives how many connections were taken back, and wait for a worker.
    pub fn waiting(&self) -> usize {
        self.returned.len()
    }

    /// Accepts the connections that wait, passes them on to the workers that take connections, and closes the listeners.
    pub fn stop_listening(&mut self) {
        self.closing = true;
        for id in 0..self.listeners.len() {
            for _ in 0..LAST_ACCEPTS / ACCEPT_BUDGET {
                if !self.accept(id).more {
                    break;
                }
            }
            if let Some(listening) = self.listeners[id].take() {
                let _ = self.poller.remove(listening.listener.fd());
            }
        }
        self.spread();
    }

    /// Does what is due from time to time, once a second or so.
    pub fn tick(&mut self) {
        let now = self.clock.ms();
        while let Some((since, _)) = self.refused.front()
            && since + REFUSED <= now
        {
            self.refused.pop_front();
        }
        self.exhausted = false;
        for worker in self.workers.iter_mut().flatten() {
            worker.rests = false;
        }
        self.read_all();
        self.spread();
    }

    /// Does what the poller reports. In a crowd it first lets more connections come, for 0.1 ms.
    pub fn turn(&mut self) {
        if self.is_crowded() {
            self.clock.wait(GATHERING);
        }
        let given = self.poller.poll(&mut self.events, 0).unwrap_or(0);
        // Only now it matters how many connections have ended.
        self.read_all();
        let mut accepted = 0;
        let mut more = false;
        for index in 0..given {
            let token = self.events.get(index).token;
            if token & WORKER == 0 {
                let batch = self.accept(token as usize);
                accepted += batch.count;
                more |= batch.more;
            } else {
                let id = (token & !WORKER) as usize;
                if self.events.get(index).error || self.events.get(index).hangup {
                    self.desert(id);
                }
            }
        }
        // Where more wait than one turn takes, there is nothing to wait for.
        let crowded = accepted >= CROWD && !more;
        self.crowd_until = if crowded {
            self.clock.ns() + CROWD_LASTS
        } else {
            0
        };
        self.spread();
    }

    /// Gives whether the last turn met a crowd, a moment ago.
    pub fn is_crowded(&self) -> bool {
        self.crowd_until > 0 && self.clock.ns() < self.crowd_until
    }

    /// Closes the copies of connections that workers have. Is called some milliseconds after [`holds`](Self::holds) said
    /// that there are some.
    pub fn release(&mut self) {
        self.read_all();
        self.spread();
    }

    /// Gives whether there are copies of connections that workers have not acknowledged.
    pub fn holds(&self) -> bool {
        let mut workers = self.workers.iter().flatten();
        workers.any(|worker| worker.unacknowledged() > 0)
    }

    fn read_all(&mut self) {
        for id in 0..self.workers.len() {
            let Some(worker) = &mut self.workers[id] else {
                continue;
            };
            let lives = worker.read();
            self.returned.extend(worker.returned.drain(..));
            if !lives {
                self.desert(id);
            }
        }
    }

    /// Has the poller report what a worker says while it can be given no more. What others say is read with the next
    /// connection, or by [`release`](Self::release): nobody wakes for it, and that saves half of what passing costs.
    fn watch_all(&mut self) {
        for (id, worker) in self.workers.iter_mut().enumerate() {
            let Some(worker) = worker else { continue };
            let watched = worker.blocked || worker.unacknowledged() >= MANY_UNACKNOWLEDGED;
            if watched == worker.watched || worker.deserted {
                continue;
            }
            worker.watched = watched;
            let (old, new) = if watched {
                (Interest::NONE, Interest::READ)
            } else {
                (Interest::READ, Interest::NONE)
            };
            // The socket is open and in the poller, so this does not fail.
            let token = WORKER | id as u64;
            let _ = self.poller.modify(worker.fd(), token, old, new);
        }
    }

    /// A worker whose end is closed gets nothing more. It is removed when its process has ended.
    fn desert(&mut self, id: usize) {
        if let Some(Some(worker)) = self.workers.get_mut(id) {
            worker.takes = false;
            if !std::mem::replace(&mut worker.deserted, true) {
                let _ = self.poller.remove(worker.fd());
            }
        }
    }

    /// Gives connections to workers, and watches the listeners whose connections somebody takes.
    fn spread(&mut self) {
        for _ in 0..self.returned.len() {
            let Some(kept) = self.returned.pop_front() else {
                break;
            };
            self.give(kept);
        }
        self.send_all();
        for id in 0..self.listeners.len() {
            let takes = self.refusing || self.choose(id as u16).is_some();
            let Some(listening) = &mut self.listeners[id] else {
                continue;
            };
            let pauses = self.exhausted || !takes;
            if pauses == listening.paused {
                continue;
            }
            listening.paused = pauses;
            let (old, new) = if pauses {
                (Interest::READ, Interest::NONE)
            } else {
                (Interest::NONE, Interest::READ)
            };
            // The listener is open and watched, so this does not fail.
            let fd = listening.listener.fd();
            let _ = self.poller.modify(fd, id as u64, old, new);
        }
        self.watch_all();
    }

    /// Accepts connections while somebody takes them, and sends them.
    fn accept(&mut self, id: usize) -> Batch {
        let mut count = 0;
        while count < ACCEPT_BUDGET && self.accept_one(id) {
            count += 1;
        }
        self.send_all();
        Batch {
            count,
            more: count == ACCEPT_BUDGET,
        }
    }

    /// Gives false when none waits, or nobody takes it.
    fn accept_one(&mut self, id: usize) -> bool {
        let worker = self.choose(id as u16);
        if worker.is_none() && !self.refusing {
            return false;
        }
        let Some(Some(listening)) = self.listeners.get(id) else {
            return false;
        };
        match listening.listener.accept() {
            Ok(Some((socket, peer))) => {
                // It fails for a client that is gone.
                if matches!(peer, Peer::Unix) || socket.set_nodelay(true).is_ok() {
                    let kept = Kept {
                        origin: Origin {
                            listener: id as u16,
                            peer,
                        },
                        fd: socket.into_owned(),
                    };
                    self.give_to(worker, kept);
                }
                true
            }
            Ok(None) => false,
            Err(_) => {
                // EMFILE, ENFILE, ENOBUFS or ENOMEM: the poller is level-triggered and would report it in a loop.
                self.exhausted = true;
                false
            }
        }
    }

    /// Gives a connection to a worker; without one it is refused, or waits.
    fn give(&mut self, kept: Kept) {
        self.give_to(self.choose(kept.origin.listener), kept);
    }

    fn give_to(&mut self, worker: Option<usize>, kept: Kept) {
        if let Some(id) = worker {
            self.count_towards_share(id);
            self.last = id;
            if let Some(worker) = self.worker(id) {
                worker.give(kept);
            }
        } else if self.refusing {
            let listening = self.listeners.get(usize::from(kept.origin.listener));
            let encrypted = matches!(listening, Some(Some(listening)) if listening.encrypted);
            let socket = refuse(Socket::from_owned(kept.fd), encrypted);
            if self.refused.len() == MOST_REFUSED {
                self.refused.pop_front();
            }
            self.refused.push_back((self.clock.ms(), socket));
        } else {
            self.returned.push_back(kept);
        }
    }

    /// The worker with the fewest connections, of several the next one after the last.
    fn choose(&self, listener: u16) -> Option<usize> {
        let count = self.workers.len();
        let now = self.has_new().then(|| self.clock.ms());
        let candidates = (1..=count).map(|step| (self.last + step) % count);
        let takers = candidates.filter_map(|id| {
            let worker = self.workers[id].as_ref()?;
            worker
                .may_take(listener, self.closing)
                .then_some((id, worker))
        });
        let fewest = |list: &mut dyn Iterator<Item = (usize, &Worker)>| {
            list.min_by_key(|(_, worker)| worker.load())
                .map(|(id, _)| id)
        };
        let waits = |worker: &Worker| {
            now.is_some_and(|now| worker.new_until > now) && worker.allowance < 1.0
        };
        fewest(&mut takers.clone().filter(|(_, worker)| !waits(worker)))
            .or_else(|| fewest(&mut takers.clone()))
    }

    fn has_new(&self) -> bool {
        self.workers
            .iter()
            .flatten()
            .any(|worker| worker.new_until > 0)
    }

    /// Of `count` workers each has a share of one in `count`; a new one may have two.
    fn count_towards_share(&mut self, given: usize) {
        if !self.has_new() {
            return;
        }
        let now = self.clock.ms();
        let takers = self.workers.iter().flatten();
        let count = takers.filter(|worker| worker.takes).count().max(1);
        for (id, worker) in self.workers.iter_mut().enumerate() {
            let Some(worker) = worker else { continue };
            if worker.new_until <= now {
                worker.new_until = 0;
                continue;
            }
            worker.allowance = (worker.allowance + 2.0 / count as f64).min(2.0);
            if id == given {
                worker.allowance -= 1.0;
            }
        }
    }

    fn send_all(&mut self) {
        for id in 0..self.workers.len() {
            let Some(worker) = &mut self.workers[id] else {
                continue;
            };
            // A worker that takes nothing more may still have been given some.
            if worker.unacknowledged() > 0 && !worker.send() {
                self.desert(id);
            }
        }
    }

    fn worker(&mut self, id: usize) -> Option<&mut Worker> {
        self.workers.get_mut(id)?.as_mut()
    }
}
