//! Reads the reply records that JavaScript wrote. JavaScript is trusted, but a bug there must give a failed reply and
//! not undefined behaviour: every range is checked before it becomes a slice.

use crate::layout::{RECORD_WORDS, record};

/// One reply record, copied out of the shared memory.
#[derive(Clone, Copy, Debug)]
pub struct Record(pub [i32; RECORD_WORDS]);

impl Record {
    pub fn slot(&self) -> u32 {
        self.0[record::SLOT] as u32
    }

    pub fn generation(&self) -> u32 {
        self.0[record::GENERATION] as u32
    }

    pub fn operation(&self) -> i32 {
        self.0[record::OPERATION] & 0xff
    }

    /// Id of a content type the engine knows; 0 when the header block carries it or there is none.
    pub fn content_type(&self) -> u8 {
        (self.0[record::OPERATION] >> 8) as u8
    }

    pub fn status(&self) -> u16 {
        (self.0[record::OPERATION] >> 16) as u16
    }

    /// Flags of `data` stand where other records have their status.
    pub fn flags(&self) -> i32 {
        self.0[record::OPERATION] >> 16
    }

    /// The header block inside `out`; `None` when the record's range is not inside it.
    pub fn headers<'a>(&self, out: &'a [u8]) -> Option<HeaderBlock<'a>> {
        let bytes = range(
            out,
            self.0[record::HEADERS_OFFSET],
            self.0[record::HEADERS_LENGTH],
        )?;
        Some(HeaderBlock { bytes })
    }

    /// The topic of a `publish` inside `out`; `None` when the record's range is not inside it.
    pub fn topic<'a>(&self, out: &'a [u8]) -> Option<&'a [u8]> {
        range(
            out,
            self.0[record::HEADERS_OFFSET],
            self.0[record::HEADERS_LENGTH],
        )
    }

    /// The body inside `out`; `None` when the record's range is not inside it.
    pub fn body<'a>(&self, out: &'a [u8]) -> Option<&'a [u8]> {
        range(
            out,
            self.0[record::BODY_OFFSET],
            self.0[record::BODY_LENGTH],
        )
    }

    /// Index in the reference list of a body that was handed over by reference.
    pub fn reference(&self) -> Option<u32> {
        (self.0[record::REFERENCE] > 0).then(|| self.0[record::REFERENCE] as u32 - 1)
    }

    /// The length of the body when it was handed over; `None` when the record's number cannot be a length.
    pub fn body_length(&self) -> Option<usize> {
        usize::try_from(self.0[record::BODY_LENGTH]).ok()
    }

    /// The declared length of a streamed reply; `None` when it was declared unknown.
    pub fn declared_length(&self) -> Option<u64> {
        let high = self.0[record::BODY_LENGTH];
        (high >= 0).then(|| (high as u64) << 32 | u64::from(self.0[record::BODY_OFFSET] as u32))
    }

    /// The number carried by `read` and `credit`.
    pub fn amount(&self) -> u32 {
        self.0[record::BODY_OFFSET].max(0) as u32
    }
}

fn range(out: &[u8], offset: i32, length: i32) -> Option<&[u8]> {
    let start = usize::try_from(offset).ok()?;
    let length = usize::try_from(length).ok()?;
    out.get(start..start.checked_add(length)?)
}

/// Name and value pairs as JavaScript packed them. Lengths stand before the bytes, so no byte inside a
/// value can look like the end of a line.
#[derive(Clone, Debug)]
pub struct HeaderBlock<'a> {
    bytes: &'a [u8],
}

impl<'a> HeaderBlock<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

impl<'a> Iterator for HeaderBlock<'a> {
    /// `None` inside marks a block that is cut short.
    type Item = Option<(&'a [u8], &'a [u8])>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.bytes.is_empty() {
            return None;
        }
        let pair = split_pair(self.bytes);
        self.bytes = pair.map_or(&[], |(_, _, rest)| rest);
        Some(pair.map(|(name, value, _)| (name, value)))
    }
}

fn split_pair(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (head, rest) = bytes.split_at_checked(4)?;
    let name = usize::from(u16::from_le_bytes([head[0], head[1]]));
    let value = usize::from(u16::from_le_bytes([head[2], head[3]]));
    let (name, rest) = rest.split_at_checked(name)?;
    let (value, rest) = rest.split_at_checked(value)?;
    Some((name, value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(pairs: &[(&[u8], &[u8])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (name, value) in pairs {
            bytes.extend((name.len() as u16).to_le_bytes());
            bytes.extend((value.len() as u16).to_le_bytes());
            bytes.extend(*name);
            bytes.extend(*value);
        }
        bytes
    }

    #[test]
    fn pairs_come_back_as_packed() {
        let bytes = block(&[(b"a", b"1\r\nb: 2"), (b"set-cookie", b"")]);
        let pairs: Vec<_> = HeaderBlock::new(&bytes).collect();
        assert_eq!(
            pairs,
            [
                Some((&b"a"[..], &b"1\r\nb: 2"[..])),
                Some((&b"set-cookie"[..], &b""[..]))
            ]
        );
    }

    #[test]
    fn a_block_cut_anywhere_ends_in_none_and_never_panics() {
        let bytes = block(&[(b"name", b"value"), (b"x", b"y")]);
        for cut in 1..bytes.len() {
            let pairs: Vec<_> = HeaderBlock::new(&bytes[..cut]).collect();
            let whole = block(&[(b"name", b"value")]).len();
            assert_eq!(pairs.last().copied().flatten().is_none(), cut != whole);
        }
    }

    #[test]
    fn ranges_outside_the_reply_memory_are_refused() {
        let mut record = Record([0; RECORD_WORDS]);
        for (offset, length) in [(-1, 4), (0, -1), (8, 9), (i32::MAX, i32::MAX), (17, 0)] {
            record.0[record::BODY_OFFSET] = offset;
            record.0[record::BODY_LENGTH] = length;
            assert!(record.body(&[0; 16]).is_none(), "{offset} {length}");
        }
        record.0[record::BODY_OFFSET] = 16;
        record.0[record::BODY_LENGTH] = 0;
        assert_eq!(record.body(&[0; 16]), Some(&[][..]));
    }

    #[test]
    fn declared_lengths_pass_32_bits() {
        let mut record = Record([0; RECORD_WORDS]);
        record.0[record::BODY_OFFSET] = -1;
        record.0[record::BODY_LENGTH] = 3;
        assert_eq!(record.declared_length(), Some((3 << 32) | 0xffff_ffff));
        record.0[record::BODY_LENGTH] = -1;
        assert_eq!(record.declared_length(), None);
    }
}
