//! Connections with TLS, on real sockets: the clients are those of rustls.

#[path = "../../../tls/tests/authority/mod.rs"]
mod authority;
mod client;
#[path = "../driver/mod.rs"]
mod driver;
mod ends;
mod limits;
mod requests;
mod settings;
