//! The buffer into which ciphertext is received. All links of an engine share it, so an idle link owns no buffer.

use crate::link::KEPT_MOST;

/// The number of bytes of one receive.
const RECEIVED_MOST: usize = 65_536;

/// The bytes of one link: those that it kept before, then the received ones.
#[derive(Default)]
pub struct Scratch {
    /// The buffer. It grows to its full size when it is first used.
    bytes: Vec<u8>,
    /// The number of bytes that the link had kept.
    pub(crate) kept: usize,
}

impl Scratch {
    /// Copies the kept bytes of a link to the front. Gives the room behind them.
    pub(crate) fn begin(&mut self, kept: &[u8]) -> &mut [u8] {
        if self.bytes.is_empty() {
            self.bytes = vec![0; KEPT_MOST + RECEIVED_MOST];
        }
        self.kept = kept.len().min(KEPT_MOST);
        let (before, room) = self.bytes.split_at_mut(self.kept);
        before.copy_from_slice(&kept[..self.kept]);
        &mut room[..RECEIVED_MOST]
    }

    /// Gives the kept bytes, and `received` bytes behind them.
    pub(crate) fn filled(&mut self, received: usize) -> &mut [u8] {
        let end = (self.kept + received).min(self.bytes.len());
        &mut self.bytes[..end]
    }
}
