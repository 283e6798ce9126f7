//! The static table (RFC 7541 Appendix A), and the dynamic table as one buffer of bytes.

use std::collections::VecDeque;
use std::ops::Range;

use super::decode::{Error, Field};

/// Fields by index; the first stands for index 0, which names nothing.
#[rustfmt::skip]
pub(super) static STATIC: [(&str, &str); 62] = [
    ("", ""),
    (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"), (":path", "/index.html"),
    (":scheme", "http"), (":scheme", "https"), (":status", "200"), (":status", "204"), (":status", "206"),
    (":status", "304"), (":status", "400"), (":status", "404"), (":status", "500"), ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"), ("accept-language", ""), ("accept-ranges", ""), ("accept", ""),
    ("access-control-allow-origin", ""), ("age", ""), ("allow", ""), ("authorization", ""), ("cache-control", ""),
    ("content-disposition", ""), ("content-encoding", ""), ("content-language", ""), ("content-length", ""),
    ("content-location", ""), ("content-range", ""), ("content-type", ""), ("cookie", ""), ("date", ""), ("etag", ""),
    ("expect", ""), ("expires", ""), ("from", ""), ("host", ""), ("if-match", ""), ("if-modified-since", ""),
    ("if-none-match", ""), ("if-range", ""), ("if-unmodified-since", ""), ("last-modified", ""), ("link", ""),
    ("location", ""), ("max-forwards", ""), ("proxy-authenticate", ""), ("proxy-authorization", ""), ("range", ""),
    ("referer", ""), ("refresh", ""), ("retry-after", ""), ("server", ""), ("set-cookie", ""),
    ("strict-transport-security", ""), ("transfer-encoding", ""), ("user-agent", ""), ("vary", ""), ("via", ""),
    ("www-authenticate", ""),
];
/// The first index of the dynamic table.
const DYNAMIC: u32 = STATIC.len() as u32;

/// By index, the first index of the same name.
static FIRST: [u8; STATIC.len()] = {
    let mut first = [0; STATIC.len()];
    let mut index = 1;
    while index < STATIC.len() {
        first[index] = match index {
            2..=3 => 2,
            4..=5 => 4,
            6..=7 => 6,
            8..=14 => 8,
            _ => index as u8,
        };
        index += 1;
    }
    first
};

/// Indices by the hash of a name.
static BY_HASH: [u8; 128] = {
    let mut indices = [0; 128];
    let mut index = 1;
    while index < STATIC.len() {
        if FIRST[index] == index as u8 {
            let place = hash(STATIC[index].0.as_bytes());
            assert!(indices[place] == 0, "two names of one hash");
            indices[place] = index as u8;
        }
        index += 1;
    }
    indices
};

/// The factors were searched for: they give every name of the static table a place of its own.
const fn hash(name: &[u8]) -> usize {
    match name {
        [] => 0,
        [first, ..] => {
            let last = name[name.len() - 1];
            let sum =
                name.len() * 233 + (*first | 0x20) as usize * 55 + (last | 0x20) as usize * 102;
            sum >> 2 & 127
        }
    }
}

/// The first index of a name in the static table, 0 where it has none. The case of letters does not matter.
pub(super) fn static_name(name: &[u8]) -> u8 {
    let index = BY_HASH[hash(name)];
    let (known, _) = STATIC[usize::from(index)];
    if name.eq_ignore_ascii_case(known.as_bytes()) {
        index
    } else {
        0
    }
}

/// Where a name or a value is that was read: outside of the table, or in its buffer.
pub(super) enum Text<'a> {
    Slice(&'a [u8]),
    Buffer(Range<usize>),
}

/// A name that was read, and the first index of the same name in the static table, or 0.
pub(super) struct Name<'a> {
    pub text: Text<'a>,
    pub index: u8,
}

/// What the table keeps of a field: where its bytes are in the buffer. A name of the static table is not kept.
struct Entry {
    name: u32,
    name_length: u32,
    value: u32,
    value_length: u32,
    name_index: u8,
    /// The name stands where an older field of it has it.
    is_shared: bool,
}

