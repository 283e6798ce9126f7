use std::ops::Range;

/// `splitmix64`: small, seedable, good enough to pick mutations.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    #[expect(clippy::should_implement_trait, reason = "it never ends")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }

    /// Up to eight offsets in ascending order.
    pub fn cuts(&mut self, length: usize) -> Vec<usize> {
        let mut cuts: Vec<_> = (0..self.below(9)).map(|_| self.below(length + 1)).collect();
        cuts.sort_unstable();
        cuts
    }

    /// A place of up to eleven bytes.
    pub fn place(&mut self, bytes: &[u8]) -> Range<usize> {
        let at = self.below(bytes.len() + 1);
        at..(at + self.below(12)).min(bytes.len())
    }

    /// Changes `bytes` at a place, in one of six ways that make sense for bytes of any kind.
    pub fn change(&mut self, bytes: &mut Vec<u8>, place: Range<usize>, seeds: &[Vec<u8>]) {
        let at = place.start;
        match self.below(6) {
            0 => bytes.drain(place).for_each(drop),
            1 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = self.next() as u8;
                }
            }
            2 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << self.below(8);
                }
            }
            3 => {
                let piece = bytes[place].repeat(1 + self.below(40));
                bytes.splice(at..at, piece).for_each(drop);
            }
            4 => {
                let other = &seeds[self.below(seeds.len())];
                let from = self.below(other.len() + 1);
                bytes
                    .splice(at.., other[from..].iter().copied())
                    .for_each(drop);
            }
            _ => bytes.truncate(at),
        }
    }
}
