//! What both generators use: `load` for HTTP and `sockets` for sockets (RFC 6455).

#![forbid(unsafe_code)]

pub mod histogram;
pub mod random;
