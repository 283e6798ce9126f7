//! Tests TLS on real sockets, with clients of rustls.

#[path = "../../../../tls/tests/authority/mod.rs"]
mod authority;
mod client;
mod ends;
mod limits;
mod requests;
mod settings;
