//! Subscriptions, and the messages that are published to them.
//!
//! What is published is framed once and waits until the end of the step, or until a record needs it sent: one that sends,
//! closes, subscribes or unsubscribes. So a socket gets everything in the order of the records, and all that was
//! published to one topic goes out with one system call for each subscriber.

use std::rc::Rc;

use ring::Record;
use ring::layout::{REFERENCE_BYTES, operation_flag};

use super::SocketSpec;
use super::sends::opcode;
use super::topics::{Subscriber, Subscription, TopicId};
use crate::connection::ConnectionId;
use crate::engine::Core;
use crate::exchange::Slot;
use crate::http1::replies::body_of;
use crate::output::{Body, Retained};
use crate::records::References;
use crate::slice::Notice;

/// A message that was published and not sent yet.
struct Publication {
    server: u16,
    topic: TopicId,
    /// The publisher, which does not get it.
    except: Option<ConnectionId>,
    text: bool,
    /// Where its frame and its payload begin, and where both end, in the gathered bytes.
    frame: usize,
    payload: usize,
    end: usize,
}

impl Publication {
    fn length(&self) -> usize {
        self.end - self.payload
    }
}

/// What was published in this step.
#[derive(Default)]
pub struct Publishing {
    waiting: Vec<Publication>,
    /// The frames of all of them.
    bytes: Vec<u8>,
    /// The receivers of the messages that are being sent. It is kept, so that publishing allocates nothing.
    receivers: Vec<ConnectionId>,
    /// The tokens of sockets whose messages were dropped.
    dropped: Vec<u64>,
}

/// The frames that every subscriber gets, plain and compressed.
struct Frames<'a> {
    plain: &'a [u8],
    /// Is empty until somebody needs it.
    packed: Vec<u8>,
    /// The plain frames where sockets that do not take them at once leave them.
    kept: Option<Rc<Body>>,
}

/// Frames that several sockets wait for.
struct Shared(Rc<Vec<u8>>);

impl Retained for Shared {
    fn bytes(&self) -> Option<&[u8]> {
        Some(&self.0)
    }
}

/// The most bytes of frames that stay allocated between steps.
const KEPT_BYTES: usize = 262_144;
/// The most bytes of several messages that are sent to a socket together.
const RUN_BYTES: usize = 65_536;

impl Publishing {
    #[inline]
    pub fn has_work(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub fn tell_dropped(&mut self, token: u64) {
        self.dropped.push(token);
    }
}

impl Core {
    pub fn subscribe(&mut self, id: ConnectionId, name: &[u8]) {
        self.deliver_published();
        let Some((_, socket, server, _)) =
            self.connections.socket_with_server(&mut self.servers, id)
        else {
            return;
        };
        if !socket.is_open() {
            return;
        }
        if let Some(topic) = server.topics.find(name)
            && socket.subscriptions.iter().any(|each| each.topic == topic)
        {
            return;
        }
        let topic = server.topics.find_or_add(name);
        let subscriber = Subscriber {
            connection: id,
            place: socket.subscriptions.len() as u32,
        };
        let place = server.topics.add(topic, subscriber);
        socket.subscriptions.push(Subscription { topic, place });
    }

    pub fn unsubscribe(&mut self, id: ConnectionId, name: &[u8]) {
        self.deliver_published();
        let Some((_, socket, server, _)) =
            self.connections.socket_with_server(&mut self.servers, id)
        else {
            return;
        };
        let Some(topic) = server.topics.find(name) else {
            return;
        };
        let mut places = socket.subscriptions.iter();
        let Some(at) = places.position(|each| each.topic == topic) else {
            return;
        };
        let subscription = socket.subscriptions.swap_remove(at);
        if let Some(moved) = socket.subscriptions.get(at) {
            server.topics.moved(*moved, at as u32);
        }
        self.remove_subscriber(id, subscription);
    }

    /// Ends all subscriptions of a socket.
    pub fn unsubscribe_all(&mut self, id: ConnectionId) {
        let Some((_, socket)) = self.connections.socket(id) else {
            return;
        };
        for subscription in std::mem::take(&mut socket.subscriptions) {
            self.remove_subscriber(id, subscription);
        }
    }

    fn remove_subscriber(&mut self, id: ConnectionId, subscription: Subscription) {
        let Some((_, server)) = self.connections.with_server(&mut self.servers, id) else {
            return;
        };
        // The last subscriber of the topic has the place now.
        if let Some(moved) = server.topics.remove(subscription)
            && let Some((_, socket)) = self.connections.socket(moved.connection)
            && let Some(other) = socket.subscriptions.get_mut(moved.place as usize)
        {
            other.place = subscription.place;
        }
    }

