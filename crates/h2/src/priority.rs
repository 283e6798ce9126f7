//! Priorities (RFC 9218). Those of RFC 7540 are checked and ignored, as the server's SETTINGS announce.

/// The priority of the body of a reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Priority {
    /// The urgency: 0 is sent first, and 7 last.
    pub urgency: u8,
    /// True if it is sent in turns with others of its urgency, since the client can use a part of it.
    pub incremental: bool,
}

impl Default for Priority {
    /// The priority of a request without a Priority field. RFC 9218 §4 makes it not incremental. A client that supports
    /// priorities sends the field. A client that does not may wait for a small reply behind a large one, so it is
    /// incremental here.
    fn default() -> Self {
        Self {
            urgency: 3,
            incremental: true,
        }
    }
}

impl Priority {
    /// Parses a Priority field value: a dictionary (RFC 9218 §4, RFC 8941 §3.2). Unknown and malformed members are
    /// ignored.
    pub fn parse(value: &[u8]) -> Self {
        let mut priority = Self {
            urgency: 3,
            incremental: false,
        };
        for member in value.split(|byte| *byte == b',') {
            let member = member
                .split(|byte| *byte == b';')
                .next()
                .unwrap_or_default();
            match member.trim_ascii() {
                [b'u', b'=', urgency @ b'0'..=b'7'] => priority.urgency = urgency - b'0',
                b"i" | b"i=?1" => priority.incremental = true,
                b"i=?0" => priority.incremental = false,
                _ => {}
            }
        }
        priority
    }
}

/// Priorities of streams that are not open yet (RFC 9218 §7.1).
#[derive(Debug, Default)]
pub(crate) struct Early {
    streams: Vec<(u32, Priority)>,
}

impl Early {
    /// Keeps the priority of a stream. Returns true when there was room for it among `most`.
    pub fn keep(&mut self, stream: u32, priority: Priority, most: usize) -> bool {
        if let Some(known) = self.streams.iter_mut().find(|known| known.0 == stream) {
            known.1 = priority;
            return true;
        }
        if self.streams.len() >= most {
            return false;
        }
        self.streams.push((stream, priority));
        true
    }

    /// Gives the priority of a stream that is opened. Opening it closes all idle streams with lower ids (RFC 9113
    /// §5.1.1).
    #[inline]
    pub fn take(&mut self, stream: u32) -> Option<Priority> {
        if self.streams.is_empty() {
            return None;
        }
        let found = self.streams.iter().find(|known| known.0 == stream);
        let priority = found.map(|known| known.1);
        self.streams.retain(|known| known.0 > stream);
        if self.streams.is_empty() {
            self.streams = Vec::new();
        }
        priority
    }

    pub fn memory(&self) -> usize {
        self.streams.capacity() * size_of::<(u32, Priority)>()
    }
}

#[cfg(test)]
mod tests {
    use super::{Early, Priority};

    #[test]
    fn values_are_read_as_dictionaries() {
        for (value, urgency, incremental) in [
            ("", 3, false),
            ("u=0", 0, false),
            ("u=7, i", 7, true),
            ("i", 3, true),
            ("i=?1", 3, true),
            ("i=?0,u=5", 5, false),
            ("u=1,u=2", 2, false),
            ("u=1;a=b, i;c", 1, true),
            ("x=1, u=6", 6, false),
            ("u=8", 3, false),
            ("u=-1", 3, false),
            ("u=10", 3, false),
            ("U=1, I", 3, false),
            ("u = 1", 3, false),
            (",,;;==", 3, false),
        ] {
            let expected = Priority {
                urgency,
                incremental,
            };
            assert_eq!(Priority::parse(value.as_bytes()), expected, "{value}");
        }
    }

    #[test]
    fn a_stream_takes_its_early_priority_and_forgets_those_below() {
        let (first, second) = (Priority::parse(b"u=1"), Priority::parse(b"u=2"));
        let mut early = Early::default();
        assert!(early.keep(3, first, 2) && early.keep(7, first, 2) && early.keep(7, second, 2));
        assert!(!early.keep(9, first, 2));
        assert_eq!(early.take(5), None);
        assert_eq!(early.take(7), Some(second));
        assert_eq!(early.streams.capacity(), 0);
    }
}
