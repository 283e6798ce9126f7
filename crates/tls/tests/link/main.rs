//! Tests a link with the client of rustls, in memory.

#[path = "../authority/mod.rs"]
mod authority;
mod certificates;
mod clients;
mod faults;
mod handshakes;
mod pair;
mod records;
mod refusals;
mod tickets;
