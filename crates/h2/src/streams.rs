//! The open streams of a connection (RFC 9113 §5.1). A stream is here from its head to the end of its reply or its
//! reset, so it has one of two states: open, or half-closed (remote).

use crate::Key;
use crate::flow::{Credit, Window};
use crate::priority::Priority;

#[derive(Clone, Debug)]
pub(crate) struct Stream {
    /// The id; 0 for a free place.
    pub id: u32,
    /// The window for sending.
    pub window: Window,
    /// The credit for receiving.
    pub credit: Credit,
    /// The bytes that its handler was given and has not consumed.
    pub held: u32,
    /// True once the client has sent `END_STREAM`.
    pub ended: bool,
    /// True if the request was refused, so that its body is discarded.
    pub discards: bool,
    pub wants_to_send: bool,
    pub priority: Priority,
    /// The cost of its small DATA frames that are not consumed yet.
    pub short: u32,
    /// The bytes of its body that are declared and have not arrived.
    pub missing: Option<u64>,
}

pub(crate) struct Streams {
    places: Vec<Stream>,
    free: Vec<u16>,
    /// A hash table by id with open addressing: places, or `NOWHERE`. At least half of it is empty.
    index: Box<[u16]>,
    open: usize,
    most: usize,
}

const NOWHERE: u16 = u16::MAX;

impl Streams {
    pub fn new(most: u32) -> Self {
        let most = (most as usize).min(usize::from(NOWHERE - 1));
        Self {
            places: Vec::new(),
            free: Vec::new(),
            index: vec![NOWHERE; (2 * most.max(1)).next_power_of_two()].into(),
            open: 0,
            most,
        }
    }

    pub fn open(&self) -> usize {
        self.open
    }

    /// Gives the most streams that may be open.
    pub fn most(&self) -> usize {
        self.most
    }

    pub fn is_full(&self) -> bool {
        self.open >= self.most
    }

    #[inline]
    pub fn find(&self, id: u32) -> Option<Key> {
        let place = self.index[self.slot_of(id)];
        (place != NOWHERE).then_some(Key(place))
    }

    /// Gives the stream of a key, unless it is gone.
    #[inline]
    pub fn get(&self, key: Key) -> Option<&Stream> {
        self.places
            .get(usize::from(key.0))
            .filter(|stream| stream.id != 0)
    }

    #[inline]
    pub fn get_mut(&mut self, key: Key) -> Option<&mut Stream> {
        self.places
            .get_mut(usize::from(key.0))
            .filter(|stream| stream.id != 0)
    }

    /// Adds a stream with a new id, if there is room for it.
    #[inline]
    pub fn insert(&mut self, stream: Stream) -> Option<Key> {
        if self.is_full() {
            return None;
        }
        let slot = self.slot_of(stream.id);
        let place = if let Some(place) = self.free.pop() {
            self.places[usize::from(place)] = stream;
            place
        } else {
            self.places.push(stream);
            (self.places.len() - 1) as u16
        };
        self.index[slot] = place;
        self.open += 1;
        Some(Key(place))
    }

    #[inline]
    pub fn remove(&mut self, key: Key) -> Option<Stream> {
        let id = self.get(key)?.id;
        self.unlink(self.slot_of(id));
        let stream = self.places.get_mut(usize::from(key.0))?;
        let removed = stream.clone();
        stream.id = 0;
        self.free.push(key.0);
        self.open -= 1;
        Some(removed)
    }

    pub fn keys(&self) -> impl Iterator<Item = (Key, &Stream)> {
        let places = self.places.iter().enumerate();
        places
            .filter(|(_, stream)| stream.id != 0)
            .map(|(place, stream)| (Key(place as u16), stream))
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Stream> {
        self.places.iter_mut().filter(|stream| stream.id != 0)
    }

    fn home(&self, id: u32) -> usize {
        // The ids of clients are odd and usually consecutive.
        (id >> 1) as usize & (self.index.len() - 1)
    }

    /// Gives the slot of an id in the index, or the slot where it would be.
    #[inline]
    fn slot_of(&self, id: u32) -> usize {
        let mut slot = self.home(id);
        while self.index[slot] != NOWHERE && self.places[usize::from(self.index[slot])].id != id {
            slot = (slot + 1) & (self.index.len() - 1);
        }
        slot
    }

    /// Empties a slot of the index, and moves up later entries whose probe sequence includes it.
    fn unlink(&mut self, slot: usize) {
        let mask = self.index.len() - 1;
        let mut hole = slot;
        let mut next = (hole + 1) & mask;
        while self.index[next] != NOWHERE {
            let wanted = self.home(self.places[usize::from(self.index[next])].id);
            if (next.wrapping_sub(wanted) & mask) >= (next.wrapping_sub(hole) & mask) {
                self.index[hole] = self.index[next];
                hole = next;
            }
            next = (next + 1) & mask;
        }
        self.index[hole] = NOWHERE;
    }

    pub fn memory(&self) -> usize {
        self.places.capacity() * size_of::<Stream>()
            + (self.index.len() + self.free.capacity()) * size_of::<u16>()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use mutants::Random;

    use super::{Stream, Streams};
    use crate::flow::{Credit, Window};
    use crate::priority::Priority;

    fn stream(id: u32) -> Stream {
        Stream {
            id,
            window: Window::new(0),
            credit: Credit::new(0),
            held: 0,
            ended: false,
            discards: false,
            wants_to_send: false,
            priority: Priority::default(),
            short: 0,
            missing: None,
        }
    }

    #[test]
    fn stays_small() {
        assert_eq!(size_of::<Stream>(), 56);
    }

    /// Compares with a map, for consecutive ids and for ids with the same hash.
    #[test]
    fn finds_what_was_inserted_and_not_removed() {
        let mut random = Random::new(1);
        for step in [2, 2 * 256, 2 * 128] {
            let mut streams = Streams::new(100);
            let mut model = HashMap::new();
            let mut id = 1;
            for _ in 0..5_000 {
                if random.chance(2) {
                    let key = streams.insert(stream(id));
                    assert_eq!(key.is_none(), model.len() == 100);
                    if let Some(key) = key {
                        assert!(model.values().all(|other| *other != key));
                        model.insert(id, key);
                    }
                    id += step;
                } else if let Some((&id, &key)) = model.iter().nth(random.below(100)) {
                    assert_eq!(streams.remove(key).map(|gone| gone.id), Some(id));
                    assert!(streams.get(key).is_none() && streams.remove(key).is_none());
                    model.remove(&id);
                }
                assert_eq!(streams.open(), model.len());
                assert!(
                    model
                        .iter()
                        .all(|(id, key)| streams.find(*id) == Some(*key))
                );
                assert_eq!(streams.find(id), None);
            }
        }
    }
}
