//! Where ciphertext is received. One serves all links of an engine: a link at rest owns no buffer.

use crate::link::KEPT_MOST;

/// How many bytes are received at once.
const RECEIVED_MOST: usize = 65_536;

/// What one link received: what it kept before, then what came.
#[derive(Default)]
pub struct Scratch {
    /// It grows to its full size when it is first used.
    bytes: Vec<u8>,
    /// How many bytes the link had kept.
    pub(crate) kept: usize,
}

impl Scratch {
    /// Begins with what a link kept. What it gives is the room behind that.
    pub(crate) fn begin(&mut self, kept: &[u8]) -> &mut [u8] {
        if self.bytes.is_empty() {
            self.bytes = vec![0; KEPT_MOST + RECEIVED_MOST];
        }
        self.kept = kept.len().min(KEPT_MOST);
        let (before, room) = self.bytes.split_at_mut(self.kept);
        before.copy_from_slice(&kept[..self.kept]);
        &mut room[..RECEIVED_MOST]
    }

    /// What was kept, and `received` bytes behind it.
    pub(crate) fn filled(&mut self, received: usize) -> &mut [u8] {
        let end = (self.kept + received).min(self.bytes.len());
        &mut self.bytes[..end]
    }
}
