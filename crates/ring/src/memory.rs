//! The block of shared memory, and the views into it.

use std::ptr::NonNull;
use std::slice;

use crate::layout::{
    ARENA_BYTES, ARENA_IN_PAGE, MAX_RECORDS, MAX_SLICE, OUT_BYTES, OUT_OFFSET, PAGE_WORDS, PAGES,
    RECORD_WORDS, RECORDS_OFFSET, REQUEST_WORDS, REQUESTS_OFFSET, SPAN_WORDS, SPANS_IN_PAGE,
    TOTAL_BYTES, control,
};
use crate::record::Record;

/// The address of the shared memory. It lives as long as the `ArrayBuffer` behind it, which the `node` crate keeps by a
/// reference.
pub struct Memory {
    words: NonNull<i32>,
    /// Set when this side allocated the memory itself, as tests and fuzzers do.
    owned: bool,
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.owned {
            let words = std::ptr::slice_from_raw_parts_mut(self.words.as_ptr(), TOTAL_BYTES / 4);
            // SAFETY: `owned` is set only by `owned()`, which leaked exactly this box.
            drop(unsafe { Box::from_raw(words) });
        }
    }
}

/// One of the two pages, by its index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Page(pub usize);

impl Page {
    #[must_use]
    pub fn other(self) -> Self {
        Self((self.0 + 1) % PAGES)
    }

    /// Offset in bytes of the page's arena from the start of the shared memory.
    pub fn arena_offset(self) -> usize {
        (REQUESTS_OFFSET + self.0 * PAGE_WORDS + ARENA_IN_PAGE) * 4
    }

    /// Word offset of the page's spans from the start of the shared memory.
    pub fn spans_offset(self) -> usize {
        REQUESTS_OFFSET + self.0 * PAGE_WORDS + SPANS_IN_PAGE
    }
}

/// The three areas of a page, borrowed together.
pub struct PageParts<'a> {
    pub requests: &'a mut [i32],
    pub spans: &'a mut [i32],
    pub arena: &'a mut [u8],
}

impl Memory {
    /// # Safety
    /// `address` must point to `TOTAL_BYTES` bytes, aligned for `i32`, that stay valid and unmoved for the
    /// life of the value and that nothing else accesses while a method of it runs or a view of it lives.
    /// The bytes must be initialised (an `ArrayBuffer` is zero-filled).
    pub unsafe fn from_raw(address: NonNull<i32>) -> Self {
        Self {
            words: address,
            owned: false,
        }
    }

    /// Allocates memory of its own, for use without JavaScript.
    pub fn owned() -> Self {
        let words = Box::leak(vec![0i32; TOTAL_BYTES / 4].into_boxed_slice());
        Self {
            words: NonNull::from(words).cast(),
            owned: true,
        }
    }

    fn slice(&self, offset: usize, length: usize) -> &[i32] {
        debug_assert!((offset + length) * 4 <= TOTAL_BYTES);
        // SAFETY: inside the block by the layout constants; no other access while `self` is borrowed (from_raw).
        unsafe { slice::from_raw_parts(self.words.as_ptr().add(offset), length) }
    }

    fn slice_mut(&mut self, offset: usize, length: usize) -> &mut [i32] {
        debug_assert!((offset + length) * 4 <= TOTAL_BYTES);
        // SAFETY: inside the block by the layout constants; `&mut self` excludes every other view (from_raw).
        unsafe { slice::from_raw_parts_mut(self.words.as_ptr().add(offset), length) }
    }

    pub fn control(&self, word: usize) -> i32 {
        self.slice(word, 1)[0]
    }

    pub fn set_control(&mut self, word: usize, value: i32) {
        self.slice_mut(word, 1)[0] = value;
    }

