/// A range of bytes, relative to the start of the buffer that was given to [`parse_head`](crate::parse_head).
///
/// Spans stay valid when the buffer is copied elsewhere, so a head is set aside by one `memcpy` and no fix-ups.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Number of bytes.
    pub len: u32,
}

impl Span {
    /// Offset of the byte after the last.
    pub fn end(self) -> u32 {
        self.start + self.len
    }

    /// The bytes themselves. Panics if `buf` is shorter than the buffer the span was made for.
    pub fn of(self, buf: &[u8]) -> &[u8] {
        &buf[self.start as usize..self.end() as usize]
    }

    pub(crate) fn new(start: usize, len: usize) -> Self {
        Self {
            start: start as u32,
            len: len as u32,
        }
    }

    /// Where `part`, a slice of `whole`, lies in it.
    #[inline]
    pub(crate) fn within(whole: &[u8], part: &[u8]) -> Self {
        Self::new(part.as_ptr() as usize - whole.as_ptr() as usize, part.len())
    }
}