    /// Takes a `publish` record. It names the socket that publishes, or a server.
    pub fn publish(&mut self, record: &Record, out: &[u8], references: &dyn References) {
        let slot = Slot(record.slot());
        let (server, except) = if slot == Slot::NONE {
            (record.generation() as u16, None)
        } else {
            match self.exchanges.live(slot, record.generation()) {
                Some(exchange) => (exchange.server, Some(exchange.connection)),
                None => return,
            }
        };
        let (Some(name), Some(data)) = (record.topic(out), body_of(record, out, references)) else {
            return;
        };
        let Some(topic) = self
            .servers
            .get(server)
            .and_then(|server| server.topics.find(name))
        else {
            return;
        };
        let Publishing { waiting, bytes, .. } = &mut self.publishing;
        let text = record.flags() & operation_flag::TEXT != 0;
        let frame = bytes.len();
        bytes.extend_from_slice(&ws::frame_head(opcode(text), data.len(), false));
        let payload = bytes.len();
        bytes.extend_from_slice(data);
        waiting.push(Publication {
            server,
            topic,
            except,
            text,
            frame,
            payload,
            end: bytes.len(),
        });
        // A loop that publishes without end is not gathered without end.
        if self.publishing.bytes.len() > KEPT_BYTES {
            self.deliver_published();
        }
    }

    /// Sends what was published in this step.
    #[inline]
    pub fn deliver_published(&mut self) {
        if self.publishing.has_work() {
            self.deliver_waiting();
        }
    }

    fn deliver_waiting(&mut self) {
        // What the step has gathered for one socket comes before it.
        self.leave_cork();
        let waiting = std::mem::take(&mut self.publishing.waiting);
        let mut bytes = std::mem::take(&mut self.publishing.bytes);
        for same in waiting.chunk_by(|one, next| {
            (one.server, one.topic, one.except) == (next.server, next.topic, next.except)
        }) {
            let mut rest = same;
            while let Some(first) = rest.first() {
                // What is sent together is taken or refused together, so it is little, or one message.
                let most = first.frame + RUN_BYTES;
                let length = rest.partition_point(|each| each.end <= most).max(1);
                let (run, others) = rest.split_at(length);
                self.deliver_run(run, &bytes);
                rest = others;
            }
        }
        bytes.clear();
        if bytes.capacity() > KEPT_BYTES {
            bytes = Vec::new();
        }
        let mut waiting = waiting;
        waiting.clear();
        self.publishing.waiting = waiting;
        self.publishing.bytes = bytes;
    }

    /// Sends messages that follow each other and have the same receivers.
    fn deliver_run(&mut self, run: &[Publication], bytes: &[u8]) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else {
            return;
        };
        let Some(server) = self.servers.get(first.server) else {
            return;
        };
        let mut receivers = std::mem::take(&mut self.publishing.receivers);
        receivers.clear();
        let subscribers = server.topics.subscribers(first.topic);
        receivers.extend(subscribers.iter().map(|each| each.connection));
        let mut frames = Frames {
            plain: &bytes[first.frame..last.end],
            packed: Vec::new(),
            kept: None,
        };
        for &id in &receivers {
            if Some(id) != first.except {
                self.guarded(id, |core| core.deliver(id, run, bytes, &mut frames));
            }
        }
        self.publishing.receivers = receivers;
    }

    fn deliver(
        &mut self,
        id: ConnectionId,
        run: &[Publication],
        bytes: &[u8],
        frames: &mut Frames,
    ) {
        let Some((_, socket, _, spec)) = self.connections.socket_with_server(&mut self.servers, id)
        else {
            return;
        };
        if !socket.is_open() {
            return;
        }
        let longest = socket.longest;
        let mut lengths = run.iter().map(Publication::length);
        if longest > 0
            && lengths.clone().all(|length| length <= longest)
            && lengths.any(|length| spec.compresses(length, longest))
        {
            if frames.packed.is_empty() {
                self.pack(run, bytes, &spec, &mut frames.packed);
            }
            if self.fits(id, frames.packed.len(), run.len()) {
                self.send_at_once(id, &frames.packed, |_| None);
            }
            return;
        }
        if !self.fits(id, frames.plain.len(), run.len()) {
            return;
        }
        let (plain, kept) = (frames.plain, &mut frames.kept);
        self.send_at_once(id, plain, |bodies| {
            if plain.len() < REFERENCE_BYTES {
                return None;
            }
            if kept.is_none() {
                let shared = Rc::new(plain.to_vec());
                let body = Shared(shared.clone());
                *kept = bodies.keep(&shared, || Some(Box::new(body)));
            }
            kept.clone()
        });
    }

    /// Appends the frames of messages, compressed where the route wants that.
    fn pack(&mut self, run: &[Publication], bytes: &[u8], spec: &SocketSpec, out: &mut Vec<u8>) {
        for each in run {
            if spec.compresses(each.length(), usize::MAX) {
                let payload = &bytes[each.payload..each.end];
                self.compression.frame(opcode(each.text), payload, out);
            } else {
                out.extend_from_slice(&bytes[each.frame..each.end]);
            }
        }
    }

    /// Tells JavaScript how many messages were dropped.
    pub fn tell_of_dropped(&mut self) {
        while let Some(token) = self.publishing.dropped.pop() {
            if let Some(id) = self.connections.resolve(token)
                && let Some((_, socket)) = self.connections.socket(id)
                && socket.is_busy()
            {
                let dropped = std::mem::take(&mut socket.dropped);
                let about = self.exchanges.identity(socket.slot);
                self.slice.notify(None, Notice::dropped(about, dropped));
            }
        }
    }
}
