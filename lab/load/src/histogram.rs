//! Latencies as a histogram of three significant digits, whatever their size (the scheme of `HdrHistogram`).
//!
//! Every power of two from 2,048 ns is divided into 1,024 equal cells, so that a cell is at most 0.1 % wide; below, a
//! cell is one nanosecond. Count, sum, smallest and largest value are exact.

/// Cells of one power of two.
const CELLS: u64 = 1024;
/// 2^42 ns, 73 minutes: longer than any run. What is longer counts as this long.
const LARGEST: u64 = 1 << 42;
/// A coarse cell is 1/32 of its power of two: 3 %.
const COARSE_CELLS: u64 = 32;

pub struct Histogram {
    counts: Vec<u64>,
    count: u64,
    sum: u128,
    sum_of_squares: u128,
    smallest: u64,
    largest: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    pub fn new() -> Self {
        Self {
            counts: vec![0; cell(LARGEST, CELLS) + 1],
            count: 0,
            sum: 0,
            sum_of_squares: 0,
            smallest: u64::MAX,
            largest: 0,
        }
    }

    #[inline]
    pub fn record(&mut self, nanoseconds: u64) {
        let value = nanoseconds.min(LARGEST);
        self.counts[cell(value, CELLS)] += 1;
        self.count += 1;
        self.sum += u128::from(value);
        self.sum_of_squares += u128::from(value) * u128::from(value);
        self.smallest = self.smallest.min(value);
        self.largest = self.largest.max(value);
    }

    #[cfg(test)]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Exact, in ns; 0 when nothing was recorded, as for the three that follow.
    pub fn mean(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        self.sum as f64 / self.count as f64
    }

    pub fn smallest(&self) -> u64 {
        if self.count == 0 { 0 } else { self.smallest }
    }

    pub fn largest(&self) -> u64 {
        self.largest
    }

    pub fn standard_deviation(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let mean = self.mean();
        (self.sum_of_squares as f64 / self.count as f64 - mean * mean)
            .max(0.0)
            .sqrt()
    }

    /// The value that `percent` of all values do not exceed: the upper end of its cell, never above the largest value.
    /// `None` when nothing was recorded, since 0 would be within any limit.
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        if self.count == 0 {
            return None;
        }
        let rank = ((self.count as f64 * percent / 100.0).ceil() as u64).clamp(1, self.count);
        let mut seen = 0;
        for (index, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return Some((lowest(index as u64 + 1, CELLS) - 1).min(self.largest));
            }
        }
        Some(self.largest)
    }

    /// Lowest value in ns and count of every coarse cell that is not empty, in order.
    pub fn coarse(&self) -> Vec<(u64, u64)> {
        let mut cells: Vec<(u64, u64)> = Vec::new();
        for (index, count) in self
            .counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
        {
            let start = lowest(
                cell(lowest(index as u64, CELLS), COARSE_CELLS) as u64,
                COARSE_CELLS,
            );
            match cells.last_mut() {
                Some((last, total)) if *last == start => *total += count,
                _ => cells.push((start, *count)),
            }
        }
        cells
    }
}

/// Which cell `value` is in when every power of two from `2 * cells` has `cells` cells.
#[inline]
fn cell(value: u64, cells: u64) -> usize {
    if value < 2 * cells {
        return value as usize;
    }
    let shift = value.ilog2() - cells.ilog2();
    (u64::from(shift) * cells + (value >> shift)) as usize
}

/// The lowest value of cell `index`.
fn lowest(index: u64, cells: u64) -> u64 {
    if index < 2 * cells {
        return index;
    }
    let shift = index / cells - 1;
    (index - shift * cells) << shift
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn every_value_is_in_the_cell_that_begins_at_or_below_it() {
        let mut random = Random::new(7);
        for _ in 0..200_000 {
            let value = random.number() >> (22 + random.below(42));
            for cells in [CELLS, COARSE_CELLS] {
                let index = cell(value, cells) as u64;
                let (start, end) = (lowest(index, cells), lowest(index + 1, cells));
                assert!(start <= value && value < end, "{value}: {start}..{end}");
                assert!(
                    (end - start - 1) as f64 <= start as f64 / cells as f64,
                    "{value}: {start}..{end}"
                );
            }
        }
    }

    #[test]
    fn percentiles_are_those_of_the_sorted_values_to_three_digits() {
        for seed in 0..20 {
            let mut random = Random::new(seed);
            let mut histogram = Histogram::new();
            let mut values: Vec<u64> = (0..5000)
                .map(|_| random.number() >> (24 + random.below(40)))
                .collect();
            for value in &values {
                histogram.record(*value);
            }
            values.sort_unstable();
            for percent in [0.0, 1.0, 50.0, 75.0, 90.0, 99.0, 99.9, 99.99, 100.0] {
                let rank = ((5000.0 * percent / 100.0_f64).ceil() as usize).max(1);
                let (exact, found) = (values[rank - 1], histogram.percentile(percent).unwrap());
                assert!(
                    found >= exact && (found - exact) as f64 <= exact as f64 / 1000.0,
                    "{percent}: {exact}, {found}"
                );
            }
            let mean = values.iter().map(|value| *value as f64).sum::<f64>() / 5000.0;
            let variance = values
                .iter()
                .map(|value| (*value as f64 - mean).powi(2))
                .sum::<f64>()
                / 5000.0;
            assert!((histogram.mean() / mean - 1.0).abs() < 1e-9);
            assert!((histogram.standard_deviation() / variance.sqrt() - 1.0).abs() < 1e-6);
            assert_eq!(
                (histogram.smallest(), histogram.largest()),
                (values[0], values[4999])
            );
        }
    }

    #[test]
    fn coarse_cells_keep_every_count_and_stay_few() {
        let mut histogram = Histogram::new();
        for value in (0..10_000_000).step_by(997) {
            histogram.record(value);
        }
        let coarse = histogram.coarse();
        assert_eq!(
            coarse.iter().map(|(_, count)| count).sum::<u64>(),
            histogram.count()
        );
        assert!(coarse.is_sorted_by(|a, b| a.0 < b.0));
        assert!(coarse.len() < 500, "{}", coarse.len());
    }

    #[test]
    fn nothing_and_too_much() {
        let mut histogram = Histogram::new();
        assert_eq!(
            (
                histogram.percentile(50.0),
                histogram.smallest(),
                histogram.largest()
            ),
            (None, 0, 0)
        );
        assert!(histogram.mean() == 0.0 && histogram.standard_deviation() == 0.0);
        assert!(histogram.coarse().is_empty());
        histogram.record(u64::MAX);
        assert_eq!(histogram.percentile(50.0), Some(LARGEST));
    }
}
