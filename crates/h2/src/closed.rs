//! Remembers closed streams (RFC 9113 §5.1, "closed").

/// How a stream ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// Both sides have sent `END_STREAM`.
    Complete,
    /// The client reset it.
    Client,
    /// The server has reset it. Frames of it that the client sent before it knew are ignored.
    Server,
}

/// The streams that ended last. A frame of an older stream is an error.
///
/// They are stored in rings by their ids. Consecutive ids of a client use all rings equally, so they hold the last 256
/// streams, or twice as many as may be open if that is more. Any id is looked up in one ring only.
#[derive(Debug)]
pub(crate) struct Closed {
    /// The rings; empty until a stream has ended.
    rings: Vec<Ring>,
    /// The number of rings, a power of two.
    most: usize,
}

#[derive(Clone, Debug, Default)]
struct Ring {
    streams: Vec<(u32, End)>,
    oldest: usize,
}

/// The number of streams in a ring: more than twice the streams that may be open by default.
const A_RING: usize = 256;

impl Closed {
    /// Makes a memory for a session with at most `open` open streams.
    pub fn new(open: usize) -> Self {
        Self {
            rings: Vec::new(),
            most: (2 * open).div_ceil(A_RING).next_power_of_two(),
        }
    }

    #[inline]
    pub fn remember(&mut self, stream: u32, end: End) {
        if self.rings.is_empty() {
            self.rings = vec![Ring::default(); self.most];
        }
        if let Some(ring) = self.ring_of(stream) {
            ring.remember(stream, end);
        }
    }

    pub fn find(&mut self, stream: u32) -> Option<End> {
        self.known(stream).map(|end| *end)
    }

    /// Records that the server has reset a closed stream, so that further frames of it are ignored.
    pub fn ignore(&mut self, stream: u32) {
        match self.known(stream) {
            Some(end) => *end = End::Server,
            None => self.remember(stream, End::Server),
        }
    }

    /// Records that the client has ended, in this way, a stream that the server had ended. Returns true when this was
    /// not known.
    pub fn leave(&mut self, stream: u32, way: End) -> bool {
        match self.known(stream) {
            Some(end @ End::Server) => *end = way,
            Some(end @ End::Complete) if way == End::Client => *end = way,
            Some(_) | None => return false,
        }
        true
    }

    pub fn memory(&self) -> usize {
        let streams: usize = self.rings.iter().map(|ring| ring.streams.capacity()).sum();
        self.rings.capacity() * size_of::<Ring>() + streams * size_of::<(u32, End)>()
    }

    fn known(&mut self, stream: u32) -> Option<&mut End> {
        let ring = self.ring_of(stream)?;
        let known = ring.streams.iter_mut().find(|known| known.0 == stream);
        known.map(|known| &mut known.1)
    }

    #[inline]
    fn ring_of(&mut self, stream: u32) -> Option<&mut Ring> {
        // The ids of clients are odd.
        let at = (stream >> 1) as usize & (self.most - 1);
        self.rings.get_mut(at)
    }
}

impl Ring {
    #[inline]
    fn remember(&mut self, stream: u32, end: End) {
        if self.streams.len() < A_RING {
            self.streams.push((stream, end));
            return;
        }
        if let Some(place) = self.streams.get_mut(self.oldest) {
            *place = (stream, end);
        }
        self.oldest = (self.oldest + 1) % A_RING;
    }
}

#[cfg(test)]
mod tests {
    use super::{A_RING, Closed, End};

    #[test]
    fn the_oldest_is_forgotten() {
        for (open, kept) in [(0, 256), (100, 256), (128, 256), (129, 512), (1_000, 2_048)] {
            let mut closed = Closed::new(open);
            assert_eq!(closed.memory(), 0);
            for stream in 0..=kept {
                closed.remember(2 * stream + 1, End::Client);
            }
            assert_eq!(closed.find(1), None);
            assert!((1..=kept).all(|stream| closed.find(2 * stream + 1) == Some(End::Client)));
            closed.ignore(3);
            assert_eq!(closed.find(3), Some(End::Server));
            assert!(closed.rings.iter().all(|ring| ring.streams.len() <= A_RING));
        }
    }

    #[test]
    fn memory_is_for_what_was_opened() {
        let mut closed = Closed::new(65_534);
        for stream in 0..1_000 {
            closed.remember(2 * stream + 1, End::Complete);
        }
        assert!(closed.memory() < 64 * 1_024, "{}", closed.memory());
    }

    #[test]
    fn a_client_leaves_once_in_each_way() {
        let mut closed = Closed::new(100);
        closed.remember(1, End::Server);
        assert!(closed.leave(1, End::Complete) && closed.leave(1, End::Client));
        assert!(!closed.leave(1, End::Complete) && !closed.leave(1, End::Client));
        assert!(!closed.leave(3, End::Client));
    }
}
