//! TLS for servers (RFC 8446, RFC 5246): ciphertext to plaintext and back. The crate does no I/O and knows nothing of
//! sockets.
//!
//! [`Config::build`] makes [`Settings`] of plain data, and a [`Link`] is the TLS side of one connection: whatever a peer
//! sends goes into [`Link::feed`], and what it writes is to be sent.
#![forbid(unsafe_code)]

mod certificates;
mod config;
mod fault;
mod info;
mod link;
mod names;
mod scratch;
mod tickets;

pub use config::{Certificate, ClientCertificate, Config, Settings, Version};
pub use fault::{ConfigFault, Fault};
pub use info::Info;
pub use link::{Fed, Link};
pub use scratch::Scratch;
