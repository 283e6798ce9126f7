//! Bytes to request head and body framing for HTTP/1.1 (RFC 9110, RFC 9112). No I/O, no clock, no allocation on the
//! usual path, and nothing of Node: every function here is a function of its input bytes and limits alone.
//!
//! `httparse` finds the pieces of a head; what it lets pass and we do not (bare LF, more than one leading empty line,
//! `#` and raw UTF-8 in the target) and everything that takes meaning (Host, framing, connection) is checked here.
//! A verdict never depends on how the bytes were cut into reads: `tests/mutate.rs` holds that.
#![forbid(unsafe_code)]

pub mod chunked;
mod date;
mod field;
mod framing;
mod head;
mod host;
mod limits;
mod method;
mod path;
mod refusal;
pub mod reply;
mod semantics;
mod slow_path;
mod span;
mod target;

pub use field::{Field, KNOWN_NAMES, Known};
pub use framing::Framing;
pub use head::{Head, Progress, Version, parse_head};
pub use limits::Limits;
pub use method::Method;
pub use path::canonicalise;
pub use refusal::Refusal;
pub use span::Span;
pub use target::PathKind;