/// The dynamic table (§2.3.2). Fields are appended to one buffer, in which the oldest leave room at the start; it is
/// moved down when that room is as large as what is kept. While fields share long names it is copied instead, when it has
/// twice what may be kept. What stands behind the last field is for strings on their way.
pub(super) struct Table {
    buffer: Vec<u8>,
    /// The newest is first.
    entries: VecDeque<Entry>,
    /// How many share their names.
    shared: usize,
    /// As §4.1 counts it.
    size: usize,
    most: usize,
    /// Above `most` only while the encoder asked for less.
    limit: usize,
}

/// What a field costs beyond its bytes (§4.1).
const OVERHEAD: usize = 32;
/// Less than this is not worth a move.
const LEAST_ROOM: usize = 512;
/// A longer name is not copied for another field of it: two bytes of a block would cost a copy of 4 KiB.
const LONGEST_COPY: usize = 128;

impl Table {
    pub fn new(limit: usize) -> Self {
        Self {
            buffer: Vec::new(),
            entries: VecDeque::new(),
            shared: 0,
            size: 0,
            most: limit,
            limit,
        }
    }

    /// Changes the size (§4.3); more than the limit is an error.
    pub fn resize(&mut self, most: usize) -> Result<(), Error> {
        if most > self.limit {
            return Err(Error::SizeUpdate);
        }
        self.most = most;
        self.evict(0);
        Ok(())
    }

