//! Paths without parameters, in one hash table over whole paths: a lookup costs the same at any number of routes.

/// The multiplier is odd and its bits are well mixed: it is the fractional part of the golden ratio.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

const EMPTY: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Entry {
    hash: u64,
    start: u32,
    len: u32,
    leaf: u32,
}

const VACANT: Entry = Entry {
    hash: 0,
    start: 0,
    len: 0,
    leaf: EMPTY,
};

/// A table with open addressing, at most half full. Only routes add entries, so a hostile path costs at most its own
/// hash and the longest run of entries that the routes made: the hash needs no secret.
#[derive(Debug)]
pub(crate) struct Statics {
    entries: Vec<Entry>,
    used: usize,
    text: Vec<u8>,
    longest: usize,
    case_sensitive: bool,
}

impl Statics {
    pub(crate) fn new(case_sensitive: bool) -> Self {
        Self {
            entries: vec![VACANT; 16],
            used: 0,
            text: Vec::new(),
            longest: 0,
            case_sensitive,
        }
    }

    /// Gives the leaf of `path`. A path longer than every route is not hashed.
    #[inline(always)]
    pub(crate) fn find(&self, path: &[u8]) -> Option<u32> {
        if path.len() > self.longest {
            return None;
        }
        let hash = self.hash(path);
        let mut at = self.slot(hash);
        loop {
            let entry = self.entries[at];
            if entry.leaf == EMPTY {
                return None;
            }
            if entry.hash == hash && self.same(entry, path) {
                return Some(entry.leaf);
            }
            at = (at + 1) & (self.entries.len() - 1);
        }
    }

    /// Gives the leaf of `path`, which is `leaf` if it had none.
    pub(crate) fn insert(&mut self, path: &[u8], leaf: u32) -> u32 {
        self.longest = self.longest.max(path.len());
        if let Some(existing) = self.find(path) {
            return existing;
        }
        if (self.used + 1) * 2 > self.entries.len() {
            self.grow();
        }
        let entry = Entry {
            hash: self.hash(path),
            start: self.text.len() as u32,
            len: path.len() as u32,
            leaf,
        };
        self.text.extend_from_slice(path);
        self.used += 1;
        self.place(entry);
        leaf
    }

    fn grow(&mut self) {
        let doubled = vec![VACANT; self.entries.len() * 2];
        for entry in std::mem::replace(&mut self.entries, doubled) {
            if entry.leaf != EMPTY {
                self.place(entry);
            }
        }
    }

    fn place(&mut self, entry: Entry) {
        let mut at = self.slot(entry.hash);
        while self.entries[at].leaf != EMPTY {
            at = (at + 1) & (self.entries.len() - 1);
        }
        self.entries[at] = entry;
    }

    #[inline]
    fn slot(&self, hash: u64) -> usize {
        hash as usize & (self.entries.len() - 1)
    }

    #[inline]
    fn same(&self, entry: Entry, path: &[u8]) -> bool {
        if entry.len as usize != path.len() {
            return false;
        }
        let start = entry.start as usize;
        let text = &self.text[start..start + path.len()];
        text == path || (!self.case_sensitive && text.eq_ignore_ascii_case(path))
    }

    /// Multiplies and folds eight bytes at a time. Without case, bit 5 of every byte is set, so letters of either case
    /// hash alike. `same` tells apart the other bytes that then hash alike.
    #[inline(always)]
    fn hash(&self, path: &[u8]) -> u64 {
        let fold = if self.case_sensitive {
            0
        } else {
            0x2020_2020_2020_2020
        };
        let mut hash = MULTIPLIER ^ path.len() as u64;
        let mut chunks = path.chunks_exact(8);
        for chunk in &mut chunks {
            let mut word = [0; 8];
            word.copy_from_slice(chunk);
            hash = mix(hash, u64::from_le_bytes(word) | fold);
        }
        let mut word = 0;
        for &byte in chunks.remainder() {
            word = word << 8 | u64::from(byte);
        }
        mix(hash, word | fold)
    }
}

#[inline]
fn mix(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ word) * u128::from(MULTIPLIER);
    (product >> 64) as u64 ^ product as u64
}
