//! Bodies and their windows (RFC 9113 §5.2, §6.1, §6.9, §8.1.1), and the order of sending (RFC 9218).

mod receiving;
mod sending;

const CONNECTION: u32 = 1 << 20;
