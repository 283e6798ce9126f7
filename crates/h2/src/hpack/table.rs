//! The static table (RFC 7541 Appendix A), and the dynamic table as one buffer of bytes.

use std::collections::VecDeque;
use std::ops::Range;

use super::decode::{Error, Field};

/// The fields by index. Index 0 is not used.
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

/// For each index, the first index with the same name.
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

/// The indices by the hash of a name.
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

/// A perfect hash for the names of the static table. A search has found its factors.
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

/// Gives the first index of a name in the static table, 0 if it is not there. The comparison ignores case.
pub(super) fn static_name(name: &[u8]) -> u8 {
    let index = BY_HASH[hash(name)];
    let (known, _) = STATIC[usize::from(index)];
    if name.eq_ignore_ascii_case(known.as_bytes()) {
        index
    } else {
        0
    }
}

/// The place of a decoded name or value: outside of the table, or in its buffer.
pub(super) enum Text<'a> {
    Slice(&'a [u8]),
    Buffer(Range<usize>),
}

/// A decoded name, and the first index of the same name in the static table, or 0.
pub(super) struct Name<'a> {
    pub text: Text<'a>,
    pub index: u8,
}

/// The place of a field in the buffer. A name of the static table is not stored.
struct Entry {
    name: u32,
    name_length: u32,
    value: u32,
    value_length: u32,
    name_index: u8,
    /// True if the bytes of the name belong to an older field.
    is_shared: bool,
}

/// The dynamic table (§2.3.2). Fields are appended to one buffer, and evicted fields leave room at its start. The
/// fields are moved down when that room is as large as they are. While fields share long names, the buffer is copied
/// instead, when it is twice as large as the fields may be. The bytes behind the last field are for strings that are
/// being decoded.
pub(super) struct Table {
    buffer: Vec<u8>,
    /// The fields, the newest first.
    entries: VecDeque<Entry>,
    /// The number of fields that share their names.
    shared: usize,
    /// The size by §4.1.
    size: usize,
    most: usize,
    /// The limit of the size. It is larger than `most` only while the encoder has asked for less.
    limit: usize,
}

/// The overhead of a field in the size (§4.1).
const OVERHEAD: usize = 32;
/// Less room than this does not cause a move.
const LEAST_ROOM: usize = 512;
/// A longer name is shared between fields and not copied. Otherwise two bytes of a block would cost a copy of 4 KiB.
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

    /// Changes the size (§4.3). A size above the limit is an error.
    pub fn resize(&mut self, most: usize) -> Result<(), Error> {
        if most > self.limit {
            return Err(Error::SizeUpdate);
        }
        self.most = most;
        self.evict(0);
        Ok(())
    }

    /// Gives the field of an index.
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

    /// Gives the name of an index.
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

    /// Gives the buffer, to which strings are appended between `begin` and `end`.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Moves the fields down if that is due, and gives the offset at which strings will start.
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

    /// Removes the appended strings, from `start`.
    pub fn end(&mut self, start: usize) {
        self.buffer.truncate(start);
    }

    pub fn text<'a>(&'a self, text: &Text<'a>) -> &'a [u8] {
        match text {
            Text::Slice(slice) => slice,
            Text::Buffer(range) => &self.buffer[range.clone()],
        }
    }

    /// Adds a field. A field larger than the table empties it (§4.4). `start` is the result of `begin`.
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

    /// Frees the memory of a large string. After a block the buffer has at most three times the limit, and 1 KiB.
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

    /// Gives the bytes of memory that the table takes beside itself.
    pub fn memory(&self) -> usize {
        self.buffer.capacity() + self.entries.capacity() * size_of::<Entry>()
    }

    /// Gives the offset of the text in the buffer. It is appended unless it is already behind `start`.
    fn keep(&mut self, text: &Text, start: usize) -> usize {
        let at = self.buffer.len();
        match text {
            Text::Buffer(range) if range.start >= start => return range.start,
            Text::Buffer(range) => self.buffer.extend_from_within(range.clone()),
            Text::Slice(slice) => self.buffer.extend_from_slice(slice),
        }
        at
    }

    /// Evicts the oldest fields until there is room for `size`. Their bytes stay in the buffer until it is moved.
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

    /// Gives the number of bytes before the oldest field, if no field shares its name.
    fn unused(&self) -> usize {
        let oldest = self.entries.back();
        oldest.map_or(self.buffer.len(), |entry| {
            entry.name.min(entry.value) as usize
        })
    }

    /// Copies the fields, each with its own name. They take no more than the table may have.
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
