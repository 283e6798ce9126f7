//! Who is subscribed to what. Topics are exact names, and belong to one server.

use std::collections::HashMap;

use crate::connection::ConnectionId;

/// The place of a topic in its table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TopicId(u32);

/// What a socket knows of one of its topics.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subscription {
    pub topic: TopicId,
    /// Its place among the subscribers of the topic.
    pub place: u32,
}

/// What a topic knows of one of its subscribers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subscriber {
    pub connection: ConnectionId,
    /// The place of the subscription in the list of the socket.
    pub place: u32,
}

#[derive(Default)]
struct Topic {
    name: Box<[u8]>,
    subscribers: Vec<Subscriber>,
}

/// The topics of a server that have subscribers.
#[derive(Default)]
pub struct Topics {
    by_name: HashMap<Box<[u8]>, TopicId>,
    list: Vec<Topic>,
    free: Vec<TopicId>,
}

impl Topics {
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    pub fn find(&self, name: &[u8]) -> Option<TopicId> {
        self.by_name.get(name).copied()
    }

    pub fn subscribers(&self, topic: TopicId) -> &[Subscriber] {
        &self.list[topic.0 as usize].subscribers
    }

    /// Gives the topic of a name, which is new if nobody is subscribed to it. It has to get a subscriber at once.
    pub fn find_or_add(&mut self, name: &[u8]) -> TopicId {
        if let Some(topic) = self.find(name) {
            return topic;
        }
        let topic = self.free.pop().unwrap_or_else(|| {
            self.list.push(Topic::default());
            TopicId(self.list.len() as u32 - 1)
        });
        self.list[topic.0 as usize].name = name.into();
        self.by_name.insert(name.into(), topic);
        topic
    }

    /// Adds a subscriber, and gives its place.
    pub fn add(&mut self, topic: TopicId, subscriber: Subscriber) -> u32 {
        let subscribers = &mut self.list[topic.0 as usize].subscribers;
        subscribers.push(subscriber);
        subscribers.len() as u32 - 1
    }

    /// Notes that a subscription stands in another place of its socket's list.
    pub fn moved(&mut self, subscription: Subscription, place: u32) {
        let subscribers = &mut self.list[subscription.topic.0 as usize].subscribers;
        if let Some(subscriber) = subscribers.get_mut(subscription.place as usize) {
            subscriber.place = place;
        }
    }

    /// Removes a subscriber. Gives the one that has its place now, if there is one. A topic without subscribers goes.
    pub fn remove(&mut self, subscription: Subscription) -> Option<Subscriber> {
        let Subscription { topic, place } = subscription;
        let entry = &mut self.list[topic.0 as usize];
        entry.subscribers.swap_remove(place as usize);
        if entry.subscribers.is_empty() {
            let Topic { name, .. } = std::mem::take(entry);
            self.by_name.remove(&name);
            self.free.push(topic);
            return None;
        }
        entry.subscribers.get(place as usize).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subscriber(connection: u32, place: u32) -> Subscriber {
        Subscriber {
            connection: ConnectionId(connection),
            place,
        }
    }

    #[test]
    fn a_topic_lives_as_long_as_it_has_subscribers() {
        let mut topics = Topics::default();
        let a = topics.find_or_add(b"a");
        assert_eq!(topics.find_or_add(b"a"), a);
        assert_eq!(topics.add(a, subscriber(1, 0)), 0);
        assert_eq!(topics.add(a, subscriber(2, 0)), 1);
        let b = topics.find_or_add(b"b");
        topics.add(b, subscriber(1, 1));
        assert_ne!(a, b);

        let first = Subscription { topic: a, place: 0 };
        assert_eq!(topics.remove(first), Some(subscriber(2, 0)));
        assert_eq!(topics.remove(first), None);
        assert_eq!(topics.find(b"a"), None);
        assert_eq!(topics.find(b"b"), Some(b));
        assert_eq!(topics.find_or_add(b"c"), a, "the place is used again");
        assert!(topics.subscribers(a).is_empty());
    }
}
