//! Where the parameters of a matched path are.

/// Parameters a pattern may have; more are refused at insert.
pub const MAX_PARAMS: usize = 32;

/// Spans of the parameters in the path, by their order in the pattern. Reusable: a lookup clears it first.
#[derive(Clone, Debug)]
pub struct Params {
    spans: [(u32, u32); MAX_PARAMS],
    len: usize,
}

impl Params {
    pub const fn new() -> Self {
        Self {
            spans: [(0, 0); MAX_PARAMS],
            len: 0,
        }
    }

    /// Parameters present. Optional ones are trailing, so those that are absent come after them.
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Start and length in bytes of parameter `index`; `None` for an absent optional one and past the last.
    pub fn get(&self, index: usize) -> Option<(u32, u32)> {
        self.as_slice().get(index).copied()
    }

    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.spans[..self.len]
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = len;
    }

    /// Patterns with more than `MAX_PARAMS` are refused, so there is always room on a walk down the tree.
    #[inline]
    pub(crate) fn push(&mut self, start: usize, end: usize) {
        if let Some(span) = self.spans.get_mut(self.len) {
            *span = (start as u32, (end - start) as u32);
            self.len += 1;
        }
    }
}

impl Default for Params {
    fn default() -> Self {
        Self::new()
    }
}
