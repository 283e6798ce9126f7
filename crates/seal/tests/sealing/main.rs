//! Sealed texts from the outside.

mod cases;
mod opening;
