//! Requests out, replies in: what a [`Run`] does on an open connection.

use std::cmp::Reverse;

use reactor::net::{Recv, Send};
use reactor::{Interest, clock};

use crate::connection::State;
use crate::reply::{Keep, Reply, Step};
use crate::run::{Again, Failure, MILLISECOND, Phase, Run};
use crate::tally::Sent;

/// Sent so much later than due, in ns, a request counts as late.
const LATE: u64 = MILLISECOND;

/// What became of the requests in flight on a connection that ended.
enum Loss {
    Read,
    Write,
    Timeout,
}

impl Run<'_> {
    /// The connection may be able to take requests: closed loop, it gets them; open loop, it is listed.
    pub(crate) fn ready(&mut self, index: u32) {
        if self.phase == Phase::Greeting {
            return;
        }
        let connection = &mut self.connections[index as usize];
        let room = connection.room(self.plan.pipelining, self.plan.close);
        if room == 0 {
            return;
        }
        if self.plan.rate.is_none() {
            self.fill(index, room);
        } else if !connection.listed {
            connection.listed = true;
            self.free.push_back(index);
        }
    }

    pub(crate) fn fill(&mut self, index: u32, room: usize) {
        self.scratch.clear();
        let now = clock::monotonic_ns();
        // A request with a connection of its own pays for the connect, unless that was made before the load.
        let since = self.connections[index as usize].since;
        let origin = if self.plan.close && since >= self.loaded {
            since
        } else {
            now
        };
        let mut count = 0;
        while count < room && self.may_send(count) {
            let request = match self.again.pop_front() {
                Some(again) => again.request,
                None => self.draw.next(self.plan),
            };
            self.append(index, request, origin, now);
            count += 1;
            if self.connections[index as usize].abort.is_some() {
                break;
            }
        }
        if count > 0 {
            self.gauge.rise(now, count);
            self.send(index);
        }
    }

    /// Open loop: sends what is due at `now` as long as a connection is free.
    pub(crate) fn dispatch(&mut self, now: u64) {
        let Some(schedule) = &self.schedule else {
            return;
        };
        if schedule.next() > now && self.again.is_empty() {
            return;
        }
        while self.may_send(0) {
            let Some(schedule) = &mut self.schedule else {
                return;
            };
            if self.again.is_empty() && schedule.next() > now {
                return;
            }
            let Some(index) = self.free.pop_front() else {
                break;
            };
            let connection = &mut self.connections[index as usize];
            connection.listed = false;
            if connection.room(self.plan.pipelining, self.plan.close) == 0 {
                continue;
            }
            let (request, origin) = match self.again.pop_front() {
                Some(again) => (again.request, again.origin),
                None => (self.draw.next(self.plan), schedule.take()),
            };
            self.scratch.clear();
            let sent = clock::monotonic_ns();
            if sent.saturating_sub(origin) > LATE {
                self.tally.late_sends += 1;
            }
            self.append(index, request, origin, sent);
            self.gauge.rise(sent, 1);
            self.send(index);
            self.ready(index);
        }
        if let Some(schedule) = &self.schedule {
            let queue = (schedule.waiting(now) + self.again.len() as u64).min(self.left());
            self.tally.longest_queue = self.tally.longest_queue.max(queue);
        }
    }

    /// Adds a request to those in flight and its bytes to those to be sent.
    fn append(&mut self, index: u32, request: u32, origin: u64, sent: u64) {
        let before = self.scratch.len();
        let (verify, check) = self.draw.render(self.plan, request, &mut self.scratch);
        let connection = &mut self.connections[index as usize];
        connection.used = true;
        connection.in_flight.push_back(Sent {
            origin,
            at: sent,
            request,
            verify,
            check,
        });
        if self.plan.abort_share > 0.0
            && let Some(abort) = self.draw.abort(self.plan, self.scratch.len() - before)
        {
            if let Some(cut) = abort.cut {
                self.scratch.truncate(before + cut);
            }
            connection.abort = Some(abort);
            let time = sent + self.draw.moment(self.typical);
            self.aborts
                .push(Reverse((time, index, connection.generation)));
        }
    }

    fn send(&mut self, index: u32) {
        let connection = &mut self.connections[index as usize];
        let Some(socket) = &connection.socket else {
            return;
        };
        // A cut may leave nothing to send.
        if self.scratch.is_empty() {
            return;
        }
        let sent = match socket.send(&self.scratch) {
            Send::Sent(sent) => sent,
            Send::WouldBlock => 0,
            Send::Failed(_) => {
                // Replies may have come before; the socket is readable now and tells the rest.
                connection.broken = true;
                return;
            }
        };
        self.tally.sent += sent as u64;
        if sent < self.scratch.len() {
            // Without a copy, since a body may have megabytes: a connection with unsent bytes gets no request.
            std::mem::swap(&mut connection.unsent, &mut self.scratch);
            connection.taken = sent;
            let token = connection.token(index);
            match self.poller.modify(
                socket.fd(),
                token,
                connection.interest,
                Interest::READ_WRITE,
            ) {
                Ok(()) => connection.interest = Interest::READ_WRITE,
                Err(_) => connection.broken = true,
            }
        }
    }

    /// Sends what the kernel did not take before.
    pub(crate) fn flush(&mut self, index: u32) -> Result<(), Failure> {
        let connection = &mut self.connections[index as usize];
        let Some(socket) = &connection.socket else {
            return Ok(());
        };
        match socket.send(&connection.unsent[connection.taken..]) {
            Send::Sent(taken) => {
                self.tally.sent += taken as u64;
                connection.taken += taken;
            }
            Send::WouldBlock => {}
            Send::Failed(_) => {
                connection.broken = true;
                connection.taken = connection.unsent.len();
            }
        }
        if connection.taken == connection.unsent.len() {
            let token = connection.token(index);
            self.poller
                .modify(socket.fd(), token, connection.interest, Interest::READ)?;
            connection.interest = Interest::READ;
            connection.forget_unsent();
            self.ready(index);
        }
        Ok(())
    }

    pub(crate) fn receive(&mut self, index: u32, buffer: &mut [u8]) -> Result<(), Failure> {
        let connection = &mut self.connections[index as usize];
        let Some(socket) = &connection.socket else {
            return Ok(());
        };
        let received = socket.recv(buffer);
        let now = clock::monotonic_ns();
        match received {
            Recv::Data(length) => {
                self.tally.received += length as u64;
                if connection.state == State::Ending {
                    return Ok(());
                }
                self.replies(index, &buffer[..length], now)
            }
            Recv::WouldBlock => Ok(()),
            Recv::End => self.ended(index, now),
            Recv::Failed(_) => self.gone(index, now),
        }
    }

    fn replies(&mut self, index: u32, bytes: &[u8], now: u64) -> Result<(), Failure> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let connection = &mut self.connections[index as usize];
            let Some(oldest) = connection.in_flight.front() else {
                self.tally
                    .malformed(self.plan, None, "nothing was asked", rest);
                return self.lose(index, &Loss::Read, now);
            };
            let request = oldest.request as usize;
            let keep = oldest.check.as_ref().map(|check| Keep {
                bytes: &mut connection.kept,
                most: check.most(),
            });
            let (used, step) = connection.reader.next(
                rest,
                &mut self.known[request],
                self.plan.requests[request].bodiless,
                keep,
            );
            match step {
                Step::More => break,
                Step::Whole(reply) => {
                    rest = &rest[used..];
                    if self.answer(index, reply, now) {
                        return self.abort(index, now);
                    }
                    if reply.close || self.plan.close {
                        return self.announced(index, now);
                    }
                    let connection = &self.connections[index as usize];
                    if connection.in_flight.is_empty() && !connection.unsent.is_empty() {
                        // The rest of the request may never be taken, and no other can go before it.
                        self.tally.errors.write += 1;
                        return self.lose(index, &Loss::Write, now);
                    }
                }
                Step::Malformed(why) => {
                    let oldest = connection.in_flight.pop_front();
                    self.gauge.fall(now, 1);
                    self.tally.malformed(self.plan, oldest.as_ref(), why, rest);
                    if let Some(sent) = &oldest
                        && self.schedule.is_some()
                    {
                        self.tally.lost(self.plan, sent, now);
                    }
                    return self.lose(index, &Loss::Read, now);
                }
            }
        }
        self.ready(index);
        Ok(())
    }

    /// Counts the reply to the oldest request, unless that one is to be given up: then it gives true.
    fn answer(&mut self, index: u32, reply: Reply, now: u64) -> bool {
        let enough = self.enough();
        let connection = &mut self.connections[index as usize];
        if connection.abort.is_some() && connection.in_flight.len() == 1 {
            return true;
        }
        self.alive = now;
        connection.answered = true;
        self.gauge.fall(now, 1);
        if let Some(sent) = connection.in_flight.pop_front() {
            self.typical = now.saturating_sub(sent.at);
            // Those beyond maxRequests were in flight before the window began.
            if !enough {
                self.tally
                    .reply(self.plan, &sent, reply, &connection.kept, now);
            }
        }
        connection.forget_kept();
        false
    }

    /// A reply has announced the end of the connection: what is behind it goes to another one.
    fn announced(&mut self, index: u32, now: u64) -> Result<(), Failure> {
        let connection = &mut self.connections[index as usize];
        self.gauge.fall(now, connection.in_flight.len());
        for sent in connection.in_flight.drain(..) {
            self.again.push_back(Again {
                origin: sent.origin,
                request: sent.request,
            });
        }
        connection.forget_unsent();
        connection.abort = None;
        connection.state = State::Ending;
        connection.since = now;
        if !self.plan.close {
            self.tally.reconnects += 1;
        }
        if let Some(socket) = &connection.socket {
            let token = connection.token(index);
            self.poller
                .modify(socket.fd(), token, connection.interest, Interest::READ)?;
            connection.interest = Interest::READ;
        }
        Ok(())
    }

    /// The server has closed: a body that goes on until then is whole.
    fn ended(&mut self, index: u32, now: u64) -> Result<(), Failure> {
        let connection = &mut self.connections[index as usize];
        if connection.state == State::Open
            && !connection.in_flight.is_empty()
            && let Some(reply) = connection.reader.end()
        {
            if self.answer(index, reply, now) {
                return self.abort(index, now);
            }
            self.announced(index, now)?;
            return self.renew(index, false, now);
        }
        self.gone(index, now)
    }

    /// The connection has ended or failed, and no reply with it.
    fn gone(&mut self, index: u32, now: u64) -> Result<(), Failure> {
        let connection = &self.connections[index as usize];
        if connection.state == State::Ending {
            return self.renew(index, false, now);
        }
        let loss = if connection.broken {
            Loss::Write
        } else {
            Loss::Read
        };
        self.lose(index, &loss, now)
    }

    pub(crate) fn time_out(&mut self, index: u32, now: u64) -> Result<(), Failure> {
        self.lose(index, &Loss::Timeout, now)
    }

    /// Counts everything in flight as lost and opens the connection anew.
    fn lose(&mut self, index: u32, loss: &Loss, now: u64) -> Result<(), Failure> {
        let connection = &mut self.connections[index as usize];
        let mut count = connection.in_flight.len() as u64;
        if connection.abort.is_some() && count > 0 {
            self.tally.aborted += 1;
            count -= 1;
        }
        match loss {
            Loss::Read => self.tally.errors.read += count,
            Loss::Write => self.tally.errors.write += count,
            Loss::Timeout => self.tally.errors.timeout += count,
        }
        if self.schedule.is_some() {
            for sent in connection.in_flight.iter().take(count as usize) {
                self.tally.lost(self.plan, sent, now);
            }
        }
        if !matches!(loss, Loss::Timeout) {
            self.tally.reconnects += 1;
        }
        self.renew(index, false, now)
    }

    /// Gives up the requests of a connection, as planned.
    pub(crate) fn abort(&mut self, index: u32, now: u64) -> Result<(), Failure> {
        let connection = &self.connections[index as usize];
        self.alive = now;
        self.tally.aborted += connection.in_flight.len() as u64;
        let reset = connection.abort.is_some_and(|abort| abort.reset);
        self.renew(index, reset, now)
    }

    /// The window ends at `now`. How many requests have no reply; in an open loop, each with the latency it has by now,
    /// but for those that were kept from being sent by `maxRequests`.
    pub(crate) fn finish(&mut self, now: u64) -> u64 {
        let in_flight = self.gauge.level();
        let left = self.left();
        let Some(schedule) = &mut self.schedule else {
            return in_flight;
        };
        let again = left.min(self.again.len() as u64);
        let queued = schedule.waiting(now).min(left - again);
        for _ in 0..queued {
            self.tally.unanswered(now.saturating_sub(schedule.take()));
        }
        for again in self.again.iter().take(again as usize) {
            self.tally.unanswered(now.saturating_sub(again.origin));
        }
        for sent in self
            .connections
            .iter()
            .flat_map(|connection| &connection.in_flight)
        {
            self.tally.unanswered(now.saturating_sub(sent.origin));
        }
        in_flight + queued + again
    }

    /// For how long the oldest request in flight has been sent at `now`, in ns; 0 if there is none.
    pub(crate) fn oldest(&self, now: u64) -> u64 {
        self.connections
            .iter()
            .filter_map(|connection| connection.in_flight.front())
            .map(|sent| now.saturating_sub(sent.at))
            .max()
            .unwrap_or(0)
    }
}
