//! A seeded source of numbers: splitmix64. Not for secrets.

pub struct Random {
    state: u64,
}

impl Random {
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    #[inline]
    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// 0 to `limit` − 1. The bias is `limit` / 2^64.
    #[inline]
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.number()) * u128::from(limit)) >> 64) as u64
    }

    /// True with probability `share`.
    pub fn chance(&mut self, share: f64) -> bool {
        share > 0.0 && ((self.number() >> 11) as f64) < share * (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_and_another_gives_others() {
        let list = |seed| {
            let mut random = Random::new(seed);
            (0..10).map(|_| random.number()).collect::<Vec<_>>()
        };
        assert_eq!(list(1), list(1));
        assert_ne!(list(1), list(2));
    }

    #[test]
    fn numbers_below_a_limit_are_spread_evenly() {
        let mut random = Random::new(3);
        let mut counts = [0u32; 10];
        for _ in 0..100_000 {
            counts[random.below(10) as usize] += 1;
        }
        assert!(
            counts.iter().all(|count| (9_500..10_500).contains(count)),
            "{counts:?}"
        );
        let hits = (0..100_000).filter(|_| random.chance(0.01)).count();
        assert!((800..1200).contains(&hits), "{hits}");
        assert!(!random.chance(0.0) && random.chance(1.0));
    }
}
