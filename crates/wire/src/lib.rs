//! Turns bytes into a request head and the framing of its body, for HTTP/1.1 (RFC 9110, RFC 9112). The crate does no
//! I/O, reads no clock, allocates nothing on the usual path and knows nothing of Node.js: the result of every function
//! depends on its input bytes and limits alone.
//!
//! `httparse` finds the parts of a head. This crate checks what `httparse` accepts and we refuse (bare LF, more than
//! one leading empty line, `#` and raw UTF-8 in the target), and the semantics of fields (Host, framing, connection). A
//! verdict never depends on how the bytes were cut into reads: `tests/mutate` tests that.
#![forbid(unsafe_code)]

pub mod chunked;
mod date;
mod field;
mod framing;
mod head;
mod host;
mod limits;
mod method;
mod parts;
mod path;
mod refusal;
pub mod reply;
mod semantics;
mod slow_path;
mod span;
mod target;
pub mod trailers;

pub use field::{Field, KNOWN_NAMES, Known, is_lower_name, is_token_byte, is_trimmed_value};
pub use framing::Framing;
pub use head::{Head, Progress, Version, parse_head};
pub use limits::Limits;
pub use method::Method;
pub use parts::Parts;
pub use path::canonicalise;
pub use refusal::Refusal;
pub use span::Span;
pub use target::PathKind;