    /// The areas of one page.
    pub fn page(&mut self, page: Page) -> PageParts<'_> {
        let words = self.slice_mut(REQUESTS_OFFSET + page.0 * PAGE_WORDS, PAGE_WORDS);
        let (requests, rest) = words.split_at_mut(MAX_SLICE * REQUEST_WORDS);
        let (spans, arena) = rest.split_at_mut(SPAN_WORDS);
        // SAFETY: `arena` is ARENA_BYTES bytes of initialised i32; u8 has no invalid values and alignment 1.
        let arena =
            unsafe { slice::from_raw_parts_mut(arena.as_mut_ptr().cast::<u8>(), ARENA_BYTES) };
        PageParts {
            requests,
            spans,
            arena,
        }
    }

    /// How many records JavaScript wrote since the last flush, never more than there is room for.
    pub fn records(&self) -> usize {
        (self.control(control::RECORDS).max(0) as usize).min(MAX_RECORDS)
    }

    pub fn record(&self, index: usize) -> Record {
        let mut words = [0; RECORD_WORDS];
        words.copy_from_slice(self.slice(RECORDS_OFFSET + index * RECORD_WORDS, RECORD_WORDS));
        Record(words)
    }

    /// The reply memory.
    pub fn out(&self) -> &[u8] {
        let words = self.slice(OUT_OFFSET, OUT_BYTES / 4);
        // SAFETY: the same OUT_BYTES initialised bytes read as u8, borrowed for as long as `self`.
        unsafe { slice::from_raw_parts(words.as_ptr().cast::<u8>(), OUT_BYTES) }
    }

    /// Writes a record and its bytes as JavaScript would. For tests and fuzzers.
    pub fn push_record(&mut self, record: Record, headers: &[u8], body: &[u8]) {
        use crate::layout::record as word;
        let index = self.records();
        let start = self.control(control::OUT) as usize;
        let mut record = record;
        if record.0[word::OPERATION] & 0xff != crate::layout::operation::START {
            record.0[word::BODY_OFFSET] = (start + headers.len()) as i32;
            record.0[word::BODY_LENGTH] = body.len() as i32;
        }
        record.0[word::HEADERS_OFFSET] = start as i32;
        record.0[word::HEADERS_LENGTH] = headers.len() as i32;
        let words = self.slice_mut(OUT_OFFSET, OUT_BYTES / 4);
        // SAFETY: the same OUT_BYTES initialised bytes as u8, exclusively borrowed through `words`.
        let out = unsafe { slice::from_raw_parts_mut(words.as_mut_ptr().cast::<u8>(), OUT_BYTES) };
        out[start..start + headers.len()].copy_from_slice(headers);
        out[start + headers.len()..][..body.len()].copy_from_slice(body);
        self.slice_mut(RECORDS_OFFSET + index * RECORD_WORDS, RECORD_WORDS)
            .copy_from_slice(&record.0);
        self.set_control(control::RECORDS, index as i32 + 1);
        self.set_control(control::OUT, (start + headers.len() + body.len()) as i32);
    }

    /// Writes a record that carries no bytes as it is. For tests and fuzzers.
    pub fn push_signal(&mut self, record: Record) {
        let index = self.records();
        self.slice_mut(RECORDS_OFFSET + index * RECORD_WORDS, RECORD_WORDS)
            .copy_from_slice(&record.0);
        self.set_control(control::RECORDS, index as i32 + 1);
    }

    /// Forgets what was written: the engine has applied it.
    pub fn clear_records(&mut self) {
        self.set_control(control::RECORDS, 0);
        self.set_control(control::OUT, 0);
        self.set_control(control::REFERENCES, 0);
        let steps = self.control(control::STEPS);
        self.set_control(control::STEPS, steps.wrapping_add(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_do_not_overlap_and_end_where_the_block_ends() {
        let mut memory = Memory::owned();
        for page in [Page(0), Page(1)] {
            let fill = page.0 as i32 + 1;
            let parts = memory.page(page);
            parts.requests.fill(fill);
            parts.spans.fill(fill << 8);
            parts.arena.fill(fill as u8 + 0x10);
        }
        assert!(memory.page(Page(0)).arena.iter().all(|&byte| byte == 0x11));
        assert!(memory.page(Page(1)).requests.iter().all(|&word| word == 2));
        assert!(memory.page(Page(1)).spans.iter().all(|&word| word == 0x200));
        assert_eq!(memory.control(control::RECORDS), 0);
        assert_eq!(memory.out().len(), OUT_BYTES);
        assert!(memory.out().iter().all(|&byte| byte == 0));
    }

    #[test]
    fn a_record_count_out_of_range_is_clamped() {
        let mut memory = Memory::owned();
        memory.set_control(control::RECORDS, i32::MAX);
        assert_eq!(memory.records(), MAX_RECORDS);
        memory.set_control(control::RECORDS, -5);
        assert_eq!(memory.records(), 0);
    }

    #[test]
    fn records_round_trip() {
        let mut memory = Memory::owned();
        let mut record = Record([0; RECORD_WORDS]);
        record.0[crate::layout::record::SLOT] = 7;
        record.0[crate::layout::record::OPERATION] = crate::layout::operation::END | 200 << 16;
        memory.push_record(record, b"hh", b"body");
        memory.push_record(record, b"", b"second");
        assert_eq!(memory.records(), 2);
        let first = memory.record(0);
        assert_eq!((first.slot(), first.status()), (7, 200));
        assert_eq!(first.body(memory.out()), Some(&b"body"[..]));
        assert_eq!(memory.record(1).body(memory.out()), Some(&b"second"[..]));
        memory.clear_records();
        assert_eq!(memory.records(), 0);
    }
}
