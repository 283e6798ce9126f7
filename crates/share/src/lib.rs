//! The counts of rate limits in memory that several processes share. There is no I/O here: the memory, a clock, and a way
//! to tell whether a process still runs are given to a [`Table`] when it is opened.
//!
//! A key is kept as a fingerprint of 128 bits, made with a secret of the table, so that nobody can choose keys that fall
//! into one place. Counts are exact: the places of a request are locked while all of its limits are checked and charged.
//! A process may be killed at any instruction. A lock that it held is broken by the next one that needs it, and what it
//! had half written counts as more than was taken, never as less.

#![forbid(unsafe_code)]

mod bucket;
mod limit;
mod lock;
mod quota;
mod table;

pub use limit::{Key, Limit, MOST_POLICIES};
pub use quota::{Algorithm, Level, Quota};
pub use table::{Fault, LEAST_BYTES, Table, World, format};
