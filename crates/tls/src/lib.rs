//! TLS for servers (RFC 8446, RFC 5246): turns ciphertext into plaintext, and plaintext into ciphertext. The crate does
//! no I/O and uses no sockets.
//!
//! [`Config::build`] makes [`Settings`] from plain data. A [`Link`] is the TLS side of one connection: [`Link::feed`]
//! takes the bytes of the peer, and its output must be sent.
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