    /// The field of an index.
    #[inline]
    pub fn get(&self, index: u32) -> Result<Field<'_>, Error> {
        if let Some((name, value)) = STATIC.get(index as usize) {
            return match index {
                0 => Err(Error::Index),
                _ => Ok(Field {
                    name: name.as_bytes(),
                    value: value.as_bytes(),
                    name_index: FIRST[index as usize],
                    sensitive: false,
                }),
            };
        }
        let entry = self.entries.get((index - DYNAMIC) as usize);
        let entry = entry.ok_or(Error::Index)?;
        Ok(Field {
            name: self.name_of(entry),
            value: self.bytes(entry.value, entry.value_length),
            name_index: entry.name_index,
            sensitive: false,
        })
    }

    /// The name of an index.
    pub fn name(&self, index: u32) -> Result<Name<'static>, Error> {
        if let Some((name, _)) = STATIC.get(index as usize) {
            return match index {
                0 => Err(Error::Index),
                _ => Ok(Name {
                    text: Text::Slice(name.as_bytes()),
                    index: FIRST[index as usize],
                }),
            };
        }
        let entry = self.entries.get((index - DYNAMIC) as usize);
        let entry = entry.ok_or(Error::Index)?;
        let text = match entry.name_index {
            0 => Text::Buffer(entry.name as usize..(entry.name + entry.name_length) as usize),
            known => Text::Slice(STATIC[usize::from(known)].0.as_bytes()),
        };
        Ok(Name {
            text,
            index: entry.name_index,
        })
    }

    /// Where strings on their way are appended, between `begin` and `end`.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Moves what is kept down where that is due, and says where strings on their way will start.
    pub fn begin(&mut self) -> usize {
        if self.shared > 0 {
            if self.buffer.len() > 2 * self.limit + LEAST_ROOM {
                self.rebuild();
            }
            return self.buffer.len();
        }
        let unused = self.unused();
        if unused >= LEAST_ROOM.max(self.buffer.len() - unused) {
            self.move_down(unused);
        }
        self.buffer.len()
    }

    /// Forgets the strings on their way, from `start`.
    pub fn end(&mut self, start: usize) {
        self.buffer.truncate(start);
    }

    pub fn text<'a>(&'a self, text: &Text<'a>) -> &'a [u8] {
        match text {
            Text::Slice(slice) => slice,
            Text::Buffer(range) => &self.buffer[range.clone()],
        }
    }

    /// Adds a field; one larger than the table empties it (§4.4). `start` is what `begin` gave.
    pub fn insert(&mut self, name: &Name, value: &Text, start: usize) {
        let (name_length, value_length) = (self.text(&name.text).len(), self.text(value).len());
        let size = name_length + value_length + OVERHEAD;
        self.evict(size);
        if size > self.most {
            self.end(start);
            return;
        }
        let mut is_shared = false;
        let name_at = match (name.index, &name.text) {
            (0, Text::Buffer(range)) if range.start < start && name_length > LONGEST_COPY => {
                is_shared = true;
                range.start
            }
            (0, text) => self.keep(text, start),
            _ => start,
        };
        self.shared += usize::from(is_shared);
        let value_at = self.keep(value, start);
        self.entries.push_front(Entry {
            name: name_at as u32,
            name_length: name_length as u32,
            value: value_at as u32,
            value_length: value_length as u32,
            name_index: name.index,
            is_shared,
        });
        self.size += size;
    }

    /// Frees memory that a large string took. After a block the buffer has at most three times the limit, and 1 KiB.
    pub fn shrink(&mut self) {
        let most = 3 * self.limit + 1_024;
        if self.buffer.capacity() > most {
            if self.shared > 0 {
                self.rebuild();
            } else {
                self.move_down(self.unused());
            }
            self.buffer.shrink_to(most);
        }
    }

    /// How many bytes the table takes beside itself.
    pub fn memory(&self) -> usize {
        self.buffer.capacity() + self.entries.capacity() * size_of::<Entry>()
    }

    /// Where the text stands in the buffer, where it is appended unless it already stands behind `start`.
    fn keep(&mut self, text: &Text, start: usize) -> usize {
        let at = self.buffer.len();
        match text {
            Text::Buffer(range) if range.start >= start => return range.start,
            Text::Buffer(range) => self.buffer.extend_from_within(range.clone()),
            Text::Slice(slice) => self.buffer.extend_from_slice(slice),
        }
        at
    }

    /// Drops the oldest fields until another of `size` has room. Their bytes stay until they are moved over.
    fn evict(&mut self, size: usize) {
        while self.size + size > self.most {
            let Some(oldest) = self.entries.pop_back() else {
                break;
            };
            self.shared -= usize::from(oldest.is_shared);
            let name = self.name_of(&oldest).len();
            self.size -= name + oldest.value_length as usize + OVERHEAD;
        }
    }

    /// How many bytes stand before the oldest field, where none shares its name.
    fn unused(&self) -> usize {
        let oldest = self.entries.back();
        oldest.map_or(self.buffer.len(), |entry| {
            entry.name.min(entry.value) as usize
        })
    }

    /// Copies what is kept, which takes no more than the table may have, each name for its own field.
    #[cold]
    fn rebuild(&mut self) {
        let mut buffer = Vec::with_capacity(self.size);
        for entry in self.entries.iter_mut().rev() {
            let mut copy = |at: u32, length: u32| {
                let moved = buffer.len() as u32;
                let bytes = self.buffer.get(at as usize..at as usize + length as usize);
                buffer.extend_from_slice(bytes.unwrap_or_default());
                moved
            };
            if entry.name_index == 0 {
                entry.name = copy(entry.name, entry.name_length);
                entry.value = copy(entry.value, entry.value_length);
            } else {
                entry.value = copy(entry.value, entry.value_length);
                entry.name = entry.value;
            }
            entry.is_shared = false;
        }
        self.shared = 0;
        self.buffer = buffer;
    }

    fn move_down(&mut self, by: usize) {
        self.buffer.drain(..by);
        for entry in &mut self.entries {
            entry.name -= by as u32;
            entry.value -= by as u32;
        }
    }

    #[inline]
    fn name_of(&self, entry: &Entry) -> &[u8] {
        match entry.name_index {
            0 => self.bytes(entry.name, entry.name_length),
            known => STATIC[usize::from(known)].0.as_bytes(),
        }
    }

    #[inline]
    fn bytes(&self, at: u32, length: u32) -> &[u8] {
        &self.buffer[at as usize..at as usize + length as usize]
    }
}
