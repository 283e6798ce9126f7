//! Canonical path → route id and parameter spans, with the answers for 404, 405, HEAD and OPTIONS.
//!
//! Patterns start with `/`. A segment is static text, `:name` (one non-empty segment), `:name.ext` or `:name-ext`
//! (the segment without its static suffix), `:name?` (optional, trailing only) or, last, `*name` or `*` (one or more
//! bytes to the end). `::` is a literal colon. Per segment, from left to right, static text goes before a parameter
//! with a suffix (the longest suffix first), that before a plain parameter, and that before a wildcard; a choice that
//! leads nowhere is taken back. A lookup visits each node of the tree at most once, whatever the path.
//!
//! The router takes paths as the wire crate makes them canonical: ASCII, unreserved characters decoded, every other
//! escape in upper-case hex. `%2F` is not a separator, and `//` holds an empty segment.
#![forbid(unsafe_code)]

mod error;
mod method;
mod params;
mod pattern;
mod router;
mod statics;
mod tree;

pub use error::{InsertError, Reason};
pub use method::{METHODS, MethodSet};
pub use params::{MAX_PARAMS, Params};
pub use pattern::{MAX_PATTERN, MAX_SEGMENTS};
pub use router::{Lookup, Options, Router};
